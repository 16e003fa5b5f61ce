//! A fabric some of whose links have failed, or carry less than they could.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use petgraph::graph::{DiGraph, NodeIndex};

use super::Fabric;
use crate::ids::{Id, IdVec, LinkId, VertexId};
use crate::units::Bandwidth;

impl Fabric {
    /// The same without these links, and with these capacities of others.
    ///
    /// Links keep their numbers and names, so that what is told of them can be set against the whole fabric; those that
    /// have failed are no edges of the graph any more. What the family works out by arithmetic it still works out for
    /// the whole fabric.
    #[must_use]
    pub fn altered(&self, failed: &[LinkId], capacities: &[(LinkId, Bandwidth)]) -> Self {
        let mut fabric = self.clone();
        fabric.bisection = OnceLock::new();
        for &(link, capacity) in capacities {
            fabric.links[link].capacity = capacity;
        }
        if failed.is_empty() {
            return fabric;
        }
        let mut marks = self.failed.as_deref().cloned().unwrap_or_else(|| IdVec::filled(self.links.len(), false));
        failed.iter().for_each(|&link| marks[link] = true);
        let vertices = self.graph.node_count();
        let mut graph = DiGraph::with_capacity(vertices, self.graph.edge_count());
        (0..vertices).for_each(|_| {
            graph.add_node(());
        });
        for (id, link) in self.links.iter_ids().filter(|(id, _)| !marks[*id]) {
            if let Some((from, to)) = link.ends {
                graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), id);
            }
        }
        fabric.graph = graph;
        fabric.failed = Some(Arc::new(marks));
        fabric
    }

    /// By link: whether it has failed; `None` where none has.
    pub fn failed(&self) -> Option<&IdVec<LinkId, bool>> {
        self.failed.as_deref()
    }

    /// Whether this link has failed.
    pub fn has_failed(&self, link: LinkId) -> bool {
        self.failed.as_ref().is_some_and(|failed| failed[link])
    }

    /// Whether every node reaches every other by construction: its family says so, and nothing has failed.
    pub fn is_connected_by_family(&self) -> bool {
        self.failed.is_none() && self.family.is_connected()
    }

    /// The cables: the two links between two vertices, one each way, in the order of their first links. Of parallel
    /// cables the first link there goes with the first back; a link without its like is a cable by itself.
    pub fn cables(&self) -> Vec<Vec<LinkId>> {
        let mut of_pair: BTreeMap<(VertexId, VertexId), [Vec<LinkId>; 2]> = BTreeMap::new();
        let mut cables = Vec::new();
        for (id, link) in self.links.iter_ids() {
            match link.ends {
                Some((from, to)) if from <= to => of_pair.entry((from, to)).or_default()[0].push(id),
                Some((from, to)) => of_pair.entry((to, from)).or_default()[1].push(id),
                None => cables.push(vec![id]),
            }
        }
        for [there, back] in of_pair.into_values() {
            for index in 0..there.len().max(back.len()) {
                let mut cable: Vec<LinkId> =
                    [&there, &back].into_iter().filter_map(|ids| ids.get(index)).copied().collect();
                cable.sort_unstable();
                cables.push(cable);
            }
        }
        cables.sort_unstable();
        cables
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FabricBuilder, Irregular, LinkRole};
    use super::*;
    use crate::units::Time;

    #[test]
    fn a_failed_link_is_no_edge_and_keeps_its_number() {
        let mut builder = FabricBuilder::new("three in a row", 3, 0);
        let speed = Bandwidth::from_bytes_per_second(1e9);
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (1, 2)] {
            builder.link(VertexId(from), VertexId(to), speed, Time::ZERO, LinkRole::Network { tier: 0 });
        }
        let whole = builder.finish(Irregular);
        let cables: Vec<Vec<u32>> =
            whole.cables().iter().map(|cable| cable.iter().map(|link| link.0).collect()).collect();
        assert_eq!(cables, [vec![0, 1], vec![2, 3], vec![4]]);
        assert!(!whole.has_failed(LinkId(2)) && whole.failed().is_none());
        let half = Bandwidth::from_bytes_per_second(5e8);
        let left = whole.altered(&[LinkId(2)], &[(LinkId(3), half)]);
        assert_eq!((left.links().len(), left.graph().edge_count()), (5, 4));
        assert!(left.has_failed(LinkId(2)) && !left.has_failed(LinkId(3)));
        assert_eq!(left.link(LinkId(3)).capacity, half);
        let more = left.altered(&[LinkId(0)], &[]);
        assert!(more.has_failed(LinkId(2)) && more.has_failed(LinkId(0)));
        assert_eq!(more.graph().edge_count(), 3);
    }
}
