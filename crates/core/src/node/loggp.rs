//! LogGP: constant overheads for bands of message lengths, optionally for each call.

use std::sync::Arc;

use super::costs::{Costs, CostsByLength, MessageCosts};
use super::model::{NodeFacts, NodeModel, Playing};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::{Bytes, PerByte, Time};

/// `[node.loggp]`.
///
/// A message of k bytes takes `o + L + (k - 1) G + o`, with o and G of the band of length k. Two bands are
/// LogGP-2. A band for each measured length, with overheads for each call, is LogGP-1. No sender waits for
/// the receiver unless `S` is given: then a message above S leaves when its receive has been called, at no
/// other cost.
///
/// Source: Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995; as used beside LogGPS by Ino, Fujimoto,
/// Hagihara, section 4.5.
#[spec]
pub struct LogGpSpec {
    /// Latency between two ranks.
    #[serde(rename = "L")]
    pub latency: Located<Time>,
    /// Least time between two sends of a rank, and between two receives (default 0 s).
    #[serde(default)]
    pub g: Located<Time>,
    /// Bands of message lengths, ascending; only the last has no upper end.
    pub bands: Located<Vec<BandSpec>>,
    /// Longest message whose sender does not wait for the receive to be called (default: no sender waits).
    #[serde(rename = "S", default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Located<Bytes>>,
}

/// Costs of the messages in a band of lengths.
#[spec]
pub struct BandSpec {
    /// Longest message of the band (left out in the last band).
    pub to: Option<Located<Bytes>>,
    /// Overhead, at either end.
    pub o: Located<Time>,
    /// Gap per byte.
    #[serde(rename = "G")]
    pub gap: Located<PerByte>,
    /// Overhead of a send (default o).
    pub send: Option<Located<Time>>,
    /// Overhead of a receive (default o).
    pub recv: Option<Located<Time>>,
    /// Overhead of starting a send (default: that of a send).
    pub isend: Option<Located<Time>>,
    /// Overhead of starting a receive (default 0 s).
    pub irecv: Option<Located<Time>>,
    /// Least time of a wait for a receive (default: that of a receive).
    pub wait: Option<Located<Time>>,
}

impl NodeModel for LogGpSpec {
    fn name(&self) -> &'static str {
        "loggp"
    }

    fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        let Some((last, others)) = self.bands.split_last() else {
            let message = "there are no bands of lengths";
            return vec![
                Diagnostic::new("wrong-value", message)
                    .at_value(&self.bands)
                    .help("write one for all lengths: bands = [{ o = \"3 us\", G = \"9 ns/B\" }]"),
            ];
        };
        if let Some(to) = &last.to {
            let message = "the last band ends, so there are lengths in no band";
            mistakes.push(Diagnostic::new("wrong-value", message).at_value(to).help("leave out `to` in the last band"));
        }
        let mut before: Option<Bytes> = None;
        for band in others {
            match &band.to {
                None => mistakes.push(
                    Diagnostic::new("missing-key", "a band that is not the last has no end")
                        .at_value(&band.o)
                        .help("write its longest message: to = \"8191 B\""),
                ),
                Some(to) => {
                    if before.is_some_and(|before| **to <= before) {
                        let message = format!("bands are not in ascending order: {} comes late", **to);
                        mistakes.push(Diagnostic::new("wrong-value", message).at_value(to));
                    }
                    before = Some(**to);
                }
            }
        }
        mistakes
    }

    fn playing(&self) -> Playing {
        let bands = self.bands.iter().map(|band| {
            let or = |value: &Option<Located<Time>>, default: f64| value.as_ref().map_or(default, |time| time.ps());
            let (send, recv) = (or(&band.send, band.o.ps()), or(&band.recv, band.o.ps()));
            Band {
                to: band.to.as_ref().map_or(u64::MAX, |to| to.0),
                send,
                recv,
                isend: or(&band.isend, send),
                irecv: or(&band.irecv, 0.0),
                wait: or(&band.wait, recv),
                gap: band.gap.ps(),
            }
        });
        let bands = bands.collect();
        let rendezvous_above = self.sync.as_ref().map(|sync| sync.0);
        let costs = Costs::new(Bands { bands, rendezvous_above });
        Playing::AtCosts(Costs { latency: *self.latency, interval: *self.g, ..costs })
    }

    fn facts(&self) -> NodeFacts {
        NodeFacts { path_bounds: true, ..NodeFacts::default() }
    }

    fn eager_limit(&self) -> Option<Bytes> {
        self.sync.as_ref().map(|limit| **limit)
    }

    fn set_eager_limit(&mut self, limit: Bytes) -> bool {
        self.sync = Some(limit.into());
        true
    }
}

/// Bands of message lengths, ascending; the last has no upper end.
#[derive(Clone, Debug)]
struct Bands {
    bands: Vec<Band>,
    rendezvous_above: Option<u64>,
}

/// Constant overheads for lengths up to `to` \[ps, ps/B\].
#[derive(Clone, Copy, Debug)]
struct Band {
    to: u64,
    send: f64,
    recv: f64,
    isend: f64,
    irecv: f64,
    wait: f64,
    gap: f64,
}

impl CostsByLength for Bands {
    fn message(&self, bytes: u64) -> MessageCosts {
        let band = self.bands.iter().find(|band| bytes <= band.to).or(self.bands.last()).copied();
        let Some(band) = band else { return MessageCosts::default() };
        let gap = Time::from_ps(band.gap * bytes.saturating_sub(1) as f64);
        MessageCosts {
            send: Time::from_ps(band.send),
            gap,
            recv: Time::from_ps(band.recv),
            isend: Time::from_ps(band.isend),
            irecv: Time::from_ps(band.irecv),
            wait_recv: Time::from_ps(band.wait),
            port: Time::ZERO,
            acknowledgement: Time::ZERO,
            rendezvous: self.rendezvous_above.is_some_and(|limit| bytes > limit),
            shared: [Time::ZERO, gap, Time::ZERO],
        }
    }

    fn on_fabric(&self) -> Arc<dyn CostsByLength> {
        let bands = self.bands.iter().map(|&band| Band { gap: 0.0, ..band }).collect();
        Arc::new(Self { bands, ..*self })
    }
}
