//! Fabrics in which links have failed or carry less bandwidth.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use petgraph::graph::NodeIndex;

use super::Fabric;
use crate::ids::{Id, IdVec, LinkId, VertexId};
use crate::units::Bandwidth;

impl Fabric {
    /// Returns the fabric without these links, and with these capacities of other links.
    ///
    /// Links keep their numbers and names, so that results can be compared with the intact fabric. Failed
    /// links are no longer edges of the graph. The family's arithmetic still describes the intact fabric.
    #[must_use]
    pub fn altered(&self, failed: &[LinkId], capacities: &[(LinkId, Bandwidth)]) -> Self {
        let mut fabric = self.clone();
        (fabric.bisection, fabric.ends) = (OnceLock::new(), OnceLock::new());
        let mut built = self.built.as_deref().cloned().unwrap_or_default();
        for &(link, capacity) in capacities {
            let whole = *built.entry(link).or_insert(self.links[link].capacity);
            if whole == capacity {
                built.remove(&link);
            }
            fabric.links[link].capacity = capacity;
        }
        fabric.built = Some(Arc::new(built)).filter(|built| !built.is_empty());
        if failed.is_empty() {
            return fabric;
        }
        let mut marks = self.failed.as_deref().cloned().unwrap_or_else(|| IdVec::filled(self.links.len(), false));
        failed.iter().for_each(|&link| marks[link] = true);
        fabric.graph = OnceLock::new();
        fabric.failed = Some(Arc::new(marks));
        fabric
    }

    /// Returns true for each link that has failed; `None` if no link has failed.
    pub fn failed(&self) -> Option<&IdVec<LinkId, bool>> {
        self.failed.as_deref()
    }

    /// Returns true if this link has failed.
    pub fn has_failed(&self, link: LinkId) -> bool {
        self.failed.as_ref().is_some_and(|failed| failed[link])
    }

    /// Returns the original bandwidth of a link that has another bandwidth now.
    pub fn built_for(&self, link: LinkId) -> Option<Bandwidth> {
        self.built.as_ref().and_then(|built| built.get(&link).copied())
    }

    /// Returns true if a link has failed or has another bandwidth than originally.
    pub fn is_altered(&self) -> bool {
        self.failed.is_some() || self.built.is_some()
    }

    /// Returns true if a node or a switch has links and all of them have failed, as those of a failed switch.
    pub fn is_isolated(&self, vertex: VertexId) -> bool {
        let Some(failed) = &self.failed else { return false };
        let vertex_index = NodeIndex::new(vertex.index());
        self.graph().neighbors_undirected(vertex_index).next().is_none()
            && self
                .links
                .iter_ids()
                .any(|(id, link)| failed[id] && link.ends.is_some_and(|(from, to)| from == vertex || to == vertex))
    }

    /// Returns true if every node reaches every other by construction of the family, and no link has failed.
    pub fn is_connected_by_family(&self) -> bool {
        self.failed.is_none() && self.family.is_connected()
    }

    /// Returns the cables in the order of their first links: the two links between two vertices, one each
    /// way. Of parallel cables the first link there is paired with the first back. A link without a
    /// counterpart is a cable by itself.
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
    use crate::ids::NodeId;
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
        let ends = |fabric: &Fabric, node| {
            let (out, into) = fabric.capacity_of(NodeId(node));
            (out.bytes_per_second() / 1e9, into.bytes_per_second() / 1e9)
        };
        assert_eq!((ends(&whole, 1), ends(&left, 1), ends(&left, 2)), ((3.0, 2.0), (2.0, 1.5), (0.5, 1.0)));
        assert!(left.has_failed(LinkId(2)) && !left.has_failed(LinkId(3)));
        assert_eq!(left.link(LinkId(3)).capacity, half);
        assert_eq!((left.built_for(LinkId(3)), left.built_for(LinkId(0))), (Some(speed), None));
        let mended = left.altered(&[], &[(LinkId(3), speed)]);
        assert_eq!((mended.built_for(LinkId(3)), mended.link(LinkId(3)).capacity), (None, speed));
        let quarter = left.altered(&[], &[(LinkId(3), Bandwidth::from_bytes_per_second(2.5e8))]);
        assert_eq!(quarter.built_for(LinkId(3)), Some(speed), "what it was built for, not what it carried last");
        let more = left.altered(&[LinkId(0)], &[]);
        assert!(more.has_failed(LinkId(2)) && more.has_failed(LinkId(0)));
        assert_eq!(more.graph().edge_count(), 3);
        assert!((0..3).all(|vertex| !more.is_isolated(VertexId(vertex))));
        let alone = more.altered(&[LinkId(1)], &[]);
        assert!(alone.is_isolated(VertexId(0)) && !alone.is_isolated(VertexId(1)));
    }
    #[test]
    fn the_cut_is_of_what_is_left() {
        use super::super::{CrossbarGrid, Grid, Tree};
        let gb = |role: LinkRole| {
            let _ = role;
            (Bandwidth::from_bytes_per_second(1e9), Time::ZERO)
        };
        let named =
            |fabric: &Fabric, name: &str| fabric.links().ids().find(|&id| fabric.link_name(id) == name).unwrap();
        let cut = |fabric: &Fabric| {
            let cut = fabric.bisection().unwrap();
            (cut.bandwidth.bytes_per_second() / 1e9, cut.back.bytes_per_second() / 1e9)
        };
        // Rings of 4: two cables of each are cut. Half of one direction of one cable is lost, then all of it.
        let torus = Grid::new(vec![4, 3], vec![true, false], true).build("torus".to_owned(), gb);
        let link = named(&torus, "(1,0) -> (2,0)");
        let half = [(link, Bandwidth::from_bytes_per_second(5e8))];
        assert_eq!(cut(&torus), (6.0, 6.0));
        assert_eq!((cut(&torus.altered(&[], &half)), cut(&torus.altered(&[link], &[]))), ((5.5, 6.0), (5.0, 6.0)));
        // Halves are separated where cables are fewest: row 0 sends nothing to rows 1 and 2, and these send row 3 the
        // bandwidth of one cable.
        let torus = Grid::new(vec![4, 4], vec![true, true], true).build("torus".to_owned(), gb);
        let weak = ["(0,0) -> (0,1)", "(1,0) -> (1,1)", "(2,0) -> (2,1)", "(3,0) -> (3,1)"];
        let weaker = ["(0,2) -> (0,3)", "(1,2) -> (1,3)", "(2,2) -> (2,3)"];
        let failed: Vec<LinkId> = weak.iter().chain(&weaker).map(|name| named(&torus, name)).collect();
        assert_eq!((cut(&torus), cut(&torus.altered(&failed, &[]))), ((8.0, 8.0), (5.0, 4.0)));
        // 4 leaves of 4 nodes and 4 cables up: two leaves against two.
        let tree = Tree { down: vec![4, 4], up: vec![1, 4], parallel: vec![1, 1] }.build("tree".to_owned(), gb);
        let up = tree.links().iter_ids().find(|(_, link)| matches!(link.role, LinkRole::Network { .. })).unwrap().0;
        let left = cut(&tree.altered(&[up], &[]));
        assert_eq!((cut(&tree), left.0 + left.1), ((8.0, 8.0), 15.0));
        // Two rows of the routers of three crossbars: one link crosses for each column's crossbar and router.
        let crossbars = CrossbarGrid { dims: vec![2, 3], host_link: true }.build("crossbars".to_owned(), gb);
        let whole = cut(&crossbars);
        let of_node = crossbars.links().ids().next().unwrap();
        let left = cut(&crossbars.altered(&[of_node], &[]));
        assert_eq!((whole, left.0 + left.1), ((3.0, 3.0), 5.0), "a node that cannot send");
    }
}
