//! Fabric as a network of flows, and the volumes that nodes exchange over it.

use petgraph::Direction;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;

use super::flow::{Demand, Links};
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{Id, LinkId, NodeId, VertexId};

/// Largest number of places for which volumes are a matrix: 32 MB.
const MOST_IN_MATRIX: usize = 2048;

/// Switches of a fabric with the links between them, and the ports of its nodes.
///
/// A node that hangs on one switch by one link each way is a port of that switch. Any other node is a vertex of
/// its own; messages cross it only if it is on network links, like the node of a torus.
#[derive(Debug)]
pub struct FlowNetwork<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Links between vertices.
    pub links: Links,
    /// Fabric link of each of these links.
    pub of_link: Vec<LinkId>,
    /// Fabric vertex of each vertex.
    pub of_vertex: Vec<VertexId>,
    /// Vertex of each node: its switch's if it is a port, else its own.
    pub place: Vec<u32>,
}

impl<'a> FlowNetwork<'a> {
    /// Creates the network of a fabric; failed links and links without bandwidth are left out.
    ///
    /// # Errors
    /// Some links of the fabric are known by routes alone.
    pub fn new(fabric: &'a Fabric) -> Result<Self, Diagnostic> {
        if fabric.has_loose_links() {
            let message = "the best routes are unknown: links of this fabric are known by its routes alone";
            return Err(Diagnostic::new("no-graph", message).help("give the ends of links, or leave out `--optimum`"));
        }
        let homes = fabric.homes();
        let crossable = fabric.crossable();
        let is_port = |vertex: VertexId| homes.get(vertex.index()).is_some_and(Option::is_some);
        let of_vertex: Vec<VertexId> =
            (0..fabric.vertices()).map(VertexId).filter(|&vertex| !is_port(vertex)).collect();
        let mut vertices = vec![u32::MAX; fabric.vertices() as usize];
        (0..).zip(&of_vertex).for_each(|(number, vertex)| vertices[vertex.index()] = number);
        let place =
            fabric.node_ids().map(|node| vertices[homes[node.index()].unwrap_or(node.into()).index()]).collect();
        let (mut of_link, mut links) = (Vec::new(), Vec::new());
        for (id, link) in fabric.links().iter_ids() {
            let capacity = fabric.shared_capacity(id).bytes_per_second();
            if let Some((from, to)) = link.ends
                && !is_port(from)
                && !is_port(to)
                && !fabric.has_failed(id)
                && capacity > 0.0
            {
                of_link.push(id);
                links.push((vertices[from.index()], vertices[to.index()], capacity));
            }
        }
        let passes = of_vertex.iter().map(|vertex| crossable[vertex.index()]).collect();
        Ok(Self { fabric, links: Links::new(passes, &links), of_link, of_vertex, place })
    }

    /// Returns the links from node to node along a path between their vertices.
    pub fn whole_path(&self, from: NodeId, to: NodeId, inner: impl IntoIterator<Item = LinkId>) -> Vec<LinkId> {
        let port = |node: NodeId, direction| {
            let is_port = self.of_vertex[self.place[node.index()] as usize] != VertexId::from(node);
            let edge = self.fabric.graph().edges_directed(NodeIndex::new(node.index()), direction).next();
            edge.filter(|_| is_port).map(|edge| *edge.weight())
        };
        let (up, down) = (port(from, Direction::Outgoing), port(to, Direction::Incoming));
        up.into_iter().chain(inner).chain(down).collect()
    }

    /// Returns the network with one more cable, and its bandwidth: the median of all links \[B/s\].
    pub fn with_cable(&self, from: u32, to: u32) -> (Self, f64) {
        let mut capacity = self.links.capacity().to_vec();
        capacity.sort_by(f64::total_cmp);
        let bandwidth = capacity[capacity.len() / 2];
        (self.changed(self.passes(), &[(from, to, bandwidth), (to, from, bandwidth)]), bandwidth)
    }

    /// Returns the network in which these nodes pass on the bytes of others, as ranks may in an algorithm that sends
    /// blocks on; `None` if it is this network. A node that is a port is left out: what goes through it can take its
    /// switch alone.
    pub fn relaying(&self, nodes: &[NodeId]) -> Option<Self> {
        let before = self.passes();
        let mut passes = before.clone();
        for &node in nodes {
            let place = self.place[node.index()] as usize;
            passes[place] |= self.of_vertex[place] == VertexId::from(node);
        }
        (passes != before).then(|| self.changed(passes, &[]))
    }

    /// Returns true for each vertex that messages cross.
    fn passes(&self) -> Vec<bool> {
        (0..self.links.vertices() as u32).map(|vertex| self.links.passes(vertex)).collect()
    }

    /// Returns the network with other vertices that messages cross, and with more links.
    fn changed(&self, passes: Vec<bool>, more: &[(u32, u32, f64)]) -> Self {
        let own = self.links.ends().iter().zip(self.links.capacity());
        let links: Vec<(u32, u32, f64)> =
            own.map(|(&(from, to), &capacity)| (from, to, capacity)).chain(more.iter().copied()).collect();
        let (of_link, of_vertex, place) = (self.of_link.clone(), self.of_vertex.clone(), self.place.clone());
        Self { fabric: self.fabric, links: Links::new(passes, &links), of_link, of_vertex, place }
    }

    /// Returns the volumes of a demand without bytes.
    pub fn volumes(&self) -> Volumes {
        let nodes = self.fabric.nodes() as usize;
        let mut places: Vec<u32> = self.place.clone();
        places.sort_unstable();
        places.dedup();
        let index = |place: &u32| places.partition_point(|other| other < place) as u32;
        let of_node = self.place.iter().map(index).collect();
        let between = match places.len() {
            count @ ..=MOST_IN_MATRIX => Between::Matrix(vec![0.0; count * count]),
            _ => Between::Listed(FxHashMap::default()),
        };
        Volumes { ends: vec![(0.0, 0.0); nodes], of_node, places, between }
    }
}

/// Bytes that nodes send to each other, summed by the vertices on which they hang \[B\].
#[derive(Clone, Debug)]
pub struct Volumes {
    /// Bytes out of and into each node \[B\].
    ends: Vec<(f64, f64)>,
    /// Number of the place of each node.
    of_node: Vec<u32>,
    /// Vertex of each place.
    places: Vec<u32>,
    between: Between,
}

/// Bytes between places.
#[derive(Clone, Debug)]
enum Between {
    Matrix(Vec<f64>),
    Listed(FxHashMap<(u32, u32), f64>),
}

impl Volumes {
    /// Adds bytes of one node for another \[B\]. Bytes of a node for itself use no link.
    #[inline]
    pub fn add(&mut self, src: NodeId, dst: NodeId, bytes: f64) {
        if src == dst {
            return;
        }
        self.ends[src.index()].0 += bytes;
        self.ends[dst.index()].1 += bytes;
        let (from, to) = (self.of_node[src.index()], self.of_node[dst.index()]);
        match &mut self.between {
            _ if from == to => {}
            Between::Matrix(cells) => cells[from as usize * self.places.len() + to as usize] += bytes,
            Between::Listed(cells) => *cells.entry((from, to)).or_default() += bytes,
        }
    }

    /// Returns the bytes out of and into a node \[B\].
    pub fn of(&self, node: NodeId) -> (f64, f64) {
        self.ends[node.index()]
    }

    /// Returns the bytes between the vertices of the network.
    pub fn demand(&self, network: &FlowNetwork<'_>) -> Demand {
        let mut listed: Vec<(u32, u32, f64)> = match &self.between {
            Between::Matrix(cells) => {
                let rows = cells.chunks(self.places.len().max(1)).zip(0..);
                rows.flat_map(|(row, from)| row.iter().zip(0..).map(move |(&bytes, to)| (from, to, bytes))).collect()
            }
            Between::Listed(cells) => cells.iter().map(|(&(from, to), &bytes)| (from, to, bytes)).collect(),
        };
        listed.retain(|&(_, _, bytes)| bytes > 0.0);
        listed.sort_unstable_by_key(|&(from, to, _)| (from, to));
        let vertex = |place: u32| self.places[place as usize];
        Demand::new(
            network.links.vertices(),
            listed.into_iter().map(|(from, to, bytes)| (vertex(from), vertex(to), bytes)),
        )
    }
}
