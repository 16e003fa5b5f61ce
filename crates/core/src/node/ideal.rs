//! The ideal node: sending and receiving cost nothing.

use super::costs::{Costs, NoCosts};
use super::model::{NodeFacts, NodeModel, Playing};

/// `[node.ideal]`: no options. Without a fabric messages arrive when they are sent, and a program takes only
/// the time of its computation and its dependences: no network is faster if messages go to the same receives.
#[spec(Default)]
pub struct IdealSpec {}

impl NodeModel for IdealSpec {
    fn name(&self) -> &'static str {
        "ideal"
    }

    fn playing(&self) -> Playing {
        Playing::AtCosts(Costs::new(NoCosts))
    }

    fn facts(&self) -> NodeFacts {
        let network = "none: messages arrive when they are sent";
        NodeFacts { is_ideal: true, network, ..NodeFacts::default() }
    }
}
