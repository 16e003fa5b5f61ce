//! Information of a family for pictures, descriptions and orders of links.

use super::grid::{CrossbarGrid, Grid};
use super::tree::Tree;
use crate::ids::LinkId;

/// Drawing style of a family. Each style works for any family that chooses it.
#[derive(Clone, Debug)]
pub enum Sketch<'a> {
    /// A row for each level, the nodes at the bottom.
    Levels(&'a Tree),
    /// Rows and columns, and further dimensions in oblique projection or side by side.
    Lattice(&'a Grid),
    /// Rows and columns with bars for crossbars.
    Crossbars(&'a CrossbarGrid),
    /// Switches in groups around a circle; for a large fabric the first group, and the cables of each pair of
    /// groups.
    Groups {
        /// Group of each switch, numbered from 0 without gaps.
        of: &'a [u32],
        /// Name for a group.
        name: &'static str,
    },
    /// Switches at distances given by the number of links between them.
    Distances,
}

/// Parameter that distinguishes members of a family.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// One number.
    Number(u64),
    /// One number for each level or dimension.
    Numbers(Vec<u32>),
    /// Yes or no.
    Flag(bool),
    /// Yes or no for each dimension.
    Flags(Vec<bool>),
    /// A choice.
    Word(String),
}

/// Links with the same function for different nodes: a level of a tree, a direction of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkGroup {
    /// Function of the links: `injection`, `up, level 1 to 2`.
    pub name: String,
    /// Links in the order of the nodes or switches that they belong to.
    pub links: Vec<LinkId>,
}

impl LinkGroup {
    /// Creates a group of links with the name of their function.
    pub fn new(name: impl Into<String>, links: impl IntoIterator<Item = LinkId>) -> Self {
        Self { name: name.into(), links: links.into_iter().collect() }
    }
}

/// Link that is part of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// The link.
    pub link: LinkId,
    /// Dimension: a packet that continues along the same dimension stays in its ring.
    pub dimension: u8,
    /// True if the link closes the ring.
    pub closes: bool,
}

/// Returns the name of a dimension: x, y, z, or x0, x1 ... if there are more than three.
pub fn dimension_name(dimensions: usize, dimension: usize) -> String {
    match (dimensions, dimension) {
        (..=3, 0..=2) => ["x", "y", "z"][dimension].to_owned(),
        _ => format!("x{dimension}"),
    }
}
