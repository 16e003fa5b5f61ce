//! Input and result of a run.

use super::activity::RankTimes;
use crate::ids::{MessageId, RankId};
use crate::node::Costs;
use crate::program::{Expand, Program};
use crate::units::Time;
use crate::workload::Blocked;

/// Input of a run.
pub struct Play<'a> {
    /// Operations of the ranks.
    pub program: &'a Program,
    /// Costs of messages and calls.
    pub costs: Costs,
    /// Expander that turns collectives into messages; a program with collectives needs one.
    pub expand: Option<&'a dyn Expand>,
    /// Speed of the processors, relative to those on which the calculations were timed.
    pub cpu_speed: f64,
    /// True if a fabric carries the messages.
    pub on_fabric: bool,
}

/// Result of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Played {
    /// Times of each rank.
    pub ranks: Vec<RankTimes>,
    /// Time of the last event.
    pub last: Time,
    /// Number of the program's messages that have been received or have arrived.
    pub messages: u64,
    /// Bytes of these messages \[B\].
    pub bytes: u64,
    /// Number of events: operations, and steps of messages.
    pub events: u64,
    /// Number of messages that arrived and that no receive took.
    pub unreceived: u64,
    /// Ranks that did not come to their end, in a run that was not interrupted.
    pub stuck: Vec<Stuck>,
    /// True if the run was stopped before its end.
    pub interrupted: bool,
}

impl Played {
    /// End of the last rank.
    pub fn makespan(&self) -> Time {
        self.ranks.iter().map(|rank| rank.end).max().unwrap_or_default()
    }
}

/// A rank that cannot continue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// Rank that is stuck.
    pub rank: RankId,
    /// Position in the rank's program of the operation that it is in.
    pub op: u32,
    /// Description of that operation.
    pub what: String,
    /// Place of that operation in the input.
    pub place: Option<String>,
    /// Rank that it waits for, if it is a single one.
    pub on: Option<RankId>,
}

impl From<Stuck> for Blocked {
    fn from(stuck: Stuck) -> Self {
        let next = MessageId { src: stuck.rank, index: stuck.op };
        Self { rank: stuck.rank, next, waits_for: stuck.what, on: stuck.on }
    }
}
