//! State that all packet models share: links in ticks, routes of messages, packets, the clock and its events.

use std::sync::Arc;

use super::asking::PacketRouting;
use super::clock::{Clock, rounded};
use super::pending::Pending;
use super::spec::PacketSpec;
use crate::base::prefetch::fetch_entry;
use crate::fabric::Fabric;
use crate::ids::{Id, LinkId};
use crate::routing::Router;
use crate::units::Time;

/// Value for no packet, message or link: the end of a list or of a route.
pub(super) const NONE: u32 = u32::MAX;
/// Entry of a route at which the packet asks for its further path. All links have smaller numbers.
pub(super) const ASK: u32 = u32::MAX - 1;
/// Largest number of places, all routes together (they take 4 GiB): models use the bits above for marks.
pub const MOST_PLACES: usize = 1 << 30;

/// Returns the number of places that the routes of messages take, each `crossings` links long \[entries\].
#[cfg(feature = "simulator")]
pub fn places(messages: u64, crossings: u64) -> u64 {
    messages.saturating_mul((crossings + 1).next_power_of_two())
}

/// Links, messages and time.
#[derive(Debug)]
pub(super) struct Net {
    pub clock: Clock,
    pub pending: Pending,
    /// Time of the current event \[ticks\].
    pub now: u64,
    pub links: Vec<Link>,
    /// Bytes of a full packet.
    pub packet_bytes: u32,
    /// Links of message m, from place `m * stride` on, with [`NONE`] behind the last one; if packets have
    /// routes of their own, those of slot m.
    pub routes: Vec<u32>,
    /// Number of places of a route, a power of two.
    pub stride: usize,
    /// State of packets that have routes of their own.
    pub asking: Option<Box<PacketRouting>>,
    /// Messages that have arrived.
    pub arrivals: Vec<u32>,
    /// Messages that have left their senders, if asked for.
    pub departures: Vec<u32>,
    wants_departures: bool,
    /// Number of links that packets have crossed, summed over packets.
    pub hops: u64,
}

/// Link in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Time of a full packet \[ticks\].
    pub full: u64,
    /// Time of a byte \[ticks\].
    pub per_byte: f64,
    /// Latency \[ticks\].
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
        // A few slow links must not make the slots wide for all other links: events further ahead have their
        // own place.
        let fastest = links.iter().map(delay).min().unwrap_or(1);
        let usual = links.iter().map(delay).max().unwrap_or(1).min(fastest.saturating_mul(64));
        // Each packet has an event when it has left, and on links with a latency another when it has arrived.
        let full = links.iter().map(|link| (link.full, 1));
        let delays = full.chain(links.iter().filter(|link| link.latency > 0).map(|link| (delay(link), 1))).collect();
        let asking = PacketRouting::new(fabric, router);
        // Room for the path to the first switch, if packets ask.
        let stride = if asking.is_some() { 4 } else { 0 };
        Self {
            pending: Pending::new(delays, usual, links.len()),
            clock,
            now: 0,
            links,
            // The options are checked: 1 GiB at most.
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

    /// Advances the time to that of the engine.
    pub(super) fn set_now(&mut self, now: Time) {
        // The time of a tick as a double may differ from the tick: the engine brings back the time that it
        // was given.
        if now != self.clock.time(self.now) {
            self.now = self.now.max(self.clock.at_or_after(now));
        }
    }

    /// Stores the route of a message.
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

    /// Makes room for routes of `needed` entries.
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

    /// Returns the first place of a message, where its route starts.
    #[inline]
    pub(super) fn place(&self, flow: u32) -> u32 {
        (flow as usize * self.stride) as u32
    }

    /// Returns the message that a place belongs to.
    #[inline]
    pub(super) fn flow(&self, place: u32) -> u32 {
        let slot = place >> self.stride.trailing_zeros();
        match &self.asking {
            None => slot,
            Some(asking) => asking.owner(slot),
        }
    }

    /// True if this is the first link of a message.
    #[inline]
    pub(super) fn is_first(&self, place: u32) -> bool {
        place as usize & (self.stride - 1) == 0
    }

    /// Returns the link at a place, [`NONE`] behind the last one.
    #[inline]
    pub(super) fn link(&self, place: u32) -> u32 {
        self.routes[place as usize]
    }

    /// Returns the time that a packet keeps a link busy \[ticks\].
    #[inline]
    pub(super) fn sending(&self, link: u32, bytes: u32) -> u64 {
        let link = &self.links[link as usize];
        if bytes == self.packet_bytes { link.full } else { rounded(link.per_byte * f64::from(bytes)) }
    }

    /// Returns a function that renames places after routes have become longer than `stride`.
    pub(super) fn renaming(&self, stride: usize) -> impl Fn(u32) -> u32 + use<> {
        let (old, new) = (stride as u32, self.stride as u32);
        move |place| match place {
            NONE => NONE,
            // This wraps only for unused entries.
            _ => (place / old).wrapping_mul(new).wrapping_add(place % old),
        }
    }

    /// Schedules an event.
    #[inline(always)]
    pub(super) fn schedule(&mut self, delay: u64, what: u32, which: u32) {
        self.pending.push(self.now, delay, what, which);
    }

    /// Schedules an event, without inlining: less code.
    #[inline(never)]
    pub(super) fn schedule_later(&mut self, delay: u64, what: u32, which: u32) {
        self.schedule(delay, what, which);
    }

    /// Records that the last byte of the message at this place has left its sender; returns true if
    /// departures are asked for.
    #[inline]
    pub(super) fn departed(&mut self, place: u32) -> bool {
        if self.wants_departures {
            self.departures.push(self.flow(place));
        }
        self.wants_departures
    }

    /// Returns the time that a message takes with the network to itself.
    ///
    /// Its last packet leaves link l after it has arrived there and the previous packet has left:
    /// ```text
    /// leaves(l) = max(leaves(l - 1) + latency, leaves of the previous packet) + s / c
    /// ```
    /// On links of one speed this is `b / c + (hops - 1) * packet / c` plus latencies. With cut-through the
    /// first byte of a packet has crossed each link `head` after it was sent, and the packet is not faster than
    /// its last byte.
    pub(super) fn alone(&self, route: &[LinkId], bytes: u64, head: Option<u64>) -> Time {
        let size = u64::from(self.packet_bytes);
        let sum = u64::saturating_add;
        let full_packets = bytes.saturating_sub(1) / size;
        let last = (bytes - full_packets * size) as u32;
        // Times at which the last of the full packets, and the last packet, have left the previous link and
        // can go on.
        let (mut full_ready, mut last_ready, mut last_tail) = (0u64, 0u64, 0u64);
        let (mut slowest, mut full_tail) = (0u64, 0u64);
        for link in route {
            let wire = &self.links[link.index()];
            let (full, own) = (wire.full, self.sending(link.0, last));
            slowest = slowest.max(full);
            let mut before = 0;
            if full_packets > 0 {
                // The first packet, then all later ones behind the slowest link so far.
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

/// Packets in the network, by number; freed numbers are used again.
#[derive(Debug, Default)]
pub(super) struct Pool {
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// Number of packets at present.
    pub count: u64,
}

/// Packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Place of the link of its message's route that it is on, or waits for.
    pub place: u32,
    /// Packet behind it in its queue.
    pub next: u32,
    /// Size \[B\].
    pub bytes: u32,
    /// Set for the last packet of its message.
    pub last: bool,
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

    /// Renames the places of all packets.
    pub(super) fn rename(&mut self, name: impl Fn(u32) -> u32) {
        for packet in &mut self.packets {
            packet.place = name(packet.place);
        }
    }

    /// Returns the place of a packet, 0 if there is none with this number.
    #[inline(always)]
    pub(super) fn place(&self, id: u32) -> u32 {
        self.packets.get(id as usize).map_or(0, |packet| packet.place)
    }

    /// Prefetches a packet, if there is one with this number.
    #[inline(always)]
    pub(super) fn fetch(&self, id: u32) {
        fetch_entry(&self.packets, id);
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

/// Packets of a message that are still at its source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    /// Bytes left \[B\].
    pub left: u64,
    /// Message behind it in the same queue.
    pub next: u32,
    /// Place in the order in which messages were sent.
    pub order: u64,
}

/// Messages at their sources.
#[derive(Debug, Default)]
pub(super) struct Trains {
    trains: Vec<Train>,
    sent: u64,
    /// Number of messages whose last packet has not left yet.
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

    /// Returns the next packet of a message.
    #[inline]
    pub(super) fn next_packet(&mut self, net: &Net, flow: u32) -> Packet {
        let train = &mut self.trains[flow as usize];
        let bytes = train.left.min(u64::from(net.packet_bytes)) as u32;
        train.left -= u64::from(bytes);
        let last = train.left == 0;
        self.count -= u64::from(last);
        Packet { place: net.place(flow), next: NONE, bytes, last }
    }
}
