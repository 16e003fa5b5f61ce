//! All-to-all in which each rank visits the other ranks in its own random order.

use crate::ids::RankId;
use crate::pattern::arith::add_mod;
use crate::pattern::shuffle::{Arrivals, Shuffle};
use crate::pattern::{After, Block, Message, Needs, Pattern};
use crate::workload::Lockstep;

/// All-to-all in random order: every rank sends each other rank its block directly.
///
/// The message with index i (and step i) of `src` goes to `(src + 1 + P_src(i)) mod N`, where P_src is a
/// pseudo-random permutation of `0 .. N-2` given by the seed and `src`. The orders of the ranks are
/// independent: in each step some ranks get several messages and about `N / e` none.
///
/// N - 1 steps; `N (N - 1)` messages and as many blocks.
#[derive(Debug)]
pub(super) struct RandomOrder {
    ranks: u32,
    size: u64,
    order: Shuffle,
    arrivals: Arrivals,
}

impl RandomOrder {
    /// Creates the pattern for `ranks` ranks with blocks of `size` bytes \[B\].
    pub fn new(ranks: u32, size: u64, seed: u64) -> Self {
        let order = Shuffle::new(seed, "all-to-all random-order", (ranks - 1).max(1));
        Self { ranks, size, order, arrivals: Arrivals::default() }
    }

    #[inline]
    pub fn destination(&self, src: u32, index: u32) -> u32 {
        add_mod(src, 1 + self.order.at(src, index), self.ranks)
    }
}

impl Pattern for RandomOrder {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.ranks - 1
    }

    #[inline]
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn message(&self, rank: RankId, index: u32) -> Message {
        Message::new(self.destination(rank.0, index), self.size, index, After::Nothing)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        if step >= self.ranks - 1 {
            return 0;
        }
        self.arrivals.count(rank.0, step, self.ranks, |src| self.destination(src, step))
    }

    fn steps(&self) -> u32 {
        self.ranks - 1
    }

    fn lockstep(&self) -> Option<Lockstep<'_>> {
        let destinations = |step, destinations: &mut Vec<RankId>| {
            destinations.extend((0..self.ranks).map(|rank| RankId(self.destination(rank, step))));
        };
        let (ranks, steps) = (self.ranks, self.steps());
        let destinations = Box::new(destinations);
        Some(Lockstep { ranks, steps, bytes: self.size, alike: 1, destinations, passed_on: None })
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        vec![Block { origin: rank, part: self.destination(rank.0, index) }]
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }
}
