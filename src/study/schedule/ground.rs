//! Fabric of a schedule: the ranks on it as compute nodes of a graph with whole bandwidths.

use crate::fabric::Fabric;
use crate::ids::{Id, LinkId, NodeId, VertexId};
use crate::optimum::trees::Graph;

/// Ranks on a fabric, as vertices of a graph: ranks first, then all vertices that messages may cross.
pub(super) struct RankGraph<'a> {
    pub fabric: &'a Fabric,
    pub graph: Graph,
    /// Fabric link of each link.
    pub of_link: Vec<LinkId>,
    /// True if the graph has each link in the opposite direction.
    pub is_reversed: bool,
}

impl<'a> RankGraph<'a> {
    /// Creates the graph of ranks on these nodes. Returns `None` if two ranks share a node.
    pub fn new(fabric: &'a Fabric, nodes: &[NodeId]) -> Option<Self> {
        let mut number = vec![u32::MAX; fabric.vertices() as usize];
        for (rank, node) in (0..).zip(nodes) {
            if std::mem::replace(&mut number[node.index()], rank) != u32::MAX {
                return None;
            }
        }
        let mut vertices = nodes.len() as u32;
        for (vertex, crosses) in fabric.crossable().into_iter().enumerate() {
            if crosses && number[vertex] == u32::MAX {
                number[vertex] = vertices;
                vertices += 1;
            }
        }
        let (mut of_link, mut links) = (Vec::new(), Vec::new());
        for (id, link) in fabric.links().iter_ids().filter(|&(id, _)| !fabric.has_failed(id)) {
            let bandwidth = fabric.shared_capacity(id).bytes_per_second().round() as u64;
            let Some((from, to)) = link.ends else { continue };
            let [from, to] = [from, to].map(|vertex: VertexId| number[vertex.index()]);
            if from != u32::MAX && to != u32::MAX && bandwidth > 0 {
                of_link.push(id);
                links.push((from, to, bandwidth));
            }
        }
        Some(Self {
            fabric,
            graph: Graph { compute: nodes.len() as u32, vertices, links },
            of_link,
            is_reversed: false,
        })
    }

    /// Returns the graph with each link in the opposite direction: a reduction to a root along it is a broadcast.
    pub fn reversed(&self) -> Self {
        let Graph { compute, vertices, ref links } = self.graph;
        let links = links.iter().map(|&(from, to, bandwidth)| (to, from, bandwidth)).collect();
        let graph = Graph { compute, vertices, links };
        Self { graph, is_reversed: !self.is_reversed, of_link: self.of_link.clone(), fabric: self.fabric }
    }

    /// Returns for each link the one in the opposite direction: the k-th of parallel links for the k-th. Returns
    /// `None` if some link has none of its bandwidth.
    pub fn opposite(&self) -> Option<Vec<u32>> {
        let links = &self.graph.links;
        let mut there: Vec<u32> = (0..links.len() as u32).collect();
        let mut back = there.clone();
        there.sort_by_key(|&link| links[link as usize]);
        back.sort_by_key(|&link| {
            let (from, to, bandwidth) = links[link as usize];
            (to, from, bandwidth)
        });
        let mut opposite = vec![0; links.len()];
        for (&link, &other) in there.iter().zip(&back) {
            let (from, to, bandwidth) = links[link as usize];
            if links[other as usize] != (to, from, bandwidth) {
                return None;
            }
            opposite[link as usize] = other;
        }
        Some(opposite)
    }

    /// Returns the number of each link of a route among the links of the graph.
    pub fn numbers(&self) -> Vec<u32> {
        let mut numbers = vec![u32::MAX; self.fabric.links().len()];
        (0..).zip(&self.of_link).for_each(|(number, link)| numbers[link.index()] = number);
        numbers
    }
}
