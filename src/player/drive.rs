//! What drives the player: its own clock, or the engine.

use super::state::{Cargo, Event, Player};
use super::{Played, RankTimes};
use crate::ids::WakeId;
use crate::units::Time;
use crate::workload::{Blocked, Requests, Send, Workload};

/// Events between two looks at whoever may stop the run.
const EVENTS_PER_LOOK: u64 = 65_536;

impl Player<'_> {
    /// Plays it to the end without a fabric; `go_on` is asked now and then, with simulated time and messages
    /// received so far, and ends the run with `false`.
    pub fn run(mut self, go_on: &dyn Fn(Time, u64) -> bool) -> Played {
        self.start();
        let mut count = 0_u64;
        while let Some((time, event)) = self.timers.pop() {
            self.now = time;
            self.happens(event);
            count += 1;
            if count.is_multiple_of(EVENTS_PER_LOOK) && !go_on(self.now, self.delivered) {
                return self.ended(true);
            }
        }
        self.ended(false)
    }

    /// What came out of a run that the engine has ended.
    pub fn ended(&self, interrupted: bool) -> Played {
        let stuck = if interrupted { Vec::new() } else { self.stuck() };
        Played { stuck, interrupted, ..self.played() }
    }

    /// What came out so far.
    pub fn played(&self) -> Played {
        Played {
            ranks: self.ranks.iter().map(|rank| rank.times).collect::<Vec<RankTimes>>(),
            last: self.now,
            messages: self.delivered,
            bytes: self.bytes,
            events: self.events,
            unreceived: self.mailboxes.iter().map(|mailbox| mailbox.unexpected() as u64).sum(),
            stuck: Vec::new(),
            interrupted: false,
        }
    }

    fn start(&mut self) {
        for rank in self.program.rank_ids() {
            if self.ranks[rank].graph.is_some() {
                self.begin_graph(rank);
            } else {
                self.advance(rank);
            }
        }
    }

    #[inline]
    fn happens(&mut self, event: Event) {
        self.events += 1;
        match event {
            Event::Resume(rank) => self.advance(rank),
            Event::Started(rank, op) => self.started(rank, op),
            Event::Finish(rank, op) => self.finish(rank, op),
            Event::Background(rank, op) => self.run_background(rank, op),
            event => self.message_event(event),
        }
    }

    /// Everything that happens by `now`, then what the engine is asked for.
    fn catch_up(&mut self, now: Time, requests: &mut Requests) {
        loop {
            let time = self.timers.next();
            if time > now {
                break;
            }
            let Some((time, event)) = self.timers.pop() else { break };
            self.now = time.max(self.now);
            self.happens(event);
        }
        self.now = now.max(self.now);
        requests.sends.append(&mut self.outbox);
        // A wake is asked for when none is pending that comes as early: so the pending ones are a stack.
        let next = self.timers.next();
        if next < Time::NEVER && self.asked.last().is_none_or(|&(pending, _)| next < pending) {
            let wake = WakeId(self.wakes);
            self.wakes = self.wakes.wrapping_add(1);
            requests.wakes.push((next, wake));
            self.asked.push((next, wake));
        }
    }
}

impl Workload for Player<'_> {
    fn ranks(&self) -> u32 {
        self.program.ranks()
    }

    fn messages(&self) -> u64 {
        let ops = self.program.iter().flat_map(|(_, rank)| &rank.ops);
        let sends = ops.filter(|op| matches!(op.action(), crate::workload::program::Action::Send { .. }));
        let control = u64::from(self.costs.control_travels) * 2;
        let each = sends.map(|op| if self.costs.message(op.size).rendezvous { 1 + control } else { 1 });
        // What collectives send is known only when they are called: some messages for each rank.
        each.sum::<u64>() + self.program.collective_calls() * u64::from(self.ranks().ilog2() + 1)
    }

    fn begin(&mut self, requests: &mut Requests) {
        self.start();
        self.catch_up(Time::ZERO, requests);
    }

    fn delivered(&mut self, now: Time, messages: &[Send], requests: &mut Requests) {
        self.now = now.max(self.now);
        for message in messages {
            if let Some((message, cargo)) = self.carried.remove(&message.id) {
                self.events += 1;
                self.message_event(match cargo {
                    Cargo::Request => Event::RequestArrives(message),
                    Cargo::Answer => Event::AnswerArrives(message),
                    Cargo::Data => Event::Arrive(message),
                });
            }
        }
        self.catch_up(now, requests);
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        // Within an instant the engine calls a little early.
        let asked = self.asked.iter().rposition(|(_, asked)| *asked == wake);
        let time = asked.map_or(now, |at| self.asked.remove(at).0);
        self.catch_up(now.max(time), requests);
    }

    fn blocked(&self) -> Vec<Blocked> {
        self.stuck().into_iter().map(Blocked::from).collect()
    }
}
