//! The protocol of a message: from the call that sends it to the end of the call that receives it.
//!
//! ```text
//! eager        send overhead -> leaves -> arrives -> is matched -> receive overhead -> received
//! rendezvous   request -> leaves -> arrives -> is matched -> answer -> arrives -> agreed, then as above
//! ```
//! Each arrow is an event. Envelopes keep the order in which a rank has sent to another, bytes do not
//! ([`Matching`]). So receives take messages in order, but a receive that takes a short message does not wait
//! for the bytes of a longer one that was sent before. If messages share a receiver's bandwidth, the phase
//! that holds it (sender's overhead, gap or receiver's overhead) ends when [`SharedBandwidth`] says so.

use super::activity::{ActivityKind, Transfer};
use super::clock::{Clock, MessageEvent};
use super::keys::is_of_program;
use super::ledger::Ledger;
use super::matching::{Matched, Matching};
use super::names::Names;
use super::port::Port;
use super::sharing::SharedBandwidth;
use super::slab::{NIL, Slab};
use crate::ids::{IdVec, RankId};
use crate::node::{Costs, MessageCosts, Phase, Role};
use crate::program::Envelope;
use crate::units::Time;

/// All messages in flight, and their costs.
#[derive(Debug)]
pub(super) struct Protocol {
    costs: Costs,
    messages: Slab<MessageState>,
    receives: Slab<Receive>,
    matching: Matching,
    ends: IdVec<RankId, RankEnd>,
    /// Messages that flow to each receiver; empty if they do not share its bandwidth.
    shared: Vec<SharedBandwidth>,
    /// Interface to the engine, if a fabric carries the messages.
    pub port: Option<Port>,
    /// Names of ranks, if some stand for others.
    pub names: Option<Box<Names>>,
    sent: u32,
    /// Number of messages received so far.
    pub delivered: u64,
    /// Bytes of these messages \[B\].
    pub bytes: u64,
}

/// State of a rank as an end of messages.
#[derive(Clone, Copy, Debug)]
struct RankEnd {
    /// True if overheads occupy one of its processors, one after the other ([`RankRequest::Processor`]); otherwise
    /// an overhead does not wait for the rank's other work.
    has_processors: bool,
    /// Earliest start of the next send.
    next_send: Time,
    /// Earliest time at which the next receive takes its message.
    next_recv: Time,
    /// Time from which its port takes another message.
    next_port: Time,
    /// Bytes of eager messages in its buffer, if that is limited.
    buffered: u64,
}

/// A message from the call that sends it to the end of the call that receives it.
#[derive(Clone, Copy, Debug)]
struct MessageState {
    /// Number in order of sending.
    number: u32,
    src: RankId,
    dst: RankId,
    /// Operation that sends it.
    op: u32,
    bytes: u64,
    /// Receive that has taken it.
    receive: u32,
    /// Boundaries of the sender's time, see [`CallEnd`].
    marks: [Time; 3],
    /// Times of the send call, the begin of the sender's overhead, the departure and the arrival.
    times: [Time; 4],
    /// True if it asks its receiver before its bytes are sent.
    rendezvous: bool,
    /// Phase in which it shares its receiver's bandwidth, now or the last time.
    flowing: Phase,
    /// True if its bytes have arrived.
    arrived: bool,
    /// True if its send ends when its bytes have left the node.
    leaving: bool,
    role: Role,
    /// Time that it arrives later, because of earlier messages of the port and of its gap on a fabric.
    late: Time,
}

/// A receive from its call to its end.
#[derive(Clone, Copy, Debug)]
struct Receive {
    rank: RankId,
    op: u32,
    /// Boundaries of the receiver's time, see [`CallEnd`].
    marks: [Time; 3],
}

/// Parts of the time of a call. Of a send `[start, a)` and `[b, c)` are synchronisation, `[a, b)` is waiting.
/// Of a receive `[start, a)` and `[b, c)` are waiting, `[a, b)` is synchronisation. `[c, worked)` is overhead of
/// either, and until `end` the data of a send leave the node.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallEnd {
    pub marks: [Time; 3],
    pub worked: Time,
    pub end: Time,
    /// Message and the rank at its other end, if there is one message.
    pub other: Option<(u32, RankId)>,
}

/// Request of a message to the rank at one of its ends.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(super) enum RankRequest {
    Nothing,
    /// It needs time of a processor.
    Processor(ProcessorTime),
    /// The rank's call is done.
    Done(RankId, u32, CallEnd),
    /// The envelope has arrived: [`Protocol::envelope_arrives`] tells the receive that takes it.
    Match(u32),
}

/// Time of a rank's processor that a message needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessorTime {
    pub rank: RankId,
    pub op: u32,
    /// Earliest begin.
    pub begin: Time,
    pub time: Time,
    pub kind: ActivityKind,
    /// Kind of the processor's idle time before.
    pub idle: ActivityKind,
    /// Message and the rank at its other end.
    pub other: (u32, RankId),
    /// Event at the end of the time.
    pub then: MessageEvent,
}

impl From<Option<ProcessorTime>> for RankRequest {
    fn from(time: Option<ProcessorTime>) -> Self {
        time.map_or(Self::Nothing, Self::Processor)
    }
}

impl Protocol {
    /// Creates the protocol with these costs; `has_processors` tells for each rank if its operations occupy
    /// processors.
    pub fn new(costs: Costs, on_fabric: bool, has_processors: impl Iterator<Item = bool>) -> Self {
        let [next_send, next_recv, next_port] = [Time::ZERO; 3];
        let end = |has_processors| RankEnd { has_processors, next_send, next_recv, next_port, buffered: 0 };
        let ends: IdVec<RankId, RankEnd> = has_processors.map(end).collect();
        let ranks = ends.len();
        Self {
            shared: if costs.receiver_sharing { vec![SharedBandwidth::default(); ranks] } else { Vec::new() },
            costs,
            messages: Slab::default(),
            receives: Slab::default(),
            matching: Matching::new(ranks),
            ends,
            port: on_fabric.then(|| Port::new(ranks)),
            names: None,
            sent: 0,
            delivered: 0,
            bytes: 0,
        }
    }

    /// Costs of messages and calls.
    #[inline]
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Number of unexpected messages.
    pub fn unexpected(&self) -> u64 {
        self.matching.unexpected()
    }

    /// Returns the message that a receive of this rank would take: its number and its sender.
    pub fn peek(&mut self, rank: RankId, from: Envelope) -> Option<(u32, RankId)> {
        let message = self.matching.peek(rank, from)?;
        let &MessageState { number, src, .. } = self.messages.get(message);
        Some((number, src))
    }

    /// Starts a send that a rank calls.
    ///
    /// A message by rendezvous is not copied. On a fabric its send ends when its bytes have left, unless it is
    /// `posted`.
    pub fn send(
        &mut self,
        src: RankId,
        op: u32,
        to: Envelope,
        (bytes, posted, role): (u64, bool, Role),
        clock: &mut Clock,
    ) -> Option<ProcessorTime> {
        let (dst, from) = match &self.names {
            None => (RankId(to.peer), Envelope { peer: src.0, ..to }),
            Some(names) => names.delivery(src, to),
        };
        let now = clock.now();
        let end = &mut self.ends[src];
        let begin = now.max(end.next_send);
        end.next_send = begin + self.costs.interval;
        let costs = self.costs.message(bytes);
        let late = end.next_port.max(now) - now;
        end.next_port = now + late + costs.port;
        let rendezvous = costs.rendezvous || !self.finds_room(dst, bytes);
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        let message = self.messages.add(MessageState {
            number,
            src,
            dst,
            op,
            bytes,
            receive: NIL,
            marks: [now, begin, begin],
            times: [now, begin, begin, begin],
            rendezvous,
            flowing: Phase::Gap,
            arrived: false,
            leaving: rendezvous && !posted && self.port.is_some(),
            role,
            late,
        });
        if let Some(names) = &mut self.names {
            names.note(message, RankId(to.peer), RankId(from.peer));
        }
        // A channel has the name by which its receiver knows the sender.
        self.matching.send(message, RankId(from.peer), dst, from, rendezvous);
        if !rendezvous {
            return self.send_data(message, begin, clock);
        }
        let time = ProcessorTime {
            rank: src,
            op,
            begin,
            time: self.costs.handshake,
            kind: ActivityKind::Sync,
            idle: ActivityKind::SendWait,
            other: (number, dst),
            then: MessageEvent::RequestLeaves(message),
        };
        self.take(time, clock)
    }

    /// Starts a receive that a rank calls.
    pub fn recv(&mut self, rank: RankId, op: u32, from: Envelope, clock: &mut Clock) -> Option<ProcessorTime> {
        let receive = self.receives.add(Receive { rank, op, marks: [clock.now(); 3] });
        let message = self.matching.post(rank, from, receive)?;
        self.join(message, receive, clock)
    }

    /// Executes a step of a message.
    pub fn step(&mut self, event: MessageEvent, clock: &mut Clock, ledger: &mut Ledger<'_>) -> RankRequest {
        match event {
            MessageEvent::Leave(message) => return self.leave(message, clock),
            MessageEvent::Left(message) => return self.left(message, clock),
            MessageEvent::Acknowledged(message) => return self.send_ends(message, clock.now()),
            MessageEvent::Flow(message) => {
                let &MessageState { dst, flowing, .. } = self.messages.get(message);
                let work = self.costs_of(message).shared[flowing as usize];
                self.shared[dst.0 as usize].start(clock.now(), message, work);
                self.watch_sharing(dst, clock);
            }
            MessageEvent::Through(dst, generation) => {
                if self.shared[dst.0 as usize].generation == generation
                    && let Some(message) = self.shared[dst.0 as usize].finish(clock.now())
                {
                    self.watch_sharing(dst, clock);
                    return match self.messages.get(message).flowing {
                        Phase::Send => self.leave(message, clock),
                        Phase::Gap => self.arrive(message, clock),
                        Phase::Recv => self.received(message, clock, ledger),
                    };
                }
            }
            MessageEvent::Arrive(message) => return self.arrive(message, clock),
            MessageEvent::Received(message) => return self.received(message, clock, ledger),
            MessageEvent::RequestLeaves(message) => {
                let &MessageState { src, dst, .. } = self.messages.get(message);
                let dst = self.names.as_ref().map_or(dst, |names| names.receiver(message));
                self.control(src, dst, MessageEvent::RequestArrives(message), clock);
            }
            MessageEvent::RequestArrives(message) => {
                self.messages.get_mut(message).marks[..2].fill(clock.now());
                self.matching.request_arrives(message);
                return RankRequest::Match(message);
            }
            MessageEvent::AnswerLeaves(message) => {
                let &MessageState { src, dst, .. } = self.messages.get(message);
                let src = self.names.as_ref().map_or(src, |names| names.sender(message));
                self.control(dst, src, MessageEvent::AnswerArrives(message), clock);
            }
            MessageEvent::AnswerArrives(message) => {
                let &MessageState { src, dst, op, number, .. } = self.messages.get(message);
                let time = ProcessorTime {
                    rank: src,
                    op,
                    begin: clock.now(),
                    time: self.costs.handshake,
                    kind: ActivityKind::Sync,
                    idle: ActivityKind::SendWait,
                    other: (number, dst),
                    then: MessageEvent::Agreed(message),
                };
                return self.take(time, clock).into();
            }
            MessageEvent::Agreed(message) => {
                let found = self.messages.get_mut(message);
                found.marks[2] = clock.now();
                let receive = found.receive;
                self.receives.get_mut(receive).marks[1] = clock.now();
                return self.send_data(message, clock.now(), clock).into();
            }
        }
        RankRequest::Nothing
    }

    /// Delivers the envelope of a message. Returns the first envelope of its channel that reaches the mailbox
    /// of this rank, which may be that of an earlier message.
    pub fn envelope_arrives(&mut self, message: u32) -> Option<(Matched, RankId)> {
        let dst = self.messages.get(message).dst;
        Some((self.matching.arrive(message)?, dst))
    }

    /// Returns the next envelope, after [`Matched::more`].
    pub fn next_envelope(&mut self, message: u32) -> Option<Matched> {
        self.matching.next(message)
    }

    /// Joins a message and the receive that takes it.
    pub fn join(&mut self, message: u32, receive: u32, clock: &mut Clock) -> Option<ProcessorTime> {
        let now = clock.now();
        let found = self.messages.get_mut(message);
        found.receive = receive;
        let MessageState { src, dst, bytes, arrived, rendezvous, number, .. } = *found;
        let taken = self.receives.get_mut(receive);
        taken.marks = [now; 3];
        if arrived {
            self.make_room(dst, bytes);
            return self.receive_data(message, clock);
        }
        if !rendezvous {
            return None;
        }
        found.marks[1] = now;
        let time = ProcessorTime {
            rank: dst,
            op: taken.op,
            begin: now,
            time: self.costs.handshake + self.costs.handshake,
            kind: ActivityKind::Sync,
            idle: ActivityKind::RecvWait,
            other: (number, src),
            then: MessageEvent::AnswerLeaves(message),
        };
        self.take(time, clock)
    }

    /// Takes room for an eager message at its receiver, like a sender that has credits. Returns false if
    /// there is none. Such a message does not wait for room, since the receiver may be waiting for another
    /// message: it uses a rendezvous.
    fn finds_room(&mut self, dst: RankId, bytes: u64) -> bool {
        let Some(limit) = self.costs.eager_buffer else { return true };
        let buffered = &mut self.ends[dst].buffered;
        let fits = *buffered + bytes <= limit.0;
        if fits {
            *buffered += bytes;
        }
        fits
    }

    /// Frees the room of an eager message in the buffer of its receiver.
    fn make_room(&mut self, dst: RankId, bytes: u64) {
        if self.costs.eager_buffer.is_some() {
            self.ends[dst].buffered -= bytes;
        }
    }

    /// Returns the costs of a message under its protocol.
    fn costs_of(&self, message: u32) -> MessageCosts {
        let &MessageState { src, dst, bytes, rendezvous, role, .. } = self.messages.get(message);
        self.costs.between(src, dst, bytes, rendezvous, role)
    }

    /// Starts the sender's overhead.
    fn send_data(&mut self, message: u32, begin: Time, clock: &mut Clock) -> Option<ProcessorTime> {
        let found = self.messages.get_mut(message);
        found.times[1] = begin;
        let MessageState { src, dst, op, number, .. } = *found;
        let costs = self.costs_of(message);
        if self.shares(src, Phase::Send, &costs) {
            let flows = clock.worked(src, begin, costs.send - costs.shared[Phase::Send as usize]);
            self.flow(message, Phase::Send, flows, clock);
            return None;
        }
        let time = ProcessorTime {
            rank: src,
            op,
            begin,
            time: costs.send,
            kind: ActivityKind::SendOverhead,
            idle: ActivityKind::SendWait,
            other: (number, dst),
            then: MessageEvent::Leave(message),
        };
        self.take(time, clock)
    }

    /// Returns true if this phase of a message, which keeps rank `busy` busy, shares the receiver's
    /// bandwidth. A processor of a graph serves one operation at a time: there only the gap is shared.
    fn shares(&self, busy: RankId, phase: Phase, costs: &MessageCosts) -> bool {
        !self.shared.is_empty()
            && costs.shared[phase as usize] > Time::ZERO
            && (phase == Phase::Gap || !self.ends[busy].has_processors)
    }

    /// Sets the time at which the bytes of a phase that shares the receiver's bandwidth begin to flow.
    fn flow(&mut self, message: u32, phase: Phase, at: Time, clock: &mut Clock) {
        self.messages.get_mut(message).flowing = phase;
        clock.set_message(at, MessageEvent::Flow(message));
    }

    /// Sets the timer for the next message that gets through at this receiver.
    fn watch_sharing(&mut self, dst: RankId, clock: &mut Clock) {
        let shared = &self.shared[dst.0 as usize];
        if let Some(next) = shared.next() {
            clock.set_message(next.max(clock.now()), MessageEvent::Through(dst, shared.generation));
        }
    }

    /// Sends a request or an answer.
    fn control(&mut self, src: RankId, dst: RankId, arrival: MessageEvent, clock: &mut Clock) {
        if !self.costs.control_travels {
            clock.set_message(clock.now(), arrival);
        } else if let Some(port) = &mut self.port {
            port.send(src, dst, 0, arrival);
        } else {
            clock.set_message(clock.now() + self.costs.latency, arrival);
        }
    }

    /// Ends the sender's overhead, so that the message leaves.
    fn leave(&mut self, message: u32, clock: &mut Clock) -> RankRequest {
        let now = clock.now();
        let costs = self.costs_of(message);
        let found = self.messages.get_mut(message);
        found.times[2] = now;
        let MessageState { src, dst, bytes, leaving, .. } = *found;
        if let Some(port) = &mut self.port {
            found.late += costs.gap;
            let dst = self.names.as_ref().map_or(dst, |names| names.receiver(message));
            port.send(src, dst, bytes, MessageEvent::Arrive(message));
        } else if self.shares(dst, Phase::Gap, &costs) {
            let unshared = costs.gap - costs.shared[Phase::Gap as usize];
            self.flow(message, Phase::Gap, now + (self.costs.latency + unshared), clock);
        } else {
            clock.set_message(now + (self.costs.latency + costs.gap), MessageEvent::Arrive(message));
        }
        if leaving { RankRequest::Nothing } else { self.send_ends(message, now) }
    }

    /// Notes that the bytes of a message have left its node.
    fn left(&mut self, message: u32, clock: &mut Clock) -> RankRequest {
        if !std::mem::take(&mut self.messages.get_mut(message).leaving) {
            return RankRequest::Nothing;
        }
        // The message still exists then: its receiver is not done before.
        let acknowledgement = self.costs_of(message).acknowledgement;
        if acknowledgement > Time::ZERO {
            clock.set_message(clock.now() + acknowledgement, MessageEvent::Acknowledged(message));
            return RankRequest::Nothing;
        }
        self.send_ends(message, clock.now())
    }

    /// Ends the call that sends a message.
    fn send_ends(&self, message: u32, end: Time) -> RankRequest {
        let &MessageState { src, dst, op, marks, number, times: [.., worked, _], .. } = self.messages.get(message);
        RankRequest::Done(src, op, CallEnd { marks, worked, end, other: Some((number, dst)) })
    }

    /// Notes that the last byte has arrived.
    fn arrive(&mut self, message: u32, clock: &mut Clock) -> RankRequest {
        let now = clock.now();
        let found = self.messages.get_mut(message);
        let late = std::mem::take(&mut found.late);
        if late > Time::ZERO {
            clock.set_message(now + late, MessageEvent::Arrive(message));
            return RankRequest::Nothing;
        }
        found.arrived = true;
        found.times[3] = now;
        let MessageState { dst, bytes, receive, rendezvous, .. } = *found;
        if receive == NIL {
            return if self.matching.is_there(message) { RankRequest::Nothing } else { RankRequest::Match(message) };
        }
        self.receives.get_mut(receive).marks[2] = now;
        if !rendezvous {
            self.make_room(dst, bytes);
        }
        self.receive_data(message, clock).into()
    }

    /// Starts the receiver's overhead, at least one interval after that of the rank's last message.
    fn receive_data(&mut self, message: u32, clock: &mut Clock) -> Option<ProcessorTime> {
        let &MessageState { src, dst, receive, number, .. } = self.messages.get(message);
        let costs = self.costs_of(message);
        let end = &mut self.ends[dst];
        let begin = clock.now().max(end.next_recv);
        end.next_recv = begin + self.costs.interval + costs.port;
        if begin > clock.now() {
            self.receives.get_mut(receive).marks[2] = begin;
        }
        if self.shares(dst, Phase::Recv, &costs) {
            let flows = clock.worked(dst, begin, costs.recv - costs.shared[Phase::Recv as usize]);
            self.flow(message, Phase::Recv, flows, clock);
            return None;
        }
        let time = ProcessorTime {
            rank: dst,
            op: self.receives.get(receive).op,
            begin,
            time: costs.recv,
            kind: ActivityKind::RecvOverhead,
            idle: ActivityKind::RecvWait,
            other: (number, src),
            then: MessageEvent::Received(message),
        };
        self.take(time, clock)
    }

    /// Ends the receiver's overhead, and with it the message.
    fn received(&mut self, message: u32, clock: &Clock, ledger: &mut Ledger<'_>) -> RankRequest {
        let end = clock.now();
        let MessageState { src, dst, op: sent_by, receive, bytes, number, times, rendezvous, .. } =
            *self.messages.get(message);
        let Receive { rank, op, marks } = *self.receives.get(receive);
        self.messages.remove(message);
        self.receives.remove(receive);
        let count = self.names.as_ref().map_or(1, |names| names.times(src));
        self.delivered += count;
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(count));
        ledger.transfer(|| {
            let [called, begin, leave, arrive] = times;
            let [sent_by, received_by] = [sent_by, op].map(|op| is_of_program(op).then_some(op));
            let waited = rendezvous;
            Transfer {
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
                end,
            }
        });
        RankRequest::Done(rank, op, CallEnd { marks, worked: end, end, other: Some((number, src)) })
    }

    /// Takes time of a rank. Without processors, overheads take no time from the rank's other work, so the
    /// time ends `time` after its begin; with processors, the rank is asked for one.
    #[inline]
    fn take(&self, time: ProcessorTime, clock: &mut Clock) -> Option<ProcessorTime> {
        if self.ends[time.rank].has_processors {
            return Some(time);
        }
        let end = clock.worked(time.rank, time.begin, time.time);
        clock.set_message(end, time.then);
        None
    }
}
