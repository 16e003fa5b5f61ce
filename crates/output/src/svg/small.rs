//! Small members of a family, drawn in place of fabrics that are too large.

use super::layout::irregular::{Core, MOST_NODES};
use hayase::fabric::{Fabric, FabricBuilder, Irregular, Labels, Link, Sketch};
use hayase::ids::{Id, VertexId};

/// Largest numbers of switches and links of a fabric that is drawn whole.
const MOST_SWITCHES: u32 = 420;
const MOST_LINKS: usize = 3000;
/// Largest number of switches of an irregular graph whose nodes are only counted.
const MOST_COUNTED: usize = 150;
/// Largest number of vertices of the part of an irregular graph that is drawn instead.
const FEW_VERTICES: usize = 120;

/// Returns a fabric of the same family that is small enough to be drawn, and its description; `None` if
/// `fabric` itself can be drawn.
///
/// A tree keeps its levels and, up to rounding, its ratio of links up and down; a grid keeps its dimensions.
/// Of an irregular graph, the part nearest to node 0 is kept.
pub fn small_member(fabric: &Fabric) -> Option<(Fabric, String)> {
    let too_many =
        fabric.nodes() > MOST_NODES || fabric.switches() > MOST_SWITCHES || fabric.links().len() > MOST_LINKS;
    match fabric.family().sketch() {
        Sketch::Distances if too_many && !is_told_by_switches(fabric) => {
            Some(fabric.family().small_member(fabric, true).unwrap_or_else(|| neighbourhood(fabric)))
        }
        Sketch::Distances => None,
        _ => fabric.family().small_member(fabric, too_many),
    }
}

/// True if an irregular graph is small enough without the nodes that are linked to a single switch. These
/// nodes are then counted at their switches.
fn is_told_by_switches(fabric: &Fabric) -> bool {
    let core = Core::of(fabric);
    let between = |link: &&Link| {
        link.ends.is_some_and(|(from, to)| core.home[from.index()].is_none() && core.home[to.index()].is_none())
    };
    core.vertices.len() <= MOST_COUNTED && fabric.links().iter().filter(between).count() <= MOST_LINKS
}

/// Returns the vertices nearest to node 0, breadth first, and the links among them.
fn neighbourhood(fabric: &Fabric) -> (Fabric, String) {
    let graph = fabric.graph();
    let mut kept = vec![false; graph.node_count()];
    let mut queue = std::collections::VecDeque::new();
    let mut found = 0;
    for start in graph.node_indices() {
        if found >= FEW_VERTICES {
            break;
        }
        // Nodes that are not connected to the first are taken in order, as long as there is room.
        queue.push_back(start);
        while let Some(vertex) = queue.pop_front() {
            if kept[vertex.index()] || found >= FEW_VERTICES {
                continue;
            }
            kept[vertex.index()] = true;
            found += 1;
            let mut next: Vec<_> = graph.neighbors_undirected(vertex).collect();
            next.sort();
            queue.extend(next.into_iter().filter(|next| !kept[next.index()]));
        }
    }
    let mut number = vec![u32::MAX; kept.len()];
    let mut names = Vec::new();
    for vertex in (0..kept.len()).filter(|&vertex| kept[vertex]) {
        number[vertex] = names.len() as u32;
        names.push(fabric.vertex_name(VertexId::from_index(vertex)));
    }
    let nodes = (0..fabric.nodes() as usize).filter(|&vertex| kept[vertex]).count() as u32;
    let mut builder = FabricBuilder::new(fabric.name(), nodes, names.len() as u32 - nodes);
    let (mut failed, mut degraded) = (Vec::new(), Vec::new());
    for (id, Link { ends, capacity, latency, role }) in fabric.links().iter_ids() {
        if let Some((from, to)) = ends
            && kept[from.index()]
            && kept[to.index()]
        {
            let (from, to) = (VertexId(number[from.index()]), VertexId(number[to.index()]));
            let built = fabric.built_for(id);
            let link = builder.link(from, to, built.unwrap_or(*capacity), *latency, *role);
            failed.extend(fabric.has_failed(id).then_some(link));
            degraded.extend(built.map(|_| (link, *capacity)));
        }
    }
    let text = format!(
        "the part nearest to {}: {} of {} nodes and switches",
        names.first().map_or("node 0", String::as_str),
        names.len(),
        kept.len()
    );
    builder.labels(Labels { vertices: names, links: Vec::new() });
    (builder.finish(Irregular).altered(&failed, &degraded), text)
}
