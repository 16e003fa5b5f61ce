//! A fabric with its routes, and a pattern for a fabric.

use std::sync::Arc;

use crate::fabric::Fabric;
use crate::faults::Faults;
use crate::network::{Network, NetworkParts};
use crate::pattern::{Pattern, PatternSpec};
use crate::routing::{Router, RoutingSpec};
use crate::steady::OnFabric;
use crate::topology::TopologySpec;

/// A fabric with its routes.
#[derive(Clone, Debug)]
pub struct RoutedFabric {
    /// Specification of the fabric.
    pub topology: TopologySpec,
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// The routing rule.
    pub routing: RoutingSpec,
    /// The routes.
    pub router: Arc<dyn Router>,
    /// Faults, if there are any. Fabric and routes are those that the faults leave at the start.
    pub faults: Option<Arc<Faults>>,
}

impl RoutedFabric {
    /// Returns the fabric in the form that patterns need.
    pub fn ground(&self) -> OnFabric<'_> {
        OnFabric { fabric: &self.fabric, router: &*self.router, places: None, per_node: 1 }
    }

    /// Returns a network with one rank on each node in order and exact max-min fairness between flows.
    pub fn network(&self) -> Network {
        let parts = NetworkParts::on(Arc::clone(&self.fabric), Arc::clone(&self.router));
        NetworkParts { faults: self.faults.clone(), ..parts }.unchecked()
    }
}

/// A pattern for a fabric of a certain size.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Specification of the pattern.
    pub workload: PatternSpec,
    /// The pattern: the messages of each rank.
    pub pattern: Arc<dyn Pattern>,
}
