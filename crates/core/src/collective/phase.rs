//! The families of algorithms, each a phase of a collective.

use super::allgather::Allgather;
use super::alltoall::Alltoall;
use super::barrier::Barrier;
use super::butterfly::{FoldedGather, Halving, RecursiveDoubling};
use super::gather::{Linear, Subtrees};
use super::reduce_scatter::{Deliver, ReduceScatter};
use super::rounds::Rounds;
use super::scan::Scan;
use super::tree_phase::{Move, TreeDown, TreeUp};

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

impl std::ops::Deref for Phase {
    type Target = dyn Rounds;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Barrier(phase) => phase,
            Self::TreeDown(phase) => phase,
            Self::TreeUp(phase) => phase,
            Self::Move(phase) => phase,
            Self::RecursiveDoubling(phase) => phase,
            Self::Halving(phase) => phase,
            Self::FoldedGather(phase) => phase,
            Self::Subtrees(phase) => phase,
            Self::Linear(phase) => phase,
            Self::Allgather(phase) => phase,
            Self::Alltoall(phase) => phase,
            Self::ReduceScatter(phase) => phase,
            Self::Deliver(phase) => phase,
            Self::Scan(phase) => phase,
        }
    }
}
