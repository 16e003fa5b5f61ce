//! D-mod-k and S-mod-k.

use std::sync::Arc;

use super::climb::{Climb, TreeRoutes};
use super::router::{Router, misfit};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, Tree};
use crate::ids::{IdVec, LinkId, NodeId};

/// `[routing.d-mod-k]`: up a tree by the destination's number.
///
/// From a node or switch of level l, a message to node d takes port `(d / W_l) mod (up[l] * parallel[l])`,
/// where `W_l = up[0] * ... * up[l-1]`. Neighbouring destinations are spread over the parents, and all
/// messages to a destination use the same path down. Shifts (node i to i + c) on a full-bisection tree share
/// no link.
///
/// Source: E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat
/// trees", Technion CCIT report 776 (2010); SimGrid's `FAT_TREE` clusters.
#[spec(partial, Default)]
pub struct DModKSpec {}

impl Rule for DModKSpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut BuildContext<'_>) -> BuildResult {
        ModK::on(fabric, "d-mod-k", End::Destination)
    }
}

/// `[routing.s-mod-k]`: up a tree by the source's number; the mirror image of `[routing.d-mod-k]`.
#[spec(partial, Default)]
pub struct SModKSpec {}

impl Rule for SModKSpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut BuildContext<'_>) -> BuildResult {
        ModK::on(fabric, "s-mod-k", End::Source)
    }
}

/// End whose number decides the ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Source,
    Destination,
}

/// Router up a tree by the digits of one end's number.
#[derive(Debug)]
struct ModK {
    routes: TreeRoutes,
    /// Levels from the nodes up.
    levels: Vec<Level>,
    by: End,
}

/// Parameters of a level of a tree, computed once: [`Router::dominator`] is called for every link.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// First link up, and number of links up; the same number lead down.
    first: u32,
    cables: u32,
    /// Ports of a node or switch of the level below.
    ports: u32,
    /// Nodes or switches of the level below that are above the same nodes, and the number of these nodes.
    copies: u32,
    block: u32,
}

impl Level {
    fn of(tree: &Tree, level: usize) -> Self {
        Self {
            first: tree.first_link(level),
            cables: tree.cables(level),
            ports: tree.ports(level),
            copies: tree.copies(level - 1),
            block: tree.block(level - 1),
        }
    }

    /// Number of paths over this level from the switches above one node: one for each of their ports.
    fn ways(self) -> u32 {
        self.copies * self.ports
    }

    /// Returns the link of this level on the path to (or from) a node.
    fn next(self, node: u32, down: bool) -> LinkId {
        let child = node / self.block * self.copies + node % self.copies;
        let port = node / self.copies % self.ports;
        LinkId(self.first + child * self.ports + port + if down { self.cables } else { 0 })
    }
}

impl ModK {
    fn on(fabric: &Arc<Fabric>, rule: &str, by: End) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        let routes = TreeRoutes::new(Climb::new(fabric, rule)?, fabric.nodes());
        let tree: &Tree = fabric.family_as().ok_or_else(|| vec![misfit(rule, "trees", fabric)])?;
        let levels = (1..=tree.levels()).map(|level| Level::of(tree, level)).collect();
        Ok(Arc::new(Self { routes, levels, by }))
    }

    /// Calls `add` with each link of each of these routes.
    #[inline]
    fn visit(&self, ends: &[(NodeId, NodeId)], add: impl FnMut(LinkId)) {
        match self.by {
            End::Source => self.routes.count(ends, |src, _| src, add),
            End::Destination => self.routes.count(ends, |_, dst| dst, add),
        }
    }
}

impl Router for ModK {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let decider = match self.by {
            End::Source => src,
            End::Destination => dst,
        };
        self.routes.route(src, dst, decider, route);
    }

    fn expect(&self, src: NodeId, dst: NodeId) {
        self.routes.fetch(src);
        self.routes.fetch(dst);
    }

    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        self.visit(ends, |link| counts[link] += 1);
    }

    fn count_few(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u8>) -> u64 {
        let mut crossings = 0;
        self.visit(ends, |link| {
            counts[link] = counts[link].wrapping_add(1);
            crossings += 1;
        });
        crossings
    }

    /// Returns the next link towards the destination of a link down (D-mod-k), or the one before a link up,
    /// towards the source (S-mod-k), if it is the same for all nodes that the link serves. This is always so
    /// if it serves one node.
    fn dominator(&self, link: LinkId) -> Option<LinkId> {
        let index = self.levels.iter().rposition(|level| level.first <= link.0)?;
        let (level, below) = (self.levels[index], *self.levels.get(index.checked_sub(1)?)?);
        let (down, cable) = match (link.0 - level.first).checked_sub(level.cables) {
            Some(cable) => (true, cable),
            None => (false, link.0 - level.first),
        };
        if down != (self.by == End::Destination) {
            return None;
        }
        // The link serves the nodes below its lower end (`start .. start + block`) whose number modulo the number of
        // paths over this level (`period`) is the number of this path (`way`).
        let (child, port) = (cable / level.ports, cable % level.ports);
        let (block, period) = (level.block, level.ways());
        let (start, way) = (child / level.copies * block, child % level.copies + level.copies * port);
        let first = start + (way + period - start % period) % period;
        let end = start + block;
        if first >= end {
            return None;
        }
        let last = first + (end - 1 - first) / period * period;
        let same_part = first / below.block == last / below.block;
        let same_way = first == last || period.is_multiple_of(below.ways());
        (same_part && same_way).then(|| below.next(first, down))
    }
}
