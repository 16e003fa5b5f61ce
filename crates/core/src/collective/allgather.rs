//! Allgathers: the block of every rank goes to all ranks.

use super::data::{Data, ReceivedUse};
use super::layout::{Layout, ceil_log2};
use super::rounds::{Action, Rounds};

/// Algorithm of an allgather.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AllgatherAlgorithm {
    /// A rank passes on to the next rank the block that it received last: P - 1 rounds of a block.
    Ring,
    /// In round k partners 2^k apart exchange all they have; P is a power of two. log2 P rounds.
    RecursiveDoubling,
    /// In round k a rank sends all it has, or as much as is missing, to the rank 2^k before: ceil(log2 P)
    /// rounds for every P.
    ///
    /// Source: Bruck et al., IEEE TPDS 8(11), 1997, section 4.
    Bruck,
    /// Neighbours exchange their blocks, then pairs of blocks with the other neighbour, and so on in turn; P
    /// is even. P/2 rounds.
    ///
    /// Source: Chen, Zhang, Zhang, Yuan, "Performance evaluation of allgather algorithms on terascale Linux
    /// cluster with fast Ethernet", HPC Asia 2005.
    NeighborExchange,
    /// At distances P/2 ... 2, 1 (of the next power of two) a rank sends every second multiple of twice the distance of
    /// the blocks that it has to the rank that far after: ceil(log2 P) rounds for every P, the large messages to near
    /// ranks. The blocks of a round are one message here.
    ///
    /// Source: Loch, Koslovski, "Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm",
    /// 2021 (arXiv 2109.08751); Open MPI, `coll_base_allgather.c`.
    Sparbit,
}

/// Returns the distance and the number of blocks of a round of [`AllgatherAlgorithm::Sparbit`].
fn sparbit(ranks: u32, step: u32) -> Option<(u32, u32)> {
    let rounds = ceil_log2(ranks);
    let even = ranks.trailing_zeros();
    let shortened = (!(ranks >> even) | 1) << even;
    let mut blocks = 1;
    for round in 0..rounds {
        let distance = 1 << (rounds - 1 - round);
        let left_out = u32::from(distance & shortened == distance);
        if round == step {
            return Some((distance, blocks - left_out));
        }
        blocks = 2 * blocks - left_out;
    }
    None
}

/// An allgather. Blocks of a scattered broadcast vector are numbered from the root on.
#[derive(Clone, Debug)]
pub(super) struct Allgather {
    pub algorithm: AllgatherAlgorithm,
    pub ranks: u32,
    /// Rank that has block 0.
    pub root: u32,
    pub layout: Layout,
}

impl Rounds for Allgather {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let ranks = self.ranks;
        let step = u32::try_from(index).ok()?;
        // All arithmetic is on places, counted from the rank that has block 0.
        let me = if rank >= self.root { rank - self.root } else { rank + (ranks - self.root) };
        let plus = |place: u32, by: u32| ((u64::from(place) + u64::from(by)) % u64::from(ranks)) as u32;
        let minus = |place: u32, by: u32| plus(place, ranks - by % ranks);
        let exchange = |to: u32, sent: (u32, u32), from: u32, received: (u32, u32)| Action::Exchange {
            to: plus(to, self.root),
            sent: Data::Blocks { first: sent.0, count: sent.1 },
            from: plus(from, self.root),
            received: Data::Blocks { first: received.0, count: received.1 },
            then: ReceivedUse::Keep,
        };
        match self.algorithm {
            AllgatherAlgorithm::Ring => (step + 1 < ranks)
                .then(|| exchange(plus(me, 1), (minus(me, step), 1), minus(me, 1), (minus(me, step + 1), 1))),
            AllgatherAlgorithm::RecursiveDoubling => {
                let count = 1u32.checked_shl(step).filter(|&count| count < ranks)?;
                let other = me ^ count;
                Some(exchange(other, (me & !(count - 1), count), other, (other & !(count - 1), count)))
            }
            AllgatherAlgorithm::Bruck => {
                let distance = 1u32.checked_shl(step).filter(|&distance| distance < ranks)?;
                let count = distance.min(ranks - distance);
                let (to, from) = (minus(me, distance), plus(me, distance));
                Some(exchange(to, (me, count), from, (from, count)))
            }
            AllgatherAlgorithm::Sparbit => {
                let (distance, count) = sparbit(ranks, step)?;
                let stride = u64::from(distance) * 2;
                // The last block of a descending list is the first of an ascending one.
                let first = |place: u32| {
                    let back = u64::from(count).saturating_sub(1) * stride % u64::from(ranks);
                    minus(place, back as u32)
                };
                let blocks = |place: u32| Data::Cyclic { first: first(place), stride: 2 * distance, count };
                let (to, from) = (plus(me, distance), minus(me, distance));
                Some(Action::Exchange {
                    to: plus(to, self.root),
                    sent: blocks(me),
                    from: plus(from, self.root),
                    received: blocks(from),
                    then: ReceivedUse::Keep,
                })
            }
            AllgatherAlgorithm::NeighborExchange => {
                if step >= ranks / 2 {
                    return None;
                }
                let is_even = me.is_multiple_of(2);
                let pair = me & !1;
                // Partners are on alternating sides; pairs of blocks come from farther and farther on that
                // side.
                let partner = if is_even == step.is_multiple_of(2) { plus(me, 1) } else { minus(me, 1) };
                if step == 0 {
                    return Some(exchange(partner, (me, 1), partner, (partner, 1)));
                }
                // Pair that is received in this step.
                let got = |step: u32| {
                    let by = 2 * step.div_ceil(2);
                    if step == 0 {
                        pair
                    } else if step.is_multiple_of(2) == is_even {
                        plus(pair, by)
                    } else {
                        minus(pair, by)
                    }
                };
                Some(exchange(partner, (got(step - 1), 2), partner, (got(step), 2)))
            }
        }
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u64 {
        u64::from(match self.algorithm {
            AllgatherAlgorithm::Ring => self.ranks - 1,
            AllgatherAlgorithm::RecursiveDoubling | AllgatherAlgorithm::Bruck | AllgatherAlgorithm::Sparbit => {
                ceil_log2(self.ranks)
            }
            AllgatherAlgorithm::NeighborExchange => self.ranks / 2,
        })
    }

    fn kept_on_ring(&self, rank: u32) -> Option<u32> {
        // Blocks are numbered by places, from the rank that has block 0 on.
        let (rank, ranks) = (u64::from(rank), u64::from(self.ranks));
        let next = (rank + 1 + ranks - u64::from(self.root)) % ranks;
        (self.algorithm == AllgatherAlgorithm::Ring).then_some(next as u32)
    }

    fn is_regular(&self) -> bool {
        true
    }

    /// Total size \[B\]: each rank gets the blocks of all other ranks, each once.
    fn total(&self) -> u128 {
        u128::from(self.ranks - 1) * self.layout.total()
    }
}
