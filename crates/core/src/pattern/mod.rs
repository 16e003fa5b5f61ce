//! Patterns: who sends how much to whom, in what order, as a rule that is evaluated when it is needed.
//!
//! A [`Pattern`] is a pure function of rank and message index, so its memory does not grow with the number of
//! messages. *When* a message may go is decided by the injection rule and by what the message needs to have
//! received before ([`After`]).

mod adv;
mod all_to_all;
mod allgather;
mod allreduce;
mod arith;
mod broadcast;
mod collective;
mod drawn;
mod driver;
mod file;
mod ground;
mod group_permutation;
mod groups;
mod halo;
mod hot_group;
mod incast;
mod options;
mod permutation;
mod ring;
mod rule;
mod scheduled;
mod shuffle;
mod spec;
mod traffic;
mod uniform_random;

#[cfg(test)]
mod tests;

use crate::ids::{MessageId, RankId};
use crate::units::Time;
use crate::workload::Lockstep;

pub use adv::AdvSpec;
pub use all_to_all::{AllToAll, AllToAllSpec, MessageOrder};
pub use allgather::{Allgather, AllgatherSpec};
pub use allreduce::{Allreduce, AllreduceSpec};
pub use broadcast::{Broadcast, BroadcastSpec};
pub use collective::CollectiveSpec;
pub use driver::PatternPlayer;
pub use file::FileSpec;
pub use ground::Ground;
pub use group_permutation::{GroupPermutationSpec, WorstCaseSpec};
pub use halo::{HaloSpec, Sizes};
pub use hot_group::HotGroupSpec;
pub use incast::IncastSpec;
pub use permutation::{PermutationKind, PermutationSpec};
pub use ring::RingSpec;
pub use spec::PatternSpec;
pub use traffic::{Injection, Traffic, start_offsets};
pub use uniform_random::UniformRandomSpec;

/// One message of a pattern.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Who gets it.
    pub dst: RankId,
    /// How large it is \[B\].
    pub bytes: u64,
    /// The round of the algorithm it belongs to, from 0; never descends along a rank's messages.
    pub step: u32,
    /// Time its sender spends between being allowed to send it and sending it \[ps\].
    pub delay: Time,
    /// What its sender must have received first.
    pub after: After,
}

impl Message {
    /// A message that is sent without a delay.
    #[inline]
    fn new(dst: u32, bytes: u64, step: u32, after: After) -> Self {
        Self { dst: RankId(dst), bytes, step, delay: Time::ZERO, after }
    }
}

/// What a sender must have received before it may send a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum After {
    /// Nothing.
    Nothing,
    /// Every message addressed to it in earlier steps than this one's.
    EarlierSteps,
    /// These messages.
    Messages(Vec<MessageId>),
}

/// Which kinds of [`After`] the messages of a pattern have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// [`After::EarlierSteps`].
    pub steps: bool,
    /// [`After::Messages`].
    pub messages: bool,
}

impl Needs {
    /// All messages have [`After::Nothing`].
    pub const NOTHING: Self = Self { steps: false, messages: false };
}

/// A piece of data that a message carries, for showing and checking what a pattern achieves.
///
/// Data is named by its origin and by its place in the collective's result: in an all-to-all block (s, d) is what
/// rank s has for rank d; in a broadcast or allgather block (r, k) is the k-th segment of what rank r contributes;
/// in a reduction block (r, k) is rank r's contribution to segment k.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Block {
    /// The rank whose data it is.
    pub origin: RankId,
    /// Which part of it.
    pub part: u32,
}

/// Who sends what to whom, in what order.
pub trait Pattern: std::marker::Send + Sync + std::fmt::Debug {
    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Number of messages that `rank` sends.
    fn sends(&self, rank: RankId) -> u32;

    /// The `index`-th message of `rank`, `index < sends(rank)`.
    fn message(&self, rank: RankId, index: u32) -> Message;

    /// Number of messages addressed to `rank` in this step.
    fn receives(&self, rank: RankId, step: u32) -> u32;

    /// Number of steps: one more than the largest step of any message.
    fn steps(&self) -> u32;

    /// Which kinds of [`After`] its messages have: what nothing needs is not kept track of.
    fn needs(&self) -> Needs {
        Needs { steps: true, messages: false }
    }

    /// Whether a rank waits, before it sends a message of a later step, until its messages of earlier steps have been
    /// delivered, however many may be under way by the injection rule.
    fn waits_for_sends(&self) -> bool {
        false
    }

    /// How many messages may be on their way to one rank at once, where the pattern is made so that it is many.
    fn most_to_one(&self) -> u32 {
        0
    }

    /// The same in lockstep, where it goes so.
    fn lockstep(&self) -> Option<Lockstep<'_>> {
        None
    }

    /// Whether every rank sends the same number of messages, all of one size, none of which waits for what another rank
    /// has sent: so that their times settle, and a part of them tells of the rest.
    fn is_steady(&self) -> bool {
        self.lockstep().is_some()
    }

    /// Whether any of its messages has a delay.
    fn delays(&self) -> bool {
        false
    }

    /// What the message carries; empty where the pattern moves data without meaning (permutations, random traffic).
    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let _ = (rank, index);
        Vec::new()
    }

    /// Number of messages in all.
    fn messages(&self) -> u64 {
        (0..self.ranks()).map(|rank| u64::from(self.sends(RankId(rank)))).sum()
    }

    /// Bytes in all \[B\]: the volume of the pattern.
    ///
    /// Patterns with a formula give that; the default looks at every message.
    fn bytes(&self) -> u128 {
        let of_rank = |rank| (0..self.sends(rank)).map(move |index| u128::from(self.message(rank, index).bytes));
        (0..self.ranks()).map(RankId).flat_map(of_rank).sum()
    }

    /// Bytes of a message on average, rounded down \[B\].
    fn mean_bytes(&self) -> u64 {
        u64::try_from(self.bytes() / u128::from(self.messages().max(1))).unwrap_or(u64::MAX)
    }
}
