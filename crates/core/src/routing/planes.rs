//! Planes: choice of the network card for a message, and a rule for the path from there.

use std::sync::Arc;

use super::RoutingSpec;
use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::LoadCount;
use super::demand::Demand;
use super::family::FamilySpec;
use super::router::{MISFIT, Router, misfit};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, Family, Planes};
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::Mix;

/// `[routing.planes]`: a plane (a card of each node) chosen for each message, and a rule for the path within
/// it.
///
/// Source: CODES (`num_rails`, `num_planes`, `rail_select`).
#[spec(partial, Default)]
pub struct PlanesRuleSpec {
    /// Criterion by which the plane is chosen (default hash).
    pub select: Select,
    /// Rule within a plane (default: the usual rule for the fabric of a plane); not for rails, whose family
    /// computes the routes.
    pub rule: Option<Box<RoutingSpec>>,
    /// Seed of the hash (default: the scenario's).
    pub seed: Option<u64>,
}

/// Criterion by which the plane of a message is chosen.
#[spec(Copy, Eq, Default)]
pub enum Select {
    /// A hash of source and destination.
    #[default]
    Hash,
    /// The number of the sending node.
    Fixed,
    /// Round robin by message, for each node.
    RoundRobin,
    /// The plane into which the node has the fewest messages under way; ties in round robin.
    LeastLoaded,
}

impl Rule for PlanesRuleSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let family = fabric.shared_family();
        let Some(planes) = family.planes() else {
            return Err(vec![misfit("planes", "fabrics of planes, or of rails", fabric)]);
        };
        let within = match (planes.within(), self.rule.as_deref()) {
            (Some(inner), Some(rule)) => Some(rule.build(inner, context.seed)?),
            (Some(inner), None) => Some(RoutingSpec::default_for(inner).build(inner, context.seed)?),
            (None, None) => None,
            (None, Some(RoutingSpec::Family(FamilySpec {}))) => None,
            (None, Some(rule)) => {
                let message = format!("{} finds no ways within a plane of {}", rule.name(), fabric.name());
                return Err(vec![
                    Diagnostic::new("plane-rule", message).help("leave `rule` out: the family has its own"),
                ]);
            }
        };
        if self.select == Select::LeastLoaded && within.as_ref().is_some_and(|within| within.splits()) {
            let message = "the least loaded plane cannot be chosen for messages that are split within it";
            return Err(vec![Diagnostic::new(MISFIT, message)]);
        }
        let hash = Mix::new(self.seed.unwrap_or(context.seed), "routing.planes");
        Ok(Arc::new(OnPlanes { fabric: Arc::clone(fabric), family, within, select: self.select, hash }))
    }

    fn depends_on_seed(&self) -> bool {
        self.select == Select::Hash && self.seed.is_none()
            || self.rule.as_ref().is_some_and(|rule| rule.depends_on_seed())
    }
}

#[derive(Debug)]
struct OnPlanes {
    fabric: Arc<Fabric>,
    family: Arc<dyn Family>,
    /// Rule within a plane; `None` if the family computes the routes.
    within: Option<Arc<dyn Router>>,
    select: Select,
    hash: Mix,
}

impl OnPlanes {
    #[inline]
    fn planes(&self) -> &dyn Planes {
        // Checked at construction.
        self.family.planes().unwrap_or_else(|| unreachable!("a family does not lose its planes"))
    }

    /// Returns the plane of all messages between two nodes, or a possible one if they use several.
    fn plane(&self, src: NodeId, dst: NodeId) -> u32 {
        let planes = self.planes().planes();
        match self.select {
            Select::Hash => {
                let pair = u64::from(src.0) << 32 | u64::from(dst.0);
                self.hash.two_below(pair, 0, planes.into()) as u32
            }
            Select::Fixed | Select::RoundRobin | Select::LeastLoaded => src.0 % planes,
        }
    }

    /// Returns the plane of a message.
    fn plane_of(&self, start: StartingMessage, under_way: &UnderWay) -> u32 {
        let planes = self.planes().planes();
        let turn = |i: u32| start.src.0.wrapping_add(start.message.index).wrapping_add(i) % planes;
        match self.select {
            Select::Hash | Select::Fixed => self.plane(start.src, start.dst),
            Select::RoundRobin => turn(0),
            Select::LeastLoaded => {
                let queue = |plane: &u32| under_way[self.planes().port(*plane, start.src)];
                // (Ties go to the first one.)
                (0..planes).map(turn).min_by_key(queue).unwrap_or_default()
            }
        }
    }

    /// Appends the route in a plane for a rule that does not choose.
    fn route_in(&self, plane: u32, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let Some(within) = &self.within else { return self.planes().route_in(plane, src, dst, route) };
        let ((from, first), (to, _)) = (self.planes().inside(plane, src), self.planes().inside(plane, dst));
        let start = route.len();
        within.route(from, to, route);
        route[start..].iter_mut().for_each(|link| link.0 += first);
    }

    fn inner_choice(&self) -> Option<&dyn Choice> {
        self.within.as_ref().and_then(|within| within.choice())
    }

    /// Adds the average path of messages in a plane, each link with its part.
    fn expected_in(&self, plane: u32, part: f64, (src, dst): (NodeId, NodeId), path: &mut Path) -> bool {
        let mut one = Path::default();
        match self.inner_choice() {
            None => self.route_in(plane, src, dst, &mut one.links),
            Some(choice) => {
                let ((from, first), (to, _)) = (self.planes().inside(plane, src), self.planes().inside(plane, dst));
                if !choice.expected(from, to, &mut one) {
                    return false;
                }
                one.links.iter_mut().for_each(|link| link.0 += first);
            }
        }
        if one.parts.is_empty() {
            one.parts.resize(one.links.len(), 1.0);
            one.latency = self.fabric.latency(&one.links);
        }
        path.links.extend(one.links);
        path.parts.extend(one.parts.into_iter().map(|of_plane| part * of_plane));
        path.latency = path.latency.max(one.latency);
        true
    }
}

impl Router for OnPlanes {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src != dst {
            self.route_in(self.plane(src, dst), src, dst, route);
        }
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        let inside = |node| self.planes().inside(self.plane(src, dst), node).0;
        self.within.as_ref().is_none_or(|within| within.reaches(inside(src), inside(dst)))
    }

    fn choice(&self) -> Option<&dyn Choice> {
        let by_message = matches!(self.select, Select::RoundRobin | Select::LeastLoaded);
        (by_message || self.inner_choice().is_some()).then_some(self)
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        let count = self.planes().planes();
        if self.select == Select::LeastLoaded {
            let message = "the plane of a message depends on the traffic under way, so loads cannot be counted";
            return Err(
                Diagnostic::new("adaptive-routing", message).help("`select = \"round-robin\"` counts all alike")
            );
        }
        let mut counted = LoadCount::default();
        for plane in 0..count {
            let part = match self.select {
                Select::RoundRobin => demand.scaled(1.0 / f64::from(count)),
                _ => demand.kept(self.fabric.nodes(), |src, dst| self.plane(src, dst) == plane)?,
            };
            let Some(within) = &self.within else {
                for src in (0..part.sources()).map(NodeId) {
                    let mut route = Vec::new();
                    part.from(src, |dst, much| {
                        route.clear();
                        self.route_in(plane, src, dst, &mut route);
                        route.iter().for_each(|&link| loads[link] += much);
                    });
                }
                continue;
            };
            let (_, first) = self.planes().inside(plane, NodeId(0));
            let inner = self.planes().within().map_or(0, |inner| inner.links().len());
            let cards = self.planes().within().map_or(0, |inner| inner.nodes());
            let mut of_plane = IdVec::filled(inner, 0.0);
            let part = part.moved(cards, |node| self.planes().inside(plane, node).0);
            counted = within.loads(&part, &mut of_plane)?;
            of_plane.iter_ids().for_each(|(link, load)| loads[LinkId(link.0 + first)] += load);
        }
        Ok(counted)
    }
}

impl Choice for OnPlanes {
    fn kind(&self) -> ChoiceKind {
        match self.inner_choice().map(|choice| choice.kind()) {
            Some(manner @ (ChoiceKind::Split | ChoiceKind::Bound | ChoiceKind::Adaptive)) => manner,
            _ if self.select == Select::LeastLoaded => ChoiceKind::Adaptive,
            _ => ChoiceKind::Drawn,
        }
    }

    fn choose(&self, start: StartingMessage, under_way: &UnderWay, path: &mut Path) {
        let plane = self.plane_of(start, under_way);
        let (Some(choice), Some(fabric)) = (self.inner_choice(), self.planes().within()) else {
            return self.route_in(plane, start.src, start.dst, &mut path.links);
        };
        let ((src, first), (dst, _)) = (self.planes().inside(plane, start.src), self.planes().inside(plane, start.dst));
        // The rule within knows only the links of its plane.
        let adapts = choice.kind() == ChoiceKind::Adaptive;
        let links = if adapts { fabric.links().len() as u32 } else { 0 };
        let known = (first..first + links).map(|link| under_way[LinkId(link)]).collect();
        choice.choose(StartingMessage { src, dst, ..start }, &known, path);
        path.links.iter_mut().for_each(|link| link.0 += first);
    }

    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool {
        let planes = self.planes().planes();
        let known = match self.select {
            Select::Hash | Select::Fixed => self.expected_in(self.plane(src, dst), 1.0, (src, dst), path),
            Select::RoundRobin => {
                (0..planes).all(|plane| self.expected_in(plane, 1.0 / f64::from(planes), (src, dst), path))
            }
            Select::LeastLoaded => false,
        };
        path.merge();
        known
    }
}
