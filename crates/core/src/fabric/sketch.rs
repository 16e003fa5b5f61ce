//! What a family says of itself to those who draw, describe or order it.

use super::grid::{CrossbarGrid, Grid};
use super::tree::Tree;
use crate::ids::LinkId;

/// How a family is drawn. Each of these ways is drawn for any family that asks for it.
#[derive(Clone, Debug)]
pub enum Sketch<'a> {
    /// A row for each level, the nodes at the bottom.
    Levels(&'a Tree),
    /// Rows and columns, and further dimensions in oblique projection or side by side.
    Lattice(&'a Grid),
    /// The same, with bars for crossbars.
    Crossbars(&'a CrossbarGrid),
    /// Switches in groups around a circle; of a large one the first group, and the cables of each pair of groups.
    Groups {
        /// By switch: its group, numbered from 0 without gaps.
        of: &'a [u32],
        /// What a group is called.
        name: &'static str,
    },
    /// Switches as they are apart along the links.
    Distances,
}

/// A number, or more, that tells members of a family apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// One number.
    Number(u64),
    /// One for each level or dimension.
    Numbers(Vec<u32>),
    /// Yes or no.
    Flag(bool),
    /// One for each dimension.
    Flags(Vec<bool>),
    /// A choice.
    Word(String),
}

/// Links that do the same for different nodes: a level of a tree, a direction of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkGroup {
    /// What they do: `injection`, `up, level 1 to 2`.
    pub name: String,
    /// In the order of what they belong to.
    pub links: Vec<LinkId>,
}

impl LinkGroup {
    /// Links with what they do.
    pub fn new(name: impl Into<String>, links: impl IntoIterator<Item = LinkId>) -> Self {
        Self { name: name.into(), links: links.into_iter().collect() }
    }
}

/// A link that is part of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// The link.
    pub link: LinkId,
    /// Its dimension: a packet that goes on along the same one stays in its ring.
    pub dimension: u8,
    /// Whether it closes the ring.
    pub closes: bool,
}

/// The name of a dimension: x, y, z, or x0, x1 ... where there are more than three.
pub fn dimension_name(dimensions: usize, dimension: usize) -> String {
    match (dimensions, dimension) {
        (..=3, 0..=2) => ["x", "y", "z"][dimension].to_owned(),
        _ => format!("x{dimension}"),
    }
}
