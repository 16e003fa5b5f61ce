//! Names of switches and links, and paths written with them.

use std::ops::Range;

use rustc_hash::FxHashMap;

use petgraph::graph::NodeIndex;

use super::Fabric;
use crate::diagnostic::{Diagnostic, closest};
use crate::ids::{Id, LinkId, VertexId};

/// Returns all nodes and switches by name; ambiguous names go to the first vertex.
pub(crate) fn vertices_by_name(fabric: &Fabric) -> FxHashMap<String, VertexId> {
    let mut by_name = FxHashMap::default();
    // The first vertex of a name keeps it.
    for vertex in (0..fabric.nodes() + fabric.switches()).rev().map(VertexId) {
        by_name.insert(fabric.vertex_name(vertex), vertex);
    }
    by_name
}

/// Returns the links that leave a vertex with their names, in order of their numbers. Links of the same name,
/// such as parallel cables, are called `NAME #1`, `NAME #2` and so on.
pub(crate) fn link_names(fabric: &Fabric, vertex: VertexId) -> Vec<(LinkId, String)> {
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

/// Returns the links of a path. `text` names every node and switch on it, joined by ` -> `; `#2` after a name chooses
/// the second of parallel links. A given end is the one that the path must have.
///
/// # Errors
/// The first mistake, with its range in the text \[B\]: an unknown name, a step without a link or with several, a link
/// that occurs twice, or another end.
pub(crate) fn read_path(
    fabric: &Fabric,
    by_name: &FxHashMap<String, VertexId>,
    text: &str,
    (src, dst): (Option<VertexId>, Option<VertexId>),
) -> Result<Vec<LinkId>, Box<(Range<usize>, Diagnostic)>> {
    let wrong = |range: Range<usize>, mistake: Diagnostic| Err(Box::new((range, mistake)));
    let mut links = Vec::new();
    let elsewhere = |at: Option<VertexId>, end: Option<VertexId>| end.filter(|end| at != Some(*end));
    let mut at: Option<VertexId> = None;
    let mut offset = 0;
    for step in text.split(" -> ") {
        let range = offset..offset + step.len();
        offset += step.len() + " -> ".len();
        let (name, number) = match (by_name.get(step.trim()), step.rsplit_once(" #")) {
            (None, Some((name, number))) => (name.trim(), number.trim().parse::<usize>().ok()),
            _ => (step.trim(), Some(0)),
        };
        let vertex = by_name.get(name).or_else(|| by_name.get(&format!("node {name}")));
        let (Some(&vertex), Some(number)) = (vertex, number) else {
            return wrong(range, unknown(step.trim(), by_name));
        };
        let Some(before) = at.replace(vertex) else {
            if let Some(src) = elsewhere(at, src) {
                let label = format!("`{}` is expected", fabric.vertex_name(src));
                return wrong(range, Diagnostic::new("bad-path", "the path starts elsewhere").label(label));
            }
            continue;
        };
        let between = links_between(fabric, before, vertex);
        let link = match number {
            0 => between.first().filter(|_| between.len() == 1),
            number => between.get(number - 1),
        };
        let Some(&link) = link else {
            let from = fabric.vertex_name(before);
            let mistake = match between.len() {
                0 => Diagnostic::new("bad-path", format!("no link leads here from `{from}`")),
                several => Diagnostic::new("bad-path", format!("{several} links lead here from `{from}`"))
                    .label(format!("`{name} #1` for the first of them")),
            };
            return wrong(range, mistake);
        };
        if links.contains(&link) {
            return wrong(range, Diagnostic::new("bad-path", "a path crosses a link twice"));
        }
        links.push(link);
    }
    match elsewhere(at, dst) {
        Some(dst) => {
            let label = format!("`{}` is expected at its end", fabric.vertex_name(dst));
            wrong(0..text.len(), Diagnostic::new("bad-path", "the path ends elsewhere").label(label))
        }
        None => Ok(links),
    }
}

/// Returns the mistake of a name that no node and no switch has.
pub(crate) fn unknown(name: &str, by_name: &FxHashMap<String, VertexId>) -> Diagnostic {
    let mistake = Diagnostic::new("unknown-vertex", format!("there is no node or switch `{name}`"));
    let mut names: Vec<&str> = by_name.keys().map(String::as_str).collect();
    names.sort_unstable();
    match closest(name, names) {
        Some(near) => mistake.help(format!("did you mean `{near}`?")),
        None => mistake.help("`hayase topology show -o x.json` lists the names"),
    }
}

/// Returns the links from one vertex to another, in order of their numbers.
pub(crate) fn links_between(fabric: &Fabric, from: VertexId, to: VertexId) -> Vec<LinkId> {
    let edges = fabric.graph().edges_connecting(NodeIndex::new(from.index()), NodeIndex::new(to.index()));
    let mut links: Vec<LinkId> = edges.map(|edge| *edge.weight()).collect();
    links.sort_unstable();
    links
}
