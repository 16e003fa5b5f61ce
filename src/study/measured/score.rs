//! Scores of rows, intervals of predictions, and tables of errors.

use std::collections::BTreeMap;

use super::algorithms::combines;
use super::machine::{Machine, series};
use crate::report::{MEASURED_SCHEMA, MeasuredErrors, MeasuredReport, MeasuredRow, ReasonCount};

/// Size of a vector from which a row is large \[B\].
const LARGE: u64 = 8 << 20;
/// Size of a vector from which the spread of times is not judged, since the first repetition counts \[B\].
const FEW: u64 = 512 << 20;
/// Largest quotient of the 90 % and 10 % quantiles of a row that is scored.
const SPREAD: f64 = 1.3;
/// Quantiles of measured over predicted that limit an interval.
const QUANTILES: [f64; 2] = [0.05, 0.95];
/// Least number of other rows that make an interval.
const LEAST: usize = 8;
/// Number of rows in the list of the worst.
const WORST: usize = 10;

/// Classes of sizes: the size from which a class begins \[B\], and its name.
const SIZES: [(u64, &str); 4] =
    [(LARGE, "8 MiB and more"), (128 << 10, "128 KiB to 8 MiB"), (2 << 10, "2 KiB to 128 KiB"), (0, "below 2 KiB")];

/// Returns the reason why a predicted row is not scored.
pub(super) fn reason(row: &MeasuredRow, machine: &Machine) -> Option<String> {
    let spread = row.p10_s.zip(row.p90_s).map_or(1.0, |(low, high)| high / low);
    if machine.spec.unknown_shapes.contains(&row.shape) {
        Some(format!("the folding of {} is unknown", row.shape))
    } else if let Some(note) = machine.spec.other_notes.iter().find(|note| row.note.starts_with(*note)) {
        Some(format!("the machine does not describe {note}"))
    } else if spread > SPREAD && row.size_bytes < FEW {
        Some(format!("times differ: p90 is above {SPREAD} p10"))
    } else if machine.spec.fitted.contains(&series(row)) {
        Some("the machine is calibrated from it".to_owned())
    } else if combines(&row.operation) && !machine.spec.combine {
        Some("the cost to combine operands is not calibrated".to_owned())
    } else {
        None
    }
}

/// Returns the quantile of sorted values, linear between two of them.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// Returns the error of a prediction as a factor of at least 1.
fn factor(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio)
}

/// Returns the report of rows with their predictions.
pub(super) fn report(
    title: &str,
    models: &[String],
    columns: &[&str],
    mut rows: Vec<MeasuredRow>,
    missing_runs: u64,
) -> MeasuredReport {
    intervals(&mut rows);
    let scored = || rows.iter().filter(|row| row.scored);
    let inside: Vec<bool> = scored().filter_map(|row| Some((row.low_s?..=row.high_s?).contains(&row.time_s))).collect();
    let coverage = inside.iter().filter(|inside| **inside).count() as f64 / inside.len() as f64;
    let mut worst: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].scored).collect();
    worst.sort_by(|&a, &b| {
        let of = |at: usize| rows[at].ratio.map_or(1.0, factor);
        of(b).total_cmp(&of(a))
    });
    worst.truncate(WORST);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().filter(|row| !row.scored).for_each(|row| *counts.entry(&row.reason).or_default() += 1);
    let mut reasons: Vec<ReasonCount> =
        counts.into_iter().map(|(reason, rows)| ReasonCount { reason: reason.to_owned(), rows }).collect();
    reasons.sort_by_key(|count| std::cmp::Reverse(count.rows));
    MeasuredReport {
        schema: MEASURED_SCHEMA,
        title: title.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        models: models.to_vec(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        errors: errors(&rows, models),
        worst,
        reasons,
        nominal_coverage: QUANTILES[1] - QUANTILES[0],
        coverage: Some(coverage).filter(|_| !inside.is_empty()),
        complete: missing_runs == 0,
        missing_runs,
        rows,
    }
}

/// Sets the interval of each prediction from the errors of other scored rows: those of the machine with the same kind
/// of operation and size, without the rows of its operation, algorithm and nodes if enough remain.
fn intervals(rows: &mut [MeasuredRow]) {
    let kind = |row: &MeasuredRow| (row.system.clone(), combines(&row.operation), row.size_bytes >= LARGE);
    let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.scored) {
        kinds.entry(kind(row)).or_default().push(at);
    }
    let series: Vec<String> = rows.iter().map(series).collect();
    for at in 0..rows.len() {
        let Some(predicted) = rows[at].predicted_s.first().copied().flatten() else { continue };
        let others = kinds.get(&kind(&rows[at])).map_or(&[][..], Vec::as_slice);
        let ratios = |is_other: &dyn Fn(usize) -> bool| -> Vec<f64> {
            others
                .iter()
                .filter(|&&other| is_other(other))
                .filter_map(|&other| Some(1.0 / rows[other].ratio?))
                .collect()
        };
        let mut measured = ratios(&|other| series[other] != series[at]);
        if measured.len() < LEAST {
            measured = ratios(&|other| other != at);
        }
        if measured.len() >= LEAST {
            measured.sort_by(f64::total_cmp);
            rows[at].low_s = Some(predicted * quantile(&measured, QUANTILES[0]));
            rows[at].high_s = Some(predicted * quantile(&measured, QUANTILES[1]));
        }
    }
}

/// Returns the errors of all models: of all rows, by machine, by machine and operation, and by machine and size.
fn errors(rows: &[MeasuredRow], models: &[String]) -> Vec<MeasuredErrors> {
    type Group = (Option<String>, Option<String>, Option<usize>);
    let mut groups: BTreeMap<(Group, usize), Vec<f64>> = BTreeMap::new();
    let is_one = rows.windows(2).all(|pair| pair[0].system == pair[1].system);
    for row in rows.iter().filter(|row| row.scored) {
        let size = SIZES.iter().rposition(|(from, _)| row.size_bytes < *from).map_or(0, |above| above + 1);
        let (system, operation) = (Some(row.system.clone()), Some(row.operation.clone()));
        let of_row = [
            (None, None, None),
            (None, None, Some(size)),
            (system.clone(), None, None),
            (system.clone(), operation, None),
            (system, None, Some(size)),
        ];
        for model in 0..models.len() {
            let Some(ratio) = row.ratio_of(model) else { continue };
            let of_row = of_row.iter().filter(|(system, ..)| system.is_some() || !is_one);
            of_row.for_each(|group| groups.entry((group.clone(), model)).or_default().push(factor(ratio)));
        }
    }
    let errors = groups.into_iter().map(|(((system, operation, size), model), mut factors)| {
        factors.sort_by(f64::total_cmp);
        let within = factors.iter().filter(|factor| **factor <= 1.0 + MeasuredRow::BAND).count();
        MeasuredErrors {
            model: models[model].clone(),
            system,
            operation,
            size: size.map(|size| SIZES[size].1.to_owned()),
            rows: factors.len(),
            median: quantile(&factors, 0.5),
            p90: quantile(&factors, 0.9),
            within_25: within as f64 / factors.len() as f64,
        }
    });
    errors.collect()
}
