//! Graphviz description of a fabric.

use std::collections::BTreeMap;
use std::fmt::Write;

use hayase::fabric::{Fabric, Link};
use hayase::ids::{LinkId, VertexId};

/// Writes a fabric as a Graphviz digraph: nodes as ellipses, switches as boxes, edges labelled with their
/// bandwidth and, if there is one, their latency.
///
/// Two equal links in opposite directions are one edge without arrow heads (`dir=none`); any other link is an
/// arrow. Links that are known from routes alone have no ends and are listed in a comment. Failed parts are
/// dotted and red. Links with a changed bandwidth are dashed and show both bandwidths.
pub fn write(fabric: &Fabric) -> String {
    let mut dot = format!("digraph {} {{\n", quote(fabric.name()));
    dot.push_str("  graph [overlap=false, splines=true];\n  node [fontsize=10];\n  edge [fontsize=8];\n");
    for vertex in (0..fabric.nodes() + fabric.switches()).map(VertexId) {
        let shape = if vertex.0 < fabric.nodes() { "ellipse" } else { "box" };
        let failed = if fabric.is_isolated(vertex) { ", color=red, style=dotted" } else { "" };
        let _ = writeln!(dot, "  v{vertex} [shape={shape}, label={}{failed}];", quote(&fabric.vertex_name(vertex)));
    }
    // By ends: edges that have one direction so far.
    let mut waiting: BTreeMap<(VertexId, VertexId), Vec<usize>> = BTreeMap::new();
    let mut edges: Vec<(LinkId, bool)> = Vec::new();
    for (id, link) in fabric.links().iter_ids() {
        let Some((from, to)) = link.ends else { continue };
        let reverse = waiting.get_mut(&(to, from)).filter(|_| from != to);
        let partner = reverse.and_then(|list| {
            let at = list.iter().position(|&edge| alike(fabric, edges[edge].0, id))?;
            Some(list.remove(at))
        });
        match partner {
            Some(edge) => edges[edge].1 = true,
            None => {
                waiting.entry((from, to)).or_default().push(edges.len());
                edges.push((id, false));
            }
        }
    }
    for (id, both) in edges {
        let link = fabric.link(id);
        if let Some((from, to)) = link.ends {
            let direction = if both { ", dir=none" } else { "" };
            let state = match fabric.built_for(id) {
                _ if fabric.has_failed(id) => ", color=red, style=dotted",
                Some(_) => ", color=orange, style=dashed",
                None => "",
            };
            let _ = writeln!(dot, "  v{from} -> v{to} [label={}{direction}{state}];", quote(&label(fabric, id)));
        }
    }
    for (id, _) in fabric.links().iter_ids().filter(|(_, link)| link.ends.is_none()) {
        let _ = writeln!(dot, "  // without ends: {} ({})", comment(&fabric.link_name(id)), label(fabric, id));
    }
    dot.push_str("}\n");
    dot
}

/// True if two links could be the two directions of one cable.
fn alike(fabric: &Fabric, a: LinkId, b: LinkId) -> bool {
    let of = |id| {
        let link: &Link = fabric.link(id);
        (link.capacity, link.latency, fabric.has_failed(id), fabric.built_for(id))
    };
    of(a) == of(b)
}

/// Returns the label of a link: `1 GB/s` or `1 GB/s, 500 ns`; `failed` for a failed one, and `500 MB/s of 1
/// GB/s` for one with a changed bandwidth.
fn label(fabric: &Fabric, id: LinkId) -> String {
    let link = fabric.link(id);
    let capacity = match fabric.built_for(id) {
        _ if fabric.has_failed(id) => return "failed".to_owned(),
        Some(built) => format!("{} of {built}", link.capacity),
        None => link.capacity.to_string(),
    };
    if link.latency.ps() == 0.0 { capacity } else { format!("{capacity}, {}", link.latency) }
}

/// Quotes a text as a Graphviz string.
fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    format!("\"{escaped}\"")
}

/// Replaces line breaks by blanks.
fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::fabric::{FabricBuilder, Irregular, Labels, LinkRole};
    use hayase::units::{Bandwidth, Time};

    #[test]
    fn a_cable_is_one_edge_and_a_single_direction_an_arrow() {
        let mut builder = FabricBuilder::new("two \"nodes\"", 2, 1);
        let fast = Bandwidth::from_bytes_per_second(1e9);
        let slow = Bandwidth::from_bytes_per_second(5e8);
        let network = LinkRole::Network { tier: 0 };
        builder.link(VertexId(0), VertexId(2), fast, Time::ZERO, network);
        builder.link(VertexId(2), VertexId(0), fast, Time::ZERO, network);
        builder.link(VertexId(1), VertexId(2), fast, Time::ZERO, network);
        builder.link(VertexId(2), VertexId(1), slow, Time::from_ps(5e5), network);
        builder.loose_link(fast, Time::ZERO);
        builder.labels(Labels { vertices: vec!["a".into(), "b\\".into(), "s\"w".into()], links: Vec::new() });
        assert_eq!(
            write(&builder.finish(Irregular)),
            r#"digraph "two \"nodes\"" {
  graph [overlap=false, splines=true];
  node [fontsize=10];
  edge [fontsize=8];
  v0 [shape=ellipse, label="a"];
  v1 [shape=ellipse, label="b\\"];
  v2 [shape=box, label="s\"w"];
  v0 -> v2 [label="1 GB/s", dir=none];
  v1 -> v2 [label="1 GB/s"];
  v2 -> v1 [label="500 MB/s, 500 ns"];
  // without ends: link 4 (1 GB/s)
}
"#
        );
    }

    #[test]
    fn what_has_failed_and_what_is_slower_says_so() {
        let mut builder = FabricBuilder::new("three", 1, 2);
        let fast = Bandwidth::from_bytes_per_second(1e9);
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2)] {
            builder.link(VertexId(from), VertexId(to), fast, Time::ZERO, LinkRole::Network { tier: 0 });
        }
        let half = Bandwidth::from_bytes_per_second(5e8);
        let dot = write(&builder.finish(Irregular).altered(&[LinkId(2), LinkId(4), LinkId(3)], &[(LinkId(1), half)]));
        let edges: Vec<&str> = dot.lines().skip(5).map(str::trim).collect();
        assert_eq!(
            edges,
            [
                r#"v1 [shape=box, label="switch 0"];"#,
                r#"v2 [shape=box, label="switch 1", color=red, style=dotted];"#,
                r#"v0 -> v1 [label="1 GB/s"];"#,
                r#"v1 -> v0 [label="500 MB/s of 1 GB/s", color=orange, style=dashed];"#,
                r#"v1 -> v2 [label="failed", dir=none, color=red, style=dotted];"#,
                r#"v0 -> v2 [label="failed", color=red, style=dotted];"#,
                "}"
            ]
        );
    }
}
