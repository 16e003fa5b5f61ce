//! Rows of a report, from the runs of cases.

use std::collections::{BTreeMap, BTreeSet};

use super::played::error;
use super::{Case, Difference, Pair, PartResult};
use crate::report::{ACCURACY_SCHEMA, Accuracy, AccuracyRow, LeftOut, Sample};

/// Differences by case, pair and seed, as runs end.
#[derive(Default)]
pub(super) struct Collected {
    differences: BTreeMap<(usize, usize, u64), Difference>,
    buffers: BTreeMap<(usize, usize), Option<u32>>,
    /// Reasons why parts were not played, by case and position of the part.
    left_out: BTreeMap<(usize, usize), String>,
}

impl Collected {
    /// Compares all models of a case with all references, for one seed.
    pub fn add(&mut self, number: usize, case: &Case, seed: u64, ran: &[Option<PartResult>]) {
        for (which, one) in ran.iter().enumerate() {
            if let Some(Err(reason)) = one {
                self.left_out.entry((number, which)).or_insert_with(|| reason.clone());
            }
        }
        for (at, pair) in case.pairs.iter().enumerate() {
            let [model, reference] = pair.parts.map(|which| ran[which].as_ref());
            if let (Some(Ok((_, model))), Some(Ok((buffer, reference)))) = (model, reference) {
                self.buffers.insert((number, at), *buffer);
                self.differences.insert((number, at, seed), Difference::of(model, reference));
            }
        }
    }

    /// Builds the report.
    pub fn report(self, title: &str, cases: &[Case], missing_runs: u64) -> Accuracy {
        let mut rows = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            for (at, pair) in case.pairs.iter().enumerate() {
                let of_pair = self.differences.range((number, at, 0)..=(number, at, u64::MAX));
                // Seeds stay in the order in which they were named.
                let of_pair: BTreeMap<u64, Difference> = of_pair.map(|(key, value)| (key.2, *value)).collect();
                let seeds: Vec<u64> = case.seeds.iter().copied().filter(|seed| of_pair.contains_key(seed)).collect();
                let differences: Vec<Difference> = seeds.iter().map(|seed| of_pair[seed]).collect();
                if !differences.is_empty() {
                    let buffer = self.buffers.get(&(number, at)).copied().flatten();
                    rows.push(row(case, pair, buffer, seeds, &differences));
                }
            }
        }
        let mut said = BTreeSet::new();
        let mut left_out = Vec::new();
        for ((number, which), reason) in self.left_out {
            let case = &cases[number];
            let model = name_of(case, which);
            if said.insert((number, model.clone(), reason.clone())) {
                left_out.push(LeftOut { case: case.names.name(), model, reason });
            }
        }
        Accuracy {
            schema: ACCURACY_SCHEMA,
            title: title.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rows,
            left_out,
            complete: missing_runs == 0,
            missing_runs,
        }
    }
}

/// Returns the name of the part at this position.
fn name_of(case: &Case, which: usize) -> String {
    let reference = case.pairs.iter().find(|pair| pair.parts[1] == which).map(|pair| pair.reference.name);
    let model = || case.pairs.iter().find(|pair| pair.parts[0] == which).map(|pair| pair.model);
    reference.or_else(model).unwrap_or_default().to_owned()
}

fn row(case: &Case, pair: &Pair, buffer: Option<u32>, seeds: Vec<u64>, differences: &[Difference]) -> AccuracyRow {
    let n = differences.len() as f64;
    let mean = |of: &dyn Fn(&Difference) -> f64| differences.iter().map(of).sum::<f64>() / n;
    let makespans = [0, 1].map(|which| mean(&|difference| difference.makespans_s[which]));
    let finishes = [0, 1].map(|which| mean(&|difference| difference.finishes_s[which]));
    let costs = [0, 1].map(|which| mean(&|difference| difference.cpu_s[which]));
    let errors = || differences.iter().map(|difference| error(difference.makespans_s[0], difference.makespans_s[1]));
    let of_reference: Vec<f64> = differences.iter().map(|difference| difference.makespans_s[1]).collect();
    let spread = Sample::of(&of_reference).unwrap_or_default().sd;
    let quantile = |which: usize| mean(&|difference| difference.quantiles[which]);
    AccuracyRow {
        case: case.names.clone(),
        model: pair.model.to_owned(),
        channels: pair.channels.map(str::to_owned),
        reference: pair.reference.name.to_owned(),
        buffer,
        packets_per_message: pair.packets_per_message,
        seeds,
        makespan_error: error(makespans[0], makespans[1]),
        makespan_error_min: errors().fold(f64::INFINITY, f64::min),
        makespan_error_max: errors().fold(f64::NEG_INFINITY, f64::max),
        mean_finish_error: error(finishes[0], finishes[1]),
        time_error_q05: quantile(0),
        time_error_q50: quantile(1),
        time_error_q95: quantile(2),
        model_makespan_s: makespans[0],
        reference_makespan_s: makespans[1],
        reference_spread: if makespans[1] > 0.0 { spread / makespans[1] } else { 0.0 },
        model_cpu_s: costs[0],
        reference_cpu_s: costs[1],
        speed_ratio: if costs[0] > 0.0 { costs[1] / costs[0] } else { 1.0 },
    }
}
