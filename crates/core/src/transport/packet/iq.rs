//! Input queues: finite buffers at the inputs, credits, whole-packet grants.

mod asking;
mod channels;

use super::lanes::Lanes;
use super::meter::Meter;
use super::net::{ASK, NONE, Net, Packet, Pool, Trains};
use super::spec::{Arbitration, PacketSpec, Queues};
use super::switching::{ARRIVAL, Switching, Ticks};
use super::wheel::Event;
use crate::fabric::Fabric;
use crate::ids::{Id, LinkId, VertexId};
use crate::routing::Router;
use crate::transport::{Channel, Gridlock};

/// Value of [`Port::link`] for a source, which is not the buffer of a link.
const SOURCE: u32 = u32::MAX;

/// Switches with a buffer of B packets at each input port and virtual channel.
///
/// A link may send a packet only if the buffer at its other end has room for it. (Credits come back as soon
/// as the last byte has left the buffer.) With one queue a buffer, only the first packet of each buffer may
/// go. If it waits, it holds back those behind it although their links may be free: head-of-line blocking.
/// With virtual output queues each output has a queue of its own in every buffer, and a buffer may serve
/// several outputs at once.
///
/// A free link is granted to one of the packets that want it and have room ahead: inputs in turn, or by
/// arrival at this switch, or by age of the message. A grant is for a whole packet. Packets that have arrived
/// at their node leave the network at once.
///
/// With *cut-through* (`head-latency` h) a packet takes part in the next arbitration when its first byte has
/// arrived, h after it was sent. The buffer ahead has room for all of it before it starts (virtual
/// cut-through).
///
/// Packets could wait for each other in a circle. *Classes*: a packet changes to the next virtual channel
/// wherever its route does not ascend in the order of links that the rule or the family knows. Then channels
/// are only waited for in the order of (class, rank), which has no circle. A link has as many channels as the
/// routes so far have needed; an unused channel changes nothing. On the rings of a torus other ways need
/// fewer channels. *Local bubble*: a packet that enters a ring, from its source or from another dimension,
/// must leave room for one more behind it. *Dateline*: of two virtual channels, a packet starts a ring in the
/// first and continues in the second from the link on that closes the ring. *Turn*: the same two, but a
/// packet that will cross that link is in the second one all along the ring.
///
/// With unlimited virtual output queues and arrival order this equals output queues to the last tick: the
/// events are the same and come in the same order.
///
/// `ASKS`: packets have routes of their own, and ask the rule for them.
///
/// Source: W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004, chapters 13,
/// 14, 17; local bubble: V. Puente et al., "The adaptive bubble router", JPDC 61 (2001).
#[derive(Debug)]
pub(super) struct InputQueues<const ASKS: bool> {
    /// Number of virtual channels of a link.
    lanes: u32,
    /// Rule by which packets change between them.
    change: Lanes,
    /// Set if each output has a queue of its own at every input.
    virtual_outputs: bool,
    arbitration: Arbitration,
    /// Time by which the first byte is ahead of the packet with cut-through \[ticks\].
    head: Option<u64>,
    /// Number of packets that fit in a buffer.
    capacity: u32,
    outputs: Vec<Output>,
    /// Ports, which are buffers or sources.
    ports: Vec<Port>,
    /// Packets that wait, by port, or by port and output of its switch.
    queues: Vec<Queue>,
    /// By output, as bits: the inputs of its switch whose first packet wants it.
    requests: Vec<u64>,
    /// By link and lane: room in the buffer at its end.
    room: Vec<u32>,
    /// By link: the port of the source in front of it.
    sources: Vec<u32>,
    /// By port: set if a packet of it is being sent. The next one waits for that, unless outputs have their
    /// own queues.
    serving: Vec<bool>,
    packets: Pool,
    /// By packet: its place in the order of the arbiter, and the time at which its last byte is here.
    stamps: Vec<Stamp>,
    trains: Trains,
    /// By message: its place in the order in which messages were sent.
    ages: Vec<u64>,
    /// By message, if packets have routes of their own: the place of the packet that leaves next.
    next_packet: Vec<u32>,
    /// Number of messages sent plus packets arrived so far.
    arrived: u64,
    /// Number of places of a message: see [`Net::stride`].
    stride: usize,
}

/// Arrival of a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    order: u64,
    tail: u64,
}

/// Output port of a link.
#[derive(Clone, Copy, Debug)]
struct Output {
    sending: bool,
    /// Set if it leads to a node, where packets may arrive.
    may_end: bool,
    /// Port whose packet it sends.
    serves: u32,
    /// Its requests: their first word, and their number of words.
    requests: u32,
    words: u32,
    /// Input that is first in turn.
    turn: u32,
    /// First port of its switch, and the number of this output among those of the switch.
    switch: u32,
    index: u32,
    /// First port of the buffer at its end.
    buffer: u32,
    meter: Meter,
}

/// Buffer or source.
#[derive(Clone, Copy, Debug)]
struct Port {
    /// Link that fills it, or [`SOURCE`].
    link: u32,
    lane: u32,
    /// Its number among the inputs of its switch.
    index: u32,
    /// Its first queue.
    queue: u32,
}

/// Packets in order of arrival; at a source, messages.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

/// Packet that may go, the first one of a queue.
struct Grant {
    port: u32,
    lane: u32,
    queue: usize,
    head: u32,
}

/// State of an arbiter's search.
struct Search {
    /// Best packet so far, with the value by which packets are ordered.
    best: Option<(u64, Grant)>,
    /// Input of the lowest bit. In a switch of up to 64 inputs, inputs before it follow those after it.
    turn: u32,
}

impl Search {
    /// Goes through inputs, the lowest bit first; returns true if the search is over.
    #[inline(always)]
    fn go_through<const ASKS: bool>(&mut self, model: &InputQueues<ASKS>, net: &Net, link: u32, mut bits: u64) -> bool {
        let output = &model.outputs[link as usize];
        while bits != 0 {
            let mut index = self.turn + bits.trailing_zeros();
            if output.words == 1 {
                index %= 64;
            }
            bits &= bits - 1;
            let port = output.switch + index;
            let Some(grant) = model.grant(net, link, port) else { continue };
            if model.arbitration == Arbitration::RoundRobin {
                self.best = Some((0, grant));
                return true;
            }
            let order = model.order(net, port, grant.head);
            if self.best.as_ref().is_none_or(|(least, _)| order < *least) {
                self.best = Some((order, grant));
            }
        }
        false
    }
}

impl<const ASKS: bool> InputQueues<ASKS> {
    /// Creates empty buffers on this fabric, all of whose links have ends.
    pub(super) fn new(fabric: &Fabric, router: &dyn Router, spec: &PacketSpec, net: &Net) -> Self {
        let change = Lanes::new(fabric, router, spec);
        let lanes = change.first_count();
        let virtual_outputs = spec.queues() == Queues::VirtualOutput;
        let vertices = (fabric.nodes() + fabric.switches()) as usize;
        let ends = |link: &crate::fabric::Link| link.ends.unwrap_or((VertexId(0), VertexId(0)));
        let (mut inputs, mut outputs) = (vec![Vec::new(); vertices], vec![Vec::new(); vertices]);
        for (id, link) in fabric.links().iter_ids() {
            let (from, to) = ends(link);
            outputs[from.index()].push(id);
            inputs[to.index()].push(id);
        }
        let output = Output {
            sending: false,
            may_end: false,
            serves: NONE,
            requests: 0,
            words: 0,
            turn: 0,
            switch: 0,
            index: 0,
            buffer: 0,
            meter: Meter::new(),
        };
        let capacity = spec.buffer().room();
        let mut model = Self {
            lanes,
            change,
            virtual_outputs,
            arbitration: spec.arbitration(),
            head: spec.head_latency.map(|head| net.clock.span(*head)),
            capacity,
            outputs: vec![output; fabric.links().len()],
            ports: Vec::new(),
            queues: Vec::new(),
            requests: Vec::new(),
            room: vec![capacity; fabric.links().len() * lanes as usize],
            sources: vec![NONE; fabric.links().len()],
            serving: Vec::new(),
            packets: Pool::default(),
            stamps: Vec::new(),
            trains: Trains::default(),
            ages: Vec::new(),
            next_packet: Vec::new(),
            arrived: 0,
            stride: 1,
        };
        for (vertex, (inputs, outputs)) in inputs.iter().zip(&outputs).enumerate() {
            model.add_switch(fabric, VertexId(vertex as u32), inputs, outputs);
        }
        model.serving = vec![false; model.ports.len()];
        model
    }

    /// Lays out the ports of a node or switch.
    fn add_switch(&mut self, fabric: &Fabric, vertex: VertexId, inputs: &[LinkId], outputs: &[LinkId]) {
        let first = self.ports.len() as u32;
        let queues_each = if self.virtual_outputs { outputs.len().max(1) } else { 1 };
        let mut add = |link: u32, lane: u32| {
            let (index, queue) = (self.ports.len() as u32 - first, self.queues.len() as u32);
            self.ports.push(Port { link, lane, index, queue });
            self.queues.resize(self.queues.len() + queues_each, Queue { head: NONE, tail: NONE });
            first + index
        };
        for &link in inputs {
            let buffer = add(link.0, 0);
            for lane in 1..self.lanes {
                add(link.0, lane);
            }
            self.outputs[link.index()].buffer = buffer;
            self.outputs[link.index()].may_end = vertex.0 < fabric.nodes();
        }
        let source = if vertex.0 < fabric.nodes() { add(SOURCE, 0) } else { NONE };
        let words = (self.ports.len() - first as usize).div_ceil(64).max(1) as u32;
        for (index, &link) in outputs.iter().enumerate() {
            self.sources[link.index()] = source;
            let output = &mut self.outputs[link.index()];
            (output.requests, output.words) = (self.requests.len() as u32, words);
            (output.switch, output.index) = (first, index as u32);
            self.requests.resize(self.requests.len() + words as usize, 0);
        }
    }

    /// Returns the time by which the first byte is ahead with cut-through \[ticks\].
    pub(super) fn head(&self) -> Option<u64> {
        self.head
    }

    /// Returns the queue of a port in which packets wait for this link.
    #[inline]
    fn queue_for(&self, port: u32, link: u32) -> usize {
        let first = self.ports[port as usize].queue;
        (if self.virtual_outputs { first + self.outputs[link as usize].index } else { first }) as usize
    }

    /// Returns the link that the first entry of a queue wants; the port of a source holds messages.
    #[inline]
    fn wanted(&self, net: &Net, port: u32, head: u32) -> u32 {
        if self.ports[port as usize].link == SOURCE {
            net.link(self.source_place(net, head))
        } else {
            net.link(self.packets.at(head).place)
        }
    }

    /// Returns the place of the packet that a message at its source sends next.
    #[inline]
    fn source_place(&self, net: &Net, flow: u32) -> u32 {
        if ASKS { self.next_packet[flow as usize] } else { net.place(flow) }
    }

    #[inline]
    fn set_request(&mut self, link: u32, port: u32, wants: bool) {
        let output = &self.outputs[link as usize];
        let index = self.ports[port as usize].index;
        let (word, bit) = ((output.requests + index / 64) as usize, 1 << (index % 64));
        if wants {
            self.requests[word] |= bit;
        } else {
            self.requests[word] &= !bit;
        }
    }

    /// Puts a packet, or a message at its source, into its queue; returns true if it is the first there.
    #[inline]
    fn append(&mut self, port: u32, link: u32, entry: u32) -> bool {
        let place = self.queue_for(port, link);
        let source = self.ports[port as usize].link == SOURCE;
        let queue = &mut self.queues[place];
        let tail = std::mem::replace(&mut queue.tail, entry);
        if queue.head == NONE {
            queue.head = entry;
            return true;
        }
        if source {
            self.trains.get(tail).next = entry;
        } else {
            self.packets.get(tail).next = entry;
        }
        false
    }

    /// Returns the lane of the buffer that a packet from this port enters over this link.
    #[inline]
    fn lane_ahead(&self, net: &Net, place: u32, port: &Port, link: u32) -> u32 {
        // The number of a source is not that of a link.
        const { assert!(SOURCE == NONE) };
        if self.lanes == 1 { 0 } else { self.change.next(net, place, port.link, port.lane, link) }
    }

    /// Returns the place of the packet that the first entry of a port is, or sends next.
    #[inline]
    fn place_of(&self, net: &Net, port: &Port, head: u32) -> u32 {
        if port.link == SOURCE { self.source_place(net, head) } else { self.packets.at(head).place }
    }

    /// Returns the grant of this link for the first packet of this input, if it may go.
    #[inline(always)]
    fn grant(&self, net: &Net, link: u32, port: u32) -> Option<Grant> {
        let queue = self.queue_for(port, link);
        let head = self.queues[queue].head;
        let input = &self.ports[port as usize];
        let place = self.place_of(net, input, head);
        let lane = self.lane_ahead(net, place, input, link);
        let fits = net.link(place + 1) == NONE || {
            let room = self.room[(link * self.lanes + lane) as usize];
            // With room for two, a packet may go from any input.
            room > 1 || (room == 1 && !self.change.leaves_bubble(input.link, link))
        };
        fits.then_some(Grant { port, lane, queue, head })
    }

    /// Grants a free link to one of the packets that want it.
    #[inline(always)]
    fn arbitrate(&mut self, net: &mut Net, link: u32) {
        let output = &self.outputs[link as usize];
        if output.sending {
            return;
        }
        // Most switches have one word of inputs, and most free links are free because no packet may use them.
        let requests = self.requests[output.requests as usize];
        let found = if output.words > 1 {
            self.search_words(net, link)
        } else if requests == 0 || (self.lanes == 1 && !output.may_end && self.room[link as usize] == 0) {
            None
        } else {
            let mut search = Search { best: None, turn: output.turn };
            search.go_through(self, net, link, requests.rotate_right(output.turn));
            search.best.map(|(_, grant)| grant)
        };
        if let Some(grant) = found {
            self.send(net, link, grant);
        }
    }

    /// Returns the grant of an output of a switch with many inputs.
    #[cold]
    #[inline(never)]
    fn search_words(&self, net: &Net, link: u32) -> Option<Grant> {
        let output = &self.outputs[link as usize];
        let words = &self.requests[output.requests as usize..(output.requests + output.words) as usize];
        let (first, bit) = ((output.turn / 64) as usize, output.turn % 64);
        let mut search = Search { best: None, turn: 0 };
        // From the input in turn on, and round to it again.
        for step in 0..=words.len() {
            let word = if first + step < words.len() { first + step } else { first + step - words.len() };
            let mut bits = words[word];
            if step == 0 {
                bits &= !0 << bit;
            }
            if step == words.len() {
                bits &= !(!0 << bit);
            }
            search.turn = word as u32 * 64;
            if search.go_through(self, net, link, bits) {
                break;
            }
        }
        search.best.map(|(_, grant)| grant)
    }

    /// Returns the value by which the arbiter orders packets, least first.
    #[inline]
    fn order(&self, net: &Net, port: u32, head: u32) -> u64 {
        let source = self.ports[port as usize].link == SOURCE;
        match (self.arbitration, source) {
            (Arbitration::OldestFirst, false) => self.ages[net.flow(self.packets.at(head).place) as usize],
            (_, false) => self.stamps[head as usize].order,
            (_, true) => self.trains.at(head).order,
        }
    }

    /// Sends the first packet of an input over a link.
    #[inline]
    fn send(&mut self, net: &mut Net, link: u32, Grant { port, lane, queue, head }: Grant) {
        let source = self.ports[port as usize].link == SOURCE;
        let packet = if source {
            let mut packet = self.trains.next_packet(net, head);
            if ASKS {
                packet.place = self.next_packet[head as usize];
                net.count(link, 1);
            }
            if packet.last {
                self.queues[queue].head = self.trains.at(head).next;
            }
            let id = self.packets.add(packet);
            if self.stamps.len() <= id as usize {
                self.stamps.resize(id as usize + 1, Stamp::default());
            }
            self.stamps[id as usize].tail = net.now;
            id
        } else {
            self.queues[queue].head = self.packets.at(head).next;
            head
        };
        self.set_request(link, port, false);
        let &Packet { place, bytes, .. } = self.packets.at(packet);
        self.packets.get(packet).lane = lane as u16;
        let ends = net.link(place + 1) == NONE;
        if !ends {
            self.room[(link * self.lanes + lane) as usize] -= 1;
        }
        let own = net.sending(link, bytes);
        // With cut-through the last byte of the packet may still be on its way here.
        let time = own.max(self.stamps[packet as usize].tail.saturating_sub(net.now));
        let latency = net.links[link as usize].latency;
        let turn = self.ports[port as usize].index + 1;
        let output = &mut self.outputs[link as usize];
        self.serving[port as usize] = true;
        output.sending = true;
        output.serves = port;
        output.turn = if turn < output.words * 64 { turn } else { 0 };
        output.meter.sends(time);
        output.meter.goes_on(net.now);
        if !source {
            output.meter.leaves(net.now);
        }
        if self.virtual_outputs && !(ASKS && source) {
            self.expose(net, port, queue);
        }
        net.schedule(time, link, packet);
        match self.head {
            Some(head) if !ends => {
                self.stamps[packet as usize].tail = net.now.saturating_add(time).saturating_add(latency);
                net.schedule_later(head.min(own).saturating_add(latency), link | ARRIVAL, packet);
            }
            _ if latency > 0 || self.head.is_some() => {
                net.schedule_later(time.saturating_add(latency), link | ARRIVAL, packet);
            }
            _ => {}
        }
        if ASKS && source {
            self.sent_from_source(net, link, packet);
        }
    }

    /// Lets the first entry of a queue request its link; returns the link.
    #[inline]
    fn expose(&mut self, net: &Net, port: u32, place: usize) -> Option<u32> {
        let head = self.queues[place].head;
        if head == NONE {
            return None;
        }
        let link = self.wanted(net, port, head);
        self.set_request(link, port, true);
        Some(link)
    }

    /// Handles a packet that has come to the end of a link; returns true if its message has arrived.
    #[inline]
    fn deliver_over_link(&mut self, net: &mut Net, link: u32, packet: u32) -> bool {
        net.hops += 1;
        let crossed = self.packets.get(packet);
        crossed.place += 1;
        crossed.next = NONE;
        let (place, last, lane, bytes) = (crossed.place, crossed.last, crossed.lane, crossed.bytes);
        let mut next = net.link(place);
        if next == NONE {
            self.packets.remove(packet);
            if ASKS {
                net.count(link, -1);
                return net.packet_arrived(place, bytes);
            }
            if last {
                net.arrivals.push(net.flow(place));
            }
            return last;
        }
        if ASKS {
            if next == ASK {
                next = self.ask(net, link, packet);
            }
            net.count(next, 1);
        }
        let port = self.outputs[link as usize].buffer + u32::from(lane);
        self.stamps[packet as usize].order = self.arrived;
        self.arrived += 1;
        let output = &mut self.outputs[next as usize];
        output.meter.comes(net.now);
        if self.append(port, next, packet) && !self.is_serving(port) {
            self.set_request(next, port, true);
            self.arbitrate(net, next);
        }
        let output = &mut self.outputs[next as usize];
        output.meter.stays();
        self.note_stuck(net, next);
        false
    }

    /// True if the packet that left this buffer last is still being sent, so that the next one has to wait.
    #[inline]
    fn is_serving(&self, port: u32) -> bool {
        !self.virtual_outputs && self.serving[port as usize]
    }

    #[inline]
    fn note_stuck(&mut self, net: &Net, link: u32) {
        let output = &mut self.outputs[link as usize];
        if !output.sending {
            output.meter.record_idle(net.now);
        }
    }

    /// Returns the buffer or queue that the first packet of a port waits for, if it does.
    fn waits_for(&self, net: &Net, port: u32) -> Option<(Channel, u32)> {
        let queues = if self.virtual_outputs { self.queues_of(port) } else { 1 };
        let first = self.ports[port as usize].queue as usize;
        let head = (first..first + queues).map(|place| self.queues[place].head).find(|&head| head != NONE)?;
        let link = self.wanted(net, port, head);
        let port = &self.ports[port as usize];
        let lane = self.lane_ahead(net, self.place_of(net, port, head), port, link);
        Some((Channel { link: LinkId(link), lane: lane as u16 }, self.outputs[link as usize].buffer + lane))
    }

    /// Returns the number of queues of a port.
    fn queues_of(&self, port: u32) -> usize {
        let next = self.ports.get(port as usize + 1).map_or(self.queues.len(), |next| next.queue as usize);
        next - self.ports[port as usize].queue as usize
    }
}

#[cfg(test)]
impl<const ASKS: bool> InputQueues<ASKS> {
    /// Asserts that no packet is anywhere, and every buffer has all its room back.
    pub(super) fn assert_empty(&self, capacity: u32) {
        assert_eq!((self.packets.count, self.trains.count), (0, 0));
        assert!(self.room.iter().all(|&room| room == capacity), "{:?}", self.room);
        assert!(self.requests.iter().all(|&bits| bits == 0));
        assert!(self.queues.iter().all(|queue| queue.head == NONE));
        assert!(self.outputs.iter().all(|output| !output.sending && output.meter.is_empty()));
    }
}

impl<const ASKS: bool> Switching for InputQueues<ASKS> {
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        if self.ages.len() <= flow as usize {
            self.ages.resize(flow as usize + 1, 0);
        }
        if ASKS {
            if self.next_packet.len() <= flow as usize {
                self.next_packet.resize(flow as usize + 1, 0);
            }
            self.prepare(net, flow);
        } else {
            self.follow_stride(net, NONE);
            self.make_lanes(self.change.needed(net, net.place(flow), NONE, 0));
        }
        let link = net.link(self.source_place(net, flow));
        self.trains.add(flow, bytes);
        self.trains.get(flow).order = self.arrived;
        self.ages[flow as usize] = self.arrived;
        self.arrived += 1;
        let port = self.sources[link as usize];
        if self.append(port, link, flow) && !self.is_serving(port) {
            self.set_request(link, port, true);
            self.arbitrate(net, link);
        }
    }

    #[inline]
    fn handle(&mut self, net: &mut Net, event: Event) -> bool {
        let Event { what: link, which: packet, .. } = event;
        if link & ARRIVAL != 0 {
            return self.deliver_over_link(net, link & !ARRIVAL, packet);
        }
        let output = &mut self.outputs[link as usize];
        output.sending = false;
        let port = output.serves;
        let Port { link: filled, lane, .. } = self.ports[port as usize];
        // The next packet of that buffer may go now.
        let mut next = None;
        if !self.virtual_outputs {
            self.serving[port as usize] = false;
            next = self.expose(net, port, self.ports[port as usize].queue as usize);
        }
        self.arbitrate(net, link);
        self.note_stuck(net, link);
        if let Some(next) = next.filter(|&next| next != link) {
            self.arbitrate(net, next);
        }
        let sent = self.packets.at(packet);
        let departed = if ASKS {
            filled == SOURCE && net.packet_departed(sent.place)
        } else {
            sent.last && filled == SOURCE && net.departed(sent.place)
        };
        let arrived =
            self.head.is_none() && net.links[link as usize].latency == 0 && self.deliver_over_link(net, link, packet);
        if filled != SOURCE {
            if ASKS {
                net.count(filled, -1);
            }
            self.room[(filled * self.lanes + lane) as usize] += 1;
            self.arbitrate(net, filled);
        }
        arrived | departed
    }

    fn port(&self, net: &Net, link: usize) -> Ticks {
        self.outputs[link].meter.ticks(net.now)
    }

    fn gridlock(&self, net: &Net) -> Option<Gridlock> {
        let packets = self.packets.count + self.trains.count;
        if packets == 0 {
            return None;
        }
        let at_last = net.clock.time(net.now);
        // Go from any buffer that holds a packet to the one it waits for, until one comes again.
        let start = (0..self.ports.len() as u32).find(|&port| self.waits_for(net, port).is_some());
        let mut seen: Vec<(u32, Channel)> = Vec::new();
        let mut at = start;
        while let Some((port, (channel, next))) = at.and_then(|port| Some((port, self.waits_for(net, port)?))) {
            if let Some(first) = seen.iter().position(|(known, _)| *known == port) {
                let cycle = seen[first..].iter().map(|(_, channel)| *channel).collect();
                return Some(Gridlock { at: at_last, packets, cycle });
            }
            seen.push((port, channel));
            at = Some(next);
        }
        Some(Gridlock { at: at_last, packets, cycle: Vec::new() })
    }
}
