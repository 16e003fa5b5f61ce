//! The fabric: nodes, switches and the directed links between them.
//!
//! A [`Fabric`] is a directed graph (petgraph) whose vertices are the nodes, numbered first, and the switches, and
//! whose edges are the links. A cable used in both directions at once is two links. Families of fabrics are built
//! in [`crate::topology`]; what one knows of itself (names, groups, bounds, how it is drawn, which rule routes on it) is the fabric's [`Family`].

mod bisection;
mod bounds;
mod build;
mod failed;
mod families;
mod grid;
mod max_flow;
mod routes;
mod sketch;
mod timetable;
mod tree;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use petgraph::graph::{DiGraph, NodeIndex};

use crate::ids::{Id, IdVec, LinkId, NodeId, VertexId};
use crate::units::{Bandwidth, Time};

pub use bisection::Bisection;
pub use grid::{CrossbarGrid, Grid};
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

    /// Links of the longest of the shortest routes (see [`Fabric::diameter`]); searched for, if nothing is known.
    fn diameter(&self, fabric: &Fabric) -> Option<u32> {
        fabric.search_diameter()
    }

    /// The cut in two halves, of at least two nodes (see [`Fabric::bisection`]); searched for, if nothing is known.
    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        fabric.search_bisection()
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

    /// The links that form rings, on which packets could wait for each other in a circle.
    fn rings(&self) -> Vec<Ring> {
        Vec::new()
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
    graph: DiGraph<(), LinkId>,
    family: Arc<dyn Family>,
    labels: Labels,
    routes: Option<RouteTable>,
    /// What a file says of links over time.
    timetable: Option<Arc<Timetable>>,
    /// By link, where any has failed.
    failed: Option<Arc<IdVec<LinkId, bool>>>,
    /// Worked out when it is first asked for.
    bisection: OnceLock<Option<Bisection>>,
}

/// Names given by a file; families make theirs up.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// By vertex; empty where the family names them.
    pub vertices: Vec<String>,
    /// By link; empty where they are named by their ends.
    pub links: Vec<String>,
}

/// Collects the parts of a [`Fabric`].
#[derive(Debug)]
pub struct FabricBuilder {
    fabric: Fabric,
}

impl FabricBuilder {
    /// Starts with so many nodes and switches and no links.
    pub fn new(name: impl Into<String>, nodes: u32, switches: u32) -> Self {
        let mut graph = DiGraph::with_capacity((nodes + switches) as usize, 0);
        for _ in 0..nodes + switches {
            graph.add_node(());
        }
        let fabric = Fabric {
            name: name.into(),
            nodes,
            switches,
            links: IdVec::new(),
            graph,
            family: Arc::new(Irregular),
            labels: Labels::default(),
            routes: None,
            timetable: None,
            failed: None,
            bisection: OnceLock::new(),
        };
        Self { fabric }
    }

    /// Adds a link between two vertices; ids are given in order, from 0.
    pub fn link(&mut self, from: VertexId, to: VertexId, capacity: Bandwidth, latency: Time, role: LinkRole) -> LinkId {
        let id = self.fabric.links.push(Link { ends: Some((from, to)), capacity, latency, role });
        self.fabric.graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), id);
        id
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

    /// The graph: vertex indices are [`VertexId`]s, edge weights are [`LinkId`]s.
    pub fn graph(&self) -> &DiGraph<(), LinkId> {
        &self.graph
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

    /// The vertex of the switch on which a node hangs: nodes with the same number share a leaf. On grids, and where no
    /// switch is next to it, the node itself; where there are several switches, the one with the lowest number.
    pub fn leaf_of(&self, node: NodeId) -> u32 {
        self.family.leaf(self, node)
    }

    /// The switch with the lowest number that a link joins with a node: its vertex, or the node's where there is none.
    pub fn lowest_switch_of(&self, node: NodeId) -> u32 {
        let neighbours = self.graph.neighbors(NodeIndex::new(node.index())).map(|vertex| vertex.index() as u32);
        neighbours.filter(|&vertex| vertex >= self.nodes).min().unwrap_or(node.0)
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
