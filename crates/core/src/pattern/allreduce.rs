//! Allreduce: all ranks get the sum (or any other reduction) of the vectors of all ranks.
//!
//! Every rank has a vector of m bytes. At least `2 (N - 1) m` bytes must travel in all, and exactly that with
//! the ring and with Rabenseifner's algorithm; recursive doubling sends more bytes in fewer messages.
//!
//! The messages are those of a program's [allreduce](crate::collective) whose vector may be split anywhere.

use super::options::{SizeOf, resized, shown_size, table};
use super::rule::{BuildContext, BuildResult, Rule};
use super::scheduled::Scheduled;
use crate::base::choice::choice;
use crate::collective::{Call, Operation};
use crate::diagnostic::Located;
use crate::units::Bytes;

choice! {
    /// Algorithm that forms the sum.
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
    /// `[workload.allreduce]`: all ranks get the sum of the vectors of all ranks.
    pub struct AllreduceSpec {
        /// Algorithm that forms the sum.
        pub algorithm: Located<Allreduce>,
        /// Size of the vector of each rank.
        pub size: Located<Bytes>,
        /// Data that `size` counts: `vector` (default), or `block`, of which a vector has one for each rank.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size_of: Option<Located<SizeOf>>,
    }
}

impl Rule for AllreduceSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        let size = resized(&self.size, self.size_of.as_ref(), SizeOf::Vector, ranks)?;
        Scheduled::of(&Call::equal(Operation::Allreduce, ranks, size.0), self.algorithm.name(), &size)
    }

    fn title(&self) -> String {
        format!("allreduce {}, {}", *self.algorithm, shown_size(*self.size, self.size_of.as_ref()))
    }
}
