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
    /// What was written.
    pub topology: TopologySpec,
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// The routing rule.
    pub routing: RoutingSpec,
    /// The routes.
    pub router: Arc<dyn Router>,
    /// What fails, if anything does; fabric and routes are those that it has at the start.
    pub faults: Option<Arc<Faults>>,
}

impl RoutedFabric {
    /// What patterns may know of it.
    pub fn ground(&self) -> OnFabric<'_> {
        OnFabric { fabric: &self.fabric, router: &*self.router }
    }

    /// It with a rank on each node in order and exact max-min fairness between flows.
    pub fn network(&self) -> Network {
        let parts = NetworkParts::on(Arc::clone(&self.fabric), Arc::clone(&self.router));
        NetworkParts { faults: self.faults.clone(), ..parts }.unchecked()
    }
}

/// A workload for a fabric of some size.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What was written.
    pub workload: PatternSpec,
    /// What ranks send.
    pub pattern: Arc<dyn Pattern>,
}
