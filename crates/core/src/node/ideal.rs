//! The ideal node: its ends cost nothing.

use serde::{Deserialize, Serialize};

use super::costs::{Costs, Nothing};
use super::model::{NodeFacts, NodeModel, Playing};

/// `[node.ideal]`: no options. Without a fabric messages arrive when they are sent, and a program takes what its
/// computation and its dependences alone take: no network can be faster.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdealSpec {}

impl NodeModel for IdealSpec {
    fn name(&self) -> &'static str {
        "ideal"
    }

    fn playing(&self) -> Playing {
        Playing::AtCosts(Costs::new(Nothing))
    }

    fn facts(&self) -> NodeFacts {
        let network = "none: messages arrive when they are sent";
        NodeFacts { is_ideal: true, network, ..NodeFacts::default() }
    }
}
