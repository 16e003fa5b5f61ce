//! How much a fabric can carry: bisection, diameter, oversubscription.

use std::collections::VecDeque;

use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::bisection::Bisection;
use super::max_flow::least_cut;
use super::{CrossbarGrid, Fabric, Grid, Shape, Tree};
use crate::diagnostic::Diagnostic;
use crate::ids::{LinkId, NodeId, VertexId};
use crate::units::Bandwidth;

/// Largest vertices x links for which the least cut of a graph is searched: some seconds.
const CUT_LIMIT: u64 = 1 << 27;
/// Largest nodes x (vertices + links) for which the distances of a graph are searched: some seconds.
const DISTANCE_LIMIT: u64 = 1 << 31;

impl Fabric {
    /// The cut in two halves that limits traffic between them, as this family is usually cut.
    ///
    /// The bandwidth is the largest flow from the nodes of one half to those of the other (so it counts host links
    /// where they are the narrowest), whatever the routing:
    /// * tree: the lower half of the node numbers against the upper, which splits the top level's subtrees;
    /// * torus, mesh, hyper-crossbar: two halves of one dimension, the one of even length for which the cut carries
    ///   least; where no length is even, halves that differ by one plane;
    /// * irregular graph: the lower half of the node numbers against the upper, by max-flow.
    ///
    /// `None` for fewer than two nodes, where links are known by routes alone, and for a graph too large to search.
    pub fn bisection(&self) -> Option<&Bisection> {
        self.bisection.get_or_init(|| self.find_bisection()).as_ref()
    }

    fn find_bisection(&self) -> Option<Bisection> {
        if self.nodes() < 2 {
            return None;
        }
        let lower_half = || (0..self.nodes()).map(|node| node < self.nodes() / 2).collect();
        match self.shape() {
            Shape::Tree(tree) => Some(Bisection {
                bandwidth: self.tree_cut(tree, true),
                back: self.tree_cut(tree, false),
                first_half: lower_half(),
            }),
            Shape::Grid(grid) => {
                Some(self.plane_cut(&grid.dims, |dim, left, right| self.grid_cut(grid, dim, left, right)))
            }
            Shape::CrossbarGrid(grid) => {
                Some(self.plane_cut(&grid.dims, |dim, left, right| self.crossbar_cut(grid, dim, left, right)))
            }
            Shape::Irregular => {
                let (vertices, links) = (self.graph().node_count() as u64, self.links().len() as u64);
                if self.has_loose_links() || vertices * links > CUT_LIMIT {
                    return None;
                }
                let half = self.nodes() / 2;
                let (lower, upper) = (0..half, half..self.nodes());
                let cut = |from, to| Bandwidth::from_bytes_per_second(least_cut(self.graph(), self.links(), from, to));
                Some(Bisection {
                    bandwidth: cut(lower.clone(), upper.clone()),
                    back: cut(upper, lower),
                    first_half: lower_half(),
                })
            }
        }
    }

    /// Links of the longest of the shortest routes between two nodes; 0 for one node.
    ///
    /// Where links are known by routes alone, the longest of those. `None` where a node does not reach another, and
    /// for an irregular graph too large to search.
    pub fn diameter(&self) -> Option<u32> {
        if self.nodes() < 2 {
            return Some(0);
        }
        match self.shape() {
            Shape::Tree(tree) => {
                // A level above which nothing branches is never climbed to.
                let highest = tree.down.iter().rposition(|&children| children > 1)?;
                Some(2 * (highest as u32 + 1))
            }
            Shape::Grid(grid) => {
                let along = |(&size, &wrap): (&u32, &bool)| if wrap { size / 2 } else { size - 1 };
                Some(grid.dims.iter().zip(&grid.wrap).map(along).sum::<u32>() + 2 * u32::from(grid.host_link))
            }
            Shape::CrossbarGrid(grid) => {
                let crossbars = grid.dims.iter().filter(|&&size| size > 1).count() as u32;
                Some(2 * crossbars + 2 * u32::from(grid.host_link))
            }
            Shape::Irregular if self.has_loose_links() => self.routes().map(|routes| routes.longest()),
            Shape::Irregular => {
                let size = self.graph().node_count() as u64 + self.links().len() as u64;
                if u64::from(self.nodes()) * size > DISTANCE_LIMIT {
                    return None;
                }
                let farthest = |node: NodeId| {
                    let distances = self.distances(node, Direction::Outgoing);
                    distances[..self.nodes() as usize]
                        .iter()
                        .try_fold(0, |most, distance| distance.map(|hops| hops.max(most)))
                };
                self.node_ids().map(farthest).try_fold(0, |most, hops| hops.map(|hops| hops.max(most)))
            }
        }
    }

    /// How many times more the nodes of a half can send than the cut between the halves carries.
    ///
    /// `sum of the capacities of the links that leave the nodes of the first half / bisection bandwidth`: 1 for a
    /// full-bisection tree or a crossbar, 2 for a tree with half of that. Without host links a node's network links
    /// count.
    pub fn oversubscription(&self) -> Option<f64> {
        let bisection = self.bisection()?;
        let half = self.node_ids().filter(|node| bisection.first_half[node.0 as usize]);
        let sent: f64 = half
            .flat_map(|node| self.graph().edges(NodeIndex::new(node.0 as usize)))
            .map(|edge| self.link(*edge.weight()).capacity.bytes_per_second())
            .sum();
        let carried = bisection.bandwidth.bytes_per_second();
        (carried > 0.0).then(|| sent / carried)
    }

    /// Whether every node reaches every other: for graphs from files; families are connected as they are built.
    ///
    /// Where the file gives routes nothing is said, for pairs without one may be meant to be so.
    ///
    /// # Errors
    /// One diagnostic that names the first node that cannot be reached, or from which node 0 cannot.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        if self.nodes() < 2 || self.routes().is_some() || *self.shape() != Shape::Irregular {
            return Ok(());
        }
        let lost = |direction| {
            let distances = self.distances(NodeId(0), direction);
            self.node_ids().find(|node| distances[node.0 as usize].is_none())
        };
        let name = |node: NodeId| self.vertex_name(VertexId::from(node));
        let (from, to) = match (lost(Direction::Outgoing), lost(Direction::Incoming)) {
            (None, None) => return Ok(()),
            (Some(node), _) => (name(NodeId(0)), name(node)),
            (None, Some(node)) => (name(node), name(NodeId(0))),
        };
        Err(vec![
            Diagnostic::new("disconnected", format!("no path leads from {from} to {to}"))
                .help("add the links that are missing (a cable used in both directions is two links), or give routes"),
        ])
    }

    fn has_loose_links(&self) -> bool {
        self.graph().edge_count() < self.links().len()
    }

    /// By vertex: links on a shortest path from (or to) a node.
    fn distances(&self, node: NodeId, direction: Direction) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.graph().node_count()];
        distances[node.0 as usize] = Some(0);
        let mut queue = VecDeque::from([(NodeIndex::new(node.0 as usize), 0)]);
        while let Some((vertex, distance)) = queue.pop_front() {
            for edge in self.graph().edges_directed(vertex, direction) {
                let next = if direction == Direction::Outgoing { edge.target() } else { edge.source() };
                if distances[next.index()].is_none() {
                    distances[next.index()] = Some(distance + 1);
                    queue.push_back((next, distance + 1));
                }
            }
        }
        distances
    }

    fn capacity(&self, link: LinkId) -> f64 {
        self.link(link).capacity.bytes_per_second()
    }

    /// The largest flow between the lower half of a tree's nodes and the upper; `forth` from lower to upper.
    ///
    /// All copies of a switch can share its group's traffic evenly, so they act as one switch, whose cables carry what
    /// theirs do together: what is left is a tree without redundancy, cut by deciding for each switch on which side it
    /// is. Subtrees that lie whole in one half cost the same, so a level is three kinds of subtree: O(levels).
    fn tree_cut(&self, tree: &Tree, forth: bool) -> Bandwidth {
        let half = self.nodes() / 2;
        // By kind (lower, upper, mixed) and by side of the subtree's root (that of the senders, the receivers).
        let (sender, receiver) = ([0.0, f64::INFINITY], [f64::INFINITY, 0.0]);
        let mut costs = if forth { [sender, receiver, sender] } else { [receiver, sender, sender] };
        for level in 1..=tree.levels() {
            let cables = f64::from(tree.copies(level - 1)) * f64::from(tree.ports(level));
            let up = cables * self.capacity(tree.up_link(level, 0, 0));
            let down = cables * self.capacity(tree.down_link(level, 0, 0));
            let children = tree.down[level - 1];
            let within = half % tree.block(level);
            let whole = within / tree.block(level - 1);
            let split = u32::from(!within.is_multiple_of(tree.block(level - 1)));
            let cut = |counts: [u32; 3]| {
                [[0.0, down], [up, 0.0]].map(|crossed| {
                    let cheapest = |kind: usize| (costs[kind][0] + crossed[0]).min(costs[kind][1] + crossed[1]);
                    let used = (0..3).filter(|&kind| counts[kind] > 0);
                    used.map(|kind| f64::from(counts[kind]) * cheapest(kind)).sum::<f64>()
                })
            };
            let mixed = cut([whole, children.saturating_sub(whole + split), split]);
            costs = [cut([children, 0, 0]), cut([0, children, 0]), mixed];
        }
        Bandwidth::from_bytes_per_second(costs[2][0].min(costs[2][1]))
    }

    /// The cheapest cut across one dimension. `cut` gives what is carried from `left` planes to `right` planes of it.
    fn plane_cut(&self, dims: &[u32], cut: impl Fn(usize, u32, u32) -> f64) -> Bisection {
        let even = dims.iter().any(|size| size.is_multiple_of(2));
        let candidates = (0..dims.len()).filter(|&dim| if even { dims[dim].is_multiple_of(2) } else { dims[dim] > 1 });
        let forth = |dim: usize| cut(dim, dims[dim] / 2, dims[dim].div_ceil(2));
        let best = candidates.min_by(|&a, &b| forth(a).total_cmp(&forth(b))).unwrap_or(0);
        let stride: u32 = dims[..best].iter().product();
        Bisection {
            bandwidth: Bandwidth::from_bytes_per_second(forth(best)),
            back: Bandwidth::from_bytes_per_second(cut(best, dims[best].div_ceil(2), dims[best] / 2)),
            first_half: (0..self.nodes()).map(|node| node / stride % dims[best] < dims[best] / 2).collect(),
        }
    }

    /// What `left` planes of a grid send at most to the other `right` planes: over the cables that join them, and no
    /// more than the host links let out on one side and in on the other.
    fn grid_cut(&self, grid: &Grid, dim: usize, left: u32, right: u32) -> f64 {
        let plane = f64::from(grid.positions() / grid.dims[dim]);
        let cables = plane * if grid.wrap[dim] { 2.0 } else { 1.0 };
        let across = cables * grid.step(0, dim, false).map_or(0.0, |link| self.capacity(link));
        let hosts = (grid.injection(NodeId(0)), grid.ejection(NodeId(0)));
        across.min(self.host_limit(hosts, plane * f64::from(left), plane * f64::from(right)))
    }

    /// What `left` planes of a grid of crossbars send at most to the other `right` planes.
    fn crossbar_cut(&self, grid: &CrossbarGrid, dim: usize, left: u32, right: u32) -> f64 {
        let plane = f64::from(grid.positions() / grid.dims[dim]);
        let (senders, receivers) = (plane * f64::from(left), plane * f64::from(right));
        let into = senders * self.capacity(grid.to_crossbar(dim, 0));
        let out = receivers * self.capacity(grid.from_crossbar(dim, 0));
        let hosts = (grid.injection(NodeId(0)), grid.ejection(NodeId(0)));
        into.min(out).min(self.host_limit(hosts, senders, receivers))
    }

    /// What the host links let out of so many senders and in to so many receivers.
    fn host_limit(&self, (injection, ejection): (Option<LinkId>, Option<LinkId>), senders: f64, receivers: f64) -> f64 {
        let side = |link: Option<LinkId>, nodes: f64| link.map_or(f64::INFINITY, |link| nodes * self.capacity(link));
        side(injection, senders).min(side(ejection, receivers))
    }
}
