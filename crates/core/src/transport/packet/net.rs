//! What all packet models stand on: links in ticks, routes of messages, packets, the clock and its events.

use std::sync::Arc;

use super::asking::Asking;
use super::clock::{Clock, rounded};
use super::pending::Pending;
use super::spec::PacketSpec;
use crate::fabric::Fabric;
use crate::ids::{Id, LinkId};
use crate::routing::Router;
use crate::units::Time;

/// No packet, no message, no link: the end of a list or of a route.
pub(super) const NONE: u32 = u32::MAX;
/// In a route: here the packet asks for its way on. All links have smaller numbers.
pub(super) const ASK: u32 = u32::MAX - 1;
/// Places there are at most, all routes together (they take 4 GiB): models use the bits above for marks.
pub const MOST_PLACES: usize = 1 << 30;

/// Places that the routes of messages take, each `crossings` links long \[entries\].
#[cfg(feature = "simulator")]
pub fn places(messages: u64, crossings: u64) -> u64 {
    messages.saturating_mul((crossings + 1).next_power_of_two())
}

/// Links, messages and time.
#[derive(Debug)]
pub(super) struct Net {
    pub clock: Clock,
    pub pending: Pending,
    /// The time of the event at hand \[ticks\].
    pub now: u64,
    pub links: Vec<Link>,
    /// Bytes of a full packet.
    pub packet_bytes: u32,
    /// The links of message m, from place `m * stride` on, with [`NONE`] behind the last one; where packets have routes
    /// of their own, those of slot m.
    pub routes: Vec<u32>,
    /// A power of two.
    pub stride: usize,
    /// What is kept for packets that have routes of their own.
    pub asking: Option<Box<Asking>>,
    /// Messages that have arrived.
    pub arrivals: Vec<u32>,
    /// Messages that have left their senders, if somebody wants to know.
    pub departures: Vec<u32>,
    wants_departures: bool,
    /// Packets that have crossed a link, each link counted.
    pub hops: u64,
}

/// A link in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Time of a full packet \[ticks\].
    pub full: u64,
    /// Time of a byte \[ticks\].
    pub per_byte: f64,
    /// \[ticks\].
    pub latency: u64,
}

impl Net {
    pub(super) fn new(fabric: &Fabric, router: &Arc<dyn Router>, spec: &PacketSpec, wants_departures: bool) -> Self {
        let clock = Clock::new(fabric, spec.packet_size.0);
        let links: Vec<Link> = fabric
            .links()
            .iter_ids()
            .map(|(id, link)| {
                let per_byte = clock.per_byte(fabric.shared_capacity(id));
                let full = rounded(per_byte * spec.packet_size.0 as f64);
                Link { full, per_byte, latency: clock.span(link.latency) }
            })
            .collect();
        let delay = |link: &Link| link.full.saturating_add(link.latency);
        // A few slow links must not make the slots wide for all others: what lies further ahead has its own place.
        let fastest = links.iter().map(delay).min().unwrap_or(1);
        let usual = links.iter().map(delay).max().unwrap_or(1).min(fastest.saturating_mul(64));
        // Of each packet when it has left, and where links have a latency when it is there.
        let full = links.iter().map(|link| (link.full, 1));
        let delays = full.chain(links.iter().filter(|link| link.latency > 0).map(|link| (delay(link), 1))).collect();
        let asking = Asking::new(fabric, router);
        // Room for the way to the first switch, where packets ask.
        let stride = if asking.is_some() { 4 } else { 0 };
        Self {
            pending: Pending::new(delays, usual, links.len()),
            clock,
            now: 0,
            links,
            // Checked with the options: 1 GiB at most.
            packet_bytes: spec.packet_size.0 as u32,
            routes: Vec::new(),
            stride,
            asking,
            arrivals: Vec::new(),
            departures: Vec::new(),
            wants_departures,
            hops: 0,
        }
    }

    /// Time goes on to where the engine is.
    pub(super) fn set_now(&mut self, now: Time) {
        // The time of a tick as a double may lie beside the tick: the engine brings back what it was given.
        if now != self.clock.time(self.now) {
            self.now = self.now.max(self.clock.at_or_after(now));
        }
    }

    /// Notes the route of a message.
    pub(super) fn set_route(&mut self, flow: u32, route: &[LinkId]) {
        self.widen(route.len() + 1);
        let first = flow as usize * self.stride;
        if self.routes.len() < first + self.stride {
            self.lengthen(first + self.stride);
        }
        let slots = &mut self.routes[first..first + self.stride];
        for (slot, link) in slots.iter_mut().zip(route) {
            *slot = link.0;
        }
        slots[route.len()] = NONE;
    }

    /// Makes room for more messages.
    #[cold]
    #[inline(never)]
    fn lengthen(&mut self, places: usize) {
        assert!(places <= MOST_PLACES, "too many messages at once: their routes take more than 4 GiB");
        self.routes.resize(places, NONE);
    }

    /// Makes room for routes of so many entries.
    #[inline]
    pub(super) fn widen(&mut self, needed: usize) {
        if needed > self.stride {
            let stride = needed.next_power_of_two();
            let mut routes = vec![NONE; self.routes.len() / self.stride.max(1) * stride];
            if self.stride > 0 {
                for (to, from) in routes.chunks_exact_mut(stride).zip(self.routes.chunks_exact(self.stride)) {
                    to[..self.stride].copy_from_slice(from);
                }
            }
            (self.routes, self.stride) = (routes, stride);
        }
    }

    /// The first place of a message: its routes start there.
    #[inline]
    pub(super) fn place(&self, flow: u32) -> u32 {
        (flow as usize * self.stride) as u32
    }

    /// The message that a place belongs to.
    #[inline]
    pub(super) fn flow(&self, place: u32) -> u32 {
        let slot = place >> self.stride.trailing_zeros();
        match &self.asking {
            None => slot,
            Some(asking) => asking.owner(slot),
        }
    }

    /// Whether this is the first link of a message.
    #[inline]
    pub(super) fn is_first(&self, place: u32) -> bool {
        place as usize & (self.stride - 1) == 0
    }

    /// The link at a place, [`NONE`] behind the last one.
    #[inline]
    pub(super) fn link(&self, place: u32) -> u32 {
        self.routes[place as usize]
    }

    /// How long a packet keeps a link \[ticks\].
    #[inline]
    pub(super) fn sending(&self, link: u32, bytes: u32) -> u64 {
        let link = &self.links[link as usize];
        if bytes == self.packet_bytes { link.full } else { rounded(link.per_byte * f64::from(bytes)) }
    }

    /// How places are renamed where routes have become longer than `stride`.
    pub(super) fn renaming(&self, stride: usize) -> impl Fn(u32) -> u32 + use<> {
        let (old, new) = (stride as u32, self.stride as u32);
        move |place| match place {
            NONE => NONE,
            // Wraps for unused entries only.
            _ => (place / old).wrapping_mul(new).wrapping_add(place % old),
        }
    }

    /// Schedules something.
    #[inline(always)]
    pub(super) fn schedule(&mut self, delay: u64, what: u32, which: u32) {
        self.pending.push(self.now, delay, what, which);
    }

    /// The same, in less code.
    #[inline(never)]
    pub(super) fn schedule_later(&mut self, delay: u64, what: u32, which: u32) {
        self.schedule(delay, what, which);
    }

    /// The last byte of the message at this place has left its sender; returns whether somebody wants to know.
    #[inline]
    pub(super) fn departed(&mut self, place: u32) -> bool {
        if self.wants_departures {
            self.departures.push(self.flow(place));
        }
        self.wants_departures
    }

    /// How long a message takes with the network to itself.
    ///
    /// Its last packet leaves link l when it is there and the one before it has left,
    /// ```text
    /// leaves(l) = max(leaves(l - 1) + latency, leaves of the one before) + s / c
    /// ```
    /// which on links of one speed is `b / c + (hops - 1) * packet / c` plus latencies. With cut-through the first byte
    /// of a packet is `head` behind each link after it was sent, and the packet is not faster than its last byte.
    pub(super) fn alone(&self, route: &[LinkId], bytes: u64, head: Option<u64>) -> Time {
        let size = u64::from(self.packet_bytes);
        let sum = u64::saturating_add;
        let full_packets = bytes.saturating_sub(1) / size;
        let last = (bytes - full_packets * size) as u32;
        // When the last of the full packets, and the last packet, have left the link before, and when they can go on.
        let (mut full_ready, mut last_ready, mut last_tail) = (0u64, 0u64, 0u64);
        let (mut slowest, mut full_tail) = (0u64, 0u64);
        for link in route {
            let wire = &self.links[link.index()];
            let (full, own) = (wire.full, self.sending(link.0, last));
            slowest = slowest.max(full);
            let mut before = 0;
            if full_packets > 0 {
                // The first packet, then all others behind the slowest link so far.
                let first_end = sum(full_ready, full).max(full_tail);
                before = sum(first_end, slowest.saturating_mul(full_packets - 1));
                let head = head.map_or(first_end, |head| sum(full_ready, head.min(full)));
                full_ready = sum(head, wire.latency);
                full_tail = sum(first_end, wire.latency);
            }
            let start = last_ready.max(before);
            let end = sum(start, own).max(last_tail);
            last_ready = sum(head.map_or(end, |head| sum(start, head.min(own))), wire.latency);
            last_tail = sum(end, wire.latency);
        }
        self.clock.time(last_tail)
    }
}

/// Packets in the network, by number; numbers are used again.
#[derive(Debug, Default)]
pub(super) struct Pool {
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// Packets there are now.
    pub count: u64,
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Its message, and the link of its route that it is on, or waits for.
    pub place: u32,
    /// The packet behind it in its queue.
    pub next: u32,
    /// Its size \[B\].
    pub bytes: u32,
    /// Whether it is the last one of its message.
    pub last: bool,
    /// The virtual channel of the buffer that it is in.
    pub lane: u16,
}

impl Pool {
    #[inline(always)]
    pub(super) fn add(&mut self, packet: Packet) -> u32 {
        self.count += 1;
        match self.free.pop() {
            Some(id) => {
                self.packets[id as usize] = packet;
                id
            }
            None => {
                self.packets.push(packet);
                (self.packets.len() - 1) as u32
            }
        }
    }

    /// Renames places.
    pub(super) fn rename(&mut self, name: impl Fn(u32) -> u32) {
        for packet in &mut self.packets {
            packet.place = name(packet.place);
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        self.count -= 1;
        self.free.push(id);
    }

    #[inline(always)]
    pub(super) fn get(&mut self, id: u32) -> &mut Packet {
        &mut self.packets[id as usize]
    }

    #[inline(always)]
    pub(super) fn at(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }
}

/// The packets of a message that are still at its source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    /// Bytes left.
    pub left: u64,
    /// The message behind it in the same queue.
    pub next: u32,
    /// Its place in the order in which messages were sent.
    pub order: u64,
}

/// The messages at their sources.
#[derive(Debug, Default)]
pub(super) struct Trains {
    trains: Vec<Train>,
    sent: u64,
    /// Messages whose last packet has not left yet.
    pub count: u64,
}

impl Trains {
    pub(super) fn add(&mut self, flow: u32, bytes: u64) {
        if self.trains.len() <= flow as usize {
            self.trains.resize(flow as usize + 1, Train::default());
        }
        self.trains[flow as usize] = Train { left: bytes, next: NONE, order: self.sent };
        self.sent += 1;
        self.count += 1;
    }

    #[inline]
    pub(super) fn get(&mut self, flow: u32) -> &mut Train {
        &mut self.trains[flow as usize]
    }

    #[inline]
    pub(super) fn at(&self, flow: u32) -> &Train {
        &self.trains[flow as usize]
    }

    /// The next packet of a message.
    #[inline]
    pub(super) fn next_packet(&mut self, net: &Net, flow: u32) -> Packet {
        let train = &mut self.trains[flow as usize];
        let bytes = train.left.min(u64::from(net.packet_bytes)) as u32;
        train.left -= u64::from(bytes);
        let last = train.left == 0;
        self.count -= u64::from(last);
        Packet { place: net.place(flow), next: NONE, bytes, last, lane: 0 }
    }
}
