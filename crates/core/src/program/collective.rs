//! Communicators, collective operations, and the interface that turns a collective into messages.

use super::Op;
use crate::collective::{Operation, Plan};
use crate::ids::RankId;

/// Ranks of a communicator.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Communicator {
    /// All ranks of the program: their number.
    World(u32),
    /// These ranks of the world; the position is the rank in the communicator.
    Group(Box<[u32]>),
}

impl Communicator {
    /// Number of ranks in the communicator.
    pub fn size(&self) -> u32 {
        match self {
            Self::World(size) => *size,
            Self::Group(ranks) => ranks.len() as u32,
        }
    }

    /// Returns the rank of the world that has this rank in the communicator.
    ///
    /// # Panics
    /// If there is no such rank; [`ProgramBuilder::build`](super::ProgramBuilder::build) ensures that
    /// collectives name none.
    #[inline]
    pub fn world_rank(&self, rank: u32) -> u32 {
        match self {
            Self::World(_) => rank,
            Self::Group(ranks) => ranks[rank as usize],
        }
    }

    /// Returns the rank in the communicator of a rank of the world. Cost: linear in the group.
    pub fn rank_of(&self, world: RankId) -> Option<u32> {
        match self {
            Self::World(size) => (world.0 < *size).then_some(world.0),
            Self::Group(ranks) => {
                // Most groups have equal distances.
                let (first, second) = (*ranks.first()?, *ranks.get(1).unwrap_or(&u32::MAX));
                let guess =
                    world.0.checked_sub(first).zip(second.checked_sub(first)).and_then(|(a, b)| a.checked_div(b));
                let guess = guess.filter(|&at| ranks.get(at as usize) == Some(&world.0));
                guess.or_else(|| ranks.iter().position(|&rank| rank == world.0).map(|at| at as u32))
            }
        }
    }
}

/// Kind of a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Named)]
pub enum CollectiveCall {
    /// No rank continues before all have arrived.
    Barrier,
    /// The root's data go to every rank.
    Bcast,
    /// The data of all ranks, combined, go to the root.
    Reduce,
    /// The data of all ranks, combined, go to every rank.
    Allreduce,
    /// A block of each rank goes to the root; with [`Counts::Each`] gatherv.
    Gather,
    /// A block of the root goes to each rank; with [`Counts::Each`] scatterv.
    Scatter,
    /// A block of each rank goes to every rank; with [`Counts::Each`] allgatherv.
    Allgather,
    /// Each rank sends a block to each rank; with [`Counts::Each`] alltoallv.
    Alltoall,
    /// The data of all ranks are combined, and each rank gets a block of the result.
    ReduceScatter,
    /// Each rank gets the combined data of the ranks up to and including itself.
    Scan,
    /// Each rank gets the combined data of the ranks before it.
    Exscan,
}

impl From<Operation> for CollectiveCall {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Barrier => Self::Barrier,
            Operation::Bcast => Self::Bcast,
            Operation::Reduce => Self::Reduce,
            Operation::Allreduce => Self::Allreduce,
            Operation::Gather | Operation::Gatherv => Self::Gather,
            Operation::Scatter | Operation::Scatterv => Self::Scatter,
            Operation::Allgather | Operation::Allgatherv => Self::Allgather,
            Operation::Alltoall | Operation::Alltoallv => Self::Alltoall,
            Operation::ReduceScatter | Operation::ReduceScatterBlock => Self::ReduceScatter,
            Operation::Scan => Self::Scan,
            Operation::Exscan => Self::Exscan,
        }
    }
}

impl CollectiveCall {
    /// Name of the non-blocking variant: `ibcast`.
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

/// Amount of data that a collective moves \[B\].
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
    /// Kind of the collective.
    pub call: CollectiveCall,
    /// Ranks that take part: a number in [`Program::communicators`](super::Program::communicators).
    pub comm: u32,
    /// Root, as a rank of the communicator; 0 if the collective has none.
    pub root: u32,
    /// Amount of data.
    pub counts: Counts,
    /// Algorithm with its parameters; the choice for all programs (`[collectives]`) if absent.
    pub plan: Option<Plan>,
}

/// Turns a collective into point-to-point operations.
pub trait Expand: Send + Sync {
    /// Appends the operations of rank `me` of the communicator as a sequence: sends, receives, waits (for
    /// positions counted from the first operation appended), and calculations for combining data.
    ///
    /// Peers are ranks of the world. The communicator in the envelopes is that of the collective; the player
    /// keeps these messages apart from the program's own. Ranks of a communicator call its collectives in the
    /// same order, so tags need to distinguish only the messages of one collective.
    fn steps(&self, collective: &Collective, group: &Communicator, me: u32, steps: &mut Vec<Op>);

    /// Returns true if the operations of rank `i` of the communicator are those of its rank 0, with `i` added to all
    /// peers, modulo the number of ranks. Cost: at most O(P) for P ranks.
    fn is_cyclic(&self, collective: &Collective, group: &Communicator) -> bool {
        let _ = (collective, group);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_regular_and_other_groups_are_found() {
        for ranks in [vec![], vec![5], vec![3, 7, 11], vec![11, 7, 3], vec![0, 1, 5], vec![4, 4]] {
            let group = Communicator::Group(ranks.clone().into());
            for world in 0..13 {
                let expected = ranks.iter().position(|&rank| rank == world).map(|at| at as u32);
                assert_eq!(group.rank_of(RankId(world)), expected, "{world} in {ranks:?}");
            }
        }
    }
}
