//! What messages and calls cost, in the terms in which the player thinks.

use std::fmt;
use std::sync::Arc;

use crate::ids::RankId;
use crate::units::{Bytes, PerByte, Time};

/// What the calls of a model cost, and how long messages take.
///
/// A message of k bytes, sent by a call at `ts` and received by a call at `tr`:
/// ```text
/// at once:     the sender is busy for send(k); the message is under way for latency + gap(k) and arrives at a;
///              the receive is done at max(a, tr) + recv(k)
/// rendezvous:  the sender is busy for `handshake` with a request, under way for `latency`, arriving at q; the receiver answers
///              at max(q, tr) after 2 `handshake`, under way for `latency`; the sender takes it in after `handshake`; then as above
/// ```
#[derive(Clone, Debug)]
pub struct Costs {
    /// Time from one end to the other, of the first byte \[ps\].
    pub latency: Time,
    /// What a control message costs at either end \[ps\].
    pub handshake: Time,
    /// Whether requests and answers travel as messages; otherwise they are known at once.
    pub control_travels: bool,
    /// Least time between two sends of a rank, and between two receives \[ps\].
    pub interval: Time,
    /// Least cost of a wait for a send \[ps\].
    pub wait_send: Time,
    /// Whether messages that flow to one rank at the same time share its bandwidth.
    pub receiver_sharing: bool,
    /// Room at each receiver for messages that nobody has asked for; a message that finds none goes by rendezvous.
    /// `None` for any number.
    pub eager_buffer: Option<Bytes>,
    pub(super) by_length: Arc<dyn CostsByLength>,
}

/// How the costs of messages follow from their length: the equations of a model.
pub(super) trait CostsByLength: fmt::Debug + Send + Sync {
    /// What a message of so many bytes costs.
    fn message(&self, bytes: u64) -> MessageCosts;

    /// The same between two ranks, where that depends on who they are; by the protocol that the message takes, where
    /// that has costs of its own.
    fn between(&self, _src: RankId, _dst: RankId, bytes: u64, _rendezvous: bool) -> MessageCosts {
        self.message(bytes)
    }

    /// The same where a fabric carries the bytes: without gaps.
    fn on_fabric(&self) -> Arc<dyn CostsByLength>;
}

/// What one message costs \[ps\].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MessageCosts {
    /// The sender is busy before the first byte leaves.
    pub send: Time,
    /// From when the first byte arrives until the last has.
    pub gap: Time,
    /// The receiver is busy after the last byte has arrived.
    pub recv: Time,
    /// The call that starts a send.
    pub isend: Time,
    /// The call that starts a receive.
    pub irecv: Time,
    /// Least cost of a wait for a receive.
    pub wait_recv: Time,
    /// Whether the sender waits for the receiver.
    pub rendezvous: bool,
    /// Of each [`Phase`], the part that takes the network's bandwidth: what messages to one rank share.
    pub shared: [Time; 3],
}

/// What messages cost on hosts of which every message takes a processor and a network interface, at either end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostCosts {
    /// Time from one end to the other \[ps\].
    pub latency: Time,
    /// On the processor, for a message and for each byte but the first \[ps, ps/B\].
    pub processor: Time,
    /// See `processor`.
    pub processor_per_byte: PerByte,
    /// On the network interface, likewise \[ps, ps/B\].
    pub interface: Time,
    /// See `interface`.
    pub interface_per_byte: PerByte,
    /// Longest message whose sender does not wait for the receive.
    pub eager_limit: Bytes,
}

/// A part of the way of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// The sender's overhead.
    Send,
    /// Between the ends.
    #[default]
    Gap,
    /// The receiver's overhead.
    Recv,
}

impl Costs {
    /// Costs that follow from the length so; everything else costs nothing.
    pub(super) fn new(by_length: impl CostsByLength + 'static) -> Self {
        Self {
            latency: Time::ZERO,
            handshake: Time::ZERO,
            control_travels: false,
            interval: Time::ZERO,
            wait_send: Time::ZERO,
            receiver_sharing: false,
            eager_buffer: None,
            by_length: Arc::new(by_length),
        }
    }

    /// What a message between two ranks costs, where that depends on who they are; and on whether it goes by
    /// rendezvous.
    #[inline]
    pub fn between(&self, src: RankId, dst: RankId, bytes: u64, rendezvous: bool) -> MessageCosts {
        self.by_length.between(src, dst, bytes, rendezvous)
    }

    /// What a message of so many bytes costs.
    #[inline]
    pub fn message(&self, bytes: u64) -> MessageCosts {
        self.by_length.message(bytes)
    }

    /// The same between ranks that a fabric joins: its latencies and capacities stand for L and G, and messages share
    /// it.
    #[must_use]
    pub fn on_fabric(self) -> Self {
        Self { latency: Time::ZERO, receiver_sharing: false, by_length: self.by_length.on_fabric(), ..self }
    }
}

impl Default for Costs {
    /// Nothing costs anything.
    fn default() -> Self {
        Self::new(Nothing)
    }
}

/// Messages that cost nothing, whatever their length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl CostsByLength for Nothing {
    fn message(&self, _bytes: u64) -> MessageCosts {
        MessageCosts::default()
    }

    fn on_fabric(&self) -> Arc<dyn CostsByLength> {
        Arc::new(Self)
    }
}
