//! Butterflies: exchanges between ranks whose numbers differ in one bit.
//!
//! They are made for 2^K ranks. Of other numbers, F = P - 2^K ranks are folded first: each gives what it has to a
//! neighbour, which acts for both, and gets its result from it in the end. The other ranks, the members, are numbered
//! from 0.
//!
//! Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, sections 4.4 and 4.5.

use super::data::Then;

/// Which ranks are members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fold {
    /// K.
    pub log: u32,
    /// F.
    pub folded: u32,
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

    /// The ranks that these members stand for.
    pub fn stood_for(&self, members: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut ranks: Vec<u32> =
            members.flat_map(|member| self.folded_into(member).into_iter().chain([self.rank(member)])).collect();
        ranks.sort_unstable();
        ranks
    }
}

/// Exchanges between the members of a fold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Butterfly {
    /// Its members.
    pub fold: Fold,
    /// Number of exchanges of a member.
    pub exchanges: u64,
    /// Set when folded ranks get the result.
    pub returns: bool,
}

impl Butterfly {
    /// An exchange for each bit of a member's number.
    pub fn of(fold: Fold, returns: bool) -> Self {
        Self { fold, exchanges: u64::from(fold.log), returns }
    }

    /// Where a rank is at this index; `None` when it is done.
    pub fn place(&self, rank: u32, index: u64) -> Option<Place> {
        let rounds = self.exchanges;
        let (member, is_member) = self.fold.member(rank);
        let survivor = self.fold.rank(member);
        if !is_member {
            return match index {
                0 => Some(Place::GiveUp { to: survivor }),
                1 if self.returns => Some(Place::GetBack { from: survivor }),
                _ => None,
            };
        }
        match self.fold.folded_into(member) {
            None if index < rounds => Some(Place::Round { member, round: index as u32 }),
            None => None,
            Some(from) if index == 0 => Some(Place::TakeOver { from }),
            Some(_) if index <= rounds => Some(Place::Round { member, round: (index - 1) as u32 }),
            Some(to) if index == rounds + 1 && self.returns => Some(Place::GiveBack { to }),
            Some(_) => None,
        }
    }

    /// Rounds before the exchanges.
    fn before(&self) -> u64 {
        u64::from(self.fold.folded > 0)
    }

    /// Number of rounds.
    pub fn rounds(&self) -> u64 {
        self.exchanges + self.before() * (1 + u64::from(self.returns))
    }

    /// The round of what a rank does at this index.
    pub fn round(&self, rank: u32, index: u64) -> u64 {
        match self.place(rank, index) {
            None | Some(Place::GiveUp { .. } | Place::TakeOver { .. }) => 0,
            Some(Place::Round { round, .. }) => self.before() + u64::from(round),
            Some(Place::GiveBack { .. } | Place::GetBack { .. }) => self.before() + self.exchanges,
        }
    }

    /// Number of messages that a rank sends.
    pub fn sends(&self, rank: u32) -> u64 {
        match self.fold.member(rank) {
            (_, false) => 1,
            (member, true) => self.exchanges + u64::from(self.returns && self.fold.folded_into(member).is_some()),
        }
    }

    /// The index at which a rank sends its message of this number.
    pub fn send(&self, rank: u32, number: u64) -> u64 {
        match self.fold.member(rank) {
            (_, false) => number,
            (member, true) => number + u64::from(self.fold.folded_into(member).is_some()),
        }
    }

    /// Number of messages that a rank gets in a round.
    pub fn receives(&self, rank: u32, round: u64) -> u64 {
        let end = self.before() + self.exchanges;
        u64::from(match self.fold.member(rank) {
            (_, false) => self.returns && round == end,
            (member, true) => {
                (self.before()..end).contains(&round) || round == 0 && self.fold.folded_into(member).is_some()
            }
        })
    }
}

/// Where a contribution of `from` goes in that of `to`.
pub(super) fn side(from: u32, to: u32) -> Then {
    if from < to { Then::Left } else { Then::Right }
}

/// The members that differ from this one in the lowest bits only.
pub(super) fn group(member: u32, bits: u32) -> std::ops::Range<u32> {
    let first = member >> bits << bits;
    first..first + (1 << bits)
}
