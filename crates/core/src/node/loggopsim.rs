//! LogGOPSim's model: LogGOPS as that simulator implements it.

use super::costs::HostCosts;
use super::model::{NodeFacts, NodeModel, Playing};
use crate::diagnostic::Located;
use crate::units::{Bytes, PerByte, Time};

/// `[node.loggopsim]`. The defaults are those of LogGOPSim.
///
/// A message of k bytes occupies the sender's processor for `o + (k-1) O` and its network interface for `g +
/// (k-1) G`. Its first byte reaches the receiver after `o + L`. There the message occupies the processor for
/// `o + max((k-1) O, (k-1) G)` and the interface for `g + (k-1) G`, whether or not a receive has been called.
/// Above S the sender's operation ends when the receive has been matched, at no other cost.
///
/// Source: the behaviour of LogGOPSim (Hoefler, Schneider, Lumsdaine, LSAP 2010).
#[spec(partial)]
pub struct LogGopSimSpec {
    /// Latency between two ranks (default 2500 ns).
    #[serde(rename = "L")]
    pub latency: Located<Time>,
    /// Overhead of a message on the processor, at either end (default 1500 ns).
    pub o: Located<Time>,
    /// Time that a message occupies the network interface (default 1000 ns).
    pub g: Located<Time>,
    /// Time on the network interface for each byte but the first (default 6 ns/B).
    #[serde(rename = "G")]
    pub gap: Located<PerByte>,
    /// Overhead on the processor for each byte but the first (default 0 ns/B).
    #[serde(rename = "O")]
    pub overhead: Located<PerByte>,
    /// Longest message whose sender does not wait for the receive (default 65535 B).
    #[serde(rename = "S")]
    pub sync: Located<Bytes>,
}

impl Default for LogGopSimSpec {
    fn default() -> Self {
        Self {
            latency: Time::from_ps(2_500e3).into(),
            o: Time::from_ps(1_500e3).into(),
            g: Time::from_ps(1_000e3).into(),
            gap: PerByte::from_ps(6e3).into(),
            overhead: PerByte::ZERO.into(),
            sync: Bytes(65_535).into(),
        }
    }
}

impl LogGopSimSpec {
    /// Returns the costs of messages.
    pub fn host_costs(&self) -> HostCosts {
        HostCosts {
            latency: *self.latency,
            processor: *self.o,
            processor_per_byte: *self.overhead,
            interface: *self.g,
            interface_per_byte: *self.gap,
            eager_limit: *self.sync,
        }
    }
}

impl NodeModel for LogGopSimSpec {
    fn name(&self) -> &'static str {
        "loggopsim"
    }

    fn playing(&self) -> Playing {
        Playing::OnHosts(self.host_costs())
    }

    /// Returns the facts of the model. A message that arrives early does not tell which receive will take it.
    fn facts(&self) -> NodeFacts {
        NodeFacts { is_network: true, knows_receives: false, ..NodeFacts::default() }
    }
}
