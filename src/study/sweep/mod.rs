//! Sweeps: many runs side by side, as a comparison.
//!
//! A [`Sweep`] names the axes of a comparison. Every combination of their values is a point, and every point
//! runs once for each seed, on all cores. The results do not depend on the number of cores.

pub mod accuracy;
mod axis;
mod combine;
pub mod fabrics;
mod farm;
pub mod lists;
mod noise;
mod seeds;
pub mod variation;
pub mod whatif;

use std::collections::BTreeMap;

use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Invalid};
use crate::report::{Comparison, ComparisonRow, FaultsReport, Gridlock, RankBy, Status, Stopped};
use crate::scenario::{Loaded, Loader, Scenario};
use crate::simulation::{Simulated, Summary, Work};
use crate::study::mistakes::Mistakes;
use crate::study::runs::{Run, Runs, stuck};
use crate::system::System;
use crate::workload::Blocked;

pub use crate::study::runs::{Control, SweepProgress, not_done};
pub use axis::Axis;
pub use noise::cost_of_noise;
pub use seeds::{over_seeds, seeds_from};

/// Comparison of every combination of the listed values. An axis with an empty list keeps the choice of
/// `base`.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// Title of the comparison.
    pub title: String,
    /// Texts that all runs have in common.
    pub base: Loader,
    /// Axes and their values; the last axis changes fastest. An axis with an empty list keeps the choice of
    /// `base`.
    pub axes: Vec<(Axis, Vec<String>)>,
    /// Seeds; if empty, the seed of `base`.
    pub seeds: Vec<u64>,
    /// Figure by which rows are ranked.
    pub rank: RankBy,
    /// Set to leave out points whose order does not suit the fabric, instead of refusing them.
    pub fitting_orders: bool,
}

/// One combination, ready to run.
#[derive(Clone, Debug)]
pub struct Point {
    /// Row with the names of the point's choices. The injection is `by pattern` if patterns have their own
    /// and injections are not compared.
    pub row: ComparisonRow,
    /// Scenario with the first seed.
    pub scenario: Scenario,
    /// Seeds of the runs: only the first if nothing in the scenario is random.
    pub seeds: Vec<u64>,
}

impl Point {
    /// Returns a name for messages: `all-to-all-pairwise on fat-tree-54, random, max-min`.
    pub fn name(&self) -> String {
        let row = &self.row;
        let transport = match (row.transport.as_str(), row.sharing.as_str()) {
            ("flow", sharing) => sharing,
            (transport, _) => transport,
        };
        let varied = row.varied.iter().map(|(key, value)| format!("{key} {value}"));
        let chosen = [&row.topology, &row.machine, &row.placement].map(Clone::clone).into_iter();
        let on = chosen.chain([transport.to_owned()]).chain(varied).filter(|word| !word.is_empty());
        format!("{} on {}", row.pattern, on.collect::<Vec<_>>().join(", "))
    }
}

/// Reason why there is no comparison.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SweepError {
    /// Some points cannot be built; nothing was run.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The ranks of one run wait for each other.
    #[error("{point} with seed {seed} does not end: {}", stuck(.blocked, .gridlock.as_deref()))]
    Deadlocked {
        /// Name of the point.
        point: String,
        /// Seed of the run.
        seed: u64,
        /// Blocked ranks, and the ranks that they wait for.
        blocked: Vec<Blocked>,
        /// Channels that wait for each other, if packets block each other.
        gridlock: Option<Box<Gridlock>>,
        /// Time and progress at which the run deadlocked.
        stopped: Option<Stopped>,
        /// Faults and their effect on messages, if there are faults.
        faults: Option<Box<FaultsReport>>,
    },
    /// All workers of a farm were lost.
    #[error("{point} with seed {seed}: all workers are lost, and {}", not_done(*.tasks))]
    Undone {
        /// Name of the point.
        point: String,
        /// Seed of the run.
        seed: u64,
        /// Number of tasks that are not done.
        tasks: u32,
    },
}

impl Sweep {
    /// Builds all points, in the order of the axes.
    ///
    /// # Errors
    /// Every mistake of every point, each with the point it belongs to.
    pub fn points(&self) -> Result<Vec<Point>, Invalid> {
        self.points_until(&Control::default())
    }

    /// Builds points until `control` ends it, and returns those that were built.
    ///
    /// # Errors
    /// As those of [`Sweep::points`].
    pub fn points_until(&self, control: &Control<'_>) -> Result<Vec<Point>, Invalid> {
        let mut points: Vec<Point> = Vec::new();
        let mut mistakes = Mistakes::default();
        for choice in combine::choices(self)? {
            if control.is_cancelled() {
                break;
            }
            match self.load(&choice) {
                Ok(loaded) => {
                    for mut scenario in loaded.split() {
                        if !choice.is_repeated(&scenario, self.values(&Axis::Sharing)) {
                            share_fabric(&mut scenario, &points);
                            points.push(choice.point(scenario, &self.seeds));
                        }
                    }
                }
                Err(invalid) if self.fitting_orders && invalid.has_only("order") => {}
                Err(invalid) => mistakes.add(&choice.name(), &invalid.diagnostics, &invalid.sources),
            }
        }
        mistakes.none()?;
        if points.is_empty() && !control.is_cancelled() {
            return Err(Diagnostic::new("missing-key", "there is nothing to compare").into());
        }
        let has_jobs = |point: &Point| matches!(point.scenario.work(), Work::Jobs(_));
        if self.rank == RankBy::Slowdown && !points.iter().all(has_jobs) {
            let diagnostic = Diagnostic::new("no-jobs", "slowdowns are those of several jobs on one fabric");
            let help = "add `--job NAME=PATTERN:RANKS` or tables [[job]], or rank by makespans";
            return Err(diagnostic.help(help).into());
        }
        if self.values(&Axis::Injection).is_empty()
            && points.iter().any(|point| point.row.injection != points[0].row.injection)
        {
            // The injection is part of the pattern and not compared: it must not split a block.
            for point in &mut points {
                point.row.injection = "by pattern".to_owned();
            }
        }
        Ok(points)
    }

    /// Returns the values of an axis.
    fn values(&self, wanted: &Axis) -> &[String] {
        self.axes.iter().find(|(axis, _)| axis == wanted).map_or(&[], |(_, values)| values)
    }

    /// Loads the scenario of a combination, with the first seed whose faults leave every message a route.
    fn load(&self, choice: &combine::Choice<'_>) -> Result<Loaded, Invalid> {
        let first = choice.loader(self, self.seeds.first().copied()).load_all();
        match first {
            Err(invalid) if invalid.is_cut_off() => {
                let others = self.seeds.iter().skip(1);
                let mut found = others.map(|&seed| choice.loader(self, Some(seed)).load_all());
                found.find(Result::is_ok).unwrap_or(Err(invalid))
            }
            first => first,
        }
    }

    /// Builds and runs all points.
    ///
    /// # Errors
    /// Points that cannot be built (then nothing is run), and runs that deadlock.
    pub fn run(&self, control: Control<'_>) -> Result<Comparison, SweepError> {
        self.run_points(&self.points_until(&control)?, control)
    }

    /// Runs these points, which were built by this sweep.
    ///
    /// # Errors
    /// Runs that deadlock.
    pub fn run_points(&self, points: &[Point], control: Control<'_>) -> Result<Comparison, SweepError> {
        if points.is_empty() {
            // The sweep was ended before the first point was built.
            return Ok(Comparison::new(&self.title, Vec::new(), 1));
        }
        Ok(run_points(&self.title, points, control)?.ranked_by(self.rank))
    }
}

/// Contribution of one run to its row.
struct SeedRun {
    seed: u64,
    run: Summary,
}

/// Runs all points with all their seeds.
fn run_points(title: &str, points: &[Point], control: Control<'_>) -> Result<Comparison, SweepError> {
    // The longest runs first, so that no core is left alone with one at the end.
    let mut jobs: Vec<(usize, u64)> =
        points.iter().enumerate().flat_map(|(i, point)| point.seeds.iter().map(move |&seed| (i, seed))).collect();
    let messages = |&(i, _): &(usize, u64)| points[i].scenario.work().messages();
    jobs.arrange_by_key(|job| std::cmp::Reverse(messages(job)));
    let runs = Runs::new(control, jobs.iter().map(messages).collect());
    let results = runs.each(&jobs, |&(i, seed), run| {
        let became = run_one(&points[i], seed, run);
        if let Some(Err(_)) = became {
            runs.fail();
        }
        became
    });
    // Results by point and seed.
    let mut outcomes: BTreeMap<(usize, u64), Result<RunResult, SweepError>> =
        jobs.into_iter().zip(results).filter_map(|(job, result)| Some((job, result?))).collect();
    let mut rows = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let (mut done, mut cut_off) = (Vec::new(), 0);
        for &seed in &point.seeds {
            match outcomes.remove(&(i, seed)).transpose()? {
                Some(RunResult::Done(run)) => done.push(SeedRun { seed, run: *run }),
                Some(RunResult::CutOff) => cut_off += 1,
                None => {}
            }
        }
        if !done.is_empty() {
            rows.push(combine::row(point, &done, cut_off));
        }
    }
    Ok(Comparison::new(title, rows, runs.missing()))
}

/// Result of one run.
enum RunResult {
    Done(Box<Summary>),
    /// Faults left messages without a route.
    CutOff,
}

/// Makes one run; returns `None` if it was ended.
fn run_one(point: &Point, seed: u64, run: &Run<'_>) -> Option<Result<RunResult, SweepError>> {
    let again = (seed != point.scenario.seed()).then(|| point.scenario.with_seed(seed)).transpose();
    let run = match &again {
        // Links of one run are enough to tell what holds the point back.
        Ok(again) => again.as_ref().unwrap_or(&point.scenario).measured(Some(run), Some(&seed) == point.seeds.first()),
        Err(invalid) if invalid.is_cut_off() => return Some(Ok(RunResult::CutOff)),
        Err(invalid) => return Some(Err(invalid.clone().into())),
    };
    Some(match run.status {
        Status::Undone => Err(SweepError::Undone { point: point.name(), seed, tasks: run.undone }),
        Status::Complete => Ok(RunResult::Done(Box::new(run))),
        Status::Interrupted => return None,
        // Another seed may leave a route, so seeds without one are counted.
        Status::Deadlocked if point.seeds.len() > 1 && run.is_cut_off() => Ok(RunResult::CutOff),
        Status::Deadlocked => Err(SweepError::Deadlocked {
            point: point.name(),
            seed,
            blocked: run.blocked,
            gridlock: run.gridlock.map(Box::new),
            stopped: run.stopped,
            faults: run.faults,
        }),
    })
}

/// Reuses the fabric and routes of an earlier point with the same fabric.
fn share_fabric(scenario: &mut Scenario, points: &[Point]) {
    let system = scenario.system();
    let is_same = |point: &&Point| {
        let known = point.scenario.system();
        let on = |system: &System| (system.topology().cloned(), system.routing().cloned(), system.faults().cloned());
        known.seed() == system.seed() && on(known) == on(system)
    };
    if let Some(known) = points.iter().find(is_same).and_then(|point| point.scenario.system().network()) {
        scenario.share_network(known);
    }
}

#[cfg(test)]
mod tests;
