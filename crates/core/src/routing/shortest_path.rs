//! Shortest path: the fewest links, on any graph.

use std::fmt;
use std::sync::{Arc, OnceLock};

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::graph::{no_ends, too_large};
use super::router::Router;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::fabric::Fabric;
use crate::ids::{Id, LinkId, NodeId, VertexId};

/// `[routing.shortest-path]`: the fewest links, on any graph. No options.
#[spec(partial, Default)]
pub struct ShortestPathSpec {}

/// Most memory of all tables together \[B\].
const MOST_MEMORY: u64 = 16 << 30;

impl Rule for ShortestPathSpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut BuildContext<'_>) -> BuildResult {
        if !fabric.links().is_empty() && fabric.links().iter().all(|link| link.ends.is_none()) {
            let message = format!("no link of `{}` has ends, so that there are no paths to search", fabric.name());
            return Err(no_ends(message));
        }
        let router = ShortestPath::new(fabric);
        let memory = router.tables.len() as u64 * u64::from(router.slots) * 4;
        if memory > MOST_MEMORY {
            let help = "use a routing rule of the topology, which needs no tables, or give the routes that are used";
            return Err(too_large(fabric, memory, help));
        }
        Ok(Arc::new(router))
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

/// Value for no link, no slot or no table.
const NONE: u32 = u32::MAX;

/// Router over the fewest links; among equals, at each vertex the link with the lowest id that leads closer.
///
/// Messages do not cross nodes on their way, except nodes that sit on network links (a torus without host
/// links, a custom graph whose nodes are joined directly).
///
/// For each *target* there is a table with the next link at each vertex, computed by a breadth-first search
/// from the target when it is first needed. A node with a single link into the network is reached through the
/// vertex that this link leaves, which is the target for all such nodes. A node with a single link out of it
/// needs no slot in the tables. So on a tree the tables have switches times leaf switches entries, not nodes
/// times nodes.
///
/// Cost: a search is proportional to the number of links, a route to its length. Memory: 4 bytes an entry.
struct ShortestPath {
    fabric: Arc<Fabric>,
    /// Slot of each vertex in the tables; `NONE` for a node whose only link out is `single_out`.
    slot: Vec<u32>,
    slots: u32,
    /// Only link out of each node without a slot.
    single_out: Vec<u32>,
    /// By node: the table to use and the link to append; `NONE` if the table leads to the node itself.
    target: Vec<(u32, u32)>,
    /// By vertex: true if messages may cross it.
    open: Vec<bool>,
    /// Target of each table, and the next link by slot (`NONE` if there is no path).
    tables: Vec<(VertexId, OnceLock<Box<[u32]>>)>,
}

impl ShortestPath {
    fn new(fabric: &Arc<Fabric>) -> Self {
        let (nodes, vertices) = (fabric.nodes() as usize, (fabric.nodes() + fabric.switches()) as usize);
        let graph = fabric.graph();
        let open = fabric.crossable();
        let only = |node: usize, direction| {
            let mut edges = graph.edges_directed(NodeIndex::new(node), direction);
            edges.next().filter(|_| !open[node] && edges.next().is_none())
        };
        let single_out: Vec<u32> =
            (0..nodes).map(|node| only(node, Outgoing).map_or(NONE, |edge| edge.weight().0)).collect();
        let mut slots = 0;
        let slot = (0..vertices)
            .map(|vertex| {
                if single_out.get(vertex).is_some_and(|&link| link != NONE) {
                    return NONE;
                }
                slots += 1;
                slots - 1
            })
            .collect();
        let mut table_of = vec![NONE; vertices];
        let mut tables = Vec::new();
        let target = (0..nodes)
            .map(|node| {
                let (vertex, last) = match only(node, Incoming) {
                    Some(edge) if open[edge.source().index()] => (edge.source().index(), edge.weight().0),
                    _ => (node, NONE),
                };
                if table_of[vertex] == NONE {
                    table_of[vertex] = tables.len() as u32;
                    tables.push((VertexId::from_index(vertex), OnceLock::new()));
                }
                (table_of[vertex], last)
            })
            .collect();
        Self { fabric: Arc::clone(fabric), slot, slots, single_out, target, open, tables }
    }

    /// Returns the next link to a vertex, by slot.
    fn search(&self, target: VertexId) -> Box<[u32]> {
        let graph = self.fabric.graph();
        let mut next = vec![NONE; self.slots as usize].into_boxed_slice();
        let mut distance = vec![NONE; self.slot.len()];
        distance[target.index()] = 0;
        let mut reached = vec![target];
        let mut done = 0;
        while let Some(&vertex) = reached.get(done) {
            done += 1;
            let here = distance[vertex.index()] + 1;
            for edge in graph.edges_directed(NodeIndex::new(vertex.index()), Incoming) {
                let from = edge.source().index();
                if distance[from] == NONE {
                    distance[from] = here;
                    // Messages end at a closed node but do not pass it.
                    if self.open[from] {
                        reached.push(VertexId::from_index(from));
                    }
                }
                if distance[from] == here
                    && let Some(next) = next.get_mut(self.slot[from] as usize)
                {
                    *next = (*next).min(edge.weight().0);
                }
            }
        }
        next
    }

    /// Calls `visit` for each link of the route. Returns `false` if there is none.
    fn walk(&self, src: NodeId, dst: NodeId, mut visit: impl FnMut(LinkId)) -> bool {
        if src == dst {
            return true;
        }
        let (table, last) = self.target[dst.index()];
        let (target, table) = &self.tables[table as usize];
        let table = table.get_or_init(|| self.search(*target));
        let mut at = VertexId::from(src);
        while at != *target {
            let link = match self.slot[at.index()] {
                NONE => self.single_out[at.index()],
                slot => table[slot as usize],
            };
            if link == NONE {
                return false;
            }
            visit(LinkId(link));
            match self.fabric.link(LinkId(link)).ends {
                Some((_, to)) if self.open[to.index()] || to == *target => at = to,
                _ => return false,
            }
        }
        if last != NONE {
            visit(LinkId(last));
        }
        true
    }
}

impl fmt::Debug for ShortestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShortestPath").field("fabric", &self.fabric.name()).finish_non_exhaustive()
    }
}

impl Router for ShortestPath {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let start = route.len();
        if !self.walk(src, dst, |link| route.push(link)) {
            route.truncate(start);
        }
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        self.walk(src, dst, |_| {})
    }
}

#[cfg(test)]
mod tests;
