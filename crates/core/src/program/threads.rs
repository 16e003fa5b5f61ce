//! Threads of a rank: which thread executes an operation, and the operations of other threads that it waits
//! for.

use crate::units::Time;

/// Threads of a rank whose operations are a sequence: each executes its own operations one after the other,
/// in parallel with the other threads. Empty if there is one thread.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// Thread of each operation.
    of: Vec<u16>,
    count: u32,
    /// Requirements, ascending by the operation that waits.
    after: Vec<After>,
    /// Operations that are waited for, ascending.
    required: Vec<u32>,
}

/// A requirement: an operation waits for one of another thread.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct After {
    /// Operation that waits.
    pub op: u32,
    /// Least time from the end of `on` to the begin of `op`.
    pub lag: Time,
    /// Operation that is waited for, at an earlier position; [`After::START`]: the start of the rank.
    pub on: u32,
}

impl After {
    /// The start of the rank, in place of an operation.
    pub const START: u32 = u32::MAX;
}

impl Threads {
    /// Largest number of threads of a rank.
    pub const MOST: u32 = 256;

    /// Returns true if there is one thread.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Number of threads.
    pub fn count(&self) -> u32 {
        self.count.max(1)
    }

    /// Returns the thread that executes an operation.
    pub fn of(&self, op: u32) -> u32 {
        self.of.get(op as usize).copied().unwrap_or(0).into()
    }

    /// Returns the next operation of a thread, beginning at position `from`.
    pub fn next_of(&self, thread: u32, from: u32) -> u32 {
        let rest = self.of.get(from as usize..).unwrap_or_default();
        let skipped = rest.iter().position(|&of| u32::from(of) == thread).unwrap_or(rest.len());
        from + skipped as u32
    }

    /// Returns the requirements of an operation on other threads.
    pub fn after(&self, op: u32) -> &[After] {
        let begin = self.after.partition_point(|after| after.op < op);
        let count = self.after[begin..].partition_point(|after| after.op == op);
        &self.after[begin..begin + count]
    }

    /// Returns true if an operation of another thread waits for this one.
    pub fn is_required(&self, op: u32) -> bool {
        self.required.binary_search(&op).is_ok()
    }

    /// Assigns the operation at this position, after all earlier ones, to a thread.
    #[inline]
    pub(super) fn push(&mut self, at: usize, thread: u32) {
        if thread != 0 || !self.of.is_empty() {
            self.of.resize(at, 0);
            self.of.push(thread as u16);
            self.count = self.count.max(thread + 1);
        }
    }

    /// Returns the requirements, to be extended.
    pub(super) fn edges(&mut self) -> &mut Vec<After> {
        &mut self.after
    }

    /// Completes the threads of a rank with `ops` operations.
    pub(super) fn finish(&mut self, ops: usize) {
        if self.of.is_empty() {
            return;
        }
        self.of.resize(ops, 0);
        self.required = self.after.iter().map(|after| after.on).collect();
        self.required.sort_unstable();
        self.required.dedup();
    }
}
