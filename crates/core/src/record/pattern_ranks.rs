//! Activities of the ranks of a pattern, derived from the events and requests of its player.
//!
//! ```text
//! before its start, and in the delay before a message    it computes
//! window full until one of its own messages arrives      it waits for its own message (send wait)
//! needed message not here, barrier closed                it waits for another rank (receive wait)
//! everything sent, messages for it still due             it waits for another rank (receive wait)
//! ```
//! A wait for other ranks is for the message that ends it; at a barrier it is for the last message before the
//! barrier opens. So the spans of a rank follow each other without a gap from 0 to its end, as those of a
//! program do.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ids::{IdVec, MessageId, RankId, WakeId};
use crate::pattern::{Injection, Pattern, PatternPlayer};
use crate::player::{Activity, ActivityKind, Observers, RankTimes, Transfer};
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// A pattern that is played while the activities of its ranks are reported.
///
/// Memory: some words for each rank and each message under way. Cost: a look-up for each message.
pub struct PatternRanks<'a> {
    player: PatternPlayer,
    pattern: Arc<dyn Pattern>,
    observers: Observers<'a>,
    window: u32,
    waits_for_sends: bool,
    /// Set if each rank starts at a time of its own.
    starts: bool,
    /// Step up to which the barrier is open, if there is a barrier.
    barrier: Option<u32>,
    openings: Vec<Time>,
    ranks: IdVec<RankId, Rank>,
    /// Number and time of sending of each message under way.
    under_way: FxHashMap<MessageId, (u32, Time)>,
    sent: u32,
    /// Number of calls of the workload so far.
    calls: u64,
    /// First message of this call, and its sender.
    first: Cause,
}

/// Message and rank that a wait is for.
type Cause = (Option<u32>, Option<RankId>);

/// State of a rank.
#[derive(Clone, Copy, Default)]
struct Rank {
    /// Time up to which its activities are known.
    since: Time,
    /// Set while it computes.
    busy: bool,
    next: u32,
    count: u32,
    under_way: u32,
    /// Number of messages that have left it and not arrived.
    departed: u32,
    /// Number of messages that it has yet to receive.
    due: u64,
    /// Number of the call in which it last received a message, with the first message of that call and its
    /// sender.
    last_received: (u64, u32, RankId),
    times: RankTimes,
}

impl<'a> PatternRanks<'a> {
    /// Creates the workload for this player of a pattern, its injection rule and its jitter. `observers` are
    /// told the activities and transfers.
    pub fn new(
        player: PatternPlayer,
        pattern: Arc<dyn Pattern>,
        injection: Injection,
        jitter: Time,
        observers: Observers<'a>,
    ) -> Self {
        let mut ranks: IdVec<RankId, Rank> =
            (0..pattern.ranks()).map(|rank| Rank { count: pattern.sends(RankId(rank)), ..Rank::default() }).collect();
        for src in (0..pattern.ranks()).map(RankId) {
            for index in 0..pattern.sends(src) {
                ranks[pattern.message(src, index).dst].due += 1;
            }
        }
        Self {
            window: player.window(),
            player,
            waits_for_sends: pattern.waits_for_sends(),
            starts: jitter > Time::ZERO,
            barrier: (injection == Injection::Barrier).then_some(0),
            openings: Vec::new(),
            pattern,
            observers,
            ranks,
            under_way: FxHashMap::default(),
            sent: 0,
            calls: 0,
            first: (None, None),
        }
    }

    /// Returns the times of each rank by kind of activity, and the times at which a barrier released all
    /// ranks.
    pub fn finish(self) -> (Vec<RankTimes>, Vec<Time>) {
        let ended = |rank: &Rank| {
            let mut times = rank.times;
            times.end = rank.since;
            times
        };
        (self.ranks.iter().map(ended).collect(), self.openings)
    }

    /// Records that a rank has spent its time until now on an activity.
    fn spent(&mut self, id: RankId, kind: ActivityKind, now: Time, op: u32, (message, peer): Cause) {
        let rank = &mut self.ranks[id];
        let begin = rank.since;
        if begin >= now {
            return;
        }
        rank.times.spend(kind, now - begin);
        rank.since = now;
        if let Some(on_activity) = &mut self.observers.on_activity {
            on_activity(&Activity { rank: id, kind, begin, end: now, op, message, peer });
        }
    }

    /// Returns true if a rank waits for messages of its own.
    fn waits_for_own_messages(&self, id: RankId) -> bool {
        let rank = &self.ranks[id];
        match () {
            () if rank.busy => false,
            () if rank.next >= rank.count => rank.under_way + rank.departed > 0,
            () => rank.under_way >= self.window || (self.waits_for_sends && rank.under_way > 0),
        }
    }

    /// Records the end of a send wait, after a message of the rank has arrived or left, if the rank was
    /// waiting for it.
    fn end_send_wait(&mut self, now: Time, message: &SendRequest, number: u32, was_held: bool) {
        let src = message.id.src;
        if was_held && !self.waits_for_own_messages(src) {
            self.spent(src, ActivityKind::SendWait, now, message.id.index, (Some(number), Some(message.dst)));
        }
    }

    /// Records that a rank, which continues now, has waited for other ranks until now.
    fn end_recv_wait(&mut self, now: Time, id: RankId, step: Option<u32>) {
        if self.ranks[id].since >= now {
            return;
        }
        let opened = self.barrier.zip(step).is_some_and(|(held, step)| step > held);
        let (call, number, src) = self.ranks[id].last_received;
        let cause = match () {
            () if opened => self.first,
            () if call == self.calls => (Some(number), Some(src)),
            () => (None, None),
        };
        self.spent(id, ActivityKind::RecvWait, now, self.ranks[id].next, cause);
    }

    /// Handles the requests of the player in this call, from ranks that continue.
    fn handle_requests(&mut self, now: Time, requests: &Requests, (sends, wakes): (usize, usize)) {
        let mut step = self.barrier;
        let of_ranks = if self.player.opens_barrier() { &[] } else { &requests.wakes[wakes..] };
        for &(_, wake) in of_ranks {
            let id = RankId(wake.0);
            let of = self.step_of(id, self.ranks[id].next);
            self.end_recv_wait(now, id, of);
            self.ranks[id].busy = true;
            step = step.max(of);
        }
        for send in &requests.sends[sends..] {
            let MessageId { src, index } = send.id;
            let of = self.step_of(src, index);
            self.end_recv_wait(now, src, of);
            step = step.max(of);
            let rank = &mut self.ranks[src];
            rank.next = index + 1;
            rank.under_way += 1;
            self.under_way.insert(send.id, (self.sent, now));
            self.sent = self.sent.wrapping_add(1);
        }
        if step > self.barrier {
            self.barrier = step;
            self.openings.push(now);
        }
    }

    /// Returns the step of a message, if there is a barrier.
    fn step_of(&self, rank: RankId, index: u32) -> Option<u32> {
        (self.barrier.is_some() && index < self.ranks[rank].count).then(|| self.pattern.message(rank, index).step)
    }

    /// Records the last wait of a rank once it has sent and received everything.
    fn settle(&mut self, now: Time, id: RankId) {
        let rank = &self.ranks[id];
        if rank.next >= rank.count && rank.due == 0 && rank.under_way + rank.departed == 0 && !rank.busy {
            self.end_recv_wait(now, id, None);
        }
    }
}

/// Returns the numbers of requests before a call.
fn lengths(requests: &Requests) -> (usize, usize) {
    (requests.sends.len(), requests.wakes.len())
}

impl Workload for PatternRanks<'_> {
    fn ranks(&self) -> u32 {
        self.player.ranks()
    }

    fn messages(&self) -> u64 {
        self.player.messages()
    }

    fn load(&self) -> Load {
        self.player.load()
    }

    fn mean_bytes(&self) -> u64 {
        self.player.mean_bytes()
    }

    fn weight(&self, message: MessageId) -> f64 {
        self.player.weight(message)
    }

    fn begin(&mut self, requests: &mut Requests) {
        let before = lengths(requests);
        self.player.begin(requests);
        let barrier = self.barrier;
        self.handle_requests(Time::ZERO, requests, before);
        self.openings.clear();
        if self.starts {
            // The wakes requested so far are starts of ranks, regardless of the steps of their messages.
            self.barrier = barrier;
        }
    }

    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        self.calls += 1;
        self.first = (None, None);
        for message in messages {
            let MessageId { src, index } = message.id;
            let (number, called) = self.under_way.remove(&message.id).unwrap_or((0, now));
            if self.first.1.is_none() {
                self.first = (Some(number), Some(src));
            }
            let was_held = self.waits_for_own_messages(src);
            let sender = &mut self.ranks[src];
            match sender.departed {
                0 => sender.under_way = sender.under_way.saturating_sub(1),
                _ => sender.departed -= 1,
            }
            self.end_send_wait(now, message, number, was_held);
            let receiver = &mut self.ranks[message.dst];
            receiver.due = receiver.due.saturating_sub(1);
            if receiver.last_received.0 != self.calls {
                receiver.last_received = (self.calls, number, src);
            }
            if let Some(on_transfer) = &mut self.observers.on_transfer {
                on_transfer(&Transfer {
                    message: number,
                    src,
                    dst: message.dst,
                    bytes: message.bytes,
                    op: Some(index),
                    received_by: None,
                    called,
                    begin: called,
                    waited: false,
                    leave: called,
                    arrive: now,
                    end: now,
                });
            }
        }
        let before = lengths(requests);
        self.player.delivered(now, messages, requests);
        self.handle_requests(now, requests, before);
        for message in messages {
            self.settle(now, message.id.src);
            self.settle(now, message.dst);
        }
    }

    fn departed(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        self.calls += 1;
        self.first = (None, None);
        if self.player.load().departures {
            for message in messages {
                let number = self.under_way.get(&message.id).map_or(0, |(number, _)| *number);
                let was_held = self.waits_for_own_messages(message.id.src);
                let sender = &mut self.ranks[message.id.src];
                sender.under_way = sender.under_way.saturating_sub(1);
                sender.departed += 1;
                self.end_send_wait(now, message, number, was_held);
            }
        }
        let before = lengths(requests);
        self.player.departed(now, messages, requests);
        self.handle_requests(now, requests, before);
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        let id = RankId(wake.0);
        self.calls += 1;
        // After the time of a barrier ranks still wait for the last message before it.
        if !self.player.opens_barrier() {
            self.first = (None, Some(id));
            self.spent(id, ActivityKind::Compute, now, self.ranks[id].next, (None, None));
            self.ranks[id].busy = false;
        }
        let before = lengths(requests);
        self.player.woke(now, wake, requests);
        self.handle_requests(now, requests, before);
        self.settle(now, id);
    }

    fn blocked(&self) -> Vec<Blocked> {
        self.player.blocked()
    }

    fn ended(&self) -> Option<Time> {
        self.player.ended()
    }
}
