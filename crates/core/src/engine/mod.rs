//! The engine: the clock, the events and the loop that asks workload and transport what happens next.
//!
//! ```text
//! workload --sends--> engine --starts--> transport
//!     ^                  |                   |
//!     +---deliveries-----+-----arrivals------+
//! ```
//! One turn of the loop is one *instant*: everything that happens at the same simulated time, within the width of an
//! instant (below), is taken together, sorted by id, before the workload is asked and rates are solved. So messages
//! that are symmetric finish together and the result does not depend on the order in which they are found.

mod changes;
mod chosen;
mod events;
mod link_counts;
mod observer;
mod outages;
mod steps;
#[cfg(test)]
mod tests;

use chosen::Chosen;
use events::{Event, EventQueue};
use outages::Outages;

use crate::base::prefetch::fetch;
use crate::fabric::Fabric;
use crate::faults::Faults;
use crate::ids::{Alike, FlowId, Id, IdVec, LinkId, MessageId, NodeId, RankId, WakeId};
use crate::placement::Placement;
use crate::routing::{Router, Start};
use crate::transport::{Entry, Facts, Gridlock, More, Transport, Wants};
use crate::units::{Bandwidth, Time};
use crate::workload::{Blocked, Requests, SendRequest, Workload};

pub use observer::{Alone, CountedStep, Flight, Observer, Passed};
pub use outages::Mishaps;
pub use steps::{Because, Steps};

/// The width of an instant, relative to the time since the start: rounding moves a finish time by some 1e-16 of it
/// each time a rate changes, so what is closer than 2^-44 (6e-14) of it happens at once.
const INSTANT: f64 = 1.0 / (1u64 << 44) as f64;

/// Turns of the loop between two looks at the [`Watch`], and how many messages under way make a turn count once more: a
/// turn may take as long as all of them.
const TURNS_PER_TICK: usize = 1024;
const MESSAGES_PER_TURN: usize = 128;

/// Of messages that start or arrive at one instant: how many come before one of which something is asked for.
const AHEAD: usize = 8;

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Messages delivered.
    pub delivered: u64,
    /// Messages in all; 0 where that is not known.
    pub total: u64,
}

/// Looks on while a simulation runs, and may end it.
pub trait Watch: Sync {
    /// Called every few thousand messages; `false` ends the run.
    fn tick(&self, progress: Progress) -> bool;

    /// Called now and then while a makespan is being estimated: half of the interval that there would be by now, over
    /// the makespan.
    fn outlook(&self, _error: f64) {}
}

/// Why a run ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Stop {
    /// Every message has been delivered.
    #[default]
    Done,
    /// The [`Watch`] wanted it.
    Interrupted,
    /// Nothing is under way any more, and these ranks still wait.
    Deadlock(Vec<Blocked>),
    /// Packets are under way and wait for each other.
    Gridlock(Gridlock),
}

/// What happened, in sum.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Why the run ended.
    pub stop: Stop,
    /// When the last message was delivered.
    pub makespan: Time,
    /// When the last thing happened.
    pub ended: Time,
    /// Messages delivered.
    pub messages: u64,
    /// Bytes delivered \[B\].
    pub bytes: u64,
    /// Messages started, messages delivered and wakes.
    pub events: u64,
    /// What the transport knows of the run.
    pub facts: Facts,
    /// What became of messages for want of links, where anything did.
    pub mishaps: Option<Box<Mishaps>>,
}

/// What a simulation is put together from.
///
/// Workload and transport may be of any kind (`dyn`), or of one that is known: then the loop is compiled for them, and
/// what they are asked for each message costs no calls.
pub struct Simulation<'a, W: ?Sized = dyn Workload + 'a, T: ?Sized = dyn Transport + 'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// Its routes.
    pub router: &'a dyn Router,
    /// Where ranks are.
    pub placement: &'a Placement,
    /// What ranks do.
    pub workload: &'a mut W,
    /// How messages move.
    pub transport: &'a mut T,
    /// The smallest step of simulated time, except for the first; zero for none (`Resolu` of MFS, step 7).
    pub resolution: Time,
}

/// A simulation under way.
struct EventLoop<'a, 'o, W: ?Sized, T: ?Sized, O> {
    simulation: Simulation<'a, W, T>,
    observer: &'o mut O,
    events: EventQueue,
    flights: Flights,
    now: Time,
    outcome: Outcome,
    wires: Wires,
    /// What a rule that chooses knows and has chosen, and what fails; `None` where there is one route for each pair,
    /// for ever.
    chosen: Option<Box<Chosen<'a>>>,
    /// Arrivals of this instant.
    arrived: Vec<FlowId>,
    /// The same by message, while they are sorted.
    by_message: Vec<(MessageId, FlowId)>,
    /// Messages that have left their senders, where that is known before they arrive.
    departed: Vec<FlowId>,
    woken: Vec<WakeId>,
    delivered: Vec<SendRequest>,
    requests: Requests,
    /// The links of the message that is launched.
    route: Vec<LinkId>,
    /// A message for which there is no route: it ends the run.
    refused: Option<Blocked>,
}

/// What launching a message needs to know of links, close together in memory.
struct Wires {
    capacity: Alike<LinkId, Bandwidth>,
    /// Where all links have the same.
    common_capacity: Option<Bandwidth>,
    /// `None` where no link has any.
    latency: Option<IdVec<LinkId, Time>>,
    /// How many times messages wait for it.
    latency_factor: f64,
    /// What the transport wants to know of messages.
    wants: Wants,
}

impl Wires {
    /// Those of a fabric, whose latencies messages wait for so many times.
    fn new(fabric: &Fabric, latency_factor: f64) -> Self {
        let latency = || fabric.links().iter().map(|link| Time::from_ps(latency_factor * link.latency.ps()));
        let capacity = Alike::new(fabric.links().len(), |link| fabric.link(link).capacity);
        Self {
            common_capacity: capacity.common(),
            capacity,
            latency: latency().any(|latency| latency > Time::ZERO).then(|| latency().collect()),
            latency_factor,
            wants: Wants::default(),
        }
    }

    /// Sum of the latencies of a route.
    fn latency(&self, route: &[LinkId]) -> Time {
        self.latency.as_ref().map_or(Time::ZERO, |latency| route.iter().map(|&link| latency[link]).sum())
    }

    /// How long a message waits for the latency of a path.
    fn latency_of_path(&self, latency: Time) -> Time {
        Time::from_ps(self.latency_factor * latency.ps())
    }

    /// Time that so many bytes take on the link that takes longest for its part.
    fn split_transfer(&self, links: &[LinkId], parts: &[f64], bytes: u64) -> Time {
        let time = |(&link, part): (&LinkId, &f64)| self.capacity.get(link).time_for(bytes as f64 * part);
        links.iter().zip(parts).map(time).max().unwrap_or(Time::ZERO)
    }

    /// Time that so many bytes take on the narrowest link of a route.
    fn transfer(&self, route: &[LinkId], bytes: u64) -> Time {
        if route.is_empty() || bytes == 0 {
            return Time::ZERO;
        }
        let narrowest = || route.iter().map(|&link| self.capacity.get(link)).min().unwrap_or_default();
        self.common_capacity.unwrap_or_else(narrowest).time_for(bytes as f64)
    }
}

/// Messages under way.
#[derive(Default)]
struct Flights {
    flights: Vec<UnderWay>,
    /// The links of all flights, in pieces of [`PIECE`].
    links: Vec<LinkId>,
    free: Vec<FlowId>,
}

/// A message under way, or the place of one that was, and where its links are: a cache line.
#[repr(align(64))]
struct UnderWay {
    flight: Flight,
    /// The first piece of its links, and for how many links there is room.
    piece: u32,
    room: u32,
    /// How many links it has.
    length: u32,
}

/// Links that are kept together: half a cache line.
const PIECE: usize = 8;

impl Flights {
    /// An id that no message under way has.
    #[inline]
    fn free(&mut self) -> FlowId {
        self.free.pop().unwrap_or_else(|| {
            let send = SendRequest { id: MessageId { src: RankId(0), index: 0 }, dst: RankId(0), bytes: 0 };
            let flight = Flight { send, start: Time::ZERO, alone: Time::ZERO };
            self.flights.push(UnderWay { flight, piece: 0, room: 0, length: 0 });
            FlowId::from_index(self.flights.len() - 1)
        })
    }

    /// Notes a message under an id that [`Flights::free`] gave, and its links.
    #[inline]
    fn put(&mut self, id: FlowId, flight: Flight, route: &[LinkId]) {
        let Self { flights, links, .. } = self;
        let place = &mut flights[id.index()];
        place.flight = flight;
        place.length = route.len() as u32;
        if place.room < place.length {
            // (What had too little room is left behind; room at least doubles, so that all of that is less than what is
            // used.)
            let room = route.len().max(2 * place.room as usize).next_multiple_of(PIECE);
            (place.piece, place.room) = ((links.len() / PIECE) as u32, room as u32);
            links.resize(links.len() + room, LinkId(0));
        }
        links[place.piece as usize * PIECE..][..route.len()].copy_from_slice(route);
    }

    #[inline]
    fn get(&self, id: FlowId) -> (&Flight, &[LinkId]) {
        let place = &self.flights[id.index()];
        (&place.flight, &self.links[place.piece as usize * PIECE..][..place.length as usize])
    }

    /// Asks for what is kept of a message that will soon be looked at.
    #[inline]
    fn fetch(&self, id: FlowId) {
        if let Some(place) = self.flights.get(id.index()) {
            fetch(place);
            if let Some(link) = self.links.get(place.piece as usize * PIECE) {
                fetch(link);
            }
        }
    }
}

impl<'a, W: Workload + ?Sized, T: Transport + ?Sized> Simulation<'a, W, T> {
    /// Runs to the end, or until the watch wants to stop.
    pub fn run<O: Observer>(self, observer: &mut O, watch: Option<&dyn Watch>) -> Outcome {
        self.run_with(None, observer, watch)
    }

    /// The same while links fail and come back; the fabric and the routes are those at the start.
    pub fn run_with<O: Observer>(
        self,
        faults: Option<&'a Faults>,
        observer: &mut O,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        let faults = faults.filter(|faults| faults.concern_runs());
        let mut wires = Wires::new(self.fabric, self.transport.latency_factor());
        wires.wants = self.transport.wants();
        let (links, asks) = (self.fabric.links().len(), wires.wants.to_ask);
        let is_asked = self.router.choice().is_some() || faults.is_some();
        let chosen = is_asked.then(|| Box::new(Chosen::new(self.router, links, asks, faults.map(Outages::new))));
        let mut run = EventLoop {
            simulation: self,
            observer,
            events: EventQueue::default(),
            flights: Flights::default(),
            now: Time::ZERO,
            outcome: Outcome::default(),
            wires,
            chosen,
            arrived: Vec::new(),
            departed: Vec::new(),
            by_message: Vec::new(),
            woken: Vec::new(),
            delivered: Vec::new(),
            requests: Requests::default(),
            route: Vec::new(),
            refused: None,
        };
        let total = run.simulation.workload.messages();
        run.simulation.workload.begin(&mut run.requests);
        run.await_next_change();
        let mut turns = 0;
        loop {
            run.serve_requests();
            if run.refused.is_some() {
                break;
            }
            run.simulation.transport.settle(run.now);
            let horizon = run.events.next_time();
            let next = run.simulation.transport.next_arrival(horizon).min(horizon);
            if next == Time::NEVER {
                break;
            }
            run.now = next.max(if run.now > Time::ZERO { run.now + run.simulation.resolution } else { run.now });
            run.instant();
            turns += 1 + run.flights.flights.len() / MESSAGES_PER_TURN;
            if turns >= TURNS_PER_TICK || run.outcome.messages == total {
                turns = 0;
                let progress = Progress { now: run.now, delivered: run.outcome.messages, total };
                if watch.is_some_and(|watch| !watch.tick(progress)) && run.outcome.messages < total {
                    run.outcome.stop = Stop::Interrupted;
                    return run.ended();
                }
            }
        }
        let mut blocked = run.simulation.workload.blocked();
        blocked.splice(..0, run.refused.take());
        if let Some(gridlock) = run.simulation.transport.gridlock() {
            run.now = run.now.max(gridlock.at);
            run.outcome.stop = Stop::Gridlock(gridlock);
        } else if !blocked.is_empty() {
            run.outcome.stop = Stop::Deadlock(blocked);
        }
        run.take_mishaps();
        run.ended()
    }
}

impl<W: Workload + ?Sized, T: Transport + ?Sized, O: Observer> EventLoop<'_, '_, W, T, O> {
    /// What came out, as of now.
    fn ended(self) -> Outcome {
        Outcome { ended: self.now, facts: self.simulation.transport.facts(), ..self.outcome }
    }

    /// Sends what the workload wants sent, and notes the wakes.
    fn serve_requests(&mut self) {
        for index in 0..self.requests.sends.len() {
            if let Some(later) = self.requests.sends.get(index + AHEAD) {
                let Simulation { router, placement, .. } = &self.simulation;
                router.expect(placement[later.id.src], placement[later.dst]);
            }
            self.launch(self.requests.sends[index]);
        }
        self.requests.sends.clear();
        for (time, wake) in self.requests.wakes.drain(..) {
            self.events.push(time.max(self.now), Event::Wake(wake));
        }
    }

    /// A message leaves its sender: it spends the latencies of its route, then takes bandwidth until it is through.
    fn launch(&mut self, send: SendRequest) {
        if self.chosen.is_some() {
            self.launch_chosen(send);
            return;
        }
        let Simulation { router, placement, .. } = &self.simulation;
        let (src, dst): (NodeId, NodeId) = (placement[send.id.src], placement[send.dst]);
        let (id, route) = (self.flights.free(), &mut self.route);
        route.clear();
        if src != dst {
            router.route(src, dst, route);
            if route.is_empty() {
                return self.refuse(send);
            }
        }
        let latency = self.wires.latency(route);
        let transfer = self.wires.transfer(route, send.bytes);
        let alone = self.simulation.transport.alone(route, send.bytes).unwrap_or(latency + transfer);
        self.put_under_way(id, Flight { send, start: self.now, alone }, latency, transfer);
    }

    /// Ends the run with a message for which the router has no route.
    #[cold]
    fn refuse(&mut self, send: SendRequest) {
        let Simulation { fabric, placement, .. } = &self.simulation;
        let [src, dst] = [send.id.src, send.dst].map(|rank| fabric.vertex_name(placement[rank].into()));
        let waits_for = format!("a route from {src} to {dst}, which its routing does not have");
        self.refused = Some(Blocked { rank: send.id.src, next: send.id, waits_for, on: None });
    }

    /// The same under a rule that chooses, or where links fail.
    #[cold]
    fn launch_chosen(&mut self, send: SendRequest) {
        self.launch_since(send, self.now);
    }

    /// The same for a message that was sent at this time, and may have been under way before.
    fn launch_since(&mut self, send: SendRequest, since: Time) {
        let Some(chosen) = &mut self.chosen else { return };
        let placement = self.simulation.placement;
        let start = Start { src: placement[send.id.src], dst: placement[send.dst], message: send.id };
        if chosen.outages.is_some() && !chosen.router.reaches(start.src, start.dst) {
            self.wait_for_routes(send, since);
            return;
        }
        let (id, route) = (self.flights.free(), &mut self.route);
        route.clear();
        if chosen.packets_ask() {
            // Its packets choose on their way; a shortest one says how long it would take alone.
            if start.src != start.dst {
                self.simulation.router.route(start.src, start.dst, route);
                if route.is_empty() {
                    return self.refuse(send);
                }
            }
            chosen.note(id, start);
            let (latency, transfer) = (self.wires.latency(route), self.wires.transfer(route, send.bytes));
            let alone = self.simulation.transport.alone(route, send.bytes).unwrap_or(latency + transfer);
            route.clear();
            return self.put_under_way(id, Flight { send, start: self.now, alone }, latency, transfer);
        }
        chosen.choose(id, start, send.bytes, route);
        if route.is_empty() && start.src != start.dst {
            return self.refuse(send);
        }
        if let Some(outages) = &mut chosen.outages {
            if outages.is_broken(route) {
                // The routes are not new yet.
                chosen.arrived(send.bytes, route);
                self.flights.free.push(id);
                self.hold(send, since);
                return;
            }
            outages.moves();
        }
        let (latency, transfer, alone) = match chosen.parts(id) {
            [] => {
                let (latency, transfer) = (self.wires.latency(route), self.wires.transfer(route, send.bytes));
                (latency, transfer, self.simulation.transport.alone(route, send.bytes))
            }
            parts => (
                self.wires.latency_of_path(chosen.latency()),
                self.wires.split_transfer(route, parts, send.bytes),
                None,
            ),
        };
        let alone = alone.unwrap_or(latency + transfer);
        self.put_under_way(id, Flight { send, start: since, alone }, latency, transfer);
    }

    /// Notes a message whose latency and time on its narrowest link are known.
    #[inline]
    fn put_under_way(&mut self, id: FlowId, flight: Flight, latency: Time, transfer: Time) {
        self.flights.put(id, flight, &self.route);
        self.outcome.events += 1;
        if transfer == Time::ZERO {
            self.events.push(self.now + latency, Event::Arrive(id));
        } else if latency > Time::ZERO && !self.simulation.transport.spends_latency() {
            self.events.push(self.now + latency, Event::Enter(id));
        } else {
            self.enter(id);
        }
    }

    /// A message starts to take bandwidth.
    #[inline]
    fn enter(&mut self, id: FlowId) {
        let Wants { ways_back, weights, .. } = self.wires.wants;
        if self.chosen.is_some() | ways_back | weights {
            return self.enter_chosen(id);
        }
        let (flight, route) = self.flights.get(id);
        let entry = Entry { src: flight.send.id.src, ..Entry::new(id, route, flight.send.bytes) };
        self.simulation.transport.start(&entry);
        self.observer.entered(self.now, route);
    }

    /// The same under a rule that chooses, where links fail, or where the transport wants to know more.
    #[cold]
    fn enter_chosen(&mut self, id: FlowId) {
        let Simulation { router, placement, transport, workload, .. } = &mut self.simulation;
        let (&Flight { send, .. }, links) = self.flights.get(id);
        let (src, chosen, wants) = (send.id.src, self.chosen.as_deref(), self.wires.wants);
        let mut way_back = Vec::new();
        if wants.ways_back {
            let router = chosen.map_or(*router, |chosen| chosen.router);
            let (from, to) = (placement[send.dst], placement[src]);
            if from != to && router.reaches(from, to) {
                router.route(from, to, &mut way_back);
            }
        }
        let asks = chosen.and_then(|chosen| chosen.start(id));
        let more = More {
            parts: chosen.map_or(&[], |chosen| chosen.parts(id)),
            weight: if wants.weights { workload.weight(src) } else { 1.0 },
            way_back: &way_back,
            asks,
        };
        transport.start(&Entry { src, more: &more, ..Entry::new(id, links, send.bytes) });
        if asks.is_none() {
            self.observer.entered(self.now, links);
        }
    }

    /// Asks for what the next arrivals, and the message that follows the first of them, will need of memory.
    #[inline]
    fn expect(&self, next: FlowId, later: FlowId) {
        let Simulation { router, placement, workload, .. } = &self.simulation;
        self.flights.fetch(later);
        let sent = self.flights.get(next).0.send.id;
        if let Some(dst) = workload.destination_after(sent) {
            router.expect(placement[sent.src], placement[dst]);
        }
    }

    /// Everything that happens now.
    fn instant(&mut self) {
        let until = self.now + Time::from_ps(self.now.ps() * INSTANT);
        self.arrived.clear();
        self.simulation.transport.departed(&mut self.departed);
        self.simulation.transport.arrived(until, &mut self.arrived);
        if let Some([next, later]) = self.simulation.transport.expected() {
            self.expect(next, later);
        }
        let shared = self.arrived.len();
        self.woken.clear();
        while let Some(event) = self.events.pop(until) {
            match event {
                Event::Arrive(id) => {
                    self.departed.push(id);
                    self.arrived.push(id);
                }
                Event::Enter(id) => self.enter(id),
                Event::Wake(wake) => self.woken.push(wake),
                Event::Links => self.links_change(),
                Event::Routes(change) => self.routes_change(change),
            }
        }
        // Before the deliveries: what has arrived has a number no more.
        self.depart();
        self.deliver(shared);
        let workload = &mut self.simulation.workload;
        if !self.delivered.is_empty() {
            workload.delivered(self.now, &self.delivered, &mut self.requests);
        }
        for &wake in &self.woken {
            self.outcome.events += 1;
            workload.woke(self.now, wake, &mut self.requests);
        }
    }

    /// Tells the workload which messages have left their senders.
    fn depart(&mut self) {
        if self.departed.is_empty() {
            return;
        }
        let sends: Vec<SendRequest> = self.departed.drain(..).map(|id| self.flights.get(id).0.send).collect();
        self.simulation.workload.departed(self.now, &sends, &mut self.requests);
    }

    /// Sorts the arrivals of this instant by message: not the order in which they were found.
    fn sort_arrived(&mut self) {
        let message = |id: &FlowId| self.flights.get(*id).0.send.id;
        if self.arrived.is_sorted_by_key(message) {
            return;
        }
        self.by_message.clear();
        self.by_message.extend(self.arrived.iter().map(|id| (message(id), *id)));
        self.by_message.sort_unstable();
        self.arrived.clear();
        self.arrived.extend(self.by_message.iter().map(|&(_, id)| id));
    }

    /// Takes the messages that have arrived out of the flights; the first `shared` of them used bandwidth.
    fn deliver(&mut self, shared: usize) {
        for (index, &id) in self.arrived[..shared].iter().enumerate() {
            if let Some(&later) = self.arrived.get(index + AHEAD) {
                self.flights.fetch(later);
            }
            self.observer.left(self.now, self.flights.get(id).1);
        }
        self.delivered.clear();
        if self.arrived.is_empty() {
            return;
        }
        if self.arrived.len() > 1 {
            self.sort_arrived();
        }
        for (index, &id) in self.arrived.iter().enumerate() {
            if let Some(&later) = self.arrived.get(index + AHEAD) {
                self.flights.fetch(later);
            }
            let (flight, route) = self.flights.get(id);
            match &mut self.chosen {
                None => self.observer.delivered(self.now, flight, route),
                Some(chosen) if chosen.packets_ask() && flight.send.bytes > 0 => {
                    let path = chosen.path();
                    self.simulation.transport.way(id, flight.send.bytes, path);
                    self.observer.delivered_split(self.now, flight, &path.links, &path.parts);
                }
                Some(chosen) => {
                    match chosen.parts(id) {
                        [] => self.observer.delivered(self.now, flight, route),
                        parts => self.observer.delivered_split(self.now, flight, route, parts),
                    }
                    chosen.arrived(flight.send.bytes, route);
                }
            }
            self.outcome.bytes += flight.send.bytes;
            self.delivered.push(flight.send);
        }
        self.outcome.messages += self.arrived.len() as u64;
        self.outcome.events += self.arrived.len() as u64;
        self.outcome.makespan = self.now;
        // Last in, first out: a rank's next message mostly gets the id of its last.
        self.flights.free.extend(self.arrived.iter().rev());
    }
}
