//! The sharing policy of a scenario: `[sharing.max-min]` and so on.

use serde::{Deserialize, Serialize};

use super::{
    EqualShare, Groups, MaxMin, Redistribute, RedistributeGrowing, Sharing, WeightedEqualShare, WeightedMaxMin,
};
use crate::diagnostic::Located;

/// The sharing policy of a scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EqualShareSpec {}

/// `[sharing.max-min]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct MaxMinSpec {
    /// How the rates are worked out; they are the same, up to rounding.
    #[serde(skip_serializing_if = "Solver::is_auto")]
    pub solver: Solver,
}

/// How exact max-min rates are worked out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// By groups on tori and meshes with long sides (20 nodes on average in two dimensions, 30 in three, 40 in four)
    /// and for an incast of 256 messages and more, else by flows.
    #[default]
    Auto,
    /// Flow by flow: fastest where few flows share a bottleneck.
    Sweep,
    /// By groups of flows with the same bottleneck: fastest where thousands do (an incast), and on large tori.
    Groups,
}

impl Solver {
    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// `[sharing.redistribute]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RedistributeSpec {
    /// Rounds go on until no rate grows by more than this part of itself (default 0.01).
    pub threshold: Located<f64>,
    /// Which of a link's flows its left-over is divided among (default all).
    #[serde(skip_serializing_if = "Among::is_all")]
    pub among: Among,
}

/// Which of a link's flows its left-over is divided among.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Among {
    /// All of them: many small rounds.
    #[default]
    All,
    /// Those with room on all of their links: few large rounds.
    Growing,
}

impl Among {
    fn is_all(&self) -> bool {
        *self == Self::All
    }
}

impl Default for RedistributeSpec {
    fn default() -> Self {
        Self { threshold: 0.01.into(), among: Among::All }
    }
}

impl Default for SharingSpec {
    fn default() -> Self {
        Self::MaxMin(MaxMinSpec::default())
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

    /// The policy on links of these capacities \[B/s\].
    pub fn build(&self, capacities: Vec<f64>) -> Box<dyn Sharing> {
        match self {
            Self::EqualShare(_) => Box::new(EqualShare::new(capacities)),
            Self::Redistribute(RedistributeSpec { threshold, among: Among::All }) => {
                Box::new(Redistribute::new(capacities, **threshold))
            }
            Self::Redistribute(RedistributeSpec { threshold, among: Among::Growing }) => {
                Box::new(RedistributeGrowing::new(capacities, **threshold))
            }
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => Box::new(Groups::new(capacities)),
            Self::MaxMin(_) => Box::new(MaxMin::new(capacities)),
        }
    }

    /// Why flows on several paths, with weights or limits cannot be shared so, if they cannot.
    pub fn refuses_terms(&self) -> Option<&'static str> {
        match self {
            Self::Redistribute(_) => {
                Some("its rounds hand out left-over evenly, for flows on one path without weights")
            }
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => {
                Some("its groups are of flows with one rate, on one path and without weights")
            }
            Self::EqualShare(_) | Self::MaxMin(_) => None,
        }
    }

    /// Why the capacities of links cannot change while flows share them so, if they cannot.
    pub fn refuses_changes(&self) -> Option<&'static str> {
        match self {
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => Some("its groups are made for capacities that stay"),
            Self::EqualShare(_) | Self::Redistribute(_) | Self::MaxMin(_) => None,
        }
    }

    /// Why it cannot be said which link holds a flow back, and so whose flows, if it cannot.
    pub fn refuses_parties(&self) -> Option<&'static str> {
        match self {
            Self::Redistribute(_) => Some("its rounds hand out left-over, so that no one link holds a flow back"),
            Self::EqualShare(_) | Self::MaxMin(_) => None,
        }
    }

    /// The policy for flows on several paths, with weights and limits, on links of these capacities \[B/s\], where it
    /// is defined.
    pub fn build_on_terms(&self, capacities: Vec<f64>) -> Option<Box<dyn Sharing>> {
        if self.refuses_terms().is_some() {
            return None;
        }
        Some(match self {
            Self::EqualShare(_) => Box::new(WeightedEqualShare::new(capacities)),
            Self::MaxMin(_) | Self::Redistribute(_) => Box::new(WeightedMaxMin::new(capacities)),
        })
    }
}
