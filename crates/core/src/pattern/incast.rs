//! Incast: all ranks send to one rank.

use super::options::{finish, once, rank_below, table};
use super::rule::{BuildContext, BuildResult, Rule};
use super::{After, Message, Needs, Pattern};
use crate::diagnostic::Located;
use crate::ids::RankId;
use crate::units::Bytes;

table! {
    /// `[workload.incast]`: all ranks send to one rank.
    pub struct IncastSpec {
        /// Rank that receives all messages (default rank 0).
        #[serde(default)]
        pub root: Located<u32>,
        /// Size of each message.
        pub size: Located<Bytes>,
        /// Number of messages of each rank (default 1).
        #[serde(default = "once")]
        pub messages: Located<u32>,
    }
}

impl Rule for IncastSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        let root = rank_below(&self.root, ranks, "root").map_err(|wrong| vec![wrong])?;
        finish(Incast { ranks, root, size: self.size.0, messages: *self.messages }, &self.size)
    }

    fn title(&self) -> String {
        let root = if *self.root == 0 { String::new() } else { format!(" to rank {}", *self.root) };
        let times = if *self.messages == 1 { String::new() } else { format!("{} x ", *self.messages) };
        format!("incast{root}, {times}{}", *self.size)
    }
}

/// Incast: every rank but the root sends its messages (index and step from 0) to the root.
///
/// Each message of a rank is a step; `(N - 1) * messages` messages of m bytes.
#[derive(Debug)]
struct Incast {
    ranks: u32,
    root: u32,
    size: u64,
    messages: u32,
}

impl Pattern for Incast {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId) -> u32 {
        if rank.0 == self.root { 0 } else { self.messages }
    }

    #[inline]
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn message(&self, _: RankId, index: u32) -> Message {
        Message::new(self.root, self.size, index, After::Nothing)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        if rank.0 == self.root && step < self.messages { self.ranks - 1 } else { 0 }
    }

    fn steps(&self) -> u32 {
        if self.ranks > 1 { self.messages } else { 0 }
    }

    fn most_to_one(&self) -> u32 {
        self.ranks - 1
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks - 1) * u64::from(self.messages)
    }
}
