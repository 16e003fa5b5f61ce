//! Shortest paths that a family knows by arithmetic, without tables.

use crate::ids::LinkId;

/// End of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathEnd {
    /// A place where paths branch: a switch, by its number.
    Place(u32),
    /// The first switch of this group that the path reaches.
    Group(u32),
}

/// Fabric whose family knows the shortest paths between its switches: those with the fewest links between groups, and
/// among them those with the fewest links.
pub trait ShortestPaths: Send + Sync {
    /// Follows one shortest path between switches and calls `visit` with its links. Returns the switch at its end.
    ///
    /// If several links lead on, `pick` is given their number and returns the position of the one to take, in order of
    /// the numbers of links.
    fn walk(&self, from: u32, end: PathEnd, pick: &mut dyn FnMut(u32) -> u32, visit: &mut dyn FnMut(&[LinkId])) -> u32;
}
