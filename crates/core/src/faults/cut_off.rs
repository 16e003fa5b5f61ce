//! Pairs of nodes without a remaining path.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::fabric::Fabric;
use crate::ids::{Id, NodeId};
use crate::routing::Router;

/// Largest number of pairs that are named.
const NAMED: usize = 5;
/// Largest number of pairs that are checked one by one, if links have no ends.
const MOST_ASKED: u64 = 4_000_000;

/// Pairs of nodes without a remaining path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CutOff {
    /// Number of pairs, each direction counted; `None` if there are too many pairs to check one by one.
    pub pairs: Option<u64>,
    /// First few pairs.
    pub first: Vec<(NodeId, NodeId)>,
}

impl CutOff {
    /// Finds the cut-off pairs of a fabric with failures, with its routes.
    pub fn of(fabric: &Fabric, router: &dyn Router) -> Self {
        if fabric.failed().is_none() {
            return Self { pairs: Some(0), first: Vec::new() };
        }
        if fabric.links().iter().any(|link| link.ends.is_none()) || fabric.routes().is_some() {
            return Self::by_pairs(fabric, router);
        }
        Self::by_components(fabric)
    }

    /// Returns true if a pair may be cut off.
    pub fn may_exist(&self) -> bool {
        self.pairs != Some(0)
    }

    /// Checks each pair.
    fn by_pairs(fabric: &Fabric, router: &dyn Router) -> Self {
        let nodes = u64::from(fabric.nodes());
        if nodes * nodes > MOST_ASKED {
            return Self::default();
        }
        let pairs = fabric.node_ids().flat_map(|src| fabric.node_ids().map(move |dst| (src, dst)));
        let (mut count, mut first) = (0, Vec::new());
        for (src, dst) in pairs.filter(|(src, dst)| !router.reaches(*src, *dst)) {
            count += 1;
            if first.len() < NAMED {
                first.push((src, dst));
            }
        }
        Self { pairs: Some(count), first }
    }

    /// Searches the connected parts of the remaining fabric. Messages do not cross nodes, except those on
    /// network links.
    fn by_components(fabric: &Fabric) -> Self {
        let (graph, open) = (fabric.graph(), fabric.crossable());
        // Strongly connected parts, and the parts that each leads to.
        let mut crossed: DiGraph<(), ()> = DiGraph::with_capacity(graph.node_count(), graph.edge_count());
        (0..graph.node_count()).for_each(|_| {
            crossed.add_node(());
        });
        for edge in graph.edge_references() {
            if open[edge.source().index()] && open[edge.target().index()] {
                crossed.add_edge(edge.source(), edge.target(), ());
            }
        }
        let parts = kosaraju_scc(&crossed);
        let mut part_of = vec![0_u32; graph.node_count()];
        for (number, part) in (0..).zip(&parts) {
            part.iter().for_each(|vertex| part_of[vertex.index()] = number);
        }
        let mut leads: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for edge in crossed.edge_references() {
            let (from, to) = (part_of[edge.source().index()], part_of[edge.target().index()]);
            if from != to {
                leads.entry(from).or_default().insert(to);
            }
        }
        // Nodes with links to and from the same parts are alike.
        let mut classes: BTreeMap<(Vec<u32>, Vec<u32>), Vec<NodeId>> = BTreeMap::new();
        for node in fabric.node_ids() {
            let at = NodeIndex::new(node.index());
            let around = |direction| {
                let next = graph.neighbors_directed(at, direction).filter(|vertex| open[vertex.index()]);
                let mut parts: Vec<u32> = next.map(|vertex| part_of[vertex.index()]).collect();
                if open[node.index()] {
                    parts.push(part_of[node.index()]);
                }
                parts.sort_unstable();
                parts.dedup();
                parts
            };
            let key = (around(petgraph::Direction::Outgoing), around(petgraph::Direction::Incoming));
            classes.entry(key).or_default().push(node);
        }
        let (mut count, mut first) = (0_u64, Vec::new());
        for ((out, _), sources) in &classes {
            let mut reached: BTreeSet<u32> = out.iter().copied().collect();
            let mut next: Vec<u32> = out.clone();
            while let Some(part) = next.pop() {
                next.extend(leads.get(&part).into_iter().flatten().filter(|part| reached.insert(**part)));
            }
            for ((_, into), targets) in &classes {
                if into.iter().any(|part| reached.contains(part)) {
                    continue;
                }
                let same = if std::ptr::eq(sources, targets) { sources.len() as u64 } else { 0 };
                count += sources.len() as u64 * targets.len() as u64 - same;
                let pairs = sources.iter().take(NAMED + 1).flat_map(|&src| {
                    targets.iter().take(NAMED + 1).map(move |&dst| (src, dst)).filter(|(src, dst)| src != dst)
                });
                first.extend(pairs.take(NAMED));
            }
        }
        first.sort_unstable();
        first.truncate(NAMED);
        Self { pairs: Some(count), first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Tree;
    use crate::ids::LinkId;
    use crate::rng::Stream;
    use crate::routing::RoutingSpec;
    use crate::units::{Bandwidth, Time};
    use std::sync::Arc;

    #[test]
    fn as_many_pairs_are_cut_off_as_have_no_route() {
        let mut random = Stream::new(7, "cut off");
        for round in 0..30 {
            let tree = Tree { down: vec![3, 4], up: vec![1, 2], parallel: vec![1, 1] };
            let whole = tree.build("tree".to_owned(), |_| (Bandwidth::from_bytes_per_second(1e9), Time::ZERO));
            let links = whole.links().len() as u64;
            let failed: Vec<LinkId> = (0..round).map(|_| LinkId(random.below(links) as u32)).collect();
            let left = Arc::new(whole.altered(&failed, &[]));
            for name in ["shortest-path", "d-mod-k", "minimal"] {
                let router = RoutingSpec::parse_name(name).unwrap().build(&left, 1).unwrap();
                let found = CutOff::of(&left, &*router);
                let asked = CutOff::by_pairs(&left, &*router);
                assert_eq!(found.pairs, asked.pairs, "{name}, {failed:?}");
                assert_eq!(found.first.len(), asked.first.len(), "{name}, {failed:?}");
                assert!(found.first.iter().all(|&(src, dst)| !router.reaches(src, dst)), "{name}, {failed:?}");
            }
        }
    }
}
