//! Sweeps: many runs side by side, as a comparison.
//!
//! A [`Sweep`] names what is compared; every combination is a point, and every point runs once for each seed, on all
//! cores. What comes out does not depend on how many there are.

pub mod accuracy;
mod axis;
mod combine;
pub mod fabrics;
mod farm;
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

/// What is compared: every combination of what is listed. An empty list leaves the choice to `base`.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// What the comparison is called.
    pub title: String,
    /// What all runs have in common.
    pub base: Loader,
    /// What varies, and its values; the last one changes fastest. Where nothing is listed the choice is left to `base`.
    pub axes: Vec<(Axis, Vec<String>)>,
    /// Seeds; empty: the seed of `base`.
    pub seeds: Vec<u64>,
    /// What rows are ranked by.
    pub rank: RankBy,
}

/// One combination, ready to run.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its row, of which the names are known; the injection is `by pattern` where patterns bring their own and it is
    /// not compared.
    pub row: ComparisonRow,
    /// What is run with the first seed.
    pub scenario: Scenario,
    /// The seeds it runs with: only the first where nothing in it is random.
    pub seeds: Vec<u64>,
}

impl Point {
    /// What it is, for messages: `all-to-all-pairwise on fat-tree-54, random, max-min`.
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

/// Why there is no comparison.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SweepError {
    /// Some points cannot be built; nothing was run.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The ranks of one run wait for each other.
    #[error("{point} with seed {seed} does not end: {}", stuck(.blocked, .gridlock.as_deref()))]
    Deadlocked {
        /// The name of the point.
        point: String,
        /// The seed of the run.
        seed: u64,
        /// Who waits for whom.
        blocked: Vec<Blocked>,
        /// Which channels wait for each other, where it is the packets that do.
        gridlock: Option<Box<Gridlock>>,
        /// When and with what it came to a standstill.
        stopped: Option<Stopped>,
        /// What failed, and what became of messages for it, where anything does.
        faults: Option<Box<FaultsReport>>,
    },
    /// All workers of a farm are lost.
    #[error("{point} with seed {seed}: all workers are lost, and {}", not_done(*.tasks))]
    Undone {
        /// The name of the point.
        point: String,
        /// The seed of the run.
        seed: u64,
        /// Tasks that are not done.
        tasks: u32,
    },
}

impl Sweep {
    /// All points, in the order of the axes.
    ///
    /// # Errors
    /// Every mistake of every point, each with the point it belongs to.
    pub fn points(&self) -> Result<Vec<Point>, Invalid> {
        self.points_until(&Control::default())
    }

    /// Returns the points that are built until `control` ends it.
    ///
    /// # Errors
    /// As those of [`Sweep::points`].
    pub fn points_until(&self, control: &Control<'_>) -> Result<Vec<Point>, Invalid> {
        let mut points: Vec<Point> = Vec::new();
        let mut mistakes = Mistakes::default();
        let invalid = |mistake| Invalid { diagnostics: vec![mistake], ..Invalid::default() };
        for choice in combine::choices(self).map_err(invalid)? {
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
                Err(invalid) => mistakes.add(&choice.name(), &invalid.diagnostics, &invalid.sources),
            }
        }
        mistakes.none()?;
        if points.is_empty() && !control.is_cancelled() {
            return Err(Invalid {
                diagnostics: vec![Diagnostic::new("missing-key", "there is nothing to compare")],
                ..Invalid::default()
            });
        }
        let has_jobs = |point: &Point| matches!(point.scenario.work(), Work::Jobs(_));
        if self.rank == RankBy::Slowdown && !points.iter().all(has_jobs) {
            let diagnostic = Diagnostic::new("no-jobs", "slowdowns are those of several jobs on one fabric");
            let help = "add `--job NAME=PATTERN:RANKS` or tables [[job]], or rank by makespans";
            return Err(Invalid { diagnostics: vec![diagnostic.help(help)], ..Invalid::default() });
        }
        if self.values(&Axis::Injection).is_empty()
            && points.iter().any(|point| point.row.injection != points[0].row.injection)
        {
            // Part of what a pattern is, not something that is compared: it must not tear a block apart.
            for point in &mut points {
                point.row.injection = "by pattern".to_owned();
            }
        }
        Ok(points)
    }

    /// The values of an axis.
    fn values(&self, wanted: &Axis) -> &[String] {
        self.axes.iter().find(|(axis, _)| axis == wanted).map_or(&[], |(_, values)| values)
    }

    /// The scenario of a combination: with the first seed, or the first with which what fails leaves messages a way.
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

    /// Runs everything.
    ///
    /// # Errors
    /// Points that cannot be built (then nothing is run), and runs that deadlock.
    pub fn run(&self, control: Control<'_>) -> Result<Comparison, SweepError> {
        self.run_points(&self.points_until(&control)?, control)
    }

    /// Runs these points, which are those of the sweep.
    ///
    /// # Errors
    /// Runs that deadlock.
    pub fn run_points(&self, points: &[Point], control: Control<'_>) -> Result<Comparison, SweepError> {
        if points.is_empty() {
            // It was ended before the first one was built.
            return Ok(Comparison::new(&self.title, Vec::new(), 1));
        }
        Ok(run_points(&self.title, points, control)?.ranked_by(self.rank))
    }
}

/// What one run contributes to its row.
struct Outcome {
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
    // By point and seed.
    let mut outcomes: BTreeMap<(usize, u64), Result<Became, SweepError>> =
        jobs.into_iter().zip(results).filter_map(|(job, result)| Some((job, result?))).collect();
    let mut rows = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let (mut done, mut cut_off) = (Vec::new(), 0);
        for &seed in &point.seeds {
            match outcomes.remove(&(i, seed)).transpose()? {
                Some(Became::Done(run)) => done.push(Outcome { seed, run: *run }),
                Some(Became::CutOff) => cut_off += 1,
                None => {}
            }
        }
        if !done.is_empty() {
            rows.push(combine::row(point, &done, cut_off));
        }
    }
    Ok(Comparison::new(title, rows, runs.missing()))
}

/// What became of one run.
enum Became {
    Done(Box<Summary>),
    /// What failed left messages no way.
    CutOff,
}

/// One run; nothing where it was ended.
fn run_one(point: &Point, seed: u64, run: &Run<'_>) -> Option<Result<Became, SweepError>> {
    let again = (seed != point.scenario.seed()).then(|| point.scenario.with_seed(seed)).transpose();
    let run = match &again {
        Ok(again) => again.as_ref().unwrap_or(&point.scenario).measured(Some(run)),
        Err(invalid) if invalid.is_cut_off() => return Some(Ok(Became::CutOff)),
        Err(invalid) => return Some(Err(invalid.clone().into())),
    };
    Some(match run.status {
        Status::Undone => Err(SweepError::Undone { point: point.name(), seed, tasks: run.undone }),
        Status::Complete => Ok(Became::Done(Box::new(run))),
        Status::Interrupted => return None,
        // Another draw may leave a way: the seeds are counted with which there is none.
        Status::Deadlocked if point.seeds.len() > 1 && run.is_cut_off() => Ok(Became::CutOff),
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

/// The same fabric and routes once, however many points use them.
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
