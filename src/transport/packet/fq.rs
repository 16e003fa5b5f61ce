//! Fair queues: each link serves the messages that wait for it in turn, and none has more than a few packets at a hop.

use super::meter::Meter;
use super::net::{NONE, Net};
use super::spec::PacketSpec;
use super::switching::{Switching, Ticks};
use super::wheel::Event;
use crate::transport::Gridlock;

/// Marks an event as the arrival of a packet alone: the link has been free for a latency already.
const ARRIVAL: u32 = 1 << 31;

/// Output queues, one for each message and hop, served round robin, with room for K packets each.
///
/// A packet of a message may be sent over a link if fewer than K packets of the message wait at the next hop, those on
/// their way there counted, the one that is being sent on not. A link that has sent a packet takes the next one from
/// the message that has waited longest for its turn. So messages that share a link get equal parts of it, one that is
/// held back elsewhere leaves its part to the others, and what is held back waits at its source: with small packets
/// this is max-min fairness, which is why this model is the packet counterpart of max-min flows. With K = 1 a message
/// alone runs at full speed where links are equally fast: one packet comes while the one before leaves. The second one
/// is what keeps a link busy while turns shift.
///
/// Packets of a message keep their order and are all alike but the last, so none is kept as such: a queue is a count.
#[derive(Debug)]
pub(super) struct FairQueues {
    ports: Vec<Port>,
    /// By place, which is message and hop, laid out like the routes.
    queues: Vec<Queue>,
    /// Places a message, a power of two.
    stride: usize,
    messages: Vec<MessageProgress>,
    /// K.
    room: u32,
    /// Messages that have not arrived.
    under_way: u64,
}

/// The packets of one message at one hop.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Packets that wait here; at the source, all that have not left.
    waiting: u64,
    /// Packets that have started to cross the link.
    sent: u64,
    /// How many more may wait here or be on their way here.
    room: u32,
    /// The queue behind it in the turn of the link.
    next: u32,
    /// Whether it has a place in the turn.
    queued: bool,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, Default)]
struct MessageProgress {
    /// Its packets.
    packets: u64,
    /// Those that have arrived.
    arrived: u64,
    /// The size of the last one \[B\].
    last_bytes: u32,
}

/// A link and the turn of the messages that wait for it.
#[derive(Clone, Copy, Debug)]
struct Port {
    head: u32,
    tail: u32,
    sending: bool,
    meter: Meter,
}

impl FairQueues {
    pub(super) fn new(spec: &PacketSpec, net: &Net) -> Self {
        let port = Port { head: NONE, tail: NONE, sending: false, meter: Meter::new() };
        Self {
            ports: vec![port; net.links.len()],
            queues: Vec::new(),
            stride: 1,
            messages: Vec::new(),
            room: spec.buffer().room(),
            under_way: 0,
        }
    }

    /// Makes places for the hops of this message, as the routes are laid out now.
    fn lay_out(&mut self, net: &mut Net, flow: u32) {
        let empty = Queue { waiting: 0, sent: 0, room: self.room, next: NONE, queued: false };
        if self.stride != net.stride {
            let (old, new) = (self.stride, net.stride);
            let moved = net.renaming(old);
            let mut queues = vec![empty; self.queues.len() / old * new];
            for (to, from) in queues.chunks_exact_mut(new).zip(self.queues.chunks_exact(old)) {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = Queue { next: moved(from.next), ..*from };
                }
            }
            for port in &mut self.ports {
                (port.head, port.tail) = (moved(port.head), moved(port.tail));
            }
            net.wheel.rename(moved);
            (self.queues, self.stride) = (queues, new);
        }
        let first = flow as usize * self.stride;
        if self.queues.len() < first + self.stride {
            self.queues.resize(first + self.stride, empty);
        }
        self.queues[first..first + self.stride].fill(empty);
        if self.messages.len() <= flow as usize {
            self.messages.resize(flow as usize + 1, MessageProgress::default());
        }
    }

    /// Gives a queue its place in the turn of its link, if it has a packet that may go.
    #[inline]
    fn line_up(&mut self, net: &Net, place: usize) {
        let queue = &self.queues[place];
        // Behind the last hop there is room without end.
        if queue.queued || queue.waiting == 0 || (net.routes[place + 1] != NONE && self.queues[place + 1].room == 0) {
            return;
        }
        let queue = &mut self.queues[place];
        queue.queued = true;
        queue.next = NONE;
        let port = &mut self.ports[net.routes[place] as usize];
        let tail = std::mem::replace(&mut port.tail, place as u32);
        if port.head == NONE {
            port.head = place as u32;
        } else {
            self.queues[tail as usize].next = place as u32;
        }
    }

    /// The same, and has the link start if it stands still.
    #[inline]
    fn push_on(&mut self, net: &mut Net, place: usize) {
        self.line_up(net, place);
        let link = net.routes[place];
        let port = &self.ports[link as usize];
        if !port.sending && port.head != NONE {
            self.go_on(net, link);
        }
    }

    /// A link that is free goes on; what that makes room for may let the link before it go on, and so on.
    #[inline]
    fn go_on(&mut self, net: &mut Net, link: u32) {
        let mut free = self.send(net, link);
        while let Some(link) = free {
            free = self.send(net, link);
        }
    }

    /// A link that is free sends the packet whose turn it is, if there is one. Returns the link that now has room for
    /// what it stood still with.
    #[inline]
    fn send(&mut self, net: &mut Net, link: u32) -> Option<u32> {
        let port = &mut self.ports[link as usize];
        if port.head == NONE {
            port.sending = false;
            port.meter.stands_still(net.now);
            return None;
        }
        port.meter.goes_on(net.now);
        let place = port.head as usize;
        let (flow, hop) = (net.flow(place as u32) as usize, place & (self.stride - 1));
        if hop > 0 {
            port.meter.leaves(net.now);
        }
        port.sending = true;
        let queue = &mut self.queues[place];
        port.head = queue.next;
        queue.queued = false;
        queue.waiting -= 1;
        queue.sent += 1;
        let message = &self.messages[flow];
        let bytes = if queue.sent == message.packets { message.last_bytes } else { net.packet_bytes };
        let (time, latency) = (net.sending(link, bytes), net.links[link as usize].latency);
        port.meter.sends(time);
        if net.routes[place + 1] != NONE {
            self.queues[place + 1].room -= 1;
        }
        self.line_up(net, place);
        net.schedule(time, link, place as u32);
        if latency > 0 {
            net.schedule_later(time.saturating_add(latency), link | ARRIVAL, place as u32);
        }
        if hop == 0 {
            return None;
        }
        self.queues[place].room += 1;
        self.line_up(net, place - 1);
        let before = net.routes[place - 1];
        let port = &self.ports[before as usize];
        (!port.sending && port.head != NONE).then_some(before)
    }

    /// A packet has crossed the link of this place; returns whether its message has arrived.
    #[inline]
    fn hand_on(&mut self, net: &mut Net, place: usize) -> bool {
        net.hops += 1;
        let link = net.routes[place + 1];
        if link == NONE {
            let flow = net.flow(place as u32);
            let message = &mut self.messages[flow as usize];
            message.arrived += 1;
            let all = message.arrived == message.packets;
            if all {
                self.under_way -= 1;
                net.arrivals.push(flow);
            }
            return all;
        }
        self.queues[place + 1].waiting += 1;
        let port = &mut self.ports[link as usize];
        port.meter.comes(net.now);
        self.push_on(net, place + 1);
        let port = &mut self.ports[link as usize];
        port.meter.stays();
        if !port.sending {
            port.meter.stands_still(net.now);
        }
        false
    }
}

impl Switching for FairQueues {
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        self.lay_out(net, flow);
        let size = u64::from(net.packet_bytes);
        let packets = bytes.div_ceil(size);
        let last_bytes = (bytes - (packets - 1) * size) as u32;
        self.messages[flow as usize] = MessageProgress { packets, arrived: 0, last_bytes };
        self.under_way += 1;
        let place = flow as usize * self.stride;
        self.queues[place].waiting = packets;
        self.push_on(net, place);
    }

    #[inline]
    fn handle(&mut self, net: &mut Net, event: Event) -> bool {
        let Event { what: link, which: place, .. } = event;
        let place = place as usize;
        if link & ARRIVAL != 0 {
            return self.hand_on(net, place);
        }
        let hop = place & (self.stride - 1);
        let all_sent = hop == 0 && self.queues[place].sent == self.messages[net.flow(place as u32) as usize].packets;
        self.go_on(net, link);
        let departed = all_sent && net.departed(place as u32);
        let arrived = net.links[link as usize].latency == 0 && self.hand_on(net, place);
        arrived | departed
    }

    fn port(&self, net: &Net, link: usize) -> Ticks {
        self.ports[link].meter.ticks(net.now)
    }

    fn gridlock(&self, net: &Net) -> Option<Gridlock> {
        // A message waits for room that only its own packets take, and those in front can go: none waits for ever.
        let at = net.clock.time(net.now);
        (self.under_way > 0).then(|| Gridlock { at, packets: self.under_way, cycle: Vec::new() })
    }
}
