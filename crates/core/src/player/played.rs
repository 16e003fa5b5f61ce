//! What to play, and what came out.

use super::activity::RankTimes;
use crate::ids::{MessageId, RankId};
use crate::node::Costs;
use crate::program::{Expand, Program};
use crate::units::Time;
use crate::workload::Blocked;

/// What to play, and how.
pub struct Play<'a> {
    /// What ranks do.
    pub program: &'a Program,
    /// What messages and calls cost.
    pub costs: Costs,
    /// Turns collectives into messages; a program with collectives needs one.
    pub expand: Option<&'a dyn Expand>,
    /// How fast processors are, relative to those on which the calculations were timed.
    pub cpu_speed: f64,
    /// Whether a fabric carries the messages.
    pub on_fabric: bool,
}

/// What came out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Played {
    /// By rank.
    pub ranks: Vec<RankTimes>,
    /// When the last thing happened.
    pub last: Time,
    /// Messages of the program that have been received or have arrived.
    pub messages: u64,
    /// Their bytes \[B\].
    pub bytes: u64,
    /// Things that happened: operations, and steps of messages.
    pub events: u64,
    /// Messages that arrived and that nobody asked for.
    pub unreceived: u64,
    /// Ranks that did not come to their end, in a run that was not stopped.
    pub stuck: Vec<Stuck>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
}

impl Played {
    /// When the last rank ended.
    pub fn makespan(&self) -> Time {
        self.ranks.iter().map(|rank| rank.end).max().unwrap_or_default()
    }
}

/// A rank that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// Which one.
    pub rank: RankId,
    /// The operation it is in: its position in the rank's program.
    pub op: u32,
    /// What it does, in words.
    pub what: String,
    /// Where that stands in the input.
    pub place: Option<String>,
    /// Whom it waits for, where that is one rank.
    pub on: Option<RankId>,
}

impl From<Stuck> for Blocked {
    fn from(stuck: Stuck) -> Self {
        let next = MessageId { src: stuck.rank, index: stuck.op };
        Self { rank: stuck.rank, next, waits_for: stuck.what, on: stuck.on }
    }
}
