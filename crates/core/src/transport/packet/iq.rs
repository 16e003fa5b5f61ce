//! Input queues: finite buffers at the inputs, credits, whole-packet grants.

mod asking;
mod channels;

use std::hint::select_unpredictable;

use super::lanes::Lanes;
use super::meter::Meter;
use super::net::{ASK, NONE, Net, Pool, Trains};
use super::spec::{Arbitration, PacketSpec, Queues};
use super::switching::{ARRIVAL, Switching, Ticks};
use super::wheel::Event;
use crate::base::prefetch::fetch_entry;
use crate::fabric::Fabric;
use crate::ids::{Id, LinkId, VertexId};
use crate::routing::Router;
use crate::transport::{Channel, Gridlock};

/// Value of [`Queue::filled`] for a source, which is not the buffer of a link.
const SOURCE: u32 = u32::MAX;
/// Number of classes of requests for which an output has room of its own.
const CLASSES: usize = 4;

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
    /// Set if packets that enter a ring leave room for one more.
    bubble: bool,
    /// Set if each output has a queue of its own at every input.
    virtual_outputs: bool,
    arbitration: Arbitration,
    /// Time by which the first byte is ahead of the packet with cut-through \[ticks\].
    head: Option<u64>,
    /// Set if packets may arrive later than they have left, or earlier.
    apart: bool,
    /// Number of packets that fit in a buffer.
    capacity: i32,
    outputs: Vec<Output>,
    /// Requests by output where there are many inputs or classes; otherwise empty.
    many: Vec<ManyRequests>,
    /// Packets that wait, by port, or by port and output of its switch. Ports are buffers or sources.
    queues: Vec<Queue>,
    /// By link: the first queue of the buffer at its end, and the number of that buffer among the inputs there.
    buffers: Vec<(u32, u32)>,
    /// By link: number of the source in front of it among the inputs of its switch.
    sources: Vec<u32>,
    /// Ways of packets by place: see [`Net::routes`].
    steps: Vec<Step>,
    packets: Pool,
    /// By packet: its place in the order of the arbiter, and the time at which its last byte is here; only where that
    /// matters.
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
    /// Queue that is served, and place, of the event after the next one, for prefetching.
    soon: (u32, u32),
}

/// Arrival of a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    order: u64,
    tail: u64,
}

/// Link of a route, and the request for it.
#[derive(Clone, Copy, Debug)]
struct Step {
    link: u32,
    /// Number of the buffer or source in front of it among the inputs of its switch, above [`CLASS_BITS`] bits for the
    /// class of the request.
    request: u32,
}

/// Number of bits of a class: there are at most [`MAX_CHANNELS`](super::lanes::MAX_CHANNELS) and one. An output has
/// a bit for each of its inputs, so these are fewer than the other bits could tell apart.
const CLASS_BITS: u32 = 11;

impl Step {
    #[inline(always)]
    fn class(self) -> u32 {
        self.request & ((1 << CLASS_BITS) - 1)
    }

    #[inline(always)]
    fn input(self) -> u32 {
        self.request >> CLASS_BITS
    }
}

/// Output port of a link: one cache line for its arbiter, and one for what it sends.
///
/// The first packet of each queue requests its link in a *class*, by the room that it needs ahead. Class 0 needs none,
/// since the packet will be at its node; class 1 + l needs room in channel l. With the local bubble, class 1 has
/// packets that stay in their ring and class 2 those that enter one, for which there is room for one less.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Output {
    /// By class: the inputs, as bits, whose first packet wants it.
    wants: [u64; CLASSES],
    /// By class: room in the buffer at its end. A packet of the class fits if this is above 0.
    rooms: [i32; CLASSES],
    /// Those inputs whose first packet fits; the number of requests where there are [many](ManyRequests).
    ready: u64,
    /// Queue whose packet it sends, [`NONE`] if it does not send.
    serves: u32,
    /// Input that is first in turn.
    turn: u32,
    meter: Meter,
    /// Time of a full packet \[ticks\].
    full: u64,
    /// Queue for it at the first input of its switch, and the number of queues of an input.
    first: u32,
    each: u32,
}

/// Requests for an output with many inputs or classes.
#[derive(Clone, Debug)]
struct ManyRequests {
    words: usize,
    /// By class and word, as far as there was a request.
    wants: Vec<u64>,
    rooms: Vec<i32>,
}

/// Packets of a buffer in order of arrival; at a source, messages.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Queue {
    head: u32,
    tail: u32,
    /// Class in which its first packet requests its link.
    class: u32,
    /// Link that fills the buffer, or [`SOURCE`], and its channel.
    filled: u32,
    lane: u32,
    /// Number of the buffer among the inputs of its switch.
    index: u32,
    /// First queue of the buffer.
    first: u32,
    /// Set if a packet of it is being sent. The next one waits for that, unless outputs have their own queues.
    serving: bool,
}

impl Output {
    /// Returns a mask of all inputs if packets of a class fit, and of none otherwise.
    #[inline(always)]
    fn open(&self, class: usize) -> u64 {
        u64::from(self.rooms[class] > 0).wrapping_neg()
    }

    /// Adds a request.
    #[inline(always)]
    fn request(&mut self, class: u32, input: u32) {
        let (class, bit) = (class as usize % CLASSES, 1 << (input % 64));
        self.wants[class] |= bit;
        self.ready |= bit & self.open(class);
    }

    /// Removes a request.
    #[inline(always)]
    fn withdraw(&mut self, class: u32, input: u32) {
        let bit = 1 << (input % 64);
        self.wants[class as usize % CLASSES] &= !bit;
        self.ready &= !bit;
    }

    /// Adds to the room ahead for packets of a class.
    #[inline(always)]
    fn add_room(&mut self, class: u32, packets: i32) {
        let class = class as usize % CLASSES;
        self.rooms[class] += packets;
        let wants = self.wants[class];
        self.ready = (self.ready & !wants) | (wants & self.open(class));
    }
}

impl<const ASKS: bool> InputQueues<ASKS> {
    /// Creates empty buffers on this fabric, all of whose links have ends.
    pub(super) fn new(fabric: &Fabric, router: &dyn Router, spec: &PacketSpec, net: &Net) -> Self {
        let change = Lanes::new(fabric, router, spec);
        let vertices = (fabric.nodes() + fabric.switches()) as usize;
        let ends = |link: &crate::fabric::Link| link.ends.unwrap_or((VertexId(0), VertexId(0)));
        let (mut inputs, mut outputs) = (vec![Vec::new(); vertices], vec![Vec::new(); vertices]);
        for (id, link) in fabric.links().iter_ids() {
            let (from, to) = ends(link);
            outputs[from.index()].push(id);
            inputs[to.index()].push(id);
        }
        let output = |link: &super::net::Link| Output {
            wants: [0; CLASSES],
            rooms: [0; CLASSES],
            ready: 0,
            serves: NONE,
            turn: 0,
            meter: Meter::new(),
            full: link.full,
            first: 0,
            each: 1,
        };
        let mut model = Self {
            lanes: change.first_count(),
            bubble: change.has_bubble(),
            change,
            virtual_outputs: spec.queues() == Queues::VirtualOutput,
            arbitration: spec.arbitration(),
            head: spec.head_latency.map(|head| net.clock.span(*head)),
            apart: spec.head_latency.is_some() || net.links.iter().any(|link| link.latency > 0),
            capacity: i32::try_from(spec.buffer().room()).unwrap_or(i32::MAX),
            outputs: net.links.iter().map(output).collect(),
            many: Vec::new(),
            queues: Vec::new(),
            buffers: vec![(0, 0); fabric.links().len()],
            sources: vec![NONE; fabric.links().len()],
            steps: Vec::new(),
            packets: Pool::default(),
            stamps: Vec::new(),
            trains: Trains::default(),
            ages: Vec::new(),
            next_packet: Vec::new(),
            arrived: 0,
            stride: 1,
            soon: (NONE, NONE),
        };
        for (vertex, (inputs, outputs)) in inputs.iter().zip(&outputs).enumerate() {
            model.add_switch((vertex as u32) < fabric.nodes(), inputs, outputs);
        }
        model.lay_requests();
        model
    }

    /// Lays out the queues of a node or switch.
    fn add_switch(&mut self, is_node: bool, inputs: &[LinkId], outputs: &[LinkId]) {
        let start = self.queues.len() as u32;
        let each = if self.virtual_outputs { outputs.len().max(1) } else { 1 };
        let mut count = 0;
        let mut add = |filled: u32, lane: u32| {
            let (first, index) = (self.queues.len() as u32, count);
            let queue = Queue { head: NONE, tail: NONE, class: 0, filled, lane, index, first, serving: false };
            self.queues.resize(self.queues.len() + each, queue);
            count += 1;
            (first, index)
        };
        for &link in inputs {
            self.buffers[link.index()] = add(link.0, 0);
            (1..self.lanes).for_each(|lane| _ = add(link.0, lane));
        }
        let source = if is_node { add(SOURCE, 0).1 } else { NONE };
        for (&link, column) in outputs.iter().zip(0..) {
            self.sources[link.index()] = source;
            let output = &mut self.outputs[link.index()];
            (output.first, output.each) = (start + if self.virtual_outputs { column } else { 0 }, each as u32);
        }
    }

    /// Returns the time by which the first byte is ahead with cut-through \[ticks\].
    pub(super) fn head(&self) -> Option<u64> {
        self.head
    }

    /// Returns the queue of an input in which packets wait for this link.
    #[inline(always)]
    fn queue_for(&self, link: u32, input: u32) -> u32 {
        let output = &self.outputs[link as usize];
        output.first + input * output.each
    }

    /// Returns the place of the packet that a message at its source sends next.
    #[inline]
    fn source_place(&self, net: &Net, flow: u32) -> u32 {
        if ASKS { self.next_packet[flow as usize] } else { net.place(flow) }
    }

    /// Returns the place of the packet that the first entry of a queue is, or sends next.
    #[inline]
    fn place_of(&self, net: &Net, queue: &Queue) -> u32 {
        match queue.filled {
            SOURCE => self.source_place(net, queue.head),
            _ => self.packets.at(queue.head).place,
        }
    }

    /// Lets the first entry of a queue request its link; returns the link, [`NONE`] if the queue is empty.
    #[inline(always)]
    fn expose(&mut self, net: &Net, number: u32) -> u32 {
        let queue = &self.queues[number as usize];
        if queue.head == NONE {
            return NONE;
        }
        let step = self.steps[self.place_of(net, queue) as usize];
        self.request(number, step);
        step.link
    }

    /// Lets the first entry of a queue, which is at this step of its way, request its link.
    #[inline(always)]
    fn request(&mut self, number: u32, step: Step) {
        self.queues[number as usize].class = step.class();
        if self.many.is_empty() {
            self.outputs[step.link as usize].request(step.class(), step.input());
        } else {
            self.set_request(step.link, step.class(), step.input(), true);
        }
    }

    /// Grants a free link to one of the packets that want it; returns true if there is one.
    #[inline(always)]
    fn arbitrate(&mut self, net: &mut Net, link: u32) -> bool {
        let output = &self.outputs[link as usize];
        (output.ready != 0) & (output.serves == NONE) && self.grant(net, link)
    }

    /// Grants a link to the packet that its arbiter chooses. Returns false if there is none, as may be with
    /// [many requests](ManyRequests).
    #[inline(never)]
    fn grant(&mut self, net: &mut Net, link: u32) -> bool {
        let output = &self.outputs[link as usize];
        let found = match self.many.is_empty() {
            true => self.choose(net, link, output.ready.rotate_right(output.turn), output.turn, None),
            false => self.search(net, link),
        };
        found.inspect(|&(_, input)| self.send(net, link, input)).is_some()
    }

    /// Returns the better one of `best` and the inputs of a word, with the value by which packets are ordered. The
    /// lowest bit is that of input `from`; inputs of a word that come before it follow those after it.
    #[inline(always)]
    fn choose(&self, net: &Net, link: u32, bits: u64, from: u32, best: Option<(u64, u32)>) -> Option<(u64, u32)> {
        let (mut bits, mut best) = (bits, best);
        while bits != 0 {
            let input = from / 64 * 64 + (from + bits.trailing_zeros()) % 64;
            if self.arbitration == Arbitration::RoundRobin {
                return Some((0, input));
            }
            let order = self.order(net, &self.queues[self.queue_for(link, input) as usize]);
            if best.is_none_or(|(least, _)| order < least) {
                best = Some((order, input));
            }
            bits &= bits - 1;
        }
        best
    }

    /// Returns the value by which the arbiter orders the first packets of queues, least first.
    #[inline]
    fn order(&self, net: &Net, queue: &Queue) -> u64 {
        match (self.arbitration, queue.filled) {
            (_, SOURCE) => self.trains.at(queue.head).order,
            (Arbitration::OldestFirst, _) => self.ages[net.flow(self.packets.at(queue.head).place) as usize],
            _ => self.stamps[queue.head as usize].order,
        }
    }

    /// Sends the first packet of an input over a link.
    #[inline(always)]
    fn send(&mut self, net: &mut Net, link: u32, input: u32) {
        let inputs = self.words(link) * 64;
        let output = &mut self.outputs[link as usize];
        let number = output.first + input * output.each;
        let queue = &mut self.queues[number as usize];
        let (source, class) = (queue.filled == SOURCE, queue.class);
        queue.serving = !self.virtual_outputs;
        output.serves = number;
        output.turn = if input + 1 < inputs { input + 1 } else { 0 };
        let packet = if source {
            let mut packet = self.trains.next_packet(net, queue.head);
            if ASKS {
                packet.place = self.next_packet[queue.head as usize];
                net.count(link, 1);
            }
            if packet.last {
                queue.head = self.trains.at(queue.head).next;
            }
            self.packets.add(packet)
        } else {
            output.meter.leaves(net.now);
            let packet = queue.head;
            queue.head = self.packets.at(packet).next;
            packet
        };
        let bytes = self.packets.at(packet).bytes;
        let own = if bytes == net.packet_bytes { output.full } else { net.sending(link, bytes) };
        output.meter.goes_on(net.now);
        if self.many.is_empty() {
            output.withdraw(class, input);
        } else {
            self.set_request(link, class, input, false);
        }
        if class > 0 {
            self.add_room(link, class, -1);
        }
        let time = if self.head.is_some() { own.max(self.tail(net, packet, source)) } else { own };
        self.outputs[link as usize].meter.sends(time);
        if self.virtual_outputs && !(ASKS && source) {
            self.expose(net, number);
        }
        net.schedule(time, link, packet);
        if self.apart {
            self.schedule_arrival(net, link, packet, (own, time));
        }
        if ASKS && source {
            self.sent_from_source(net, link, packet);
        }
    }

    /// Returns the time until the last byte of a packet is here, with cut-through \[ticks\].
    fn tail(&mut self, net: &Net, packet: u32, source: bool) -> u64 {
        let stamp = self.stamp(packet);
        if source { 0 } else { stamp.tail.saturating_sub(net.now) }
    }

    /// Schedules the arrival of a packet that takes `own` ticks, and keeps the link busy for `time` ticks, unless it
    /// arrives with the end of its transmission.
    fn schedule_arrival(&mut self, net: &mut Net, link: u32, packet: u32, (own, time): (u64, u64)) {
        let latency = net.links[link as usize].latency;
        match self.head {
            Some(head) if self.steps[self.packets.at(packet).place as usize].class() > 0 => {
                self.stamp(packet).tail = net.now.saturating_add(time).saturating_add(latency);
                net.schedule_later(head.min(own).saturating_add(latency), link | ARRIVAL, packet);
            }
            _ if latency > 0 || self.head.is_some() => {
                net.schedule_later(time.saturating_add(latency), link | ARRIVAL, packet);
            }
            _ => {}
        }
    }

    fn stamp(&mut self, packet: u32) -> &mut Stamp {
        if self.stamps.len() <= packet as usize {
            self.stamps.resize(packet as usize + 1, Stamp::default());
        }
        &mut self.stamps[packet as usize]
    }

    /// Handles a packet that has come to the end of a link; returns true if its message has arrived.
    #[inline(always)]
    fn deliver_over_link(&mut self, net: &mut Net, link: u32, packet: u32) -> bool {
        net.hops += 1;
        let crossed = self.packets.get(packet);
        crossed.place += 1;
        let (place, last, bytes) = (crossed.place, crossed.last, crossed.bytes);
        let mut step = self.steps[place as usize];
        if step.link == NONE {
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
            if step.link == ASK {
                step = self.ask(net, packet);
            }
            net.count(step.link, 1);
        }
        if self.arbitration == Arbitration::ArrivalOrder {
            self.stamp(packet).order = self.arrived;
        }
        self.arrived += 1;
        let next = step.link;
        let number = self.queue_for(next, step.input());
        self.outputs[next as usize].meter.comes(net.now);
        let queue = &mut self.queues[number as usize];
        let tail = std::mem::replace(&mut queue.tail, packet);
        let (empty, goes) = (queue.head == NONE, (queue.head == NONE) & !queue.serving);
        queue.head = select_unpredictable(empty, packet, queue.head);
        self.packets.get(select_unpredictable(empty, packet, tail)).next = packet;
        self.packets.get(packet).next = NONE;
        if goes {
            self.request(number, step);
            self.arbitrate(net, next);
        }
        let output = &mut self.outputs[next as usize];
        output.meter.stays();
        output.meter.record_idle(net.now, output.serves == NONE);
        false
    }

    /// Prefetches data of the events that come next, each of which leads to the next: an output and its packet, the
    /// queue that it serves and the packet's next step, and then the outputs that these lead to.
    #[inline(always)]
    fn look_ahead(&mut self, net: &Net) {
        let [(near, sent), (link, packet)] = net.pending.coming();
        fetch_entry(&self.outputs, link & !ARRIVAL);
        self.packets.fetch(packet);
        let (number, place) = self.soon;
        if let (Some(queue), Some(step)) = (self.queues.get(number as usize), self.steps.get(place as usize)) {
            fetch_entry(&self.outputs, step.link);
            fetch_entry(&self.outputs, queue.filled);
            self.packets.fetch(queue.head);
        }
        if let Some(output) = self.outputs.get((near & !ARRIVAL) as usize) {
            self.soon = (output.serves, self.packets.place(sent) + 1);
            fetch_entry(&self.queues, self.soon.0);
            fetch_entry(&self.steps, self.soon.1);
        }
    }

    /// Handles a packet that comes to the end of a link with an event of its own: less code.
    #[inline(never)]
    fn deliver_apart(&mut self, net: &mut Net, link: u32, packet: u32) -> bool {
        self.deliver_over_link(net, link, packet)
    }

    /// Puts a message into the queue of its source; returns true if it is the first there.
    fn append_message(&mut self, number: u32, flow: u32) -> bool {
        let queue = &mut self.queues[number as usize];
        let tail = std::mem::replace(&mut queue.tail, flow);
        if queue.head == NONE {
            queue.head = flow;
            return true;
        }
        self.trains.get(tail).next = flow;
        false
    }

    /// Returns the buffer or source, by its first queue, that the first packet of another one waits for, with the
    /// channel that leads there.
    fn waits_for(&self, net: &Net, first: u32) -> Option<(Channel, u32)> {
        let queue = self.queues_of(first).iter().find(|queue| queue.head != NONE)?;
        let step = self.steps[self.place_of(net, queue) as usize];
        let (link, lane) = (step.link, self.lane(step));
        let buffer = self.buffers[link as usize].0;
        let ahead = buffer + lane * self.queues_of(buffer).len() as u32;
        Some((Channel { link: LinkId(link), lane: lane as u16 }, ahead))
    }

    /// Returns the queues of a buffer or source, given the first one.
    fn queues_of(&self, first: u32) -> &[Queue] {
        let count = self.queues[first as usize..].iter().take_while(|queue| queue.first == first).count();
        &self.queues[first as usize..first as usize + count]
    }
}

#[cfg(test)]
impl<const ASKS: bool> InputQueues<ASKS> {
    /// Asserts that no packet is anywhere, and every buffer has all its room back.
    pub(super) fn assert_empty(&self) {
        assert_eq!((self.packets.count, self.trains.count), (0, 0));
        assert!(self.queues.iter().all(|queue| queue.head == NONE && !queue.serving));
        assert!(self.outputs.iter().all(|output| output.serves == NONE && output.meter.is_empty()));
        let (rooms, wants): (Vec<_>, Vec<_>) = match &self.many[..] {
            [] => self.outputs.iter().map(|output| (&output.rooms[..], &output.wants[..])).unzip(),
            many => many.iter().map(|many| (&many.rooms[..], &many.wants[..])).unzip(),
        };
        assert!(wants.concat().iter().all(|&bits| bits == 0));
        for of_link in rooms {
            let classes = (0..self.classes()).zip(of_link);
            assert!(classes.into_iter().all(|(class, &room)| room == self.empty_room(class)), "{of_link:?}");
        }
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
            self.note_way(net, net.place(flow), NONE, 0);
        }
        let link = net.link(self.source_place(net, flow));
        self.trains.add(flow, bytes);
        self.trains.get(flow).order = self.arrived;
        self.ages[flow as usize] = self.arrived;
        self.arrived += 1;
        let number = self.queue_for(link, self.sources[link as usize]);
        if self.append_message(number, flow) && !self.queues[number as usize].serving {
            self.expose(net, number);
            self.arbitrate(net, link);
        }
    }

    #[inline]
    fn handle(&mut self, net: &mut Net, event: Event) -> bool {
        let Event { what: link, which: packet, .. } = event;
        self.look_ahead(net);
        if link & ARRIVAL != 0 {
            return self.deliver_apart(net, link & !ARRIVAL, packet);
        }
        let number = std::mem::replace(&mut self.outputs[link as usize].serves, NONE);
        let queue = &mut self.queues[number as usize];
        let (filled, lane) = (queue.filled, queue.lane);
        queue.serving = false;
        // The next packet of that buffer may go now.
        let next = if self.virtual_outputs { NONE } else { self.expose(net, number) };
        let goes_on = self.arbitrate(net, link);
        self.outputs[link as usize].meter.record_idle(net.now, !goes_on);
        if next != NONE && next != link {
            self.arbitrate(net, next);
        }
        let sent = self.packets.at(packet);
        let departed = if ASKS {
            filled == SOURCE && net.packet_departed(sent.place)
        } else {
            sent.last && filled == SOURCE && net.departed(sent.place)
        };
        let with_it = !self.apart || (self.head.is_none() && net.links[link as usize].latency == 0);
        let arrived = with_it && self.deliver_over_link(net, link, packet);
        if filled != SOURCE {
            if ASKS {
                net.count(filled, -1);
            }
            self.add_room(filled, lane + 1, 1);
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
        let mut buffers = (0..).zip(&self.queues).filter(|(number, queue)| *number == queue.first);
        let mut seen: Vec<(u32, Channel)> = Vec::new();
        let mut at = buffers.find(|&(first, _)| self.waits_for(net, first).is_some()).map(|(first, _)| first);
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
