//! Allreduce by exchanges between partners whose numbers differ in one bit.

use crate::ids::RankId;
use crate::workload::pattern::arith::Split;
use crate::workload::pattern::{After, Block, Message, Pattern};

/// Recursive doubling or Rabenseifner's algorithm, for any number of ranks.
///
/// With `P = 2^K` the largest power of two in N and `F = N - P`, the first 2F ranks come in pairs: the even one of
/// each gives its vector to the odd one in the first step (fold-in) and gets the result in the last (fold-out). The
/// P ranks that remain, numbered n from 0 without gaps, exchange in steps between these:
///
/// * whole vectors (recursive doubling): K steps, step k with `n xor 2^k`; `(P K + 2 F) m` bytes in all.
/// * halves (Rabenseifner), of a vector cut in P segments: K steps of reduce-scatter, step k with `n xor 2^k`, where
///   each partner sends the half of its range of segments that the other keeps, `P / 2^(k+1)` segments; then K
///   steps of allgather that undo them in reverse order, in which each sends all it has; `(2 (P - 1) + 2 F) m =
///   2 (N - 1) m` bytes in all. The largest messages go to the nearest partners. After level l of halving n keeps the
///   segments from `reverse(n)` on, without its lowest `K - l` bits, where `reverse` mirrors the K bits of n.
///
/// Each step waits for those before. Steps: K or 2 K, and 2 more where F > 0.
/// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
/// 2005, section 5.
#[derive(Debug)]
pub(super) struct Butterfly {
    ranks: u32,
    size: u64,
    exchange: Exchange,
    /// K.
    log: u32,
    /// F.
    folded: u32,
    split: Split,
}

/// What partners exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exchange {
    /// Whole vectors.
    Vectors,
    /// Halves of what they have left, and then back.
    Halves,
}

/// What a rank does in the exchanges.
enum Role {
    /// It gives its vector away and waits for the result.
    Folded,
    /// It has this number n.
    Member(u32),
}

/// An exchange: with whom, which segments, and after how many exchanges of reduction.
struct Round {
    partner: u32,
    first: u32,
    count: u32,
    reduced: u32,
}

impl Butterfly {
    /// `ranks` ranks with vectors of `size` bytes \[B\].
    pub fn new(ranks: u32, size: u64, exchange: Exchange) -> Self {
        let log = ranks.ilog2();
        let members = 1 << log;
        let segments = if exchange == Exchange::Halves { members } else { 1 };
        Self { ranks, size, exchange, log, folded: ranks - members, split: Split::new(size, segments) }
    }

    /// Steps before the exchanges: the fold-in, if there is one.
    #[inline]
    fn before(&self) -> u32 {
        u32::from(self.folded > 0)
    }

    #[inline]
    fn rounds(&self) -> u32 {
        match self.exchange {
            Exchange::Vectors => self.log,
            Exchange::Halves => 2 * self.log,
        }
    }

    #[inline]
    fn role(&self, rank: u32) -> Role {
        if rank >= 2 * self.folded {
            Role::Member(rank - self.folded)
        } else if rank.is_multiple_of(2) {
            Role::Folded
        } else {
            Role::Member(rank / 2)
        }
    }

    /// The rank with number n.
    #[inline]
    fn rank(&self, n: u32) -> u32 {
        if n < self.folded { 2 * n + 1 } else { n + self.folded }
    }

    /// Whether the member n stands for a folded rank too.
    #[inline]
    fn stands_for_two(&self, n: u32) -> bool {
        n < self.folded
    }

    #[inline]
    fn round(&self, n: u32, round: u32) -> Round {
        let range = |n: u32, level: u32| {
            let count = 1 << (self.log - level);
            let reversed = n.reverse_bits() >> (32 - self.log);
            (reversed & !(count - 1), count)
        };
        match self.exchange {
            Exchange::Vectors => Round { partner: n ^ (1 << round), first: 0, count: 1, reduced: round },
            Exchange::Halves if round < self.log => {
                let partner = n ^ (1 << round);
                let (first, count) = range(partner, round + 1);
                Round { partner, first, count, reduced: round }
            }
            Exchange::Halves => {
                let bit = 2 * self.log - 1 - round;
                let (first, count) = range(n, bit + 1);
                Round { partner: n ^ (1 << bit), first, count, reduced: self.log }
            }
        }
    }

    /// The blocks of these segments with the contributions of all members that differ from n in the lowest `reduced`
    /// bits only.
    fn blocks(&self, n: u32, first: u32, count: u32, reduced: u32) -> Vec<Block> {
        let group = n & !((1 << reduced) - 1);
        let members = group..group + (1 << reduced);
        let origins: Vec<u32> = members
            .flat_map(|n| {
                let rank = self.rank(n);
                let folded = self.stands_for_two(n).then(|| rank - 1);
                folded.into_iter().chain([rank])
            })
            .collect();
        let segments = first..first + count;
        segments.flat_map(|part| origins.iter().map(move |&o| Block { origin: RankId(o), part })).collect()
    }

    fn segments(&self) -> u32 {
        if self.exchange == Exchange::Halves { 1 << self.log } else { 1 }
    }
}

impl Pattern for Butterfly {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId) -> u32 {
        match self.role(rank.0) {
            Role::Folded => 1,
            Role::Member(n) => self.rounds() + u32::from(self.stands_for_two(n)),
        }
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let (dst, bytes, step) = match self.role(rank.0) {
            Role::Folded => (rank.0 + 1, self.size, 0),
            Role::Member(_) if index == self.rounds() => (rank.0 - 1, self.size, self.before() + index),
            Role::Member(n) => {
                let round = self.round(n, index);
                let bytes = self.split.range(round.first, round.count);
                (self.rank(round.partner), bytes, self.before() + index)
            }
        };
        Message::new(dst, bytes, step, After::EarlierSteps)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        let (first, last) = (self.before(), self.before() + self.rounds());
        let gets = match self.role(rank.0) {
            Role::Folded => step == last,
            Role::Member(n) => (first..last).contains(&step) || self.stands_for_two(n) && step == 0,
        };
        u32::from(gets)
    }

    fn steps(&self) -> u32 {
        self.rounds() + 2 * self.before()
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        match self.role(rank.0) {
            Role::Folded => (0..self.segments()).map(|part| Block { origin: rank, part }).collect(),
            Role::Member(n) if index == self.rounds() => self.blocks(n, 0, self.segments(), self.log),
            Role::Member(n) => {
                let round = self.round(n, index);
                self.blocks(n, round.first, round.count, round.reduced)
            }
        }
    }

    fn bytes(&self) -> u128 {
        let (members, log) = (1u128 << self.log, u128::from(self.log));
        let vectors = match self.exchange {
            Exchange::Vectors => members * log,
            Exchange::Halves => 2 * (members - 1),
        };
        (vectors + 2 * u128::from(self.folded)) * u128::from(self.size)
    }
}
