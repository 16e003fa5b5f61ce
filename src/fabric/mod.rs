//! The fabric: nodes, switches and the directed links between them.
//!
//! A [`Fabric`] is a directed graph (petgraph) whose vertices are the nodes, numbered first, and the switches, and
//! whose edges are the links. A cable used in both directions at once is two links. Families of fabrics are built
//! in [`crate::topology`]; what they know about their regular structure, so that routes can be computed instead of
//! stored, is the fabric's [`Shape`].

mod bisection;
mod bounds;
mod build;
mod grid;
mod max_flow;
mod routes;
mod shape;
mod tree;

use std::fmt;
use std::sync::OnceLock;

use petgraph::graph::{DiGraph, NodeIndex};

use crate::ids::{Id, IdVec, LinkId, NodeId, VertexId};
use crate::units::{Bandwidth, Time};

pub use bisection::Bisection;
pub use grid::{CrossbarGrid, Grid};
pub use routes::RouteTable;
pub use shape::Shape;
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

/// Nodes, switches and directed links.
#[derive(Clone, Debug)]
pub struct Fabric {
    name: String,
    nodes: u32,
    switches: u32,
    links: IdVec<LinkId, Link>,
    graph: DiGraph<(), LinkId>,
    shape: Shape,
    labels: Labels,
    routes: Option<RouteTable>,
    /// By switch, from 0 above the nodes; empty where there are no groups.
    groups: Vec<u32>,
    /// Worked out when it is first asked for.
    bisection: OnceLock<Option<Bisection>>,
}

/// Names given by a file; families make theirs up from the shape.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// By vertex; empty where the shape names them.
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
            shape: Shape::Irregular,
            labels: Labels::default(),
            routes: None,
            groups: Vec::new(),
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

    /// Says in which group each switch is, by its number from 0 above the nodes.
    pub fn groups(&mut self, groups: Vec<u32>) {
        self.fabric.groups = groups;
    }

    /// The finished fabric.
    pub fn finish(mut self, shape: Shape) -> Fabric {
        self.fabric.shape = shape;
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

    /// The regular structure behind it.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The routes that the fabric's own file gives, if it does.
    pub fn routes(&self) -> Option<&RouteTable> {
        self.routes.as_ref()
    }

    /// The group of each switch, by its number from 0 above the nodes, where the family has groups: those of a
    /// dragonfly.
    pub fn groups(&self) -> Option<&[u32]> {
        (!self.groups.is_empty()).then_some(&*self.groups)
    }

    /// The name of a node or switch.
    pub fn vertex_name(&self, vertex: VertexId) -> String {
        match self.labels.vertices.get(vertex.index()) {
            Some(name) => name.clone(),
            None if vertex.0 < self.nodes => format!("node {vertex}"),
            None => self.shape.switch_name(vertex.0 - self.nodes),
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
        match &self.shape {
            Shape::Tree(tree) => tree.leaf(node).0,
            Shape::Grid(_) | Shape::CrossbarGrid(_) => node.0,
            Shape::Irregular => {
                let neighbours = self.graph.neighbors(NodeIndex::new(node.index())).map(|vertex| vertex.index() as u32);
                neighbours.filter(|&vertex| vertex >= self.nodes).min().unwrap_or(node.0)
            }
        }
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
