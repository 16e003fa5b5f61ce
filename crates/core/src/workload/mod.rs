//! What ranks do: the engine asks a [`Workload`] which messages to send next.

pub mod background;
pub mod joint;

use crate::ids::{MessageId, RankId, WakeId};
use crate::units::Time;

/// A message to send now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SendRequest {
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
    pub sends: Vec<SendRequest>,
    /// When to wake the workload, and by which number.
    pub wakes: Vec<(Time, WakeId)>,
}

/// What is known of a workload before it starts, for a transport to be built for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// No rank ever sends two messages at once.
    pub one_at_a_time: bool,
    /// It wants to know when messages have left their senders.
    pub departures: bool,
    /// How many messages may be on their way to one rank at once, where that is known to be many.
    pub most_to_one: u32,
    /// How many messages will share a link shows only while it runs.
    pub unforeseen: bool,
    /// Messages of some ranks weigh more than those of others ([`Workload::weight`]).
    pub weighted: bool,
    /// [`Workload::mean_bytes`], where the transport wants to know.
    pub mean_bytes: u64,
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
/// then wakes (sorted by number).
pub trait Workload {
    /// Number of ranks.
    fn ranks(&self) -> u32;
    /// Number of messages that will be sent in all, for progress.
    fn messages(&self) -> u64;
    /// What is known of it before it starts.
    fn load(&self) -> Load {
        Load::default()
    }
    /// Bytes of a message on average, where that is known before it starts; else 0. May take a look at all of them.
    fn mean_bytes(&self) -> u64 {
        0
    }
    /// What messages of a rank weigh where they share a link: rates on a full one are in proportion to it. Asked only
    /// where [`Load::weighted`].
    fn weight(&self, rank: RankId) -> f64 {
        let _ = rank;
        1.0
    }

    /// The start of the simulation.
    fn begin(&mut self, requests: &mut Requests);
    /// These messages have arrived at `now`.
    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests);
    /// The last bytes of these messages have left their senders, before they arrive. Not every transport tells: what
    /// has not been heard of when a message arrives has left with its arrival.
    fn departed(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        let _ = (now, messages, requests);
    }
    /// Where the sender of a message will send its next one, where that is known and quickly said: what it needs may be
    /// asked for before.
    fn destination_after(&self, message: MessageId) -> Option<RankId> {
        let _ = message;
        None
    }
    /// A wake that was asked for.
    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests);
    /// Asked when nothing is under way any more: who is stuck (nobody: the program is done).
    fn blocked(&self) -> Vec<Blocked>;
    /// When its last rank ended, where that is not when its last message arrived.
    fn ended(&self) -> Option<Time> {
        None
    }
}

/// Work in lockstep: in step s every rank sends just one message, its s-th, all messages of one size (or passed on),
/// after no delay and for nothing that must have arrived in the same step. The engine counts such steps instead of
/// playing them.
pub struct Lockstep<'a> {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of steps.
    pub steps: u32,
    /// Size of each message \[B\]; of the largest where they are [passed on](Lockstep::passed_on).
    pub bytes: u64,
    /// Steps in a row that go to the same destinations: steps s with the same s / `alike` do.
    pub alike: u32,
    /// Appends where the messages of a step go, by sender.
    pub destinations: Box<Destinations<'a>>,
    /// What ranks send, where messages are not all of one size: only where all steps are alike and each rank passes on
    /// what it got in the step before, so that what is large stays so on its way.
    pub passed_on: Option<Box<PassedOn<'a>>>,
}

/// By sender: bytes of all its messages \[B\].
pub type PassedOn<'a> = dyn Fn(RankId) -> u64 + Sync + 'a;

/// Of a step, from 0: appends where its messages go, by sender.
pub type Destinations<'a> = dyn Fn(u32, &mut Vec<RankId>) + Sync + 'a;
