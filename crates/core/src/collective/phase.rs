//! Families of algorithms, each a phase of a collective.

use super::allgather::Allgather;
use super::alltoall::Alltoall;
use super::barrier::Barrier;
use super::butterfly::{FoldedGather, Halving, RecursiveDoubling};
use super::gather::{Linear, Subtrees};
use super::reduce_scatter::{Deliver, ReduceScatter};
use super::rounds::Rounds;
use super::scan::Scan;
use super::tree_phase::{Move, TreeDown, TreeUp};

/// Declares [`Phase`]: a variant for each family, of the same name.
macro_rules! phases {
    ($($family:ident)*) => {
        /// A part of an algorithm that all ranks go through together.
        #[derive(Clone, Debug)]
        pub(super) enum Phase {
            $($family($family),)*
        }

        impl std::ops::Deref for Phase {
            type Target = dyn Rounds;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$family(phase) => phase,)*
                }
            }
        }
    };
}

phases! {
    Barrier TreeDown TreeUp Move RecursiveDoubling Halving FoldedGather Subtrees Linear Allgather Alltoall
    ReduceScatter Deliver Scan
}
