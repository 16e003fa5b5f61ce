//! Routing: which links a message from one node to another crosses.
//!
//! Routes are computed, not stored, wherever the fabric's [`Shape`](crate::fabric::Shape) allows it: one file a rule.

mod d_mod_k;
mod dimension_order;
mod hashed;
mod shortest_path;
mod table;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{LinkId, NodeId};

/// A rule that gives the route from any node to any other, always the same for the same pair.
pub trait Router: Send + Sync + std::fmt::Debug {
    /// Appends the links from `src` to `dst` to `route`, in order; none if they are the same node.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>);

    /// Whether there is a route from `src` to `dst`.
    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        let _ = (src, dst);
        true
    }

    /// A link that every route over `link` also crosses, if the rule knows one.
    ///
    /// Where the other link's capacity is not larger, `link` can never hold a flow back: its flows are a subset of
    /// the other's. Following the answers from link to link must end.
    fn dominator(&self, link: LinkId) -> Option<LinkId> {
        let _ = link;
        None
    }
}

/// The routing rule of a scenario: `[routing.d-mod-k]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingSpec {
    /// Up a tree by the destination's number, so that each down link serves few destinations.
    DModK(d_mod_k::DModKSpec),
    /// Up a tree by the source's number.
    SModK(d_mod_k::SModKSpec),
    /// Up a tree by a seeded hash of source and destination (ECMP by flow).
    Hashed(hashed::HashedSpec),
    /// One dimension of a grid after another.
    DimensionOrder(dimension_order::DimensionOrderSpec),
    /// A shortest path of the graph, always the same one.
    ShortestPath(shortest_path::ShortestPathSpec),
    /// The routes that the topology's own file gives.
    Table(table::TableSpec),
}

impl RoutingSpec {
    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Hashed(_) => true,
            Self::DModK(_) | Self::SModK(_) | Self::DimensionOrder(_) | Self::ShortestPath(_) | Self::Table(_) => false,
        }
    }

    /// The usual rule for this fabric: `table` where routes are given, `d-mod-k` on trees, `dimension-order` on
    /// grids, `shortest-path` elsewhere.
    pub fn default_for(fabric: &Fabric) -> Self {
        let _ = fabric;
        Self::ShortestPath(shortest_path::ShortestPathSpec {})
    }

    /// The rule for this fabric.
    ///
    /// # Errors
    /// Where the rule does not fit the fabric (D-mod-k on a torus), or an option does not.
    pub fn build(&self, fabric: &Arc<Fabric>, seed: u64) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        let _ = seed;
        match self {
            Self::DModK(spec) => spec.build(fabric),
            Self::SModK(spec) => spec.build(fabric),
            Self::Hashed(spec) => spec.build(fabric, seed),
            Self::DimensionOrder(spec) => spec.build(fabric, seed),
            Self::ShortestPath(spec) => spec.build(fabric),
            Self::Table(spec) => spec.build(fabric),
        }
    }
}
