//! Context of a case: its amount of work, its observer, and its progress.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rayon::prelude::*;

use hayase::engine::{self, Progress};

/// Reason, in words, why a simulation cannot be set up or does not end.
pub(crate) type CaseError = String;

/// Amount of work of the cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// All cases together take seconds: the largest fabrics and most seeds are left out.
    #[default]
    Quick,
    /// Minutes: every size and every combination.
    Full,
}

/// Observer of a running case, which may end it.
pub trait Observer: Sync {
    /// Receives the part of the case that is done, from 0 to 1; `false` ends the case. Called from any
    /// thread, every few thousand messages.
    fn tick(&self, part: f64) -> bool;
}

/// Context in which a case runs.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    effort: Effort,
    watch: Option<&'a dyn Observer>,
    tally: Option<&'a Tally>,
}

impl<'a> Context<'a> {
    /// Creates a context with this amount of work and no observer.
    pub fn new(effort: Effort) -> Self {
        Self { effort, ..Self::default() }
    }

    /// Sets the observer.
    #[must_use]
    pub fn watched(self, watch: &'a dyn Observer) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Sets the tally of one case.
    pub(super) fn counted(self, tally: &'a Tally) -> Self {
        Self { tally: Some(tally), ..self }
    }

    /// Returns `full` for the full amount of work, otherwise `quick`.
    pub(super) fn choose<T>(&self, quick: T, full: T) -> T {
        match self.effort {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }

    /// Adds messages to the total of the case, from which its progress is computed. May be called for each
    /// part.
    pub(super) fn plan(&self, messages: u64) {
        if let Some(tally) = self.tally {
            tally.planned.fetch_add(messages, Ordering::Relaxed);
        }
    }

    /// Reports the progress of the case; returns true if the case can continue.
    pub(super) fn may_continue(&self) -> bool {
        let part = self.tally.map_or(0.0, Tally::part);
        let may_continue = self.watch.is_none_or(|watch| watch.tick(part));
        if !may_continue && let Some(tally) = self.tally {
            tally.ended.store(true, Ordering::Relaxed);
        }
        may_continue
    }

    /// Runs independent parts on all threads; returns results in the order of the parts.
    pub(super) fn run_parts<I: Send, T: Send>(
        &self,
        parts: Vec<I>,
        work: impl Fn(I) -> Result<T, CaseError> + Sync,
    ) -> Result<Vec<T>, CaseError> {
        let clocked = |part| match self.tally {
            Some(tally) => tally.clocked(|| work(part)),
            None => work(part),
        };
        parts.into_par_iter().with_max_len(1).map(clocked).collect()
    }
}

/// Work done by a case so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Processor time \[ns\].
    cpu: AtomicU64,
    /// Number of messages delivered.
    delivered: AtomicU64,
    /// Number of messages in total, as far as is known.
    planned: AtomicU64,
    /// Set if the observer has ended the case.
    ended: AtomicBool,
}

impl Tally {
    /// Returns the part of the planned messages that is done, from 0 to 1.
    fn part(&self) -> f64 {
        let planned = self.planned.load(Ordering::Relaxed);
        let delivered = self.delivered.load(Ordering::Relaxed);
        if planned == 0 { 0.0 } else { (delivered as f64 / planned as f64).min(1.0) }
    }

    /// Returns the processor time of the case, if the system tells it \[s\].
    pub fn cpu_s(&self) -> Option<f64> {
        thread_time()?;
        Some(self.cpu.load(Ordering::Relaxed) as f64 / 1e9)
    }

    /// Returns true if the observer has ended the case.
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Runs some of the case's work on this thread. Work that the thread does for other cases, while this one
    /// waits for its parts, is not charged to this case.
    pub fn clocked<T>(&self, work: impl FnOnce() -> T) -> T {
        let (result, own) = on_this_thread(work);
        self.cpu.fetch_add(own.map_or(0, nanoseconds), Ordering::Relaxed);
        result
    }
}

thread_local! {
    /// Processor time of this thread in work that is already charged \[ns\].
    static CHARGED: Cell<u64> = const { Cell::new(0) };
}

/// Runs work; returns its result and its processor time, minus the time charged to other work in between.
fn on_this_thread<T>(work: impl FnOnce() -> T) -> (T, Option<Duration>) {
    let (before, charged) = (thread_time(), CHARGED.get());
    let result = work();
    let taken = before.zip(thread_time()).map(|(before, after)| after.saturating_sub(before));
    let own = taken.map(|taken| taken.saturating_sub(Duration::from_nanos(CHARGED.get() - charged)));
    CHARGED.set(charged + taken.map_or(0, nanoseconds));
    (result, own)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the processor time of this thread so far. For people only: no verdict depends on it.
fn thread_time() -> Option<Duration> {
    #[cfg(unix)]
    return Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).ok();
    #[cfg(not(unix))]
    None
}

/// Runs work for a case; returns its result and its processor time on this thread \[s\], without that of
/// other work. Uses the wall clock if the system does not tell processor time.
pub(super) fn stopwatch<T>(context: &Context<'_>, work: impl FnOnce() -> T) -> (T, f64) {
    let wall = hayase::base::wall_clock::now();
    let (result, own) = on_this_thread(work);
    if let (Some(tally), Some(own)) = (context.tally, own) {
        tally.cpu.fetch_add(nanoseconds(own), Ordering::Relaxed);
    }
    (result, own.unwrap_or_else(|| wall.elapsed()).as_secs_f64())
}

/// Observer of one simulation of a case.
pub(super) struct RunObserver<'a> {
    context: &'a Context<'a>,
    counted: AtomicU64,
}

impl<'a> RunObserver<'a> {
    pub fn new(context: &'a Context<'a>) -> Self {
        Self { context, counted: AtomicU64::new(0) }
    }

    /// Receives the number of messages that this run has delivered so far.
    pub fn delivered(&self, messages: u64) {
        let before = self.counted.swap(messages, Ordering::Relaxed);
        if let Some(tally) = self.context.tally {
            tally.delivered.fetch_add(messages.saturating_sub(before), Ordering::Relaxed);
        }
    }
}

impl engine::Watch for RunObserver<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.delivered(progress.delivered);
        self.context.may_continue()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps the values it receives, and ends the case at one above `most`.
    struct KeptProgress {
        told: std::sync::Mutex<Vec<f64>>,
        most: f64,
    }

    impl Observer for KeptProgress {
        fn tick(&self, part: f64) -> bool {
            self.told.lock().unwrap().push(part);
            part <= self.most
        }
    }

    #[test]
    fn progress_is_what_is_delivered_of_what_is_planned() {
        let kept = KeptProgress { told: Vec::new().into(), most: 1.0 };
        let tally = Tally::default();
        let context = Context::default().watched(&kept).counted(&tally);
        assert!(context.may_continue());
        context.plan(100);
        let (one, other) = (RunObserver::new(&context), RunObserver::new(&context));
        one.delivered(10);
        one.delivered(30);
        other.delivered(20);
        assert!(context.may_continue() && !tally.ended());
        other.delivered(90);
        context.may_continue();
        assert_eq!(*kept.told.lock().unwrap(), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn whoever_looks_on_ends_a_case() {
        let kept = KeptProgress { told: Vec::new().into(), most: 0.4 };
        let tally = Tally::default();
        let context = Context::default().watched(&kept).counted(&tally);
        context.plan(10);
        let run = RunObserver::new(&context);
        run.delivered(4);
        assert!(context.may_continue() && !tally.ended());
        run.delivered(5);
        assert!(!context.may_continue() && tally.ended());
    }

    #[test]
    fn parts_come_back_in_their_order_and_the_first_mistake_is_reported() {
        let context = Context::default();
        let squares = context.run_parts((0..100).collect(), |i: u32| Ok(i * i)).unwrap();
        assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
        let failed = context.run_parts(vec![1, 2], |i| if i == 2 { Err("two".to_owned()) } else { Ok(i) });
        assert_eq!(failed, Err("two".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn the_time_of_parts_belongs_to_their_case_alone() {
        let (mine, other) = (Tally::default(), Tally::default());
        // Work for another case that this thread does while it waits.
        let spin = || (0..20_000_000_u64).fold(0, |sum: u64, i| std::hint::black_box(sum.wrapping_add(i * i)));
        mine.clocked(|| other.clocked(spin));
        let (mine, other) = (mine.cpu_s().unwrap(), other.cpu_s().unwrap());
        assert!(other > 0.0 && mine < 0.1 * other, "{mine} s, {other} s");
    }
}
