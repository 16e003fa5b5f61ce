//! Communicators, collective operations, and the interface of what turns a collective into messages.

use super::Op;
use crate::ids::RankId;

/// Who is in a communicator.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Communicator {
    /// All ranks of the program, so many.
    World(u32),
    /// These ranks of the world; the position is the rank in the communicator.
    Group(Box<[u32]>),
}

impl Communicator {
    /// Number of ranks in it.
    pub fn size(&self) -> u32 {
        match self {
            Self::World(size) => *size,
            Self::Group(ranks) => ranks.len() as u32,
        }
    }

    /// The rank of the world that has this rank in the communicator.
    ///
    /// # Panics
    /// If there is no such rank; [`ProgramBuilder::build`](super::ProgramBuilder::build) has seen to it that
    /// collectives name none.
    #[inline]
    pub fn world_rank(&self, rank: u32) -> u32 {
        match self {
            Self::World(_) => rank,
            Self::Group(ranks) => ranks[rank as usize],
        }
    }

    /// The rank in the communicator of a rank of the world. Cost: linear in the group.
    pub fn rank_of(&self, world: RankId) -> Option<u32> {
        match self {
            Self::World(size) => (world.0 < *size).then_some(world.0),
            Self::Group(ranks) => ranks.iter().position(|&rank| rank == world.0).map(|at| at as u32),
        }
    }
}

/// What a collective does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Named)]
pub enum CollectiveCall {
    /// Nobody goes on before everybody has come.
    Barrier,
    /// The root's data to everybody.
    Bcast,
    /// Everybody's data, combined, to the root.
    Reduce,
    /// Everybody's data, combined, to everybody.
    Allreduce,
    /// A block of each to the root; with [`Counts::Each`] gatherv.
    Gather,
    /// A block of the root's to each; with [`Counts::Each`] scatterv.
    Scatter,
    /// A block of each to everybody; with [`Counts::Each`] allgatherv.
    Allgather,
    /// A block of each to each; with [`Counts::Each`] alltoallv.
    Alltoall,
    /// Everybody's data, combined, a block to each.
    ReduceScatter,
    /// To each the combination of the data of those up to it.
    Scan,
    /// To each the combination of the data of those before it.
    Exscan,
}

impl CollectiveCall {
    /// Its name where it only starts: `ibcast`.
    pub fn background_name(self) -> &'static str {
        match self {
            Self::Barrier => "ibarrier",
            Self::Bcast => "ibcast",
            Self::Reduce => "ireduce",
            Self::Allreduce => "iallreduce",
            Self::Gather => "igather",
            Self::Scatter => "iscatter",
            Self::Allgather => "iallgather",
            Self::Alltoall => "ialltoall",
            Self::ReduceScatter => "ireduce-scatter",
            Self::Scan => "iscan",
            Self::Exscan => "iexscan",
        }
    }
}

/// How much data a collective moves \[B\].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Counts {
    /// One number. Bcast, reduce, allreduce, scan, exscan: the whole vector. Gather, scatter, allgather, alltoall,
    /// reduce-scatter: the block of one rank.
    Same(u64),
    /// One number for each rank of the communicator. Gatherv, scatterv, allgatherv, reduce-scatter: the block of each
    /// rank. Alltoallv: what *this* rank sends to each.
    Each(Box<[u64]>),
}

/// A collective operation as one rank calls it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Collective {
    /// What it does.
    pub call: CollectiveCall,
    /// Who takes part: a number in [`Program::communicators`](super::Program::communicators).
    pub comm: u32,
    /// The root, as a rank of the communicator; 0 where there is none.
    pub root: u32,
    /// How much data.
    pub counts: Counts,
}

/// Turns a collective into point-to-point operations.
pub trait Expand: Send + Sync {
    /// Appends what rank `me` of the communicator does, as a sequence: sends, receives, waits (for positions counted
    /// from the first operation appended), and calculations for combining data. Peers are ranks of the world; the
    /// communicator in the envelopes is that of the collective (the player keeps them apart from the program's own
    /// messages). Ranks of the communicator call its collectives in the same order, so tags need to tell apart only the
    /// messages of one collective.
    fn steps(&self, collective: &Collective, group: &Communicator, me: u32, steps: &mut Vec<Op>);
}
