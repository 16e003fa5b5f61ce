//! Types of collectives, places of nodes, and rules by which nodes become operations.

use std::fmt;
use std::sync::Arc;

use crate::program::CollectiveCall as Call;

/// Rules by which nodes become operations.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rules {
    /// Peak of the processor, which sets the time of nodes with a number of operations \[1/s\].
    pub peak: Option<f64>,
    /// Bandwidth of the memory, for tensors of computations, loads and stores \[B/s\].
    pub memory_bandwidth: Option<f64>,
    /// Number of ranks for which a single file stands.
    pub ranks: Option<u32>,
    /// Set if the size of an all-gather is that of the gathered data, not that of one rank's part.
    pub gathered: bool,
}

/// Types of collectives by number: name, call, and true if the size is that of blocks for all ranks together.
pub(super) const TYPES: [(&str, Call, bool); 10] = [
    ("all-reduce", Call::Allreduce, false),
    ("reduce", Call::Reduce, false),
    ("all-gather", Call::Allgather, false),
    ("gather", Call::Gather, false),
    ("scatter", Call::Scatter, true),
    ("broadcast", Call::Bcast, false),
    ("all-to-all", Call::Alltoall, true),
    ("reduce-scatter", Call::ReduceScatter, true),
    ("reduce-scatter", Call::ReduceScatter, true),
    ("barrier", Call::Barrier, false),
];

/// Returns name, call and meaning of the size of a type of collective.
pub(super) fn collective(kind: u64) -> Option<(&'static str, Call, bool)> {
    TYPES.get(usize::try_from(kind).ok()?).copied()
}

/// Place of a node: file, identifier, offset \[B\].
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub file: Arc<str>,
    pub node: u64,
    pub at: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, node {}, byte {}", self.file, self.node, self.at)
    }
}
