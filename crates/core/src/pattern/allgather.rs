//! Allgather: the block of every rank goes to all ranks.
//!
//! Every rank gets the m bytes of N - 1 other ranks, so `N (N - 1) m` bytes travel, with each algorithm here.
//! In every step each rank sends one message and gets one, and each step waits for those before.
//!
//! The messages are those of a program's [allgather](crate::collective).

use super::options::{SizeOf, resized, shown_size, table};
use super::rule::{BuildContext, BuildResult, Rule};
use super::scheduled::Scheduled;
use crate::base::choice::choice;
use crate::collective::{Call, Operation};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

choice! {
    /// Algorithm that spreads the blocks.
    pub enum Allgather {
        /// From neighbour to neighbour around a ring: N - 1 steps.
        Ring = "ring",
        /// Partners at doubling distances exchange all they have: log N steps; needs a power of two of ranks.
        RecursiveDoubling = "recursive-doubling",
        /// To ranks at doubling distances around a ring: log N steps for any N.
        Bruck = "bruck",
    }
}

table! {
    /// `[workload.allgather]`: the block of every rank goes to all ranks.
    pub struct AllgatherSpec {
        /// Algorithm that spreads the blocks.
        pub algorithm: Located<Allgather>,
        /// Size of the block of each rank.
        pub size: Located<Bytes>,
        /// Data that `size` counts: `block` (default) or `vector`, which is a block for each rank.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size_of: Option<Located<SizeOf>>,
    }
}

impl Rule for AllgatherSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        if *self.algorithm == Allgather::RecursiveDoubling && !ranks.is_power_of_two() {
            let message = format!("recursive doubling of an allgather is not defined for {ranks} ranks");
            return Err(vec![
                Diagnostic::new("not-a-power-of-two", message)
                    .at_value(&self.algorithm)
                    .label("needs a power of two of ranks")
                    .help(format!(
                        "take `allgather-bruck` (`algorithm = \"bruck\"`) or `allgather-ring`, or {} ranks",
                        1 << ranks.ilog2()
                    )),
            ]);
        }
        let size = resized(&self.size, self.size_of.as_ref(), SizeOf::Block, ranks)?;
        Scheduled::of(&Call::equal(Operation::Allgather, ranks, size.0), self.algorithm.name(), &size)
    }

    fn title(&self) -> String {
        format!("allgather {}, {}", *self.algorithm, shown_size(*self.size, self.size_of.as_ref()))
    }
}
