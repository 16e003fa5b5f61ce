//! Routing: which links a message from one node to another crosses.
//!
//! Routes are computed, not stored, wherever the fabric's family allows it: one file a rule.

mod climb;
mod d_mod_k;
mod dimension_order;
mod family;
mod hashed;
mod router;
mod shortest_path;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, closest};
use crate::fabric::Fabric;

use router::MISFIT;

pub use d_mod_k::{DModKSpec, SModKSpec};
pub use dimension_order::{DimensionOrderSpec, Ties};
pub use family::FamilySpec;
pub use hashed::HashedSpec;
pub use router::Router;
pub use shortest_path::ShortestPathSpec;
pub use table::TableSpec;

/// The routing rule of a scenario: `[routing.d-mod-k]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RoutingSpec {
    /// Up a tree by the destination's number, so that each down link serves few destinations.
    DModK(DModKSpec),
    /// Up a tree by the source's number.
    SModK(SModKSpec),
    /// Up a tree by a seeded hash of source and destination (ECMP by flow).
    Hashed(HashedSpec),
    /// One dimension of a grid after another.
    DimensionOrder(DimensionOrderSpec),
    /// The minimal routes of the fabric's own family, by its arithmetic.
    Family(FamilySpec),
    /// A shortest path of the graph, always the same one.
    ShortestPath(ShortestPathSpec),
    /// The routes that the topology's own file gives.
    Table(TableSpec),
}

/// The names of all rules.
const NAMES: [&str; 7] = ["d-mod-k", "s-mod-k", "hashed", "dimension-order", "family", "shortest-path", "table"];

impl RoutingSpec {
    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Hashed(spec) => spec.seed.is_none(),
            Self::DimensionOrder(spec) => spec.ties == Some(Ties::Random),
            Self::DModK(_) | Self::SModK(_) | Self::Family(_) | Self::ShortestPath(_) | Self::Table(_) => false,
        }
    }

    /// The names of all rules.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter()
    }

    /// The name of this rule, as in `[routing.d-mod-k]`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DModK(_) => "d-mod-k",
            Self::SModK(_) => "s-mod-k",
            Self::Hashed(_) => "hashed",
            Self::DimensionOrder(_) => "dimension-order",
            Self::Family(_) => "family",
            Self::ShortestPath(_) => "shortest-path",
            Self::Table(_) => "table",
        }
    }

    /// The rule of this name, with its options at their defaults.
    ///
    /// # Errors
    /// An unknown name, with the one that was probably meant.
    pub fn parse_name(name: &str) -> Result<Self, Diagnostic> {
        Ok(match name {
            "d-mod-k" => Self::DModK(DModKSpec::default()),
            "s-mod-k" => Self::SModK(SModKSpec::default()),
            "hashed" => Self::Hashed(HashedSpec::default()),
            "dimension-order" => Self::DimensionOrder(DimensionOrderSpec::default()),
            "family" => Self::Family(FamilySpec::default()),
            "shortest-path" => Self::ShortestPath(ShortestPathSpec::default()),
            "table" => Self::Table(TableSpec::default()),
            _ => {
                let help = match closest(name, NAMES) {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => format!("write one of {}", NAMES.join(", ")),
                };
                let message = format!("unknown routing `{name}`");
                return Err(Diagnostic::new("unknown-routing", message).label(NAMES.join(", ")).help(help));
            }
        })
    }

    /// The usual rule for this fabric: `table` where routes are given, else the one that its family names (`d-mod-k` on
    /// trees, `dimension-order` on grids).
    pub fn default_for(fabric: &Fabric) -> Self {
        if fabric.routes().is_some() {
            return Self::Table(TableSpec::default());
        }
        // A family of a user's own may name a rule that there is not.
        let named = Self::parse_name(fabric.family().default_routing());
        named.unwrap_or(Self::ShortestPath(ShortestPathSpec::default()))
    }

    /// The rule for this fabric.
    ///
    /// # Errors
    /// Where the rule does not fit the fabric (D-mod-k on a torus), or an option does not.
    pub fn build(&self, fabric: &Arc<Fabric>, seed: u64) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        let built = match self {
            Self::DModK(spec) => spec.build(fabric),
            Self::SModK(spec) => spec.build(fabric),
            Self::Hashed(spec) => spec.build(fabric, seed),
            Self::DimensionOrder(spec) => spec.build(fabric, seed),
            Self::Family(spec) => spec.build(fabric),
            Self::ShortestPath(spec) => spec.build(fabric),
            Self::Table(spec) => spec.build(fabric),
        };
        // A rule knows what it fits, not which others there are.
        built.map_err(|mistakes| {
            let help = || format!("use `{}`, or leave the routing out", Self::default_for(fabric).name());
            let helped = |mistake: Diagnostic| match mistake.code {
                MISFIT => mistake.help(help()),
                _ => mistake,
            };
            mistakes.into_iter().map(helped).collect()
        })
    }
}
