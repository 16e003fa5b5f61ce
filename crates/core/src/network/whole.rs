//! A fabric with ranks on its nodes and a way to move messages over it.
//!
//! [`Network`] puts a [`Simulation`] together for any [`Workload`]: a pattern, a program, or a master with
//! its workers. So each of them runs on every fabric, with every routing, placement, sharing policy and
//! transport.

use std::ops::Deref;
use std::sync::Arc;

use super::parts::{NetworkParts, transport_mistakes};
use crate::diagnostic::{Invalid, Sources};
use crate::engine::{Observer, Outcome, Simulation, Watch};
use crate::fabric::Fabric;
use crate::faults::Faults;
use crate::ids::{LinkId, NodeId};
use crate::routing::{ChannelOrder, Choice, Router};
use crate::sharing::{BlockingChannels, MaxMinSpec, SharingSpec, Solver};
use crate::transport::packet::{DeadlockAvoidance, Model};
use crate::transport::{Built, Metered, Transport, TransportSpec};
use crate::units::Bandwidth;
use crate::workload::{Load, Workload};

/// A fabric with its routes, ranks on its nodes, and a way to move messages. The parts fit together and do
/// not change.
///
/// [`NetworkParts::build`] makes it. Its parts can be read as its fields.
#[derive(Clone, Debug)]
pub struct Network {
    parts: NetworkParts,
}

impl Deref for Network {
    type Target = NetworkParts;

    fn deref(&self) -> &NetworkParts {
        &self.parts
    }
}

impl NetworkParts {
    /// Builds a network from these parts.
    ///
    /// # Errors
    /// Values are out of range, or parts do not fit together. A routing rule that splits messages needs a
    /// sharing policy for several paths, and links that change need a transport that can follow. Ranks must
    /// be on existing nodes.
    pub fn build(self) -> Result<Network, Invalid> {
        let moves = transport_mistakes(Some(&self.sharing), Some(&self.transport));
        let found = moves.into_iter().chain(self.misfits());
        let diagnostics: Vec<_> = found.map(|(_, diagnostic)| diagnostic).collect();
        match diagnostics.is_empty() {
            true => Ok(Network { parts: self }),
            false => Err(Invalid { diagnostics, sources: Sources::default() }),
        }
    }

    /// Returns a network of parts that the caller has checked ([`Self::misfits`]).
    #[doc(hidden)]
    pub fn unchecked(self) -> Network {
        Network { parts: self }
    }
}

impl Network {
    /// Creates a network with one rank on each node in order, the default routes of the fabric, and exact
    /// max-min fairness between flows. [`NetworkParts`] creates others.
    ///
    /// # Errors
    /// The fabric has nodes that cannot reach each other.
    pub fn new(fabric: Fabric) -> Result<Self, Invalid> {
        NetworkParts::new(fabric)?.build()
    }

    /// Returns a copy of the parts, to build another network from them.
    pub fn parts(&self) -> NetworkParts {
        self.parts.clone()
    }

    /// Returns the same network with ranks on other nodes of its fabric.
    #[cfg(feature = "simulator")]
    #[doc(hidden)]
    pub fn with_placement(&self, placement: crate::placement::Placement) -> Self {
        NetworkParts { placement, ..self.parts() }.unchecked()
    }

    /// Returns the rule by which messages change virtual channels, as the word of [`BlockingChannels`] or
    /// [`DeadlockAvoidance`]; `None` if the model of switches has no queues that share links.
    ///
    /// By default the rings of a torus in dimension order have a dateline, as in Cray's SeaStar and Gemini
    /// routers, and all other channels are in classes.
    pub fn channels(&self) -> Option<&'static str> {
        let in_rings = self.router.channel_order() == ChannelOrder::Rings && !self.fabric.family().rings().is_empty();
        let usual = if in_rings { DeadlockAvoidance::Dateline } else { DeadlockAvoidance::Classes };
        match (&self.transport, &self.sharing) {
            (TransportSpec::Packet(spec), _) if spec.model == Model::Iq => {
                Some(spec.avoidance().unwrap_or(usual).name())
            }
            (TransportSpec::Flow(_), SharingSpec::Blocking(spec)) => {
                let asked = spec.channels.filter(|&channels| in_rings || channels == BlockingChannels::Voq);
                Some(asked.map_or(usual.name(), BlockingChannels::name))
            }
            _ => None,
        }
    }

    /// Runs a workload to its end, or until the watch stops it.
    pub fn simulate(
        &self,
        workload: &mut dyn Workload,
        observer: &mut impl Observer,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        self.simulate_metered(workload, Metered::Nothing, observer, watch)
    }

    /// Runs a workload and measures the time that messages lose to each other.
    pub(crate) fn simulate_metered(
        &self,
        workload: &mut dyn Workload,
        metered: Metered<'_>,
        observer: &mut impl Observer,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        let load = self.load_of(&*workload);
        self.run(workload, &mut *self.transport_for(load, metered).boxed(), observer, watch)
    }

    /// Runs a workload of a known type: the engine's loop is compiled for it and for the most common
    /// transports. For workloads with millions of messages.
    pub(crate) fn simulate_known<W: Workload>(
        &self,
        workload: &mut W,
        metered: Metered<'_>,
        observer: &mut impl Observer,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        match self.transport_for(self.load_of(&*workload), metered) {
            Built::EqualShare(mut flows) => self.run(workload, &mut flows, observer, watch),
            Built::EqualShareDelays(mut flows) => self.run(workload, &mut flows, observer, watch),
            Built::MaxMin(mut flows) => self.run(workload, &mut flows, observer, watch),
            Built::MaxMinDelays(mut flows) => self.run(workload, &mut flows, observer, watch),
            Built::Other(mut transport) => {
                let workload: &mut dyn Workload = workload;
                self.run(workload, &mut *transport, observer, watch)
            }
        }
    }

    /// Returns the facts about a workload that the transport asks for before the start.
    fn load_of(&self, workload: &(impl Workload + ?Sized)) -> Load {
        let mean_bytes = if self.transport.wants_mean_bytes() { workload.mean_bytes() } else { 0 };
        Load { mean_bytes, ..workload.load() }
    }

    /// Builds the transport for a load.
    fn transport_for(&self, load: Load, metered: Metered<'_>) -> Built {
        let NetworkParts { fabric, router, placement, sharing, .. } = &self.parts;
        if self.events().is_none() {
            return self.transport.build_known(fabric, router, placement, sharing, load, metered);
        }
        // Links that are never bottlenecks, and the fastest solver, are known only for links that do not change.
        let load = Load { one_at_a_time: false, most_to_one: 0, ..load };
        let sharing = match sharing {
            SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Auto }) => {
                &SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Sweep })
            }
            sharing => sharing,
        };
        let for_now: Arc<dyn Router> = Arc::new(ChangingRoutes(Arc::clone(router)));
        self.transport.build_known(fabric, &for_now, placement, sharing, load, metered)
    }

    /// Runs the engine.
    fn run<W: Workload + ?Sized, T: Transport + ?Sized>(
        &self,
        workload: &mut W,
        transport: &mut T,
        observer: &mut impl Observer,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        let NetworkParts { fabric, router, placement, resolution, .. } = &self.parts;
        let resolution = *resolution;
        let simulation = Simulation { fabric, router: &**router, placement, workload, transport, resolution };
        simulation.run_with(self.faults.as_deref(), self.plan.as_deref(), observer, watch)
    }

    /// Returns the faults if any links fail or change during a run.
    pub fn events(&self) -> Option<&Faults> {
        self.faults.as_deref().filter(|faults| faults.has_events())
    }

    /// Returns the fabric as it was built, including links and switches that fail.
    pub fn whole(&self) -> &Arc<Fabric> {
        self.faults.as_ref().map_or(&self.fabric, |faults| faults.whole())
    }

    /// Returns the fabric with everything that it has at any time, which bounds are computed from.
    pub fn most(&self) -> &Fabric {
        self.faults.as_ref().map_or(&self.fabric, |faults| faults.most())
    }

    /// Returns true if a run has to watch for faults, so that no result can be known before the run.
    pub fn faults_concern_runs(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.concern_runs())
    }

    /// Returns the capacity of all links out of a node and of all links into it.
    pub fn capacity_of(&self, node: NodeId) -> (Bandwidth, Bandwidth) {
        self.most().capacity_of(node)
    }

    /// Returns the name of the mechanism that moves messages, for people: the sharing policy of flows, or the
    /// transport.
    pub fn moved_by(&self) -> String {
        match self.transport.is_flow() {
            true => self.sharing.name().to_owned(),
            false => self.transport.name(),
        }
    }
}

/// Routes that may change later, or that not all messages take: it hides all properties that hold for all routes.
#[derive(Debug)]
pub(super) struct ChangingRoutes(pub(super) Arc<dyn Router>);

impl Router for ChangingRoutes {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        self.0.route(src, dst, route);
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        self.0.reaches(src, dst)
    }

    fn choice(&self) -> Option<&dyn Choice> {
        self.0.choice()
    }
}
