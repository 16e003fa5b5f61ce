//! A fabric with ranks on its nodes, and how messages move over it.
//!
//! [`Network`] puts a [`Simulation`] together for any [`Workload`]: pattern, program or master with its workers. So
//! each of them runs on every fabric, with every routing, placement, sharing policy and transport.

use std::sync::Arc;

use petgraph::graph::NodeIndex;

use crate::diagnostic::Diagnostic;
use crate::engine::{Observer, Outcome, Simulation, Watch};
use crate::fabric::Fabric;
use crate::ids::NodeId;
use crate::placement::Placement;
use crate::routing::{Router, RoutingSpec};
use crate::sharing::SharingSpec;
use crate::transport::TransportSpec;
use crate::units::{Bandwidth, Time};
use crate::workload::Workload;

/// A fabric with its routes, ranks on its nodes, and how messages move: built and checked.
#[derive(Clone, Debug)]
pub struct Network {
    /// Nodes, switches and links.
    pub fabric: Arc<Fabric>,
    /// The routes.
    pub router: Arc<dyn Router>,
    /// Where ranks are.
    pub placement: Placement,
    /// How flows share links.
    pub sharing: SharingSpec,
    /// How messages move.
    pub transport: TransportSpec,
    /// The smallest step of simulated time; zero for none.
    pub resolution: Time,
}

impl Network {
    /// A rank on each node in order, the usual routes of the fabric, exact max-min fairness between flows. What is to
    /// be otherwise is set afterwards.
    ///
    /// # Errors
    /// A fabric on which not every node reaches every other.
    pub fn new(fabric: Fabric) -> Result<Self, Vec<Diagnostic>> {
        fabric.check()?;
        let fabric = Arc::new(fabric);
        Ok(Self {
            router: RoutingSpec::default_for(&fabric).build(&fabric, 0)?,
            placement: fabric.node_ids().collect(),
            fabric,
            sharing: SharingSpec::default(),
            transport: TransportSpec::default(),
            resolution: Time::ZERO,
        })
    }

    /// Runs a workload to its end, or until the watch ends it.
    pub fn simulate(
        &self,
        workload: &mut dyn Workload,
        observer: &mut impl Observer,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        let Self { fabric, router, placement, sharing, resolution, .. } = self;
        let mut transport = self.transport.build(fabric, &**router, placement, sharing, workload.load());
        let (transport, resolution) = (&mut *transport, *resolution);
        Simulation { fabric, router: &**router, placement, workload, transport, resolution }.run(observer, watch)
    }

    /// What all links out of, and into, a node carry together.
    pub fn capacity_of(&self, node: NodeId) -> (Bandwidth, Bandwidth) {
        let sum = |direction| {
            let edges = self.fabric.graph().edges_directed(NodeIndex::new(node.0 as usize), direction);
            edges.map(|edge| self.fabric.link(*edge.weight()).capacity).sum()
        };
        (sum(petgraph::Direction::Outgoing), sum(petgraph::Direction::Incoming))
    }

    /// What moves messages, for people: the sharing policy of flows, or the transport.
    pub fn moved_by(&self) -> String {
        match self.transport.is_flow() {
            true => self.sharing.name().to_owned(),
            false => self.transport.name(),
        }
    }
}
