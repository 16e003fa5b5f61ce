//! What the player keeps of a run: ranks, messages on their way, posted receives, and when what happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::background::Strand;
use super::graph::GraphRank;
use super::sharing::Shared;
use super::{Activity, ActivityKind, Observers, OnActivity, OnMark, OnTransfer, Play, RankTimes};
use crate::ids::{Id, IdVec, MessageId, RankId, WakeId};
use crate::node::{Costs, Phase};
use crate::units::Time;
use crate::workload::program::matching::Mailbox;
use crate::workload::program::{Envelope, Expand, Op, Program};

/// No message, no receive.
pub(super) const NIL: u32 = u32::MAX;

/// The bit that tells operations of an expanded collective from those of the program.
pub(super) const STEP: u32 = 1 << 31;

/// The bit that keeps messages of collectives apart from the program's own.
pub(super) const COLLECTIVE: u32 = 1 << 31;

/// Plays a program. See the [module](super).
pub struct Player<'a> {
    pub(super) program: &'a Program,
    pub(super) costs: Costs,
    pub(super) expand: Option<&'a dyn Expand>,
    /// Whether collectives go on in the background: then the messages of each have a tag of their own.
    pub(super) background: bool,
    pub(super) cpu_speed: f64,
    pub(super) on_fabric: bool,
    pub(super) now: Time,
    pub(super) timers: Timers,
    pub(super) ranks: IdVec<RankId, Rank>,
    pub(super) mailboxes: IdVec<RankId, Mailbox>,
    pub(super) messages: Slab<Message>,
    pub(super) receives: Slab<Receive>,
    /// Messages between two ranks that have been sent and whose envelopes have not arrived.
    pub(super) channels: FxHashMap<(RankId, RankId), Channel>,
    /// By receiving rank: the messages that flow to it, where they share its bandwidth.
    pub(super) shared: Vec<Shared>,
    /// By receiving rank: bytes of eager messages in its buffer, where that is limited.
    pub(super) buffered: Vec<u64>,
    /// What is to be handed to the engine.
    pub(super) outbox: Vec<crate::workload::Send>,
    /// What the engine's messages are.
    pub(super) carried: FxHashMap<MessageId, (u32, Cargo)>,
    /// By rank: messages handed to the engine so far.
    pub(super) handed: Vec<u32>,
    /// Wakes that the engine has been asked for, the earliest last.
    pub(super) asked: Vec<(Time, WakeId)>,
    /// Wakes asked for so far.
    pub(super) wakes: u32,
    pub(super) on_activity: Option<OnActivity<'a>>,
    pub(super) on_transfer: Option<OnTransfer<'a>>,
    pub(super) on_mark: Option<OnMark<'a>>,
    pub(super) delivered: u64,
    pub(super) bytes: u64,
    pub(super) events: u64,
    pub(super) sent: u32,
}

/// What happens at a known time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    /// A rank goes on.
    Resume(RankId),
    /// An operation of a graph has got its processor.
    Started(RankId, u32),
    /// An operation of a graph is done.
    Finish(RankId, u32),
    /// The sender is done with a message; it leaves.
    Leave(u32),
    /// Its bytes start to arrive.
    Flow(u32),
    /// Its bytes have arrived.
    Arrive(u32),
    /// The receiver is done with it.
    Received(u32),
    /// The sender is done with the request of a rendezvous.
    RequestLeaves(u32),
    /// The request has arrived.
    RequestArrives(u32),
    /// The receiver is done with the answer.
    AnswerLeaves(u32),
    /// The answer has arrived.
    AnswerArrives(u32),
    /// The sender has taken in the answer.
    Agreed(u32),
    /// A message that shares a receiver's bandwidth is through, if nothing has changed since.
    Through(RankId, u32),
    /// The collective operation that this operation has started goes on.
    Background(RankId, u32),
}

/// Events by (time, order of setting).
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
}

impl Timers {
    #[inline]
    pub fn set(&mut self, time: Time, event: Event) {
        self.order += 1;
        self.heap.push(Reverse((time, self.order, event)));
    }

    #[inline]
    pub fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time)
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        self.heap.pop().map(|Reverse((time, _, event))| (time, event))
    }
}

/// What the engine carries for a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cargo {
    Request,
    Answer,
    Data,
}

/// A message from the call that sends it to the end of the call that receives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// Its number, in order of sending.
    pub number: u32,
    pub src: RankId,
    pub dst: RankId,
    /// The operation that sends it.
    pub op: u32,
    /// What a receive sees of it.
    pub envelope: Envelope,
    pub bytes: u64,
    /// Its place among the messages from `src` to `dst`.
    pub order: u32,
    /// The next of these, where that has been sent.
    pub next: u32,
    /// The receive that has taken it.
    pub receive: u32,
    /// Boundaries of the sender's time, see [`Done`].
    pub marks: [Time; 3],
    /// When its send was called, when the sender's overhead began, when it left and when it arrived.
    pub times: [Time; 4],
    /// Whether the sender's overhead waited for the receiver.
    pub waited: bool,
    /// Whether it asks its receiver before its bytes are sent.
    pub rendezvous: bool,
    /// Whether that request has arrived.
    pub requested: bool,
    /// Whether its envelope is there: receives can take it.
    pub known: bool,
    /// The part of its way in which it shares its receiver's bandwidth, now or the last time.
    pub flowing: Phase,
    /// Whether its bytes have arrived.
    pub arrived: bool,
    /// Whether the sender has been told that it is done.
    pub sent: bool,
}

/// A receive from its call to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receive {
    pub rank: RankId,
    pub op: u32,
    /// Boundaries of the receiver's time, see [`Done`].
    pub marks: [Time; 3],
}

/// How the time of a call divides: of a send `[start, a)` and `[b, c)` are synchronisation, `[a, b)` is waiting; of a receive
/// `[start, a)` and `[b, c)` are waiting, `[a, b)` is synchronisation; `[c, end)` is overhead of either.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub marks: [Time; 3],
    pub end: Time,
    /// The message and its other end, where it is one.
    pub other: Option<(u32, RankId)>,
}

/// Something that a rank has started and that a wait asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub sends: bool,
    /// Least time of a wait for it.
    pub wait: Time,
    pub done: Option<Done>,
}

/// Messages under way between two ranks whose envelopes are not there yet, in the order in which they were sent.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// How many have been sent.
    pub sent: u32,
    /// The ends of the list of messages.
    pub first: u32,
    pub last: u32,
    /// All before this place have arrived, or one after them has.
    pub reached: u32,
}

impl Default for Channel {
    fn default() -> Self {
        Self { sent: 0, first: NIL, last: NIL, reached: 0 }
    }
}

/// A rank.
#[derive(Debug)]
pub(super) struct Rank {
    pub times: RankTimes,
    /// The next operation of a sequence.
    pub next: u32,
    /// The next border of a region.
    pub mark: u32,
    pub state: State,
    /// Since when it is in this state.
    pub since: Time,
    pub requests: FxHashMap<u32, Request>,
    /// The steps of the collective it is in.
    pub frame: Option<Box<Frame>>,
    /// Collectives that go on in the background.
    pub strands: Vec<Strand>,
    /// By communicator, how many collectives it has called; counted where some go on in the background.
    pub calls: FxHashMap<u32, u32>,
    /// No send starts before.
    pub next_send: Time,
    /// No receive takes its message before.
    pub next_recv: Time,
    pub graph: Option<Box<GraphRank>>,
}

/// The steps of a collective at one rank.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub steps: Vec<Op>,
    pub next: u32,
    /// The tag of its messages.
    pub tag: u32,
}

/// What a rank of a sequence is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum State {
    /// A timer will let it go on.
    Busy,
    /// It waits for this request, of its own blocking call.
    Blocked(u32),
    /// It waits for requests: the operation, how many of its list are done, and when the last of those was.
    Waiting { op: u32, done: u32, last: Time },
    /// It looks for a message.
    Probing(u32),
    /// It has come to its end.
    Ended,
}

/// Things by number; numbers are used again.
#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn add(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.items[at as usize] = item;
                at
            }
            None => {
                self.items.push(item);
                (self.items.len() - 1) as u32
            }
        }
    }

    pub fn remove(&mut self, at: u32) {
        self.free.push(at);
    }

    #[inline]
    pub fn get(&self, at: u32) -> &T {
        &self.items[at as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, at: u32) -> &mut T {
        &mut self.items[at as usize]
    }
}

impl<'a> Player<'a> {
    /// Ready to start.
    pub fn new(play: Play<'a>, observers: Observers<'a>) -> Self {
        let Observers { on_activity, on_transfer, on_mark } = observers;
        let Play { program, costs, expand, cpu_speed, on_fabric } = play;
        let costs = if on_fabric { costs.on_fabric() } else { costs };
        let ranks = program.ranks() as usize;
        let rank = |rank: RankId| Rank {
            times: RankTimes::default(),
            next: 0,
            mark: 0,
            state: State::Busy,
            since: Time::ZERO,
            requests: FxHashMap::default(),
            frame: None,
            strands: Vec::new(),
            calls: FxHashMap::default(),
            next_send: Time::ZERO,
            next_recv: Time::ZERO,
            graph: program.rank(rank).graph().map(|graph| Box::new(GraphRank::new(program.rank(rank), graph))),
        };
        Self {
            shared: if costs.receiver_sharing { vec![Shared::default(); ranks] } else { Vec::new() },
            buffered: if costs.eager_buffer.is_some() { vec![0; ranks] } else { Vec::new() },
            program,
            costs,
            expand,
            background: program.has_background_collectives(),
            cpu_speed,
            on_fabric,
            now: Time::ZERO,
            timers: Timers::default(),
            ranks: (0..ranks).map(RankId::from_index).map(rank).collect(),
            mailboxes: IdVec::filled(ranks, Mailbox::default()),
            messages: Slab::default(),
            receives: Slab::default(),
            channels: FxHashMap::default(),
            outbox: Vec::new(),
            carried: FxHashMap::default(),
            handed: if on_fabric { vec![0; ranks] } else { Vec::new() },
            asked: Vec::new(),
            wakes: 0,
            on_activity,
            on_transfer,
            on_mark,
            delivered: 0,
            bytes: 0,
            events: 0,
            sent: 0,
        }
    }

    /// A rank comes to the borders before its next operation.
    #[inline]
    pub(super) fn pass_marks(&mut self, rank: RankId) {
        let Some(on_mark) = &mut self.on_mark else { return };
        let state = &mut self.ranks[rank];
        for mark in &self.program.rank(rank).marks[state.mark as usize..] {
            if mark.at > state.next {
                break;
            }
            state.mark += 1;
            on_mark(rank, mark, self.now);
        }
    }

    /// A rank has spent its time on something.
    pub(super) fn spent(
        &mut self,
        rank: RankId,
        kind: ActivityKind,
        span: (Time, Time),
        op: u32,
        other: Option<(u32, RankId)>,
    ) {
        let (begin, end) = span;
        if end <= begin {
            return;
        }
        self.ranks[rank].times.add(kind, end - begin);
        if let Some(on_activity) = &mut self.on_activity {
            let op = if op & STEP == 0 { op } else { self.ranks[rank].next.saturating_sub(1) };
            let (message, peer) = other.unzip();
            on_activity(&Activity { rank, kind, begin, end, op, message, peer });
        }
    }
}
