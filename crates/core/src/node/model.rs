//! The interface of node models.

use super::costs::{Costs, HostCosts};
use super::receive_table::ReceiveTable;
use crate::diagnostic::Diagnostic;
use crate::units::Bytes;

/// A node model. The defaults are the answers of most models.
pub trait NodeModel {
    /// Returns the name of the model in files and on the command line.
    fn name(&self) -> &'static str;

    /// Returns the rules and costs by which programs are played on the model.
    fn playing(&self) -> Playing;

    /// Returns the mistakes in the parameters.
    fn check(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Returns the facts that other rooms need before a run.
    fn facts(&self) -> NodeFacts {
        NodeFacts::default()
    }

    /// Returns the longest message that is sent eagerly (S), if the model has such a limit.
    fn eager_limit(&self) -> Option<Bytes> {
        None
    }

    /// Sets that limit and nothing else; returns `false` if the model has no limit.
    fn set_eager_limit(&mut self, _limit: Bytes) -> bool {
        false
    }

    /// Returns the parameter that must be set to the same value when `parameter` is set to `value` (in its
    /// own unit), because the two would contradict each other otherwise.
    fn follows(&self, _parameter: &str, _value: f64) -> Option<&'static str> {
        None
    }

    /// Returns the costs of messages; `None` for a model that is more than costs.
    fn costs(&self) -> Option<Costs> {
        match self.playing() {
            Playing::AtCosts(costs) | Playing::FromTable(_, costs) => Some(costs),
            Playing::OnHosts(_) => None,
        }
    }
}

/// Rules by which programs are played on a node model.
#[derive(Clone, Debug)]
pub enum Playing {
    /// Call by call: messages and calls have costs.
    AtCosts(Costs),
    /// By the rules of MPIETE with this table, if they determine the message that every receive takes;
    /// otherwise call by call.
    FromTable(ReceiveTable, Costs),
    /// As in LogGOPSim: hosts have processors and network interfaces.
    OnHosts(HostCosts),
}

/// Properties of a node model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeFacts {
    /// Set if neither the ends of a message nor the way between them cost anything.
    pub is_ideal: bool,
    /// Set if the model contains a network that no fabric can replace.
    pub is_network: bool,
    /// Description, for people, of the network that carries messages without a fabric.
    pub network: &'static str,
    /// Set if messages take their measured time from call to call, and nothing is simulated at their ends.
    pub is_table: bool,
    /// Set if the receive that takes a message is known, and so the rank that another one waits for.
    pub knows_receives: bool,
    /// Set if, without a fabric, ranks that run sequences affect each other only by messages. The critical
    /// path then gives a bound for the effect of a change.
    pub path_bounds: bool,
}

impl Default for NodeFacts {
    fn default() -> Self {
        Self {
            is_ideal: false,
            is_network: false,
            network: "the model's own latency and gaps",
            is_table: false,
            knows_receives: true,
            path_bounds: false,
        }
    }
}
