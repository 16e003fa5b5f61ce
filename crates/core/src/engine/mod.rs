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
mod flights;
mod link_counts;
mod observer;
mod outages;
mod steps;
#[cfg(test)]
mod tests;

use chosen::DynamicRouting;
use events::{Event, EventQueue};
use flights::{Flights, PREFETCH_DISTANCE};
use outages::Outages;

use crate::fabric::{Fabric, MessagePlan};
use crate::faults::Faults;
use crate::ids::{FlowId, IdVec, LinkId, MessageId, NodeId, UniformOrEach, WakeId};
use crate::placement::Placement;
use crate::routing::{Router, StartingMessage};
use crate::transport::{EXPECTED, Entry, EntryOptions, Facts, Gridlock, Transport, Wants};
use crate::units::{Bandwidth, Time};
use crate::workload::{Blocked, Requests, SendRequest, Workload};

pub use observer::{Alone, CountedStep, Flight, Observer, Passed};
pub use outages::Mishaps;
pub use steps::{StepSync, Steps};

/// Width of an instant, relative to the time since the start. Each change of a rate moves a finish time by
/// some 1e-16 of it through rounding, so events closer than 2^-44 (6e-14) of it happen at once.
const INSTANT: f64 = 1.0 / (1u64 << 44) as f64;

/// Turns of the loop between two looks at the [`Watch`], and messages under way that count as one more turn:
/// a turn may take as long as all of them.
const TURNS_PER_TICK: usize = 1024;
const MESSAGES_PER_TURN: usize = 512;

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Messages delivered.
    pub delivered: u64,
    /// Total number of messages; 0 if unknown.
    pub total: u64,
}

/// Watches a running simulation, and may end it.
pub trait Watch: Sync {
    /// Called every few thousand messages; returning `false` ends the run.
    fn tick(&self, progress: Progress) -> bool;

    /// Called now and then while a makespan is estimated, with half the width of the current confidence
    /// interval over the makespan.
    fn outlook(&self, _error: f64) {}
}

/// Reason why a run ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Stop {
    /// Every message has been delivered.
    #[default]
    Done,
    /// The [`Watch`] ended the run.
    Interrupted,
    /// Nothing is under way any more, and these ranks still wait.
    Deadlock(Vec<Blocked>),
    /// Packets are under way and wait for each other.
    Gridlock(Gridlock),
}

/// Summary of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Reason why the run ended.
    pub stop: Stop,
    /// Time at which the last message was delivered.
    pub makespan: Time,
    /// Time of the last event.
    pub ended: Time,
    /// Messages delivered.
    pub messages: u64,
    /// Bytes delivered \[B\].
    pub bytes: u64,
    /// Messages started, messages delivered and wakes.
    pub events: u64,
    /// Facts about the run that the transport knows.
    pub facts: Facts,
    /// Messages that failed links affected, if any.
    pub mishaps: Option<Box<Mishaps>>,
}

/// Parts of a simulation.
///
/// Workload and transport may be trait objects (`dyn`) or concrete types. With concrete types the loop is
/// compiled for them, and asking them about a message costs no indirect call.
pub struct Simulation<'a, W: ?Sized = dyn Workload + 'a, T: ?Sized = dyn Transport + 'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// Routes of the network.
    pub router: &'a dyn Router,
    /// Nodes of the ranks.
    pub placement: &'a Placement,
    /// Messages that the ranks send.
    pub workload: &'a mut W,
    /// Model of how messages move.
    pub transport: &'a mut T,
    /// Smallest step of simulated time, except for the first; zero for none (`Resolu` of MFS, step 7).
    pub resolution: Time,
}

/// Running simulation.
struct EventLoop<'a, 'o, W: ?Sized, T: ?Sized, O> {
    simulation: Simulation<'a, W, T>,
    observer: &'o mut O,
    events: EventQueue,
    flights: Flights,
    now: Time,
    outcome: Outcome,
    wires: LinkProperties,
    /// Routing that may change during the run; `None` where each pair has one route that never changes.
    chosen: Option<Box<DynamicRouting<'a>>>,
    /// Arrivals of this instant.
    arrived: Vec<FlowId>,
    /// Arrivals of this instant by message, while they are sorted.
    by_message: Vec<(MessageId, FlowId)>,
    /// Messages that have left their senders, where that is known before they arrive.
    departed: Vec<FlowId>,
    woken: Vec<WakeId>,
    delivered: Vec<SendRequest>,
    requests: Requests,
    /// Links of the message that is being launched.
    route: Vec<LinkId>,
    /// Route of the message that will probably be launched next.
    coming: Route,
    /// Message without a route; it ends the run.
    refused: Option<Blocked>,
}

/// Properties of links that launching a message needs, close together in memory.
struct LinkProperties {
    capacity: UniformOrEach<LinkId, Bandwidth>,
    /// Capacity of all links, where all have the same.
    common_capacity: Option<Bandwidth>,
    /// Latency of each link; `None` where no link has any.
    latency: Option<IdVec<LinkId, Time>>,
    /// Factor by which latencies are multiplied.
    latency_factor: f64,
    /// Properties of messages that the transport asks for.
    wants: Wants,
}

impl LinkProperties {
    /// Reads the links of a fabric, and multiplies their latencies by `latency_factor`.
    fn new(fabric: &Fabric, latency_factor: f64) -> Self {
        let latency = || fabric.links().iter().map(|link| Time::from_ps(latency_factor * link.latency.ps()));
        let capacity = UniformOrEach::new(fabric.links().len(), |link| fabric.link(link).capacity);
        Self {
            common_capacity: capacity.common(),
            capacity,
            latency: latency().any(|latency| latency > Time::ZERO).then(|| latency().collect()),
            latency_factor,
            wants: Wants::default(),
        }
    }

    /// Returns the sum of the latencies of a route.
    fn latency(&self, route: &[LinkId]) -> Time {
        self.latency.as_ref().map_or(Time::ZERO, |latency| route.iter().map(|&link| latency[link]).sum())
    }

    /// Returns the time that a message waits for the latency of a path.
    fn latency_of_path(&self, latency: Time) -> Time {
        Time::from_ps(self.latency_factor * latency.ps())
    }

    /// Returns the transfer time of a split message: that of the link that takes longest for its part.
    fn split_transfer(&self, links: &[LinkId], parts: &[f64], bytes: u64) -> Time {
        let time = |(&link, part): (&LinkId, &f64)| self.capacity.get(link).time_for(bytes as f64 * part);
        links.iter().zip(parts).map(time).max().unwrap_or(Time::ZERO)
    }

    /// Returns the transfer time of a message on the narrowest link of its route.
    fn transfer(&self, route: &[LinkId], bytes: u64) -> Time {
        if route.is_empty() || bytes == 0 {
            return Time::ZERO;
        }
        let narrowest = || route.iter().map(|&link| self.capacity.get(link)).min().unwrap_or_default();
        self.common_capacity.unwrap_or_else(narrowest).time_for(bytes as f64)
    }
}

/// Route between two nodes.
#[derive(Default)]
struct Route {
    /// Both nodes; `None` if there is no route.
    ends: Option<(NodeId, NodeId)>,
    links: Vec<LinkId>,
}

impl<'a, W: Workload + ?Sized, T: Transport + ?Sized> Simulation<'a, W, T> {
    /// Runs to the end, or until the watch wants to stop.
    pub fn run<O: Observer>(self, observer: &mut O, watch: Option<&dyn Watch>) -> Outcome {
        self.run_with(None, None, observer, watch)
    }

    /// Runs while links fail and come back, with the paths that a plan gives for messages; fabric and routes are those
    /// at the start.
    pub fn run_with<O: Observer>(
        self,
        faults: Option<&'a Faults>,
        plan: Option<&'a MessagePlan>,
        observer: &mut O,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        let faults = faults.filter(|faults| faults.concern_runs());
        let mut wires = LinkProperties::new(self.fabric, self.transport.latency_factor());
        wires.wants = self.transport.wants();
        let (links, asks) = (self.fabric.links().len(), wires.wants.to_ask);
        let is_asked = self.router.choice().is_some() || faults.is_some() || plan.is_some();
        let mut chosen =
            is_asked.then(|| Box::new(DynamicRouting::new(self.router, links, asks, faults.map(Outages::new))));
        chosen.iter_mut().for_each(|chosen| chosen.plan = plan);
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
            coming: Route::default(),
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
            turns += 1 + run.flights.len() / MESSAGES_PER_TURN;
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
    /// Returns the outcome as of now.
    fn ended(self) -> Outcome {
        Outcome { ended: self.now, facts: self.simulation.transport.facts(), ..self.outcome }
    }

    /// Sends the messages and schedules the wakes that the workload has asked for.
    fn serve_requests(&mut self) {
        for index in 0..self.requests.sends.len() {
            if let Some(later) = self.requests.sends.get(index + PREFETCH_DISTANCE) {
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

    /// Launches a message from its sender: it spends the latencies of its route, then takes bandwidth until
    /// it arrives.
    fn launch(&mut self, send: SendRequest) {
        if self.chosen.is_some() {
            self.launch_chosen(send);
            return;
        }
        let Simulation { router, placement, .. } = &self.simulation;
        let (src, dst): (NodeId, NodeId) = (placement[send.id.src], placement[send.dst]);
        let (id, route) = (self.flights.new_id(), &mut self.route);
        route.clear();
        if src != dst {
            if self.coming.ends == Some((src, dst)) {
                std::mem::swap(route, &mut self.coming.links);
                self.coming.ends = None;
            } else {
                router.route(src, dst, route);
            }
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

    /// Launches a message where the rule chooses paths or links fail.
    #[cold]
    fn launch_chosen(&mut self, send: SendRequest) {
        self.launch_since(send, self.now);
    }

    /// Launches a message where the rule chooses paths or links fail. The message was sent at `since`, and
    /// may have been under way before.
    fn launch_since(&mut self, send: SendRequest, since: Time) {
        let Some(chosen) = &mut self.chosen else { return };
        let placement = self.simulation.placement;
        let start = StartingMessage { src: placement[send.id.src], dst: placement[send.dst], message: send.id };
        let given = chosen.given(send.id);
        if chosen.outages.is_some() && given.is_empty() && !chosen.router.reaches(start.src, start.dst) {
            self.wait_for_routes(send, since);
            return;
        }
        let (id, route) = (self.flights.new_id(), &mut self.route);
        route.clear();
        if chosen.routes_packets() {
            // Its packets choose their own paths; a shortest one gives the time that the message would take
            // alone.
            if start.src != start.dst {
                match given {
                    [] => self.simulation.router.route(start.src, start.dst, route),
                    links => route.extend_from_slice(links),
                }
                if route.is_empty() {
                    return self.refuse(send);
                }
            }
            chosen.note(id, start);
            let (latency, transfer) = (self.wires.latency(route), self.wires.transfer(route, send.bytes));
            let alone = self.simulation.transport.alone(route, send.bytes).unwrap_or(latency + transfer);
            if given.is_empty() {
                route.clear();
            }
            return self.put_under_way(id, Flight { send, start: self.now, alone }, latency, transfer);
        }
        chosen.choose(id, start, send.bytes, route);
        if route.is_empty() && start.src != start.dst {
            return self.refuse(send);
        }
        if let Some(outages) = &mut chosen.outages {
            if outages.is_broken(route) {
                // The new routes are not in effect yet.
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

    /// Puts a message under way, given its latency and its time on its narrowest link.
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

    /// Starts to give a message bandwidth.
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

    /// Starts to give a message bandwidth where the rule chooses paths, links fail, or the transport asks for
    /// more.
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
        let options = EntryOptions {
            parts: chosen.map_or(&[], |chosen| chosen.parts(id)),
            weight: if wants.weights { workload.weight(send.id) } else { 1.0 },
            way_back: &way_back,
            asks,
        };
        transport.start(&Entry { src, options: &options, ..Entry::new(id, links, send.bytes) });
        match options.parts {
            [] => self.observer.entered(self.now, links),
            parts => self.observer.entered_split(self.now, links, parts),
        }
    }

    /// Prefetches data that the next arrivals need, and data for the messages that follow them: a part at each
    /// turn, so that nothing is waited for.
    #[inline]
    fn expect(&mut self, flows: [FlowId; EXPECTED]) {
        let [first, second, third, ..] = flows;
        let Simulation { router, placement, workload, transport, .. } = &self.simulation;
        let flights = &self.flights;
        flows.iter().for_each(|&flow| flights.fetch(flow));
        workload.expect(flights.get(third).0.send.id.src);
        workload.expect(flights.get(second).0.send.id.src);
        flights.fetch_links(second);
        flights.fetch_links(first);
        let ends_after = |flow| {
            let sent = flights.get(flow).0.send.id;
            workload.destination_after(sent).map(|dst| (placement[sent.src], placement[dst]))
        };
        if let Some((src, dst)) = ends_after(second) {
            router.expect(src, dst);
        }
        let Route { ends, links } = &mut self.coming;
        *ends = ends_after(first).filter(|(src, dst)| src != dst && self.chosen.is_none());
        self.observer.expect(flights.get(first).1);
        if let Some((src, dst)) = *ends {
            links.clear();
            router.route(src, dst, links);
            transport.expect_on(links, 1);
        }
    }

    /// Plays one instant: everything that happens now.
    fn instant(&mut self) {
        let until = self.now + Time::from_ps(self.now.ps() * INSTANT);
        self.arrived.clear();
        if self.coming.ends.is_some() {
            self.simulation.transport.expect_on(&self.coming.links, 0);
        }
        self.simulation.transport.departed(&mut self.departed);
        self.simulation.transport.arrived(until, &mut self.arrived);
        if let Some(flows) = self.simulation.transport.expected() {
            self.expect(flows);
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
        // This comes before the deliveries, which free the ids of arrived messages.
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

    /// Sorts the arrivals of this instant by message, so that the order of detection has no effect.
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

    /// Removes arrived messages from the flights; the first `shared` of them used bandwidth.
    fn deliver(&mut self, shared: usize) {
        for (index, &id) in self.arrived[..shared].iter().enumerate() {
            self.flights.fetch_ahead(&self.arrived, index);
            let links = self.flights.get(id).1;
            match self.chosen.as_deref().map_or(&[][..], |chosen| chosen.parts(id)) {
                [] => self.observer.left(self.now, links),
                parts => self.observer.left_split(self.now, links, parts),
            }
        }
        self.delivered.clear();
        if self.arrived.is_empty() {
            return;
        }
        if self.arrived.len() > 1 {
            self.sort_arrived();
        }
        for (index, &id) in self.arrived.iter().enumerate() {
            self.flights.fetch_ahead(&self.arrived, index);
            let (flight, route) = self.flights.get(id);
            match &mut self.chosen {
                None => self.observer.delivered(self.now, flight, route),
                Some(chosen) if chosen.routes_packets() && flight.send.bytes > 0 => {
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
        // Last in, first out: the next message of a rank mostly gets the id of its last one.
        self.flights.free.extend(self.arrived.iter().rev());
    }
}
