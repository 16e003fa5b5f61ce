//! Reductions by butterflies: allreduce by recursive doubling, and Rabenseifner's halving with its second
//! phase.

use super::data::{Data, ReceivedUse};
use super::fold::{Butterfly, ButterflyPosition, Fold, group, side};
use super::layout::Layout;
use super::rounds::{Action, Rounds};

/// Allreduce by recursive doubling: partners 1, 2, 4 ... apart exchange whole vectors and combine them.
///
/// K rounds, and two more if ranks are folded; contributions are combined in the order of ranks.
#[derive(Clone, Debug)]
pub(super) struct RecursiveDoubling {
    pub layout: Layout,
    pub fold: Fold,
}

impl Rounds for RecursiveDoubling {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let data = Data::block(0);
        Some(match self.exchanges().place(rank, index)? {
            ButterflyPosition::GiveUp { to } | ButterflyPosition::GiveBack { to } => Action::Send { to, data },
            ButterflyPosition::TakeOver { from } => Action::Receive { from, data, then: side(from, rank) },
            ButterflyPosition::GetBack { from } => Action::Receive { from, data, then: ReceivedUse::Keep },
            ButterflyPosition::Round { member, round } => {
                let partner = self.fold.rank(member ^ (1 << round));
                Action::Exchange { to: partner, sent: data, from: partner, received: data, then: side(partner, rank) }
            }
        })
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.fold.ranks()
    }

    fn butterfly(&self) -> Option<Butterfly> {
        Some(self.exchanges())
    }

    fn total(&self) -> u128 {
        let vectors = u64::from(self.fold.log) * u64::from(self.fold.members()) + 2 * u64::from(self.fold.folded);
        u128::from(vectors) * self.layout.total()
    }

    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        match self.exchanges().place(rank, index) {
            Some(ButterflyPosition::Round { member, round }) => self.fold.ranks_behind(group(member, round)),
            Some(ButterflyPosition::GiveBack { .. }) => (0..self.ranks()).collect(),
            _ => vec![rank],
        }
    }
}

impl RecursiveDoubling {
    fn exchanges(&self) -> Butterfly {
        Butterfly::of(self.fold, true)
    }
}

/// Purpose of a halving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HalvingPurpose {
    /// Each member ends with one combined segment.
    Reduce,
    /// Each member ends with one combined segment, and then all exchange their segments: Rabenseifner's
    /// allreduce.
    Allreduce,
}

/// Reduction by recursive halving: partners 1, 2, 4 ... apart exchange halves of what they have left.
///
/// The vector is in 2^K segments. After k rounds member n has `2^(K-k)` of them: those whose number begins
/// with the last k bits of n in reverse. They hold the contributions of all members that differ from n in the
/// last k bits only. Contributions are combined in the order of ranks.
#[derive(Clone, Debug)]
pub(super) struct Halving {
    pub layout: Layout,
    pub fold: Fold,
    pub halves: HalvingPurpose,
}

/// Returns the segments that member n has after `rounds` rounds: the first, and their number.
fn remaining_segments(fold: Fold, member: u32, rounds: u32) -> (u32, u32) {
    let count = 1 << (fold.log - rounds);
    let reversed = if fold.log == 0 { 0 } else { member.reverse_bits() >> (32 - fold.log) };
    (reversed & !(count - 1), count)
}

/// Names these segments of the layout.
fn blocks((first, count): (u32, u32)) -> Data {
    Data::Blocks { first, count }
}

impl Rounds for Halving {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let log = self.fold.log;
        let whole = blocks((0, self.layout.blocks()));
        Some(match self.exchanges().place(rank, index)? {
            ButterflyPosition::GiveUp { to } | ButterflyPosition::GiveBack { to } => Action::Send { to, data: whole },
            ButterflyPosition::TakeOver { from } => Action::Receive { from, data: whole, then: side(from, rank) },
            ButterflyPosition::GetBack { from } => Action::Receive { from, data: whole, then: ReceivedUse::Keep },
            ButterflyPosition::Round { member, round } if round < log => {
                let other = member ^ (1 << round);
                let partner = self.fold.rank(other);
                Action::Exchange {
                    to: partner,
                    sent: blocks(remaining_segments(self.fold, other, round + 1)),
                    from: partner,
                    received: blocks(remaining_segments(self.fold, member, round + 1)),
                    then: side(partner, rank),
                }
            }
            ButterflyPosition::Round { member, round } => {
                let bit = 2 * log - 1 - round;
                let other = member ^ (1 << bit);
                let partner = self.fold.rank(other);
                Action::Exchange {
                    to: partner,
                    sent: blocks(remaining_segments(self.fold, member, bit + 1)),
                    from: partner,
                    received: blocks(remaining_segments(self.fold, other, bit + 1)),
                    then: ReceivedUse::Keep,
                }
            }
        })
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.fold.ranks()
    }

    fn butterfly(&self) -> Option<Butterfly> {
        Some(self.exchanges())
    }

    /// Members exchange halves, quarters ... of the vector, in total all but one segment; an allreduce does
    /// so twice.
    fn total(&self) -> u128 {
        let ways = 1 + u128::from(self.returns());
        let (others, folded) = (u128::from(self.fold.members() - 1), u128::from(self.fold.folded));
        ways * (others + folded) * self.layout.total()
    }

    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        let log = self.fold.log;
        match self.exchanges().place(rank, index) {
            Some(ButterflyPosition::Round { member, round }) => self.fold.ranks_behind(group(member, round.min(log))),
            Some(ButterflyPosition::GiveBack { .. }) => (0..self.ranks()).collect(),
            _ => vec![rank],
        }
    }
}

impl Halving {
    fn returns(&self) -> bool {
        self.halves == HalvingPurpose::Allreduce
    }

    fn exchanges(&self) -> Butterfly {
        let exchanges = u64::from(self.fold.log) * (1 + u64::from(self.returns()));
        Butterfly { fold: self.fold, exchanges, returns: self.returns() }
    }
}

/// Gather at the root, in reverse order, of the segments that a [`Halving`] has left at the members.
#[derive(Clone, Debug)]
pub(super) struct FoldedGather {
    pub layout: Layout,
    /// Fold of the halving; the root is a member.
    pub fold: Fold,
    pub root: u32,
}

impl Rounds for FoldedGather {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let (member, is_member) = self.fold.member(rank);
        let root = self.fold.member(self.root).0;
        if !is_member || index >= u64::from(self.fold.log) {
            return None;
        }
        // From the last round of the halving back to the first; a member that has sent its segments is done.
        let bit = self.fold.log - 1 - index as u32;
        if (member ^ root) >> (bit + 1) != 0 {
            return None;
        }
        let other = member ^ (1 << bit);
        let partner = self.fold.rank(other);
        Some(if (member ^ root) >> bit & 1 == 0 {
            let data = blocks(remaining_segments(self.fold, other, bit + 1));
            Action::Receive { from: partner, data, then: ReceivedUse::Keep }
        } else {
            Action::Send { to: partner, data: blocks(remaining_segments(self.fold, member, bit + 1)) }
        })
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.fold.ranks()
    }

    fn rounds(&self) -> u64 {
        u64::from(self.fold.log)
    }
}
