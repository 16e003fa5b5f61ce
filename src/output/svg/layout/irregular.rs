//! Graphs without a known structure: in layers above the nodes where switches are joined like a tree, else by
//! attraction along the links and repulsion otherwise.

use super::{Cable, Caption, Layout, Mark, Placed, cables, caption, short_name};
use crate::fabric::Fabric;
use crate::ids::{Id, VertexId};
use crate::output::svg::canvas::{Anchor, Point, fit, text_width};

pub(super) fn layout(fabric: &Fabric) -> Layout {
    let cables = cables(fabric);
    let count = (fabric.nodes() + fabric.switches()) as usize;
    let mut neighbours = vec![Vec::new(); count];
    for cable in &cables {
        neighbours[cable.ends.0.index()].push(cable.ends.1.index());
        neighbours[cable.ends.1.index()].push(cable.ends.0.index());
    }
    if cables.is_empty() {
        return rows(fabric);
    }
    let layers = layers(fabric, &neighbours);
    let inside = cables.iter().filter(|cable| layers[cable.ends.0.index()] == layers[cable.ends.1.index()]).count();
    if inside * 5 <= cables.len() && layers.iter().any(|&layer| layer > 0) {
        layered(fabric, &layers, &neighbours, cables)
    } else {
        by_forces(fabric, &neighbours, cables)
    }
}

/// Cables between each vertex and the nearest node; what no node reaches is in the topmost layer.
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

/// The look of a vertex at this place.
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
    let width = (widest as f64 * 46.0).clamp(320.0, 1500.0);
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
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
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
            // Within a row: bow over what stands between.
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

/// Fruchterman and Reingold's method from a circle: links pull, all pairs push, less and less movement is allowed.
///
/// Source: T. Fruchterman, E. Reingold, "Graph drawing by force-directed placement", Software: Practice and
/// Experience 21 (1991).
#[allow(clippy::disallowed_methods, reason = "coordinates of a drawing, rounded to a hundredth of a pixel")]
fn by_forces(fabric: &Fabric, neighbours: &[Vec<usize>], cables: Vec<Cable>) -> Layout {
    const STEPS: usize = 300;
    let count = neighbours.len();
    let side = ((count as f64).sqrt() * 74.0).clamp(260.0, 1400.0);
    let ideal = side / (count as f64).sqrt().max(1.0);
    let mut at: Vec<Point> = (0..count)
        .map(|i| {
            let angle = i as f64 / count as f64 * std::f64::consts::TAU;
            Point::new(side / 2.0 * (1.0 + 0.7 * angle.cos()), side / 2.0 * (1.0 + 0.7 * angle.sin()))
        })
        .collect();
    for step in 0..STEPS {
        let most = side * 0.1 * (1.0 - step as f64 / STEPS as f64);
        let mut force = vec![Point::default(); count];
        for a in 0..count {
            for b in 0..a {
                let (dx, dy) = (at[a].x - at[b].x, at[a].y - at[b].y);
                let push = ideal * ideal / (dx * dx + dy * dy).max(0.01);
                force[a] = force[a].plus(dx * push, dy * push);
                force[b] = force[b].plus(-dx * push, -dy * push);
            }
            for &b in &neighbours[a] {
                let (dx, dy) = (at[b].x - at[a].x, at[b].y - at[a].y);
                let pull = (dx * dx + dy * dy).sqrt() / ideal;
                force[a] = force[a].plus(dx * pull, dy * pull);
            }
        }
        for (point, force) in at.iter_mut().zip(&force) {
            let length = (force.x * force.x + force.y * force.y).sqrt();
            let scale = if length > most { most / length } else { 1.0 };
            // A little gravity keeps parts together that no link joins.
            let (x, y) = (side / 2.0 - point.x, side / 2.0 - point.y);
            *point = point.plus(force.x * scale + x * 0.01, force.y * scale + y * 0.01);
        }
    }
    let least = |pick: fn(&Point) -> f64| at.iter().map(pick).fold(f64::INFINITY, f64::min);
    let most = |pick: fn(&Point) -> f64| at.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
    let (left, top) = (least(|point| point.x), least(|point| point.y));
    let (wide, high) = (most(|point| point.x) - left, most(|point| point.y) - top);
    let zoom = side / wide.max(high).max(1.0);
    for point in &mut at {
        *point = Point::new((point.x - left) * zoom, (point.y - top) * zoom);
    }
    let mut layout = Layout { width: wide * zoom + 80.0, height: high * zoom + 60.0, ..Layout::default() };
    for (vertex, point) in at.iter().enumerate() {
        layout.vertices.push(placed(fabric, vertex, point.plus(40.0, 24.0), ideal * 0.8));
    }
    layout.join(cables);
    layout
}

/// Nodes alone, in rows.
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
