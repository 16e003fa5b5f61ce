//! Costs of messages and calls, in the form that the player uses.

use std::fmt;
use std::sync::Arc;

use crate::ids::RankId;
use crate::units::{Bytes, PerByte, Time};

/// Costs of the calls of a model, and times of its messages.
///
/// A message of k bytes, sent by a call at `ts` and received by a call at `tr`:
/// ```text
/// eager:       the sender is busy for send(k); the message is under way for latency + gap(k) and arrives at a;
///              the receive is done at max(a, tr) + recv(k)
/// rendezvous:  the sender is busy for `handshake` with a request, which arrives at q after `latency`;
///              the receiver answers at max(q, tr) after 2 `handshake`, under way for `latency`;
///              the sender handles the answer for `handshake`; then as above
/// ```
#[derive(Clone, Debug)]
pub struct Costs {
    /// Time of the first byte from one end to the other \[ps\].
    pub latency: Time,
    /// Cost of a control message at either end \[ps\].
    pub handshake: Time,
    /// Set if requests and answers travel as messages; otherwise they are known at once.
    pub control_travels: bool,
    /// Least time between two sends of a rank, and between two receives \[ps\].
    pub interval: Time,
    /// Least cost of a wait for a send \[ps\].
    pub wait_send: Time,
    /// Set if messages that flow to one rank at the same time share its bandwidth.
    pub receiver_sharing: bool,
    /// Room at each receiver for unexpected messages; a message that does not fit is sent by rendezvous.
    /// `None` for unlimited room.
    pub eager_buffer: Option<Bytes>,
    pub(super) by_length: Arc<dyn CostsByLength>,
}

/// Costs of messages by their length: the equations of a model.
pub(super) trait CostsByLength: fmt::Debug + Send + Sync {
    /// Returns the costs of a message of this length.
    fn message(&self, bytes: u64) -> MessageCosts;

    /// Returns the costs of a message between two ranks under a protocol, for models whose costs depend on
    /// them or on its role.
    fn between(&self, _src: RankId, _dst: RankId, bytes: u64, _rendezvous: bool, _role: Role) -> MessageCosts {
        self.message(bytes)
    }

    /// Returns the same costs without gaps, for messages that a fabric carries.
    fn on_fabric(&self) -> Arc<dyn CostsByLength>;
}

/// Costs of one message \[ps\].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MessageCosts {
    /// Time that the sender is busy before the first byte leaves.
    pub send: Time,
    /// Time from the arrival of the first byte to that of the last.
    pub gap: Time,
    /// Time that the receiver is busy after the last byte has arrived.
    pub recv: Time,
    /// Time of the call that starts a send.
    pub isend: Time,
    /// Time of the call that starts a receive.
    pub irecv: Time,
    /// Least cost of a wait for a receive.
    pub wait_recv: Time,
    /// Time that the message occupies the port of either end beyond its time on a fabric: of messages that are
    /// under way at once, each arrives and is received at least this time after the one before.
    pub port: Time,
    /// Time on a fabric from the departure of the last byte to the end of a send by rendezvous; at most `recv`.
    pub acknowledgement: Time,
    /// Set if the sender waits for the receiver.
    pub rendezvous: bool,
    /// Part of each [`Phase`] that takes bandwidth of the network, which messages to one rank share.
    pub shared: [Time; 3],
}

/// Costs of messages on hosts where every message occupies a processor and a network interface at either end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostCosts {
    /// Time from one end to the other \[ps\].
    pub latency: Time,
    /// Time on the processor, per message, and in `processor_per_byte` for each byte but the first \[ps,
    /// ps/B\].
    pub processor: Time,
    /// See `processor`.
    pub processor_per_byte: PerByte,
    /// Time on the network interface, likewise \[ps, ps/B\].
    pub interface: Time,
    /// See `interface`.
    pub interface_per_byte: PerByte,
    /// Longest message whose sender does not wait for the receive.
    pub eager_limit: Bytes,
}

/// Part of a message in the call that sends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// The call only sends.
    #[default]
    OneWay,
    /// The call also receives, from another rank: a step of a chain.
    Step,
    /// The call also receives from the rank that it sends to.
    Swap,
}

/// A phase of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// The sender's overhead.
    Send,
    /// The way between the ends.
    #[default]
    Gap,
    /// The receiver's overhead.
    Recv,
}

impl Costs {
    /// Creates costs that follow from the length alone; everything else costs nothing.
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

    /// Returns the costs of a message between two ranks, by rendezvous or not.
    #[inline]
    pub fn between(&self, src: RankId, dst: RankId, bytes: u64, rendezvous: bool, role: Role) -> MessageCosts {
        self.by_length.between(src, dst, bytes, rendezvous, role)
    }

    /// Returns the costs of a message of this length.
    #[inline]
    pub fn message(&self, bytes: u64) -> MessageCosts {
        self.by_length.message(bytes)
    }

    /// Returns the costs between ranks that a fabric connects. Latencies and capacities of the fabric replace
    /// L and G, and messages share the fabric.
    #[must_use]
    pub fn on_fabric(self) -> Self {
        Self { latency: Time::ZERO, receiver_sharing: false, by_length: self.by_length.on_fabric(), ..self }
    }
}

impl Default for Costs {
    /// Creates costs of zero.
    fn default() -> Self {
        Self::new(NoCosts)
    }
}

/// Costs of zero for messages of any length.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoCosts;

impl CostsByLength for NoCosts {
    fn message(&self, _bytes: u64) -> MessageCosts {
        MessageCosts::default()
    }

    fn on_fabric(&self) -> Arc<dyn CostsByLength> {
        Arc::new(Self)
    }
}
