//! Allreduce: the sum (or any other reduction) of what all ranks have, for all of them.
//!
//! Every rank has a vector of m bytes. At least `2 (N - 1) m` bytes must travel in all, and exactly that with the ring
//! and with Rabenseifner's algorithm; recursive doubling sends more bytes in fewer messages.

mod butterfly;
mod ring;

use std::sync::Arc;

use super::options::{self, choice, finish, table};
use super::{Injection, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

use butterfly::{Butterfly, Exchange};
use ring::Ring;

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
        let size = self.size.0;
        match *self.algorithm {
            Allreduce::Ring => finish(Ring::new(ranks, size), &self.size),
            Allreduce::RecursiveDoubling => finish(Butterfly::new(ranks, size, Exchange::Vectors), &self.size),
            Allreduce::Rabenseifner => finish(Butterfly::new(ranks, size, Exchange::Halves), &self.size),
        }
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.traffic_or(Injection::Queue)
    }

    pub(super) fn title(&self) -> String {
        format!("allreduce {}, {}", *self.algorithm, *self.size)
    }
}
