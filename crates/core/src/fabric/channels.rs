//! Orders of links in which routes ascend, so that packets do not wait for each other in a cycle.

use std::collections::VecDeque;

use petgraph::graph::NodeIndex;
use petgraph::unionfind::UnionFind;

use super::{Fabric, LinkRole};
use crate::ids::Id;

/// Rank of links out of the network: a packet never waits behind them.
pub(super) const LAST: u32 = u32::MAX;

impl Fabric {
    /// Returns the rank of each link in the family's order (see [`super::Family::channel_order`]).
    pub fn channel_order(&self) -> Vec<u32> {
        self.family().channel_order(self)
    }

    /// Returns ranks by levels, for any graph: up from level to level, then along a level, then down.
    ///
    /// The level of a switch is its distance from the nearest node. If the cables form no cycle it is the
    /// distance from a root, counted down. So routes up and down a tree ascend, and on a graph whose switches
    /// all have nodes every link has the same rank.
    pub fn order_by_levels(&self) -> Vec<u32> {
        let levels = self.levels();
        let top = levels.iter().copied().max().unwrap_or_default();
        self.order_of_links(|from, to| {
            let (from, to) = (levels[from], levels[to]);
            match from.cmp(&to) {
                std::cmp::Ordering::Less => from,
                std::cmp::Ordering::Equal => top,
                std::cmp::Ordering::Greater => 2 * top - from + 1,
            }
        })
    }

    /// Returns the rank of each link, computed from the indices of its ends. Links into the network come
    /// first, links out of it last.
    pub(super) fn order_of_links(&self, rank: impl Fn(usize, usize) -> u32) -> Vec<u32> {
        let of_link = |link: &super::Link| match (link.role, link.ends) {
            (LinkRole::Injection, _) => 0,
            (LinkRole::Ejection, _) => LAST,
            (LinkRole::Network { .. }, Some((from, to))) => 1 + rank(from.index(), to.index()),
            (LinkRole::Network { .. }, None) => 1,
        };
        self.links().iter().map(of_link).collect()
    }

    /// Returns ranks by the tiers of links: dimensions, or kinds of cables in the order in which routes cross
    /// them.
    pub fn order_by_tiers(&self) -> Vec<u32> {
        let of_link = |link: &super::Link| match link.role {
            LinkRole::Injection => 0,
            LinkRole::Ejection => LAST,
            LinkRole::Network { tier } => 1 + u32::from(tier),
        };
        self.links().iter().map(of_link).collect()
    }

    /// Returns the level of each vertex.
    fn levels(&self) -> Vec<u32> {
        let graph = self.graph();
        let count = graph.node_count();
        let mut pairs: Vec<(u32, u32)> = self
            .links()
            .iter()
            .filter_map(|link| link.ends.map(|(from, to)| (from.0.min(to.0), from.0.max(to.0))))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut parts = UnionFind::<u32>::new(count);
        let forest = pairs.iter().all(|&(a, b)| parts.union(a, b));
        let mut levels = vec![u32::MAX; count];
        let mut ahead = VecDeque::new();
        let mut search = |roots: &mut dyn Iterator<Item = usize>, levels: &mut Vec<u32>| {
            for root in roots {
                if levels[root] == u32::MAX {
                    levels[root] = 0;
                    ahead.push_back(root);
                }
            }
            while let Some(vertex) = ahead.pop_front() {
                for next in graph.neighbors_undirected(NodeIndex::new(vertex)).map(NodeIndex::index) {
                    if levels[next] == u32::MAX {
                        levels[next] = levels[vertex] + 1;
                        ahead.push_back(next);
                    }
                }
            }
        };
        if forest {
            // One tree after another; the first switch is the root.
            for root in (self.nodes() as usize..count).chain(0..self.nodes() as usize) {
                search(&mut std::iter::once(root), &mut levels);
            }
            let most = levels.iter().copied().max().unwrap_or_default();
            levels.iter_mut().for_each(|level| *level = most - *level);
        } else {
            search(&mut (0..self.nodes() as usize), &mut levels);
            search(&mut (0..count), &mut levels);
        }
        levels
    }
}
