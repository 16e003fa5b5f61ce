//! Allreduce: the sum (or any other reduction) of what all ranks have, for all of them.
//!
//! Every rank has a vector of m bytes. At least `2 (N - 1) m` bytes must travel in all, and exactly that with the ring
//! and with Rabenseifner's algorithm; recursive doubling sends more bytes in fewer messages.
//!
//! The messages are those of a program's [allreduce](crate::collective) whose vector may be cut anywhere.

use std::sync::Arc;

use super::options::{self, table};
use super::scheduled::Scheduled;
use super::{Injection, Pattern, Traffic};
use crate::base::choice::choice;
use crate::collective::{Algorithm, Call, Operation};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

choice! {
    /// How the sum comes about.
    pub enum Allreduce {
        /// Reduce-scatter and allgather around a ring: 2 (N - 1) steps of N-th parts.
        Ring = "ring",
        /// Partners at doubling distances exchange whole vectors: log N steps.
        RecursiveDoubling = "recursive-doubling",
        /// Reduce-scatter by halving, allgather by doubling: 2 log N steps.
        Rabenseifner = "rabenseifner",
    }
}

table! {
    /// `[workload.allreduce]`: the sum of what all ranks have, for all of them.
    pub struct AllreduceSpec {
        /// How the sum comes about.
        pub algorithm: Located<Allreduce>,
        /// What each rank has.
        pub size: Located<Bytes>,
    }
}

impl AllreduceSpec {
    pub(super) fn build(&self, nodes: u32) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let ranks = options::ranks(self.ranks, nodes)?;
        let algorithm = match *self.algorithm {
            Allreduce::Ring => Algorithm::Ring,
            Allreduce::RecursiveDoubling => Algorithm::RecursiveDoubling,
            Allreduce::Rabenseifner => Algorithm::Rabenseifner,
        };
        Scheduled::of(&Call::equal(Operation::Allreduce, ranks, self.size.0), algorithm, &self.size)
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.traffic_or(Injection::Queue)
    }

    pub(super) fn title(&self) -> String {
        format!("allreduce {}, {}", *self.algorithm, *self.size)
    }
}
