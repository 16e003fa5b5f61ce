//! The parts of a network, and the checks that they fit together.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::fabric::{Fabric, MessagePlan};
use crate::faults::Faults;
use crate::placement::Placement;
use crate::routing::{Choice, ChoiceKind, Router, RoutingSpec};
use crate::sharing::SharingSpec;
use crate::transport::TransportSpec;
use crate::transport::packet::Model;
use crate::units::Time;

/// Parts of a [`Network`](super::Network), set one by one and checked together by [`NetworkParts::build`].
#[derive(Clone, Debug)]
pub struct NetworkParts {
    /// Nodes, switches and links, without those that have failed at the start.
    pub fabric: Arc<Fabric>,
    /// Routes; if links fail later, the routes at the start.
    pub router: Arc<dyn Router>,
    /// Node of each rank.
    pub placement: Placement,
    /// Sharing policy of flows.
    pub sharing: SharingSpec,
    /// Transport of messages.
    pub transport: TransportSpec,
    /// Smallest step of simulated time; zero for no rounding.
    pub resolution: Time,
    /// Faults, if there are any. The fabric and the routes are those that the faults leave at the start.
    pub faults: Option<Arc<Faults>>,
    /// Paths of single messages, if any have one of their own.
    pub plan: Option<Arc<MessagePlan>>,
}

/// Part of a network that a mistake concerns and that a scenario has a section for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// `[faults]`.
    Faults,
    /// `[placement]`.
    Placement,
    /// Smallest step of simulated time.
    Resolution,
    /// `[routing]`.
    Routing,
    /// `[sharing]`.
    Sharing,
    /// `[transport]`.
    Transport,
}

type Misfits = Vec<(Part, Diagnostic)>;

/// Returns the mistakes in how messages move that do not depend on the fabric. A part that is not given has
/// its default.
pub fn transport_mistakes(sharing: Option<&SharingSpec>, transport: Option<&TransportSpec>) -> Misfits {
    let mut misfits = Misfits::new();
    misfits.extend(sharing.into_iter().flat_map(SharingSpec::check).map(|found| (Part::Sharing, found)));
    misfits.extend(transport.into_iter().flat_map(TransportSpec::check).map(|found| (Part::Transport, found)));
    // Not every policy supports weights, windows and traffic on the way back.
    if let Some(transport) = transport
        && transport.is_flow()
        && !transport.is_plain_flow()
        && let Some(reason) = sharing.and_then(SharingSpec::refuses_terms)
    {
        let message = "this policy cannot share links among messages with terms of their own, as [transport.flow] has";
        let help = "choose `max-min` without a solver, or `equal-share`; or leave the options of [transport.flow] out";
        misfits.push((Part::Sharing, Diagnostic::new("unknown-sharing", message).label(reason).help(help)));
    }
    misfits
}

impl NetworkParts {
    /// Creates the parts of a network with one rank on each node in order, the default routes of the fabric,
    /// and exact max-min fairness between flows.
    ///
    /// # Errors
    /// The fabric has nodes that cannot reach each other.
    pub fn new(fabric: Fabric) -> Result<Self, Invalid> {
        let build = || {
            fabric.check()?;
            let fabric = Arc::new(fabric);
            let router = RoutingSpec::default_for(&fabric).build(&fabric, 0)?;
            Ok(Self::on(fabric, router))
        };
        build().map_err(|diagnostics| Invalid { diagnostics, sources: Sources::default() })
    }

    /// Creates the parts of a network with one rank on each node in order and exact max-min fairness between
    /// flows, over these routes.
    pub fn on(fabric: Arc<Fabric>, router: Arc<dyn Router>) -> Self {
        Self {
            placement: fabric.node_ids().collect(),
            fabric,
            router,
            sharing: SharingSpec::default(),
            transport: TransportSpec::default(),
            resolution: Time::ZERO,
            faults: None,
            plan: None,
        }
    }

    /// Adds faults, and replaces the fabric and the routes by those that the faults leave at the start.
    #[must_use]
    pub fn with_faults(self, faults: Arc<Faults>) -> Self {
        Self {
            fabric: Arc::clone(faults.at_start()),
            router: Arc::clone(faults.router()),
            faults: Some(faults),
            ..self
        }
    }

    /// Returns the conflicts between parts, each with the part that it concerns.
    #[doc(hidden)]
    pub fn misfits(&self) -> Misfits {
        let mut misfits = Misfits::new();
        misfits.extend(self.changes());
        misfits.extend(self.paths());
        if self.resolution > Time::ZERO && matches!(self.transport, TransportSpec::Packet(_)) {
            let diagnostic = Diagnostic::new("unused-option", "packets have no use for a resolution");
            let help = "leave `resolution` out, or choose [transport.flow]";
            misfits.push((Part::Resolution, diagnostic.label("only for flows").help(help)));
        }
        misfits.extend(self.limits());
        misfits.extend(self.switches());
        let nodes = self.fabric.nodes();
        if let Some(node) = self.placement.iter().find(|node| node.0 >= nodes) {
            let message = format!("a rank is on node {}, and the fabric has {nodes} nodes", node.0);
            misfits.push((Part::Placement, Diagnostic::new("unknown-node", message)));
        }
        misfits
    }

    /// Returns the reason why these weights (`jobs`, `messages`) have no effect; `None` if flows share by weights.
    pub fn refuses_weights(&self, of: &str) -> Option<Diagnostic> {
        let (message, help) = if self.transport.is_flow() {
            let (name, reason) = (self.sharing.name(), self.sharing.refuses_terms()?);
            (format!("the sharing policy `{name}` has no weights: {reason}"), "take `max-min` or `equal-share`")
        } else {
            (
                format!("the transport `{}` has no weights of {of}", self.transport.name()),
                "leave them out, or take flows",
            )
        };
        Some(Diagnostic::new("wrong-choice", message).help(help))
    }

    /// Finds links that fail or change during the run under a transport or policy that cannot follow them.
    fn changes(&self) -> Option<(Part, Diagnostic)> {
        self.faults.as_deref().filter(|faults| faults.has_events())?;
        let reason = self.transport.refuses_changes(&self.sharing)?;
        let message = format!("links cannot fail or change at a time under transport {}", self.transport.name());
        let help = "let them fail from the start (no `at`), or take transport flow under `max-min` or `equal-share`";
        Some((Part::Faults, Diagnostic::new("faults-misfit", message).label(reason).help(help)))
    }

    /// Finds a routing rule under which messages cannot be simulated.
    fn paths(&self) -> Option<(Part, Diagnostic)> {
        let diagnostic = match self.router.choice().map(Choice::kind)? {
            ChoiceKind::Bound => Diagnostic::new(
                "routing-misfit",
                "messages cannot be simulated under a rule that is known by its loads only",
            )
            .label("mixes paths for all traffic together")
            .help("`hayase throughput` counts its loads; `ugal-g` chooses message by message"),
            ChoiceKind::Split if !self.transport.takes_splits(&self.sharing) => {
                let message = format!("flows under sharing {} go over one path", self.sharing.name());
                Diagnostic::new("routing-misfit", message).label("splits each message over several paths").help(
                    "max-min or equal-share shares among several; use a rule with one path for each message (ecmp, \
                     valiant-groups, ugal-l), or count loads: `hayase throughput`",
                )
            }
            _ => return None,
        };
        Some((Part::Routing, diagnostic))
    }

    /// Finds links that limit each message by itself, which only flows support.
    fn limits(&self) -> Option<(Part, Diagnostic)> {
        if !self.fabric.limits_messages() {
            return None;
        }
        let links = "links of this topology limit each message by itself (FATPIPE)";
        if matches!(self.transport, TransportSpec::Packet(_)) {
            let message = format!("{links}, and packets queue on every link");
            let help = "choose [transport.flow], or make the links SHARED";
            let diagnostic = Diagnostic::new("unshared-links", message).label("only for flows").help(help);
            return Some((Part::Transport, diagnostic));
        }
        let reason = self.sharing.refuses_terms().filter(|_| self.transport.is_flow())?;
        let message = format!("{links}: a term that this policy does not know");
        let help = "choose `max-min` without a solver, or `equal-share`";
        Some((Part::Sharing, Diagnostic::new("unshared-links", message).label(reason).help(help)))
    }

    /// Finds models of switches that do not fit the fabric: links known by their routes alone meet at no
    /// switch.
    fn switches(&self) -> Misfits {
        let mut misfits = Misfits::new();
        let lacks_switches = || self.fabric.links().iter().any(|link| link.ends.is_none());
        let mut note = |part, message, help| {
            let diagnostic = Diagnostic::new("unknown-switches", message);
            misfits.push((part, diagnostic.label("its links are known by routes alone").help(help)));
        };
        match (&self.transport, &self.sharing) {
            (TransportSpec::Flow(_), SharingSpec::Blocking(_)) if lacks_switches() => note(
                Part::Sharing,
                "`blocking` needs switches with queues, and this topology has none",
                "take `max-min`, which needs only links",
            ),
            (TransportSpec::Packet(spec), _) if spec.model == Model::Iq && lacks_switches() => note(
                Part::Transport,
                "`iq` needs switches with buffers, and this topology has none",
                "take `packet:oq` or `packet:fq`, which have their queues at links",
            ),
            _ => {}
        }
        if let TransportSpec::Packet(spec) = &self.transport {
            let found = spec.check_on(&self.fabric, &*self.router);
            misfits.extend(found.into_iter().map(|diagnostic| (Part::Transport, diagnostic)));
        }
        misfits
    }
}
