//! Looking on while many runs go.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Progress, Watch};

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
