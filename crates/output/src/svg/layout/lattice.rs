//! Tori and meshes: the first two dimensions as rows and columns, the third in oblique projection, further
//! ones as panels side by side.

use super::{Cable, Layout, Mark, Placed, cables, caption, short_name};
use crate::svg::canvas::{Anchor, Point, text_width};
use hayase::fabric::{Fabric, Grid, dimension_name};
use hayase::ids::VertexId;

/// Largest number of nodes of a ring that is drawn as a circle.
const LARGEST_RING: u32 = 128;

/// Positions of a grid.
pub(super) struct Lattice {
    dims: Vec<u32>,
    /// Distance of neighbours along the first two dimensions \[px\].
    pub cell: f64,
    /// Offset from a position to the next along the third dimension.
    pub depth: Point,
    /// Number of panels side by side, for the dimensions after the third.
    columns: u32,
    panel: Point,
    margin: f64,
}

impl Lattice {
    pub(super) fn new(dims: &[u32], smallest_cell: f64) -> Self {
        let size = |dim: usize| dims.get(dim).copied().unwrap_or(1);
        let (x, y, z) = (f64::from(size(0)), f64::from(size(1)), f64::from(size(2)));
        let panels: u32 = dims.iter().skip(3).product();
        let columns = (1..=panels).find(|columns| columns * columns >= panels).unwrap_or(1);
        let room = 1000.0 / f64::from(columns).min(3.0) / x.max(y);
        let cell = if size(2) > 1 {
            room.clamp((z * 24.0).max(smallest_cell), (z * 36.0).max(110.0).max(smallest_cell))
        } else {
            room.clamp(smallest_cell, smallest_cell.max(84.0))
        };
        let depth = if size(2) > 1 { Point::new(cell * 0.74 / z, -cell * 0.5 / z) } else { Point::default() };
        let margin = 34.0_f64.max(cell * 0.45);
        let panel = Point::new(
            2.0 * margin + (x - 1.0) * cell + depth.x * (z - 1.0) + 14.0,
            2.0 * margin + (y - 1.0) * cell - depth.y * (z - 1.0) + 10.0,
        );
        Self { dims: dims.to_vec(), cell, depth, columns, panel, margin }
    }

    fn panels(&self) -> u32 {
        self.dims.iter().skip(3).product()
    }

    pub(super) fn width(&self) -> f64 {
        self.panel.x * f64::from(self.columns)
    }

    pub(super) fn height(&self) -> f64 {
        self.panel.y * f64::from(self.panels().div_ceil(self.columns.max(1)))
    }

    /// Returns the place of these coordinates, which may lie outside the grid.
    pub(super) fn at(&self, coordinates: &[f64]) -> Point {
        let x = |dim: usize| coordinates.get(dim).copied().unwrap_or(0.0);
        let size = |dim: usize| f64::from(self.dims.get(dim).copied().unwrap_or(1));
        let panel = (3..self.dims.len()).rev().fold(0.0, |panel, dim| panel * size(dim) + x(dim).clamp(0.0, size(dim)));
        let (row, column) = (panel as u32 / self.columns.max(1), panel as u32 % self.columns.max(1));
        Point::new(
            self.panel.x * f64::from(column) + self.margin + 14.0 + x(0) * self.cell + x(2) * self.depth.x,
            self.panel.y * f64::from(row + 1) - self.margin - 14.0 - x(1) * self.cell + x(2) * self.depth.y,
        )
    }

    /// Adds numbers along the first two dimensions, the directions, and the names of the panels.
    pub(super) fn captions(&self, layout: &mut Layout) {
        let size = |dim: usize| self.dims.get(dim).copied().unwrap_or(1);
        let every = |count: u32| (count as f64 * 16.0 / (f64::from(count) * self.cell)).ceil().max(1.0) as u32;
        let strong = |at, anchor, text: String| super::Caption { strong: true, ..caption(at, anchor, text) };
        for panel in 0..self.panels() {
            let mut coordinates = vec![0.0; self.dims.len().max(3)];
            let mut rest = panel;
            let mut name = Vec::new();
            for (dim, &size) in self.dims.iter().enumerate().skip(3) {
                coordinates[dim] = f64::from(rest % size);
                name.push(format!("{} = {}", dimension_name(self.dims.len(), dim), rest % size));
                rest /= size;
            }
            let origin = self.at(&coordinates);
            let outside = self.margin - 4.0;
            for x in (0..size(0)).filter(|x| x % every(size(0)) == 0) {
                let at = origin.plus(f64::from(x) * self.cell, outside + 6.0);
                layout.captions.push(caption(at, Anchor::Middle, x.to_string()));
            }
            for y in (0..size(1)).filter(|y| size(1) > 1 && y % every(size(1)) == 0) {
                let at = origin.plus(-outside - 2.0, 3.5 - f64::from(y) * self.cell);
                layout.captions.push(caption(at, Anchor::End, y.to_string()));
            }
            let names = |dim| dimension_name(self.dims.len(), dim);
            let end = f64::from(size(0) - 1) * self.cell;
            let at = origin.plus(end + self.cell.min(40.0) * 0.5 + 4.0, outside + 6.0);
            layout.captions.push(strong(at, Anchor::Start, format!("{} →", names(0))));
            if size(1) > 1 {
                let top = origin.plus(-outside - 2.0, -f64::from(size(1) - 1) * self.cell - self.cell.min(40.0) * 0.5);
                layout.captions.push(strong(top, Anchor::End, format!("{} ↑", names(1))));
            }
            if size(2) > 1 {
                let far = self.at(&[f64::from(size(0) - 1), f64::from(size(1) - 1), f64::from(size(2)) - 0.3]);
                let far = far.plus(self.at(&coordinates).x - self.at(&[0.0]).x, origin.y - self.at(&[0.0]).y);
                layout.captions.push(strong(far, Anchor::Start, format!("{} ↗", names(2))));
            }
            if !name.is_empty() {
                let at = Point::new(origin.x, origin.y - self.panel.y + self.margin + 24.0);
                layout.captions.push(strong(at, Anchor::Start, name.join(", ")));
            }
        }
    }
}

pub(super) fn layout(fabric: &Fabric, grid: &Grid) -> Layout {
    let longer: Vec<usize> = (0..grid.dims.len()).filter(|&dim| grid.dims[dim] > 1).collect();
    if let [dim] = longer[..]
        && grid.wrap[dim]
        && grid.dims[dim] <= LARGEST_RING
    {
        return ring(fabric, grid);
    }
    let lattice = Lattice::new(&grid.dims, if grid.host_link { 36.0 } else { 26.0 });
    let mut layout = Layout { width: lattice.width(), height: lattice.height(), ..Layout::default() };
    let deep = lattice.depth != Point::default();
    let radius = if deep { 5.0 } else { (lattice.cell * 0.13).clamp(4.0, 8.0) };
    // A node is below its switch, and well clear of the third dimension, which leads up to the right.
    let aside = if deep { radius * 2.0 } else { lattice.cell * 0.27 };
    for vertex in (0..fabric.nodes() + fabric.switches()).map(VertexId) {
        let is_node = vertex.0 < fabric.nodes();
        let position = if is_node { vertex.0 } else { vertex.0 - fabric.nodes() };
        let coordinates: Vec<f64> = grid.coordinates(position).into_iter().map(f64::from).collect();
        let centre = lattice.at(&coordinates);
        let placed = if is_node {
            let at = if grid.host_link { centre.plus(aside, aside) } else { centre };
            let radius = if grid.host_link { radius * 0.6 } else { radius };
            let text = short_name(fabric, vertex);
            let room = if deep { 0.0 } else { lattice.cell - aside - 2.0 * radius };
            let fits = text_width(&text, 8.0) < room * 0.9 && lattice.cell > 40.0;
            let label = fits.then(|| super::Caption {
                size: 8.0,
                ..caption(at.plus(radius + 2.0, if grid.host_link { 3.0 } else { radius + 8.0 }), Anchor::Start, text)
            });
            Placed { at, mark: Mark::Dot(radius), label }
        } else {
            Placed { at: centre, mark: Mark::Box(radius, radius), label: None }
        };
        layout.vertices.push(placed);
    }
    lattice.captions(&mut layout);
    let mut cables = cables(fabric);
    let mut left_out = 0;
    cables.retain_mut(|cable| {
        let drawn = course(cable, fabric, grid, &lattice);
        left_out += usize::from(!drawn);
        drawn
    });
    if cables.iter().any(Cable::is_stub) {
        layout.remarks.push("Stubs at the border: the cable joins both ends of the row, column or line.".to_owned());
    }
    if left_out > 0 {
        layout.remarks.push(format!(
            "{left_out} cables along the dimensions after the third are not drawn: they join the same place of \
             neighbouring panels."
        ));
    }
    layout.join(cables);
    layout
}

/// Sets the course of a cable; returns `false` if it leaves its panel.
fn course(cable: &mut Cable, fabric: &Fabric, grid: &Grid, lattice: &Lattice) -> bool {
    let position = |vertex: VertexId| vertex.0 % grid.positions();
    let (a, b) = (grid.coordinates(position(cable.ends.0)), grid.coordinates(position(cable.ends.1)));
    let Some(dim) = (0..a.len()).find(|&dim| a[dim] != b[dim]) else { return true };
    if dim >= 3 {
        return false;
    }
    let size = grid.dims[dim];
    let around = size > 2 && a[dim].abs_diff(b[dim]) == size - 1;
    if around && fabric.nodes() > 2 {
        let reach = if dim == 2 { 0.28 } else { (28.0 / lattice.cell).clamp(0.2, 0.4) };
        let stub = |coordinates: &[u32]| {
            let mut out: Vec<f64> = coordinates.iter().copied().map(f64::from).collect();
            out[dim] += if coordinates[dim] == 0 { -reach } else { reach };
            let inside: Vec<f64> = coordinates.iter().copied().map(f64::from).collect();
            (lattice.at(&inside), lattice.at(&out))
        };
        let ((a_in, a_out), (b_in, b_out)) = (stub(&a), stub(&b));
        cable.runs = vec![vec![a_in, a_out], vec![b_out, b_in]];
    }
    true
}

/// Lays out one closed dimension as a circle.
#[allow(clippy::disallowed_methods, reason = "coordinates of a drawing, rounded to a hundredth of a pixel")]
fn ring(fabric: &Fabric, grid: &Grid) -> Layout {
    let count = f64::from(grid.positions());
    let radius = (count * 34.0 / std::f64::consts::TAU).max(70.0);
    let margin = 50.0;
    let size = 2.0 * (radius + margin);
    let mut layout = Layout { width: size, height: size, ..Layout::default() };
    for vertex in (0..fabric.nodes() + fabric.switches()).map(VertexId) {
        let is_node = vertex.0 < fabric.nodes();
        let angle = f64::from(vertex.0 % grid.positions()) / count * std::f64::consts::TAU;
        let at = |radius: f64| Point::new(size / 2.0 + radius * angle.sin(), size / 2.0 - radius * angle.cos());
        let mark = if is_node { Mark::Dot(if grid.host_link { 4.0 } else { 6.0 }) } else { Mark::Box(6.0, 6.0) };
        let outer = if is_node && grid.host_link { radius + 20.0 } else { radius };
        let label =
            is_node.then(|| caption(at(outer + 15.0).plus(0.0, 3.5), Anchor::Middle, short_name(fabric, vertex)));
        layout.vertices.push(Placed { at: at(outer), mark, label });
    }
    layout.join(cables(fabric));
    layout
}
