//! Progress of several runs at the same time, one of them reported.

use std::sync::{Mutex, PoisonError};

use crate::engine::{Progress, Watch};
use crate::workload::joint::Joint;

/// A watch for runs of single jobs. They run beside the run of all jobs and report its progress instead of
/// their own.
pub(super) struct SharedWatch<'a> {
    pub watch: &'a dyn Watch,
    pub last: Mutex<Option<Progress>>,
}

impl Watch for SharedWatch<'_> {
    fn tick(&self, _: Progress) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|last| self.watch.tick(last))
    }
}

/// A watch for the run of all jobs.
pub(super) struct MainWatch<'a>(pub &'a SharedWatch<'a>);

impl Watch for MainWatch<'_> {
    fn tick(&self, progress: Progress) -> bool {
        // The total is unknown if a job has no known end.
        let total = if progress.total < Joint::UNKNOWN { progress.total } else { 0 };
        let progress = Progress { total, ..progress };
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        self.0.watch.tick(progress)
    }
}
