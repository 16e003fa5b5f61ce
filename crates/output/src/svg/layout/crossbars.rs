//! Hyper-crossbars: a grid of routers, with a bar beside each line for its crossbar and each node on the side
//! without a bar.

use super::lattice::Lattice;
use super::{Layout, Mark, Placed, cables, caption, short_name};
use crate::svg::canvas::{Anchor, Point};
use hayase::fabric::{CrossbarGrid, Fabric};
use hayase::ids::{Id, VertexId};

pub(super) fn layout(fabric: &Fabric, grid: &CrossbarGrid) -> Layout {
    // In the third dimension there must be room for a node and three bars between one router and the next.
    let steep = grid.dims.get(2).copied().unwrap_or(1);
    let lattice = Lattice::new(&grid.dims, if steep > 1 { f64::from(steep) * 52.0 } else { 46.0 });
    let mut layout = Layout { width: lattice.width(), height: lattice.height(), ..Layout::default() };
    let deep = lattice.depth != Point::default();
    let aside = if deep { (-lattice.depth.y * 0.42).min(12.0) } else { lattice.cell * 0.24 };
    let radius = if deep { 4.5 } else { 6.0 };
    let dot = Placed { at: Point::default(), mark: Mark::Dot(1.0), label: None };
    layout.vertices = vec![dot; (fabric.nodes() + fabric.switches()) as usize];
    let at = |position: u32| {
        let coordinates: Vec<f64> = grid.coordinates(position).into_iter().map(f64::from).collect();
        lattice.at(&coordinates)
    };
    for position in 0..grid.positions() {
        let text = short_name(fabric, VertexId(position));
        let centre = at(position);
        if grid.host_link {
            // In the plane, bars are below and at the right; with a third dimension there is one above at the left too.
            let node =
                if deep { centre.plus(-aside * 1.15, aside * 0.35) } else { centre.plus(-aside * 0.9, -aside * 0.9) };
            layout.vertices[grid.router(position).index()] =
                Placed { at: centre, mark: Mark::Box(radius * 0.8, radius * 0.8), label: None };
            let label = (!deep).then(|| caption(node.plus(0.0, -8.0), Anchor::Middle, text));
            layout.vertices[position as usize] = Placed { at: node, mark: Mark::Dot(radius * 0.85), label };
        } else {
            let label = (!deep).then(|| caption(centre.plus(-radius, -radius - 2.0), Anchor::End, text));
            layout.vertices[position as usize] = Placed { at: centre, mark: Mark::Dot(radius), label };
        }
    }
    // A bar is below a row, right of a column, and above a line of the third dimension.
    let beside = |dim: usize| match dim {
        0 => Point::new(0.0, aside),
        1 => Point::new(aside, 0.0),
        _ => Point::new(-aside * 0.8, -aside * 0.8),
    };
    let mut left_out = 0;
    let mut cables = cables(fabric);
    for dim in 0..grid.dims.len() {
        for line in 0..grid.lines(dim) {
            let stride = grid.stride(dim);
            let first = line / stride * stride * grid.dims[dim] + line % stride;
            let last = first + (grid.dims[dim] - 1) * stride;
            let offset = beside(dim);
            let (from, to) = (at(first).plus(offset.x, offset.y), at(last).plus(offset.x, offset.y));
            let longer = if dim == 0 { Point::new(radius, 0.0) } else { Point::new(0.0, radius) };
            let (from, to) =
                if dim < 2 { (from.plus(-longer.x, longer.y), to.plus(longer.x, -longer.y)) } else { (from, to) };
            layout.vertices[grid.crossbar(dim, line).index()] = Placed { at: from, mark: Mark::Bar(to), label: None };
        }
    }
    let first_crossbar =
        fabric.nodes() + fabric.switches() - (0..grid.dims.len()).map(|dim| grid.lines(dim)).sum::<u32>();
    cables.retain_mut(|cable| {
        let (a, b) = cable.ends;
        let (router, crossbar, reversed) = if a.0 >= first_crossbar { (b, a, true) } else { (a, b, false) };
        if crossbar.0 < first_crossbar {
            return true;
        }
        let mut number = crossbar.0 - first_crossbar;
        let mut dim = 0;
        while dim + 1 < grid.dims.len() && number >= grid.lines(dim) {
            number -= grid.lines(dim);
            dim += 1;
        }
        if dim >= 3 {
            left_out += 1;
            return false;
        }
        let from = layout.vertices[router.index()].at;
        let to = from.plus(beside(dim).x, beside(dim).y);
        cable.runs = vec![if reversed { vec![to, from] } else { vec![from, to] }];
        true
    });
    if left_out > 0 {
        layout.remarks.push(
            "The crossbars along the dimensions after the third are not drawn: each joins the same place of a line of \
             panels."
                .to_owned(),
        );
    }
    for dim in 3..grid.dims.len() {
        for line in 0..grid.lines(dim) {
            // A bar across panels would hide them, so the crossbar is a point on its first router.
            let vertex = grid.crossbar(dim, line).index();
            layout.vertices[vertex].mark = Mark::Bar(layout.vertices[vertex].at);
        }
    }
    lattice.captions(&mut layout);
    layout.join(cables);
    layout
}
