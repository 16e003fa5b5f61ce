//! Trees that carry a collective, their check and their time.

use super::graph::Graph;
use super::ratio::Ratio;

/// Directed edge of a tree between two compute nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Node that sends.
    pub from: u32,
    /// Node that receives.
    pub to: u32,
    /// Index in [`Forest::paths`].
    pub path: u32,
}

/// Spanning tree out of a root.
///
/// For a reduction the same tree is followed backwards: edges in reverse order, each from `to` to `from`, on links
/// in the opposite direction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// Compute node from which the data come.
    pub root: u32,
    /// Number of unit trees of this shape.
    pub weight: u64,
    /// Edges in an order in which each node receives before it sends.
    pub edges: Vec<Edge>,
}

/// Trees of all roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forest {
    /// Data that one unit of weight carries, for 1 byte a rank \[B\].
    pub unit: Ratio,
    /// Trees, those of one root behind each other.
    pub trees: Vec<Tree>,
    /// Paths of the edges: indices of links of the graph, in order.
    pub paths: Vec<Vec<u32>>,
}

impl Tree {
    /// Returns for each of the `nodes` nodes its number of edges from the root, or `None` if some node does not receive
    /// exactly once, or sends before.
    pub fn depths(&self, nodes: u32) -> Option<Vec<u32>> {
        let mut depths = vec![None; nodes as usize];
        *depths.get_mut(self.root as usize)? = Some(0);
        for edge in &self.edges {
            let depth: u32 = (*depths.get(edge.from as usize)?)? + 1;
            if depths.get_mut(edge.to as usize)?.replace(depth).is_some() {
                return None;
            }
        }
        depths.into_iter().collect()
    }
}

impl Forest {
    /// Returns the time for 1 byte a rank \[s\]: the largest load of a link over its bandwidth. `None` if the time
    /// exceeds 64 bits.
    ///
    /// Every fabric that shares links between flows reaches it as the number of chunks grows ([`super::messages`]).
    /// An all-reduce of the trees backwards and then forwards takes twice this time.
    pub fn time(&self, graph: &Graph) -> Option<Ratio> {
        let mut uses = vec![0_u64; self.paths.len()];
        for tree in &self.trees {
            for edge in &tree.edges {
                uses[edge.path as usize] += tree.weight;
            }
        }
        let mut loads = vec![0_u64; graph.links.len()];
        for (path, &used) in self.paths.iter().zip(&uses) {
            path.iter().for_each(|&link| loads[link as usize] += used);
        }
        let wide = |(&load, link): (&u64, &(u32, u32, u64))| (u128::from(load), u128::from(link.2));
        let (load, bandwidth) =
            loads.iter().zip(&graph.links).map(wide).max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)))?;
        Ratio::new(load * u128::from(self.unit.numerator), bandwidth * u128::from(self.unit.denominator))
    }

    /// Returns [`Forest::time`] if every tree spans all compute nodes and every path joins the ends of its edges.
    /// A forest is optimal if this is the time of a bound.
    pub fn verified_time(&self, graph: &Graph) -> Option<Ratio> {
        let joins = |edge: &Edge| {
            let mut at = edge.from;
            let follows = |&link: &u32| {
                graph.links.get(link as usize).is_some_and(|&(from, to, _)| {
                    let follows = from == at;
                    at = to;
                    follows
                })
            };
            self.paths.get(edge.path as usize).is_some_and(|path| path.iter().all(follows)) && at == edge.to
        };
        let sound = |tree: &Tree| tree.depths(graph.compute).is_some() && tree.edges.iter().all(joins);
        if self.trees.iter().all(sound) { self.time(graph) } else { None }
    }
}
