//! Calls: the collective operation, its ranks, and the amount of data.

use std::sync::Arc;

use super::layout::Blocks;
use crate::base::choice::choice;

choice! {
    /// A collective operation of MPI.
    pub enum Operation {
        /// No rank leaves before all have arrived.
        Barrier = "barrier",
        /// The root's data go to all ranks.
        Bcast = "bcast",
        /// The combined data of all ranks go to the root.
        Reduce = "reduce",
        /// The combined data of all ranks go to all ranks.
        Allreduce = "allreduce",
        /// A block of each rank goes to the root.
        Gather = "gather",
        /// A gather with blocks of different sizes.
        Gatherv = "gatherv",
        /// A block for each rank comes from the root.
        Scatter = "scatter",
        /// A scatter with blocks of different sizes.
        Scatterv = "scatterv",
        /// A block of each rank goes to all ranks.
        Allgather = "allgather",
        /// An allgather with blocks of different sizes.
        Allgatherv = "allgatherv",
        /// Each rank sends a block to each rank.
        Alltoall = "alltoall",
        /// An alltoall with blocks of different sizes.
        Alltoallv = "alltoallv",
        /// The data of all ranks are combined, and each rank gets a block of the result.
        ReduceScatter = "reduce-scatter",
        /// A reduce-scatter with blocks of one size.
        ReduceScatterBlock = "reduce-scatter-block",
        /// Each rank gets the combined data of the ranks up to and including itself.
        Scan = "scan",
        /// Each rank gets the combined data of the ranks before it.
        Exscan = "exscan",
    }
}

impl Operation {
    /// Returns true if one rank, the root, is the source or the destination of all data.
    pub fn has_root(self) -> bool {
        matches!(self, Self::Bcast | Self::Reduce | Self::Gather | Self::Gatherv | Self::Scatter | Self::Scatterv)
    }

    /// Returns true if the data of all ranks are combined.
    pub fn reduces(self) -> bool {
        matches!(self, Self::Reduce | Self::Allreduce | Self::ReduceScatter | Self::ReduceScatterBlock)
    }

    /// Returns true if the data are a vector of one size, instead of a block for each rank.
    pub fn is_of_vectors(self) -> bool {
        matches!(self, Self::Bcast | Self::Reduce | Self::Allreduce | Self::Scan | Self::Exscan)
    }
}

/// Amount of data that a call moves.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// One size \[B\]: of the whole vector (bcast, reduce, allreduce, scan, exscan), or of each rank's block.
    Equal(u64),
    /// A size for each rank's block. Linear algorithms evaluate a rank's own block and, at the root, all
    /// blocks.
    Counts(Arc<Blocks>),
    /// Sizes that one rank of an all-to-all sends to each and receives from each \[B\]. An expansion made
    /// from it is valid for this rank only.
    Own {
        /// Bytes to each rank.
        send: Arc<[u64]>,
        /// Bytes from each rank, if they are known (for all ranks or for none): then empty blocks are not
        /// sent.
        receive: Option<Arc<[u64]>>,
    },
}

/// A call of a collective.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Operation.
    pub collective: Operation,
    /// Number of ranks of the communicator, at least 1.
    pub ranks: u32,
    /// Root, if the operation has one; below `ranks`.
    pub root: u32,
    /// Amount of data.
    pub sizes: Sizes,
    /// Size of an element \[B\], at least 1: vectors are split between elements.
    pub element: u64,
    /// True if the operator commutes, so that contributions may be combined in any order.
    pub commutative: bool,
}

impl Call {
    /// Creates a call with one size, root 0 and an operator that commutes.
    pub fn equal(collective: Operation, ranks: u32, bytes: u64) -> Self {
        Self { collective, ranks, root: 0, sizes: Sizes::Equal(bytes), element: 1, commutative: true }
    }

    /// Creates a call with a block of `counts[r]` bytes for rank r.
    ///
    /// Cost: O(P), once for all ranks that share it.
    pub fn counts(collective: Operation, counts: &[u64]) -> Self {
        let sizes = Sizes::Counts(Arc::new(Blocks::new(counts)));
        Self { sizes, ..Self::equal(collective, counts.len() as u32, 0) }
    }

    /// Returns the call with another root.
    #[must_use]
    pub fn rooted(mut self, root: u32) -> Self {
        self.root = root;
        self
    }

    /// Returns the call with elements of `bytes` bytes.
    #[must_use]
    pub fn of_elements(mut self, bytes: u64) -> Self {
        self.element = bytes.max(1);
        self
    }

    /// Returns the call with elements of unknown size: vectors are split at multiples of 8 bytes if their
    /// size is one, else of 4 bytes, else anywhere.
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

    /// Returns the call with an operator that does not commute.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        self.commutative = false;
        self
    }

    /// Size of all blocks together, or of the vector \[B\].
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

    /// Mean size of a rank's block, or size of the vector \[B\].
    pub fn mean(&self) -> u64 {
        match &self.sizes {
            Sizes::Equal(bytes) => *bytes,
            Sizes::Counts(_) | Sizes::Own { .. } => self.total() / u64::from(self.ranks.max(1)),
        }
    }
}
