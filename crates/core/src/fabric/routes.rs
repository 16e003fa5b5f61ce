//! Explicit routes from a file.

use rustc_hash::FxHashMap;

use crate::ids::{LinkId, NodeId};

/// Routes of the pairs of nodes that a file lists.
#[derive(Clone, Debug, Default)]
pub struct RouteTable {
    /// Range of each pair's route in `links`.
    ranges: FxHashMap<(NodeId, NodeId), (u32, u32)>,
    links: Vec<LinkId>,
}

impl RouteTable {
    /// Sets the route of a pair. Returns `false` if it had one.
    pub fn insert(&mut self, src: NodeId, dst: NodeId, route: &[LinkId]) -> bool {
        let start = self.links.len() as u32;
        self.links.extend_from_slice(route);
        self.ranges.insert((src, dst), (start, self.links.len() as u32)).is_none()
    }

    /// Returns the route of a pair, if the file gives it.
    pub fn get(&self, src: NodeId, dst: NodeId) -> Option<&[LinkId]> {
        let (start, end) = *self.ranges.get(&(src, dst))?;
        Some(&self.links[start as usize..end as usize])
    }

    /// Returns the number of links of the longest route.
    pub fn longest(&self) -> u32 {
        self.ranges.values().map(|(start, end)| end - start).max().unwrap_or(0)
    }

    /// Number of pairs with a route.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns true if no pair has a route.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}
