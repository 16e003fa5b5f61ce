//! What a rule that chooses knows, and what it has chosen for the messages under way; and what has failed meanwhile.

use super::outages::Outages;
use crate::ids::{FlowId, Id, IdVec, LinkId};
use crate::routing::{Choice, Manner, Path, Router, Start, UnderWay};
use crate::units::Time;

/// A rule that is asked for the way of each message, with what it may know; or one of which another takes the place
/// when links fail.
pub(super) struct Chosen<'a> {
    pub router: &'a dyn Router,
    choice: Option<&'a dyn Choice>,
    /// What fails, where that concerns the run.
    pub outages: Option<Outages<'a>>,
    /// Messages with bytes that have been sent and not yet delivered, by link; empty where the rule does not look.
    under_way: UnderWay,
    /// By flow: the parts of its message on its links; empty where it has one path.
    parts: Vec<Vec<f64>>,
    /// The last way chosen, its links apart.
    path: Path,
    /// Whether packets ask for their ways themselves.
    packets_ask: bool,
    /// By flow: its message, where packets ask.
    starts: Vec<Start>,
}

impl<'a> Chosen<'a> {
    pub fn new(router: &'a dyn Router, links: usize, packets_ask: bool, outages: Option<Outages<'a>>) -> Self {
        let choice = router.choice();
        let looks = !packets_ask && choice.is_some_and(|choice| choice.manner() == Manner::Adaptive);
        Self {
            router,
            choice,
            outages,
            under_way: IdVec::filled(if looks { links } else { 0 }, 0),
            parts: Vec::new(),
            path: Path::default(),
            packets_ask,
            starts: Vec::new(),
        }
    }

    /// Whether packets ask for their ways themselves.
    pub fn packets_ask(&self) -> bool {
        self.packets_ask
    }

    /// Notes a message whose packets ask.
    pub fn note(&mut self, id: FlowId, start: Start) {
        if self.starts.len() <= id.index() {
            self.starts.resize(id.index() + 1, start);
        }
        self.starts[id.index()] = start;
    }

    /// The message of a flow, where packets ask.
    pub fn start(&self, id: FlowId) -> Option<Start> {
        self.starts.get(id.index()).copied()
    }

    /// Room for a way.
    pub fn path(&mut self) -> &mut Path {
        &mut self.path
    }

    /// Writes the links of a message of so many bytes to `route`, which is empty; its parts are noted.
    pub fn choose(&mut self, id: FlowId, start: Start, bytes: u64, route: &mut Vec<LinkId>) {
        self.path.clear();
        if start.src != start.dst {
            std::mem::swap(&mut self.path.links, route);
            match self.choice {
                Some(choice) => choice.choose(start, &self.under_way, &mut self.path),
                None => self.router.route(start.src, start.dst, &mut self.path.links),
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

    /// Asks these routes from now on.
    pub fn adopt(&mut self, router: &'a dyn Router) {
        self.router = router;
        self.choice = router.choice();
    }

    /// The latency of the longest path of the last message, where it was split.
    pub fn latency(&self) -> Time {
        self.path.latency
    }

    /// The parts of a message on its links; none where it has one path.
    #[inline]
    pub fn parts(&self, id: FlowId) -> &[f64] {
        self.parts.get(id.index()).map_or(&[], |parts| parts)
    }

    /// A message of so many bytes is no longer under way.
    pub fn arrived(&mut self, bytes: u64, route: &[LinkId]) {
        if bytes > 0 && !self.under_way.is_empty() {
            for &link in route {
                self.under_way[link] -= 1;
            }
        }
    }
}
