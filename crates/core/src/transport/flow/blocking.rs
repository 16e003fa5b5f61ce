//! Flow-level transport under `blocking`, whose rates are renewed now and then.

use std::collections::VecDeque;

use super::carried::Carried;
use super::finish_queue::FinishQueue;
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{FlowId, IdVec, LinkId};
use crate::routing::{ChannelOrder, Router, Steps};
use crate::sharing::{
    Blocking, BlockingChannels, BlockingSpec, Change, ChannelRule, Channels, RenewedSharing, VirtualOutput,
};
use crate::transport::{Entry, Transport};
use crate::units::{Bandwidth, Time};

/// Messages as flows whose rates are computed again some time after a change.
///
/// A source sends one message after the other, in the order in which they are posted. Of the messages that
/// start on one link the first is in the network, and the next one follows when its last byte has left. With k queues
/// the first k are in the network.
///
/// A message of b bytes whose narrowest link carries c takes `b / c` alone. When it comes or goes, rates
/// become *due* `renewal` times that later, unless they are due earlier; all changes until then are taken
/// together. Until then a message has the last rate of its source. A message whose source has never sent does
/// not wait. To the engine, the time when rates are due is an arrival of nothing
/// ([`Transport::next_arrival`]). So nothing is lost, and nothing depends on when the engine looks.
///
/// If a solve stops before it converges, the rest is due the same time later. If `renewal` is 0, that time is
/// `REST` times the time alone of the message that came or went: queues that hold each other up in a circle
/// may never settle.
///
/// Rates that are not renewed yet may exceed the capacity of a link. The excess waits in the buffers before
/// the link: a message arrives when its links can have carried it (`Carried`).
///
/// With packets of s bytes a message arrives later than its last byte has left, by the time that its last
/// packet is stored and forwarded: the sum of s / c over its links except the narrowest. For a message alone
/// the packet models give the same time.
#[derive(Debug)]
pub struct BlockingFlows {
    sharing: Box<dyn RenewedSharing>,
    /// By link: the messages that start there and have not left, in the order in which they were posted.
    sources: IdVec<LinkId, VecDeque<Posted>>,
    /// Number of messages of a source that are in the network at once.
    queues: usize,
    /// Number of messages in the network.
    count: usize,
    capacities: IdVec<LinkId, f64>,
    latencies: IdVec<LinkId, Time>,
    finish: FinishQueue,
    carried: Carried,
    /// Messages that have entered the network since the last settling.
    started: Vec<u32>,
    /// Arrival times of messages that have left their source and arrive later, because of bytes in buffers or
    /// the last packet.
    tails: FinishQueue,
    /// By flow: its first link.
    first: Vec<LinkId>,
    /// By flow: bytes, 0 once they have left; its time alone; and the time of its last packet behind the rest
    /// \[ps\].
    bytes: Vec<f64>,
    alone: Vec<f64>,
    behind: Vec<f64>,
    renewal: f64,
    packet: f64,
    /// Least time alone of the messages that came or went since the last settling \[ps\]; infinite if none
    /// did.
    shortest: f64,
    /// Delay before the rest of an unfinished solve is due \[ps\].
    rest: f64,
    /// Time at which rates are due.
    due: Time,
    changes: Vec<Change>,
    links: Vec<u32>,
}

/// Message at its source.
#[derive(Debug)]
struct Posted {
    flow: u32,
    /// Its links while it waits; none once it is in the network.
    links: Box<[u32]>,
}

/// Smallest delay of new rates, as a part of the time since the start, so that time goes on.
const LEAST_STEP: f64 = 1e-9;

/// Part of its time alone that counts when a message leaves and no other takes its place, so that its
/// bandwidth is free.
const LAST_OF_SOURCE: f64 = 0.25;

/// Delay of the rest of an unfinished solve where rates are renewed at once, as a part of a message's time
/// alone.
const REST: f64 = 0.2;

impl BlockingFlows {
    /// Creates the transport of this fabric, with nothing under way.
    pub fn new(fabric: &Fabric, router: &dyn Router, spec: &BlockingSpec) -> Self {
        let capacities = fabric.shared_capacities();
        let tolerance = *spec.tolerance;
        let sharing: Box<dyn RenewedSharing> = match spec.channels {
            Some(BlockingChannels::Voq) => Box::new(VirtualOutput::new(capacities.clone(), tolerance)),
            _ => Box::new(Blocking::new(capacities.clone(), channels(fabric, router, spec), tolerance)),
        };
        let capacities: IdVec<LinkId, f64> = capacities.into_iter().collect();
        Self {
            sharing,
            sources: capacities.iter().map(|_| VecDeque::new()).collect(),
            queues: *spec.source_queues as usize,
            count: 0,
            carried: Carried::new(&capacities),
            started: Vec::new(),
            capacities,
            latencies: fabric.links().iter().map(|link| link.latency).collect(),
            finish: FinishQueue::default(),
            tails: FinishQueue::default(),
            first: Vec::new(),
            bytes: Vec::new(),
            alone: Vec::new(),
            behind: Vec::new(),
            renewal: *spec.renewal,
            packet: spec.packet_size.0 as f64,
            shortest: f64::INFINITY,
            rest: 0.0,
            due: Time::NEVER,
            changes: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Returns the rate of a message under way \[B/s\]; 0 while it waits at its source.
    #[cfg(test)]
    pub(super) fn rate(&self, flow: FlowId) -> f64 {
        let source = &self.sources[self.first[flow.0 as usize]];
        let is_inside = source.iter().take(self.queues).any(|posted| posted.flow == flow.0);
        if is_inside { self.sharing.rate(flow.0) } else { 0.0 }
    }

    /// Returns the least capacity on a route \[B/s\].
    fn narrowest(&self, route: &[LinkId]) -> f64 {
        route.iter().map(|&link| self.capacities[link]).fold(f64::INFINITY, f64::min)
    }

    /// Returns the time that the last packet of a message is stored and forwarded behind the rest \[ps\].
    fn behind(&self, route: &[LinkId], bytes: f64) -> f64 {
        let packet = self.packet.min(bytes);
        if packet == 0.0 {
            return 0.0;
        }
        let time = |capacity: f64| Bandwidth::from_bytes_per_second(capacity).time_for(packet).ps();
        let all: f64 = route.iter().map(|&link| time(self.capacities[link])).sum();
        all - time(self.narrowest(route))
    }

    /// Puts a message into the network.
    fn enter(&mut self, flow: u32, links: &[u32]) {
        self.sharing.add(flow, links);
        self.count += 1;
        self.started.push(flow);
        self.note(flow as usize);
    }

    /// Takes a message out of the network, and puts the next one of its source into it.
    fn leave(&mut self, flow: u32) {
        let source = self.first[flow as usize];
        self.sharing.remove(flow);
        self.count -= 1;
        self.note(flow as usize);
        let posted = &mut self.sources[source];
        let place = posted.iter().position(|posted| posted.flow == flow);
        place.and_then(|place| posted.remove(place));
        if let Some(next) = self.sources[source].get_mut(self.queues - 1) {
            let (next, links) = (next.flow, std::mem::take(&mut next.links));
            self.enter(next, &links);
        } else {
            self.shortest = self.shortest.min(LAST_OF_SOURCE * self.alone[flow as usize]);
        }
    }

    /// Records that a message has come or gone.
    fn note(&mut self, flow: usize) {
        self.shortest = self.shortest.min(self.alone[flow]);
    }

    /// Returns the time at which rates are due that are delayed by `by` from now \[ps\].
    fn later(now: Time, by: f64) -> Time {
        now + Time::from_ps(by.max(LEAST_STEP * now.ps()).max(1.0))
    }
}

/// Returns the channels of a link, as the packet models have them: channels of rings only where routes need
/// no others.
fn channels(fabric: &Fabric, router: &dyn Router, spec: &BlockingSpec) -> Channels {
    let (written, queues) = (spec.channels, *spec.source_queues);
    let links = fabric.links();
    let rings = fabric.family().rings();
    let in_rings = router.channel_order() == ChannelOrder::Rings && !rings.is_empty();
    let rule = match written {
        _ if !in_rings => ChannelRule::Classes,
        Some(BlockingChannels::Turn) => ChannelRule::Turn,
        Some(BlockingChannels::Bubble) => ChannelRule::Bubble,
        Some(BlockingChannels::Dateline | BlockingChannels::Voq) | None => ChannelRule::Dateline,
    };
    let mut channels = Channels {
        rule,
        rings: vec![u8::MAX; links.len()],
        closing: vec![false; links.len()],
        shared: links.iter().map(|link| link.role != LinkRole::Injection).collect(),
        ranks: if in_rings { Vec::new() } else { Steps::ranks(router, fabric) },
        source_queues: queues,
    };
    for ring in rings {
        channels.rings[ring.link.0 as usize] = ring.dimension;
        channels.closing[ring.link.0 as usize] = ring.closes;
    }
    channels
}

impl Transport for BlockingFlows {
    fn alone(&self, route: &[LinkId], bytes: u64) -> Option<Time> {
        if self.packet == 0.0 || bytes == 0 || route.is_empty() {
            return None;
        }
        let latency: Time = route.iter().map(|&link| self.latencies[link]).sum();
        let (bytes, narrowest) = (bytes as f64, self.narrowest(route));
        let time = Bandwidth::from_bytes_per_second(narrowest).time_for(bytes);
        Some(latency + time + Time::from_ps(self.behind(route, bytes)))
    }

    fn start(&mut self, entry: &Entry<'_>) {
        let Entry { flow, links: route, bytes, .. } = *entry;
        let place = flow.0 as usize;
        if self.bytes.len() <= place {
            self.first.resize(place + 1, LinkId(0));
            self.bytes.resize(place + 1, 0.0);
            self.alone.resize(place + 1, 0.0);
            self.behind.resize(place + 1, 0.0);
        }
        self.first[place] = route[0];
        self.bytes[place] = bytes as f64;
        self.alone[place] = Bandwidth::from_bytes_per_second(self.narrowest(route)).time_for(bytes as f64).ps();
        self.behind[place] = self.behind(route, bytes as f64);
        let mut links = std::mem::take(&mut self.links);
        links.clear();
        links.extend(route.iter().map(|link| link.0));
        let source = &mut self.sources[route[0]];
        if source.len() < self.queues {
            source.push_back(Posted { flow: flow.0, links: Box::default() });
            self.enter(flow.0, &links);
        } else {
            source.push_back(Posted { flow: flow.0, links: links.as_slice().into() });
        }
        self.links = links;
    }

    fn set_capacity(&mut self, link: LinkId, capacity: Bandwidth) {
        self.capacities[link] = capacity.bytes_per_second();
        self.carried.set_capacity(link, capacity.bytes_per_second());
        self.sharing.set_capacity(link.0, capacity.bytes_per_second());
        // A change of capacity has no duration to derive a delay from: rates are due at once.
        self.shortest = 0.0;
    }

    fn cancel(&mut self, flow: FlowId) {
        if self.bytes[flow.0 as usize] == 0.0 {
            return self.tails.remove(flow.0);
        }
        let source = &mut self.sources[self.first[flow.0 as usize]];
        if source.iter().take(self.queues).all(|posted| posted.flow != flow.0) {
            return source.retain(|posted| posted.flow != flow.0);
        }
        match self.started.iter().position(|&started| started == flow.0) {
            Some(place) => drop(self.started.swap_remove(place)),
            None => self.carried.cancel(self.sharing.links(flow.0)),
        }
        self.finish.remove(flow.0);
        self.leave(flow.0);
    }

    fn settle(&mut self, now: Time) {
        for flow in self.started.drain(..) {
            self.carried.come(self.sharing.links(flow), now.ps());
        }
        if self.shortest < f64::INFINITY {
            let shortest = std::mem::replace(&mut self.shortest, f64::INFINITY);
            let put_off = self.renewal * shortest;
            // (Zero: a capacity changed, which takes no time.)
            if shortest > 0.0 {
                self.rest = if self.renewal > 0.0 { put_off } else { REST * shortest };
            }
            let due = if put_off == 0.0 || self.sharing.is_fresh() { now } else { Self::later(now, put_off) };
            self.due = self.due.min(due);
        }
        if self.count == 0 {
            self.due = Time::NEVER;
        }
        self.changes.clear();
        if self.due <= now {
            self.sharing.solve(&mut self.changes);
            self.due = if self.sharing.is_settled() { Time::NEVER } else { Self::later(now, self.rest) };
        } else {
            self.sharing.report(&mut self.changes);
        }
        let now_ps = now.ps();
        for &Change { flow, old, new } in &self.changes {
            if old == 0.0 {
                let time = Bandwidth::from_bytes_per_second(new).time_for(self.bytes[flow as usize]);
                self.finish.set(flow, (now + time).ps());
            } else {
                // A message that should have arrived already does so now, within the width of an instant.
                let later =
                    |finish: f64| if finish > now_ps { now_ps + (finish - now_ps) * (old / new) } else { finish };
                self.finish.change(flow, later);
            }
        }
    }

    fn next_arrival(&mut self, _horizon: Time) -> Time {
        self.due.min(Time::from_ps(self.finish.earliest().min(self.tails.earliest())))
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        while self.finish.earliest() <= until.ps() {
            let left = self.finish.earliest();
            let Some(flow) = self.finish.pop() else { break };
            let bytes = std::mem::take(&mut self.bytes[flow as usize]);
            let carried = self.carried.leave(self.sharing.links(flow), bytes, left);
            self.leave(flow);
            let arrival = carried + self.behind[flow as usize];
            if arrival > left {
                self.tails.set(flow, arrival);
            } else {
                flows.push(FlowId(flow));
            }
        }
        while self.tails.earliest() <= until.ps() {
            let Some(flow) = self.tails.pop() else { break };
            flows.push(FlowId(flow));
        }
    }
}
