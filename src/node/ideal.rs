//! The ideal node: its ends cost nothing.

use serde::{Deserialize, Serialize};

use super::costs::{Costs, Kind};

/// `[node.ideal]`: no options. Without a fabric messages arrive when they are sent, and a program takes what its
/// computation and its dependences alone take: no network can be faster.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdealSpec {}

impl IdealSpec {
    pub(super) fn costs(&self) -> Costs {
        Costs::new(Kind::Nothing)
    }
}
