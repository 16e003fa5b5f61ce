//! State of the threads of a rank while their calls become a program.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Number of calls of a rank that are kept before it has a second thread.
pub(super) const KEPT: usize = 64;
/// A thread of a rank.
#[derive(Debug, Default)]
pub(super) struct ThreadCalls {
    /// Time at which its previous call returned \[ns\].
    pub last_end: u64,
    /// Computation that is not recorded yet \[ns\].
    pub computed: u64,
    pub calls: VecDeque<Ended>,
    /// Requirements on its last operation whose following computation is not known yet.
    pub open: Vec<usize>,
    /// Operations that its next operation waits for, each with the time after it \[ns\].
    pub due: Vec<(u32, u64)>,
    /// Set from its first call on.
    pub begun: bool,
}

/// A call that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// Time at which it returned \[ns\].
    pub end: u64,
    /// Last operation of the call.
    pub op: u32,
    /// Computation before the call \[ns\].
    pub gap: u64,
}

/// Threads of a rank.
#[derive(Debug, Default)]
pub(super) struct RankThreads {
    /// Threads by number.
    pub of: Vec<ThreadCalls>,
    /// Number of the current thread.
    pub at: usize,
    /// Last collective operation and its thread, by communicator.
    pub collectives: FxHashMap<u32, (u32, usize)>,
}
