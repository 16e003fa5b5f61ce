//! Run of the points of a shard, on all cores.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::base::wall_clock::Instant;
use crate::diagnostic::Invalid;
use crate::engine::{self, Watch};
use crate::scenario::{Scenario, Variant};
use crate::study::runs::{Control, Runs, lock};

use super::points::shard_of;
use super::row::Result as PointResult;
use super::rule::Mean;
use super::store::{OtherShards, Shard, Store, StoreError, Writer};
use super::{Configuration, Plan, PlanPoint};

/// Progress of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Rows in the store, of all shards.
    pub rows: u64,
    /// Largest number of points.
    pub points: u64,
    /// Points that this process has run.
    pub run: u64,
    /// Points that this process has run and that have no makespan.
    pub failed: u64,
}

/// Observer of a sweep, which can end it.
#[derive(Clone, Copy, Default)]
pub struct RunControl<'a> {
    /// Called from any thread after each point.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Set to end the sweep. Points in progress then get no row.
    pub cancel: Option<&'a AtomicBool>,
    /// True if points that failed before are to be run again.
    pub retry_failed: bool,
    /// Largest number of points to run, spread over the plan, to see how long they take.
    pub most: Option<u64>,
}

/// Result of a sweep.
#[derive(Clone, Default, Debug)]
pub struct RunSummary {
    /// Points of this shard that were run.
    pub run: u64,
    /// Points of this shard that already had a row.
    pub there: u64,
    /// Points that were run and have no makespan.
    pub failed: u64,
    /// True if the sweep was ended before all points were run.
    pub interrupted: bool,
    /// Sum of the run times of the points \[s\].
    pub wall_s: f64,
    /// Faulty lines of the store.
    pub faults: super::store::Faults,
}

/// Runs the missing points of a shard, and adds a row for each to the store in this folder.
///
/// # Errors
/// A store that cannot be used or written.
pub fn run(plan: &Plan, folder: &Path, shard: Shard, control: RunControl<'_>) -> Result<RunSummary, StoreError> {
    std::fs::create_dir_all(folder).map_err(|error| StoreError::Failed(folder.to_owned(), error))?;
    let store = Store::read(folder, plan)?;
    let writer = store.writer(plan, shard)?;
    // Reads again if another process has written between the reading and the lock. The first store is dropped before,
    // because two would take twice the memory.
    let mut store = if store.is_current()? {
        store
    } else {
        drop(store);
        Store::read(folder, plan)?
    };
    if control.retry_failed {
        store.forget_failed();
    }
    let faults = store.faults.clone();
    let others = store.others(shard);
    let threads = rayon::current_num_threads();
    let work = Work {
        plan,
        shard,
        control,
        at_first: store.len() as u64,
        store: Mutex::new(store),
        writer: Mutex::new(writer),
        others: Mutex::new((others, crate::base::wall_clock::now(), 0)),
        recent: Recent { most: 2 * threads + 2, kept: Mutex::default() },
        runs: Runs::new(Control { progress: None, cancel: control.cancel }, Vec::new()),
        error: Mutex::new(None),
        run: AtomicU64::new(0),
        there: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        wall_us: AtomicU64::new(0),
    };
    // A rule for seeds runs the seeds of a configuration one after another.
    let seeds = if plan.settings.within.is_some() { 1 } else { plan.points.seeds() };
    let all = plan.configurations() * seeds;
    // Each number once, far from the previous one.
    let stride = if control.most.is_some() { golden_stride(all) } else { 1 };
    work.runs.numbers(all, |number| {
        let number = (u128::from(number) * u128::from(stride) % u128::from(all)) as u64;
        let (configuration, seed) = (number / seeds, number % seeds);
        let done = match plan.settings.within {
            Some(part) => work.configuration(configuration, part),
            None => work.point(configuration, seed),
        };
        if let Err(error) = done {
            lock(&work.error).get_or_insert(error);
            work.runs.fail();
        }
    });
    if let Some(error) = lock(&work.error).take() {
        return Err(error);
    }
    let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
    Ok(RunSummary {
        run: count(&work.run),
        there: count(&work.there),
        failed: count(&work.failed),
        interrupted: work.runs.is_ended(),
        wall_s: count(&work.wall_us) as f64 / 1e6,
        faults,
    })
}

/// Returns a step near the golden section of `all` that visits each of `all` numbers once.
pub(super) fn golden_stride(all: u64) -> u64 {
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let first = (all as f64 * 0.618_034) as u64;
    (first.max(1)..=all.max(1)).find(|&step| divisor(step, all) == 1).unwrap_or(1)
}

/// Configuration whose points are run; its scenario is loaded on first use.
struct LoadedConfiguration<'a> {
    configuration: Configuration<'a>,
    variant: Mutex<Option<Variant>>,
    scenario: OnceLock<Result<Scenario, Invalid>>,
}

impl LoadedConfiguration<'_> {
    fn scenario(&self) -> &Result<Scenario, Invalid> {
        self.scenario.get_or_init(|| match lock(&self.variant).take() {
            Some(variant) => variant.load(),
            None => Err(Invalid::default()),
        })
    }
}

/// Cell of a configuration. The first thread that needs the configuration creates it, and other threads wait
/// for it.
type Slot<'a> = Arc<OnceLock<Arc<LoadedConfiguration<'a>>>>;

/// Most recent configurations, by number.
struct Recent<'a> {
    most: usize,
    kept: Mutex<Vec<(u64, Slot<'a>)>>,
}

struct Work<'a> {
    plan: &'a Plan,
    shard: Shard,
    control: RunControl<'a>,
    at_first: u64,
    store: Mutex<Store>,
    writer: Mutex<Writer>,
    /// Files of other processes, the time at which they were last examined, and the number of rows they had
    /// added by then.
    others: Mutex<(OtherShards, Instant, u64)>,
    recent: Recent<'a>,
    runs: Runs<'a>,
    error: Mutex<Option<StoreError>>,
    run: AtomicU64,
    there: AtomicU64,
    failed: AtomicU64,
    wall_us: AtomicU64,
}

impl<'a> Work<'a> {
    /// Returns the configuration of this number.
    fn running(&self, number: u64) -> Arc<LoadedConfiguration<'a>> {
        let slot = {
            let mut kept = lock(&self.recent.kept);
            match kept.iter().find(|(known, _)| *known == number) {
                Some((_, slot)) => Arc::clone(slot),
                None => {
                    if kept.len() >= self.recent.most {
                        kept.remove(0);
                    }
                    let slot = Slot::default();
                    kept.push((number, Arc::clone(&slot)));
                    slot
                }
            }
        };
        let running = slot.get_or_init(|| {
            let values = self.plan.points.values(number);
            let variant = self.plan.variant(&values);
            let identity = self.plan.identity(&values, &variant);
            Arc::new(LoadedConfiguration {
                configuration: Configuration { number, values, identity },
                variant: Mutex::new(Some(variant)),
                scenario: OnceLock::new(),
            })
        });
        Arc::clone(running)
    }

    /// Runs one point, if it belongs to this shard and has no row.
    fn point(&self, configuration: u64, seed: u64) -> Result<(), StoreError> {
        if self.shard.of > 1 || self.plan.points.is_filtered() {
            let mut values = self.plan.points.values(configuration);
            values.extend(self.plan.points.seed(seed));
            if !self.plan.points.matches(&values) || !self.is_mine(&values) {
                return Ok(());
            }
        }
        let running = self.running(configuration);
        let Some(visit) = self.plan.visit(&running.configuration, seed, true) else { return Ok(()) };
        self.visit(&running, &visit).map(drop)
    }

    /// Runs a configuration with one seed after another, until the mean is known well enough.
    fn configuration(&self, number: u64, part: f64) -> Result<(), StoreError> {
        // All seeds of a configuration belong to one shard.
        if !self.is_mine(&self.plan.points.values(number)) {
            return Ok(());
        }
        let running = self.running(number);
        let mut mean = Mean::default();
        for seed in 0..self.plan.points.seeds() {
            let Some(visit) = self.plan.visit(&running.configuration, seed, true) else { continue };
            match self.visit(&running, &visit)? {
                Some(makespan) => mean.add(makespan),
                // The scenario has the same mistakes with any other seed.
                None if lock(&self.store).get(visit.id).is_some_and(|found| found.is_invalid) => break,
                None if matches!(running.scenario.get(), Some(Err(_))) => break,
                None => {}
            }
            if self.runs.is_ended() || mean.is_within(part, self.plan.settings.least) {
                break;
            }
        }
        Ok(())
    }

    fn is_mine(&self, values: &[(&super::points::Key, crate::reading::tree::Tree)]) -> bool {
        self.shard.of == 1 || shard_of(values, self.shard.of) == self.shard.index
    }

    /// Runs a point that has no row, and returns its makespan.
    fn visit(&self, running: &LoadedConfiguration<'_>, visit: &PlanPoint<'_>) -> Result<Option<f64>, StoreError> {
        {
            let mut store = lock(&self.store);
            if let Some(found) = store.get(visit.id) {
                self.there.fetch_add(1, Ordering::Relaxed);
                return Ok(found.makespan_s);
            }
            let enough = |most: u64| self.run.load(Ordering::Relaxed) >= most;
            if self.control.most.is_some_and(enough) {
                self.runs.fail();
                return Ok(None);
            }
            store.begin(visit.id);
        }
        let start = crate::base::wall_clock::now();
        let keep = &self.plan.settings.keep;
        let became = match running.scenario() {
            Err(invalid) => Some(PointResult::of_mistakes(invalid, true)),
            Ok(scenario) if scenario.seed() == visit.seed_number => PointResult::of_run(scenario, keep, self),
            Ok(scenario) => match scenario.with_seed(visit.seed_number) {
                Err(invalid) => Some(PointResult::of_mistakes(&invalid, false)),
                Ok(scenario) => PointResult::of_run(&scenario, keep, self),
            },
        };
        let Some(became) = became else { return Ok(None) };
        let wall = start.elapsed();
        let line = became.line(&running.configuration, visit, keep, wall.as_secs_f64());
        lock(&self.writer).write(&line)?;
        let makespan = became.makespan_s();
        self.run.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(makespan.is_none()), Ordering::Relaxed);
        self.wall_us.fetch_add(wall.as_micros() as u64, Ordering::Relaxed);
        self.tell();
        Ok(makespan)
    }

    fn tell(&self) {
        let Some(progress) = self.control.progress else { return };
        let run = self.run.load(Ordering::Relaxed);
        let by_others = {
            let mut state = lock(&self.others);
            let (others, looked, rows) = &mut *state;
            if looked.elapsed().as_secs_f64() >= 2.0 {
                *rows = others.rows();
                *looked = crate::base::wall_clock::now();
            }
            *rows
        };
        let failed = self.failed.load(Ordering::Relaxed);
        progress(Progress { rows: self.at_first + run + by_others, points: self.plan.most_points(), run, failed });
    }
}

/// Ends a single point when all points are to end.
impl Watch for Work<'_> {
    fn tick(&self, _: engine::Progress) -> bool {
        !self.runs.is_ended()
    }
}
