//! How much a fabric can carry: bisection, diameter, oversubscription.

use std::collections::VecDeque;

use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::bisection::Bisection;
use super::max_flow::least_cut;
use super::{Fabric, Link, LinkGroup, LinkRole};
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
    /// * any other: the lower half of the node numbers against the upper, by max-flow or the family's own sum.
    ///
    /// `None` for fewer than two nodes, where links are known by routes alone, and for a graph too large to search.
    pub fn bisection(&self) -> Option<&Bisection> {
        let find = || if self.nodes() < 2 { None } else { self.family().bisection(self) };
        self.bisection.get_or_init(find).as_ref()
    }

    /// The lower half of the node numbers against the upper, by max-flow; `None` where links are known by routes alone,
    /// and for a graph too large to search.
    pub fn search_bisection(&self) -> Option<Bisection> {
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
            first_half: self.lower_half(),
        })
    }

    /// By node: whether it is in the lower half of the node numbers.
    pub(super) fn lower_half(&self) -> Vec<bool> {
        (0..self.nodes()).map(|node| node < self.nodes() / 2).collect()
    }

    /// Links of the longest of the shortest routes between two nodes; 0 for one node.
    ///
    /// Where links are known by routes alone, the longest of those. `None` where a node does not reach another, and
    /// for an irregular graph too large to search.
    pub fn diameter(&self) -> Option<u32> {
        if self.nodes() < 2 {
            return Some(0);
        }
        self.family().diameter(self)
    }

    /// The same, by distances along the links from every node.
    pub fn search_diameter(&self) -> Option<u32> {
        if self.has_loose_links() {
            return self.routes().map(|routes| routes.longest());
        }
        let size = self.graph().node_count() as u64 + self.links().len() as u64;
        if u64::from(self.nodes()) * size > DISTANCE_LIMIT {
            return None;
        }
        let farthest = |node: NodeId| {
            let distances = self.distances(node, Direction::Outgoing);
            distances[..self.nodes() as usize].iter().try_fold(0, |most, distance| distance.map(|hops| hops.max(most)))
        };
        self.node_ids().map(farthest).try_fold(0, |most, hops| hops.map(|hops| hops.max(most)))
    }

    /// The links by their role: into the network, by tier, and to the nodes.
    pub(super) fn links_by_role(&self) -> Vec<LinkGroup> {
        let with =
            |wanted: LinkRole| self.links().iter_ids().filter(move |(_, link)| link.role == wanted).map(|(id, _)| id);
        let tier = |link: &Link| if let LinkRole::Network { tier } = link.role { Some(tier) } else { None };
        let mut tiers: Vec<u8> = self.links().iter().filter_map(tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        let mut groups = vec![LinkGroup::new("injection", with(LinkRole::Injection))];
        for &tier in &tiers {
            let mut name = self.family().tier_name(tier);
            if name == "network" && tiers.len() > 1 {
                name = format!("network, tier {tier}");
            }
            groups.push(LinkGroup::new(name, with(LinkRole::Network { tier })));
        }
        groups.push(LinkGroup::new("ejection", with(LinkRole::Ejection)));
        groups
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
        if self.nodes() < 2 || self.routes().is_some() || self.family().is_connected() {
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

    pub(super) fn capacity(&self, link: LinkId) -> f64 {
        self.link(link).capacity.bytes_per_second()
    }
}
