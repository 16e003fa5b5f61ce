//! Allreduce around a ring.

use crate::ids::RankId;
use crate::workload::pattern::arith::{Split, add_mod, sub_mod};
use crate::workload::pattern::{After, Block, Message, Pattern};

/// Reduce-scatter, then allgather, both from neighbour to neighbour; the vector is cut in N segments.
///
/// In step `k = 0 .. N-2` (index k) rank r sends to `(r + 1) mod N` the partial sum of segment `(r - k) mod N`, to
/// which ranks r - k .. r have contributed; after them rank r has the whole sum of segment `(r + 1) mod N`. In step
/// `N - 1 + k` it sends on the whole sum of segment `(r + 1 - k) mod N`.
///
/// `2 (N - 1)` steps, each waiting for those before; a message a rank and step; `2 (N - 1) m` bytes in all.
/// Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69(2), 2009.
#[derive(Debug)]
pub(super) struct Ring {
    ranks: u32,
    size: u64,
    split: Split,
}

impl Ring {
    /// `ranks` ranks with vectors of `size` bytes \[B\].
    pub fn new(ranks: u32, size: u64) -> Self {
        Self { ranks, size, split: Split::new(size, ranks) }
    }

    /// The segment that `rank` sends, and how many ranks have contributed to it.
    #[inline]
    fn segment(&self, rank: u32, index: u32) -> (u32, u32) {
        let round = self.ranks - 1;
        if index < round {
            (sub_mod(rank, index, self.ranks), index + 1)
        } else {
            (sub_mod(add_mod(rank, 1, self.ranks), index - round, self.ranks), self.ranks)
        }
    }
}

impl Pattern for Ring {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.steps()
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let (segment, _) = self.segment(rank.0, index);
        Message::new(add_mod(rank.0, 1, self.ranks), self.split.part(segment), index, After::EarlierSteps)
    }

    fn receives(&self, _: RankId, step: u32) -> u32 {
        u32::from(step < self.steps())
    }

    fn steps(&self) -> u32 {
        2 * (self.ranks - 1)
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let (segment, contributors) = self.segment(rank.0, index);
        let origins = (0..contributors).map(|back| RankId(sub_mod(rank.0, back, self.ranks)));
        origins.map(|origin| Block { origin, part: segment }).collect()
    }

    fn bytes(&self) -> u128 {
        2 * u128::from(self.ranks - 1) * u128::from(self.size)
    }
}
