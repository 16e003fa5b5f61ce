//! Node models: what a message costs at its two ends, one file each.
//!
//! A model is a `...Spec` (what the scenario says: `[node.loggps]`) from which [`Costs`] are made, or, for
//! [`LogGopSimSpec`], parameters of a way of playing of its own. Parameter letters (L, o, g, G, O, s, S) are used here alone. To
//! add a model that fits [`Costs`]: a file here, a variant of [`NodeSpec`] and a line in its `costs`.
//!
//! Where ranks are placed on a simulated fabric, the network's share (L and the gaps G) comes from the fabric, and only
//! what the ends cost is taken from here; without a fabric the model's own L and G are the network.

pub mod calibrate;
mod costs;
mod ideal;
mod loggopsim;
mod loggp;
mod loggps;
mod pairs;
mod receive_times;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;

pub use costs::{Costs, MessageCosts, Phase};
pub use ideal::IdealSpec;
pub use loggopsim::LogGopSimSpec;
pub use loggp::{BandSpec, LogGpSpec};
pub use loggps::{LogGpsSpec, ReceiverSharing};
pub use pairs::Pairs;
pub use receive_times::{ReceiveTable, ReceiveTime, ReceiveTimesBetween, ReceiveTimesSpec};

/// The node model of a scenario: `[node.loggps]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeSpec {
    /// The ends cost nothing.
    Ideal(IdealSpec),
    /// A constant overhead by band of lengths (LogGP-2), or by length and call (LogGP-1).
    Loggp(LogGpSpec),
    /// Overheads linear in the length, and waiting for the receiver above a length S.
    Loggps(LogGpsSpec),
    /// What the simulator LogGOPSim computes, to the nanosecond.
    Loggopsim(LogGopSimSpec),
    /// A measured receive time for each size, and nothing else: the rules of MPIETE.
    ReceiveTimes(ReceiveTimesSpec),
}

impl Default for NodeSpec {
    fn default() -> Self {
        Self::Ideal(IdealSpec {})
    }
}

impl NodeSpec {
    /// The name of the model as it is written in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ideal(_) => "ideal",
            Self::Loggp(_) => "loggp",
            Self::Loggps(_) => "loggps",
            Self::Loggopsim(_) => "loggopsim",
            Self::ReceiveTimes(_) => "receive-times",
        }
    }

    /// What is wrong with its parameters.
    pub fn check(&self) -> Vec<Diagnostic> {
        match self {
            Self::Loggps(spec) => spec.check(),
            Self::Loggp(spec) => spec.check(),
            Self::ReceiveTimes(spec) => spec.check(),
            Self::Ideal(_) | Self::Loggopsim(_) => Vec::new(),
        }
    }

    /// What messages cost; `None` for LogGOPSim's model, which is more than costs.
    pub fn costs(&self) -> Option<Costs> {
        match self {
            Self::Ideal(spec) => Some(spec.costs()),
            Self::Loggp(spec) => Some(spec.costs()),
            Self::Loggps(spec) => Some(spec.costs()),
            Self::ReceiveTimes(spec) => Some(spec.costs()),
            Self::Loggopsim(_) => None,
        }
    }
}
