//! Paths up a tree to the lowest common switch and down again, for all rules on trees.

use std::sync::Arc;

use super::router::misfit;
use crate::base::divisor::Divisor;
use crate::base::prefetch::fetch;
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, Tree};
use crate::ids::{Id, LinkId, NodeId};

/// Largest number of levels of a tree with routes.
const MOST_LEVELS: usize = 32;

/// Arithmetic of a tree's links, prepared for one division after another on the way up.
#[derive(Debug)]
pub(super) struct Climb {
    levels: Vec<Level>,
}

/// Parameters of the links up to one level.
#[derive(Debug)]
pub(super) struct Level {
    /// First link up to this level.
    first: u32,
    /// Number of links up to this level: the link down beside link i up is `i + cables`.
    cables: u32,
    /// Nodes or switches of the level below that are above the same nodes.
    copies: u32,
    /// Ports of a node or switch of the level below.
    pub ports: u32,
    /// True if there is one cable to each parent: then ports are parents.
    is_simple: bool,
    by_ports: Divisor,
    by_children: Divisor,
    by_parents: Divisor,
}

impl Climb {
    /// Prepares the arithmetic of a fabric that is a tree; otherwise returns a mistake that names `rule`.
    pub fn new(fabric: &Arc<Fabric>, rule: &str) -> Result<Self, Vec<Diagnostic>> {
        let Some(tree) = fabric.family_as::<Tree>() else {
            return Err(vec![misfit(rule, "trees", fabric)]);
        };
        if tree.levels() > MOST_LEVELS {
            let message = format!("a tree of {} levels is too high for {rule}", tree.levels());
            return Err(vec![Diagnostic::new("routing-levels", message).help(format!("at most {MOST_LEVELS} levels"))]);
        }
        Ok(Self { levels: (1..=tree.levels()).map(|level| Level::new(tree, level)).collect() })
    }
}

/// Route tables of a tree.
///
/// For each node and level there are the first cable of the switch above the node, and the cable taken there
/// if ports are the digits of the node's number. A link is the sum of two numbers.
///
/// Memory: 8 bytes for each node and level.
#[derive(Debug)]
pub(super) struct TreeRoutes {
    levels: Vec<Level>,
    /// Entries of the levels of each node, one node after another.
    entries: Vec<NodeEntry>,
}

/// Contribution of a node to the links of one level.
#[derive(Clone, Copy, Debug)]
struct NodeEntry {
    /// First cable up from the node or switch of the level below that is above the node. The cables down to
    /// it are in the same order after all cables up to the level.
    above: u32,
    /// Cable, relative to the first one, of messages whose port is decided by this node.
    cable: u32,
}

impl TreeRoutes {
    /// Computes the tables.
    pub fn new(climb: Climb, nodes: u32) -> Self {
        let mut entries = Vec::with_capacity(nodes as usize * climb.levels.len());
        for node in 0..nodes {
            let (mut part, mut rest, mut copy) = (node, node, 0);
            for level in &climb.levels {
                let (port, above) = level.digit(rest);
                let above_part = level.first + part * level.copies * level.ports;
                entries.push(NodeEntry { above: above_part, cable: copy * level.ports + port });
                copy += level.copies * level.parent(port);
                part = level.by_children.divide(part).0;
                rest = above;
            }
        }
        Self { levels: climb.levels, entries }
    }

    #[inline]
    fn of(&self, node: NodeId) -> &[NodeEntry] {
        &self.entries[node.index() * self.levels.len()..][..self.levels.len()]
    }

    /// Prefetches the entries of a node.
    #[inline]
    pub fn fetch(&self, node: NodeId) {
        if let [first, .., last] = self.of(node) {
            fetch(first);
            fetch(last);
        }
    }

    /// Appends the route. `choose` is called level by level for the port up. The path down is then
    /// determined: it takes the cable beside the one that a message going up there would take.
    #[inline]
    pub fn route_by(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>, mut choose: impl FnMut(&Level) -> u32) {
        let (from, to) = (self.of(src), self.of(dst));
        let turn = from.iter().zip(to).take_while(|(from, to)| from.above != to.above).count();
        let before = route.len();
        route.resize(before + 2 * turn, LinkId(0));
        let (up, down) = route[before..].split_at_mut(turn);
        let mut copy = 0;
        let entries = self.levels.iter().zip(from).zip(to);
        for (((level, from), to), (up, down)) in entries.zip(up.iter_mut().zip(down.iter_mut().rev())) {
            let port = choose(level);
            let way = copy * level.ports + port;
            *up = LinkId(from.above + way);
            *down = LinkId(to.above + level.cables + way);
            copy += level.copies * level.parent(port);
        }
    }

    /// Appends the route by digits; `deciding_end` is the end whose number decides the ports.
    #[inline]
    pub fn route(&self, src: NodeId, dst: NodeId, deciding_end: NodeId, route: &mut Vec<LinkId>) {
        let (from, to, ways) = (self.of(src), self.of(dst), self.of(deciding_end));
        route.reserve(2 * self.levels.len());
        let mut turn = 0;
        for ((from, to), by) in from.iter().zip(to).zip(ways) {
            if from.above == to.above {
                break;
            }
            route.push(LinkId(from.above + by.cable));
            turn += 1;
        }
        for ((to, by), level) in to[..turn].iter().zip(&ways[..turn]).zip(&self.levels).rev() {
            route.push(LinkId(to.above + level.cables + by.cable));
        }
    }

    /// Calls `add` with each link of each of these routes.
    #[inline]
    pub fn count(
        &self,
        entries: &[(NodeId, NodeId)],
        deciding_end: impl Fn(NodeId, NodeId) -> NodeId,
        mut add: impl FnMut(LinkId),
    ) {
        // With a known height all offsets are constants and there are no loops.
        match self.levels.len() {
            2 => self.count_known::<2>(entries, deciding_end, add),
            3 => self.count_known::<3>(entries, deciding_end, add),
            _ => entries.iter().for_each(|&(src, dst)| {
                visit((self.of(src), self.of(dst)), self.of(deciding_end(src, dst)), &self.levels, &mut add);
            }),
        }
    }

    /// Does the work of [`TreeRoutes::count`] on a tree of `LEVELS` levels.
    #[inline]
    fn count_known<const LEVELS: usize>(
        &self,
        entries: &[(NodeId, NodeId)],
        deciding_end: impl Fn(NodeId, NodeId) -> NodeId,
        mut add: impl FnMut(LinkId),
    ) {
        let (nodes, _) = self.entries.as_chunks::<LEVELS>();
        let Some(levels) = self.levels.first_chunk::<LEVELS>() else { return };
        for &(src, dst) in entries {
            let by = &nodes[deciding_end(src, dst).index()];
            visit((&nodes[src.index()], &nodes[dst.index()]), by, levels, &mut add);
        }
    }
}

/// Calls `add` with each link of a route whose ports are decided by node `by`, in no particular order.
#[inline(always)]
fn visit((from, to): (&[NodeEntry], &[NodeEntry]), by: &[NodeEntry], levels: &[Level], add: &mut impl FnMut(LinkId)) {
    for (level, Level { cables, .. }) in levels.iter().enumerate() {
        let (from, to, way) = (from[level].above, to[level].above, by[level].cable);
        if from == to {
            break;
        }
        add(LinkId(from + way));
        add(LinkId(to + cables + way));
    }
}

impl Level {
    fn new(tree: &Tree, level: usize) -> Self {
        Self {
            first: tree.first_link(level),
            cables: tree.cables(level),
            copies: tree.copies(level - 1),
            ports: tree.ports(level),
            is_simple: tree.ports(level) == tree.up[level - 1],
            by_ports: Divisor::new(tree.ports(level)),
            by_children: Divisor::new(tree.down[level - 1]),
            by_parents: Divisor::new(tree.up[level - 1]),
        }
    }

    /// Returns the port given by a number, and the quotient for the level above.
    #[inline]
    pub fn digit(&self, number: u32) -> (u32, u32) {
        let (above, digit) = self.by_parents.divide(number);
        if self.is_simple { (digit, above) } else { (self.by_ports.divide(number).1, above) }
    }

    /// Returns the parent that a port leads to.
    #[inline]
    fn parent(&self, port: u32) -> u32 {
        if self.is_simple { port } else { self.by_parents.divide(port).1 }
    }
}
