//! Regular structures: which link leads where, by arithmetic instead of tables.

use crate::ids::LinkId;

/// The regular structure behind a fabric.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// A tree of switches, several parents allowed; a crossbar is the tree of one level.
    Tree(Tree),
    /// A torus or mesh of any number of dimensions.
    Grid(Grid),
    /// A grid with a crossbar along each line of each dimension.
    CrossbarGrid(CrossbarGrid),
    /// None that is known: a graph from a file.
    Irregular,
}

/// A fat-tree: levels of switches above the nodes, in the notation of extended generalised fat-trees.
///
/// Level 0 are the nodes. Each part of level i-1 has `up[i-1]` parents on level i and each switch of level i has
/// `down[i-1]` children, joined by `parallel[i-1]` cables each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// Children of a switch, by level from the nodes up.
    pub down: Vec<u32>,
    /// Parents of a part of the level below, by level.
    pub up: Vec<u32>,
    /// Cables between a part and each of its parents, by level.
    pub parallel: Vec<u32>,
}

/// A torus or mesh: node and switch numbers are `x0 + x1*d0 + x2*d0*d1 ...`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Nodes along each dimension.
    pub dims: Vec<u32>,
    /// Whether the ends of each dimension are joined.
    pub wrap: Vec<bool>,
    /// Whether nodes are joined to their switch by links of their own (else the node is the switch).
    pub host_link: bool,
    /// The link that leaves position x along dimension d, at `(x * dims + d) * 2 + direction`
    /// (0: ascending, 1: descending); `u32::MAX` where there is none.
    pub steps: Vec<u32>,
}

/// A hyper-crossbar: each line of nodes along each dimension shares a crossbar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrossbarGrid {
    /// Nodes along each dimension.
    pub dims: Vec<u32>,
    /// Whether nodes are joined to their router by links of their own.
    pub host_link: bool,
}

impl Shape {
    /// The name of the switch with this number (from 0 above the nodes).
    pub fn switch_name(&self, switch: u32) -> String {
        format!("switch {switch}")
    }
}

impl Grid {
    /// The link that leaves `position` along `dim`, ascending or descending.
    pub fn step(&self, position: u32, dim: usize, descending: bool) -> Option<LinkId> {
        let link = self.steps[(position as usize * self.dims.len() + dim) * 2 + usize::from(descending)];
        (link != u32::MAX).then_some(LinkId(link))
    }
}
