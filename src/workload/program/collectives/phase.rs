//! Phases: what an algorithm makes each rank do, as a function of rank and index.

use super::allgather::Allgather;
use super::alltoall::Alltoall;
use super::barrier::Barrier;
use super::butterfly::{FoldedGather, Halving, RecursiveDoubling};
use super::data::Data;
use super::gather::{Linear, Subtrees};
use super::layout::Layout;
use super::reduce_scatter::{Deliver, ReduceScatter};
use super::scan::Scan;
use super::tree_phase::{Move, TreeDown, TreeUp};

pub(super) use super::data::Then;

/// What a rank does next, with data instead of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Nothing at this index (an empty block).
    Nothing,
    Send {
        to: u32,
        data: Data,
    },
    Receive {
        from: u32,
        data: Data,
        then: Then,
    },
    Exchange {
        to: u32,
        sent: Data,
        from: u32,
        received: Data,
        then: Then,
    },
    StartSend {
        to: u32,
        data: Data,
    },
    StartReceive {
        from: u32,
        data: Data,
    },
    WaitAll,
}

/// A part of an algorithm that all ranks go through together.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    Barrier(Barrier),
    TreeDown(TreeDown),
    TreeUp(TreeUp),
    Move(Move),
    RecursiveDoubling(RecursiveDoubling),
    Halving(Halving),
    FoldedGather(FoldedGather),
    Subtrees(Subtrees),
    Linear(Linear),
    Allgather(Allgather),
    Alltoall(Alltoall),
    ReduceScatter(ReduceScatter),
    Deliver(Deliver),
    Scan(Scan),
}

impl Phase {
    /// What `rank` does at this index; `None` when it is done.
    pub fn action(&self, rank: u32, index: u64) -> Option<Action> {
        match self {
            Self::Barrier(phase) => phase.action(rank, index),
            Self::TreeDown(phase) => phase.action(rank, index),
            Self::TreeUp(phase) => phase.action(rank, index),
            Self::Move(phase) => phase.action(rank, index),
            Self::RecursiveDoubling(phase) => phase.action(rank, index),
            Self::Halving(phase) => phase.action(rank, index),
            Self::FoldedGather(phase) => phase.action(rank, index),
            Self::Subtrees(phase) => phase.action(rank, index),
            Self::Linear(phase) => phase.action(rank, index),
            Self::Allgather(phase) => phase.action(rank, index),
            Self::Alltoall(phase) => phase.action(rank, index),
            Self::ReduceScatter(phase) => phase.action(rank, index),
            Self::Deliver(phase) => phase.action(rank, index),
            Self::Scan(phase) => phase.action(rank, index),
        }
    }

    /// The blocks its messages are made of; none where they are not made of blocks in a row.
    pub fn layout(&self) -> Option<&Layout> {
        match self {
            Self::Barrier(_) | Self::Alltoall(_) => None,
            Self::TreeDown(phase) => Some(&phase.layout),
            Self::TreeUp(phase) => Some(&phase.layout),
            Self::Move(phase) => Some(&phase.layout),
            Self::RecursiveDoubling(phase) => Some(&phase.layout),
            Self::Halving(phase) => Some(&phase.layout),
            Self::FoldedGather(phase) => Some(&phase.layout),
            Self::Subtrees(phase) => Some(&phase.layout),
            Self::Linear(phase) => Some(&phase.layout),
            Self::Allgather(phase) => Some(&phase.layout),
            Self::ReduceScatter(phase) => Some(&phase.layout),
            Self::Deliver(phase) => Some(&phase.layout),
            Self::Scan(phase) => Some(&phase.layout),
        }
    }

    /// Size of a message of `rank` or to it \[B\].
    pub fn bytes(&self, rank: u32, data: Data) -> u64 {
        match (data, self) {
            (Data::Token, _) => 0,
            (data, Self::Alltoall(phase)) => phase.bytes(rank, data),
            (Data::Blocks { first, count }, _) => self.layout().map_or(0, |layout| layout.bytes(first, count)),
            // Blocks that are taken this way are of one size.
            (Data::Strided { first, stride }, _) => self
                .layout()
                .map_or(0, |layout| u64::from((layout.blocks() - first).div_ceil(stride)) * layout.bytes(first, 1)),
            (Data::Pair { .. } | Data::Places { .. }, _) => 0,
        }
    }
}
