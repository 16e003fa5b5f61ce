//! Algorithms by name, and the calls that each can perform.

use super::call::{Call, Operation, Sizes};
use super::rules;
use crate::base::choice::choice;

choice! {
    /// Algorithm of a collective.
    pub enum Algorithm {
        /// Each message directly between the root (or each rank) and the other ranks.
        Linear = "linear",
        /// Linear, with all messages started at once.
        LinearNonblocking = "linear-nonblocking",
        /// Linear, with each message sent after the root has asked for it.
        LinearSync = "linear-sync",
        /// Along a binomial tree.
        Binomial = "binomial",
        /// Along a k-nomial tree (`radix`).
        Knomial = "knomial",
        /// Along a binary tree.
        Binary = "binary",
        /// Along a binary search tree, so that contributions stay in order.
        InOrderBinary = "in-order-binary",
        /// Along several chains (`chains`), in segments.
        Chain = "chain",
        /// Along one chain, in segments.
        Pipeline = "pipeline",
        /// A broadcast as a scatter and an allgather by recursive doubling.
        ScatterAllgather = "scatter-allgather",
        /// A broadcast as a scatter and an allgather by a ring.
        ScatterRing = "scatter-ring",
        /// Halving, then doubling (or gathering).
        Rabenseifner = "rabenseifner",
        /// Partners 1, 2, 4 ... apart exchange all they have.
        RecursiveDoubling = "recursive-doubling",
        /// Partners P/2 ... 2, 1 apart exchange halves.
        RecursiveHalving = "recursive-halving",
        /// Like recursive doubling, with every second remaining block: for operators that do not commute.
        Interleaved = "interleaved",
        /// Blocks travel around a ring.
        Ring = "ring",
        /// Bruck's algorithm: blocks travel a power of two of places in each round.
        Bruck = "bruck",
        /// Neighbours exchange pairs of blocks, with either side in turn.
        NeighborExchange = "neighbor-exchange",
        /// Blocks travel P/2 ... 2, 1 ranks on, the large messages to near ranks.
        Sparbit = "sparbit",
        /// Exchanges with one partner after the other, `r xor p` if P is a power of two.
        Pairwise = "pairwise",
        /// Messages go to the p-th next rank in step p.
        SimpleSpread = "simple-spread",
        /// Linear, with 32 peers at a time.
        Scattered = "scattered",
        /// A token goes 2^k places on in round k.
        Dissemination = "dissemination",
        /// An allreduce as a reduce and a broadcast.
        ReduceBcast = "reduce-bcast",
        /// A reduce-scatter as a reduce and a scatter.
        ReduceThenScatter = "reduce-then-scatter",
    }
}

use Algorithm as A;

impl Algorithm {
    /// Returns the algorithms of a collective.
    pub fn of(collective: Operation) -> &'static [Self] {
        match collective {
            Operation::Barrier => &[A::Dissemination, A::RecursiveDoubling, A::Ring, A::Binomial, A::Linear, A::Bruck],
            Operation::Bcast => &[
                A::Binomial,
                A::ScatterAllgather,
                A::ScatterRing,
                A::Knomial,
                A::Binary,
                A::Chain,
                A::Pipeline,
                A::Linear,
            ],
            Operation::Reduce => &[
                A::Binomial,
                A::Rabenseifner,
                A::Knomial,
                A::Binary,
                A::InOrderBinary,
                A::Chain,
                A::Pipeline,
                A::Linear,
            ],
            Operation::Allreduce => &[A::RecursiveDoubling, A::Rabenseifner, A::Ring, A::ReduceBcast, A::Linear],
            Operation::Gather => &[A::Binomial, A::Linear, A::LinearNonblocking, A::LinearSync],
            Operation::Scatter => &[A::Binomial, A::Linear, A::LinearNonblocking],
            Operation::Gatherv => &[A::Linear, A::LinearNonblocking, A::LinearSync],
            Operation::Scatterv => &[A::Linear, A::LinearNonblocking],
            Operation::Allgather | Operation::Allgatherv => {
                &[A::RecursiveDoubling, A::Bruck, A::Ring, A::NeighborExchange, A::Sparbit, A::Linear]
            }
            Operation::Alltoall => &[A::Bruck, A::Pairwise, A::SimpleSpread, A::Scattered, A::Linear],
            Operation::Alltoallv => &[A::Pairwise, A::SimpleSpread, A::Scattered, A::Linear],
            Operation::ReduceScatter => {
                &[A::RecursiveHalving, A::RecursiveDoubling, A::Pairwise, A::Ring, A::ReduceThenScatter]
            }
            Operation::ReduceScatterBlock => {
                &[A::RecursiveHalving, A::RecursiveDoubling, A::Interleaved, A::Pairwise, A::Ring, A::ReduceThenScatter]
            }
            Operation::Scan | Operation::Exscan => &[A::RecursiveDoubling, A::Linear],
        }
    }
}

impl Algorithm {
    /// Returns true for a tree algorithm of a broadcast or reduce, which can send the vector in segments.
    pub fn is_tree(self) -> bool {
        matches!(self, A::Linear | A::Binomial | A::Knomial | A::Binary | A::InOrderBinary | A::Chain | A::Pipeline)
    }

    /// Returns true if ranks start several messages of this collective before they wait for one.
    pub fn starts(self, collective: Operation) -> bool {
        match collective {
            Operation::Alltoall | Operation::Alltoallv => matches!(self, A::Linear | A::Scattered),
            Operation::Scatter | Operation::Scatterv => self == A::LinearNonblocking,
            _ => false,
        }
    }
}

/// An algorithm with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    /// Algorithm.
    pub algorithm: Algorithm,
    /// Size of a segment along a tree \[B\]; `None` for one piece.
    pub segment: Option<u64>,
    /// Number of chains, or radix of a k-nomial tree.
    pub fan: u32,
}

/// Default size of a segment in chains and pipelines \[B\].
const SEGMENT: u64 = 64 << 10;

impl Plan {
    /// Creates a plan in one piece, with the default number of chains and radix (4).
    pub const fn plain(algorithm: Algorithm) -> Self {
        Self { algorithm, segment: None, fan: 4 }
    }

    /// Returns the plan of a call for the requested algorithm: that algorithm if it can perform the call,
    /// else the closest that can.
    ///
    /// | requested | condition | instead |
    /// |---|---|---|
    /// | an algorithm for another collective | always | the choice by the rules of MPICH |
    /// | `scatter-allgather` | P is no power of two | `scatter-ring` |
    /// | `recursive-doubling` of an allgather | P is no power of two | `bruck` |
    /// | `pairwise` | P is no power of two | `simple-spread` |
    /// | `interleaved` | P is no power of two, or blocks differ | `recursive-doubling` |
    /// | `neighbor-exchange` | P is odd | `ring` |
    /// | `knomial`, `binary`, `chain`, `pipeline` of a reduce | the operator does not commute | `in-order-binary` |
    /// | `ring`, `pairwise`, `recursive-halving` of an allreduce or reduce-scatter | the same | `recursive-doubling` |
    pub fn of(call: &Call, algorithm: Algorithm) -> Self {
        let plan = Self::plain(algorithm);
        let plan = match algorithm {
            A::Chain | A::Pipeline => Self { segment: Some(SEGMENT), ..plan },
            _ => plan,
        };
        plan.feasible(call)
    }

    /// Sets the number of chains, the radix and the size of a segment \[B\], as far as they are given and
    /// have an effect.
    #[must_use]
    pub fn with(self, chains: Option<u32>, radix: Option<u32>, segment: Option<u64>) -> Self {
        let fan = match self.algorithm {
            A::Chain => chains,
            A::Knomial => radix,
            _ => None,
        };
        Self { fan: fan.unwrap_or(self.fan), segment: segment.or(self.segment), ..self }
    }

    /// Returns this plan, or the closest that can perform the call.
    #[must_use]
    pub(super) fn feasible(self, call: &Call) -> Self {
        if !Algorithm::of(call.collective).contains(&self.algorithm) {
            return rules::mpich::plan(call);
        }
        let is_power = call.ranks.is_power_of_two();
        let instead = |algorithm| Self { algorithm, ..self };
        let reduces = call.collective.reduces();
        match (call.collective, self.algorithm) {
            (Operation::Bcast, A::ScatterAllgather) if !is_power => instead(A::ScatterRing),
            (Operation::Allgather | Operation::Allgatherv, A::RecursiveDoubling) if !is_power => instead(A::Bruck),
            (Operation::Alltoall | Operation::Alltoallv, A::Pairwise) if !is_power => instead(A::SimpleSpread),
            (_, A::NeighborExchange) if !call.ranks.is_multiple_of(2) => instead(A::Ring),
            (_, A::Interleaved) if !is_power || !are_equal(&call.sizes) => instead(A::RecursiveDoubling),
            (Operation::Reduce, A::Knomial | A::Binary | A::Chain | A::Pipeline) if !call.commutative => {
                Self::plain(A::InOrderBinary)
            }
            (_, A::Ring | A::Pairwise | A::RecursiveHalving) if reduces && !call.commutative => {
                instead(A::RecursiveDoubling)
            }
            _ => self,
        }
    }
}

fn are_equal(sizes: &Sizes) -> bool {
    match sizes {
        Sizes::Equal(_) => true,
        Sizes::Counts(counts) => counts.are_equal(),
        Sizes::Own { .. } => false,
    }
}
