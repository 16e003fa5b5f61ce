//! All-to-all in log N rounds of growing messages.

use crate::ids::RankId;
use crate::workload::pattern::arith::{add_mod, ceil_log2, sub_mod};
use crate::workload::pattern::{After, Block, Message, Pattern};

/// Blocks travel their distance in powers of two, many in one message: for small blocks.
///
/// A block has to go `j = (dst - origin) mod N` places. In round `k = 0 .. ceil(log2 N) - 1` (index and step k) rank
/// r sends to `(r + 2^k) mod N` every block it holds whose j has bit k set; such a block has gone `j mod 2^k` places
/// so far, so its origin is `(r - j mod 2^k) mod N`. That is one block for each j < N with bit k set.
///
/// `ceil(log2 N)` steps, each waiting for those before; a message a rank and step; `m N * sum of the ones in the
/// binary j, 0 < j < N` bytes (`m N (N/2) log2 N` for a power of two).
/// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications in
/// multiport message-passing systems", IEEE TPDS 8(11), 1997.
#[derive(Debug)]
pub(super) struct Bruck {
    ranks: u32,
    size: u64,
}

impl Bruck {
    /// `ranks` ranks with blocks of `size` bytes \[B\].
    pub fn new(ranks: u32, size: u64) -> Self {
        Self { ranks, size }
    }

    /// Number of j < N with bit k set.
    #[inline]
    fn blocks(&self, k: u32) -> u32 {
        let bit = 1 << k;
        let whole = (self.ranks >> (k + 1)) << k;
        let rest = self.ranks & ((bit << 1) - 1);
        whole + rest.saturating_sub(bit)
    }
}

impl Pattern for Bruck {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.steps()
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let bytes = u64::from(self.blocks(index)) * self.size;
        Message::new(add_mod(rank.0, 1 << index, self.ranks), bytes, index, After::EarlierSteps)
    }

    fn receives(&self, _: RankId, step: u32) -> u32 {
        u32::from(step < self.steps())
    }

    fn steps(&self) -> u32 {
        ceil_log2(self.ranks)
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let bit = 1 << index;
        let travelling = (0..self.ranks).filter(|j| j & bit != 0);
        travelling
            .map(|j| {
                let origin = sub_mod(rank.0, j & (bit - 1), self.ranks);
                Block { origin: RankId(origin), part: add_mod(origin, j, self.ranks) }
            })
            .collect()
    }

    fn bytes(&self) -> u128 {
        let blocks: u128 = (0..self.steps()).map(|k| u128::from(self.blocks(k))).sum();
        u128::from(self.ranks) * blocks * u128::from(self.size)
    }
}
