//! Fair queues: each link serves its waiting messages in turn, and no message has more than a few packets at
//! a hop.

use super::net::{NONE, Net};
use super::spec::PacketSpec;
use super::switching::{ARRIVAL, Switching, Ticks};
use super::turn::Port;
use super::wheel::Event;
use crate::base::prefetch::fetch_entry;
use crate::transport::Gridlock;

/// Output queues, one for each message and hop, served round robin, with room for K packets each.
///
/// A packet of a message may be sent over a link if fewer than K packets of the message wait at the next hop.
/// Packets on their way there count; the one that is being sent on does not. A link that has sent a packet
/// takes the next one from the message that has waited longest for its turn. So messages that share a link
/// get equal parts of it. A message that is held back elsewhere leaves its part to the others, and its
/// packets wait at its source. With small packets this is max-min fairness, so this model is the packet
/// counterpart of max-min flows. With K = 1 a message alone runs at full speed where links are equally fast:
/// one packet comes while the previous one leaves. The second packet keeps a link busy while turns shift.
///
/// Packets of a message keep their order and are all alike but the last, so none is stored: a queue is a
/// count.
#[derive(Debug)]
pub(super) struct FairQueues {
    ports: Vec<Port>,
    /// Queues by place, which stands for message and hop, laid out like the routes.
    queues: Vec<Queue>,
    /// Number of places of a message, a power of two.
    stride: usize,
    messages: Vec<MessageProgress>,
    /// K, the room of a queue in packets.
    room: u32,
    /// Number of messages that have not arrived.
    under_way: u64,
}

/// Packets of one message at one hop; the last queue, behind the route, has unlimited room.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Number of packets that have not started to cross the link.
    left: u64,
    /// Number of packets that wait here; at the source, 1 while there are any.
    waiting: u32,
    /// Number of further packets that may wait here or be on their way here.
    room: u32,
    /// Queue behind it in the turn of the link, [`NONE`] for the last one; [`IDLE`] if it has no place in the
    /// turn.
    next: u32,
    /// Link that they wait for, [`NONE`] if they have arrived.
    link: u32,
}

/// Value of `next` for a queue that has no place in the turn of a link.
const IDLE: u32 = u32::MAX - 1;

/// Progress of a message.
#[derive(Clone, Copy, Debug, Default)]
struct MessageProgress {
    /// Number of its packets that have not arrived.
    left: u64,
    /// Size of the last packet \[B\].
    last_bytes: u32,
}

impl FairQueues {
    pub(super) fn new(spec: &PacketSpec, net: &Net) -> Self {
        Self {
            ports: vec![Port::new(); net.links.len()],
            queues: Vec::new(),
            stride: 1,
            messages: Vec::new(),
            room: spec.buffer().room(),
            under_way: 0,
        }
    }

    /// Creates the queues for the hops of a message of `packets` packets, as the routes are laid out now.
    fn lay_out(&mut self, net: &mut Net, flow: u32, packets: u64) {
        let none = Queue { left: 0, waiting: 0, room: 0, next: IDLE, link: NONE };
        if self.stride != net.stride {
            let (old, new) = (self.stride, net.stride);
            let moved = net.renaming(old);
            let mut queues = vec![none; self.queues.len() / old * new];
            for (to, from) in queues.chunks_exact_mut(new).zip(self.queues.chunks_exact(old)) {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = Queue { next: if from.next == IDLE { IDLE } else { moved(from.next) }, ..*from };
                }
            }
            for port in &mut self.ports {
                (port.head, port.tail) = (moved(port.head), moved(port.tail));
            }
            net.pending.rename(moved);
            (self.queues, self.stride) = (queues, new);
        }
        let first = flow as usize * self.stride;
        if self.queues.len() < first + self.stride {
            self.queues.resize(first + self.stride, none);
        }
        for (queue, &link) in self.queues[first..first + self.stride].iter_mut().zip(&net.routes[first..]) {
            *queue = Queue { left: packets, room: self.room, link, ..none };
            if link == NONE {
                queue.room = u32::MAX;
                break;
            }
        }
        self.queues[first].waiting = 1;
        if self.messages.len() <= flow as usize {
            self.messages.resize(flow as usize + 1, MessageProgress::default());
        }
    }

    /// Gives a queue its place in the turn of its link, if it has a packet that may go; returns the link.
    #[inline(always)]
    fn join_turn(&mut self, place: usize) -> u32 {
        let [queue, ahead] = &mut self.queues[place..place + 2] else { return NONE };
        let link = queue.link;
        if queue.next == IDLE && queue.waiting > 0 && ahead.room > 0 {
            queue.next = NONE;
            if let Some(tail) = self.ports[link as usize].append(place as u32) {
                self.queues[tail as usize].next = place as u32;
            }
        }
        link
    }

    /// Gives a queue its place in the turn of its link, and starts the link if it stands still.
    #[inline(always)]
    fn join_turn_and_start(&mut self, net: &mut Net, place: usize) {
        let link = self.join_turn(place);
        if self.ports[link as usize].may_go_on() {
            self.start_link(net, link);
        }
    }

    /// Starts a free link. The room that this makes may let the link before it send, and so on.
    #[inline]
    fn start_link(&mut self, net: &mut Net, link: u32) {
        let mut free = self.send(net, link);
        while let Some(link) = free {
            free = self.send(net, link);
        }
    }

    /// Sends the packet whose turn it is over a free link, if there is one. Returns the link that stood still
    /// for lack of the room that this makes.
    #[inline]
    fn send(&mut self, net: &mut Net, link: u32) -> Option<u32> {
        let port = &mut self.ports[link as usize];
        if !port.goes_on(net.now) {
            return None;
        }
        let place = port.head as usize;
        let at_source = place & (self.stride - 1) == 0;
        let [queue, ahead] = &mut self.queues[place..place + 2] else { return None };
        port.head = queue.next;
        queue.next = IDLE;
        queue.left -= 1;
        let last = queue.left == 0;
        ahead.room -= 1;
        if at_source {
            queue.waiting = u32::from(!last);
        } else {
            queue.waiting -= 1;
            queue.room += 1;
            port.meter.leaves(net.now);
        }
        let wire = &net.links[link as usize];
        let latency = wire.latency;
        let time =
            if last { net.sending(link, self.messages[net.flow(place as u32) as usize].last_bytes) } else { wire.full };
        port.meter.sends(time);
        self.join_turn(place);
        net.schedule(time, link, place as u32);
        if latency > 0 {
            net.schedule_later(time.saturating_add(latency), link | ARRIVAL, place as u32);
        }
        if at_source {
            return None;
        }
        let before = self.join_turn(place - 1);
        self.ports[before as usize].may_go_on().then_some(before)
    }

    /// Handles a packet that has crossed the link of this place; returns true if its message has arrived.
    #[inline]
    fn deliver_over_link(&mut self, net: &mut Net, place: usize) -> bool {
        net.hops += 1;
        let queue = &mut self.queues[place + 1];
        let link = queue.link;
        if link == NONE {
            queue.room += 1;
            let flow = net.flow(place as u32);
            let message = &mut self.messages[flow as usize];
            message.left -= 1;
            let all = message.left == 0;
            if all {
                self.under_way -= 1;
                net.arrivals.push(flow);
            }
            return all;
        }
        queue.waiting += 1;
        let port = &mut self.ports[link as usize];
        port.meter.comes(net.now);
        self.join_turn_and_start(net, place + 1);
        self.ports[link as usize].settles(net.now);
        false
    }
}

impl Switching for FairQueues {
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64) {
        let size = u64::from(net.packet_bytes);
        let packets = bytes.div_ceil(size);
        self.lay_out(net, flow, packets);
        let last_bytes = (bytes - (packets - 1) * size) as u32;
        self.messages[flow as usize] = MessageProgress { left: packets, last_bytes };
        self.under_way += 1;
        self.join_turn_and_start(net, flow as usize * self.stride);
    }

    #[inline]
    fn handle(&mut self, net: &mut Net, event: Event) -> bool {
        let Event { what: link, which: place, .. } = event;
        let place = place as usize;
        let [(_, near), (far, later)] = net.pending.coming();
        fetch_entry(&self.ports, far & !ARRIVAL);
        fetch_entry(&self.queues, later);
        if let Some(ahead) = self.queues.get(near as usize + 1) {
            fetch_entry(&self.ports, ahead.link);
        }
        if link & ARRIVAL != 0 {
            return self.deliver_over_link(net, place);
        }
        let all_sent = place & (self.stride - 1) == 0 && self.queues[place].left == 0;
        self.start_link(net, link);
        let departed = all_sent && net.departed(place as u32);
        let arrived = net.links[link as usize].latency == 0 && self.deliver_over_link(net, place);
        arrived | departed
    }

    fn port(&self, net: &Net, link: usize) -> Ticks {
        self.ports[link].meter.ticks(net.now)
    }

    fn gridlock(&self, net: &Net) -> Option<Gridlock> {
        // A message waits for room that only its own packets take, and those in front can move: none waits
        // for ever.
        let at = net.clock.time(net.now);
        (self.under_way > 0).then(|| Gridlock { at, packets: self.under_way, cycle: Vec::new() })
    }
}
