//! Capacity bounds of a fabric: bisection, diameter, oversubscription.

use std::collections::VecDeque;

use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::bisection::Bisection;
use super::max_flow::least_cut;
use super::partition;
use super::{Fabric, Link, LinkGroup, LinkRole};
use crate::base::threads;
use crate::diagnostic::Diagnostic;
use crate::ids::{Id, LinkId, NodeId, VertexId};
use crate::units::Bandwidth;

/// Largest product of starts and (vertices + links) for which the distances of a graph are searched: some
/// seconds.
const DISTANCE_LIMIT: u64 = 1 << 31;

/// Largest number of capacities by which links of one role are grouped.
const MOST_CAPACITIES: usize = 4;

impl Fabric {
    /// Returns the halves of the nodes with the least bandwidth between them, as far as they are known.
    ///
    /// The bandwidth is the largest flow from the nodes of one half to those of the other, for any routing;
    /// host links count if they are the narrowest. Closed forms give the least of all halves
    /// ([`Bisection::is_least`]):
    /// * Trees: the lower half of the node numbers against the upper, which splits the top level's subtrees.
    /// * Tori and meshes: halves of the dimension along which a line carries least for its length, if that length
    ///   is even or all cables are alike. The middle plane of an odd number is halved again by the next dimension.
    /// * HyperX: halves of the dimension with the least product of its length and the bandwidth between two of its
    ///   switches, if the length is even.
    ///
    /// For other fabrics, and if links have failed or carry less, it is the least of the halves that a search
    /// finds. That is an upper bound of the bisection bandwidth, but still a limit for traffic between these
    /// halves.
    ///
    /// `None` for fewer than two nodes, and if links are known by routes alone.
    pub fn bisection(&self) -> Option<&Bisection> {
        let find = || if self.nodes() < 2 { None } else { self.family().bisection(self) };
        self.bisection.get_or_init(find).as_ref()
    }

    /// Searches for halves with little bandwidth between them, starting also from the given ones. Returns
    /// `None` if links are known by routes alone.
    pub fn search_bisection(&self, of_family: Vec<bool>) -> Option<Bisection> {
        if self.has_loose_links() {
            return None;
        }
        let side = partition::halves(self, &of_family);
        let sum = |first: bool| -> Bandwidth {
            let crosses = |link: &Link| {
                link.ends.is_some_and(|(from, to)| side[from.index()] == first && side[to.index()] != first)
            };
            let left = self.links().iter_ids().filter(|&(id, link)| !self.has_failed(id) && crosses(link));
            left.map(|(_, link)| link.capacity).sum()
        };
        let first_half = side[..self.nodes() as usize].to_vec();
        let found = self.search_cut(first_half.clone());
        let found =
            found.unwrap_or_else(|| Bisection { bandwidth: sum(true), back: sum(false), first_half, is_least: false });
        let known = self.search_cut(of_family).filter(|known| known.least() <= found.least());
        Some(known.unwrap_or(found))
    }

    /// Computes the cut between these nodes and all others by max-flow. Returns `None` if links are known by
    /// routes alone, and for a graph too large to search.
    pub fn search_cut(&self, first_half: Vec<bool>) -> Option<Bisection> {
        if self.has_loose_links() {
            return None;
        }
        let (home, of) = (self.homes(), &first_half);
        let half = |first: bool| (0..self.nodes()).filter(move |&node| of[node as usize] == first);
        let cut = |first| {
            let flow = least_cut(self.graph(), self.links(), &home, half(first), half(!first));
            flow.map(Bandwidth::from_bytes_per_second)
        };
        let (bandwidth, back) = (cut(true)?, cut(false)?);
        Some(Bisection { bandwidth, back, first_half, is_least: false })
    }

    /// Returns true for each node in the lower half of the node numbers.
    pub fn lower_half(&self) -> Vec<bool> {
        (0..self.nodes()).map(|node| node < self.nodes() / 2).collect()
    }

    /// Returns the length of the longest of the shortest routes between two nodes, in links; 0 for one node.
    ///
    /// If links are known by routes alone, returns the length of the longest route. Returns `None` if a node
    /// does not reach another, and for an irregular graph too large to search.
    pub fn diameter(&self) -> Option<u32> {
        if self.nodes() < 2 {
            return Some(0);
        }
        // A family's arithmetic does not know failures.
        if self.failed().is_some() { self.search_diameter() } else { self.family().diameter(self) }
    }

    /// Computes the diameter from the distances between all nodes along the links.
    pub fn search_diameter(&self) -> Option<u32> {
        if self.has_loose_links() {
            return self.routes().map(|routes| routes.longest());
        }
        // Nodes attached to one switch only are 1 further from all others than that switch.
        let home = self.homes();
        let mut starts: Vec<u32> =
            self.node_ids().map(|node| home[node.0 as usize].map_or(node.0, |switch| switch.0)).collect();
        starts.sort_unstable();
        let several: Vec<u32> =
            starts.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect();
        starts.dedup();
        let inner = Inner::of(self, &home);
        if starts.len() as u64 * (inner.starts.len() + inner.ends.len()) as u64 > DISTANCE_LIMIT {
            return None;
        }
        let beyond = |vertex: u32| u32::from(vertex >= self.nodes());
        let mut most = if several.is_empty() { 0 } else { 2 };
        let (mut distance, mut queue) = (Vec::new(), Vec::new());
        for &start in &starts {
            inner.distances(start, &mut distance, &mut queue);
            for &end in starts.iter().filter(|&&end| end != start) {
                let between = distance[end as usize];
                if between == u32::MAX {
                    return None;
                }
                most = most.max(between + beyond(start) + beyond(end));
            }
        }
        Some(most)
    }

    /// Returns the mean number of links on shortest paths over all ordered pairs of nodes.
    ///
    /// If the search would be too long, it starts from a sample of evenly spread switches. Returns `None` for
    /// one node, if a node does not reach another, and if links are known by routes alone.
    pub fn mean_distance(&self) -> Option<MeanDistance> {
        if self.nodes() < 2 || self.has_loose_links() {
            return None;
        }
        let home = self.homes();
        // By vertex: number of its nodes.
        let mut here = vec![0u64; self.graph().node_count()];
        for node in self.node_ids() {
            here[home[node.0 as usize].map_or(node.0, |switch| switch.0) as usize] += 1;
        }
        let places: Vec<u32> = (0..here.len() as u32).filter(|&vertex| here[vertex as usize] > 0).collect();
        let inner = Inner::of(self, &home);
        let cost = (inner.starts.len() + inner.ends.len()) as u64;
        let most = (DISTANCE_LIMIT / cost.max(1)).clamp(1, places.len() as u64) as usize;
        let starts: Vec<u32> = (0..most).map(|i| places[i * places.len() / most]).collect();
        let beyond = |vertex: u32| u64::from(vertex >= self.nodes());
        let sums = threads::map(starts, |start| {
            let (mut distance, mut queue) = (Vec::new(), Vec::new());
            inner.distances(start, &mut distance, &mut queue);
            let from = here[start as usize];
            let (mut links, mut pairs) = (2 * from * (from - 1), from * (from - 1));
            for &end in places.iter().filter(|&&end| end != start) {
                let between = distance[end as usize];
                if between == u32::MAX {
                    return None;
                }
                let count = from * here[end as usize];
                links += count * (u64::from(between) + beyond(start) + beyond(end));
                pairs += count;
            }
            Some((links, pairs))
        });
        let sums: Option<Vec<(u64, u64)>> = sums.into_iter().collect();
        let (links, pairs) = sums?.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Some(MeanDistance { links: links as f64 / pairs as f64, is_sampled: most < places.len() })
    }

    /// Returns for each node the only switch that it is joined with, if there is one with one link each way.
    pub(crate) fn homes(&self) -> Vec<Option<VertexId>> {
        let only = |node: NodeId, direction| {
            let mut edges = self.graph().neighbors_directed(NodeIndex::new(node.0 as usize), direction);
            edges.next().filter(|_| edges.next().is_none())
        };
        let home = |node: NodeId| match (only(node, Direction::Outgoing), only(node, Direction::Incoming)) {
            (Some(to), Some(from)) if to == from && to.index() >= self.nodes() as usize => {
                Some(VertexId(to.index() as u32))
            }
            _ => None,
        };
        self.node_ids().map(home).collect()
    }

    /// Returns the links by their role: into the network, by tier, and to the nodes. Links of one role with few
    /// different capacities, such as those of network cards and those inside a server, are groups of their own.
    pub(super) fn links_by_role(&self) -> Vec<LinkGroup> {
        let with =
            |wanted: LinkRole| self.links().iter_ids().filter(move |(_, link)| link.role == wanted).map(|(id, _)| id);
        let tier = |link: &Link| if let LinkRole::Network { tier } = link.role { Some(tier) } else { None };
        let mut tiers: Vec<u8> = self.links().iter().filter_map(tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        let mut groups = Vec::new();
        let mut add = |name: &str, role: LinkRole| {
            let mut capacities: Vec<_> = with(role).map(|id| self.link(id).capacity).collect();
            capacities.sort_unstable();
            capacities.dedup();
            if !(2..=MOST_CAPACITIES).contains(&capacities.len()) {
                return groups.push(LinkGroup::new(name, with(role)));
            }
            for capacity in capacities {
                let of_capacity = with(role).filter(|&id| self.link(id).capacity == capacity);
                groups.push(LinkGroup::new(format!("{name}, {capacity}"), of_capacity));
            }
        };
        add("injection", LinkRole::Injection);
        for &tier in &tiers {
            let mut name = self.family().tier_name(tier);
            if name == "network" && tiers.len() > 1 {
                name = format!("network, tier {tier}");
            }
            add(&name, LinkRole::Network { tier });
        }
        add("ejection", LinkRole::Ejection);
        groups
    }

    /// Returns the ratio of the bandwidth at which the nodes of a half can send to the bisection bandwidth.
    ///
    /// `sum of the capacities of the links that leave the nodes of the first half / bisection bandwidth`: 1
    /// for a full-bisection tree or a crossbar, 2 for a tree with half of that. Without host links a node's
    /// network links count.
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

    /// Checks that every node reaches every other, for graphs from files; other families are connected by
    /// construction.
    ///
    /// If the file gives routes this is not checked: pairs may be without a route on purpose.
    ///
    /// # Errors
    /// Returns one diagnostic that names the first node that cannot be reached, or from which node 0 cannot
    /// be reached.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        if self.nodes() < 2 || self.routes().is_some() || self.is_connected_by_family() {
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

    pub(crate) fn has_loose_links(&self) -> bool {
        self.links().iter().any(|link| link.ends.is_none())
    }

    /// Returns for each vertex the number of links on a shortest path from (or to) a node.
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

/// Mean distance between nodes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeanDistance {
    /// Mean number of links on a shortest path.
    pub links: f64,
    /// True if only some nodes are starts of paths.
    pub is_sampled: bool,
}

/// Links by the vertex they leave, without those of nodes attached to one switch.
struct Inner {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Inner {
    fn of(fabric: &Fabric, home: &[Option<VertexId>]) -> Self {
        let is_outer = |vertex: VertexId| home.get(vertex.0 as usize).is_some_and(Option::is_some);
        let ends = || fabric.links().iter().filter_map(|link| link.ends);
        let inner = || ends().filter(|&(from, to)| !is_outer(from) && !is_outer(to));
        let mut starts = vec![0u32; fabric.graph().node_count() + 1];
        inner().for_each(|(from, _)| starts[from.0 as usize + 1] += 1);
        for vertex in 1..starts.len() {
            starts[vertex] += starts[vertex - 1];
        }
        let mut next = starts.clone();
        let mut ends = vec![0; starts.last().copied().unwrap_or(0) as usize];
        for (from, to) in inner() {
            ends[next[from.0 as usize] as usize] = to.0;
            next[from.0 as usize] += 1;
        }
        Self { starts, ends }
    }

    /// Writes for each vertex the number of links on a shortest path from `from`; `u32::MAX` if there is
    /// none.
    fn distances(&self, from: u32, distance: &mut Vec<u32>, queue: &mut Vec<u32>) {
        distance.clear();
        distance.resize(self.starts.len() - 1, u32::MAX);
        distance[from as usize] = 0;
        queue.clear();
        queue.push(from);
        let mut done = 0;
        while let Some(&vertex) = queue.get(done) {
            done += 1;
            let next = self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize;
            for &to in &self.ends[next] {
                if distance[to as usize] == u32::MAX {
                    distance[to as usize] = distance[vertex as usize] + 1;
                    queue.push(to);
                }
            }
        }
    }
}
