//! Allgather: what every rank has goes to all.
//!
//! Every rank gets the m bytes of N - 1 others, so `N (N - 1) m` bytes travel, with each algorithm here.

use std::sync::Arc;

use super::arith::{add_mod, ceil_log2, sub_mod};
use super::options::{self, choice, finish, table};
use super::{After, Block, Injection, Message, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Located};
use crate::ids::RankId;
use crate::units::Bytes;

choice! {
    /// How the contributions spread.
    pub enum Allgather {
        /// From neighbour to neighbour around a ring: N - 1 steps.
        Ring = "ring",
        /// Partners at doubling distances exchange all they have: log N steps; N a power of two.
        RecursiveDoubling = "recursive-doubling",
        /// To ranks at doubling distances around a ring: log N steps for any N.
        Bruck = "bruck",
    }
}

table! {
    /// `[workload.allgather]`: what every rank has goes to all.
    pub struct AllgatherSpec {
        /// How the contributions spread.
        pub algorithm: Located<Allgather>,
        /// What each rank has.
        pub size: Located<Bytes>,
    }
}

impl AllgatherSpec {
    pub(super) fn build(&self, nodes: u32) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let ranks = options::ranks(self.ranks, nodes)?;
        if *self.algorithm == Allgather::RecursiveDoubling && !ranks.is_power_of_two() {
            let message = format!("recursive doubling of an allgather is not defined for {ranks} ranks");
            return Err(vec![
                Diagnostic::new("not-a-power-of-two", message)
                    .at_value(&self.algorithm)
                    .label("needs a power of two of ranks")
                    .help(format!("write `algorithm = \"bruck\"` or `\"ring\"`, or `ranks = {}`", 1 << ranks.ilog2())),
            ]);
        }
        finish(Gather { ranks, size: self.size.0, algorithm: *self.algorithm }, &self.size)
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.traffic_or(Injection::Queue)
    }

    pub(super) fn title(&self) -> String {
        format!("allgather {}, {}", *self.algorithm, *self.size)
    }
}

/// In every step (index k, step k) each rank r sends one message and gets one, and each step waits for those before.
///
/// * ring: to `(r + 1) mod N` the contribution of `(r - k) mod N`; N - 1 steps.
/// * recursive doubling: to `r xor 2^k` the 2^k contributions of the ranks that differ from r in the lowest k bits
///   only; log2 N steps.
/// * Bruck: to `(r - 2^k) mod N` the contributions of r and the ranks after it, `min(2^k, N - 2^k)` of them;
///   `ceil(log2 N)` steps.
///
/// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
/// 2005, section 3.
#[derive(Debug)]
struct Gather {
    ranks: u32,
    size: u64,
    algorithm: Allgather,
}

impl Gather {
    /// The first contribution of a message and how many there are.
    #[inline]
    fn contributions(&self, rank: u32, k: u32) -> (u32, u32) {
        match self.algorithm {
            Allgather::Ring => (sub_mod(rank, k, self.ranks), 1),
            Allgather::RecursiveDoubling => (rank & !((1 << k) - 1), 1 << k),
            Allgather::Bruck => (rank, (1 << k).min(self.ranks - (1 << k))),
        }
    }
}

impl Pattern for Gather {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.steps()
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let dst = match self.algorithm {
            Allgather::Ring => add_mod(rank.0, 1, self.ranks),
            Allgather::RecursiveDoubling => rank.0 ^ (1 << index),
            Allgather::Bruck => sub_mod(rank.0, 1 << index, self.ranks),
        };
        let (_, count) = self.contributions(rank.0, index);
        Message::new(dst, u64::from(count) * self.size, index, After::EarlierSteps)
    }

    fn receives(&self, _: RankId, step: u32) -> u32 {
        u32::from(step < self.steps())
    }

    fn steps(&self) -> u32 {
        match self.algorithm {
            Allgather::Ring => self.ranks - 1,
            Allgather::RecursiveDoubling | Allgather::Bruck => ceil_log2(self.ranks),
        }
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let (first, count) = self.contributions(rank.0, index);
        (0..count).map(|j| Block { origin: RankId(add_mod(first, j, self.ranks)), part: 0 }).collect()
    }

    fn bytes(&self) -> u128 {
        u128::from(self.ranks) * u128::from(self.ranks - 1) * u128::from(self.size)
    }
}
