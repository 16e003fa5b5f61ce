//! The loop over the runs of a study: side by side, watched, and ended together.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::engine::{Progress, Watch};
use crate::report::Gridlock;
use crate::units::count;
use crate::workload::Blocked;

/// How far many runs are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepProgress {
    /// Runs that are done.
    pub runs: usize,
    /// Runs in all.
    pub total_runs: usize,
    /// Messages delivered in all runs so far.
    pub messages: u64,
    /// Messages of all runs.
    pub total_messages: u64,
}

/// Looks on while many runs go, and may end them.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Called from any thread, every few thousand messages and after each run.
    pub progress: Option<&'a (dyn Fn(SweepProgress) + Sync)>,
    /// Set to end them: what is complete by then is reported.
    pub cancel: Option<&'a AtomicBool>,
}

impl Control<'_> {
    /// Whether the runs are to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}

/// One of the runs ends when all do.
impl Watch for Control<'_> {
    fn tick(&self, _: Progress) -> bool {
        !self.is_cancelled()
    }
}

/// The runs of a study, and what they have done together.
pub(super) struct Runs<'a> {
    control: Control<'a>,
    done: AtomicUsize,
    /// By run: messages, or another measure of how long it takes.
    works: Vec<u64>,
    /// How much of all that is done.
    work: AtomicU64,
    total_work: u64,
    failed: AtomicBool,
    is_apart: bool,
}

impl<'a> Runs<'a> {
    /// Creates the tally of runs that each have this much work.
    pub fn new(control: Control<'a>, works: Vec<u64>) -> Self {
        let (done, work, failed) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
        Self { control, done, work, total_work: works.iter().sum(), works, failed, is_apart: false }
    }

    /// Gives runs threads of their own, so that nothing else is on them.
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

    /// Begins the run of this number.
    pub fn begin(&self, number: usize) -> Run<'_> {
        Run { runs: self, work: self.works[number], counted: AtomicU64::new(0) }
    }

    /// Makes the runs of all jobs in their order, on as many threads as rayon has. Returns what came out, in the same
    /// order: nothing of runs that were ended, or not begun because others had failed.
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
                // Where the system gives no threads, this one does it all.
                if threads.filter(start).count() == 0 {
                    one_after_another();
                }
            });
        } else {
            rayon::scope(|scope| threads.for_each(|_| scope.spawn(|_| one_after_another())));
        }
    }

    /// True if no more is to be begun.
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

/// One run while it goes.
pub(super) struct Run<'a> {
    runs: &'a Runs<'a>,
    work: u64,
    counted: AtomicU64,
}

impl Run<'_> {
    /// Counts this part of its work as done.
    fn count(&self, part: f64) {
        let now = (self.work as f64 * part.clamp(0.0, 1.0)) as u64;
        let before = self.counted.swap(now, Ordering::Relaxed);
        self.runs.work.fetch_add(now.saturating_sub(before), Ordering::Relaxed);
    }

    /// Counts it as done.
    pub fn end(self) {
        self.count(1.0);
        self.runs.done.fetch_add(1, Ordering::Relaxed);
        self.runs.tell();
    }
}

impl Watch for Run<'_> {
    fn tick(&self, progress: Progress) -> bool {
        // Of work without an end no part is known.
        if progress.total > 0 {
            self.count(progress.delivered as f64 / progress.total as f64);
        }
        self.runs.tell();
        !self.runs.is_ended()
    }
}

/// `1 task is not done`, `98 tasks are not done`.
pub fn not_done(tasks: u32) -> String {
    count(tasks.into(), "task is not done", "tasks are not done")
}

/// What does not go on, in words.
pub(super) fn stuck(blocked: &[Blocked], gridlock: Option<&Gridlock>) -> String {
    match gridlock {
        Some(gridlock) => count(gridlock.packets, "packet waits for itself", "packets wait for each other"),
        None => count(blocked.len() as u64, "rank waits for what never comes", "ranks wait for what never comes"),
    }
}

/// Locks what no panic leaves half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
