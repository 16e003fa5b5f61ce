//! All-to-all around a ring: blocks travel from neighbour to neighbour.

use crate::ids::RankId;
use crate::pattern::arith::{add_mod, sub_mod};
use crate::pattern::{After, Block, Message, Pattern};

/// All-to-all around a ring: every rank passes on to the next rank the blocks that are not for itself.
///
/// In round `k = 1 .. N-1` (index and step k - 1) rank r sends to `(r + 1) mod N` the blocks still
/// travelling: those that rank `(r - k + 1) mod N` has for ranks k and more places after it, `N - k` blocks
/// of m bytes.
///
/// N - 1 steps, each waiting for the one before; `N (N - 1)` messages; `m N^2 (N - 1) / 2` bytes, all between
/// neighbours.
#[derive(Debug)]
pub(super) struct Ring {
    ranks: u32,
    size: u64,
}

impl Ring {
    /// Creates the pattern for `ranks` ranks with blocks of `size` bytes \[B\].
    pub fn new(ranks: u32, size: u64) -> Self {
        Self { ranks, size }
    }
}

impl Pattern for Ring {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.ranks - 1
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let blocks = self.ranks - 1 - index;
        Message::new(add_mod(rank.0, 1, self.ranks), u64::from(blocks) * self.size, index, After::EarlierSteps)
    }

    fn receives(&self, _: RankId, step: u32) -> u32 {
        u32::from(step < self.ranks - 1)
    }

    fn steps(&self) -> u32 {
        self.ranks - 1
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let origin = sub_mod(rank.0, index, self.ranks);
        let distances = index + 1..self.ranks;
        distances.map(|d| Block { origin: RankId(origin), part: add_mod(origin, d, self.ranks) }).collect()
    }

    fn bytes(&self) -> u128 {
        let n = u128::from(self.ranks);
        n * n * (n - 1) / 2 * u128::from(self.size)
    }
}
