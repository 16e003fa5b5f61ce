//! Output queues: whole packets, unlimited first-in-first-out queues, store and forward.

use super::net::{NONE, Net, Pool, Trains};
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
/// Source: the order of ns-3's `PointToPointNetDevice` (transmission complete, then receive) with unlimited queues.
#[derive(Debug)]
pub(super) struct OutputQueues {
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

impl OutputQueues {
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
            let packet = self.trains.next_packet(net, flow);
            if packet.last {
                port.head = self.trains.at(flow).next;
            }
            self.packets.add(packet)
        };
        self.send(net, link, packet);
    }

    /// A packet has come to the switch, or node, in front of this link.
    #[inline(always)]
    fn queue(&mut self, net: &mut Net, link: u32, packet: u32) {
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
        let (place, last) = (crossed.place, crossed.last);
        let link = net.link(place);
        if link != NONE {
            self.queue(net, link, packet);
            return false;
        }
        self.packets.remove(packet);
        if last {
            net.arrivals.push(net.flow(place));
        }
        last
    }
}

impl Switching for OutputQueues {
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        if self.stride != net.stride {
            self.packets.rename(net.renaming(self.stride));
            self.stride = net.stride;
        }
        let link = net.link(net.place(flow));
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
        let departed = sent.last && net.is_first(sent.place) && net.departed(sent.place);
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
