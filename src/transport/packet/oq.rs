//! Output queues: whole packets, unlimited first-in-first-out queues, store and forward.

use super::net::{ASK, NONE, Net, Packet, Pool, Trains};
use super::switching::{Switching, Ticks};
use super::wheel::Event;
use crate::transport::Gridlock;

/// Marks an entry of a queue as a whole message at its source: its packets are made as they are sent, which is the
/// same as if all of them had been put in the queue at once.
const TRAIN: u32 = 1 << 31;
/// Marks an event as the arrival of a packet alone: the link has been free for a latency already.
const ARRIVAL: u32 = 1 << 31;

/// A switch (or node) of unlimited memory that can write any number of packets into one queue at once.
///
/// Each link has one queue, in which a packet takes its place when its last byte has come. So a packet waits for those
/// in front of it and for nothing else: no link ever stands still while somebody waits for it.
///
/// One event a hop: when link l has sent a packet, it starts the next one of its queue, and the packet takes its place
/// in the queue of its next link, or starts there at once. Where the link has a latency, the packet comes with an event
/// of its own.
///
/// `ASKS`: packets have routes of their own, and ask the rule for them.
///
/// Source: the order of ns-3's `PointToPointNetDevice` (transmission complete, then receive) with unlimited queues.
#[derive(Debug)]
pub(super) struct OutputQueues<const ASKS: bool> {
    ports: Vec<Port>,
    packets: Pool,
    trains: Trains,
    /// Places a message: see [`Net::stride`].
    stride: usize,
}

/// A link with its queue: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Port {
    /// Time of a full packet \[ticks\].
    full: u64,
    /// \[ticks\].
    latency: u64,
    /// When packets left the queue less when they came, summed over all: packets that waited, summed over time, once
    /// those that still wait are taken as leaving now.
    queue_time: i128,
    /// How long it has sent, with the packet that it is sending \[ticks\].
    busy: u64,
    head: u32,
    tail: u32,
    /// Packets in the queue; messages at their source do not count.
    queued: u32,
    /// The most packets in the queue, and, as the highest bit, whether the link is sending.
    peak: u32,
}

const SENDING: u32 = 1 << 31;

impl<const ASKS: bool> OutputQueues<ASKS> {
    pub(super) fn new(net: &Net) -> Self {
        let port = |link: &super::net::Link| Port {
            full: link.full,
            latency: link.latency,
            queue_time: 0,
            busy: 0,
            head: NONE,
            tail: NONE,
            queued: 0,
            peak: 0,
        };
        Self {
            ports: net.links.iter().map(port).collect(),
            packets: Pool::default(),
            trains: Trains::default(),
            stride: 1,
        }
    }

    /// Renames places where routes have become longer.
    fn follow_stride(&mut self, net: &Net) {
        if self.stride != net.stride {
            self.packets.rename(net.renaming(self.stride));
            self.stride = net.stride;
        }
    }

    /// The place of the next packet of a message, which has a route of its own.
    fn enter(&mut self, net: &mut Net, flow: u32) -> u32 {
        let place = net.enter(flow);
        self.follow_stride(net);
        place
    }

    /// A message leaves a node that has several links: its packets ask one after another, and each takes its place in
    /// the queue of its link at once.
    fn launch_all(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        let mut left = bytes;
        while left > 0 {
            let place = self.enter(net, flow);
            let bytes = left.min(u64::from(net.packet_bytes)) as u32;
            left -= u64::from(bytes);
            let packet = self.packets.add(Packet { place, next: NONE, bytes, last: left == 0, lane: 0 });
            self.queue(net, net.link(place), packet);
        }
    }

    /// A link starts to send a packet.
    #[inline(always)]
    fn send(&mut self, net: &mut Net, link: u32, packet: u32) {
        let bytes = self.packets.at(packet).bytes;
        let port = &mut self.ports[link as usize];
        let time = if bytes == net.packet_bytes { port.full } else { net.sending(link, bytes) };
        port.busy = port.busy.saturating_add(time);
        port.peak |= SENDING;
        let latency = port.latency;
        net.schedule(time, link, packet);
        if latency > 0 {
            net.schedule_later(time.saturating_add(latency), link | ARRIVAL, packet);
        }
    }

    /// A link that has sent its packet goes on with the next one.
    #[inline(always)]
    fn go_on(&mut self, net: &mut Net, link: u32) {
        let port = &mut self.ports[link as usize];
        let head = port.head;
        if head == NONE {
            port.peak &= !SENDING;
            return;
        }
        let packet = if head & TRAIN == 0 {
            port.queue_time += i128::from(net.now);
            port.queued -= 1;
            port.head = self.packets.at(head).next;
            head
        } else {
            let flow = head & !TRAIN;
            let mut packet = self.trains.next_packet(net, flow);
            if packet.last {
                port.head = self.trains.at(flow).next;
            }
            if ASKS {
                packet.place = self.enter(net, flow);
                net.count(link, 1);
            }
            self.packets.add(packet)
        };
        self.send(net, link, packet);
    }

    /// A packet has come to the switch, or node, in front of this link.
    #[inline(always)]
    fn queue(&mut self, net: &mut Net, link: u32, packet: u32) {
        if ASKS {
            net.count(link, 1);
        }
        let port = &mut self.ports[link as usize];
        if port.peak & SENDING == 0 {
            return self.send(net, link, packet);
        }
        port.queue_time -= i128::from(net.now);
        port.queued += 1;
        port.peak = port.peak.max(port.queued | SENDING);
        self.packets.get(packet).next = NONE;
        self.append(link, packet);
    }

    #[inline(always)]
    fn append(&mut self, link: u32, entry: u32) {
        let port = &mut self.ports[link as usize];
        let tail = std::mem::replace(&mut port.tail, entry);
        if port.head == NONE {
            port.head = entry;
        } else if tail & TRAIN == 0 {
            self.packets.get(tail).next = entry;
        } else {
            self.trains.get(tail & !TRAIN).next = entry;
        }
    }

    /// A packet has crossed a link; returns whether its message has arrived.
    #[inline(always)]
    fn hand_on(&mut self, net: &mut Net, packet: u32) -> bool {
        net.hops += 1;
        let crossed = self.packets.get(packet);
        crossed.place += 1;
        let (place, last, bytes) = (crossed.place, crossed.last, crossed.bytes);
        let link = net.link(place);
        if link < ASK {
            self.queue(net, link, packet);
            return false;
        }
        if ASKS && link == ASK {
            net.ask(place);
            self.follow_stride(net);
            let link = net.link(self.packets.at(packet).place);
            self.queue(net, link, packet);
            return false;
        }
        self.packets.remove(packet);
        if ASKS {
            return net.packet_arrived(place, bytes);
        }
        if last {
            net.arrivals.push(net.flow(place));
        }
        last
    }
}

impl<const ASKS: bool> Switching for OutputQueues<ASKS> {
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        let link = if ASKS { net.only_link(flow) } else { net.link(net.place(flow)) };
        if ASKS && link == NONE {
            return self.launch_all(net, flow, bytes);
        }
        self.follow_stride(net);
        self.trains.add(flow, bytes);
        self.append(link, flow | TRAIN);
        if self.ports[link as usize].peak & SENDING == 0 {
            self.go_on(net, link);
        }
    }

    #[inline(always)]
    fn handle(&mut self, net: &mut Net, event: Event) -> bool {
        let Event { what: link, which: packet, .. } = event;
        if link & ARRIVAL != 0 {
            return self.hand_on(net, packet);
        }
        self.go_on(net, link);
        let sent = self.packets.at(packet);
        let departed = if ASKS {
            let place = sent.place;
            net.count(link, -1);
            net.is_first(place) && net.packet_departed(place)
        } else {
            sent.last && net.is_first(sent.place) && net.departed(sent.place)
        };
        (self.ports[link as usize].latency == 0 && self.hand_on(net, packet)) | departed
    }

    fn port(&self, net: &Net, link: usize) -> Ticks {
        let port = &self.ports[link];
        let queue_time = (port.queue_time + i128::from(net.now) * i128::from(port.queued)) as f64;
        Ticks { busy: port.busy, peak_queue: port.peak & !SENDING, queue_time, blocked: 0 }
    }

    fn gridlock(&self, net: &Net) -> Option<Gridlock> {
        // Queues never refuse a packet: whoever waits for a link is served.
        let packets = self.packets.count + self.trains.count;
        (packets > 0).then(|| Gridlock { at: net.clock.time(net.now), packets, cycle: Vec::new() })
    }
}
