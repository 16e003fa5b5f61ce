//! Sharing: how fast each flow is, given which flows are under way on which links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sharing policy of a scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SharingSpec {
    /// Each link is divided evenly; a flow gets the least of its links.
    EqualShare(EqualShareSpec),
    /// Equal share, then rounds that hand out what flows throttled elsewhere leave unused.
    Redistribute(RedistributeSpec),
    /// Exact max-min fairness (the default).
    MaxMin(MaxMinSpec),
}

/// `[sharing.equal-share]`: no options.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EqualShareSpec {}

/// `[sharing.max-min]`: no options.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MaxMinSpec {}

/// `[sharing.redistribute]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RedistributeSpec {
    /// Rounds go on until no rate grows by more than this part of itself (default 0.01).
    pub threshold: crate::diagnostic::Located<f64>,
}

impl Default for RedistributeSpec {
    fn default() -> Self {
        Self { threshold: 0.01.into() }
    }
}

impl Default for SharingSpec {
    fn default() -> Self {
        Self::MaxMin(MaxMinSpec {})
    }
}

impl SharingSpec {
    /// The name of the policy as it is written in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::EqualShare(_) => "equal-share",
            Self::Redistribute(_) => "redistribute",
            Self::MaxMin(_) => "max-min",
        }
    }
}
