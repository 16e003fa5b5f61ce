//! Sweeps: many runs side by side, as a comparison.
//!
//! A [`Sweep`] names what is compared; every combination is a point, and every point runs once for each seed, on all
//! cores. What comes out does not depend on how many there are.

pub mod accuracy;
mod combine;
mod control;
pub mod fabrics;
mod farm;
mod noise;
mod seeds;
pub mod variation;
pub mod whatif;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Invalid};
use crate::engine::{Progress, Watch};
use crate::report::{Comparison, FaultsReport, Gridlock, RankBy, Status, Stopped};
use crate::scenario::{Loaded, Loader, Scenario};
use crate::simulation::{Simulated, Summary, Work};
use crate::system::System;
use crate::units::count;
use crate::workload::Blocked;

pub use control::{Control, SweepProgress};
pub use noise::cost_of_noise;
pub use seeds::{over_seeds, seeds_from};

/// What is compared: every combination of what is listed. An empty list leaves the choice to `base`.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// What the comparison is called.
    pub title: String,
    /// What all runs have in common.
    pub base: Loader,
    /// Topologies, by name or path.
    pub topologies: Vec<String>,
    /// Patterns, by name or path.
    pub patterns: Vec<String>,
    /// Placements, by name or path.
    pub placements: Vec<String>,
    /// Sharing policies.
    pub sharings: Vec<String>,
    /// Transports, `flow:max-min` with its sharing policy.
    pub transports: Vec<String>,
    /// Routing rules.
    pub routings: Vec<String>,
    /// Injection rules.
    pub injections: Vec<String>,
    /// Machines, by name or path.
    pub machines: Vec<String>,
    /// What fails: parts of the cables, or names; `0` for nothing, which the others are set against.
    pub faults: Vec<String>,
    /// Any keys of a scenario, each with its values.
    pub varied: Vec<(String, Vec<String>)>,
    /// Seeds; empty: the seed of `base`.
    pub seeds: Vec<u64>,
    /// What rows are ranked by.
    pub rank: RankBy,
}

/// One combination, ready to run.
#[derive(Clone, Debug)]
pub struct Point {
    /// The topology as named.
    pub topology: String,
    /// The pattern as named.
    pub pattern: String,
    /// The placement as named.
    pub placement: String,
    /// The sharing policy; empty where messages are no flows.
    pub sharing: String,
    /// The transport.
    pub transport: String,
    /// The routing rule.
    pub routing: String,
    /// The injection rule; `by pattern` where patterns bring their own and it is not compared.
    pub injection: String,
    /// The machine as named; empty where nodes cost nothing.
    pub machine: String,
    /// The values of the keys that are varied.
    pub varied: BTreeMap<String, String>,
    /// What is run with the first seed.
    pub scenario: Scenario,
    /// The seeds it runs with: only the first where nothing in it is random.
    pub seeds: Vec<u64>,
}

impl Point {
    /// What it is, for messages: `all-to-all-pairwise on fat-tree-54, random, max-min`.
    pub fn name(&self) -> String {
        let transport = match (self.transport.as_str(), self.sharing.as_str()) {
            ("flow", sharing) => sharing,
            (transport, _) => transport,
        };
        let varied = self.varied.iter().map(|(key, value)| format!("{key} {value}"));
        let chosen = [&self.topology, &self.machine, &self.placement].map(Clone::clone).into_iter();
        let on = chosen.chain([transport.to_owned()]).chain(varied).filter(|word| !word.is_empty());
        format!("{} on {}", self.pattern, on.collect::<Vec<_>>().join(", "))
    }
}

/// Why there is no comparison.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SweepError {
    /// Some points cannot be built; nothing was run.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The ranks of one run wait for each other.
    #[error("{point} with seed {seed} does not end: {}", stuck(.blocked, .gridlock))]
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

/// `1 task is not done`, `98 tasks are not done`.
pub fn not_done(tasks: u32) -> String {
    count(tasks.into(), "task is not done", "tasks are not done")
}

/// What does not go on, in words.
fn stuck(blocked: &[Blocked], gridlock: &Option<Box<Gridlock>>) -> String {
    match gridlock {
        Some(gridlock) => count(gridlock.packets, "packet waits for itself", "packets wait for each other"),
        None => count(blocked.len() as u64, "rank waits for what never comes", "ranks wait for what never comes"),
    }
}

impl Sweep {
    /// All points, in the order of the lists: topologies, placements, sharing policies, transports, routings,
    /// injections, and patterns as the innermost.
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
        let mut mistakes = combine::Mistakes::default();
        let invalid = |mistake| Invalid { diagnostics: vec![mistake], ..Invalid::default() };
        for choice in combine::choices(self).map_err(invalid)? {
            if control.is_cancelled() {
                break;
            }
            match self.load(&choice) {
                Ok(loaded) => {
                    for mut scenario in loaded.split() {
                        if !choice.is_repeated(&scenario, &self.sharings) {
                            share_fabric(&mut scenario, &points);
                            points.push(choice.point(scenario, &self.seeds));
                        }
                    }
                }
                Err(invalid) => mistakes.add(&choice.name(), &invalid),
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
        if self.injections.is_empty() && points.iter().any(|point| point.injection != points[0].injection) {
            // Part of what a pattern is, not something that is compared: it must not tear a block apart.
            for point in &mut points {
                point.injection = "by pattern".to_owned();
            }
        }
        Ok(points)
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

type Outcomes = BTreeMap<(usize, u64), Option<Box<Summary>>>;

/// Runs all points with all their seeds.
fn run_points(title: &str, points: &[Point], control: Control<'_>) -> Result<Comparison, SweepError> {
    // The longest runs first, so that no core is left alone with one at the end.
    let mut jobs: Vec<(usize, u64)> =
        points.iter().enumerate().flat_map(|(i, point)| point.seeds.iter().map(move |&seed| (i, seed))).collect();
    jobs.arrange_by_key(|&(i, _)| std::cmp::Reverse(points[i].scenario.work().messages()));
    let tally = Tally {
        control,
        runs: AtomicUsize::new(0),
        messages: AtomicU64::new(0),
        total_runs: jobs.len(),
        total_messages: jobs.iter().map(|&(i, _)| points[i].scenario.work().messages()).sum(),
        failed: AtomicBool::new(false),
    };
    // By point and seed; nothing for a run in which a message had no way.
    let outcomes: Mutex<Outcomes> = Mutex::new(BTreeMap::new());
    let errors: Mutex<BTreeMap<(usize, u64), SweepError>> = Mutex::new(BTreeMap::new());
    jobs.par_iter().with_max_len(1).for_each(|&(i, seed)| {
        if tally.ended() {
            return;
        }
        let error = match run_one(&points[i], seed, &tally) {
            Ok(Run::Done(run)) => {
                lock(&outcomes).insert((i, seed), Some(run));
                return;
            }
            Ok(Run::CutOff) => {
                lock(&outcomes).insert((i, seed), None);
                return;
            }
            Ok(Run::Interrupted) => return,
            Err(error) => error,
        };
        tally.failed.store(true, Ordering::Relaxed);
        lock(&errors).insert((i, seed), error);
    });
    if let Some((_, error)) = lock(&errors).pop_first() {
        return Err(error);
    }
    let mut outcomes = std::mem::take(&mut *lock(&outcomes));
    let missing = jobs.len() - outcomes.len();
    let mut rows = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let (mut runs, mut cut_off) = (Vec::new(), 0);
        for &seed in &point.seeds {
            match outcomes.remove(&(i, seed)) {
                Some(Some(run)) => runs.push(Outcome { seed, run: *run }),
                Some(None) => cut_off += 1,
                None => {}
            }
        }
        if !runs.is_empty() {
            rows.push(combine::row(point, &runs, cut_off));
        }
    }
    Ok(Comparison::new(title, rows, missing as u64))
}

/// What became of one run.
enum Run {
    Done(Box<Summary>),
    /// What failed left messages no way.
    CutOff,
    Interrupted,
}

/// One run.
fn run_one(point: &Point, seed: u64, tally: &Tally<'_>) -> Result<Run, SweepError> {
    let again;
    let scenario = if seed == point.scenario.seed() {
        &point.scenario
    } else {
        again = point.scenario.with_seed(seed)?;
        &again
    };
    let watch = Counted { tally, counted: AtomicU64::new(0) };
    let run = scenario.measured(Some(&watch));
    match run.status {
        Status::Undone => Err(SweepError::Undone { point: point.name(), seed, tasks: run.undone }),
        Status::Complete => {
            watch.count(run.messages);
            tally.runs.fetch_add(1, Ordering::Relaxed);
            tally.tell();
            Ok(Run::Done(Box::new(run)))
        }
        Status::Interrupted => Ok(Run::Interrupted),
        // Another draw may leave a way: the seeds are counted with which there is none.
        Status::Deadlocked if point.seeds.len() > 1 && run.is_cut_off() => {
            tally.runs.fetch_add(1, Ordering::Relaxed);
            tally.tell();
            Ok(Run::CutOff)
        }
        Status::Deadlocked => Err(SweepError::Deadlocked {
            point: point.name(),
            seed,
            blocked: run.blocked,
            gridlock: run.gridlock.map(Box::new),
            stopped: run.stopped,
            faults: run.faults,
        }),
    }
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

/// What all runs have done together.
struct Tally<'a> {
    control: Control<'a>,
    runs: AtomicUsize,
    messages: AtomicU64,
    total_runs: usize,
    total_messages: u64,
    failed: AtomicBool,
}

impl Tally<'_> {
    fn ended(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.control.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    fn tell(&self) {
        if let Some(progress) = self.control.progress {
            progress(SweepProgress {
                runs: self.runs.load(Ordering::Relaxed),
                total_runs: self.total_runs,
                messages: self.messages.load(Ordering::Relaxed),
                total_messages: self.total_messages,
            });
        }
    }
}

/// Looks on while one run goes, and adds what it does to the tally.
struct Counted<'a> {
    tally: &'a Tally<'a>,
    counted: AtomicU64,
}

impl Counted<'_> {
    /// Messages this run has delivered by now.
    fn count(&self, delivered: u64) {
        let before = self.counted.swap(delivered, Ordering::Relaxed);
        self.tally.messages.fetch_add(delivered.saturating_sub(before), Ordering::Relaxed);
    }
}

impl Watch for Counted<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.count(progress.delivered);
        self.tally.tell();
        !self.tally.ended()
    }
}

/// A thread that panicked has not left the map half changed: inserts are whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
