//! Loop over the runs of a study: runs side by side, reports progress, and ends all runs together.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::engine::{Progress, Watch};
use crate::report::Gridlock;
use crate::units::count;
use crate::workload::Blocked;

/// Progress of many runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepProgress {
    /// Number of finished runs.
    pub runs: usize,
    /// Total number of runs.
    pub total_runs: usize,
    /// Messages delivered in all runs so far.
    pub messages: u64,
    /// Messages of all runs.
    pub total_messages: u64,
}

/// Observer of many runs, which can end them.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Called from any thread, every few thousand messages and after each run.
    pub progress: Option<&'a (dyn Fn(SweepProgress) + Sync)>,
    /// Set to end the runs. Runs that are complete by then are reported.
    pub cancel: Option<&'a AtomicBool>,
}

impl Control<'_> {
    /// Returns true if the runs are to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}

/// Ends a single run when all runs are to end.
impl Watch for Control<'_> {
    fn tick(&self, _: Progress) -> bool {
        !self.is_cancelled()
    }
}

/// Runs of a study and their progress together.
pub(super) struct Runs<'a> {
    control: Control<'a>,
    done: AtomicUsize,
    /// Work of each run: messages, or another measure of its duration.
    works: Vec<u64>,
    /// Work that is done, of all runs.
    work: AtomicU64,
    total_work: u64,
    failed: AtomicBool,
    is_apart: bool,
}

impl<'a> Runs<'a> {
    /// Creates the tally of runs with these amounts of work.
    pub fn new(control: Control<'a>, works: Vec<u64>) -> Self {
        let (done, work, failed) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
        Self { control, done, work, total_work: works.iter().sum(), works, failed, is_apart: false }
    }

    /// Gives the runs threads of their own, so that nothing else runs on them.
    pub fn apart(self) -> Self {
        Self { is_apart: true, ..self }
    }

    /// Ends all runs because one has failed.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Returns the number of runs that were not made.
    pub fn missing(&self) -> u64 {
        (self.works.len() - self.done.load(Ordering::Relaxed)) as u64
    }

    /// Starts the run with this number.
    pub fn begin(&self, number: usize) -> Run<'_> {
        Run { runs: self, work: self.works[number], counted: AtomicU64::new(0) }
    }

    /// Makes the runs of all jobs in their order, on as many threads as rayon has.
    ///
    /// Returns the results in the same order: `None` for runs that were ended, or never started because
    /// others had failed.
    pub fn each<J: Sync, R: Send>(
        &self,
        jobs: &[J],
        make: impl Fn(&J, &Run<'_>) -> Option<R> + Sync,
    ) -> Vec<Option<R>> {
        let results: Vec<Mutex<Option<R>>> = jobs.iter().map(|_| Mutex::default()).collect();
        self.numbers(jobs.len() as u64, |number| {
            let (job, result) = (&jobs[number as usize], &results[number as usize]);
            let run = self.begin(number as usize);
            if let Some(made) = make(job, &run) {
                run.end();
                *lock(result) = Some(made);
            }
        });
        results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// Does jobs in the order of their numbers on all threads, until all are to end.
    pub fn numbers(&self, count: u64, job: impl Fn(u64) + Sync) {
        let next = AtomicU64::new(0);
        let one_after_another = || {
            while !self.is_ended() {
                match next.fetch_add(1, Ordering::Relaxed) {
                    number if number < count => job(number),
                    _ => return,
                }
            }
        };
        let threads = 0..count.min(rayon::current_num_threads() as u64);
        if self.is_apart {
            std::thread::scope(|scope| {
                let start = |_: &u64| std::thread::Builder::new().spawn_scoped(scope, one_after_another).is_ok();
                // If the system gives no threads, this thread does all jobs.
                if threads.filter(start).count() == 0 {
                    one_after_another();
                }
            });
        } else {
            rayon::scope(|scope| threads.for_each(|_| scope.spawn(|_| one_after_another())));
        }
    }

    /// Returns true if no more runs are to start.
    pub fn is_ended(&self) -> bool {
        self.control.is_cancelled() || self.failed.load(Ordering::Relaxed)
    }

    fn tell(&self) {
        if let Some(progress) = self.control.progress {
            progress(SweepProgress {
                runs: self.done.load(Ordering::Relaxed),
                total_runs: self.works.len(),
                messages: self.work.load(Ordering::Relaxed),
                total_messages: self.total_work,
            });
        }
    }
}

/// One run in progress.
pub(super) struct Run<'a> {
    runs: &'a Runs<'a>,
    work: u64,
    counted: AtomicU64,
}

impl Run<'_> {
    /// Counts this part of the run's work as done.
    fn count(&self, part: f64) {
        let now = (self.work as f64 * part.clamp(0.0, 1.0)) as u64;
        let before = self.counted.swap(now, Ordering::Relaxed);
        self.runs.work.fetch_add(now.saturating_sub(before), Ordering::Relaxed);
    }

    /// Counts the run as done.
    pub fn end(self) {
        self.count(1.0);
        self.runs.done.fetch_add(1, Ordering::Relaxed);
        self.runs.tell();
    }
}

impl Watch for Run<'_> {
    fn tick(&self, progress: Progress) -> bool {
        // Work without an end has no known part.
        if progress.total > 0 {
            self.count(progress.delivered as f64 / progress.total as f64);
        }
        self.runs.tell();
        !self.runs.is_ended()
    }
}

/// Returns the text `1 task is not done`, `98 tasks are not done`.
pub fn not_done(tasks: u32) -> String {
    count(tasks.into(), "task is not done", "tasks are not done")
}

/// Describes a deadlock: the number of ranks or packets that wait.
pub(super) fn stuck(blocked: &[Blocked], gridlock: Option<&Gridlock>) -> String {
    match gridlock {
        Some(gridlock) => count(gridlock.packets, "packet waits for itself", "packets wait for each other"),
        None => count(
            blocked.len() as u64,
            "rank waits for a message that never comes",
            "ranks wait for messages that never come",
        ),
    }
}

/// Locks a mutex and ignores poisoning: no panic leaves the data half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
