//! Calls: which collective is meant, on how many ranks, and how much data.

use std::sync::Arc;

use super::layout::Blocks;
use crate::base::choice::choice;

choice! {
    /// A collective operation of MPI.
    pub enum Operation {
        /// Nobody leaves before everybody has come.
        Barrier = "barrier",
        /// What the root has goes to all.
        Bcast = "bcast",
        /// The combination of what all have, for the root.
        Reduce = "reduce",
        /// The combination of what all have, for all.
        Allreduce = "allreduce",
        /// A block of each, for the root.
        Gather = "gather",
        /// The same with blocks of different sizes.
        Gatherv = "gatherv",
        /// A block for each, from the root.
        Scatter = "scatter",
        /// The same with blocks of different sizes.
        Scatterv = "scatterv",
        /// A block of each, for all.
        Allgather = "allgather",
        /// The same with blocks of different sizes.
        Allgatherv = "allgatherv",
        /// A block of each for each.
        Alltoall = "alltoall",
        /// The same with blocks of different sizes.
        Alltoallv = "alltoallv",
        /// The combination of what all have, a block of it for each.
        ReduceScatter = "reduce-scatter",
        /// The same with blocks of one size.
        ReduceScatterBlock = "reduce-scatter-block",
        /// The combination of what the ranks up to this one have.
        Scan = "scan",
        /// The combination of what the ranks before this one have.
        Exscan = "exscan",
    }
}

impl Operation {
    /// Whether one rank gives or gets what the others get or give.
    pub fn has_root(self) -> bool {
        matches!(self, Self::Bcast | Self::Reduce | Self::Gather | Self::Gatherv | Self::Scatter | Self::Scatterv)
    }

    /// Whether what is combined or sent on is a vector of one size, instead of a block for each rank.
    pub fn is_of_vectors(self) -> bool {
        matches!(self, Self::Bcast | Self::Reduce | Self::Allreduce | Self::Scan | Self::Exscan)
    }
}

/// How much data a call moves.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// The same everywhere \[B\]: the whole of a vector (bcast, reduce, allreduce, scan, exscan), or a block of a rank.
    Equal(u64),
    /// A block for each rank. Linear algorithms look at a rank's own block and, at the root, at all.
    Counts(Arc<Blocks>),
    /// What one rank of an all-to-all sends to each and receives from each \[B\]: an expansion made of it is this
    /// rank's alone.
    Own {
        /// To each rank.
        send: Arc<[u64]>,
        /// From each rank, where that is known (of all ranks or of none): then empty blocks are not sent.
        receive: Option<Arc<[u64]>>,
    },
}

/// A collective as it is called.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Which.
    pub collective: Operation,
    /// Number of ranks of the communicator, at least 1.
    pub ranks: u32,
    /// The root, where there is one; below `ranks`.
    pub root: u32,
    /// How much.
    pub sizes: Sizes,
    /// Size of an element \[B\]: where a vector is split, it is split between elements. At least 1.
    pub element: u64,
    /// Whether the operator commutes, so that contributions may be combined in any order.
    pub commutative: bool,
}

impl Call {
    /// A call with the same size everywhere, root 0 and an operator that commutes.
    pub fn equal(collective: Operation, ranks: u32, bytes: u64) -> Self {
        Self { collective, ranks, root: 0, sizes: Sizes::Equal(bytes), element: 1, commutative: true }
    }

    /// A call with a block of so many bytes for each rank.
    ///
    /// Cost: O(P), once for all ranks that share it.
    pub fn counts(collective: Operation, counts: &[u64]) -> Self {
        let sizes = Sizes::Counts(Arc::new(Blocks::new(counts)));
        Self { sizes, ..Self::equal(collective, counts.len() as u32, 0) }
    }

    /// The same with another root.
    #[must_use]
    pub fn rooted(mut self, root: u32) -> Self {
        self.root = root;
        self
    }

    /// The same with elements of so many bytes.
    #[must_use]
    pub fn of_elements(mut self, bytes: u64) -> Self {
        self.element = bytes.max(1);
        self
    }

    /// The same with elements of a size that is not known: vectors are split every 8 bytes where that comes out even,
    /// else every 4, else anywhere.
    #[must_use]
    pub fn of_usual_elements(self) -> Self {
        let splits = matches!(self.collective, Operation::Bcast | Operation::Reduce | Operation::Allreduce);
        match self.sizes {
            Sizes::Equal(bytes) if splits => {
                let element = [8, 4].into_iter().find(|&element| bytes.is_multiple_of(element)).unwrap_or(1);
                self.of_elements(element)
            }
            _ => self,
        }
    }

    /// The same with an operator that does not commute.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        self.commutative = false;
        self
    }

    /// Bytes of all blocks together, or of the vector \[B\].
    pub fn total(&self) -> u64 {
        let blocks = match self.collective {
            Operation::Barrier => 0,
            operation if operation.is_of_vectors() => 1,
            _ => u64::from(self.ranks),
        };
        match &self.sizes {
            Sizes::Equal(bytes) => bytes.saturating_mul(blocks),
            Sizes::Counts(counts) => counts.total(),
            Sizes::Own { send, .. } => send.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes)),
        }
    }

    /// Bytes of a rank's block on average, or of the vector \[B\].
    pub fn mean(&self) -> u64 {
        match &self.sizes {
            Sizes::Equal(bytes) => *bytes,
            Sizes::Counts(_) | Sizes::Own { .. } => self.total() / u64::from(self.ranks.max(1)),
        }
    }
}
