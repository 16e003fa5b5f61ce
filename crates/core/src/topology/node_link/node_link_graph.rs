//! Graph of a node-link file, and its conversion to a fabric.

use rustc_hash::FxHashMap;

use crate::diagnostic::{Diagnostic, Span};
use crate::fabric::{Fabric, FabricBuilder, Irregular, Labels, LinkRole};
use crate::ids::VertexId;
use crate::topology::common::{MOST_LINKS, MOST_NODES};
use crate::units::{Bandwidth, Time};

/// Kind of a vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VertexKind {
    Node,
    Switch,
}

/// Vertex of the file.
pub(super) struct Vertex {
    pub name: String,
    pub kind: Option<VertexKind>,
    pub endpoints: Option<u32>,
    pub span: Span,
}

/// Edge of the file, between vertices by their positions.
pub(super) struct Edge {
    pub ends: (u32, u32),
    pub bandwidth: Option<Bandwidth>,
    pub latency: Option<Time>,
    pub name: Option<String>,
    pub span: Span,
}

/// Content of a node-link file.
pub(super) struct NodeLinkGraph {
    pub directed: bool,
    pub vertices: Vec<Vertex>,
    pub edges: Vec<Edge>,
}

/// Number of mistakes at which reading stops.
pub(super) const MOST_MISTAKES: usize = 20;

impl NodeLinkGraph {
    /// Returns the kind of each vertex.
    fn kinds(&self, mistakes: &mut Vec<Diagnostic>) -> Vec<VertexKind> {
        let hosts_hang = self.vertices.iter().any(|vertex| vertex.endpoints.is_some());
        let some_say = self.vertices.iter().any(|vertex| vertex.kind.is_some());
        let mut edges = vec![0_u32; self.vertices.len()];
        for edge in &self.edges {
            edges[edge.ends.0 as usize] += 1;
            // In a directed graph a link each way is one cable.
            if !self.directed {
                edges[edge.ends.1 as usize] += 1;
            }
        }
        let mut kinds = Vec::with_capacity(self.vertices.len());
        for (vertex, &edges) in self.vertices.iter().zip(&edges) {
            kinds.push(match vertex.kind {
                Some(kind) => kind,
                None if hosts_hang => VertexKind::Switch,
                None if some_say => {
                    if mistakes.len() < MOST_MISTAKES {
                        let message = format!("vertex `{}` has no kind, as others do", vertex.name);
                        let mistake = Diagnostic::new("no-kind", message).at(vertex.span);
                        mistakes.push(mistake.label("\"kind\": \"node\" or \"switch\" is expected"));
                    }
                    VertexKind::Switch
                }
                None if edges <= 1 => VertexKind::Node,
                None => VertexKind::Switch,
            });
        }
        kinds
    }

    /// Builds the fabric; `default` holds the bandwidth and latency of edges that have none.
    pub fn fabric(self, name: String, default: (Option<Bandwidth>, Time)) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        let kinds = self.kinds(&mut mistakes);
        let hanging: u64 = self.vertices.iter().map(|vertex| u64::from(vertex.endpoints.unwrap_or(0))).sum();
        let drawn = kinds.iter().filter(|&&kind| kind == VertexKind::Node).count() as u64;
        let links = self.edges.len() as u64 * if self.directed { 1 } else { 2 } + 2 * hanging;
        if drawn + hanging == 0 {
            let message = "no vertex is a node, so that there is nowhere to send from";
            let help = "give vertices \"kind\": \"node\", or switches \"endpoints\": 16";
            return Err(vec![Diagnostic::new("no-nodes", message).help(help)]);
        }
        if drawn + hanging > MOST_NODES || links > MOST_LINKS {
            let message = format!("this graph has {} nodes and {links} links", drawn + hanging);
            let most = format!("a fabric has at most {MOST_NODES} nodes and {MOST_LINKS} links");
            return Err(vec![Diagnostic::new("too-large", message).help(most)]);
        }
        let nodes = (drawn + hanging) as u32;
        let (mut next_node, mut next_switch) = (0, nodes);
        let mut names = vec![String::new(); (u64::from(nodes) + kinds.len() as u64 - drawn) as usize];
        let mut at = Vec::with_capacity(kinds.len());
        // Switches with endpoints, and the first node of each.
        let mut hosts: Vec<(u32, u32, u32)> = Vec::new();
        for (vertex, kind) in self.vertices.iter().zip(&kinds) {
            let number = match kind {
                VertexKind::Node => &mut next_node,
                VertexKind::Switch => &mut next_switch,
            };
            at.push(*number);
            names[*number as usize] = vertex.name.clone();
            *number += 1;
            if let (VertexKind::Switch, Some(count @ 1..)) = (kind, vertex.endpoints) {
                let switch = next_switch - 1;
                hosts.push((switch, next_node, count));
                for node in next_node..next_node + count {
                    names[node as usize] = format!("node {node}");
                }
                next_node += count;
            }
        }
        let mut builder = FabricBuilder::new(name, nodes, names.len() as u32 - nodes);
        let mut link_names = Vec::new();
        let mut crossed = vec![false; nodes as usize];
        for edge in &self.edges {
            let (a, b) = (at[edge.ends.0 as usize], at[edge.ends.1 as usize]);
            if a < nodes && b < nodes {
                (crossed[a as usize], crossed[b as usize]) = (true, true);
            }
        }
        let is_host = |vertex: u32| vertex < nodes && !crossed[vertex as usize];
        let role = |from: u32, to: u32| match (is_host(from), is_host(to)) {
            (true, _) => LinkRole::Injection,
            (_, true) => LinkRole::Ejection,
            _ => LinkRole::Network { tier: 0 },
        };
        let none = |span: Span| {
            Diagnostic::new("no-bandwidth", "this edge has no bandwidth")
                .at(span)
                .label("\"bandwidth\": 12.5e9 or \"12.5 GB/s\" is expected")
                .help("or give all edges one: --set topology.graph.bandwidth=\"12.5 GB/s\"")
        };
        let named = self.edges.iter().any(|edge| edge.name.is_some());
        let mut add = |from: u32, to: u32, bandwidth, latency, name: Option<&str>| {
            builder.link(VertexId(from), VertexId(to), bandwidth, latency, role(from, to));
            if named {
                let own = || format!("{} -> {}", names[from as usize], names[to as usize]);
                link_names.push(name.map_or_else(own, str::to_owned));
            }
        };
        for edge in &self.edges {
            let Some(bandwidth) = edge.bandwidth.or(default.0) else {
                mistakes.push(none(edge.span));
                if mistakes.len() >= MOST_MISTAKES {
                    break;
                }
                continue;
            };
            let latency = edge.latency.unwrap_or(default.1);
            let (from, to) = (at[edge.ends.0 as usize], at[edge.ends.1 as usize]);
            add(from, to, bandwidth, latency, edge.name.as_deref());
            if !self.directed {
                add(to, from, bandwidth, latency, None);
            }
        }
        for &(switch, first, count) in &hosts {
            let Some(bandwidth) = default.0 else {
                let message = "the links of `endpoints` have no bandwidth";
                let help = "give it: --set topology.graph.bandwidth=\"12.5 GB/s\"";
                mistakes.push(Diagnostic::new("no-bandwidth", message).help(help));
                break;
            };
            for node in first..first + count {
                add(node, switch, bandwidth, default.1, None);
                add(switch, node, bandwidth, default.1, None);
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        builder.labels(Labels { vertices: names, links: link_names });
        Ok(builder.finish(Irregular))
    }
}

/// Positions of vertices by their ids.
pub(super) type ById = FxHashMap<String, u32>;
