//! Points of a sweep, and the row that summarizes the runs of one point.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::accuracy::known::known_of;
use super::{Axis, Point, SeedRun, Sweep};
use crate::collective::Operation;
use crate::diagnostic::Diagnostic;
use crate::pattern::PatternSpec;
use crate::report::{
    Bounds, ComparedJob, ComparisonRow, Estimate, Estimated, FAULTS, JobReport, SeedStatistics, WorstSlowdown,
};
use crate::scenario::{Loader, Scenario};
use crate::simulation::{Simulated, Work};
use crate::study::measured;
use crate::system::{ProgramSpec, WorkloadSpec};
use crate::units::grouped;

/// Largest number of runs of a comparison: each combination is built before the first one runs.
const MOST_RUNS: u64 = 100_000;

/// One combination of values. Axes without a value keep the choice of the base.
pub(super) struct Choice<'a>(Vec<(&'a Axis, &'a str)>);

/// Returns every combination, one after another; patterns change fastest.
///
/// # Errors
/// More runs than a comparison can have.
pub(super) fn choices(sweep: &Sweep) -> Result<impl Iterator<Item = Choice<'_>>, Diagnostic> {
    let axes = || sweep.axes.iter().filter(|(_, values)| !values.is_empty());
    let counts = axes().map(|(_, values)| values.len() as u64).chain([sweep.seeds.len().max(1) as u64]);
    let runs = counts.fold(1, u64::saturating_mul);
    if runs > MOST_RUNS {
        let message = format!("{} runs are requested, and at most {} are possible", grouped(runs), grouped(MOST_RUNS));
        let help =
            "leave out values, or write them as a plan, which runs 10,000,000 points and keeps them: `hayase sweep`";
        return Err(Diagnostic::new("too-many-points", message).help(help));
    }
    // Values that are named twice are compared once.
    let axes: Vec<(&Axis, Vec<&str>)> =
        axes().map(|(axis, values)| (axis, distinct(values.iter().map(String::as_str)))).collect();
    let all: usize = axes.iter().map(|(_, values)| values.len()).product();
    Ok((0..all).map(move |mut number| {
        let mut chosen: Vec<(&Axis, &str)> = Vec::with_capacity(axes.len());
        for (axis, values) in axes.iter().rev() {
            chosen.push((*axis, values[number % values.len()]));
            number /= values.len();
        }
        chosen.reverse();
        Choice(chosen)
    }))
}

/// Removes duplicates and keeps the order.
fn distinct<T: Copy + Eq + Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut met = FxHashSet::default();
    values.filter(|value| met.insert(*value)).collect()
}

impl<'a> Choice<'a> {
    fn of(&self, wanted: &Axis) -> Option<&'a str> {
        self.0.iter().find(|(axis, _)| *axis == wanted).map(|(_, value)| *value)
    }

    /// Returns the loader of this combination, with this seed if there is one.
    pub fn loader(&self, sweep: &Sweep, seed: Option<u64>) -> Loader {
        let mut loader = sweep.base.clone();
        if let Some(seed) = seed {
            loader = loader.seed(seed);
        }
        self.0.iter().fold(loader, |loader, (axis, value)| {
            let values = sweep.axes.iter().find(|(other, _)| other == *axis).map_or(&[][..], |(_, values)| values);
            axis.chosen(loader, value, values)
        })
    }

    /// Returns true if the transport has no sharing policy and another policy of the list has already given
    /// the same point.
    pub fn is_repeated(&self, scenario: &Scenario, sharings: &[String]) -> bool {
        let flows = scenario.system().network().is_some_and(|network| network.transport.is_flow());
        let own = flows && !self.of(&Axis::Transport).is_some_and(|name| name.contains(':'));
        let sharing = self.of(&Axis::Sharing);
        !own && sharing.is_some() && sharing != sharings.first().map(String::as_str)
    }

    /// Builds the point of this combination.
    pub fn point(&self, scenario: Scenario, seeds: &[u64]) -> Point {
        let seeds = match seeds {
            [] => vec![scenario.seed()],
            [first, ..] if !scenario.depends_on_seed() => vec![*first],
            all => distinct(all.iter().copied()),
        };
        let json = scenario.to_json();
        let chosen = |key: &str| json.get(key)?.as_object()?.keys().next().cloned();
        let choice = |key: &str| chosen(key).unwrap_or_default();
        let name = |axis: &Axis, other: String| self.of(axis).map_or(other, str::to_owned);
        let network = scenario.system().network();
        let keys = self.0.iter().filter_map(|(axis, value)| match axis {
            Axis::Key(key) => Some((key.clone(), (*value).to_owned())),
            Axis::Order => Some(("order".to_owned(), (*value).to_owned())),
            Axis::Faults => Some((FAULTS.to_owned(), (*value).to_owned())),
            _ => None,
        });
        let row = ComparisonRow {
            topology: name(
                &Axis::Topology,
                network.map(|network| network.fabric.name().to_owned()).unwrap_or_default(),
            ),
            pattern: name(&Axis::Pattern, scenario.work().name().to_owned()),
            placement: if network.is_some() { name(&Axis::Placement, choice("placement")) } else { String::new() },
            sharing: network
                .filter(|network| network.transport.is_flow())
                .map(|network| network.sharing.name().to_owned())
                .unwrap_or_default(),
            transport: network.map(|network| network.transport.name()).unwrap_or_default(),
            routing: if network.is_some() { name(&Axis::Routing, choice("routing")) } else { String::new() },
            injection: match scenario.work() {
                Work::Pattern(work) => work.injection.to_string(),
                Work::Program(_) | Work::Farm(_) | Work::Jobs(_) => name(&Axis::Injection, String::new()),
            },
            machine: name(&Axis::Machine, chosen("node").filter(|node| node != "ideal").unwrap_or_default()),
            varied: keys.chain(scenario.keys().clone()).collect(),
            faults: self.of(&Axis::Faults).map(str::to_owned),
            ..ComparisonRow::default()
        };
        Point { row, scenario, seeds }
    }

    /// Returns a name for messages.
    pub fn name(&self) -> String {
        let words = self.0.iter().filter(|(axis, _)| **axis != Axis::Pattern).map(|(axis, value)| match axis {
            Axis::Topology => format!("on {value}"),
            Axis::Key(key) => format!("{key} {value}"),
            Axis::Faults => format!("faults {value}"),
            _ => (*value).to_owned(),
        });
        self.of(&Axis::Pattern).map(str::to_owned).into_iter().chain(words).collect::<Vec<_>>().join(", ")
    }
}

/// Summarizes the runs of a point, at least one, in a row.
///
/// `cut_off` is the number of seeds whose faults leave messages without a route.
pub(super) fn row(point: &Point, runs: &[SeedRun], cut_off: u64) -> ComparisonRow {
    let n = runs.len() as f64;
    let seeds = runs.iter().map(|outcome| outcome.seed).collect();
    let mut makespan = SeedStatistics::new(seeds, runs.iter().map(|outcome| outcome.run.makespan_s).collect());
    let halves = runs.iter().map(|outcome| outcome.run.half_s()).collect();
    makespan = makespan.estimated(halves);
    makespan.missing = point.seeds.len() - runs.len() - cut_off as usize;
    let where_known = |of: fn(&Bounds) -> Option<f64>| {
        let all = runs.iter().map(|outcome| of(&outcome.run.bounds)).sum::<Option<f64>>();
        all.map(|sum| sum / n)
    };
    let bounds = Bounds {
        injection_s: where_known(|bounds| bounds.injection_s),
        computation_s: where_known(|bounds| bounds.computation_s),
        busiest_link_s: where_known(|bounds| bounds.busiest_link_s),
        bisection_s: where_known(|bounds| bounds.bisection_s),
        path_s: where_known(|bounds| bounds.path_s),
        optimum_at_least_s: where_known(|bounds| bounds.optimum_at_least_s),
        optimum_reached_s: where_known(|bounds| bounds.optimum_reached_s),
        optimum_certificate: runs[0].run.bounds.optimum_certificate,
    };
    let mut fingerprint = blake3::Hasher::new();
    for outcome in runs {
        fingerprint.update(outcome.run.fingerprint.as_bytes()).update(b"\n");
    }
    let first = &runs[0].run;
    let of_jobs: Vec<&[JobReport]> = runs.iter().map(|outcome| outcome.run.jobs.as_slice()).collect();
    let jobs = ComparedJob::over(&of_jobs);
    ComparisonRow {
        estimated: estimated(&makespan, runs),
        worst_slowdown: WorstSlowdown::over(&of_jobs, &jobs),
        jobs,
        links: first.links.clone(),
        llm: first.llm,
        packet_hops: first.packet_hops,
        cut_off,
        ratio_to_bound: ratio(makespan.mean_s, bounds.largest()),
        ratio_to_optimum: bounds.ratio_to_optimum(makespan.mean_s),
        ratio_in_step: runs.iter().map(|outcome| outcome.run.ratio_in_step).sum::<Option<f64>>().map(|sum| sum / n),
        job: job(point.scenario.work(), first.bytes),
        makespan,
        messages: first.messages,
        bytes: first.bytes,
        bounds,
        accuracy: match point.scenario.work() {
            Work::Pattern(work) => known_of(&point.scenario, work).map(Box::new),
            Work::Program(work) => measured::known_of(&point.scenario, work).map(Box::new),
            _ => None,
        },
        wall_s: runs.iter().map(|outcome| outcome.run.wall_s).sum::<f64>() / n,
        fingerprint: match runs {
            [only] => only.run.fingerprint.clone(),
            _ => fingerprint.finalize().to_hex()[..16].to_owned(),
        },
        // The place is set when all rows are known.
        ..point.row.clone()
    }
}

/// Returns the estimate of the mean makespan of a row, or the first reason why there is none.
fn estimated(makespan: &SeedStatistics, runs: &[SeedRun]) -> Option<Estimated> {
    let all = || runs.iter().filter_map(|outcome| outcome.run.estimated.as_ref());
    let first = all().next()?;
    let Some([low_s, high_s]) = makespan.interval_s else {
        // No makespan is an estimate, or all are exact.
        return Some(first.clone());
    };
    let part = |estimated: &Estimated| estimated.estimate().map_or(1.0, |estimate| estimate.simulated_part);
    let simulated_part = all().map(part).sum::<f64>() / runs.len() as f64;
    let Estimate { confidence, asked, .. } = *all().find_map(Estimated::estimate)?;
    Some(Estimated::By(Estimate { makespan_s: makespan.mean_s, low_s, high_s, confidence, simulated_part, asked }))
}

/// Returns the name of the work, the same for all that do the same work.
///
/// Collective operations are named by kind and size, whatever an algorithm sends. Farms are named by their
/// tasks, whatever the number of workers. Training steps are named by model and batch, and recorded programs by
/// their name. Other patterns and programs are named by the data that they move.
fn job(work: &Work, bytes: u64) -> String {
    if let Work::Farm(farm) = work {
        return farm.name().to_owned();
    }
    if let Work::Jobs(jobs) = work {
        return jobs.name().to_owned();
    }
    let ranks = work.ranks();
    let workload = work.spec();
    let named = match workload {
        Some(WorkloadSpec::Pattern(
            PatternSpec::AllToAll(_)
            | PatternSpec::Allgather(_)
            | PatternSpec::Allreduce(_)
            | PatternSpec::Broadcast(_),
        )) => {
            let json = serde_json::to_value(workload).unwrap_or_default();
            let table = json.as_object().and_then(|tables| tables.iter().next());
            table.and_then(|(name, table)| Some(format!("{name} of {}", table["size"].as_str()?)))
        }
        // An allreduce has the same name as a pattern of its own and as a collective.
        Some(WorkloadSpec::Pattern(PatternSpec::Collective(spec))) => {
            let name = match *spec.operation {
                Operation::Alltoall => "all-to-all",
                Operation::Bcast => "broadcast",
                operation => operation.name(),
            };
            Some(spec.size.map_or_else(|| name.to_owned(), |size| format!("{name} of {}", *size)))
        }
        // A recorded program keeps its name, whatever its collectives send.
        Some(WorkloadSpec::Program(ProgramSpec::Trace(_))) | None => Some(work.name().to_owned()),
        _ => None,
    };
    // Layouts of one model on as many GPUs do the same, whatever they send.
    let step = if let Work::Program(program) = work { program.training() } else { None };
    let step = step.map(|(step, _)| {
        let (parameters, batch) = (step.model.parameters(), step.model.batch);
        format!("a training step of {batch} sequences with {parameters} parameters")
    });
    let named = step.or(named);
    let ranks = if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
    format!("{} among {ranks}", named.unwrap_or_else(|| format!("{} B", grouped(bytes))))
}

/// Returns `a / b`, and 1 if both are 0.
fn ratio(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { a / b }
}
