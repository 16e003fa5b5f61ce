//! Workloads: the engine asks a [`Workload`] for the messages to send next.

pub mod background;
pub mod joint;

use crate::ids::{MessageId, RankId, WakeId};
use crate::units::Time;

/// A message to send now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SendRequest {
    /// Identity of the message.
    pub id: MessageId,
    /// Receiver.
    pub dst: RankId,
    /// Size of the message \[B\].
    pub bytes: u64,
}

/// Requests of a workload to the engine.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// Messages to send now.
    pub sends: Vec<SendRequest>,
    /// Times at which to wake the workload, each with a number.
    pub wakes: Vec<(Time, WakeId)>,
}

/// Properties of a workload that are known before it starts; a transport is built for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// True if no rank ever sends two messages at once.
    pub one_at_a_time: bool,
    /// True if it needs to know when messages have left their senders.
    pub departures: bool,
    /// Largest number of messages in flight to one rank at once, if it is known to be large; else 0.
    pub most_to_one: u32,
    /// True if the number of messages that share a link is known only during the run.
    pub unforeseen: bool,
    /// True if messages have different weights ([`Workload::weight`]).
    pub weighted: bool,
    /// Value of [`Workload::mean_bytes`], if the transport asks for it.
    pub mean_bytes: u64,
}

/// A rank that cannot continue, and the reason: for the report of a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// Rank that waits.
    pub rank: RankId,
    /// Message that it would send next.
    pub next: MessageId,
    /// Description of what it waits for (`message 3 of rank 7, which has not been sent`).
    pub waits_for: String,
    /// Rank that it waits for, if it is a single one.
    pub on: Option<RankId>,
}

/// Work of ranks, which reacts to the events that the engine reports.
///
/// Calls come in the order of simulated time. Calls of one instant come in the order: deliveries (sorted by
/// message id), then wakes (sorted by number).
pub trait Workload {
    /// Number of ranks.
    fn ranks(&self) -> u32;
    /// Total number of messages that will be sent, for the progress display.
    fn messages(&self) -> u64;
    /// Returns the properties that are known before the start.
    fn load(&self) -> Load {
        Load::default()
    }
    /// Mean size of a message \[B\], if it is known before the start; else 0. May evaluate all messages.
    fn mean_bytes(&self) -> u64 {
        0
    }
    /// Weight of a message on shared links: rates on a saturated link are proportional to the weights. Called
    /// only if [`Load::weighted`] is set.
    fn weight(&self, message: MessageId) -> f64 {
        let _ = message;
        1.0
    }

    /// Starts the workload at the start of the simulation.
    fn begin(&mut self, requests: &mut Requests);
    /// Reports that these messages have arrived at `now`.
    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests);
    /// Reports that the last bytes of these messages have left their senders, before they arrive. Not every
    /// transport reports this; a message that arrives without a report has left at its arrival.
    fn departed(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        let _ = (now, messages, requests);
    }
    /// Returns the destination of the sender's next message, if it is known and cheap to find: a hint for
    /// prefetching.
    fn destination_after(&self, message: MessageId) -> Option<RankId> {
        let _ = message;
        None
    }
    /// Prefetches data of a rank whose message will probably arrive soon.
    fn expect(&self, sender: RankId) {
        let _ = sender;
    }
    /// Reports a requested wake.
    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests);
    /// Returns the ranks that are stuck when nothing is in flight any more; empty if the workload is done.
    fn blocked(&self) -> Vec<Blocked>;
    /// Time at which its last rank ended, if that is not the arrival of its last message.
    fn ended(&self) -> Option<Time> {
        None
    }
}

/// Work in lockstep: in step s every rank sends exactly one message, its s-th. All messages have one size (or
/// are passed on), have no delay, and depend on no message of the same step. The engine counts such steps
/// instead of playing them.
pub struct Lockstep<'a> {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of steps.
    pub steps: u32,
    /// Size of each message \[B\]; of the largest if they are [passed on](Lockstep::passed_on).
    pub bytes: u64,
    /// Number of consecutive steps with the same destinations: steps s with equal s / `alike` have the same.
    pub alike: u32,
    /// Function that appends the destinations of a step, by sender.
    pub destinations: Box<Destinations<'a>>,
    /// Bytes that each rank sends, if messages differ in size. Then all steps have the same destinations and
    /// each rank passes on the message that it received in the step before, so that a message keeps its size
    /// on its way.
    pub passed_on: Option<Box<PassedOn<'a>>>,
}

/// Function from a sender to the total size of its messages \[B\].
pub type PassedOn<'a> = dyn Fn(RankId) -> u64 + Sync + 'a;

/// Function that appends the destinations of a step, from 0, by sender.
pub type Destinations<'a> = dyn Fn(u32, &mut Vec<RankId>) + Sync + 'a;
