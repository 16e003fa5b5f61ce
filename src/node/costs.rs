//! What messages and calls cost, in the terms in which the player thinks.

use super::ReceiveTable;
use crate::ids::RankId;
use crate::units::{Bytes, Time};

/// What the calls of a model cost, and how long messages take.
///
/// A message of k bytes, sent by a call at `ts` and received by a call at `tr`:
/// ```text
/// at once:     the sender is busy for send(k); the message is under way for latency + gap(k) and arrives at a;
///              the receive is done at max(a, tr) + recv(k)
/// rendezvous:  the sender is busy for `handshake` with a request, under way for `latency`, arriving at q; the receiver answers
///              at max(q, tr) after 2 `handshake`, under way for `latency`; the sender takes it in after `handshake`; then as above
/// ```
#[derive(Clone, PartialEq, Debug)]
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
    /// Room at each receiver for messages that nobody has asked for; a message that finds none goes by rendezvous. `None` for any number.
    pub eager_buffer: Option<Bytes>,
    pub(super) kind: Kind,
}

/// How the costs follow from the length.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    Linear(Linear),
    /// Bands of lengths, ascending; the last has no end.
    Bands {
        bands: Vec<Band>,
        rendezvous_above: Option<u64>,
    },
    /// The whole time as a gap, from a table.
    Table(ReceiveTable),
    Nothing,
}

/// Overheads and gaps linear in the length \[ps, ps/B\].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Linear {
    pub o: f64,
    pub oss: f64,
    pub ors: f64,
    pub gs: f64,
    pub osl: f64,
    pub orl: f64,
    pub gl: f64,
    pub short: u64,
    pub sync: u64,
    /// Whether the bandwidth is held byte by byte, and not by the whole message as its length has it.
    pub by_byte: bool,
}

/// Constant overheads for lengths up to `to` \[ps, ps/B\].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Band {
    pub to: u64,
    pub send: f64,
    pub recv: f64,
    pub isend: f64,
    pub irecv: f64,
    pub wait: f64,
    pub gap: f64,
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
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            latency: Time::ZERO,
            handshake: Time::ZERO,
            control_travels: false,
            interval: Time::ZERO,
            wait_send: Time::ZERO,
            receiver_sharing: false,
            eager_buffer: None,
            kind,
        }
    }

    /// What a message between two ranks costs, where that depends on who they are; and on whether it goes by rendezvous.
    #[inline]
    pub fn between(&self, src: RankId, dst: RankId, bytes: u64, rendezvous: bool) -> MessageCosts {
        match &self.kind {
            Kind::Table(table) => MessageCosts { gap: table.between(src, dst, bytes), ..MessageCosts::default() },
            Kind::Linear(linear) => linear.message(bytes, rendezvous),
            _ => self.message(bytes),
        }
    }

    /// What a message of so many bytes costs.
    #[inline]
    pub fn message(&self, bytes: u64) -> MessageCosts {
        match &self.kind {
            Kind::Nothing => MessageCosts::default(),
            Kind::Table(table) => MessageCosts { gap: table.time(bytes), ..MessageCosts::default() },
            Kind::Linear(linear) => linear.message(bytes, bytes > linear.sync),
            Kind::Bands { bands, rendezvous_above } => {
                let band = bands.iter().find(|band| bytes <= band.to).or(bands.last()).copied();
                let Some(band) = band else { return MessageCosts::default() };
                let gap = Time::from_ps(band.gap * bytes.saturating_sub(1) as f64);
                MessageCosts {
                    send: Time::from_ps(band.send),
                    gap,
                    recv: Time::from_ps(band.recv),
                    isend: Time::from_ps(band.isend),
                    irecv: Time::from_ps(band.irecv),
                    wait_recv: Time::from_ps(band.wait),
                    rendezvous: rendezvous_above.is_some_and(|limit| bytes > limit),
                    shared: [Time::ZERO, gap, Time::ZERO],
                }
            }
        }
    }

    /// The same between ranks that a fabric joins: its latencies and capacities stand for L and G, and messages share it.
    #[must_use]
    pub fn on_fabric(mut self) -> Self {
        self.latency = Time::ZERO;
        self.receiver_sharing = false;
        match &mut self.kind {
            Kind::Linear(linear) => (linear.gs, linear.gl) = (0.0, 0.0),
            Kind::Bands { bands, .. } => bands.iter_mut().for_each(|band| band.gap = 0.0),
            Kind::Table(_) => self.kind = Kind::Nothing,
            Kind::Nothing => {}
        }
        self
    }
}

impl Linear {
    /// Overheads are those of the protocol, the gap is that of the length.
    fn message(&self, bytes: u64, rendezvous: bool) -> MessageCosts {
        let k = bytes as f64;
        let gap = if bytes <= self.short {
            k * self.gs
        } else {
            self.short as f64 * self.gs + (bytes - self.short) as f64 * self.gl
        };
        let (os, or) = if rendezvous { (self.osl, self.orl) } else { (self.oss, self.ors) };
        // The largest of the three holds the bandwidth; of equal ones the gap does.
        let holder = |s: f64, g: f64, r: f64| {
            if g >= s && g >= r {
                (Phase::Gap, g)
            } else if s >= r {
                (Phase::Send, s)
            } else {
                (Phase::Recv, r)
            }
        };
        let (first, rest) = (holder(self.oss, self.gs, self.ors), holder(self.osl, self.gl, self.orl));
        let of_phase = [k * os, gap, k * or];
        let mut shared = [0.0; 3];
        if self.by_byte {
            let near = bytes.min(self.short);
            for ((phase, per_byte), bytes) in [(first, near), (rest, bytes - near)] {
                shared[phase as usize] += per_byte * bytes as f64;
            }
            // No more of a phase can be shared than it has.
            shared.iter_mut().zip(of_phase).for_each(|(shared, all)| *shared = shared.min(all));
        } else {
            let (phase, _) = if bytes <= self.short { first } else { rest };
            shared[phase as usize] = of_phase[phase as usize];
        }
        let o = Time::from_ps(self.o);
        MessageCosts {
            send: Time::from_ps(self.o + k * os),
            gap: Time::from_ps(gap),
            recv: Time::from_ps(self.o + k * or),
            isend: o,
            irecv: o,
            wait_recv: o,
            rendezvous,
            shared: shared.map(Time::from_ps),
        }
    }
}
