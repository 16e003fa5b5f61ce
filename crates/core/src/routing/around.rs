//! Detours around failures, for rules that use a family's arithmetic.

use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::{LoadCount, in_parts};
use super::demand::Demand;
use super::router::Router;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};

/// Rule that knows only the intact fabric, with a detour where its route crosses a failure.
///
/// A pair whose own route is healthy keeps it. Any other pair takes a shortest path over the remaining links,
/// chosen by a hash of the pair (`ecmp`; `shortest-path` on fabrics that are too large for its tables),
/// always the same. A message on several paths of which one is broken takes that one path as a whole, and so
/// does one whose chosen path is broken. If no path remains the pair is cut off ([`Router::reaches`]).
#[derive(Debug)]
pub(super) struct WithDetours {
    fabric: Arc<Fabric>,
    own: Arc<dyn Router>,
    /// Shortest paths over the remaining links; `None` if links have no ends, so that there is no graph to
    /// search.
    remaining: Option<Arc<dyn Router>>,
}

impl WithDetours {
    pub fn new(fabric: &Arc<Fabric>, own: Arc<dyn Router>, remaining: Option<Arc<dyn Router>>) -> Self {
        Self { fabric: Arc::clone(fabric), own, remaining }
    }

    fn is_broken(&self, links: &[LinkId]) -> bool {
        links.iter().any(|&link| self.fabric.has_failed(link))
    }

    fn detour(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if let Some(remaining) = &self.remaining
            && remaining.reaches(src, dst)
        {
            remaining.route(src, dst, route);
        }
    }
}

impl Router for WithDetours {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let start = route.len();
        if self.own.reaches(src, dst) {
            self.own.route(src, dst, route);
        }
        if route.len() == start || self.is_broken(&route[start..]) {
            route.truncate(start);
            if src != dst {
                self.detour(src, dst, route);
            }
        }
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        if src == dst || self.remaining.as_ref().is_some_and(|remaining| remaining.reaches(src, dst)) {
            return true;
        }
        // Shortest paths do not cross nodes, and given routes may.
        let mut route = Vec::new();
        if self.own.reaches(src, dst) {
            self.own.route(src, dst, &mut route);
        }
        !route.is_empty() && !self.is_broken(&route)
    }

    fn choice(&self) -> Option<&dyn Choice> {
        self.own.choice().map(|_| self as &dyn Choice)
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        let Some(choice) = self.own.choice() else {
            return in_parts_of(self, demand, loads);
        };
        // All pairs have a mean path or none has.
        let (mut path, mut known) = (Path::default(), true);
        for src in (0..demand.sources()).map(NodeId) {
            demand.from(src, |dst, much| {
                path.clear();
                if !self.reaches(src, dst) {
                    return;
                }
                known &= choice.expected(src, dst, &mut path);
                if self.is_broken(&path.links) {
                    path.clear();
                    self.detour(src, dst, &mut path.links);
                }
                for (index, &link) in path.links.iter().enumerate() {
                    loads[link] += much * path.parts.get(index).copied().unwrap_or(1.0);
                }
            });
        }
        if known {
            return Ok(LoadCount::default());
        }
        let message = "loads of an adaptive rule cannot be counted around failures";
        Err(Diagnostic::new("adaptive-routing", message).help("use `minimal`, `ecmp`, `spray` or `valiant-switches`"))
    }
}

/// Adds the loads of one route for each pair.
fn in_parts_of(router: &WithDetours, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
    in_parts(demand.sources(), loads, |src, part| {
        let mut route = Vec::new();
        demand.from(NodeId(src), |dst, much| {
            route.clear();
            router.route(NodeId(src), dst, &mut route);
            route.iter().for_each(|link| part.loads[link.0 as usize] += much);
        });
    });
    Ok(LoadCount::default())
}

impl Choice for WithDetours {
    fn kind(&self) -> ChoiceKind {
        self.own.choice().map_or(ChoiceKind::Drawn, Choice::kind)
    }

    fn choose(&self, start: StartingMessage, under_way: &UnderWay, path: &mut Path) {
        if let Some(choice) = self.own.choice() {
            choice.choose(start, under_way, path);
        }
        if self.is_broken(&path.links) {
            path.clear();
            self.detour(start.src, start.dst, &mut path.links);
        }
    }

    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool {
        let known = self.own.choice().is_some_and(|choice| choice.expected(src, dst, path));
        if known && self.is_broken(&path.links) {
            path.clear();
            self.detour(src, dst, &mut path.links);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use crate::fabric::{Fabric, Grid};
    use crate::ids::{LinkId, NodeId};
    use crate::routing::{Router, RoutingSpec};
    use crate::units::{Bandwidth, Time};
    use std::sync::Arc;

    fn torus(dims: &[u32]) -> Fabric {
        let grid = Grid::new(dims.to_vec(), vec![true; dims.len()], false);
        grid.build("torus".to_owned(), |_| (Bandwidth::from_bytes_per_second(1e9), Time::ZERO))
    }

    fn route(router: &dyn Router, src: u32, dst: u32) -> Vec<LinkId> {
        let mut route = Vec::new();
        router.route(NodeId(src), NodeId(dst), &mut route);
        route
    }

    /// Returns true if the links lead from one vertex to the other and none has failed.
    fn leads(fabric: &Fabric, links: &[LinkId], src: u32, dst: u32) -> bool {
        let mut at = src;
        for &link in links {
            let (from, to) = fabric.link(link).ends.unwrap();
            if from.0 != at || fabric.has_failed(link) {
                return false;
            }
            at = to.0;
        }
        at == dst
    }

    #[test]
    fn a_ring_with_one_failed_cable_is_gone_round_the_other_way() {
        let whole = Arc::new(torus(&[7]));
        let own = RoutingSpec::parse_name("dimension-order").unwrap();
        let healthy = own.build(&whole, 1).unwrap();
        let broken = route(&*healthy, 2, 3);
        assert_eq!(broken.len(), 1);
        let cable = whole.cables().into_iter().find(|cable| cable.contains(&broken[0])).unwrap();
        let remaining = Arc::new(whole.altered(&cable, &[]));
        let around = own.build(&remaining, 1).unwrap();
        assert_eq!(route(&*around, 2, 3).len(), 6);
        for (src, dst) in (0..7).flat_map(|src| (0..7).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
            let (before, after) = (route(&*healthy, src, dst), route(&*around, src, dst));
            assert!(leads(&remaining, &after, src, dst), "{src} to {dst}: {after:?}");
            let healthy = before.iter().all(|link| !cable.contains(link));
            assert!(!healthy || before == after, "{src} to {dst} has a healthy route");
        }
    }

    #[test]
    fn pairs_with_a_healthy_route_keep_it_under_every_rule_of_one_route() {
        for name in ["dimension-order", "shortest-path"] {
            let whole = Arc::new(torus(&[5, 4]));
            let rule = RoutingSpec::parse_name(name).unwrap();
            let healthy = rule.build(&whole, 1).unwrap();
            let cables = whole.cables();
            let failed: Vec<LinkId> = [3, 11, 17, 30].iter().flat_map(|&cable| cables[cable].clone()).collect();
            let remaining = Arc::new(whole.altered(&failed, &[]));
            let around = rule.build(&remaining, 1).unwrap();
            let mut detours = 0;
            for (src, dst) in (0..20).flat_map(|src| (0..20).map(move |dst| (src, dst))) {
                let (before, after) = (route(&*healthy, src, dst), route(&*around, src, dst));
                assert!(leads(&remaining, &after, src, dst), "{name}: {src} to {dst}: {after:?}");
                match before.iter().any(|link| failed.contains(link)) {
                    true => detours += 1,
                    false => assert_eq!(before, after, "{name}: {src} to {dst}"),
                }
            }
            assert!(detours > 10, "{name}: {detours}");
        }
    }

    #[test]
    fn a_node_whose_links_have_failed_is_not_reached() {
        let whole = Arc::new(torus(&[5]));
        let of_node = |link: &LinkId| whole.link(*link).ends.is_some_and(|(from, to)| from.0 == 2 || to.0 == 2);
        let failed: Vec<LinkId> = whole.links().ids().filter(of_node).collect();
        let remaining = Arc::new(whole.altered(&failed, &[]));
        for name in ["dimension-order", "shortest-path", "minimal", "ecmp", "spray", "valiant-switches", "ugal-g"] {
            let around = RoutingSpec::parse_name(name).unwrap().build(&remaining, 1).unwrap();
            assert!(!around.reaches(NodeId(0), NodeId(2)) && !around.reaches(NodeId(2), NodeId(4)), "{name}");
            assert!(around.reaches(NodeId(1), NodeId(3)) && around.reaches(NodeId(2), NodeId(2)), "{name}");
            assert!(leads(&remaining, &route(&*around, 1, 3), 1, 3), "{name}");
        }
    }
}
