//! Fair queues for packets that choose their own paths.

use rustc_hash::FxHashMap;

use super::net::{ASK, NONE, Net, Packet, Pool};
use super::spec::PacketSpec;
use super::switching::{ARRIVAL, Switching, Ticks};
use super::turn::Port;
use super::wheel::Event;
use crate::transport::Gridlock;

/// [`FairQueues`](super::fq::FairQueues) for packets of a message that may take different paths.
///
/// A queue holds packets of one message at one link that are the same number of hops from their source. A
/// packet may be sent over a link if fewer than K packets of its message, sent over that link from the same
/// queue, wait behind it. So a packet waits for room that packets further on will leave, never in a circle.
/// If all packets take one path, the result equals that of queues by message and hop to the last tick.
#[derive(Debug)]
pub(super) struct FairPackets {
    ports: Vec<Port>,
    queues: Vec<Queue>,
    free: Vec<u32>,
    /// Number of each queue, by message, hop and link.
    numbers: FxHashMap<(u32, u32, u32), u32>,
    packets: Pool,
    /// By packet: the queue from which it came last.
    origins: Vec<u32>,
    /// By message: bytes at its source that are not in packets yet.
    left: Vec<u64>,
    room: u32,
    /// Number of messages that have not arrived.
    under_way: u64,
    /// Number of places of a route: see [`Net::stride`].
    stride: usize,
}

/// Packets of a message that wait for a link.
#[derive(Clone, Copy, Debug)]
struct Queue {
    key: (u32, u32, u32),
    head: u32,
    tail: u32,
    /// Number of packets that wait here; at a source, all that have not left.
    waiting: u64,
    /// Number of packets that were sent from here and have not left the next hop.
    ahead: u32,
    /// Queue behind it in the turn of the link.
    next: u32,
    /// Set if it has a place in the turn.
    queued: bool,
}

impl FairPackets {
    pub(super) fn new(spec: &PacketSpec, net: &Net) -> Self {
        Self {
            ports: vec![Port::new(); net.links.len()],
            queues: Vec::new(),
            free: Vec::new(),
            numbers: FxHashMap::default(),
            packets: Pool::default(),
            origins: Vec::new(),
            left: Vec::new(),
            room: spec.buffer().room(),
            under_way: 0,
            stride: net.stride,
        }
    }

    fn follow_stride(&mut self, net: &Net) {
        if self.stride != net.stride {
            self.packets.rename(net.renaming(self.stride));
            self.stride = net.stride;
        }
    }

    /// Returns the queue of a message at a link, which it creates if necessary.
    fn queue(&mut self, key: (u32, u32, u32)) -> u32 {
        let (queues, free) = (&mut self.queues, &mut self.free);
        *self.numbers.entry(key).or_insert_with(|| {
            let empty = Queue { key, head: NONE, tail: NONE, waiting: 0, ahead: 0, next: NONE, queued: false };
            match free.pop() {
                Some(number) => {
                    queues[number as usize] = empty;
                    number
                }
                None => {
                    queues.push(empty);
                    queues.len() as u32 - 1
                }
            }
        })
    }

    /// Removes a queue without packets and without a place in the turn.
    fn tidy(&mut self, number: u32) {
        let queue = &self.queues[number as usize];
        if queue.waiting == 0 && queue.ahead == 0 && !queue.queued {
            self.numbers.remove(&queue.key);
            self.free.push(number);
        }
    }

    fn append(&mut self, number: u32, packet: u32) {
        self.packets.get(packet).next = NONE;
        let queue = &mut self.queues[number as usize];
        queue.waiting += 1;
        let tail = std::mem::replace(&mut queue.tail, packet);
        if queue.head == NONE {
            queue.head = packet;
        } else {
            self.packets.get(tail).next = packet;
        }
    }

    fn add(&mut self, packet: Packet) -> u32 {
        let id = self.packets.add(packet);
        if self.origins.len() <= id as usize {
            self.origins.resize(id as usize + 1, NONE);
        }
        self.origins[id as usize] = NONE;
        id
    }

    /// Gives a queue its place in the turn of its link, if it has a packet that may go.
    fn join_turn(&mut self, net: &Net, number: u32) {
        let queue = &self.queues[number as usize];
        // Behind the last hop, room is unlimited. Packets that have not been made yet ask behind the first
        // hop.
        let ends = queue.head != NONE && net.link(self.packets.at(queue.head).place + 1) == NONE;
        if queue.queued || queue.waiting == 0 || (!ends && queue.ahead >= self.room) {
            return;
        }
        let link = queue.key.2;
        let queue = &mut self.queues[number as usize];
        queue.queued = true;
        queue.next = NONE;
        if let Some(tail) = self.ports[link as usize].append(number) {
            self.queues[tail as usize].next = number;
        }
    }

    /// Gives a queue its place in the turn of its link, and starts the link if it stands still.
    fn join_turn_and_start(&mut self, net: &mut Net, number: u32) {
        self.join_turn(net, number);
        let link = self.queues[number as usize].key.2;
        if self.ports[link as usize].may_go_on() {
            self.start_link(net, link);
        }
    }

    /// Starts a free link. The room that this makes may let the link before it send, and so on.
    fn start_link(&mut self, net: &mut Net, link: u32) {
        let mut free = self.send(net, link);
        while let Some(link) = free {
            free = self.send(net, link);
        }
    }

    /// Takes the first packet of a queue; at a source the packet is made now.
    fn take(&mut self, net: &mut Net, number: u32) -> u32 {
        let queue = &mut self.queues[number as usize];
        queue.queued = false;
        queue.waiting -= 1;
        if queue.head != NONE {
            let packet = queue.head;
            queue.head = self.packets.at(packet).next;
            return packet;
        }
        let flow = queue.key.0;
        let left = &mut self.left[flow as usize];
        let bytes = (*left).min(u64::from(net.packet_bytes)) as u32;
        *left -= u64::from(bytes);
        let last = *left == 0;
        let place = net.enter(flow);
        self.follow_stride(net);
        self.add(Packet { place, next: NONE, bytes, last })
    }

    /// Sends the packet whose turn it is over a free link, if there is one. Returns the link that stood still
    /// for lack of the room that this makes.
    fn send(&mut self, net: &mut Net, link: u32) -> Option<u32> {
        let port = &mut self.ports[link as usize];
        if !port.goes_on(net.now) {
            return None;
        }
        let number = port.head;
        let at_source = self.queues[number as usize].key.1 == 0;
        if at_source {
            net.count(link, 1);
        } else {
            port.meter.leaves(net.now);
        }
        port.head = self.queues[number as usize].next;
        let packet = self.take(net, number);
        let &Packet { place, bytes, .. } = self.packets.at(packet);
        let (time, latency) = (net.sending(link, bytes), net.links[link as usize].latency);
        let port = &mut self.ports[link as usize];
        port.meter.sends(time);
        let ends = net.link(place + 1) == NONE;
        if !ends {
            self.queues[number as usize].ahead += 1;
        }
        let origin = std::mem::replace(&mut self.origins[packet as usize], number);
        self.join_turn(net, number);
        net.schedule(time, link, packet);
        if latency > 0 {
            net.schedule_later(time.saturating_add(latency), link | ARRIVAL, packet);
        }
        if ends {
            self.tidy(number);
        }
        if at_source {
            return None;
        }
        self.queues[origin as usize].ahead -= 1;
        self.join_turn(net, origin);
        let before = self.queues[origin as usize].key.2;
        self.tidy(origin);
        self.ports[before as usize].may_go_on().then_some(before)
    }

    /// Handles a packet that has crossed a link; returns true if its message has arrived.
    fn deliver_over_link(&mut self, net: &mut Net, packet: u32) -> bool {
        net.hops += 1;
        let crossed = self.packets.get(packet);
        crossed.place += 1;
        let (mut place, bytes) = (crossed.place, crossed.bytes);
        let mut link = net.link(place);
        if link == NONE {
            self.packets.remove(packet);
            let all = net.packet_arrived(place, bytes);
            self.under_way -= u64::from(all);
            return all;
        }
        if link == ASK {
            net.ask(place);
            self.follow_stride(net);
            place = self.packets.at(packet).place;
            link = net.link(place);
        }
        net.count(link, 1);
        let hop = place & (net.stride as u32 - 1);
        let number = self.queue((net.flow(place), hop, link));
        self.append(number, packet);
        let port = &mut self.ports[link as usize];
        port.meter.comes(net.now);
        self.join_turn_and_start(net, number);
        self.ports[link as usize].settles(net.now);
        false
    }
}

impl Switching for FairPackets {
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        self.under_way += 1;
        if self.left.len() <= flow as usize {
            self.left.resize(flow as usize + 1, 0);
        }
        let link = net.only_link(flow);
        if link != NONE {
            self.left[flow as usize] = bytes;
            let number = self.queue((flow, 0, link));
            self.queues[number as usize].waiting = bytes.div_ceil(u64::from(net.packet_bytes));
            return self.join_turn_and_start(net, number);
        }
        // The node has several links: each packet chooses now.
        let mut left = bytes;
        while left > 0 {
            let place = net.enter(flow);
            self.follow_stride(net);
            let bytes = left.min(u64::from(net.packet_bytes)) as u32;
            left -= u64::from(bytes);
            let packet = self.add(Packet { place, next: NONE, bytes, last: left == 0 });
            let number = self.queue((flow, 0, net.link(place)));
            self.append(number, packet);
            self.join_turn_and_start(net, number);
        }
    }

    fn handle(&mut self, net: &mut Net, event: Event) -> bool {
        let Event { what: link, which: packet, .. } = event;
        if link & ARRIVAL != 0 {
            return self.deliver_over_link(net, packet);
        }
        net.count(link, -1);
        let place = self.packets.at(packet).place;
        let first = net.is_first(place);
        self.start_link(net, link);
        // The place may have moved, because a packet made meanwhile may have asked.
        let place = self.packets.at(packet).place;
        let departed = first && net.packet_departed(place);
        let arrived = net.links[link as usize].latency == 0 && self.deliver_over_link(net, packet);
        arrived | departed
    }

    fn port(&self, net: &Net, link: usize) -> Ticks {
        self.ports[link].meter.ticks(net.now)
    }

    fn gridlock(&self, net: &Net) -> Option<Gridlock> {
        // Packets further on make room at a hop, whatever their path: none waits for ever.
        let at = net.clock.time(net.now);
        (self.under_way > 0).then(|| Gridlock { at, packets: self.under_way, cycle: Vec::new() })
    }
}
