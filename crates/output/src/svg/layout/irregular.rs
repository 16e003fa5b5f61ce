//! Graphs without a known structure. If switches are joined like a tree, they stand in layers above the
//! nodes. Otherwise distances in the picture follow those along links, and nodes stand around their switch.

use super::{Cable, Caption, Layout, Mark, Placed, cables, caption, short_name, stress};
use crate::svg::canvas::{Anchor, Point, fit, text_width};
use hayase::base::Arrange;
use hayase::fabric::Fabric;
use hayase::ids::{Id, VertexId};

/// Largest number of nodes that are drawn one by one.
pub(in crate::svg) const MOST_NODES: u32 = 256;

pub(super) fn layout(fabric: &Fabric) -> Layout {
    let cables = cables(fabric);
    if cables.is_empty() {
        return rows(fabric);
    }
    let neighbours = neighbours(fabric, &cables);
    let core = Core::among(fabric, &neighbours);
    let layers = layers(fabric, &neighbours);
    // Links of nodes always lead from one layer to the next, so only links between switches show if the graph is a
    // tree.
    let between =
        |cable: &&Cable| core.home[cable.ends.0.index()].is_none() && core.home[cable.ends.1.index()].is_none();
    let switches = cables.iter().filter(between).count();
    let level = |cable: &&Cable| layers[cable.ends.0.index()] == layers[cable.ends.1.index()];
    let inside = cables.iter().filter(between).filter(level).count();
    let joined = core.vertices.iter().all(|&vertex| !neighbours[vertex].is_empty());
    let tree = layers.iter().any(|&layer| layer > 1) && switches > 0 && inside * 5 <= switches && joined;
    if tree && fabric.nodes() <= MOST_NODES {
        layered(fabric, &layers, &neighbours, cables)
    } else {
        by_distances(fabric, &core, &neighbours, cables)
    }
}

/// Counts the cables from each vertex to the nearest node. Vertices that no node reaches are in the top
/// layer.
fn layers(fabric: &Fabric, neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut layers = vec![usize::MAX; neighbours.len()];
    let mut queue: std::collections::VecDeque<usize> = (0..fabric.nodes() as usize).collect();
    for &node in &queue {
        layers[node] = 0;
    }
    let mut highest = 0;
    while let Some(vertex) = queue.pop_front() {
        highest = layers[vertex];
        for &next in &neighbours[vertex] {
            if layers[next] == usize::MAX {
                layers[next] = layers[vertex] + 1;
                queue.push_back(next);
            }
        }
    }
    for layer in &mut layers {
        *layer = (*layer).min(highest + 1);
    }
    layers
}

/// Returns the mark of a vertex at this place.
fn placed(fabric: &Fabric, vertex: usize, at: Point, room: f64) -> Placed {
    let text = short_name(fabric, VertexId::from_index(vertex));
    if (vertex as u32) < fabric.nodes() {
        let text = fit(&text, 9.0, room.max(12.0));
        let label = (room >= 12.0).then(|| Caption { size: 9.0, ..caption(at.plus(0.0, 16.0), Anchor::Middle, text) });
        Placed { at, mark: Mark::Dot((room * 0.2).clamp(2.5, 5.5)), label }
    } else {
        let text = fit(&text, 9.0, room - 6.0);
        let half = (text_width(&text, 9.0) / 2.0 + 4.0).clamp(7.0, (room / 2.0).max(7.0));
        let label = Some(Caption { size: 9.0, ..caption(at.plus(0.0, 3.2), Anchor::Middle, text) });
        Placed { at, mark: Mark::Box(half, 8.0), label }
    }
}

fn layered(fabric: &Fabric, layers: &[usize], neighbours: &[Vec<usize>], mut cables: Vec<Cable>) -> Layout {
    let top = layers.iter().copied().max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); top + 1];
    for (vertex, &layer) in layers.iter().enumerate() {
        rows[layer].push(vertex);
    }
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1);
    // Names of switches are not cut if there is room.
    let name = |&vertex: &usize| text_width(&short_name(fabric, VertexId::from_index(vertex)), 9.0) / 0.86 + 12.0;
    let named = |row: &Vec<usize>| row.len() as f64 * row.iter().map(name).fold(0.0, f64::max);
    let named = rows.iter().skip(1).map(named).fold(0.0, f64::max);
    let width = (widest as f64 * 46.0).max(named).clamp(320.0, 1500.0);
    let step = (width * 0.12).clamp(80.0, 130.0);
    let mut x = vec![0.0; layers.len()];
    let spread = |row: &[usize], x: &mut [f64]| {
        for (i, &vertex) in row.iter().enumerate() {
            x[vertex] = width * (i as f64 + 0.5) / row.len() as f64;
        }
    };
    rows.iter().for_each(|row| spread(row, &mut x));
    // A few sweeps of the barycentre method: each vertex below the middle of its neighbours.
    for _ in 0..8 {
        for layer in (0..=top).chain((0..top).rev()) {
            let mut row = std::mem::take(&mut rows[layer]);
            let mut keyed: Vec<(f64, usize)> = row
                .iter()
                .map(|&vertex| {
                    let others = neighbours[vertex].iter().filter(|&&next| layers[next] != layer);
                    let (sum, count) = others.fold((0.0, 0.0), |(sum, count), &next| (sum + x[next], count + 1.0));
                    (if count > 0.0 { sum / count } else { x[vertex] }, vertex)
                })
                .collect();
            keyed.arrange_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            row.clear();
            row.extend(keyed.into_iter().map(|(_, vertex)| vertex));
            spread(&row, &mut x);
            rows[layer] = row;
        }
    }
    let y = |layer: usize| 20.0 + (top - layer) as f64 * step;
    let mut layout = Layout { width, height: y(0) + 34.0, ..Layout::default() };
    for (vertex, &layer) in layers.iter().enumerate() {
        let room = width / rows[layer].len() as f64 * 0.86;
        layout.vertices.push(placed(fabric, vertex, Point::new(x[vertex], y(layer)), room.min(110.0)));
    }
    for cable in &mut cables {
        let (a, b) = cable.ends;
        if layers[a.index()] == layers[b.index()] {
            // A cable within a row is a bow over the vertices between its ends.
            let (from, to) = (layout.vertices[a.index()].at, layout.vertices[b.index()].at);
            let bow = ((from.x - to.x).abs() * 0.12 + 10.0).min(step * 0.45);
            let middle = Point::new((from.x + to.x) / 2.0, from.y - bow);
            let quarter = |end: Point| Point::new((3.0 * end.x + to.x + from.x - end.x) / 4.0, from.y - bow * 0.75);
            cable.runs.push(vec![from, quarter(from), middle, quarter(to), to]);
        }
    }
    layout.join(cables);
    layout
}

/// Vertices of a graph that are placed by their distances. Nodes with a single link to a switch stand around
/// it instead.
pub(in crate::svg) struct Core {
    /// By vertex: the switch around which it stands, if it is such a node.
    pub home: Vec<Option<usize>>,
    /// Vertices placed by distance, ascending.
    pub vertices: Vec<usize>,
}

impl Core {
    pub(in crate::svg) fn of(fabric: &Fabric) -> Self {
        Self::among(fabric, &neighbours(fabric, &cables(fabric)))
    }

    fn among(fabric: &Fabric, neighbours: &[Vec<usize>]) -> Self {
        let nodes = fabric.nodes() as usize;
        let home = |vertex: usize| match neighbours[vertex][..] {
            [switch] if vertex < nodes && switch >= nodes => Some(switch),
            _ => None,
        };
        let home: Vec<Option<usize>> = (0..neighbours.len()).map(home).collect();
        let vertices = (0..home.len()).filter(|&vertex| home[vertex].is_none()).collect();
        Self { home, vertices }
    }
}

/// Returns the vertices that a cable joins with each vertex.
fn neighbours(fabric: &Fabric, cables: &[Cable]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); (fabric.nodes() + fabric.switches()) as usize];
    for cable in cables {
        neighbours[cable.ends.0.index()].push(cable.ends.1.index());
        neighbours[cable.ends.1.index()].push(cable.ends.0.index());
    }
    neighbours
}

/// Room for a node along a ring of nodes \[px\].
const ALONG: f64 = 17.0;
/// Largest number of nodes of a ring; more stand in several rings.
const RING: usize = 40;
/// Distance from one ring to the next \[px\].
const NEXT_RING: f64 = 16.0;

/// Switch with the nodes around it.
struct Around {
    nodes: Vec<usize>,
    /// Number of rings of nodes, and the radius of the innermost \[px\].
    rings: usize,
    radius: f64,
}

/// Places switches by their distances along links, each with its nodes around it. Too many nodes are shown as
/// a number.
fn by_distances(fabric: &Fabric, core: &Core, neighbours: &[Vec<usize>], mut cables: Vec<Cable>) -> Layout {
    let nodes = fabric.nodes() as usize;
    let summary = fabric.nodes() > MOST_NODES;
    let mut number = vec![usize::MAX; neighbours.len()];
    for (i, &vertex) in core.vertices.iter().enumerate() {
        number[vertex] = i;
    }
    let of = |&vertex: &usize| -> Vec<usize> {
        neighbours[vertex].iter().filter(|&&other| core.home[other].is_none()).map(|&other| number[other]).collect()
    };
    let links: Vec<Vec<usize>> = core.vertices.iter().map(of).collect();
    let mut around: Vec<Around> =
        core.vertices.iter().map(|_| Around { nodes: Vec::new(), rings: 1, radius: 0.0 }).collect();
    for (node, home) in core.home.iter().enumerate() {
        if let Some(home) = home {
            around[number[*home]].nodes.push(node);
        }
    }
    let mut radii = Vec::new();
    for ((around, &vertex), links) in around.iter_mut().zip(&core.vertices).zip(&links) {
        let (_, half) = named(fabric, vertex);
        around.rings = around.nodes.len().div_ceil(RING).max(1);
        let slots = (around.nodes.len().div_ceil(around.rings) + links.len()) as f64;
        around.radius = (slots * ALONG / std::f64::consts::TAU).max(half + 14.0);
        radii.push(match around.nodes.is_empty() || summary {
            true if vertex < nodes => 20.0,
            true if summary => half.max(16.0) + 10.0,
            true => half.max(16.0),
            false => around.radius + NEXT_RING * (around.rings - 1) as f64 + 18.0,
        });
    }
    let (at, size) = stress::place(&links, &radii);
    let (aside, below) = (30.0, 12.0);
    let mut layout = Layout { width: size.x + 2.0 * aside, height: size.y + 2.0 * below, ..Layout::default() };
    let hidden = Placed { at: Point::default(), mark: Mark::Hidden, label: None };
    layout.vertices = vec![hidden; neighbours.len()];
    for (i, &vertex) in core.vertices.iter().enumerate() {
        let centre = at[i].plus(aside, below);
        let angles: Vec<f64> = links[i].iter().map(|&other| angle(at[i], at[other])).collect();
        layout.vertices[vertex] = if vertex < nodes {
            let free = free_angles(&angles, 1).first().copied().unwrap_or(0.0);
            let label = short_name(fabric, VertexId::from_index(vertex));
            Placed { at: centre, mark: Mark::Dot(5.0), label: Some(beside(centre, free, 10.0, 9.0, label)) }
        } else {
            let (text, half) = named(fabric, vertex);
            let label = Some(Caption { size: 9.0, ..caption(centre.plus(0.0, 3.2), Anchor::Middle, text) });
            Placed { at: centre, mark: Mark::Box(half, 8.0), label }
        };
        let Around { nodes: hosts, rings, radius } = &around[i];
        if summary {
            let text = if hosts.len() == 1 { "1 node" } else { &format!("{} nodes", hosts.len()) };
            if !hosts.is_empty() {
                let below = centre.plus(0.0, 17.0);
                layout.captions.push(Caption { size: 8.0, ..caption(below, Anchor::Middle, text) });
            }
            continue;
        }
        for (k, (&host, angle)) in hosts.iter().zip(free_angles(&angles, hosts.len())).enumerate() {
            let place = polar(centre, angle, radius + NEXT_RING * (k % rings) as f64);
            let text = short_name(fabric, VertexId::from_index(host));
            let label = (*rings == 1 && text_width(&text, 8.0) < 30.0).then(|| beside(place, angle, 6.0, 8.0, text));
            layout.vertices[host] = Placed { at: place, mark: Mark::Dot(3.6), label };
        }
    }
    if summary {
        let hidden = core.home.iter().flatten().count();
        cables.retain(|cable| core.home[cable.ends.0.index()].is_none() && core.home[cable.ends.1.index()].is_none());
        layout.note = Some(format!(
            "Too large to draw every node: {hidden} of {nodes} nodes and their links are not drawn, but counted at their switches."
        ));
    }
    layout.join(cables);
    layout
}

/// Returns the text in the box of a switch, and half its width.
fn named(fabric: &Fabric, vertex: usize) -> (String, f64) {
    let text = fit(&short_name(fabric, VertexId::from_index(vertex)), 9.0, 64.0);
    let half = (text_width(&text, 9.0) / 2.0 + 4.0).max(8.0);
    (text, half)
}

/// Returns the label of a vertex, on the side that faces away from its link.
fn beside(at: Point, angle: f64, distance: f64, size: f64, text: String) -> Caption {
    let to = polar(at, angle, distance);
    let anchor = match to.x - at.x {
        x if x > 0.4 * distance => Anchor::Start,
        x if x < -0.4 * distance => Anchor::End,
        _ => Anchor::Middle,
    };
    let down = (to.y - at.y) / distance;
    Caption { size, ..caption(to.plus(0.0, size * 0.36 + down * size * 0.3), anchor, text) }
}

#[expect(clippy::disallowed_methods, reason = "coordinates of a drawing, rounded to a hundredth of a pixel")]
fn polar(centre: Point, angle: f64, radius: f64) -> Point {
    centre.plus(radius * angle.cos(), radius * angle.sin())
}

fn angle(from: Point, to: Point) -> f64 {
    (to.y - from.y).atan2(to.x - from.x)
}

/// Returns `count` evenly spaced angles away from the links. They begin in the middle of the widest gap
/// between links.
fn free_angles(links: &[f64], count: usize) -> Vec<f64> {
    use std::f64::consts::TAU;
    let mut sorted: Vec<f64> = links.to_vec();
    sorted.arrange_by(f64::total_cmp);
    let after = |i: usize| if i + 1 < sorted.len() { sorted[i + 1] } else { sorted[0] + TAU };
    let widest = (0..sorted.len()).max_by(|&a, &b| (after(a) - sorted[a]).total_cmp(&(after(b) - sorted[b])));
    // Without links, the angles begin at the bottom.
    let middle = widest.map_or(TAU / 4.0, |i| (sorted[i] + after(i)) / 2.0);
    let away = |angle: f64| {
        let between = |link: &f64| ((angle - link).rem_euclid(TAU)).min((link - angle).rem_euclid(TAU));
        sorted.iter().map(between).fold(TAU, f64::min)
    };
    let spread = |slots: usize, clear: f64| -> Vec<f64> {
        let step = TAU / slots as f64;
        let beside = |k: usize| if k.is_multiple_of(2) { (k / 2) as f64 } else { -((k / 2 + 1) as f64) };
        (0..slots).map(|k| middle + step * beside(k)).filter(|&angle| away(angle) > clear).take(count).collect()
    };
    // The smallest number of slots that leaves enough of them clear of links.
    let clear = |slots: usize| (0.45 * TAU / slots as f64).min(0.3);
    let enough = (count..=4 * count + 4 * links.len()).filter(|&slots| slots > 0);
    let found = enough.map(|slots| spread(slots, clear(slots))).find(|angles| angles.len() == count);
    found.unwrap_or_else(|| spread(count.max(1), -1.0))
}

/// Lays out nodes without switches, in rows.
fn rows(fabric: &Fabric) -> Layout {
    let count = fabric.nodes() + fabric.switches();
    let columns = (1..=count).find(|columns| columns * columns >= count).unwrap_or(1);
    let mut layout = Layout::default();
    for vertex in 0..count {
        let at = Point::new(30.0 + f64::from(vertex % columns) * 56.0, 20.0 + f64::from(vertex / columns) * 44.0);
        layout.vertices.push(placed(fabric, vertex as usize, at, 50.0));
    }
    layout.width = 60.0 + f64::from(columns) * 56.0;
    layout.height = 40.0 + f64::from(count.div_ceil(columns)) * 44.0;
    layout
}
