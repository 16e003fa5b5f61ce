//! Butterflies: exchanges between ranks whose numbers differ in one bit.
//!
//! Butterflies need 2^K ranks. For other numbers of ranks, F = P - 2^K ranks are folded first: each gives its
//! data to a neighbour, which acts for both, and gets its result from that neighbour at the end. The
//! remaining ranks, the members, are numbered from 0.
//!
//! Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, sections 4.4 and 4.5.

use super::data::ReceivedUse;

/// Division of the ranks into members and folded ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fold {
    /// Logarithm of the number of members, K.
    pub log: u32,
    /// Number of folded ranks, F.
    pub folded: u32,
    folded_ranks: FoldedRanks,
}

/// Choice of the folded ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FoldedRanks {
    /// The last F ranks, into the first ones.
    Last,
    /// The first of each pair (0, 1), (2, 3) ...
    First,
    /// The second of each pair, except this rank: then the first.
    But(u32),
}

/// Position of a rank in a butterfly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ButterflyPosition {
    /// A folded rank gives its data to a member.
    GiveUp { to: u32 },
    /// A member gets the data of a folded rank.
    TakeOver { from: u32 },
    /// The member with this number takes part in this round.
    Round { member: u32, round: u32 },
    /// A member gives a folded rank the result.
    GiveBack { to: u32 },
    /// A folded rank gets the result.
    GetBack { from: u32 },
}

impl Fold {
    fn new(ranks: u32, folded_ranks: FoldedRanks) -> Self {
        let log = ranks.ilog2();
        Self { log, folded: ranks - (1 << log), folded_ranks }
    }

    /// Folds the ranks beyond a power of two: contributions are not in the order of ranks any more.
    pub fn beyond(ranks: u32) -> Self {
        Self::new(ranks, FoldedRanks::Last)
    }

    /// Folds neighbours, the first of each pair into the second: contributions stay in order.
    pub fn pairs(ranks: u32) -> Self {
        Self::new(ranks, FoldedRanks::First)
    }

    /// Folds neighbours such that `root` is a member.
    pub fn keeping(ranks: u32, root: u32) -> Self {
        Self::new(ranks, FoldedRanks::But(root))
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.members() + self.folded
    }

    /// Number of members.
    pub fn members(&self) -> u32 {
        1 << self.log
    }

    /// Returns the rank of a pair that is the member.
    fn survivor(&self, pair: u32) -> u32 {
        match self.folded_ranks {
            FoldedRanks::Last => pair,
            FoldedRanks::First => 2 * pair + 1,
            FoldedRanks::But(root) => 2 * pair + u32::from(root == 2 * pair + 1),
        }
    }

    /// Returns the rank of a member.
    pub fn rank(&self, member: u32) -> u32 {
        match self.folded_ranks {
            FoldedRanks::Last => member,
            _ if member < self.folded => self.survivor(member),
            _ => member + self.folded,
        }
    }

    /// Returns the member that a rank is or is folded into, and true if the rank is the member itself.
    pub fn member(&self, rank: u32) -> (u32, bool) {
        match self.folded_ranks {
            FoldedRanks::Last if rank >= self.members() => (rank - self.members(), false),
            FoldedRanks::Last => (rank, true),
            _ if rank < 2 * self.folded => (rank / 2, rank == self.survivor(rank / 2)),
            _ => (rank - self.folded, true),
        }
    }

    /// Returns the rank that is folded into a member.
    pub fn folded_into(&self, member: u32) -> Option<u32> {
        (member < self.folded).then(|| match self.folded_ranks {
            FoldedRanks::Last => member + self.members(),
            _ => 4 * member + 1 - self.survivor(member),
        })
    }

    /// Returns the ranks that a range of members acts for if neighbours are folded: the first, and their
    /// number.
    pub fn ranks_of(&self, first: u32, count: u32) -> (u32, u32) {
        let start = |member: u32| member + member.min(self.folded);
        (start(first), start(first + count) - start(first))
    }

    /// Returns the ranks that these members act for.
    pub fn ranks_behind(&self, members: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut ranks: Vec<u32> =
            members.flat_map(|member| self.folded_into(member).into_iter().chain([self.rank(member)])).collect();
        ranks.sort_unstable();
        ranks
    }
}

/// Exchanges between the members of a fold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Butterfly {
    /// Fold whose members take part.
    pub fold: Fold,
    /// Number of exchanges of each member.
    pub exchanges: u64,
    /// Set if folded ranks get the result.
    pub returns: bool,
}

impl Butterfly {
    /// Creates a butterfly with an exchange for each bit of a member's number.
    pub fn of(fold: Fold, returns: bool) -> Self {
        Self { fold, exchanges: u64::from(fold.log), returns }
    }

    /// Returns the position of a rank at this index; `None` when it is done.
    pub fn place(&self, rank: u32, index: u64) -> Option<ButterflyPosition> {
        let rounds = self.exchanges;
        let (member, is_member) = self.fold.member(rank);
        let survivor = self.fold.rank(member);
        if !is_member {
            return match index {
                0 => Some(ButterflyPosition::GiveUp { to: survivor }),
                1 if self.returns => Some(ButterflyPosition::GetBack { from: survivor }),
                _ => None,
            };
        }
        match self.fold.folded_into(member) {
            None if index < rounds => Some(ButterflyPosition::Round { member, round: index as u32 }),
            None => None,
            Some(from) if index == 0 => Some(ButterflyPosition::TakeOver { from }),
            Some(_) if index <= rounds => Some(ButterflyPosition::Round { member, round: (index - 1) as u32 }),
            Some(to) if index == rounds + 1 && self.returns => Some(ButterflyPosition::GiveBack { to }),
            Some(_) => None,
        }
    }

    /// Number of rounds before the exchanges.
    fn before(&self) -> u64 {
        u64::from(self.fold.folded > 0)
    }

    /// Number of rounds.
    pub fn rounds(&self) -> u64 {
        self.exchanges + self.before() * (1 + u64::from(self.returns))
    }

    /// Returns the round of a rank's action at this index.
    pub fn round(&self, rank: u32, index: u64) -> u64 {
        match self.place(rank, index) {
            None | Some(ButterflyPosition::GiveUp { .. } | ButterflyPosition::TakeOver { .. }) => 0,
            Some(ButterflyPosition::Round { round, .. }) => self.before() + u64::from(round),
            Some(ButterflyPosition::GiveBack { .. } | ButterflyPosition::GetBack { .. }) => {
                self.before() + self.exchanges
            }
        }
    }

    /// Number of messages that a rank sends.
    pub fn sends(&self, rank: u32) -> u64 {
        match self.fold.member(rank) {
            (_, false) => 1,
            (member, true) => self.exchanges + u64::from(self.returns && self.fold.folded_into(member).is_some()),
        }
    }

    /// Returns the index at which a rank sends its message of this number.
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

/// Returns the side on which a contribution of `from` is combined with that of `to`.
pub(super) fn side(from: u32, to: u32) -> ReceivedUse {
    if from < to { ReceivedUse::Left } else { ReceivedUse::Right }
}

/// Returns the members that differ from this one in the lowest bits only.
pub(super) fn group(member: u32, bits: u32) -> std::ops::Range<u32> {
    let first = member >> bits << bits;
    first..first + (1 << bits)
}
