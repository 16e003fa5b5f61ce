//! What ranks do: the engine asks a [`Workload`] which messages to send next.

pub mod caveats;
pub mod pattern;
pub mod program;
pub mod task_queue;
pub mod trace;

use crate::ids::{MessageId, RankId};
use crate::units::Time;

/// A message to send now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Send {
    /// Which one.
    pub id: MessageId,
    /// Who gets it.
    pub dst: RankId,
    /// How large it is \[B\].
    pub bytes: u64,
}

/// What a workload wants from the engine.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// Messages to send now.
    pub sends: Vec<Send>,
    /// Ranks to wake, and when.
    pub wakes: Vec<(Time, RankId)>,
}

/// A rank that cannot go on, and why: for the report of a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// Who waits.
    pub rank: RankId,
    /// The message it would send next.
    pub next: MessageId,
    /// What it waits for, in words (`message 3 of rank 7, which has not been sent`).
    pub waits_for: String,
    /// Whom it waits for, where that is one rank.
    pub on: Option<RankId>,
}

/// What ranks do, in reaction to what happens to them.
///
/// Calls come in simulated time order; those of one instant come in the order: deliveries (sorted by message id),
/// then wakes (sorted by rank).
pub trait Workload {
    /// Number of ranks.
    fn ranks(&self) -> u32;
    /// Number of messages that will be sent in all, for progress.
    fn messages(&self) -> u64;
    /// The start of the simulation.
    fn begin(&mut self, requests: &mut Requests);
    /// These messages have arrived at `now`.
    fn delivered(&mut self, now: Time, messages: &[Send], requests: &mut Requests);
    /// The last bytes of these messages have left their senders, before they arrive. Not every transport tells: what
    /// has not been heard of when a message arrives has left with its arrival.
    fn departed(&mut self, now: Time, messages: &[Send], requests: &mut Requests) {
        let _ = (now, messages, requests);
    }
    /// A wake that was asked for.
    fn woke(&mut self, now: Time, rank: RankId, requests: &mut Requests);
    /// Asked when nothing is under way any more: who is stuck (nobody: the program is done).
    fn blocked(&self) -> Vec<Blocked>;
}
