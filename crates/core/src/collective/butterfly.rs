//! Butterflies: exchanges between ranks whose numbers differ in one bit.
//!
//! They are made for 2^K ranks. Of other numbers, F = P - 2^K ranks are folded first: each gives what it has to a
//! neighbour, which acts for both, and gets its result from it in the end. The other ranks, the members, are numbered
//! from 0.
//!
//! Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, sections 4.4 and 4.5.

use super::data::{Data, Then};
use super::layout::Layout;
use super::rounds::{Action, Rounds};

/// Which ranks are members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fold {
    /// K.
    pub log: u32,
    /// F.
    folded: u32,
    who: Who,
}

/// Who is folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    /// The last F ranks, into the first ones.
    Last,
    /// Of the pairs (0, 1), (2, 3) ... the first of each.
    First,
    /// Of the pairs the second, but never this rank: then its neighbour is.
    But(u32),
}

/// Where a rank is in a butterfly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A folded rank gives what it has to a member.
    GiveUp { to: u32 },
    /// A member gets what a folded rank has.
    TakeOver { from: u32 },
    /// The member with this number is in this round.
    Round { member: u32, round: u32 },
    /// A member gives a folded rank the result.
    GiveBack { to: u32 },
    /// A folded rank gets the result.
    GetBack { from: u32 },
}

impl Fold {
    fn new(ranks: u32, who: Who) -> Self {
        let log = ranks.ilog2();
        Self { log, folded: ranks - (1 << log), who }
    }

    /// The ranks beyond a power of two are folded: contributions are no longer in the order of ranks.
    pub fn beyond(ranks: u32) -> Self {
        Self::new(ranks, Who::Last)
    }

    /// Neighbours are folded, the first of each pair into the second: contributions stay in order.
    pub fn pairs(ranks: u32) -> Self {
        Self::new(ranks, Who::First)
    }

    /// Neighbours are folded, and this rank is a member.
    pub fn keeping(ranks: u32, root: u32) -> Self {
        Self::new(ranks, Who::But(root))
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.members() + self.folded
    }

    /// Number of members.
    pub fn members(&self) -> u32 {
        1 << self.log
    }

    /// The member in this pair.
    fn survivor(&self, pair: u32) -> u32 {
        match self.who {
            Who::Last => pair,
            Who::First => 2 * pair + 1,
            Who::But(root) => 2 * pair + u32::from(root == 2 * pair + 1),
        }
    }

    /// The rank of a member.
    pub fn rank(&self, member: u32) -> u32 {
        match self.who {
            Who::Last => member,
            _ if member < self.folded => self.survivor(member),
            _ => member + self.folded,
        }
    }

    /// The number of a rank, and whether it is the member (or folded into it).
    pub fn member(&self, rank: u32) -> (u32, bool) {
        match self.who {
            Who::Last if rank >= self.members() => (rank - self.members(), false),
            Who::Last => (rank, true),
            _ if rank < 2 * self.folded => (rank / 2, rank == self.survivor(rank / 2)),
            _ => (rank - self.folded, true),
        }
    }

    /// The rank that is folded into a member.
    pub fn folded_into(&self, member: u32) -> Option<u32> {
        (member < self.folded).then(|| match self.who {
            Who::Last => member + self.members(),
            _ => 4 * member + 1 - self.survivor(member),
        })
    }

    /// The ranks that a range of members stands for, where neighbours are folded: the first one and how many.
    pub fn ranks_of(&self, first: u32, count: u32) -> (u32, u32) {
        let start = |member: u32| member + member.min(self.folded);
        (start(first), start(first + count) - start(first))
    }

    /// Where a rank is at this index, of a butterfly of so many rounds; `None` when it is done.
    pub fn place(&self, rank: u32, index: u64, rounds: u64) -> Option<Place> {
        let (member, is_member) = self.member(rank);
        let survivor = self.rank(member);
        if !is_member {
            return match index {
                0 => Some(Place::GiveUp { to: survivor }),
                1 => Some(Place::GetBack { from: survivor }),
                _ => None,
            };
        }
        match self.folded_into(member) {
            None if index < rounds => Some(Place::Round { member, round: index as u32 }),
            None => None,
            Some(from) if index == 0 => Some(Place::TakeOver { from }),
            Some(_) if index <= rounds => Some(Place::Round { member, round: (index - 1) as u32 }),
            Some(to) if index == rounds + 1 => Some(Place::GiveBack { to }),
            Some(_) => None,
        }
    }

    /// Like [`Fold::place`] for one that ends when the members have the result.
    pub fn place_of_members(&self, rank: u32, index: u64, rounds: u64) -> Option<Place> {
        let place = self.place(rank, index, rounds)?;
        (!matches!(place, Place::GiveBack { .. } | Place::GetBack { .. })).then_some(place)
    }
}

/// The rounds of a butterfly of so many exchanges; `returns`: whether folded ranks get the result.
impl Fold {
    /// Rounds before the exchanges.
    fn before(&self) -> u64 {
        u64::from(self.folded > 0)
    }

    /// Number of rounds.
    pub fn rounds(&self, exchanges: u64, returns: bool) -> u64 {
        exchanges + self.before() * (1 + u64::from(returns))
    }

    /// The round of what a rank does at this index.
    pub fn round(&self, rank: u32, index: u64, exchanges: u64) -> u64 {
        match self.place(rank, index, exchanges) {
            None | Some(Place::GiveUp { .. } | Place::TakeOver { .. }) => 0,
            Some(Place::Round { round, .. }) => self.before() + u64::from(round),
            Some(Place::GiveBack { .. } | Place::GetBack { .. }) => self.before() + exchanges,
        }
    }

    /// Number of messages that a rank sends.
    pub fn sends(&self, rank: u32, exchanges: u64, returns: bool) -> u64 {
        match self.member(rank) {
            (_, false) => 1,
            (member, true) => exchanges + u64::from(returns && self.folded_into(member).is_some()),
        }
    }

    /// The index at which a rank sends its message of this number.
    pub fn send(&self, rank: u32, number: u64) -> u64 {
        match self.member(rank) {
            (_, false) => number,
            (member, true) => number + u64::from(self.folded_into(member).is_some()),
        }
    }

    /// Number of messages that a rank gets in a round.
    pub fn receives(&self, rank: u32, round: u64, exchanges: u64, returns: bool) -> u64 {
        let end = self.before() + exchanges;
        u64::from(match self.member(rank) {
            (_, false) => returns && round == end,
            (member, true) => (self.before()..end).contains(&round) || round == 0 && self.folded_into(member).is_some(),
        })
    }

    /// The ranks that these members stand for.
    pub fn stood_for(&self, members: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut ranks: Vec<u32> =
            members.flat_map(|member| self.folded_into(member).into_iter().chain([self.rank(member)])).collect();
        ranks.sort_unstable();
        ranks
    }
}

/// Where a contribution of `from` goes in that of `to`.
pub(super) fn side(from: u32, to: u32) -> Then {
    if from < to { Then::Left } else { Then::Right }
}

/// Allreduce by recursive doubling: partners 1, 2, 4 ... apart swap whole vectors and combine them.
///
/// K rounds, and two more where ranks are folded; contributions are combined in the order of ranks.
#[derive(Clone, Debug)]
pub(super) struct RecursiveDoubling {
    pub layout: Layout,
    pub fold: Fold,
}

impl Rounds for RecursiveDoubling {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let data = Data::block(0);
        Some(match self.fold.place(rank, index, u64::from(self.fold.log))? {
            Place::GiveUp { to } | Place::GiveBack { to } => Action::Send { to, data },
            Place::TakeOver { from } => Action::Receive { from, data, then: side(from, rank) },
            Place::GetBack { from } => Action::Receive { from, data, then: Then::Keep },
            Place::Round { member, round } => {
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

    fn rounds(&self) -> u64 {
        self.fold.rounds(self.exchanges(), true)
    }

    fn round(&self, rank: u32, index: u64) -> u64 {
        self.fold.round(rank, index, self.exchanges())
    }

    fn sends(&self, rank: u32) -> u64 {
        self.fold.sends(rank, self.exchanges(), true)
    }

    fn send(&self, rank: u32, number: u64) -> u64 {
        self.fold.send(rank, number)
    }

    fn receives(&self, rank: u32, round: u64) -> u64 {
        self.fold.receives(rank, round, self.exchanges(), true)
    }

    fn total(&self) -> u128 {
        let vectors = self.exchanges() * u64::from(self.fold.members()) + 2 * u64::from(self.fold.folded);
        u128::from(vectors) * self.layout.total()
    }

    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        match self.fold.place(rank, index, self.exchanges()) {
            Some(Place::Round { member, round }) => self.fold.stood_for(group(member, round)),
            Some(Place::GiveBack { .. }) => (0..self.ranks()).collect(),
            _ => vec![rank],
        }
    }
}

impl RecursiveDoubling {
    fn exchanges(&self) -> u64 {
        u64::from(self.fold.log)
    }
}

/// The members that differ from this one in the lowest bits only.
pub(super) fn group(member: u32, bits: u32) -> std::ops::Range<u32> {
    let first = member >> bits << bits;
    first..first + (1 << bits)
}

/// What a halving is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Halves {
    /// Each member is left with one combined segment.
    Reduce,
    /// The same, and then they give each other their segments: Rabenseifner's allreduce.
    Allreduce,
}

/// Reduction by recursive halving: partners 1, 2, 4 ... apart swap halves of what they have left.
///
/// The vector is in 2^K segments. After k rounds member n has `2^(K-k)` of them, those whose number begins with the
/// last k bits of n in reverse, with the contributions of all members that differ from n in the last k bits only.
/// Contributions are combined in the order of ranks.
#[derive(Clone, Debug)]
pub(super) struct Halving {
    pub layout: Layout,
    pub fold: Fold,
    pub halves: Halves,
}

/// The segments that member n has after so many rounds: the first and how many.
fn left(fold: Fold, member: u32, rounds: u32) -> (u32, u32) {
    let count = 1 << (fold.log - rounds);
    let reversed = if fold.log == 0 { 0 } else { member.reverse_bits() >> (32 - fold.log) };
    (reversed & !(count - 1), count)
}

/// These segments of the layout.
fn blocks((first, count): (u32, u32)) -> Data {
    Data::Blocks { first, count }
}

impl Rounds for Halving {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let log = self.fold.log;
        let place = match self.halves {
            Halves::Reduce => self.fold.place_of_members(rank, index, u64::from(log)),
            Halves::Allreduce => self.fold.place(rank, index, 2 * u64::from(log)),
        };
        let whole = blocks((0, self.layout.blocks()));
        Some(match place? {
            Place::GiveUp { to } | Place::GiveBack { to } => Action::Send { to, data: whole },
            Place::TakeOver { from } => Action::Receive { from, data: whole, then: side(from, rank) },
            Place::GetBack { from } => Action::Receive { from, data: whole, then: Then::Keep },
            Place::Round { member, round } if round < log => {
                let other = member ^ (1 << round);
                let partner = self.fold.rank(other);
                Action::Exchange {
                    to: partner,
                    sent: blocks(left(self.fold, other, round + 1)),
                    from: partner,
                    received: blocks(left(self.fold, member, round + 1)),
                    then: side(partner, rank),
                }
            }
            Place::Round { member, round } => {
                let bit = 2 * log - 1 - round;
                let other = member ^ (1 << bit);
                let partner = self.fold.rank(other);
                Action::Exchange {
                    to: partner,
                    sent: blocks(left(self.fold, member, bit + 1)),
                    from: partner,
                    received: blocks(left(self.fold, other, bit + 1)),
                    then: Then::Keep,
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

    fn rounds(&self) -> u64 {
        self.fold.rounds(self.exchanges(), self.returns())
    }

    fn round(&self, rank: u32, index: u64) -> u64 {
        self.fold.round(rank, index, self.exchanges())
    }

    fn sends(&self, rank: u32) -> u64 {
        self.fold.sends(rank, self.exchanges(), self.returns())
    }

    fn send(&self, rank: u32, number: u64) -> u64 {
        self.fold.send(rank, number)
    }

    fn receives(&self, rank: u32, round: u64) -> u64 {
        self.fold.receives(rank, round, self.exchanges(), self.returns())
    }

    /// Members swap halves, quarters ... of the vector: all but one segment in all; and back, where they do.
    fn total(&self) -> u128 {
        let ways = 1 + u128::from(self.returns());
        let (others, folded) = (u128::from(self.fold.members() - 1), u128::from(self.fold.folded));
        ways * (others + folded) * self.layout.total()
    }

    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        let log = self.fold.log;
        match self.fold.place(rank, index, self.exchanges()) {
            Some(Place::Round { member, round }) => self.fold.stood_for(group(member, round.min(log))),
            Some(Place::GiveBack { .. }) => (0..self.ranks()).collect(),
            _ => vec![rank],
        }
    }
}

impl Halving {
    fn returns(&self) -> bool {
        self.halves == Halves::Allreduce
    }

    fn exchanges(&self) -> u64 {
        u64::from(self.fold.log) * (1 + u64::from(self.returns()))
    }
}

/// Gathers at the root what a [`Halving`] has left at the members, in reverse order.
#[derive(Clone, Debug)]
pub(super) struct FoldedGather {
    pub layout: Layout,
    /// As in the halving; the root is a member.
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
        // From the last round of the halving back to the first; whoever has given away what it had is done.
        let bit = self.fold.log - 1 - index as u32;
        if (member ^ root) >> (bit + 1) != 0 {
            return None;
        }
        let other = member ^ (1 << bit);
        let partner = self.fold.rank(other);
        Some(if (member ^ root) >> bit & 1 == 0 {
            let data = blocks(left(self.fold, other, bit + 1));
            Action::Receive { from: partner, data, then: Then::Keep }
        } else {
            Action::Send { to: partner, data: blocks(left(self.fold, member, bit + 1)) }
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
