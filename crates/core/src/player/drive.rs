//! Driver of ranks and messages: by the player's own clock, or by the engine.

use std::sync::Arc;

use super::activity::{Observers, RankTimes};
use super::clock::{Event, MessageEvent};
use super::ledger::Ledger;
use super::names::Names;
use super::played::{Play, Played};
use super::protocol::{Protocol, RankRequest};
use super::rank::RankPlayer;
use super::runtime::Runtime;
use super::stuck;
use crate::ids::{Id, IdVec, RankId, WakeId};
use crate::noise::Processors;
use crate::program::Action;
use crate::symmetry::Folded;
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// Number of events between two calls of `keep_running`.
const EVENTS_PER_LOOK: u64 = 65_536;

/// Player of a program. See the [module](super).
pub struct Player<'a> {
    ranks: IdVec<RankId, RankPlayer>,
    runtime: Runtime<'a>,
}

impl<'a> Player<'a> {
    /// Creates a player ready to start.
    pub fn new(play: Play<'a>, observers: Observers<'a>) -> Self {
        let Play { program, costs, expand, cpu_speed, on_fabric } = play;
        let costs = if on_fabric { costs.on_fabric() } else { costs };
        let ranks = program.ranks() as usize;
        let has_processors = program.iter().map(|(_, rank)| rank.graph().is_some());
        Self {
            ranks: (0..ranks).map(|rank| RankPlayer::new(program, RankId::from_index(rank))).collect(),
            runtime: Runtime {
                program,
                expand,
                background: program.has_background_collectives(),
                cpu_speed,
                clock: Default::default(),
                protocol: Protocol::new(costs, on_fabric, has_processors),
                ledger: Ledger::new(ranks, observers),
                events: 0,
            },
        }
    }

    /// Sets processors some of which are slow.
    #[must_use]
    pub fn slowed(mut self, processors: Option<Processors>) -> Self {
        self.runtime.clock = std::mem::take(&mut self.runtime.clock).on(processors);
        self
    }

    /// Lets one rank of each class stand for all of them. The program has the operations of the ranks that are played
    /// ([`Program::only`](crate::program::Program::only)).
    #[must_use]
    pub fn folded(mut self, folded: &Arc<Folded>) -> Self {
        self.runtime.protocol.names = Some(Box::new(Names::new(Arc::clone(folded))));
        self
    }

    /// Plays the program to the end without a fabric.
    ///
    /// From time to time it calls `keep_running` with simulated time and the number of messages received so far; the
    /// run ends if that returns `false`.
    pub fn run(mut self, keep_running: &dyn Fn(Time, u64) -> bool) -> Played {
        self.start();
        let mut count = 0_u64;
        while let Some(event) = self.runtime.clock.tick() {
            self.execute(event);
            count += 1;
            if count.is_multiple_of(EVENTS_PER_LOOK)
                && !keep_running(self.runtime.now(), self.runtime.protocol.delivered)
            {
                return self.ended(true);
            }
        }
        self.ended(false)
    }

    /// Returns the results of a run that the engine has ended.
    pub fn ended(&self, interrupted: bool) -> Played {
        let stuck = if interrupted { Vec::new() } else { stuck::all(&self.ranks, self.runtime.program) };
        Played { stuck, interrupted, ..self.played() }
    }

    /// Returns the results so far.
    pub fn played(&self) -> Played {
        let Runtime { protocol, ledger, clock, events, .. } = &self.runtime;
        let threads = |rank: usize| self.runtime.program.rank(RankId::from_index(rank)).threads.count();
        let ranks: Vec<RankTimes> =
            ledger.times().into_iter().enumerate().map(|(rank, times)| times.mean_of_threads(threads(rank))).collect();
        Played {
            ranks: protocol.names.as_ref().map(|names| names.expand(&ranks)).unwrap_or(ranks),
            last: clock.now(),
            messages: protocol.delivered,
            bytes: protocol.bytes,
            events: *events,
            unreceived: protocol.unexpected(),
            stuck: Vec::new(),
            interrupted: false,
        }
    }

    fn start(&mut self) {
        for rank in self.ranks.as_mut_slice() {
            rank.begin(&mut self.runtime);
        }
    }

    #[inline]
    fn execute(&mut self, event: Event) {
        self.runtime.events += 1;
        match event {
            Event::Message(event) => self.message(event),
            Event::Resume(rank, thread) => {
                if let RankPlayer::Sequence(sequence) = &mut self.ranks[rank] {
                    sequence.resume(thread, &mut self.runtime);
                }
            }
            Event::Background(rank, op) => match &mut self.ranks[rank] {
                RankPlayer::Sequence(sequence) => sequence.run_background(op, &mut self.runtime),
                RankPlayer::Graph(graph) => graph.run_collective(op, &mut self.runtime),
            },
            Event::Started(rank, op) => {
                if let RankPlayer::Graph(graph) = &mut self.ranks[rank] {
                    graph.started(op, &mut self.runtime);
                }
            }
            Event::Finish(rank, op) => {
                if let RankPlayer::Graph(graph) = &mut self.ranks[rank] {
                    graph.finish(op, &mut self.runtime);
                }
            }
        }
    }

    /// Executes a step of a message, and passes on the request that it makes of a rank.
    fn message(&mut self, event: MessageEvent) {
        match self.runtime.step(event) {
            RankRequest::Nothing => {}
            RankRequest::Processor(time) => self.ranks[time.rank].processor(&time, &mut self.runtime),
            RankRequest::Done(rank, op, done) => self.ranks[rank].done(op, done, &mut self.runtime),
            RankRequest::Match(message) => self.envelopes(message),
        }
    }

    /// Delivers the envelope of a message, and those of all messages sent before it on its channel.
    fn envelopes(&mut self, message: u32) {
        let Some((mut matched, dst)) = self.runtime.protocol.envelope_arrives(message) else { return };
        loop {
            match matched.receive {
                None => self.ranks[dst].unexpected(&mut self.runtime),
                Some(receive) => {
                    let Runtime { protocol, clock, .. } = &mut self.runtime;
                    if let Some(time) = protocol.join(matched.message, receive, clock) {
                        self.ranks[dst].processor(&time, &mut self.runtime);
                    }
                }
            }
            // The next envelope is taken only now: the rank may have changed the mailbox.
            let next = if matched.more { self.runtime.protocol.next_envelope(message) } else { None };
            let Some(next) = next else { return };
            matched = next;
        }
    }

    /// Executes all events up to `now`, then hands the requests to the engine.
    fn catch_up(&mut self, now: Time, requests: &mut Requests) {
        while self.runtime.clock.next() <= now {
            let Some(event) = self.runtime.clock.tick() else { break };
            self.execute(event);
        }
        self.runtime.clock.pass(now);
        let next = self.runtime.clock.next();
        if let Some(port) = &mut self.runtime.protocol.port {
            port.request(next, requests);
        }
    }
}

impl Workload for Player<'_> {
    fn ranks(&self) -> u32 {
        self.runtime.program.ranks()
    }

    fn messages(&self) -> u64 {
        let (program, costs) = (self.runtime.program, self.runtime.protocol.costs());
        let ops = program.iter().flat_map(|(_, rank)| &rank.ops);
        let sends = ops.filter(|op| matches!(op.action(), Action::Send { .. }));
        let control = u64::from(costs.control_travels) * 2;
        let each = sends.map(|op| if costs.message(op.size).rendezvous { 1 + control } else { 1 });
        // Messages of collectives are known only when these are called: assume a few for each rank.
        each.sum::<u64>() + program.collective_calls() * u64::from(self.ranks().ilog2() + 1)
    }

    fn load(&self) -> Load {
        Load { unforeseen: true, departures: true, ..Load::default() }
    }

    fn begin(&mut self, requests: &mut Requests) {
        self.start();
        self.catch_up(Time::ZERO, requests);
    }

    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        self.runtime.clock.pass(now);
        for message in messages {
            let arrival = self.runtime.protocol.port.as_mut().and_then(|port| port.delivered(message.id));
            if let Some(arrival) = arrival {
                self.runtime.events += 1;
                if let MessageEvent::Arrive(arrived) = arrival {
                    self.message(MessageEvent::Left(arrived));
                }
                self.message(arrival);
            }
        }
        self.catch_up(now, requests);
    }

    fn departed(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        self.runtime.clock.pass(now);
        for message in messages {
            let arrival = self.runtime.protocol.port.as_ref().and_then(|port| port.arrival(message.id));
            if let Some(MessageEvent::Arrive(left)) = arrival {
                self.message(MessageEvent::Left(left));
            }
        }
        self.catch_up(now, requests);
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        // Within an instant the engine may call a little early.
        let asked = self.runtime.protocol.port.as_mut().and_then(|port| port.woke(wake));
        self.catch_up(now.max(asked.unwrap_or(now)), requests);
    }

    fn blocked(&self) -> Vec<Blocked> {
        stuck::all(&self.ranks, self.runtime.program).into_iter().map(Blocked::from).collect()
    }

    fn ended(&self) -> Option<Time> {
        Some(self.played().makespan())
    }
}
