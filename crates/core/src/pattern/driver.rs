//! Player of a pattern: releases each rank's messages by the injection rule and by the messages they depend
//! on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{After, Injection, Message, Needs, Pattern, start_offsets};
use crate::base::prefetch::fetch;
use crate::ids::{Id, IdVec, MessageId, RankId, WakeId};
use crate::noise::{Processors, Work};
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// A running pattern.
///
/// Each rank sends its messages in order. Its next message goes when
///
/// 1. the rank has started (`message-jitter`) and fewer of its messages are in flight than its window allows (1 for
///    `queue`, `sendrecv` and `barrier`, any number for `all`);
/// 2. the injection rule permits it: under `sendrecv` all messages to this rank of earlier steps have arrived, under
///    `barrier` all messages of all ranks of earlier steps have arrived;
/// 3. the messages it depends on have arrived ([`After`]), and with some patterns the sender's own messages of earlier
///    steps have arrived ([`Pattern::waits_for_sends`]);
/// 4. its own delay has passed since the first three held.
///
/// Memory: a few words for each rank, and the messages that arrive out of order.
#[derive(Debug)]
pub struct PatternPlayer {
    pattern: Arc<dyn Pattern>,
    injection: Injection,
    /// Largest number of messages of one rank in flight.
    window: u32,
    /// Time that a barrier takes once all ranks are through.
    barrier_cost: Time,
    /// True if no message waits for anything but its window and its delay.
    is_free: bool,
    ranks: IdVec<RankId, RankProgress>,
    start_times: IdVec<RankId, Time>,
    received: Received,
    arrivals: Arrivals,
    barrier: Barrier,
    /// Buffer of `delivered`: ranks that an arrival may have released.
    released: Vec<RankId>,
    total: u64,
    /// Processors of the ranks, if some are slow.
    processors: Option<Box<Processors>>,
}

/// Position of a rank in its list of messages.
#[derive(Clone, Debug, Default)]
struct RankProgress {
    /// Index of the next message.
    next: u32,
    /// Number of messages of the rank.
    count: u32,
    /// Number of messages in flight; under `left`, those that have not left the node.
    under_way: u32,
    /// Under `left`: number of messages that have left the node and not arrived.
    departed: u32,
    wait: Wait,
}

impl RankProgress {
    /// Notes that one of its messages has arrived.
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
    /// Waits for its start.
    #[default]
    Start,
    /// Waits for an event that releases its next message.
    Release,
    /// Waits for the delay of its next message to pass.
    Delay,
}

/// Messages that each rank has received, step by step.
#[derive(Debug)]
struct Received {
    /// True if any message depends on it; otherwise nothing is recorded.
    tracked: bool,
    /// Number of steps.
    steps: u32,
    /// Progress of each rank; empty if not tracked.
    ranks: IdVec<RankId, StepsReceived>,
}

/// Steps whose messages to one rank have arrived.
#[derive(Clone, Debug, Default)]
struct StepsReceived {
    /// First step that is not complete.
    complete: u32,
    /// Number of messages of step `complete` that have arrived.
    arrived: u32,
    /// Number of messages of later steps that have arrived, by step.
    early: BTreeMap<u32, u32>,
}

/// Messages that have arrived.
#[derive(Debug)]
struct Arrivals {
    /// True if any message depends on it; otherwise nothing is recorded.
    tracked: bool,
    /// First message of each sender that has not arrived.
    complete: IdVec<RankId, u32>,
    /// Messages that have arrived before an earlier one of their sender.
    early: BTreeSet<MessageId>,
    /// Ranks that wait for a message, by message.
    waiting: BTreeMap<MessageId, Vec<RankId>>,
}

/// Step at which a barrier holds all ranks.
#[derive(Debug, Default)]
struct Barrier {
    step: u32,
    /// Number of ranks that have no message of this step left, neither to send nor in flight.
    through: u32,
    is_through: Vec<bool>,
    /// True while the barrier itself takes time, after all ranks are through.
    opens: bool,
}

impl PatternPlayer {
    /// Creates a player ready to start; ranks start at a random time below `jitter`.
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
            barrier_cost: Time::ZERO,
            is_free: needs == Needs::NOTHING && !waits,
            total: ranks.iter().map(|rank| u64::from(rank.count)).sum(),
            start_times: (0..pattern.ranks()).map(|rank| start(RankId(rank))).collect(),
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

    /// Makes each barrier take this time.
    #[must_use]
    pub fn with_barrier_cost(self, barrier_cost: Time) -> Self {
        Self { barrier_cost, ..self }
    }

    /// Makes some processors slow, from time `begun` on: delays and start offsets count as computation.
    #[must_use]
    pub fn slowed(mut self, processors: Option<Processors>, begun: Time) -> Self {
        self.processors = processors.map(Box::new);
        if let Some(processors) = &mut self.processors {
            for (rank, start) in (0..).map(RankId).zip(self.start_times.as_mut_slice()) {
                *start = processors.end(rank, begun, begun, *start, Work::Calculation) - begun;
            }
        }
        self
    }

    /// Largest number of messages that any rank has sent so far.
    pub fn most_sent(&self) -> u32 {
        self.ranks.iter().map(|rank| rank.next).max().unwrap_or(0)
    }

    /// Ends the pattern early: ranks send only their first `messages` messages. None may have sent more yet.
    pub fn end_after(&mut self, messages: u32) {
        for rank in self.ranks.as_mut_slice() {
            rank.count = rank.count.min(messages);
        }
    }

    /// Returns true while a barrier takes time: the next wake is its end.
    pub fn opens_barrier(&self) -> bool {
        self.barrier.opens
    }

    /// Largest number of messages of one rank in flight.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Sends the messages that this rank may send now.
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

    /// Returns the reason why this rank cannot send this message, apart from its window and delay.
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

    /// Returns true if a rank has to wait for its own messages before it sends one of this step.
    fn waits_for_sends(&self, id: RankId, step: u32) -> bool {
        let rank = &self.ranks[id];
        let last = rank.next.checked_sub(1).filter(|_| rank.under_way > 0 && self.pattern.waits_for_sends());
        last.is_some_and(|last| self.pattern.message(id, last).step < step)
    }

    /// Opens the next step as long as every rank is through with the current one.
    fn advance_barrier(&mut self, now: Time, requests: &mut Requests) {
        while self.injection == Injection::Barrier && self.barrier.through as usize == self.ranks.len() {
            let next_step = |(id, rank): (RankId, &RankProgress)| {
                (rank.next < rank.count).then(|| self.pattern.message(id, rank.next).step)
            };
            let Some(step) = self.ranks.iter_ids().filter_map(next_step).min() else { return };
            // Nothing was sent before a first step without messages, so no barrier ends it.
            let has_begun = self.ranks.iter().any(|rank| rank.next > 0);
            if self.barrier_cost > Time::ZERO && has_begun && !std::mem::replace(&mut self.barrier.opens, true) {
                requests.wakes.push((now + self.barrier_cost, WakeId(0)));
                return;
            }
            self.barrier =
                Barrier { step, through: 0, opens: false, is_through: std::mem::take(&mut self.barrier.is_through) };
            self.barrier.is_through.fill(false);
            for id in self.ranks.ids() {
                self.release(now, id, requests);
                self.note_through(id);
            }
        }
    }

    /// Notes if this rank is through with the step that the barrier holds.
    fn note_through(&mut self, id: RankId) {
        let rank = &self.ranks[id];
        let is_through = rank.wait != Wait::Start
            && rank.under_way == 0
            && (rank.next >= rank.count || self.pattern.message(id, rank.next).step > self.barrier.step);
        if is_through && !std::mem::replace(&mut self.barrier.is_through[id.index()], true) {
            self.barrier.through += 1;
        }
    }

    /// Lets a rank continue after an event: sends the messages that it may send now.
    fn continue_rank(&mut self, now: Time, id: RankId, requests: &mut Requests) {
        self.release(now, id, requests);
        if self.injection == Injection::Barrier {
            self.note_through(id);
        }
    }
}

/// Reason why a message cannot be sent.
enum Obstacle {
    /// Not all messages of this step have arrived.
    Step(u32),
    /// Messages of the rank's own earlier steps have not arrived.
    Sends,
    /// Some ranks are not through with the step.
    Barrier,
    /// This message has not arrived.
    Message(MessageId),
}

impl Received {
    /// Creates the state before any arrival.
    fn new(tracked: bool, steps: u32, ranks: usize) -> Self {
        Self { tracked, steps, ranks: IdVec::filled(if tracked { ranks } else { 0 }, StepsReceived::default()) }
    }

    /// Returns the first step whose messages to a rank have not all arrived; 0 if not tracked.
    fn complete(&self, id: RankId) -> u32 {
        self.ranks.get(id).map_or(0, |rank| rank.complete)
    }

    /// Notes the arrival of a message of `step`. Returns true if that completes a step.
    fn note(&mut self, pattern: &dyn Pattern, id: RankId, step: u32) -> bool {
        let rank = &mut self.ranks[id];
        if step == rank.complete {
            rank.arrived += 1;
        } else {
            *rank.early.entry(step).or_default() += 1;
        }
        self.advance(pattern, id)
    }

    /// Counts complete steps (steps in which nothing is received are complete at once).
    fn advance(&mut self, pattern: &dyn Pattern, id: RankId) -> bool {
        let rank = &mut self.ranks[id];
        let before = rank.complete;
        while rank.complete < self.steps && rank.arrived >= pattern.receives(id, rank.complete) {
            rank.complete += 1;
            rank.arrived = rank.early.remove(&rank.complete).unwrap_or(0);
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

    /// Notes the arrival of a message. Returns the ranks that waited for it.
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
            weighted: self.pattern.plan().is_some_and(|plan| plan.is_weighted()),
            ..Load::default()
        }
    }

    fn weight(&self, message: MessageId) -> f64 {
        self.pattern.plan().map_or(1.0, |plan| plan.weight(message))
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
            if self.start_times[id] > Time::ZERO {
                requests.wakes.push((self.start_times[id], WakeId(id.0)));
            } else {
                self.ranks[id].wait = Wait::Release;
                self.continue_rank(Time::ZERO, id, requests);
            }
        }
        self.advance_barrier(Time::ZERO, requests);
    }

    #[inline]
    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        if self.is_free {
            // Only its sender waits for a message. (Mostly one message arrives at a time.)
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
        // Senders first, by message; then the ranks that waited for an arrival. A rank in both groups does
        // nothing the second time.
        for message in messages {
            self.continue_rank(now, message.id.src, requests);
        }
        for rank in released.drain(..) {
            self.continue_rank(now, rank, requests);
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
            self.continue_rank(now, message.id.src, requests);
        }
    }

    fn destination_after(&self, message: MessageId) -> Option<RankId> {
        let RankProgress { next, count, .. } = self.ranks[message.src];
        (next < count).then(|| self.pattern.message(message.src, next).dst)
    }

    fn expect(&self, sender: RankId) {
        fetch(&self.ranks[sender]);
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        let id = RankId(wake.0);
        let was = std::mem::replace(&mut self.ranks[id].wait, Wait::Release);
        if was == Wait::Delay {
            let message = self.pattern.message(id, self.ranks[id].next);
            self.send(id, &message, requests);
        }
        self.continue_rank(now, id, requests);
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
