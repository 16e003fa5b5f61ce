//! What a node model answers.

use super::costs::{Costs, HostCosts};
use super::receive_table::ReceiveTable;
use crate::diagnostic::Diagnostic;
use crate::units::Bytes;

/// A node model: what others ask of it, whichever it is. What most models answer is the default.
pub trait NodeModel {
    /// Its name, as it is written in files and on the command line.
    fn name(&self) -> &'static str;

    /// How programs are played on it.
    fn playing(&self) -> Playing;

    /// What is wrong with its parameters.
    fn check(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// What others need to know of it before anything is played.
    fn facts(&self) -> NodeFacts {
        NodeFacts::default()
    }

    /// The longest message that is sent without waiting for its receiver (S), where there is such a limit.
    fn eager_limit(&self) -> Option<Bytes> {
        None
    }

    /// Moves that limit and nothing else; `false` where the model knows none.
    fn set_eager_limit(&mut self, _limit: Bytes) -> bool {
        false
    }

    /// The parameter that has to take the same value where `parameter` takes this one (a quantity, in its own unit),
    /// for otherwise the two would not go together.
    fn follows(&self, _parameter: &str, _value: f64) -> Option<&'static str> {
        None
    }

    /// What messages cost; `None` for a model that is more than costs.
    fn costs(&self) -> Option<Costs> {
        match self.playing() {
            Playing::AtCosts(costs) | Playing::FromTable(_, costs) => Some(costs),
            Playing::OnHosts(_) => None,
        }
    }
}

/// How programs are played on a node model.
#[derive(Clone, Debug)]
pub enum Playing {
    /// Call by call: messages and calls have costs.
    AtCosts(Costs),
    /// By the rules of MPIETE where these tell which message every receive takes, from this table; otherwise call by
    /// call.
    FromTable(ReceiveTable, Costs),
    /// As LogGOPSim does: hosts have processors and network interfaces.
    OnHosts(HostCosts),
}

/// What others need to know of a node model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeFacts {
    /// Neither the ends of a message nor the way between them cost anything.
    pub is_ideal: bool,
    /// It is a network of its own, which no fabric can stand for.
    pub is_network: bool,
    /// What carries messages where no fabric does, for people.
    pub network: &'static str,
    /// Messages take what was measured for them from call to call, and nothing is simulated at their ends.
    pub is_table: bool,
    /// It is known which receive takes a message, and so for whom a rank waits.
    pub knows_receives: bool,
    /// Without a fabric nothing but messages connects ranks of sequences: what the critical path says of a change is a
    /// bound.
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
