//! The fabric: nodes, switches and the directed links between them.
//!
//! A [`Fabric`] is a directed graph (petgraph) whose vertices are the nodes, numbered first, and the switches, and
//! whose edges are the links. A cable used in both directions at once is two links. Families of fabrics are built
//! in [`crate::topology`]; what one knows of itself (names, groups, bounds, how it is drawn, which rule routes on it)
//! is the fabric's [`Family`].

mod bisection;
mod bounds;
mod build;
mod channels;
mod failed;
mod families;
mod grid;
mod lattice;
mod max_flow;
mod partition;
mod routes;
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
pub use families::leading_half;
pub use grid::{CrossbarGrid, Grid};
pub use lattice::{Lattice, Step};
pub use routes::RouteTable;
pub use sketch::{Fact, LinkGroup, Ring, Sketch, dimension_name};
pub use timetable::{Agenda, LinkChange, LinkStates, Timetable, Track};
pub use tree::{Tree, TreeLink};

/// What a link is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkRole {
    /// From a node into the network.
    Injection,
    /// Out of the network to a node.
    Ejection,
    /// Inside the network. `tier` is the dimension of a grid, the level of a tree (1: between the
    /// switches next to the nodes and those above), 0 elsewhere.
    Network {
        /// Dimension or level.
        tier: u8,
    },
}

/// A directed link.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Where it starts and ends; `None` for a link of a custom fabric that is known by its routes alone.
    pub ends: Option<(VertexId, VertexId)>,
    /// What it can carry \[B/s\]: the smaller of the cable's bandwidth and the output port's.
    pub capacity: Bandwidth,
    /// What it adds to the time of each message that crosses it \[ps\].
    pub latency: Time,
    /// What it is for.
    pub role: LinkRole,
}

/// What a family of fabrics knows of itself.
///
/// The file of a family implements it beside the specification that builds its fabrics, and nobody asks a fabric which
/// family it is, but routing rules that do its arithmetic ([`Fabric::family_as`], once, when they are built). All but
/// its kind and its facts has an answer that fits any graph.
pub trait Family: Any + fmt::Debug + Send + Sync {
    /// What it is, for messages: `a tree`.
    fn kind(&self) -> &'static str;

    /// What it is and its numbers, for programs: `tree`, and `down`, `up`, `parallel`.
    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>);

    /// Whether every node reaches every other over host links by construction; a graph from a file may not.
    fn is_connected(&self) -> bool {
        true
    }

    /// The name of the switch with this number (from 0 above the nodes).
    fn switch_name(&self, switch: u32) -> String {
        format!("switch {switch}")
    }

    /// What links of this tier are, in a table: `between levels 1 and 2`.
    fn tier_name(&self, tier: u8) -> String {
        let _ = tier;
        "network".to_owned()
    }

    /// The same after "8 links" in the legend of a picture.
    fn tier_legend(&self, tier: u8) -> String {
        self.tier_name(tier)
    }

    /// All links in the order in which a message may cross them, those together that do the same for different nodes.
    fn link_groups(&self, fabric: &Fabric) -> Vec<LinkGroup> {
        fabric.links_by_role()
    }

    /// The vertex of the switch on which a node hangs (see [`Fabric::leaf_of`]).
    fn leaf(&self, fabric: &Fabric, node: NodeId) -> u32 {
        fabric.lowest_switch_of(node)
    }

    /// The group of each switch (see [`Fabric::groups`]).
    fn groups(&self) -> Option<&[u32]> {
        None
    }

    /// By node its group (see [`Fabric::node_groups`]): that of its switch, where switches have groups.
    fn node_groups(&self, fabric: &Fabric) -> Option<Vec<u32>> {
        let groups = self.groups()?;
        let of = |node: NodeId| groups.get(fabric.leaf_of(node).checked_sub(fabric.nodes())? as usize).copied();
        fabric.node_ids().map(of).collect()
    }

    /// Links of the longest of the shortest routes (see [`Fabric::diameter`]); searched for, if nothing is known.
    fn diameter(&self, fabric: &Fabric) -> Option<u32> {
        fabric.search_diameter()
    }

    /// The halves between which links carry least, of at least two nodes (see [`Fabric::bisection`]); searched for, if
    /// nothing is known.
    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        fabric.search_bisection(fabric.lower_half())
    }

    /// The name of the rule that routes on it where none is asked for.
    fn default_routing(&self) -> &'static str {
        "shortest-path"
    }

    /// Whether it works out routes of its own ([`Family::route`]).
    fn has_routes(&self) -> bool {
        false
    }

    /// Appends the links from one node to another, different one by the family's own minimal rule, always the same for
    /// the same pair, where [`Family::has_routes`].
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let _ = (src, dst, route);
    }

    /// Its switches as points with coordinates, where they have any.
    fn lattice(&self) -> Option<&dyn Lattice> {
        None
    }

    /// The planes among which a message takes one, where nodes have several cards.
    fn planes(&self) -> Option<&dyn Planes> {
        None
    }

    /// Whether a link that leaves a node leads into the network, and counts to what the node can send there.
    fn leads_into_network(&self, link: LinkId) -> bool {
        let _ = link;
        true
    }

    /// The links that form rings, on which packets could wait for each other in a circle.
    fn rings(&self) -> Vec<Ring> {
        Vec::new()
    }

    /// By link: its rank in an order that the routes of the family's usual rules ascend, or nearly.
    ///
    /// A packet changes to the next class of virtual channels where its route does not ascend. So class and rank
    /// together ascend along every route whatever it is, no channels can wait for each other in a circle, and the
    /// better the order, the fewer classes are needed. Links into the network have rank 0, links out of it `u32::MAX`.
    /// Where all others are equal, the class of a channel is the number of links between switches that a packet has
    /// crossed.
    ///
    /// Source: K. Günther, "Prevention of deadlocks in packet-switched data transport systems", IEEE Trans. Commun. 29
    /// (1981); classes that change where a route descends: the negative hops of R. Boppana, S. Chalasani, "A framework
    /// for designing deadlock-free wormhole routing algorithms", IEEE TPDS 7 (1996).
    fn channel_order(&self, fabric: &Fabric) -> Vec<u32> {
        fabric.order_by_levels()
    }

    /// How it is drawn.
    fn sketch(&self) -> Sketch<'_> {
        Sketch::Distances
    }

    /// A fabric of the same family that is small enough to be drawn instead, and what it is; `None` where this one can
    /// be drawn, or where there is none. `is_large`: it has too many parts to be drawn whole.
    fn small_member(&self, fabric: &Fabric, is_large: bool) -> Option<(Fabric, String)> {
        let _ = (fabric, is_large);
        None
    }
}

/// A fabric whose nodes have several network cards, or links into several networks side by side.
///
/// A message goes in and out by cards of the same number: its plane.
pub trait Planes: Send + Sync {
    /// Number of planes.
    fn planes(&self) -> u32;

    /// The fabric in which a rule finds the ways of one plane; `None` where only the family itself knows them.
    fn within(&self) -> Option<&Arc<Fabric>>;

    /// A node as that fabric has it, and by how much the links of the plane are numbered higher here.
    fn inside(&self, plane: u32, node: NodeId) -> (NodeId, u32);

    /// Whether each plane is a copy of that fabric with links of its own; else all nodes' cards are in the one.
    fn are_apart(&self) -> bool;

    /// The link of a node into a plane.
    fn port(&self, plane: u32, node: NodeId) -> LinkId;

    /// Appends the family's own way within a plane between different nodes, where [`Planes::within`] is `None`.
    fn route_in(&self, plane: u32, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>);
}

/// No family that is known: a graph from a file.
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
    /// Made when it is first asked for: what families' arithmetic answers needs none.
    graph: OnceLock<DiGraph<(), LinkId>>,
    family: Arc<dyn Family>,
    labels: Labels,
    routes: Option<RouteTable>,
    own: Option<Own>,
    /// What a file says of links over time.
    timetable: Option<Arc<Timetable>>,
    /// By link, where any has failed.
    failed: Option<Arc<IdVec<LinkId, bool>>>,
    /// What links were built for that carry another bandwidth now.
    built: Option<Arc<BTreeMap<LinkId, Bandwidth>>>,
    /// Worked out when it is first asked for.
    bisection: OnceLock<Option<Bisection>>,
    /// By node: what its links out, and its links in, carry together; the same.
    ends: OnceLock<IdVec<NodeId, (Bandwidth, Bandwidth)>>,
}

/// Names given by a file; families make theirs up.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// By vertex; empty where the family names them.
    pub vertices: Vec<String>,
    /// By link; empty where they are named by their ends.
    pub links: Vec<String>,
}

/// Links of which each message has the bandwidth to itself.
#[derive(Clone, Debug)]
struct Own {
    /// By link.
    is_own: IdVec<LinkId, bool>,
    /// Whether one is narrower than all shared links of a route.
    limits: bool,
    /// More than all messages together ever take of one \[B/s\].
    ample: Bandwidth,
}

/// Collects the parts of a [`Fabric`].
#[derive(Debug)]
pub struct FabricBuilder {
    fabric: Fabric,
}

impl FabricBuilder {
    /// Starts with so many nodes and switches and no links.
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

    /// Makes room for so many links more.
    pub fn reserve(&mut self, links: usize) {
        self.fabric.links.reserve(links);
    }

    /// Adds a link between two vertices; ids are given in order, from 0.
    ///
    /// # Panics
    /// Where there is no such vertex.
    pub fn link(&mut self, from: VertexId, to: VertexId, capacity: Bandwidth, latency: Time, role: LinkRole) -> LinkId {
        let vertices = self.fabric.vertices();
        assert!(from.0 < vertices && to.0 < vertices, "a link from {from} to {to} of {vertices} vertices");
        self.fabric.links.push(Link { ends: Some((from, to)), capacity, latency, role })
    }

    /// Adds so many links of one use, the ends of each by its number from 0: by all cores where they are many.
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

    /// Gives the parts names of their own.
    pub fn labels(&mut self, labels: Labels) {
        self.fabric.labels = labels;
    }

    /// Gives explicit routes.
    pub fn routes(&mut self, routes: RouteTable) {
        self.fabric.routes = Some(routes);
    }

    /// Each message has the bandwidth of these links to itself, instead of sharing it: a limit for each message, and
    /// nothing that messages hold each other back by. `limits`: whether one is narrower than all shared links of a
    /// route.
    pub fn own_links(&mut self, links: impl IntoIterator<Item = LinkId>, limits: bool) {
        let mut is_own = IdVec::filled(self.fabric.links.len(), false);
        links.into_iter().for_each(|link| is_own[link] = true);
        let all = self.fabric.links.iter_ids();
        let sum: Bandwidth = all.filter(|(id, _)| limits || !is_own[*id]).map(|(_, link)| link.capacity).sum();
        // Where all routes are held back by links that are shared, no more than these carry; else far more than
        // messages that fit in memory take together.
        let times = if limits { 1e9 } else { 1.0 };
        let ample = Bandwidth::from_bytes_per_second(times * sum.bytes_per_second());
        self.fabric.own = Some(Own { is_own, limits, ample });
    }

    /// Says what happens to links over time: profiles that a file brings along.
    pub fn timetable(&mut self, timetable: Timetable) {
        self.fabric.timetable = Some(Arc::new(timetable)).filter(|timetable| !timetable.is_empty());
    }

    /// The finished fabric, of this family ([`Irregular`] where nothing is known but the graph).
    pub fn finish(self, family: impl Family) -> Fabric {
        self.finish_as(Arc::new(family))
    }

    /// The finished fabric, of a family that another fabric may share.
    pub fn finish_as(mut self, family: Arc<dyn Family>) -> Fabric {
        self.fabric.family = family;
        self.fabric
    }
}

impl Fabric {
    /// What it is, for people: `fat-tree p=12`.
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

    /// All node ids.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes).map(NodeId)
    }

    /// The links, by id.
    pub fn links(&self) -> &IdVec<LinkId, Link> {
        &self.links
    }

    /// One link.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id]
    }

    /// Whether each message has the bandwidth of this link to itself (a `FATPIPE` of SimGrid's platforms).
    pub fn is_own(&self, link: LinkId) -> bool {
        self.own.as_ref().is_some_and(|own| own.is_own[link])
    }

    /// Whether such a link is narrower than all shared links of a route, so that it is a limit for each message there.
    pub fn limits_messages(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.limits)
    }

    /// What messages share of a link: its capacity, or more than they can take where each has that to itself.
    pub fn shared_capacity(&self, link: LinkId) -> Bandwidth {
        match &self.own {
            Some(own) if own.is_own[link] => own.ample,
            _ => self.links[link].capacity,
        }
    }

    /// The same of all links \[B/s\].
    pub fn shared_capacities(&self) -> Vec<f64> {
        self.links.ids().map(|link| self.shared_capacity(link).bytes_per_second()).collect()
    }

    /// The graph: vertex indices are [`VertexId`]s, edge weights are [`LinkId`]s. What has failed is no edge.
    ///
    /// Made when it is first asked for, which takes 20 bytes a link.
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

    /// What all links out of, and into, a node carry together \[B/s\].
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

    /// What its family knows of it.
    pub fn family(&self) -> &dyn Family {
        &*self.family
    }

    /// The same, to be kept.
    pub fn shared_family(&self) -> Arc<dyn Family> {
        Arc::clone(&self.family)
    }

    /// Its structure, where it is of this family: for rules that do its arithmetic, and ask once.
    pub fn family_as<F: Family>(&self) -> Option<&F> {
        (&*self.family as &dyn Any).downcast_ref()
    }

    /// The same, to be kept.
    pub fn shared_family_as<F: Family>(&self) -> Option<Arc<F>> {
        (self.shared_family() as Arc<dyn Any + Send + Sync>).downcast().ok()
    }

    /// The group of each switch, by the switch's number from 0 above the nodes; `None` where the family has no groups.
    ///
    /// Groups are numbered from 0 without gaps.
    pub fn groups(&self) -> Option<&[u32]> {
        self.family.groups()
    }

    /// By node: the group to which it belongs where nodes are given to jobs. That of its switch ([`Fabric::groups`]),
    /// of a tree what hangs together below its top switches, of rails the scalable unit; `None` where there is no such
    /// thing.
    pub fn node_groups(&self) -> Option<Vec<u32>> {
        self.family.node_groups(self)
    }

    /// The routes that the fabric's own file gives, if it does.
    pub fn routes(&self) -> Option<&RouteTable> {
        self.routes.as_ref()
    }

    /// What happens to links over time, where the fabric's own file says it.
    pub fn timetable(&self) -> Option<&Timetable> {
        self.timetable.as_deref()
    }

    /// The name of a node or switch.
    pub fn vertex_name(&self, vertex: VertexId) -> String {
        match self.labels.vertices.get(vertex.index()) {
            Some(name) => name.clone(),
            None if vertex.0 < self.nodes => format!("node {vertex}"),
            None => self.family.switch_name(vertex.0 - self.nodes),
        }
    }

    /// The name of a link: its own, or `from -> to`.
    pub fn link_name(&self, link: LinkId) -> String {
        match (self.labels.links.get(link.index()), self.links[link].ends) {
            (Some(name), _) => name.clone(),
            (None, Some((from, to))) => format!("{} -> {}", self.vertex_name(from), self.vertex_name(to)),
            (None, None) => format!("link {link}"),
        }
    }

    /// The names of all links, by id: each vertex is named once.
    pub fn link_names(&self) -> Vec<String> {
        let vertices: Vec<String> = (0..self.nodes + self.switches).map(|v| self.vertex_name(VertexId(v))).collect();
        self.links.ids().map(|link| self.link_name_of(link, &vertices)).collect()
    }

    /// The name of a link, with those of all vertices at hand.
    pub fn link_name_of(&self, link: LinkId, vertices: &[String]) -> String {
        match (self.labels.links.get(link.index()), self.links[link].ends) {
            (None, Some((from, to))) => [&*vertices[from.index()], &*vertices[to.index()]].join(" -> "),
            _ => self.link_name(link),
        }
    }

    /// The vertex of the switch on which a node hangs: nodes with the same number share a leaf. On grids, and where no
    /// switch is next to it, the node itself; where there are several switches, the one with the lowest number.
    pub fn leaf_of(&self, node: NodeId) -> u32 {
        self.family.leaf(self, node)
    }

    /// The switch with the lowest number that a link joins with a node: its vertex, or the node's where there is none.
    pub fn lowest_switch_of(&self, node: NodeId) -> u32 {
        let neighbours = self.graph().neighbors(NodeIndex::new(node.index())).map(|vertex| vertex.index() as u32);
        neighbours.filter(|&vertex| vertex >= self.nodes).min().unwrap_or(node.0)
    }

    /// Returns by vertex true for those that messages may cross: switches, and nodes that sit on network links.
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

    /// Sum of the latencies of a route \[ps\].
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
