//! Output queues: whole packets, unlimited first-in-first-out queues, store and forward.

use super::net::{ASK, NONE, Net};
use super::switching::{ARRIVAL, Switching, Ticks};
use super::wheel::Event;
use crate::base::prefetch::fetch_entry;
use crate::transport::Gridlock;

/// Bit that marks an entry of a queue as a whole message at its source. Its packets are made as they are
/// sent, which equals putting all of them into the queue at once.
const TRAIN: u32 = 1 << 31;
/// Bit that marks a packet as the last one of its message, the only one that may be shorter.
const LAST: u32 = 1 << 30;

/// Switches (and nodes) of unlimited memory that can write any number of packets into one queue at once.
///
/// Each link has one queue, in which a packet takes its place when its last byte has come. So a packet waits
/// only for those in front of it: no link ever stands still while a packet waits for it.
///
/// There is one event a hop. When link l has sent a packet, it starts the next one of its queue, and the sent
/// packet takes its place in the queue of its next link, or starts there at once. If the link has a latency,
/// the packet comes with an event of its own.
///
/// A packet is one word, stored only in its queue or event: its place, which stands for message and hop, and
/// a bit for the last packet of its message ([`LAST`]).
///
/// `ASKS`: packets have routes of their own, and ask the rule for them.
///
/// Source: the order of ns-3's `PointToPointNetDevice` (transmission complete, then receive) with unlimited
/// queues.
#[derive(Debug)]
pub(super) struct OutputQueues<const ASKS: bool> {
    ports: Vec<Port>,
    /// Rings of all ports.
    entries: Vec<u32>,
    /// Messages by flow.
    messages: Vec<Message>,
    /// Number of packets in the network, plus messages that have not left their sources.
    under_way: u64,
    /// Number of places of a message: see [`Net::stride`].
    stride: usize,
}

/// Message at its source.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    /// Number of its packets that are still at the source, while it is an entry of a queue.
    left: u64,
    /// Size of its last packet \[B\].
    last_bytes: u32,
}

/// Link with its queue: one cache line.
///
/// The queue is a ring of packets and messages ([`TRAIN`]) in order of arrival. The link is sending while it has an
/// entry, and the first one stands for the packet that is being sent: it may be stale.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Port {
    /// Sum over packets of departure time minus arrival time. With waiting packets taken as leaving now, this
    /// is the number of waiting packets, integrated over time \[ticks\].
    queue_time: i128,
    /// Time of a full packet \[ticks\].
    full: u64,
    /// Number of full packets that the link has begun to send, and the time of all others \[ticks\].
    sent: u64,
    rest: u64,
    /// First entry of the ring, and its length, a power of two, minus one.
    start: u32,
    mask: u32,
    /// Number of entries that have been taken out and put in, modulo 2^32.
    taken: u32,
    put: u32,
    /// Number of messages at their source among the entries behind the first one.
    trains: u32,
    /// Largest number of packets that waited at once, with the bit [`DELAYED`] above it.
    peak: u32,
}

/// Bit set if the link has a latency.
const DELAYED: u32 = 1 << 31;
/// Number of entries for which a queue has room at first.
const ROOM: u32 = 4;

impl Port {
    /// Returns the number of entries.
    #[inline(always)]
    fn count(&self) -> u32 {
        self.put.wrapping_sub(self.taken)
    }

    /// Returns where the entry of this number is.
    #[inline(always)]
    fn place(&self, number: u32) -> usize {
        (self.start + (number & self.mask)) as usize
    }

    /// Returns where all entries are.
    fn places(&self) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.count()).map(|number| self.place(self.taken.wrapping_add(number)))
    }
}

impl<const ASKS: bool> OutputQueues<ASKS> {
    pub(super) fn new(net: &Net) -> Self {
        let port = |(number, link): (usize, &super::net::Link)| Port {
            queue_time: 0,
            full: link.full,
            sent: 0,
            rest: 0,
            start: number as u32 * ROOM,
            mask: ROOM - 1,
            taken: 0,
            put: 0,
            trains: 0,
            peak: if link.latency > 0 { DELAYED } else { 0 },
        };
        let ports: Vec<Port> = net.links.iter().enumerate().map(port).collect();
        let entries = vec![0; ports.len() * ROOM as usize];
        Self { ports, entries, messages: Vec::new(), under_way: 0, stride: 1 }
    }

    /// Renames places after routes have become longer; returns the new name of this packet.
    #[inline(always)]
    fn follow_stride(&mut self, net: &mut Net, packet: u32) -> u32 {
        if self.stride == net.stride { packet } else { self.rename(net, packet) }
    }

    #[cold]
    #[inline(never)]
    fn rename(&mut self, net: &mut Net, packet: u32) -> u32 {
        let name_of_place = net.renaming(self.stride);
        let name = |packet: u32| name_of_place(packet & !LAST) | (packet & LAST);
        for place in self.ports.iter().flat_map(Port::places) {
            let entry = &mut self.entries[place];
            *entry = if *entry & TRAIN == 0 { name(*entry) } else { *entry };
        }
        net.pending.rename(name);
        self.stride = net.stride;
        name(packet)
    }

    /// Prepares the sending of a message.
    fn begin(&mut self, net: &Net, flow: u32, bytes: u64) -> &mut Message {
        if self.messages.len() <= flow as usize {
            self.messages.resize(flow as usize + 1, Message::default());
        }
        let size = u64::from(net.packet_bytes);
        let packets = bytes.div_ceil(size);
        let message = &mut self.messages[flow as usize];
        *message = Message { left: packets, last_bytes: (bytes - (packets - 1) * size) as u32 };
        message
    }

    /// Launches a message from a node that has several links: its packets ask one after another, and each
    /// takes its place in the queue of its link at once.
    fn launch_all(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        let packets = self.begin(net, flow, bytes).left;
        for left in (0..packets).rev() {
            let place = net.enter(flow);
            // This comes before the packet is anywhere: its name is new already.
            self.follow_stride(net, 0);
            self.under_way += 1;
            self.queue(net, net.link(place), if left == 0 { place | LAST } else { place });
        }
    }

    /// Puts an entry at the end of the queue; returns the number of those before it.
    #[inline(always)]
    fn append(&mut self, link: u32, entry: u32) -> u32 {
        let port = &mut self.ports[link as usize];
        let before = port.count();
        if before > port.mask {
            Self::grow(&mut self.entries, port);
        }
        self.entries[port.place(port.put)] = entry;
        port.put = port.put.wrapping_add(1);
        before
    }

    /// Doubles the room of a ring, at another place.
    #[cold]
    #[inline(never)]
    fn grow(entries: &mut Vec<u32>, port: &mut Port) {
        let (start, count) = (entries.len(), port.count());
        let end = start + 2 * count as usize;
        assert!(end <= u32::MAX as usize, "too many packets at once: their queues take more than 16 GiB");
        entries.reserve(end - start);
        entries.extend(port.places().map(|place| entries[place]).collect::<Vec<u32>>());
        entries.resize(end, 0);
        (port.start, port.mask, port.taken, port.put) = (start as u32, 2 * count - 1, 0, count);
    }

    /// Starts to send a packet, the first entry of its link.
    #[inline(always)]
    fn send(&mut self, net: &mut Net, link: u32, packet: u32) {
        let port = &mut self.ports[link as usize];
        let time = if packet & LAST == 0 {
            port.sent += 1;
            port.full
        } else {
            let time = net.sending(link, self.messages[net.flow(packet & !LAST) as usize].last_bytes);
            port.rest = port.rest.saturating_add(time);
            time
        };
        let delayed = port.peak & DELAYED != 0;
        net.schedule(time, link, packet);
        if delayed {
            net.schedule_later(time.saturating_add(net.links[link as usize].latency), link | ARRIVAL, packet);
        }
    }

    /// Removes the first entry of a link, and starts the next one.
    #[inline(always)]
    fn start_next(&mut self, net: &mut Net, link: u32) {
        let port = &mut self.ports[link as usize];
        port.taken = port.taken.wrapping_add(1);
        if port.taken == port.put {
            return;
        }
        let entry = self.entries[port.place(port.taken)];
        if entry & TRAIN == 0 {
            port.queue_time += i128::from(net.now);
            return self.send(net, link, entry);
        }
        let flow = entry & !TRAIN;
        let message = &mut self.messages[flow as usize];
        message.left -= 1;
        let last = message.left == 0;
        // While it has more packets, the message stays behind the one that is being sent.
        port.taken = port.taken.wrapping_sub(u32::from(!last));
        port.trains -= u32::from(last);
        self.under_way += u64::from(!last);
        let place = if ASKS { net.enter(flow) } else { net.place(flow) };
        if ASKS {
            self.follow_stride(net, 0);
            net.count(link, 1);
        }
        self.send(net, link, if last { place | LAST } else { place });
    }

    /// Handles a packet that has come to the switch, or node, in front of this link.
    #[inline(always)]
    fn queue(&mut self, net: &mut Net, link: u32, packet: u32) {
        if ASKS {
            net.count(link, 1);
        }
        let before = self.append(link, packet);
        if before == 0 {
            return self.send(net, link, packet);
        }
        let port = &mut self.ports[link as usize];
        port.queue_time -= i128::from(net.now);
        port.peak += u32::from(before - port.trains > port.peak & !DELAYED);
    }

    /// Handles a packet that has crossed a link; returns true if its message has arrived.
    #[inline(always)]
    fn deliver_over_link(&mut self, net: &mut Net, packet: u32) -> bool {
        net.hops += 1;
        let mut packet = packet + 1;
        let mut link = net.link(packet & !LAST);
        if ASKS && link == ASK {
            net.ask(packet & !LAST);
            packet = self.follow_stride(net, packet);
            link = net.link(packet & !LAST);
        }
        if link < ASK {
            self.queue(net, link, packet);
            return false;
        }
        self.under_way -= 1;
        let (place, last) = (packet & !LAST, packet & LAST != 0);
        if ASKS {
            let last_bytes = self.messages[net.flow(place) as usize].last_bytes;
            return net.packet_arrived(place, if last { last_bytes } else { net.packet_bytes });
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
        self.follow_stride(net, 0);
        self.begin(net, flow, bytes);
        self.under_way += 1;
        let idle = self.ports[link as usize].count() == 0;
        if idle {
            self.append(link, 0);
        }
        self.append(link, flow | TRAIN);
        self.ports[link as usize].trains += 1;
        if idle {
            self.start_next(net, link);
        }
    }

    #[inline(always)]
    fn handle(&mut self, net: &mut Net, event: Event) -> bool {
        let Event { what: link, which: mut packet, .. } = event;
        let [(_, near), (far, later)] = net.pending.coming();
        fetch_entry(&self.ports, far & !ARRIVAL);
        fetch_entry(&net.routes, (later & !LAST) + 1);
        if let Some(&next) = net.routes.get((near & !LAST) as usize + 1) {
            fetch_entry(&self.ports, next);
        }
        if link & ARRIVAL != 0 {
            return self.deliver_over_link(net, packet);
        }
        let stride = self.stride;
        self.start_next(net, link);
        if ASKS && self.stride != stride {
            packet = net.renaming(stride)(packet & !LAST) | (packet & LAST);
        }
        let place = packet & !LAST;
        let departed = if ASKS {
            net.count(link, -1);
            net.is_first(place) && net.packet_departed(place)
        } else {
            packet & LAST != 0 && net.is_first(place) && net.departed(place)
        };
        (self.ports[link as usize].peak & DELAYED == 0 && self.deliver_over_link(net, packet)) | departed
    }

    fn port(&self, net: &Net, link: usize) -> Ticks {
        let port = &self.ports[link];
        let waiting = port.count().saturating_sub(1 + port.trains);
        let queue_time = (port.queue_time + i128::from(net.now) * i128::from(waiting)) as f64;
        let busy = u128::from(port.full) * u128::from(port.sent) + u128::from(port.rest);
        let busy = u64::try_from(busy).unwrap_or(u64::MAX);
        Ticks { busy, peak_queue: port.peak & !DELAYED, queue_time, blocked: 0 }
    }

    fn gridlock(&self, net: &Net) -> Option<Gridlock> {
        // Queues never refuse a packet: every packet that waits for a link is served.
        let packets = self.under_way;
        (packets > 0).then(|| Gridlock { at: net.clock.time(net.now), packets, cycle: Vec::new() })
    }
}
