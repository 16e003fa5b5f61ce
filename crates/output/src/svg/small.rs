//! Small members of a family: what is drawn in place of a fabric that is too large.

use super::layout::irregular::{Core, MOST_NODES};
use hayase::fabric::{CrossbarGrid, Fabric, FabricBuilder, Grid, Labels, Link, LinkRole, Shape, Tree};
use hayase::ids::{Id, VertexId};
use hayase::units::{Bandwidth, Time};

/// Most switches and links of a fabric that is drawn whole.
const MOST_SWITCHES: u32 = 420;
const MOST_LINKS: usize = 3000;
/// Most nodes along one dimension of a grid that is drawn whole, and of a ring.
const LONGEST_ROW: u32 = 40;
const LONGEST_RING: u32 = 128;
/// Most nodes of what is drawn instead.
const FEW_NODES: u32 = 64;
/// Most switches of an irregular graph whose nodes are only counted.
const MOST_COUNTED: usize = 150;
/// Most vertices of the part of an irregular graph that is drawn instead.
const FEW_VERTICES: usize = 120;

/// Bandwidth and latency.
type Cable = (Bandwidth, Time);

/// A fabric of the same family, small enough to be drawn, and what it is; `None` where `fabric` can be drawn whole.
///
/// A tree keeps its levels and, up to rounding, its ratio of links up and down; a grid its dimensions; of an
/// irregular graph what is nearest to node 0.
pub fn small_member(fabric: &Fabric) -> Option<(Fabric, String)> {
    let too_many =
        fabric.nodes() > MOST_NODES || fabric.switches() > MOST_SWITCHES || fabric.links().len() > MOST_LINKS;
    let rows = |dims: &[u32]| {
        let ring = dims.iter().filter(|&&dim| dim > 1).count() == 1;
        dims.iter().any(|&dim| dim > if ring { LONGEST_RING } else { LONGEST_ROW })
    };
    match fabric.shape() {
        Shape::Tree(tree) if too_many => Some(small_tree(fabric, tree)),
        Shape::Grid(grid) if too_many || rows(&grid.dims) => Some(small_grid(fabric, grid)),
        Shape::CrossbarGrid(grid) if too_many || rows(&grid.dims) => Some(small_crossbars(fabric, grid)),
        Shape::Irregular if too_many && !is_told_by_switches(fabric) => Some(neighbourhood(fabric)),
        _ => None,
    }
}

/// Whether an irregular graph is small enough without the nodes that have a link to one switch alone: these are then
/// counted there.
fn is_told_by_switches(fabric: &Fabric) -> bool {
    let core = Core::of(fabric);
    let between = |link: &&Link| {
        link.ends.is_some_and(|(from, to)| core.home[from.index()].is_none() && core.home[to.index()].is_none())
    };
    core.vertices.len() <= MOST_COUNTED && fabric.links().iter().filter(between).count() <= MOST_LINKS
}

/// Bandwidth and latency of the first link with this role.
fn like(fabric: &Fabric, role: LinkRole) -> Cable {
    let link = fabric.links().iter().find(|link| link.role == role).or_else(|| fabric.links().iter().next());
    link.map_or((Bandwidth::from_bytes_per_second(0.0), Time::ZERO), |link| (link.capacity, link.latency))
}

fn small_tree(fabric: &Fabric, tree: &Tree) -> (Fabric, String) {
    let mut small = tree.clone();
    let mut divisor = 1;
    while small.nodes() > FEW_NODES || small.size().is_none_or(|(_, switches, _)| switches > 90) {
        divisor += 1;
        let scaled = |list: &[u32]| list.iter().map(|&x| ((x + divisor / 2) / divisor).max(x.min(2))).collect();
        small.down = scaled(&tree.down);
        small.up = scaled(&tree.up);
        small.parallel = tree.parallel.iter().map(|&x| x.min(2)).collect();
        if small.down.iter().all(|&x| x <= 2) && small.up.iter().all(|&x| x <= 2) {
            break;
        }
    }
    while small.levels() > 1 && (small.nodes() > FEW_NODES || small.size().is_none_or(|(_, switches, _)| switches > 90))
    {
        small.down.pop();
        small.up.pop();
        small.parallel.pop();
    }
    let nodes = small.nodes();
    let of = |role: LinkRole| like(fabric, role);
    let drawn = small.clone().build(fabric.name().to_owned(), of);
    let lists = |tree: &Tree| {
        let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        format!("down {}; up {}; parallel {}", list(&tree.down), list(&tree.up), list(&tree.parallel))
    };
    let levels = if small.levels() < tree.levels() {
        format!(", and only its lowest {} levels of {}", small.levels(), tree.levels())
    } else {
        String::new()
    };
    let text = format!(
        "a small member of the family with {nodes} nodes ({}) instead of {} ({}){levels}",
        lists(&small),
        fabric.nodes(),
        lists(tree)
    );
    (drawn, text)
}

/// The same dimensions, shorter.
fn shorter(dims: &[u32]) -> Vec<u32> {
    let mut small = dims.to_vec();
    let nodes = |dims: &[u32]| dims.iter().map(|&dim| u64::from(dim)).product::<u64>();
    // Three of a kind show how ends are joined; in the fourth dimension and up two must do, or one.
    for least in [|_| 3, |dim| if dim < 3 { 3 } else { 2 }, |dim| if dim < 3 { 3 } else { 1 }] as [fn(usize) -> u32; 3]
    {
        while nodes(&small) > u64::from(FEW_NODES) {
            let longest = (0..small.len()).filter(|&dim| small[dim] > least(dim)).max_by_key(|&dim| (small[dim], dim));
            match longest {
                Some(dim) => small[dim] -= 1,
                None => break,
            }
        }
    }
    small
}

/// `4 x 4 x 3`.
fn times(dims: &[u32]) -> String {
    dims.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ")
}

fn instead(small: &[u32], dims: &[u32]) -> String {
    format!("a small member of the family, {} nodes instead of {}", times(small), times(dims))
}

fn small_grid(fabric: &Fabric, grid: &Grid) -> (Fabric, String) {
    let small = Grid::new(shorter(&grid.dims), grid.wrap.clone(), grid.host_link);
    let text = instead(&small.dims, &grid.dims);
    (small.build(fabric.name().to_owned(), |role| like(fabric, role)), text)
}

fn small_crossbars(fabric: &Fabric, grid: &CrossbarGrid) -> (Fabric, String) {
    let small = CrossbarGrid { dims: shorter(&grid.dims), host_link: grid.host_link };
    let text = instead(&small.dims, &grid.dims);
    (small.build(fabric.name().to_owned(), |role| like(fabric, role)), text)
}

/// The vertices nearest to node 0, breadth first, and the links among them.
fn neighbourhood(fabric: &Fabric) -> (Fabric, String) {
    let graph = fabric.graph();
    let mut kept = vec![false; graph.node_count()];
    let mut queue = std::collections::VecDeque::new();
    let mut found = 0;
    for start in graph.node_indices() {
        if found >= FEW_VERTICES {
            break;
        }
        // Nodes that nothing joins to the first are taken in order, as long as there is room.
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
    for Link { ends, capacity, latency, role } in fabric.links().iter() {
        if let Some((from, to)) = ends
            && kept[from.index()]
            && kept[to.index()]
        {
            let (from, to) = (VertexId(number[from.index()]), VertexId(number[to.index()]));
            builder.link(from, to, *capacity, *latency, *role);
        }
    }
    let text = format!(
        "the part nearest to {}: {} of {} nodes and switches",
        names.first().map_or("node 0", String::as_str),
        names.len(),
        kept.len()
    );
    builder.labels(Labels { vertices: names, links: Vec::new() });
    (builder.finish(Shape::Irregular), text)
}
