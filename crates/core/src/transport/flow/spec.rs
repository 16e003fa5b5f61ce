//! `[transport.flow]`: bandwidth, weights and limits of messages as flows.

use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

/// `[transport.flow]`; how flows share a link is in `[sharing.*]`.
///
/// By default messages wait for the latencies of their route, get the full bandwidth of links, and have equal
/// weights. The other settings are those of SimGrid's network models, CM02 and LV08.
#[spec(partial)]
pub struct FlowSpec {
    /// Factor on the latency of its route that a message waits for before it takes bandwidth (default 1, at
    /// least 1).
    #[serde(skip_serializing_if = "Located::is_one")]
    pub latency_factor: Located<f64>,
    /// Part of a link's bandwidth that messages get, without headers (default 1; above 0, at most 1).
    #[serde(skip_serializing_if = "Located::is_one")]
    pub bandwidth_factor: Located<f64>,
    /// Weights of messages: their rates on a full link are in proportion to them (default even).
    #[serde(skip_serializing_if = "Weights::is_even")]
    pub weights: Weights,
    /// Bytes that each link of a route adds to its round-trip time, as time at the link's bandwidth (default 0 B).
    #[serde(skip_serializing_if = "Located::is_default")]
    pub weight_size: Located<Bytes>,
    /// Largest number of bytes under way: a message is at most as fast as `bandwidth-factor * window / (2
    /// latency)` (default: no limit).
    pub window: Option<Located<Bytes>>,
    /// Part of its rate that a message also takes on each link of the way back, if there is one, for
    /// acknowledgements (default 0).
    #[serde(skip_serializing_if = "Located::is_default")]
    pub cross_traffic: Located<f64>,
}

/// Weights of messages: their rates on a full link are in proportion to them.
#[spec(Copy, Eq, Default)]
pub enum Weights {
    /// Equal weights.
    #[default]
    Even,
    /// One over the latency of the route.
    RoundTrip,
}

impl Weights {
    pub(super) fn is_even(&self) -> bool {
        *self == Self::Even
    }
}

impl Default for FlowSpec {
    fn default() -> Self {
        Self {
            latency_factor: 1.0.into(),
            bandwidth_factor: 1.0.into(),
            weights: Weights::Even,
            weight_size: Bytes(0).into(),
            window: None,
            cross_traffic: 0.0.into(),
        }
    }
}

impl FlowSpec {
    /// True if all options have their defaults: full bandwidth of links and equal weights.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the mistakes in its options.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut wrong = |value: &Located<f64>, is_right: bool, what: &str, wanted: &str, help: &str| {
            if !is_right {
                let diagnostic = Diagnostic::new("wrong-value", format!("{} is not a {what}", **value));
                diagnostics.push(diagnostic.at_value(value).label(format!("{wanted} is expected")).help(help));
            }
        };
        let latency = *self.latency_factor;
        let is_right = (1.0..f64::INFINITY).contains(&latency);
        wrong(&self.latency_factor, is_right, "latency factor", "a number from 1", "that of SimGrid's LV08 is 13.01");
        let is_right = *self.bandwidth_factor > 0.0 && *self.bandwidth_factor <= 1.0;
        let wanted = "a number above 0, up to 1";
        wrong(&self.bandwidth_factor, is_right, "bandwidth factor", wanted, "that of SimGrid's LV08 is 0.97");
        let is_right = (0.0..=1.0).contains(&*self.cross_traffic);
        let wanted = "a number from 0 to 1";
        wrong(&self.cross_traffic, is_right, "fraction of a rate", wanted, "SimGrid's is 0.05");
        if self.weights.is_even() && self.weight_size.0 > 0 {
            let diagnostic = Diagnostic::new("unused-option", "without weights no message has use for a weight size");
            let help = "write `weights = \"round-trip\"`, or leave `weight-size` out";
            diagnostics.push(diagnostic.at_value(&self.weight_size).label("only for weights").help(help));
        }
        if let Some(window) = self.window.as_ref().filter(|window| window.0 == 0) {
            let diagnostic = Diagnostic::new("wrong-value", "nothing ever moves in a window of 0 bytes");
            diagnostics.push(
                diagnostic
                    .at_value(window)
                    .label("more than 0 B is expected")
                    .help("SimGrid's is 4194304 B; leave it out for no limit"),
            );
        }
        diagnostics
    }
}
