//! Progress of several runs of which one is told.

use std::sync::{Mutex, PoisonError};

use crate::engine::{Progress, Watch};
use crate::workload::joint::Joint;

/// A watch, and how far the run of all jobs is: runs of single jobs beside it say nothing of themselves.
pub(super) struct Followed<'a> {
    pub watch: &'a dyn Watch,
    pub last: Mutex<Option<Progress>>,
}

impl Watch for Followed<'_> {
    fn tick(&self, _: Progress) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|last| self.watch.tick(last))
    }
}

/// A watch of the run of all jobs.
pub(super) struct First<'a>(pub &'a Followed<'a>);

impl Watch for First<'_> {
    fn tick(&self, progress: Progress) -> bool {
        // How many messages jobs send that have no known end is not known.
        let total = if progress.total < Joint::UNKNOWN { progress.total } else { 0 };
        let progress = Progress { total, ..progress };
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        self.0.watch.tick(progress)
    }
}
