//! Names of switches and links.

use rustc_hash::FxHashMap;

use petgraph::graph::NodeIndex;

use crate::fabric::Fabric;
use crate::ids::{Id, LinkId, VertexId};

/// Returns all nodes and switches by name; ambiguous names go to the first vertex.
pub(super) fn vertices_by_name(fabric: &Fabric) -> FxHashMap<String, VertexId> {
    let mut by_name = FxHashMap::default();
    // The first vertex of a name keeps it.
    for vertex in (0..fabric.nodes() + fabric.switches()).rev().map(VertexId) {
        by_name.insert(fabric.vertex_name(vertex), vertex);
    }
    by_name
}

/// Returns the links that leave a vertex with their names, in order of their numbers. Links of the same name,
/// such as parallel cables, are called `NAME #1`, `NAME #2` and so on.
pub(super) fn link_names(fabric: &Fabric, vertex: VertexId) -> Vec<(LinkId, String)> {
    let mut links: Vec<LinkId> =
        fabric.graph().edges(NodeIndex::new(vertex.index())).map(|edge| *edge.weight()).collect();
    links.sort_unstable();
    let mut counts = FxHashMap::<String, u32>::default();
    for &link in &links {
        *counts.entry(fabric.link_name(link)).or_default() += 1;
    }
    let mut seen = FxHashMap::<String, u32>::default();
    let name = |link: LinkId| {
        let name = fabric.link_name(link);
        if counts[&name] == 1 {
            return (link, name);
        }
        let number = seen.entry(name.clone()).or_default();
        *number += 1;
        (link, format!("{name} #{number}"))
    };
    links.into_iter().map(name).collect()
}

/// Returns the links from one vertex to another, in order of their numbers.
pub(super) fn links_between(fabric: &Fabric, from: VertexId, to: VertexId) -> Vec<LinkId> {
    let edges = fabric.graph().edges_connecting(NodeIndex::new(from.index()), NodeIndex::new(to.index()));
    let mut links: Vec<LinkId> = edges.map(|edge| *edge.weight()).collect();
    links.sort_unstable();
    links
}
