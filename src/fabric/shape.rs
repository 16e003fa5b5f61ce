//! Regular structures: which link leads where, by arithmetic instead of tables.

use super::grid::{CrossbarGrid, Grid};
use super::tree::Tree;

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

impl Shape {
    /// What it is, for messages: `a tree`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tree(_) => "a tree",
            Self::Grid(_) => "a torus or mesh",
            Self::CrossbarGrid(_) => "a hyper-crossbar",
            Self::Irregular => "an irregular graph",
        }
    }

    /// The name of the switch with this number (from 0 above the nodes).
    pub fn switch_name(&self, switch: u32) -> String {
        match self {
            Self::Tree(tree) => tree.switch_name(switch),
            Self::Grid(grid) => grid.switch_name(switch),
            Self::CrossbarGrid(grid) => grid.switch_name(switch),
            Self::Irregular => format!("switch {switch}"),
        }
    }
}
