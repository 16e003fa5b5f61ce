//! Plays a pattern: releases each rank's messages by the injection rule and by what they need to have received.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{After, Injection, Message, Needs, Pattern, start_offsets};
use crate::ids::{Id, IdVec, MessageId, RankId, WakeId};
use crate::noise::{Processors, Work};
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// A pattern being played.
///
/// Each rank sends its messages in order. Its next one goes when
///
/// 1. the rank has started (`message-jitter`) and fewer of its messages are under way than its window allows (1 for
///    `queue`, `sendrecv` and `barrier`, any number for `all`);
/// 2. the rule lets it: under `sendrecv` all messages to this rank of earlier steps have arrived, under `barrier` all
///    messages of all ranks of earlier steps have;
/// 3. what the message itself needs has arrived ([`After`]), and with some patterns the sender's own messages of
///    earlier steps have ([`Pattern::waits_for_sends`]);
/// 4. its own delay has passed since the first three held.
///
/// Memory: a few words for each rank, and what arrives out of order.
#[derive(Debug)]
pub struct PatternPlayer {
    pattern: Arc<dyn Pattern>,
    injection: Injection,
    /// How many messages of one rank may be under way.
    window: u32,
    /// Whether no message waits for anything but its window and its delay.
    is_free: bool,
    ranks: IdVec<RankId, RankProgress>,
    starts: IdVec<RankId, Time>,
    received: Received,
    arrivals: Arrivals,
    barrier: Barrier,
    /// Ranks that something has arrived for that they may have waited for, while that is found out.
    released: Vec<RankId>,
    total: u64,
    /// The processors of ranks, where some are slow.
    processors: Option<Box<Processors>>,
}

/// Where a rank is in its list of messages.
#[derive(Clone, Debug, Default)]
struct RankProgress {
    /// The next message.
    next: u32,
    /// How many there are.
    count: u32,
    /// How many are under way; under `left`, how many have not left the node.
    under_way: u32,
    /// Under `left`: how many have left the node and not arrived.
    departed: u32,
    wait: Wait,
}

impl RankProgress {
    /// A message of it has arrived.
    #[inline]
    fn arrived(&mut self) {
        if self.departed > 0 {
            self.departed -= 1;
        } else {
            self.under_way -= 1;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Wait {
    /// For its start.
    #[default]
    Start,
    /// For something that will release it.
    Release,
    /// For the delay of its next message to pass.
    Delay,
}

/// What each rank has received, step by step.
#[derive(Debug)]
struct Received {
    /// Whether anything depends on it.
    tracked: bool,
    /// How many steps there are.
    steps: u32,
    /// Nothing where it is not tracked.
    ranks: IdVec<RankId, StepsReceived>,
}

/// The steps whose messages to one rank have arrived.
#[derive(Clone, Debug, Default)]
struct StepsReceived {
    /// All steps before this one are complete.
    complete: u32,
    /// Messages of step `complete` that have arrived.
    here: u32,
    /// Messages of later steps that have arrived, by step.
    early: BTreeMap<u32, u32>,
}

/// Which messages have arrived.
#[derive(Debug)]
struct Arrivals {
    /// Whether anything depends on it.
    tracked: bool,
    /// By sender: all messages before this one have arrived.
    complete: IdVec<RankId, u32>,
    /// Those that have arrived beyond that.
    early: BTreeSet<MessageId>,
    /// Ranks that wait for a message.
    waiting: BTreeMap<MessageId, Vec<RankId>>,
}

/// The step that a barrier holds all ranks at.
#[derive(Debug, Default)]
struct Barrier {
    step: u32,
    /// Ranks that have no message of this step any more, neither to send nor under way.
    through: u32,
    is_through: Vec<bool>,
}

impl PatternPlayer {
    /// The pattern, ready to start; ranks start at a random time below `jitter`.
    pub fn new(pattern: Arc<dyn Pattern>, injection: Injection, jitter: Time, seed: u64) -> Self {
        let count = pattern.ranks() as usize;
        let ranks: IdVec<RankId, RankProgress> = (0..pattern.ranks())
            .map(|rank| RankProgress { count: pattern.sends(RankId(rank)), ..RankProgress::default() })
            .collect();
        let start = start_offsets(seed, jitter);
        let needs = pattern.needs();
        let waits = matches!(injection, Injection::SendRecv | Injection::Barrier) || pattern.waits_for_sends();
        Self {
            window: match injection {
                Injection::Queue | Injection::SendRecv | Injection::Barrier | Injection::Left => 1,
                Injection::All => u32::MAX,
                Injection::Window(window) => window,
            },
            is_free: needs == Needs::NOTHING && !waits,
            total: ranks.iter().map(|rank| u64::from(rank.count)).sum(),
            starts: (0..pattern.ranks()).map(|rank| start(RankId(rank))).collect(),
            received: Received::new(needs.steps || injection == Injection::SendRecv, pattern.steps(), count),
            arrivals: Arrivals {
                tracked: needs.messages,
                complete: IdVec::filled(count, 0),
                early: BTreeSet::new(),
                waiting: BTreeMap::new(),
            },
            released: Vec::new(),
            barrier: Barrier { is_through: vec![false; count], ..Barrier::default() },
            ranks,
            pattern,
            injection,
            processors: None,
        }
    }

    /// The same on processors of which some are slow, beginning at this time: delays and start offsets are what ranks
    /// compute.
    #[must_use]
    pub fn slowed(mut self, processors: Option<Processors>, begun: Time) -> Self {
        self.processors = processors.map(Box::new);
        if let Some(processors) = &mut self.processors {
            for (rank, start) in (0..).map(RankId).zip(self.starts.as_mut_slice()) {
                *start = processors.end(rank, begun, begun, *start, Work::Calculation) - begun;
            }
        }
        self
    }

    /// The most messages that any rank has sent so far.
    pub fn most_sent(&self) -> u32 {
        self.ranks.iter().map(|rank| rank.next).max().unwrap_or(0)
    }

    /// Ends the pattern early: ranks send no message from this one on. None of them may have.
    pub fn end_after(&mut self, messages: u32) {
        for rank in self.ranks.as_mut_slice() {
            rank.count = rank.count.min(messages);
        }
    }

    /// How many messages of one rank may be under way.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Sends what this rank may send now.
    #[inline]
    fn release(&mut self, now: Time, id: RankId, requests: &mut Requests) {
        let window = self.window;
        loop {
            let rank = &self.ranks[id];
            if rank.wait != Wait::Release || rank.under_way >= window || rank.next >= rank.count {
                return;
            }
            let message = self.pattern.message(id, rank.next);
            if !self.is_free
                && let Some(obstacle) = self.obstacle(id, &message)
            {
                if let Obstacle::Message(missing) = obstacle {
                    self.arrivals.wait(missing, id);
                }
                return;
            }
            if message.delay > Time::ZERO {
                self.ranks[id].wait = Wait::Delay;
                let sends = match &mut self.processors {
                    None => now + message.delay,
                    Some(processors) => processors.end(id, now, now, message.delay, Work::Calculation),
                };
                requests.wakes.push((sends, WakeId(id.0)));
                return;
            }
            self.send(id, &message, requests);
            if window == 1 {
                return;
            }
        }
    }

    #[inline]
    fn send(&mut self, id: RankId, message: &Message, requests: &mut Requests) {
        let rank = &mut self.ranks[id];
        let index = rank.next;
        rank.next += 1;
        rank.under_way += 1;
        requests.sends.push(SendRequest { id: MessageId { src: id, index }, dst: message.dst, bytes: message.bytes });
    }

    /// What keeps this rank from sending this message, its window and delay apart.
    fn obstacle(&self, id: RankId, message: &Message) -> Option<Obstacle> {
        if let After::Messages(needed) = &message.after
            && let Some(missing) = needed.iter().copied().find(|&needed| !self.arrivals.has(needed))
        {
            return Some(Obstacle::Message(missing));
        }
        let needs_steps = self.injection == Injection::SendRecv || message.after == After::EarlierSteps;
        let complete = self.received.complete(id);
        if needs_steps && complete < message.step {
            return Some(Obstacle::Step(complete));
        }
        if self.waits_for_sends(id, message.step) {
            return Some(Obstacle::Sends);
        }
        (self.injection == Injection::Barrier && message.step > self.barrier.step).then_some(Obstacle::Barrier)
    }

    /// Whether a rank waits for messages of its own before it sends one of this step.
    fn waits_for_sends(&self, id: RankId, step: u32) -> bool {
        let rank = &self.ranks[id];
        let last = rank.next.checked_sub(1).filter(|_| rank.under_way > 0 && self.pattern.waits_for_sends());
        last.is_some_and(|last| self.pattern.message(id, last).step < step)
    }

    /// Opens the next step as long as every rank is through with the present one.
    fn advance_barrier(&mut self, now: Time, requests: &mut Requests) {
        while self.injection == Injection::Barrier && self.barrier.through as usize == self.ranks.len() {
            let next_step = |(id, rank): (RankId, &RankProgress)| {
                (rank.next < rank.count).then(|| self.pattern.message(id, rank.next).step)
            };
            let Some(step) = self.ranks.iter_ids().filter_map(next_step).min() else { return };
            self.barrier.step = step;
            self.barrier.through = 0;
            self.barrier.is_through.fill(false);
            for id in self.ranks.ids() {
                self.release(now, id, requests);
                self.note_through(id);
            }
        }
    }

    /// Notes whether this rank is through with the step that the barrier holds.
    fn note_through(&mut self, id: RankId) {
        let rank = &self.ranks[id];
        let is_through = rank.wait != Wait::Start
            && rank.under_way == 0
            && (rank.next >= rank.count || self.pattern.message(id, rank.next).step > self.barrier.step);
        if is_through && !std::mem::replace(&mut self.barrier.is_through[id.index()], true) {
            self.barrier.through += 1;
        }
    }

    /// After something happened to this rank: sends what it may.
    fn go_on(&mut self, now: Time, id: RankId, requests: &mut Requests) {
        self.release(now, id, requests);
        if self.injection == Injection::Barrier {
            self.note_through(id);
        }
    }
}

/// What keeps a message from being sent.
enum Obstacle {
    /// Not all messages of this step have arrived.
    Step(u32),
    /// Messages of its own, of earlier steps, have not arrived.
    Sends,
    /// Other ranks are not through with the step.
    Barrier,
    /// This message has not arrived.
    Message(MessageId),
}

impl Received {
    /// Nothing yet, of so many steps by so many ranks.
    fn new(tracked: bool, steps: u32, ranks: usize) -> Self {
        Self { tracked, steps, ranks: IdVec::filled(if tracked { ranks } else { 0 }, StepsReceived::default()) }
    }

    /// The steps before which a rank has received everything; 0 where nothing depends on it.
    fn complete(&self, id: RankId) -> u32 {
        self.ranks.get(id).map_or(0, |rank| rank.complete)
    }

    /// A message of `step` has arrived; returns whether a step is complete now.
    fn note(&mut self, pattern: &dyn Pattern, id: RankId, step: u32) -> bool {
        let rank = &mut self.ranks[id];
        if step == rank.complete {
            rank.here += 1;
        } else {
            *rank.early.entry(step).or_default() += 1;
        }
        self.advance(pattern, id)
    }

    /// Counts complete steps (those in which nothing is received are complete at once).
    fn advance(&mut self, pattern: &dyn Pattern, id: RankId) -> bool {
        let rank = &mut self.ranks[id];
        let before = rank.complete;
        while rank.complete < self.steps && rank.here >= pattern.receives(id, rank.complete) {
            rank.complete += 1;
            rank.here = rank.early.remove(&rank.complete).unwrap_or(0);
        }
        rank.complete > before
    }
}

impl Arrivals {
    fn has(&self, message: MessageId) -> bool {
        message.index < self.complete[message.src] || self.early.contains(&message)
    }

    /// Notes that a rank waits for a message.
    fn wait(&mut self, message: MessageId, rank: RankId) {
        let waiting = self.waiting.entry(message).or_default();
        if !waiting.contains(&rank) {
            waiting.push(rank);
        }
    }

    /// A message has arrived; returns the ranks that waited for it.
    fn note(&mut self, message: MessageId) -> Vec<RankId> {
        let complete = &mut self.complete[message.src];
        if message.index == *complete {
            *complete += 1;
            while self.early.remove(&MessageId { src: message.src, index: *complete }) {
                *complete += 1;
            }
        } else {
            self.early.insert(message);
        }
        self.waiting.remove(&message).unwrap_or_default()
    }
}

impl Workload for PatternPlayer {
    fn ranks(&self) -> u32 {
        self.pattern.ranks()
    }

    fn messages(&self) -> u64 {
        self.total
    }

    fn load(&self) -> Load {
        Load {
            one_at_a_time: self.window() == 1,
            departures: self.injection == Injection::Left,
            most_to_one: self.pattern.most_to_one(),
            ..Load::default()
        }
    }

    fn mean_bytes(&self) -> u64 {
        self.pattern.mean_bytes()
    }

    fn begin(&mut self, requests: &mut Requests) {
        if self.received.tracked {
            for id in self.ranks.ids() {
                self.received.advance(&*self.pattern, id);
            }
        }
        for id in self.ranks.ids() {
            if self.starts[id] > Time::ZERO {
                requests.wakes.push((self.starts[id], WakeId(id.0)));
            } else {
                self.ranks[id].wait = Wait::Release;
                self.go_on(Time::ZERO, id, requests);
            }
        }
        self.advance_barrier(Time::ZERO, requests);
    }

    #[inline]
    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        if self.is_free {
            // Nothing waits for what has arrived but its sender. (Mostly one message arrives at a time.)
            if let [message] = messages {
                self.ranks[message.id.src].arrived();
                return self.release(now, message.id.src, requests);
            }
            for message in messages {
                self.ranks[message.id.src].arrived();
            }
            for message in messages {
                self.release(now, message.id.src, requests);
            }
            return;
        }
        let mut released = std::mem::take(&mut self.released);
        for message in messages {
            self.ranks[message.id.src].arrived();
            if self.received.tracked {
                let step = self.pattern.message(message.id.src, message.id.index).step;
                if self.received.note(&*self.pattern, message.dst, step) {
                    released.push(message.dst);
                }
            }
            if self.arrivals.tracked {
                released.append(&mut self.arrivals.note(message.id));
            }
        }
        // Senders first, by message; then those that waited for what has arrived. A rank that is in both does
        // nothing the second time.
        for message in messages {
            self.go_on(now, message.id.src, requests);
        }
        for rank in released.drain(..) {
            self.go_on(now, rank, requests);
        }
        self.released = released;
        self.advance_barrier(now, requests);
    }

    fn departed(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        if self.injection != Injection::Left {
            return;
        }
        for message in messages {
            let sender = &mut self.ranks[message.id.src];
            sender.under_way -= 1;
            sender.departed += 1;
        }
        for message in messages {
            self.go_on(now, message.id.src, requests);
        }
    }

    fn destination_after(&self, message: MessageId) -> Option<RankId> {
        let RankProgress { next, count, .. } = self.ranks[message.src];
        (next < count).then(|| self.pattern.message(message.src, next).dst)
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        let id = RankId(wake.0);
        let was = std::mem::replace(&mut self.ranks[id].wait, Wait::Release);
        if was == Wait::Delay {
            let message = self.pattern.message(id, self.ranks[id].next);
            self.send(id, &message, requests);
        }
        self.go_on(now, id, requests);
        self.advance_barrier(now, requests);
    }

    fn blocked(&self) -> Vec<Blocked> {
        let blocked = |(id, rank): (RankId, &RankProgress)| {
            if rank.next >= rank.count {
                return None;
            }
            let next = MessageId { src: id, index: rank.next };
            let message = self.pattern.message(id, rank.next);
            let (waits_for, on) = match self.obstacle(id, &message) {
                Some(Obstacle::Step(step)) => (format!("the rest of what it receives in step {step}"), None),
                Some(Obstacle::Message(missing)) => (missing.to_string(), Some(missing.src)),
                Some(Obstacle::Sends) => ("its own messages of earlier steps".to_owned(), None),
                Some(Obstacle::Barrier) | None => ("the other ranks to reach its step".to_owned(), None),
            };
            Some(Blocked { rank: id, next, waits_for, on })
        };
        self.ranks.iter_ids().filter_map(blocked).collect()
    }
}
