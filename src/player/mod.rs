//! The player: runs a program's operations on a node model, over a simulated fabric or the model's own network.
//!
//! ```text
//!              Program (what ranks do)     NodeSpec (what it costs)
//!                        \                  /
//!                         Player --- messages ---> engine and transport   (on a fabric)
//!                           |   \--- messages ---> latency and gaps       (without one)
//!                       RankTimes: where each rank's time went
//! ```
//! [`Player`] plays every model whose costs follow from the length of a message ([`Costs`]): ideal, LogGP, LogGPS. It is a
//! [`Workload`](crate::workload::Workload) for the engine, and [`Player::run`] plays it without a fabric. [`loggopsim`] plays
//! LogGOPSim's model, which is a network of its own, and [`rules`] those of MPIETE.
//!
//! Calls of a *sequence* cost what the tables of LogGPS say: what a non-blocking call has started goes on in the background, at
//! no cost to the rank's computation, until a wait. Operations of a *graph* take the processor they are on, one after
//! the other in the order in which they become ready, and so do the overheads of messages: a long calculation holds up the
//! messages that arrive meanwhile. A chain of blocking operations takes the same time either way.

mod background;
#[cfg(test)]
mod background_tests;
mod drive;
mod graph;
pub mod loggopsim;
#[cfg(test)]
mod network_tests;
mod protocol;
mod rank;
#[cfg(test)]
mod reference_tests;
pub mod rules;
mod sharing;
mod state;
mod stuck;
#[cfg(test)]
mod tests;

use crate::ids::{MessageId, RankId};
use crate::node::Costs;
use crate::units::Time;
use crate::workload::Blocked;
use crate::workload::program::{Expand, Mark, Program};

pub use state::Player;

/// What a rank does for a while.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ActivityKind {
    /// It computes.
    Compute,
    /// It sends: the processor is busy.
    SendOverhead,
    /// It receives: the processor is busy.
    RecvOverhead,
    /// It waits for a receiver.
    SendWait,
    /// It waits for a message.
    RecvWait,
    /// It exchanges request and answer of a rendezvous.
    Sync,
}

impl ActivityKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Compute, Self::SendOverhead, Self::RecvOverhead, Self::SendWait, Self::RecvWait, Self::Sync];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::SendOverhead => "send overhead",
            Self::RecvOverhead => "receive overhead",
            Self::SendWait => "send wait",
            Self::RecvWait => "receive wait",
            Self::Sync => "synchronisation",
        }
    }
}

/// A span of a rank's time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Activity {
    /// Whose.
    pub rank: RankId,
    /// What it does.
    pub kind: ActivityKind,
    /// From when.
    pub begin: Time,
    /// Until when.
    pub end: Time,
    /// The operation: its position in the rank's program (that of the collective, inside one).
    pub op: u32,
    /// The message it is for, by number in order of sending; the same at both ends.
    pub message: Option<u32>,
    /// The other end of that message.
    pub peer: Option<RankId>,
}

/// Called with each activity when it has ended; those of one rank come in order of time.
pub type OnActivity<'a> = &'a mut dyn FnMut(&Activity);

/// The way of a message, from the call that sends it until it is received.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    /// Its number in order of sending, as in [`Activity::message`].
    pub message: u32,
    /// Who sends it.
    pub src: RankId,
    /// Who receives it.
    pub dst: RankId,
    /// Its length \[B\].
    pub bytes: u64,
    /// The operation that sends it; `None` inside a collective.
    pub op: Option<u32>,
    /// The operation that receives it; `None` inside a collective, and where the node model does not say it.
    pub received_by: Option<u32>,
    /// When its send is called.
    pub called: Time,
    /// When the sender's overhead for its bytes begins; later than `called` where the sender waits for the receiver.
    pub begin: Time,
    /// Whether `begin` waited for the receiver: a rendezvous.
    pub waited: bool,
    /// When it leaves the sender.
    pub leave: Time,
    /// When its last byte arrives.
    pub arrive: Time,
    /// When the receiver is done with it.
    pub end: Time,
}

/// Called with each border of a region when its rank comes to it; those of one rank, and its activities, come in their order in the
/// program.
pub type OnMark<'a> = &'a mut dyn FnMut(RankId, &Mark, Time);

/// Who looks on while a program is played.
#[derive(Default)]
pub struct Observers<'a> {
    /// Called with everything that ranks do.
    pub on_activity: Option<OnActivity<'a>>,
    /// Called with every message that is received.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Called with every border of a region.
    pub on_mark: Option<OnMark<'a>>,
}

/// Called with each message when it has been received.
pub type OnTransfer<'a> = &'a mut dyn FnMut(&Transfer);

/// Where a rank's time went.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RankTimes {
    /// When its last operation ended.
    pub end: Time,
    spent: [Time; 6],
}

impl RankTimes {
    /// The time spent on one kind of activity.
    pub fn of(&self, kind: ActivityKind) -> Time {
        self.spent[kind as usize]
    }

    #[inline]
    fn add(&mut self, kind: ActivityKind, time: Time) {
        self.spent[kind as usize] += time;
    }

    /// Time spent on something, one thing after the other: all of it ends so much later.
    pub fn spend(&mut self, kind: ActivityKind, time: Time) {
        self.add(kind, time);
        self.end += time;
    }
}

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
