//! Fabrics: nodes, switches and the directed links between them.
//!
//! A [`Fabric`] is a directed graph (petgraph) whose vertices are the nodes, numbered first, and the
//! switches, and whose edges are the links. A cable used in both directions at once is two links. Families of
//! fabrics are built in [`crate::topology`]. The properties of a family (names, groups, bounds, drawing,
//! default routing rule) are given by the fabric's [`Family`].

mod bisection;
mod bounds;
mod build;
mod channels;
mod crossings;
mod failed;
mod families;
mod fingerprint;
mod grid;
mod lattice;
mod max_flow;
mod message_plan;
pub(crate) mod named_links;
mod partition;
mod routes;
mod shortest;
mod sketch;
mod timetable;
mod tree;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use petgraph::graph::{DiGraph, NodeIndex};

use crate::base::threads;
use crate::ids::{Id, IdVec, LinkId, NodeId, VertexId};
use crate::units::{Bandwidth, Time};

pub use bisection::Bisection;
pub use bounds::MeanDistance;
pub(crate) use crossings::crossings;
pub use families::leading_half;
pub use grid::{CrossbarGrid, Grid};
pub use lattice::{Lattice, Step};
pub use message_plan::MessagePlan;
pub use routes::RouteTable;
pub use shortest::{PathEnd, ShortestPaths};
pub use sketch::{Fact, LinkGroup, Ring, Sketch, dimension_name};
pub use timetable::{Agenda, LinkChange, LinkStates, Timetable, Track};
pub use tree::{Tree, TreeLink};

/// Role of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkRole {
    /// From a node into the network.
    Injection,
    /// Out of the network to a node.
    Ejection,
    /// Inside the network. `tier` is the dimension of a grid or the level of a tree (1: between the switches
    /// next to the nodes and those above); 0 for other families.
    Network {
        /// Dimension or level.
        tier: u8,
    },
}

/// Directed link.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Start and end; `None` for a link of a custom fabric that is known by its routes alone.
    pub ends: Option<(VertexId, VertexId)>,
    /// Capacity \[B/s\]: the smaller of the cable's bandwidth and the output port's.
    pub capacity: Bandwidth,
    /// Latency that the link adds to each message that crosses it \[ps\].
    pub latency: Time,
    /// Role of the link.
    pub role: LinkRole,
}

/// Properties of a family of fabrics.
///
/// The file of a family implements this trait beside the specification that builds its fabrics. Code does not
/// ask a fabric for its family, except routing rules that use its arithmetic ([`Fabric::family_as`], once,
/// when they are built). All methods but [`Family::kind`] and [`Family::facts`] have a default that fits any
/// graph.
pub trait Family: Any + fmt::Debug + Send + Sync {
    /// Returns the kind of fabric for messages: `a tree`.
    fn kind(&self) -> &'static str;

    /// Returns the kind of fabric and its parameters in machine-readable form: `tree`, and `down`, `up`,
    /// `parallel`.
    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>);

    /// Returns true if every node reaches every other over host links by construction; a graph from a file
    /// may not.
    fn is_connected(&self) -> bool {
        true
    }

    /// Returns the name of the switch with this number (from 0 after the nodes).
    fn switch_name(&self, switch: u32) -> String {
        format!("switch {switch}")
    }

    /// Returns the name of a tier in a table: `between levels 1 and 2`.
    fn tier_name(&self, tier: u8) -> String {
        let _ = tier;
        "network".to_owned()
    }

    /// Returns the name of a tier after "8 links" in the legend of a picture.
    fn tier_legend(&self, tier: u8) -> String {
        self.tier_name(tier)
    }

    /// Returns all links in the order in which a message may cross them, grouped by their function for
    /// different nodes.
    fn link_groups(&self, fabric: &Fabric) -> Vec<LinkGroup> {
        fabric.links_by_role()
    }

    /// Returns the vertex of the switch to which a node is attached (see [`Fabric::leaf_of`]).
    fn leaf(&self, fabric: &Fabric, node: NodeId) -> u32 {
        fabric.lowest_switch_of(node)
    }

    /// Returns the group of each switch (see [`Fabric::groups`]).
    fn groups(&self) -> Option<&[u32]> {
        None
    }

    /// Returns the group of each node (see [`Fabric::node_groups`]): that of its switch, if switches have
    /// groups.
    fn node_groups(&self, fabric: &Fabric) -> Option<Vec<u32>> {
        let groups = self.groups()?;
        let of = |node: NodeId| groups.get(fabric.leaf_of(node).checked_sub(fabric.nodes())? as usize).copied();
        fabric.node_ids().map(of).collect()
    }

    /// Returns the length of the longest of the shortest routes (see [`Fabric::diameter`]). The default
    /// searches for it.
    fn diameter(&self, fabric: &Fabric) -> Option<u32> {
        fabric.search_diameter()
    }

    /// Returns the halves with the least bandwidth between them, for at least two nodes (see
    /// [`Fabric::bisection`]). The default searches for them.
    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        fabric.search_bisection(fabric.lower_half())
    }

    /// Returns the name of the default routing rule.
    fn default_routing(&self) -> &'static str {
        "shortest-path"
    }

    /// Returns true if the family computes routes of its own ([`Family::route`]).
    fn has_routes(&self) -> bool {
        false
    }

    /// Appends the links between two different nodes by the family's own minimal rule, always the same for
    /// the same pair. Requires [`Family::has_routes`].
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let _ = (src, dst, route);
    }

    /// Adds to each link the number of routes from and to these nodes that cross it ([`Family::route`]).
    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        crossings(ends, |src, dst, route| self.route(src, dst, route), |link| counts[link] += 1);
    }

    /// Returns the switches as points with coordinates, if they have coordinates.
    fn lattice(&self) -> Option<&dyn Lattice> {
        None
    }

    /// Returns the shortest paths between switches, if the family computes them. All nodes hang on switches then.
    fn shortest_paths(&self) -> Option<&dyn ShortestPaths> {
        None
    }

    /// Returns the planes from which a message takes one, if nodes have several cards.
    fn planes(&self) -> Option<&dyn Planes> {
        None
    }

    /// Returns true if a link that leaves a node leads into the network, so that it counts towards the node's
    /// bandwidth.
    fn leads_into_network(&self, link: LinkId) -> bool {
        let _ = link;
        true
    }

    /// Returns the links that form rings, on which packets could wait for each other in a cycle.
    fn rings(&self) -> Vec<Ring> {
        Vec::new()
    }

    /// Returns the rank of each link in an order in which the routes of the family's usual rules ascend, or
    /// nearly.
    ///
    /// A packet changes to the next class of virtual channels where its route does not ascend. So class and
    /// rank together ascend along every route, no channels can wait for each other in a cycle, and a better
    /// order needs fewer classes. Links into the network have rank 0, links out of it `u32::MAX`. If all
    /// other ranks are equal, the class of a channel is the number of links between switches that a packet
    /// has crossed.
    ///
    /// Source: K. Günther, "Prevention of deadlocks in packet-switched data transport systems", IEEE Trans.
    /// Commun. 29 (1981); classes that change where a route descends: the negative hops of R. Boppana, S.
    /// Chalasani, "A framework for designing deadlock-free wormhole routing algorithms", IEEE TPDS 7 (1996).
    fn channel_order(&self, fabric: &Fabric) -> Vec<u32> {
        fabric.order_by_levels()
    }

    /// Returns the drawing style of the family.
    fn sketch(&self) -> Sketch<'_> {
        Sketch::Distances
    }

    /// Returns a fabric of the same family that is small enough to be drawn instead, and its description.
    /// Returns `None` if this fabric can be drawn, or if there is no such fabric. `is_large` is set if it has
    /// too many parts to be drawn completely.
    fn small_member(&self, fabric: &Fabric, is_large: bool) -> Option<(Fabric, String)> {
        let _ = (fabric, is_large);
        None
    }
}

/// Fabric whose nodes have several network cards, or links into several parallel networks.
///
/// A message leaves and arrives by cards of the same number: its plane.
pub trait Planes: Send + Sync {
    /// Number of planes.
    fn planes(&self) -> u32;

    /// Returns the fabric in which a rule finds the paths of one plane, or `None` if only the family itself
    /// knows them.
    fn within(&self) -> Option<&Arc<Fabric>>;

    /// Returns the number of a node in that fabric, and the offset of the plane's links.
    fn inside(&self, plane: u32, node: NodeId) -> (NodeId, u32);

    /// Returns true if each plane is a copy of that fabric with links of its own; false if all cards are in
    /// the same copy.
    fn are_apart(&self) -> bool;

    /// Returns the link of a node into a plane.
    fn port(&self, plane: u32, node: NodeId) -> LinkId;

    /// Appends the family's own path within a plane between different nodes, if [`Planes::within`] is `None`.
    fn route_in(&self, plane: u32, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>);
}

/// Family of a graph from a file, without known structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Irregular;

impl Family for Irregular {
    fn kind(&self) -> &'static str {
        "an irregular graph"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        ("irregular", Vec::new())
    }

    fn is_connected(&self) -> bool {
        false
    }

    fn tier_legend(&self, _: u8) -> String {
        String::new()
    }
}

/// Nodes, switches and directed links.
#[derive(Clone, Debug)]
pub struct Fabric {
    name: String,
    nodes: u32,
    switches: u32,
    links: IdVec<LinkId, Link>,
    /// Graph, built when it is first needed; a family's arithmetic does without it.
    graph: OnceLock<DiGraph<(), LinkId>>,
    family: Arc<dyn Family>,
    labels: Labels,
    routes: Option<RouteTable>,
    own: Option<UnsharedLinks>,
    /// Changes of links over time, given by a file.
    timetable: Option<Arc<Timetable>>,
    /// By link: true if it has failed; `None` if no link has failed.
    failed: Option<Arc<IdVec<LinkId, bool>>>,
    /// Original bandwidths of the links that have another bandwidth now.
    built: Option<Arc<BTreeMap<LinkId, Bandwidth>>>,
    /// Bisection, computed when it is first needed.
    bisection: OnceLock<Option<Bisection>>,
    /// Total capacity of the links out of and into each node, computed when it is first needed.
    ends: OnceLock<IdVec<NodeId, (Bandwidth, Bandwidth)>>,
}

/// Names given by a file; families generate theirs.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Name of each vertex; empty if the family names them.
    pub vertices: Vec<String>,
    /// Name of each link; empty if they are named by their ends.
    pub links: Vec<String>,
}

/// Links whose whole bandwidth is available to each message.
#[derive(Clone, Debug)]
struct UnsharedLinks {
    /// By link: true if messages do not share its bandwidth.
    is_own: IdVec<LinkId, bool>,
    /// True if such a link is narrower than all shared links of a route.
    limits: bool,
    /// Capacity that all messages on such a link together never reach \[B/s\].
    ample: Bandwidth,
}

/// Collects the parts of a [`Fabric`].
#[derive(Debug)]
pub struct FabricBuilder {
    fabric: Fabric,
}

impl FabricBuilder {
    /// Creates a builder with these nodes and switches and no links.
    pub fn new(name: impl Into<String>, nodes: u32, switches: u32) -> Self {
        let fabric = Fabric {
            name: name.into(),
            nodes,
            switches,
            links: IdVec::new(),
            graph: OnceLock::new(),
            family: Arc::new(Irregular),
            labels: Labels::default(),
            routes: None,
            own: None,
            timetable: None,
            failed: None,
            built: None,
            bisection: OnceLock::new(),
            ends: OnceLock::new(),
        };
        Self { fabric }
    }

    /// Makes room for `links` more links.
    pub fn reserve(&mut self, links: usize) {
        self.fabric.links.reserve(links);
    }

    /// Adds a link between two vertices; ids are given in order, from 0.
    ///
    /// # Panics
    /// Panics if a vertex does not exist.
    pub fn link(&mut self, from: VertexId, to: VertexId, capacity: Bandwidth, latency: Time, role: LinkRole) -> LinkId {
        let vertices = self.fabric.vertices();
        assert!(from.0 < vertices && to.0 < vertices, "a link from {from} to {to} of {vertices} vertices");
        self.fabric.links.push(Link { ends: Some((from, to)), capacity, latency, role })
    }

    /// Adds links of one use; a function gives the ends of each by its number from 0. Large numbers use all
    /// cores.
    ///
    /// # Panics
    /// As [`FabricBuilder::link`].
    pub fn links(
        &mut self,
        count: u32,
        (capacity, latency, role): (Bandwidth, Time, LinkRole),
        ends: impl Fn(u32) -> (VertexId, VertexId) + Send + Sync,
    ) {
        let vertices = self.fabric.vertices();
        let link = |index| {
            let (from, to) = ends(index as u32);
            assert!(from.0 < vertices && to.0 < vertices, "a link from {from} to {to} of {vertices} vertices");
            Link { ends: Some((from, to)), capacity, latency, role }
        };
        self.fabric.links.append(threads::collect(count as usize, link));
    }

    /// Adds a link that only explicit routes use.
    pub fn loose_link(&mut self, capacity: Bandwidth, latency: Time) -> LinkId {
        self.fabric.links.push(Link { ends: None, capacity, latency, role: LinkRole::Network { tier: 0 } })
    }

    /// Sets names of vertices and links.
    pub fn labels(&mut self, labels: Labels) {
        self.fabric.labels = labels;
    }

    /// Sets explicit routes.
    pub fn routes(&mut self, routes: RouteTable) {
        self.fabric.routes = Some(routes);
    }

    /// Gives each message the whole bandwidth of these links, instead of sharing it. Such a link limits each
    /// message, but messages do not slow each other there. `limits` is set if such a link is narrower than
    /// all shared links of a route.
    pub fn own_links(&mut self, links: impl IntoIterator<Item = LinkId>, limits: bool) {
        let mut is_own = IdVec::filled(self.fabric.links.len(), false);
        links.into_iter().for_each(|link| is_own[link] = true);
        let all = self.fabric.links.iter_ids();
        let sum: Bandwidth = all.filter(|(id, _)| limits || !is_own[*id]).map(|(_, link)| link.capacity).sum();
        // If shared links limit all routes, messages take at most the capacity of these together; otherwise a factor
        // makes it far more than messages that fit in memory take together.
        let times = if limits { 1e9 } else { 1.0 };
        let ample = Bandwidth::from_bytes_per_second(times * sum.bytes_per_second());
        self.fabric.own = Some(UnsharedLinks { is_own, limits, ample });
    }

    /// Sets the changes of links over time, such as profiles given by a file.
    pub fn timetable(&mut self, timetable: Timetable) {
        self.fabric.timetable = Some(Arc::new(timetable)).filter(|timetable| !timetable.is_empty());
    }

    /// Returns the finished fabric, of this family ([`Irregular`] if only the graph is known).
    pub fn finish(self, family: impl Family) -> Fabric {
        self.finish_as(Arc::new(family))
    }

    /// Returns the finished fabric, of a family that another fabric may share.
    pub fn finish_as(mut self, family: Arc<dyn Family>) -> Fabric {
        self.fabric.family = family;
        self.fabric
    }
}

impl Fabric {
    /// Returns the name of the fabric for users: `fat-tree p=12`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Number of switches.
    pub fn switches(&self) -> u32 {
        self.switches
    }

    /// Number of nodes and switches.
    pub fn vertices(&self) -> u32 {
        self.nodes + self.switches
    }

    /// Returns all node ids.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes).map(NodeId)
    }

    /// Returns the links, by id.
    pub fn links(&self) -> &IdVec<LinkId, Link> {
        &self.links
    }

    /// Returns one link.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id]
    }

    /// Returns true if each message has the whole bandwidth of this link (a `FATPIPE` of SimGrid's
    /// platforms).
    pub fn is_own(&self, link: LinkId) -> bool {
        self.own.as_ref().is_some_and(|own| own.is_own[link])
    }

    /// Returns true if such a link is narrower than all shared links of a route, so that it limits each
    /// message there.
    pub fn limits_messages(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.limits)
    }

    /// Returns the bandwidth of a link that messages share: its capacity, or more than they can use if they
    /// do not share it.
    pub fn shared_capacity(&self, link: LinkId) -> Bandwidth {
        match &self.own {
            Some(own) if own.is_own[link] => own.ample,
            _ => self.links[link].capacity,
        }
    }

    /// Returns the shared capacities of all links \[B/s\].
    pub fn shared_capacities(&self) -> Vec<f64> {
        self.links.ids().map(|link| self.shared_capacity(link).bytes_per_second()).collect()
    }

    /// Returns the graph: vertex indices are [`VertexId`]s, edge weights are [`LinkId`]s. Failed links are
    /// not edges.
    ///
    /// It is built when it is first needed and takes 20 bytes a link.
    pub fn graph(&self) -> &DiGraph<(), LinkId> {
        self.graph.get_or_init(|| {
            let mut graph = DiGraph::with_capacity(self.vertices() as usize, self.links.len());
            (0..self.vertices()).for_each(|_| {
                graph.add_node(());
            });
            for (id, link) in self.links.iter_ids().filter(|&(id, _)| !self.has_failed(id)) {
                if let Some((from, to)) = link.ends {
                    graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), id);
                }
            }
            graph
        })
    }

    /// Returns the total capacity of the links out of, and into, a node \[B/s\].
    pub fn capacity_of(&self, node: NodeId) -> (Bandwidth, Bandwidth) {
        self.ends.get_or_init(|| self.sums_of_ends())[node]
    }

    fn sums_of_ends(&self) -> IdVec<NodeId, (Bandwidth, Bandwidth)> {
        let mut sums = IdVec::filled(self.nodes as usize, (Bandwidth::default(), Bandwidth::default()));
        let add = |sum: &mut Bandwidth, capacity| *sum = [*sum, capacity].into_iter().sum();
        // (From the last to the first, as the graph has the edges of a vertex.)
        for id in (0..self.links.len() as u32).rev().map(LinkId).filter(|&id| !self.has_failed(id)) {
            let Link { ends, capacity, .. } = self.links[id];
            let Some((from, to)) = ends else { continue };
            if from.0 < self.nodes {
                add(&mut sums[NodeId(from.0)].0, capacity);
            }
            if to.0 < self.nodes {
                add(&mut sums[NodeId(to.0)].1, capacity);
            }
        }
        sums
    }

    /// Returns the fabric's family.
    pub fn family(&self) -> &dyn Family {
        &*self.family
    }

    /// Returns the fabric's family, shared.
    pub fn shared_family(&self) -> Arc<dyn Family> {
        Arc::clone(&self.family)
    }

    /// Returns the fabric's structure if it is of this family, for rules that use its arithmetic, which ask
    /// once.
    pub fn family_as<F: Family>(&self) -> Option<&F> {
        (&*self.family as &dyn Any).downcast_ref()
    }

    /// Returns the fabric's structure if it is of this family, shared.
    pub fn shared_family_as<F: Family>(&self) -> Option<Arc<F>> {
        (self.shared_family() as Arc<dyn Any + Send + Sync>).downcast().ok()
    }

    /// Returns the group of each switch, by the switch's number from 0 after the nodes; `None` if the family
    /// has no groups.
    ///
    /// Groups are numbered from 0 without gaps.
    pub fn groups(&self) -> Option<&[u32]> {
        self.family.groups()
    }

    /// Returns the group of each node for the placement of jobs, or `None` if there are no groups.
    ///
    /// It is the group of the node's switch ([`Fabric::groups`]), on a tree the subtree below the top
    /// switches, and on rails the scalable unit.
    pub fn node_groups(&self) -> Option<Vec<u32>> {
        self.family.node_groups(self)
    }

    /// Returns the routes given by the fabric's own file, if there are any.
    pub fn routes(&self) -> Option<&RouteTable> {
        self.routes.as_ref()
    }

    /// Returns the changes of links over time, if the fabric's own file gives them.
    pub fn timetable(&self) -> Option<&Timetable> {
        self.timetable.as_deref()
    }

    /// Returns the name of a node or switch.
    pub fn vertex_name(&self, vertex: VertexId) -> String {
        match self.labels.vertices.get(vertex.index()) {
            Some(name) => name.clone(),
            None if vertex.0 < self.nodes => format!("node {vertex}"),
            None => self.family.switch_name(vertex.0 - self.nodes),
        }
    }

    /// Returns the name of a link: its own, or `from -> to`.
    pub fn link_name(&self, link: LinkId) -> String {
        match (self.labels.links.get(link.index()), self.links[link].ends) {
            (Some(name), _) => name.clone(),
            (None, Some((from, to))) => format!("{} -> {}", self.vertex_name(from), self.vertex_name(to)),
            (None, None) => format!("link {link}"),
        }
    }

    /// Returns a path by its vertices: `node 0 -> switch 0 -> switch 1 #2`. The second of parallel links is `#2`.
    pub fn path_name(&self, path: &[LinkId]) -> String {
        let mut text = String::new();
        for &link in path {
            let Some((from, to)) = self.links[link].ends else { return self.link_name(link) };
            if text.is_empty() {
                text = self.vertex_name(from);
            }
            text = format!("{text} -> {}", self.vertex_name(to));
            let parallel = named_links::links_between(self, from, to);
            if let (Some(at), 2..) = (parallel.iter().position(|&other| other == link), parallel.len()) {
                text = format!("{text} #{}", at + 1);
            }
        }
        text
    }

    /// Returns the names of all links, by id; each vertex is named once.
    pub fn link_names(&self) -> Vec<String> {
        let vertices: Vec<String> = (0..self.nodes + self.switches).map(|v| self.vertex_name(VertexId(v))).collect();
        self.links.ids().map(|link| self.link_name_of(link, &vertices)).collect()
    }

    /// Returns the name of a link, given those of all vertices.
    pub fn link_name_of(&self, link: LinkId, vertices: &[String]) -> String {
        match (self.labels.links.get(link.index()), self.links[link].ends) {
            (None, Some((from, to))) => [&*vertices[from.index()], &*vertices[to.index()]].join(" -> "),
            _ => self.link_name(link),
        }
    }

    /// Returns the vertex of the switch to which a node is attached: nodes with the same number share a leaf.
    /// On grids, and without an adjacent switch, it is the node itself; with several switches, the one with
    /// the lowest number.
    pub fn leaf_of(&self, node: NodeId) -> u32 {
        self.family.leaf(self, node)
    }

    /// Returns the vertex of the lowest switch that a link joins with a node, or the node's if there is none.
    pub fn lowest_switch_of(&self, node: NodeId) -> u32 {
        let neighbours = self.graph().neighbors(NodeIndex::new(node.index())).map(|vertex| vertex.index() as u32);
        neighbours.filter(|&vertex| vertex >= self.nodes).min().unwrap_or(node.0)
    }

    /// Returns true for each vertex that messages may cross: switches, and nodes that sit on network links.
    pub fn crossable(&self) -> Vec<bool> {
        let mut open: Vec<bool> = (0..self.vertices()).map(|vertex| vertex >= self.nodes).collect();
        for link in self.links.iter() {
            if let (LinkRole::Network { .. }, Some((from, to))) = (link.role, link.ends) {
                open[from.index()] = true;
                open[to.index()] = true;
            }
        }
        open
    }

    /// Returns the sum of the latencies of a route \[ps\].
    pub fn latency(&self, route: &[LinkId]) -> Time {
        route.iter().map(|&link| self.links[link].latency).sum()
    }
}

impl fmt::Display for Fabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        write!(
            f,
            "{} ({}, {}, {})",
            self.name,
            plural(self.nodes as usize, "node", "nodes"),
            plural(self.switches as usize, "switch", "switches"),
            plural(self.links.len(), "link", "links")
        )
    }
}
