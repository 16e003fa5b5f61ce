//! The way of a message: from the call that sends it to the end of the call that receives it.
//!
//! ```text
//! at once      send overhead -> leaves -> arrives -> is matched -> receive overhead -> received
//! rendezvous   request -> leaves -> arrives -> is matched -> answer -> arrives -> agreed, then as above
//! ```
//! Each arrow is an event. Envelopes keep the order in which a rank has sent to another, bytes do not: when the bytes of a message arrive, the
//! envelopes of all that were sent before are there, too, so that receives take them in order; but a receive that takes a short message
//! does not wait for the bytes of a longer one that was sent before. Where messages share a receiver's bandwidth, the part of the way that holds it (sender's overhead, gap or
//! receiver's overhead) ends when [`Shared`](super::sharing::Shared) says so.

use super::state::{Cargo, Done, Event, Message, NIL, Player, Receive, STEP, State};
use super::{ActivityKind, Transfer};
use crate::ids::{MessageId, RankId};
use crate::node::{MessageCosts, Phase};
use crate::units::Time;
use crate::workload::Send;
use crate::workload::program::Envelope;

impl Player<'_> {
    /// A rank calls a send.
    pub(super) fn start_send(&mut self, src: RankId, op: u32, to: Envelope, bytes: u64) {
        let dst = RankId(to.peer);
        let begin = self.now.max(self.ranks[src].next_send);
        self.ranks[src].next_send = begin + self.costs.interval;
        let rendezvous = self.costs.message(bytes).rendezvous || !self.finds_room(dst, bytes);
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        let envelope = Envelope { peer: src.0, ..to };
        let channel = self.channels.entry((src, dst)).or_default();
        let message = self.messages.add(Message {
            number,
            src,
            dst,
            op,
            envelope,
            bytes,
            order: channel.sent,
            next: NIL,
            receive: NIL,
            marks: [self.now, begin, begin],
            times: [self.now, begin, begin, begin],
            waited: rendezvous,
            rendezvous,
            requested: false,
            known: false,
            flowing: Phase::Gap,
            arrived: false,
            sent: false,
        });
        channel.sent += 1;
        match std::mem::replace(&mut channel.last, message) {
            NIL => channel.first = message,
            before => self.messages.get_mut(before).next = message,
        }
        if rendezvous {
            let kinds = (ActivityKind::Sync, ActivityKind::SendWait);
            let end = self.spend(src, op, begin, self.costs.handshake, kinds, (number, dst));
            self.timers.set(end, Event::RequestLeaves(message));
        } else {
            self.send_data(message, begin);
        }
    }

    /// Takes room for an eager message at its receiver, if there is some: like a sender that has credits. One that finds none does not wait
    /// for it, for the receiver may be waiting for another: it asks the receiver for this message.
    fn finds_room(&mut self, dst: RankId, bytes: u64) -> bool {
        let Some(limit) = self.costs.eager_buffer else { return true };
        let buffered = &mut self.buffered[dst.0 as usize];
        let fits = *buffered + bytes <= limit.0;
        if fits {
            *buffered += bytes;
        }
        fits
    }

    /// An eager message has left the buffer of its receiver.
    fn make_room(&mut self, dst: RankId, bytes: u64) {
        if let Some(buffered) = self.buffered.get_mut(dst.0 as usize) {
            *buffered -= bytes;
        }
    }

    /// What a message costs by the protocol that it takes.
    fn costs_of(&self, message: u32) -> MessageCosts {
        let &Message { src, dst, bytes, rendezvous, .. } = self.messages.get(message);
        self.costs.between(src, dst, bytes, rendezvous)
    }

    /// The sender's overhead starts.
    fn send_data(&mut self, message: u32, begin: Time) {
        let found = self.messages.get_mut(message);
        found.times[1] = begin;
        let Message { src, dst, op, number, .. } = *found;
        let costs = self.costs_of(message);
        if self.shares(dst, src, Phase::Send, &costs) {
            self.flow(message, Phase::Send, begin + (costs.send - costs.shared[Phase::Send as usize]));
        } else {
            let kinds = (ActivityKind::SendOverhead, ActivityKind::SendWait);
            let end = self.spend(src, op, begin, costs.send, kinds, (number, dst));
            self.timers.set(end, Event::Leave(message));
        }
    }

    /// Whether this part of the way of a message shares the receiver's bandwidth. Processors of graphs are one
    /// operation's at a time: there only the gap is shared.
    fn shares(&self, dst: RankId, busy: RankId, phase: Phase, costs: &MessageCosts) -> bool {
        !self.shared.is_empty()
            && costs.shared[phase as usize] > Time::ZERO
            && (phase == Phase::Gap || self.ranks[busy].graph.is_none())
            && dst.0 < self.shared.len() as u32
    }

    /// The bytes of a part of a message's way that shares the receiver's bandwidth begin to flow at this time.
    fn flow(&mut self, message: u32, phase: Phase, at: Time) {
        self.messages.get_mut(message).flowing = phase;
        self.timers.set(at, Event::Flow(message));
    }

    /// What happens to messages.
    pub(super) fn message_event(&mut self, event: Event) {
        match event {
            Event::Leave(message) => self.leave(message),
            Event::Flow(message) => {
                let &Message { dst, flowing, .. } = self.messages.get(message);
                let work = self.costs_of(message).shared[flowing as usize];
                self.shared[dst.0 as usize].start(self.now, message, work);
                self.watch_sharing(dst);
            }
            Event::Through(dst, generation) => {
                if self.shared[dst.0 as usize].generation == generation
                    && let Some(message) = self.shared[dst.0 as usize].finish(self.now)
                {
                    self.watch_sharing(dst);
                    match self.messages.get(message).flowing {
                        Phase::Send => self.leave(message),
                        Phase::Gap => self.arrive(message),
                        Phase::Recv => self.received(message),
                    }
                }
            }
            Event::Arrive(message) => self.arrive(message),
            Event::Received(message) => self.received(message),
            Event::RequestLeaves(message) => {
                let &Message { src, dst, .. } = self.messages.get(message);
                self.carry(message, src, dst, Cargo::Request, Event::RequestArrives(message));
            }
            Event::RequestArrives(message) => {
                let found = self.messages.get_mut(message);
                found.marks[..2].fill(self.now);
                found.requested = true;
                self.envelope_arrives(message);
            }
            Event::AnswerLeaves(message) => {
                let &Message { src, dst, .. } = self.messages.get(message);
                self.carry(message, dst, src, Cargo::Answer, Event::AnswerArrives(message));
            }
            Event::AnswerArrives(message) => {
                let &Message { src, dst, op, number, .. } = self.messages.get(message);
                let kinds = (ActivityKind::Sync, ActivityKind::SendWait);
                let end = self.spend(src, op, self.now, self.costs.handshake, kinds, (number, dst));
                self.timers.set(end, Event::Agreed(message));
            }
            Event::Agreed(message) => {
                let found = self.messages.get_mut(message);
                found.marks[2] = self.now;
                let receive = found.receive;
                self.receives.get_mut(receive).marks[1] = self.now;
                self.send_data(message, self.now);
            }
            Event::Resume(_) | Event::Started(..) | Event::Finish(..) | Event::Background(..) => {}
        }
    }

    /// Sets the timer for the next message that is through at this receiver.
    fn watch_sharing(&mut self, dst: RankId) {
        let shared = &self.shared[dst.0 as usize];
        if let Some(next) = shared.next() {
            self.timers.set(next.max(self.now), Event::Through(dst, shared.generation));
        }
    }

    /// Sends a control message.
    fn carry(&mut self, message: u32, src: RankId, dst: RankId, cargo: Cargo, arrival: Event) {
        if !self.costs.control_travels {
            self.timers.set(self.now, arrival);
        } else if self.on_fabric {
            self.hand_over(message, src, dst, 0, cargo);
        } else {
            self.timers.set(self.now + self.costs.latency, arrival);
        }
    }

    /// Gives a message to the engine.
    fn hand_over(&mut self, message: u32, src: RankId, dst: RankId, bytes: u64, cargo: Cargo) {
        let index = &mut self.handed[src.0 as usize];
        let id = MessageId { src, index: *index };
        *index = index.wrapping_add(1);
        self.carried.insert(id, (message, cargo));
        self.outbox.push(Send { id, dst, bytes });
    }

    /// The sender is done, and the message leaves.
    fn leave(&mut self, message: u32) {
        let found = self.messages.get_mut(message);
        found.sent = true;
        found.times[2] = self.now;
        let Message { src, dst, op, bytes, marks, number, .. } = *found;
        let costs = self.costs_of(message);
        if self.on_fabric {
            self.hand_over(message, src, dst, bytes, Cargo::Data);
        } else if self.shares(dst, dst, Phase::Gap, &costs) {
            let unshared = costs.gap - costs.shared[Phase::Gap as usize];
            self.flow(message, Phase::Gap, self.now + (self.costs.latency + unshared));
        } else {
            self.timers.set(self.now + (self.costs.latency + costs.gap), Event::Arrive(message));
        }
        self.done(src, op, Done { marks, end: self.now, other: Some((number, dst)) });
    }

    /// The last byte is there.
    fn arrive(&mut self, message: u32) {
        let found = self.messages.get_mut(message);
        found.arrived = true;
        found.times[3] = self.now;
        let Message { dst, bytes, receive, known, rendezvous, .. } = *found;
        if receive != NIL {
            self.receives.get_mut(receive).marks[2] = self.now;
            if !rendezvous {
                self.make_room(dst, bytes);
            }
            self.receive_data(message);
        } else if !known {
            self.envelope_arrives(message);
        }
    }

    /// What says who sent what is there, and that of every message sent before between the same two ranks: they are matched in the order
    /// in which they were sent. Only a request that is still on its way holds up those after it.
    fn envelope_arrives(&mut self, message: u32) {
        let &Message { src, dst, order, .. } = self.messages.get(message);
        let channel = self.channels.entry((src, dst)).or_default();
        channel.reached = channel.reached.max(order + 1);
        while let Some(channel) = self.channels.get_mut(&(src, dst)) {
            let first = channel.first;
            let found = self.messages.get_mut(first);
            if found.order >= channel.reached || found.rendezvous && !found.requested {
                return;
            }
            found.known = true;
            channel.first = found.next;
            if found.next == NIL {
                self.channels.remove(&(src, dst));
            }
            self.matching(first);
        }
    }

    fn matching(&mut self, message: u32) {
        let &Message { dst, envelope, .. } = self.messages.get(message);
        match self.mailboxes[dst].arrive(envelope, message) {
            Some(receive) => self.joined(message, receive),
            None => {
                if let State::Probing(op) = self.ranks[dst].state {
                    self.probe(dst, op);
                }
            }
        }
    }

    /// A rank calls a receive.
    pub(super) fn start_recv(&mut self, rank: RankId, op: u32, from: Envelope) {
        let receive = self.receives.add(Receive { rank, op, marks: [self.now; 3] });
        if let Some(message) = self.mailboxes[rank].post(from, receive) {
            self.joined(message, receive);
        }
    }

    /// A message and a receive have found each other.
    fn joined(&mut self, message: u32, receive: u32) {
        let found = self.messages.get_mut(message);
        found.receive = receive;
        let Message { src, dst, bytes, arrived, rendezvous, number, .. } = *found;
        self.receives.get_mut(receive).marks = [self.now; 3];
        if arrived {
            self.make_room(dst, bytes);
            self.receive_data(message);
        } else if rendezvous {
            found.marks[1] = self.now;
            let op = self.receives.get(receive).op;
            let answer = self.costs.handshake + self.costs.handshake;
            let kinds = (ActivityKind::Sync, ActivityKind::RecvWait);
            let end = self.spend(dst, op, self.now, answer, kinds, (number, src));
            self.timers.set(end, Event::AnswerLeaves(message));
        }
    }

    /// The receiver's overhead starts, so long after that of the last message as the rank can receive another.
    fn receive_data(&mut self, message: u32) {
        let &Message { src, dst, receive, number, .. } = self.messages.get(message);
        let costs = self.costs_of(message);
        let begin = self.now.max(self.ranks[dst].next_recv);
        self.ranks[dst].next_recv = begin + self.costs.interval;
        if begin > self.now {
            self.receives.get_mut(receive).marks[2] = begin;
        }
        if self.shares(dst, dst, Phase::Recv, &costs) {
            self.flow(message, Phase::Recv, begin + (costs.recv - costs.shared[Phase::Recv as usize]));
        } else {
            let op = self.receives.get(receive).op;
            let kinds = (ActivityKind::RecvOverhead, ActivityKind::RecvWait);
            let end = self.spend(dst, op, begin, costs.recv, kinds, (number, src));
            self.timers.set(end, Event::Received(message));
        }
    }

    /// The receiver is done.
    fn received(&mut self, message: u32) {
        let Message { src, dst, op: sent_by, receive, bytes, number, times, waited, .. } = *self.messages.get(message);
        let Receive { rank, op, marks, .. } = *self.receives.get(receive);
        self.messages.remove(message);
        self.receives.remove(receive);
        self.delivered += 1;
        self.bytes += bytes;
        if let Some(on_transfer) = &mut self.on_transfer {
            let [called, begin, leave, arrive] = times;
            let [sent_by, received_by] = [sent_by, op].map(|op| (op & STEP == 0).then_some(op));
            on_transfer(&Transfer {
                message: number,
                src,
                dst,
                bytes,
                op: sent_by,
                received_by,
                called,
                begin,
                waited,
                leave,
                arrive,
                end: self.now,
            });
        }
        self.done(rank, op, Done { marks, end: self.now, other: Some((number, src)) });
    }

    /// What a rank has started is done.
    fn done(&mut self, rank: RankId, op: u32, done: Done) {
        if self.ranks[rank].graph.is_some() {
            self.finish(rank, op);
        } else {
            self.request_done(rank, op, done);
        }
    }

    /// Takes a processor's time, and returns when that ends. In a sequence what a call has started takes no time from
    /// what the rank does meanwhile, so it ends right after it has begun. `kinds`: what the time is, and what the processor
    /// was idle for before; `other`: the message, and its other end.
    fn spend(
        &mut self,
        rank: RankId,
        op: u32,
        begin: Time,
        time: Time,
        kinds: (ActivityKind, ActivityKind),
        other: (u32, RankId),
    ) -> Time {
        match self.ranks[rank].graph {
            None => begin + time,
            Some(_) => self.occupy(rank, op, begin, time, kinds, Some(other)),
        }
    }
}
