//! What a message costs the two ends and how long it is under way.

use crate::units::Time;

/// Costs of messages between a master and its workers.
///
/// A message of k bytes keeps its sender for `o + k*Gs` \[ps\], is under way for `L + k*Gw + c`, and keeps its receiver for
/// `o + k*Gr`, where `o = o0 + o1*P` grows with the number of processors (looking for messages from each of them) and
/// `Gs`, `Gw`, `Gr` and `c` depend on the [`Band`] that k falls into. LogGP has one band, with `Gs = G` and nothing else.
///
/// Source: MSS, section 3.3; LogGPS, sections 3 and 4.
#[derive(Clone, PartialEq, Debug)]
pub struct Costs {
    /// `L`: latency.
    pub latency: Time,
    /// `o0`: overhead of a message at each end.
    pub overhead: Time,
    /// `o1`: what is added to the overhead for each processor.
    pub overhead_per_processor: Time,
    /// By size, ascending; the last one has no limit.
    pub bands: Vec<Band>,
}

/// Costs per byte of messages up to a size.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Band {
    /// The largest message of the band \[B\].
    pub up_to: u64,
    /// Time of the sender for each byte \[ps/B\].
    pub sender: f64,
    /// Time under way for each byte \[ps/B\].
    pub wire: f64,
    /// Time under way that does not depend on the size \[ps\].
    pub wire_constant: f64,
    /// Time of the receiver for each byte \[ps/B\].
    pub receiver: f64,
    /// Whether sender and receiver agree first (rendezvous): `2*(o + L + o)` more for the sender, the receiver being
    /// ready.
    pub handshake: bool,
}

/// What one message costs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MessageCost {
    /// How long its sender is busy.
    pub send: Time,
    /// How long it is under way.
    pub flight: Time,
    /// How long its receiver is busy.
    pub receive: Time,
}

impl Default for Costs {
    /// Messages that cost nothing.
    fn default() -> Self {
        Self::log_gp(Time::ZERO, Time::ZERO, Time::ZERO, 0.0)
    }
}

impl Costs {
    /// LogGP: latency, overhead `o0 + o1*P`, and a gap for each byte \[ps/B\] that the sender spends.
    pub fn log_gp(latency: Time, overhead: Time, overhead_per_processor: Time, gap: f64) -> Self {
        let band = Band { up_to: u64::MAX, sender: gap, ..Band::default() };
        Self { latency, overhead, overhead_per_processor, bands: vec![band] }
    }

    /// The overhead among so many processors: `o0 + o1*P`.
    pub fn overhead_among(&self, processors: u32) -> Time {
        self.overhead + Time::from_ps(self.overhead_per_processor.ps() * f64::from(processors))
    }

    /// What a message of so many bytes costs where an end's overhead is `o`.
    #[inline]
    pub fn message(&self, bytes: u64, o: Time) -> MessageCost {
        let band = match &*self.bands {
            [band] => band,
            bands => bands.iter().find(|band| bytes <= band.up_to).or(bands.last()).unwrap_or(&NOTHING),
        };
        let k = bytes as f64;
        let mut send = o.ps() + k * band.sender;
        if band.handshake {
            send += 4.0 * o.ps() + 2.0 * self.latency.ps();
        }
        MessageCost {
            send: Time::from_ps(send),
            flight: Time::from_ps(self.latency.ps() + k * band.wire + band.wire_constant),
            receive: Time::from_ps(o.ps() + k * band.receiver),
        }
    }

    /// Whether every byte takes time of its sender alone, as in LogGP: then the loop of the paper applies as printed.
    pub fn is_log_gp(&self) -> bool {
        matches!(&*self.bands, [band] if Band { sender: 0.0, up_to: 0, ..*band } == Band::default())
    }

    /// Sender's time for each byte of a LogGP message \[ps/B\].
    pub(super) fn gap(&self) -> f64 {
        self.bands.first().map_or(0.0, |band| band.sender)
    }
}

/// The band of a network without any cost.
const NOTHING: Band =
    Band { up_to: u64::MAX, sender: 0.0, wire: 0.0, wire_constant: 0.0, receiver: 0.0, handshake: false };
