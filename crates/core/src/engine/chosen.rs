//! Paths chosen for the messages under way, the state that a routing rule chooses by, and failed links.

use super::outages::Outages;
use crate::fabric::MessagePlan;
use crate::ids::{FlowId, Id, IdVec, LinkId, MessageId};
use crate::routing::{Choice, ChoiceKind, Path, Router, StartingMessage, UnderWay};
use crate::units::Time;

/// Routing that may change during a run: a rule that chooses a path for each message, or routes that are
/// replaced when links fail.
pub(super) struct DynamicRouting<'a> {
    pub router: &'a dyn Router,
    choice: Option<&'a dyn Choice>,
    /// Paths of single messages, which come before those of the rule.
    pub plan: Option<&'a MessagePlan>,
    /// Failures of links, where some concern the run.
    pub outages: Option<Outages<'a>>,
    /// Number of messages under way on each link; messages without bytes do not count. Empty where the rule
    /// does not look at it.
    under_way: UnderWay,
    /// By flow: the part of its message on each of its links. Empty for a message with one path.
    parts: Vec<Vec<f64>>,
    /// The path chosen last, without its links.
    path: Path,
    /// Set when each packet is routed by itself.
    routes_packets: bool,
    /// By flow: its message, where each packet is routed by itself.
    starts: Vec<StartingMessage>,
}

impl<'a> DynamicRouting<'a> {
    pub fn new(router: &'a dyn Router, links: usize, routes_packets: bool, outages: Option<Outages<'a>>) -> Self {
        let choice = router.choice();
        let looks = !routes_packets && choice.is_some_and(|choice| choice.kind() == ChoiceKind::Adaptive);
        Self {
            router,
            choice,
            plan: None,
            outages,
            under_way: IdVec::filled(if looks { links } else { 0 }, 0),
            parts: Vec::new(),
            path: Path::default(),
            routes_packets,
            starts: Vec::new(),
        }
    }

    /// True if each packet is routed by itself.
    pub fn routes_packets(&self) -> bool {
        self.routes_packets
    }

    /// Returns the path that is given for a message; empty if it takes that of the rule.
    pub fn given(&self, message: MessageId) -> &'a [LinkId] {
        self.plan.map_or(&[], |plan| plan.path(message))
    }

    /// Records the message of a flow whose packets are routed by themselves.
    pub fn note(&mut self, id: FlowId, start: StartingMessage) {
        if self.starts.len() <= id.index() {
            self.starts.resize(id.index() + 1, start);
        }
        self.starts[id.index()] = start;
    }

    /// Returns the message of a flow, where each packet is routed by itself.
    pub fn start(&self, id: FlowId) -> Option<StartingMessage> {
        self.starts.get(id.index()).copied()
    }

    /// Returns a path to write to.
    pub fn path(&mut self) -> &mut Path {
        &mut self.path
    }

    /// Chooses a path for a message of `bytes` bytes: writes its links to `route`, which is empty, and
    /// records its parts.
    pub fn choose(&mut self, id: FlowId, start: StartingMessage, bytes: u64, route: &mut Vec<LinkId>) {
        self.path.clear();
        if start.src != start.dst {
            std::mem::swap(&mut self.path.links, route);
            match (self.given(start.message), self.choice) {
                ([], Some(choice)) => choice.choose(start, &self.under_way, &mut self.path),
                ([], None) => self.router.route(start.src, start.dst, &mut self.path.links),
                (given, _) => self.path.links.extend_from_slice(given),
            }
            std::mem::swap(&mut self.path.links, route);
        }
        if bytes > 0 && !self.under_way.is_empty() {
            for &link in &*route {
                self.under_way[link] += 1;
            }
        }
        if self.parts.len() <= id.index() {
            self.parts.resize(id.index() + 1, Vec::new());
        }
        let parts = &mut self.parts[id.index()];
        parts.clear();
        parts.extend_from_slice(&self.path.parts);
    }

    /// Replaces the routes from now on.
    pub fn replace_router(&mut self, router: &'a dyn Router) {
        self.router = router;
        self.choice = router.choice();
    }

    /// Returns the latency of the longest path of the last message, if it was split.
    pub fn latency(&self) -> Time {
        self.path.latency
    }

    /// Returns the part of a message on each of its links; empty for a message with one path.
    #[inline]
    pub fn parts(&self, id: FlowId) -> &[f64] {
        self.parts.get(id.index()).map_or(&[], |parts| parts)
    }

    /// Records that a message of `bytes` bytes is no longer under way.
    pub fn arrived(&mut self, bytes: u64, route: &[LinkId]) {
        if bytes > 0 && !self.under_way.is_empty() {
            for &link in route {
                self.under_way[link] -= 1;
            }
        }
    }
}
