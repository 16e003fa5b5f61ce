//! What is kept of a thread of a rank while its calls become a program.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Calls that are kept of a rank before it has a second thread.
pub(super) const KEPT: usize = 64;
/// A thread of a rank.
#[derive(Debug, Default)]
pub(super) struct ThreadCalls {
    /// When its call before returned \[ns\].
    pub last_end: u64,
    /// Computation not yet written down \[ns\].
    pub computed: u64,
    pub calls: VecDeque<Ended>,
    /// Requirements on its last operation, of which it is not known yet how much it has computed since.
    pub open: Vec<usize>,
    /// What its next operation waits for: an operation, and how long after that \[ns\].
    pub due: Vec<(u32, u64)>,
    /// Set from its first call on.
    pub begun: bool,
}

/// A call that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// When \[ns\].
    pub end: u64,
    /// Its last operation.
    pub op: u32,
    /// Computation before it \[ns\].
    pub gap: u64,
}

/// The threads of a rank.
#[derive(Debug, Default)]
pub(super) struct RankThreads {
    /// By number.
    pub of: Vec<ThreadCalls>,
    /// The one at hand.
    pub at: usize,
    /// By collective's communicator, its last operation and the thread.
    pub collectives: FxHashMap<u32, (u32, usize)>,
}
