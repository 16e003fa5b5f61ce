//! Reduce-scatters: the data of all ranks are combined, and each rank gets a block of the result.

use super::data::{Data, ReceivedUse};
use super::fold::{Butterfly, ButterflyPosition, Fold, group, side};
use super::layout::Layout;
use super::rounds::{Action, Rounds, by_action};

/// Algorithm of a reduce-scatter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReduceScatterAlgorithm {
    /// A block travels around the ring and is combined at each rank: P - 1 rounds of a block. Not in order of
    /// ranks.
    Ring,
    /// In step p a rank sends the block of the rank p places on to it, and combines the block from the rank p
    /// places before. Not in order of ranks.
    Pairwise,
    /// Members P/2, P/4 ... 1 apart exchange the halves that belong to the other side. Not in order of ranks.
    RecursiveHalving,
    /// Members 1, 2, 4 ... apart exchange all but the blocks of their own group. In order of ranks.
    RecursiveDoubling,
    /// Members 1, 2, 4 ... apart exchange every second block of what they have left: blocks of one size, P a
    /// power of two. In order of ranks.
    Interleaved,
}

/// A reduce-scatter. If ranks are folded, members end with the blocks of both ranks, which [`Deliver`] hands
/// over.
#[derive(Clone, Debug)]
pub(super) struct ReduceScatter {
    pub algorithm: ReduceScatterAlgorithm,
    pub ranks: u32,
    pub layout: Layout,
    /// Distance from a rank to the rank whose block it ends with (ring only).
    pub ahead: u32,
}

impl ReduceScatter {
    /// Creates a reduce-scatter in which a rank ends with its own block.
    pub fn new(algorithm: ReduceScatterAlgorithm, ranks: u32, layout: Layout) -> Self {
        Self { algorithm, ranks, layout, ahead: 0 }
    }

    fn blocks(fold: Fold, first: u32, count: u32) -> Data {
        let (first, count) = fold.ranks_of(first, count);
        Data::Blocks { first, count }
    }
}

impl Rounds for ReduceScatter {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let ranks = self.ranks;
        let plus = |by: u32| ((u64::from(rank) + u64::from(by)) % u64::from(ranks)) as u32;
        let minus = |by: u32| plus(ranks - by % ranks);
        match self.algorithm {
            ReduceScatterAlgorithm::Ring => {
                let step = u32::try_from(index + 1).ok().filter(|&step| step < ranks)?;
                Some(Action::Exchange {
                    to: plus(1),
                    sent: Data::block(minus(step + ranks - self.ahead)),
                    from: minus(1),
                    received: Data::block(minus(step + 1 + ranks - self.ahead)),
                    then: ReceivedUse::Left,
                })
            }
            ReduceScatterAlgorithm::Pairwise => {
                let step = u32::try_from(index + 1).ok().filter(|&step| step < ranks)?;
                let (to, from) = (plus(step), minus(step));
                let (sent, received) = (Data::block(to), Data::block(rank));
                Some(Action::Exchange { to, sent, from, received, then: side(from, rank) })
            }
            ReduceScatterAlgorithm::RecursiveHalving
            | ReduceScatterAlgorithm::RecursiveDoubling
            | ReduceScatterAlgorithm::Interleaved => {
                let fold = Fold::pairs(ranks);
                match Butterfly::of(fold, false).place(rank, index)? {
                    ButterflyPosition::GiveUp { to } => {
                        Some(Action::Send { to, data: Data::Blocks { first: 0, count: self.layout.blocks() } })
                    }
                    ButterflyPosition::TakeOver { from } => {
                        let data = Data::Blocks { first: 0, count: self.layout.blocks() };
                        Some(Action::Receive { from, data, then: side(from, rank) })
                    }
                    ButterflyPosition::Round { member, round } => Some(self.exchange(fold, rank, member, round)),
                    ButterflyPosition::GiveBack { .. } | ButterflyPosition::GetBack { .. } => None,
                }
            }
        }
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn butterfly(&self) -> Option<Butterfly> {
        (!self.is_regular()).then(|| Butterfly::of(Fold::pairs(self.ranks), false))
    }

    fn rounds(&self) -> u64 {
        self.butterfly().map_or(u64::from(self.ranks) - 1, |butterfly| butterfly.rounds())
    }

    fn is_regular(&self) -> bool {
        matches!(self.algorithm, ReduceScatterAlgorithm::Ring | ReduceScatterAlgorithm::Pairwise)
    }

    fn kept_on_ring(&self, rank: u32) -> Option<u32> {
        let block = (u64::from(rank) + u64::from(self.ahead)) % u64::from(self.ranks);
        (self.algorithm == ReduceScatterAlgorithm::Ring).then_some(block as u32)
    }

    /// Total size \[B\]: each block travels P - 1 times.
    fn total(&self) -> u128 {
        match self.is_regular() {
            true => u128::from(self.ranks - 1) * self.layout.total(),
            false => by_action::total(self),
        }
    }

    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        let fold = Fold::pairs(self.ranks);
        let place = self.butterfly().and_then(|butterfly| butterfly.place(rank, index));
        let mut all: Vec<u32> = match (self.algorithm, place) {
            (ReduceScatterAlgorithm::Ring, _) => {
                (0..=index as u32).map(|back| (rank + self.ranks - back) % self.ranks).collect()
            }
            (ReduceScatterAlgorithm::RecursiveHalving, Some(ButterflyPosition::Round { member, round })) => {
                let low = (1 << (fold.log - round)) - 1;
                fold.ranks_behind((0..fold.members()).filter(|other| other & low == member & low))
            }
            (_, Some(ButterflyPosition::Round { member, round })) => fold.ranks_behind(group(member, round)),
            _ => vec![rank],
        };
        all.sort_unstable();
        all
    }
}

impl ReduceScatter {
    fn exchange(&self, fold: Fold, rank: u32, member: u32, round: u32) -> Action {
        let bit = if self.algorithm == ReduceScatterAlgorithm::RecursiveHalving { fold.log - 1 - round } else { round };
        let other = member ^ (1 << bit);
        let partner = fold.rank(other);
        // Data that a member gets in this round, from the member that differs from it in this bit.
        let wanted = |member: u32| match self.algorithm {
            // The blocks that it keeps.
            ReduceScatterAlgorithm::RecursiveHalving => Self::blocks(fold, member >> bit << bit, 1 << bit),
            // All blocks but those of the sender's group: from the end of that group around to its start.
            ReduceScatterAlgorithm::RecursiveDoubling => {
                let group = (member ^ (1 << bit)) >> bit << bit;
                let (start, own) = fold.ranks_of(group, 1 << bit);
                Data::Blocks { first: (start + own) % self.ranks, count: self.ranks - own }
            }
            _ => Data::Strided { first: member & ((2 << bit) - 1), stride: 2 << bit },
        };
        Action::Exchange {
            to: partner,
            sent: wanted(other),
            from: partner,
            received: wanted(member),
            then: side(partner, rank),
        }
    }
}

/// Delivery of the folded ranks' blocks by the members after a reduce-scatter.
#[derive(Clone, Debug)]
pub(super) struct Deliver {
    pub layout: Layout,
    /// Fold of the reduce-scatter.
    pub fold: Fold,
}

impl Rounds for Deliver {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        if index > 0 {
            return None;
        }
        let (member, is_member) = self.fold.member(rank);
        if !is_member {
            let data = Data::block(rank);
            return Some(Action::Receive { from: self.fold.rank(member), data, then: ReceivedUse::Keep });
        }
        let to = self.fold.folded_into(member)?;
        Some(Action::Send { to, data: Data::block(to) })
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.fold.ranks()
    }
}
