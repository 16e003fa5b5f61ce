//! A fabric with ranks on its nodes, and how messages move over it.
//!
//! [`Network`] puts a [`Simulation`] together for any [`Workload`]: pattern, program or master with its workers. So
//! each of them runs on every fabric, with every routing, placement, sharing policy and transport.

use std::ops::Deref;
use std::sync::Arc;

use super::parts::{NetworkParts, of_moves};
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

/// A fabric with its routes, ranks on its nodes, and how messages move: parts that go together and stay as they are.
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
    /// Returns a network of these parts.
    ///
    /// # Errors
    /// Values that are out of range, and parts that do not go together. A routing rule that splits messages needs a
    /// sharing policy that knows several paths, and links that change need a transport that can follow. Ranks are on
    /// nodes that are there.
    pub fn build(self) -> Result<Network, Invalid> {
        let moves = of_moves(Some(&self.sharing), Some(&self.transport));
        let found = moves.into_iter().chain(self.misfits());
        let diagnostics: Vec<_> = found.map(|(_, diagnostic)| diagnostic).collect();
        match diagnostics.is_empty() {
            true => Ok(Network { parts: self }),
            false => Err(Invalid { diagnostics, sources: Sources::default() }),
        }
    }

    /// Returns a network of parts that the caller has checked ([`Self::misfits`]).
    #[cfg(feature = "simulator")]
    #[doc(hidden)]
    pub fn unchecked(self) -> Network {
        Network { parts: self }
    }
}

impl Network {
    /// Returns a network with a rank on each node in order, the usual routes of the fabric, and exact max-min fairness
    /// between flows. [`NetworkParts`] makes others.
    ///
    /// # Errors
    /// A fabric on which not every node reaches every other.
    pub fn new(fabric: Fabric) -> Result<Self, Invalid> {
        NetworkParts::new(fabric)?.build()
    }

    /// Returns the parts, to build another network of them.
    pub fn parts(&self) -> NetworkParts {
        self.parts.clone()
    }

    /// Returns the same with ranks on other nodes of its fabric.
    #[cfg(feature = "simulator")]
    #[doc(hidden)]
    pub fn with_placement(&self, placement: crate::placement::Placement) -> Self {
        NetworkParts { placement, ..self.parts() }.unchecked()
    }

    /// Returns the rule by which messages change virtual channels, as [`BlockingChannels`] and [`DeadlockAvoidance`]
    /// are written; `None` where the model of switches has no queues that share links.
    ///
    /// Where none is asked for, those of the rings of a torus in dimension order have a dateline, as Cray's SeaStar and
    /// Gemini routers do, and all others are in classes.
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

    /// Runs a workload to its end, or until the watch ends it.
    pub fn simulate(
        &self,
        workload: &mut dyn Workload,
        observer: &mut impl Observer,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        self.simulate_metered(workload, Metered::Nothing, observer, watch)
    }

    /// The same, with what messages lose to each other measured.
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

    /// The same for a workload whose type is known: the engine's loop is compiled for it, and for the transports that
    /// play most messages. For what is run by the million messages.
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

    /// What is known of a workload before it starts, as far as the transport asks.
    fn load_of(&self, workload: &(impl Workload + ?Sized)) -> Load {
        let mean_bytes = if self.transport.wants_mean_bytes() { workload.mean_bytes() } else { 0 };
        Load { mean_bytes, ..workload.load() }
    }

    /// The transport for a load.
    fn transport_for(&self, load: Load, metered: Metered<'_>) -> Built {
        let NetworkParts { fabric, router, placement, sharing, .. } = &self.parts;
        if self.events().is_none() {
            return self.transport.build_known(fabric, router, placement, sharing, load, metered);
        }
        // Which links never bind, and which solver is the fastest, is known of links that stay as they are.
        let load = Load { one_at_a_time: false, most_to_one: 0, ..load };
        let sharing = match sharing {
            SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Auto }) => {
                &SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Sweep })
            }
            sharing => sharing,
        };
        let for_now: Arc<dyn Router> = Arc::new(ForNow(Arc::clone(router)));
        self.transport.build_known(fabric, &for_now, placement, sharing, load, metered)
    }

    /// Lets the engine run.
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
        simulation.run_with(self.faults.as_deref(), observer, watch)
    }

    /// What happens to links while a run goes, if anything does.
    pub fn events(&self) -> Option<&Faults> {
        self.faults.as_deref().filter(|faults| faults.has_events())
    }

    /// The fabric as it was built, with what fails.
    pub fn whole(&self) -> &Arc<Fabric> {
        self.faults.as_ref().map_or(&self.fabric, |faults| faults.whole())
    }

    /// The fabric with all that it has at any time: what bounds are worked out of.
    pub fn most(&self) -> &Fabric {
        self.faults.as_ref().map_or(&self.fabric, |faults| faults.most())
    }

    /// Whether a run has to look for what fails, so that nothing of it can be known before.
    pub fn faults_concern_runs(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.concern_runs())
    }

    /// What all links out of, and into, a node carry together.
    pub fn capacity_of(&self, node: NodeId) -> (Bandwidth, Bandwidth) {
        self.most().capacity_of(node)
    }

    /// What moves messages, for people: the sharing policy of flows, or the transport.
    pub fn moved_by(&self) -> String {
        match self.transport.is_flow() {
            true => self.sharing.name().to_owned(),
            false => self.transport.name(),
        }
    }
}

/// Routes that may be others later: nothing that holds for all of them is said.
#[derive(Debug)]
struct ForNow(Arc<dyn Router>);

impl Router for ForNow {
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
