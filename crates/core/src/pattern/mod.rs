//! Patterns: the messages of each rank, with size, destination and order, as a rule that is evaluated on
//! demand.
//!
//! A [`Pattern`] is a pure function of rank and message index, so its memory does not grow with the number of
//! messages. The injection rule and the messages that a message depends on ([`After`]) decide *when* it is
//! sent.

mod adv;
mod all_to_all;
mod allgather;
mod allreduce;
mod arith;
mod broadcast;
mod collective;
mod drawn;
mod driver;
mod fabric_info;
mod file;
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

use std::sync::Arc;

use crate::collective::{Call, Plan};
use crate::fabric::MessagePlan;
use crate::ids::{MessageId, RankId};
use crate::units::Time;
use crate::workload::Lockstep;

pub use adv::AdvSpec;
pub use all_to_all::{AllToAll, AllToAllSpec, MessageOrder, Order, numbering};
pub use allgather::{Allgather, AllgatherSpec};
pub use allreduce::{Allreduce, AllreduceSpec};
pub use broadcast::{Broadcast, BroadcastSpec};
pub use collective::CollectiveSpec;
pub use driver::PatternPlayer;
pub use fabric_info::FabricInfo;
pub use file::FileSpec;
#[cfg(feature = "simulator")]
pub(crate) use file::read::COLUMNS as MESSAGE_COLUMNS;
pub use group_permutation::{GroupPermutationSpec, WorstCaseSpec};
pub use halo::{HaloSpec, Sizes};
pub use hot_group::HotGroupSpec;
pub use incast::IncastSpec;
pub use options::SizeOf;
pub use permutation::{PermutationKind, PermutationSpec};
pub use ring::RingSpec;
pub use spec::PatternSpec;
pub use traffic::{Injection, Traffic, start_offsets};
pub use uniform_random::UniformRandomSpec;

/// One message of a pattern.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Receiver of the message.
    pub dst: RankId,
    /// Size of the message \[B\].
    pub bytes: u64,
    /// Round of the algorithm, from 0; it never decreases along a rank's messages.
    pub step: u32,
    /// Time between the moment the message may be sent and its sending \[ps\].
    pub delay: Time,
    /// Messages that its sender must have received first.
    pub after: After,
}

impl Message {
    /// Creates a message without a delay.
    #[inline]
    fn new(dst: u32, bytes: u64, step: u32, after: After) -> Self {
        Self { dst: RankId(dst), bytes, step, delay: Time::ZERO, after }
    }
}

/// Messages that a sender must have received before it may send a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum After {
    /// None.
    Nothing,
    /// All messages to the sender of steps earlier than this message's.
    EarlierSteps,
    /// These messages.
    Messages(Vec<MessageId>),
}

/// Kinds of [`After`] that the messages of a pattern have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// True if any message has [`After::EarlierSteps`].
    pub steps: bool,
    /// True if any message has [`After::Messages`].
    pub messages: bool,
}

impl Needs {
    /// Needs of a pattern whose messages all have [`After::Nothing`].
    pub const NOTHING: Self = Self { steps: false, messages: false };
}

/// A piece of data that a message carries, used to show and check the result of a pattern.
///
/// A block is named by its origin and by its place in the collective's result. In an all-to-all, block (s, d)
/// is the data of rank s for rank d. In a broadcast or allgather, block (r, k) is the k-th segment of rank
/// r's data. In a reduction, block (r, k) is rank r's contribution to segment k.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Block {
    /// Rank whose data the block is.
    pub origin: RankId,
    /// Number of the part of these data.
    pub part: u32,
}

/// Order in which an all-to-all visits the ranks, and the orders that it was chosen from.
#[derive(Clone, PartialEq, Debug)]
pub struct OrderChoice {
    /// Name of the order: `node`.
    pub name: &'static str,
    /// Time of each order that was tried, with a barrier after each round and without other costs \[s\].
    pub tried: Vec<(&'static str, f64)>,
}

/// The messages of all ranks, with destination, size and order.
pub trait Pattern: std::marker::Send + Sync + std::fmt::Debug {
    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Number of messages that `rank` sends.
    fn sends(&self, rank: RankId) -> u32;

    /// Returns the `index`-th message of `rank`, `index < sends(rank)`.
    fn message(&self, rank: RankId, index: u32) -> Message;

    /// Number of messages addressed to `rank` in this step.
    fn receives(&self, rank: RankId, step: u32) -> u32;

    /// Number of steps: one more than the largest step of any message.
    fn steps(&self) -> u32;

    /// Returns the kinds of [`After`] its messages have; other kinds are not tracked.
    fn needs(&self) -> Needs {
        Needs { steps: true, messages: false }
    }

    /// Returns the call of a collective, with its plan, if the pattern is one.
    fn call(&self) -> Option<(&Call, Plan)> {
        None
    }

    /// Returns true if a rank sends no message of a later step before its messages of earlier steps have been
    /// delivered, even if the injection rule allows more messages in flight.
    fn waits_for_sends(&self) -> bool {
        false
    }

    /// Largest number of messages in flight to one rank at once, if the pattern makes it large by design;
    /// else 0.
    fn most_to_one(&self) -> u32 {
        0
    }

    /// Returns the pattern in lockstep form, if it has one.
    fn lockstep(&self) -> Option<Lockstep<'_>> {
        None
    }

    /// Returns true if every rank sends the same number of messages of one size, and none waits for another
    /// rank's. Then their times settle, and a part of them is representative of the rest.
    fn is_steady(&self) -> bool {
        self.lockstep().is_some()
    }

    /// Returns the order of an all-to-all that follows the nodes of the ranks.
    fn order(&self) -> Option<&OrderChoice> {
        None
    }

    /// Returns true if any of its messages has a delay.
    fn delays(&self) -> bool {
        false
    }

    /// Returns the paths and weights that are given for single messages, if there are any.
    fn plan(&self) -> Option<&Arc<MessagePlan>> {
        None
    }

    /// Returns the blocks that the message carries; empty if the pattern moves data without meaning
    /// (permutations, random traffic).
    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let _ = (rank, index);
        Vec::new()
    }

    /// Total number of messages.
    fn messages(&self) -> u64 {
        (0..self.ranks()).map(|rank| u64::from(self.sends(RankId(rank)))).sum()
    }

    /// Total size of all messages \[B\]: the volume of the pattern.
    ///
    /// Patterns with a formula override this; the default evaluates every message.
    fn bytes(&self) -> u128 {
        let of_rank = |rank| (0..self.sends(rank)).map(move |index| u128::from(self.message(rank, index).bytes));
        (0..self.ranks()).map(RankId).flat_map(of_rank).sum()
    }

    /// Mean size of a message, rounded down \[B\].
    fn mean_bytes(&self) -> u64 {
        u64::try_from(self.bytes() / u128::from(self.messages().max(1))).unwrap_or(u64::MAX)
    }
}
