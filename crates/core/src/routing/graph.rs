//! Shortest paths over any graph of switches, shared by the rules without a regular structure.

use std::fmt;
use std::sync::{Arc, OnceLock};

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::field::{Field, Width};
use crate::diagnostic::Diagnostic;
pub(super) use crate::fabric::PathEnd as Target;
use crate::fabric::{Fabric, Family};
use crate::ids::{Id, LinkId, NodeId, VertexId};

/// Value for no link, no group or no path.
pub(super) const NONE: u32 = u32::MAX;

/// Most memory of all tables together \[B\].
const MOST_MEMORY: u64 = 16 << 30;

/// Additional cost of a link between groups: more than that of any path within groups.
pub(super) const BETWEEN_GROUPS: u32 = 1 << 16;

/// Link out of a place, or into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceLink {
    pub link: u32,
    /// Place at the other end.
    pub place: u32,
    /// Position among the links out of the place where the link starts.
    pub port: u16,
    crosses: bool,
}

impl PlaceLink {
    /// Returns the cost of the link: 1, and more between groups.
    #[inline]
    pub fn cost(&self) -> u32 {
        if self.crosses { 1 + BETWEEN_GROUPS } else { 1 }
    }
}

/// Connection of a node to the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeConnection {
    /// Place from which the node's messages go on, and at which those for it arrive.
    pub place: u32,
    /// Links from the node to the place and back; `NONE` if the node is that place itself.
    pub up: u32,
    pub down: u32,
}

/// Places of a fabric where paths branch, with the links between them.
///
/// A *place* is a switch, a node that sits on network links, or a node that is not joined to one switch by
/// one link each way. All other nodes share the place of their switch, so memory grows with the square of the
/// switches, not of the nodes.
///
/// A *shortest* path has the fewest links; if switches are in groups, the fewest links between groups come
/// first. On a dragonfly that is the usual minimal route: a link, the cable to the other group, a link. With
/// the fewest links alone, a path would take two cables through a third group where that saves a link.
///
/// The distances from all places to a target are computed when they are first needed: 4 bytes a pair of
/// places, and the same or twice as much for the links that lead on (`ahead`). Nothing is stored for nodes
/// that are places but that no message crosses.
pub(super) struct Graph {
    pub fabric: Arc<Fabric>,
    /// Connection of each node.
    homes: Vec<NodeConnection>,
    /// Vertex of each place.
    vertices: Vec<VertexId>,
    /// By place: true if messages may cross it on their way.
    open: Vec<bool>,
    /// Start of the links out of each place, and the end of the last ones.
    out_starts: Vec<u32>,
    out: Vec<PlaceLink>,
    into_starts: Vec<u32>,
    into: Vec<PlaceLink>,
    /// Group of each place; empty if there are none.
    groups: Vec<u32>,
    group_count: u32,
    /// First place that messages may cross: nothing is stored for those before it.
    pub first_open: u32,
    /// Width of the stored sets of links that lead closer.
    pub width: Width,
    pub to_place: Vec<OnceLock<Field>>,
    pub to_group: Vec<OnceLock<Field>>,
    /// Family that computes the shortest paths of the fabric, if there is one. Its switches are the places.
    pub by_family: Option<Arc<dyn Family>>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("fabric", &self.fabric.name()).finish_non_exhaustive()
    }
}

impl Graph {
    /// Finds the places of a fabric.
    ///
    /// # Errors
    /// Fails if links have no ends, or if the tables do not fit in memory.
    pub fn new(fabric: &Arc<Fabric>) -> Result<Self, Vec<Diagnostic>> {
        if fabric.links().iter().any(|link| link.ends.is_none()) {
            let message = format!("links of `{}` have no ends, so that there are no paths to search", fabric.name());
            return Err(no_ends(message));
        }
        let nodes = fabric.nodes() as usize;
        let (graph, open) = (fabric.graph(), fabric.crossable());
        let only = |node: usize, direction| {
            let mut edges = graph.edges_directed(NodeIndex::new(node), direction);
            edges.next().filter(|_| edges.next().is_none())
        };
        // The only switch that a node is attached to, and the links to it and back.
        let hangs_on = |node: usize| {
            let (up, down) = (only(node, Outgoing)?, only(node, Incoming)?);
            let switch = up.target().index();
            (!open[node] && open[switch] && down.source().index() == switch).then_some((
                switch,
                *up.weight(),
                *down.weight(),
            ))
        };
        let hanging: Vec<_> = (0..nodes).map(hangs_on).collect();
        let mut place_of = vec![NONE; graph.node_count()];
        let mut vertices = Vec::new();
        for (vertex, place) in place_of.iter_mut().enumerate() {
            if hanging.get(vertex).is_none_or(Option::is_none) {
                *place = vertices.len() as u32;
                vertices.push(VertexId::from_index(vertex));
            }
        }
        let first_open = vertices.iter().position(|vertex| open[vertex.index()]).unwrap_or(vertices.len());
        let opened = vertices.iter().filter(|vertex| open[vertex.index()]).count() as u64;
        let kept = (vertices.len() - first_open) as u64;
        let memory = opened * kept * 4;
        if memory > MOST_MEMORY || vertices.len() >= BETWEEN_GROUPS as usize {
            let help = "use a routing rule of the topology, which needs no tables (`d-mod-k`, `dimension-order`)";
            return Err(too_large(fabric, memory, help));
        }
        let homes = hanging.iter().enumerate().map(|(node, hanging)| match *hanging {
            Some((switch, up, down)) => NodeConnection { place: place_of[switch], up: up.0, down: down.0 },
            None => NodeConnection { place: place_of[node], up: NONE, down: NONE },
        });
        let of_switches = fabric.groups().unwrap_or_default();
        let group = |vertex: &VertexId| vertex.index().checked_sub(nodes).map_or(NONE, |switch| of_switches[switch]);
        let groups: Vec<u32> = if of_switches.is_empty() { Vec::new() } else { vertices.iter().map(group).collect() };
        let group_count = of_switches.iter().max().map_or(0, |&most| most + 1);
        let ways = |direction| {
            let (mut starts, mut ways) = (vec![0], Vec::new());
            for (place, vertex) in vertices.iter().enumerate() {
                for edge in graph.edges_directed(NodeIndex::new(vertex.index()), direction) {
                    let other = if direction == Outgoing { edge.target() } else { edge.source() };
                    let other = place_of[other.index()];
                    if other == NONE {
                        continue;
                    }
                    let crosses = groups.get(place).is_some_and(|&group| {
                        let to = groups[other as usize];
                        group != NONE && to != NONE && group != to
                    });
                    ways.push(PlaceLink { link: edge.weight().0, place: other, port: 0, crosses });
                }
                // Links in order of their numbers, whatever the order in which the graph lists them.
                let start = *starts.last().unwrap_or(&0) as usize;
                ways[start..].sort_unstable_by_key(|way| way.link);
                starts.push(ways.len() as u32);
            }
            (starts, ways)
        };
        let ((out_starts, mut out), (into_starts, mut into)) = (ways(Outgoing), ways(Incoming));
        let mut ports = vec![0; fabric.links().len()];
        for starts in out_starts.windows(2) {
            for (port, way) in (0..).zip(&mut out[starts[0] as usize..starts[1] as usize]) {
                // (Tables are built only if no place has that number of ports.)
                way.port = u16::try_from(port).unwrap_or(u16::MAX);
                ports[way.link as usize] = way.port;
            }
        }
        into.iter_mut().for_each(|way| way.port = ports[way.link as usize]);
        let open: Vec<bool> = vertices.iter().map(|vertex| open[vertex.index()]).collect();
        // A node on several switches of one group is in that group, too.
        let mut groups = groups;
        for place in (0..groups.len()).filter(|&place| !open[place]) {
            let ways = &out[out_starts[place] as usize..out_starts[place + 1] as usize];
            let of_switches = ways.iter().map(|way| groups[way.place as usize]);
            groups[place] = match (of_switches.clone().min(), of_switches.max()) {
                (Some(least), Some(most)) if least == most => least,
                _ => NONE,
            };
        }
        let out_of = out_starts.windows(2).map(|starts| (starts[1] - starts[0]) as usize);
        let most_ports = out_of.skip(first_open).max().unwrap_or(0);
        Ok(Self {
            homes: homes.collect(),
            open,
            first_open: first_open as u32,
            width: Width::new(opened + u64::from(group_count), kept, most_ports),
            to_place: vertices.iter().map(|_| OnceLock::new()).collect(),
            to_group: (0..group_count).map(|_| OnceLock::new()).collect(),
            by_family: Some(fabric.shared_family())
                .filter(|family| family.shortest_paths().is_some() && !fabric.is_altered()),
            fabric: Arc::clone(fabric),
            vertices,
            out_starts,
            out,
            into_starts,
            into,
            groups,
            group_count,
        })
    }

    /// Returns the place at the end of a link between places.
    pub fn end_of(&self, link: LinkId) -> Option<u32> {
        let (_, to) = self.fabric.link(link).ends?;
        self.place_of(to)
    }

    /// Number of places.
    pub fn places(&self) -> u32 {
        self.vertices.len() as u32
    }

    /// Number of groups; 0 if there are none.
    pub fn group_count(&self) -> u32 {
        self.group_count
    }

    /// Returns the group of a place.
    pub fn group(&self, place: u32) -> Option<u32> {
        self.groups.get(place as usize).copied().filter(|&group| group != NONE)
    }

    /// Returns the connection of a node to the network.
    #[inline]
    pub fn home(&self, node: NodeId) -> NodeConnection {
        self.homes[node.0 as usize]
    }

    /// Returns the places that messages may cross and that have nodes on them or next to them, ascending.
    pub fn places_with_nodes(&self) -> Vec<u32> {
        let mut places = Vec::new();
        for home in &self.homes {
            if self.open[home.place as usize] {
                places.push(home.place);
            } else {
                places.extend(self.links_out_of(home.place).iter().map(|way| way.place));
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Returns the vertex of a place.
    pub fn vertex(&self, place: u32) -> VertexId {
        self.vertices[place as usize]
    }

    /// Returns the place of a vertex, if it is one.
    pub fn place_of(&self, vertex: VertexId) -> Option<u32> {
        // Places are in order of their vertices.
        self.vertices.binary_search(&vertex).ok().map(|place| place as u32)
    }

    /// Returns true if messages may cross a place on their way.
    #[inline]
    pub fn is_open(&self, place: u32) -> bool {
        self.open[place as usize]
    }

    /// Returns the links from a place to other places, in order of their numbers.
    #[inline]
    pub fn links_out_of(&self, place: u32) -> &[PlaceLink] {
        &self.out[self.out_starts[place as usize] as usize..self.out_starts[place as usize + 1] as usize]
    }

    /// Returns the links from other places to this one, in order of their numbers.
    #[inline]
    pub fn links_into(&self, place: u32) -> &[PlaceLink] {
        &self.into[self.into_starts[place as usize] as usize..self.into_starts[place as usize + 1] as usize]
    }
}

/// Reports links without ends.
pub(super) fn no_ends(message: String) -> Vec<Diagnostic> {
    let help = "fill in `from` and `to` of the links, or route by the given routes: `[routing.table]`";
    vec![Diagnostic::new("no-ends", message).help(help)]
}

/// Reports tables that need too much memory \[B\].
pub(super) fn too_large(fabric: &Fabric, memory: u64, help: &'static str) -> Vec<Diagnostic> {
    let gigabytes = memory.div_ceil(1_000_000_000);
    let message = format!("shortest paths on `{}` would need up to {gigabytes} GB of tables", fabric.name());
    vec![Diagnostic::new("too-large", message).help(help)]
}
