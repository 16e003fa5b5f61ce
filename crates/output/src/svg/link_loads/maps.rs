//! Maps of a grid: each position is coloured by the load of its outgoing link in one direction. There is one
//! map for each direction.

use super::groups::groups;
use super::strips::cells;
use super::{Loads, frame};
use crate::svg::canvas::{Anchor, Canvas, GREY, MARGIN, Point, text_width};
use crate::svg::failed;
use crate::svg::scale::percent;
use hayase::fabric::{Fabric, Sketch, dimension_name};
use hayase::ids::LinkId;

/// Largest number of cells of all maps together.
const MOST_CELLS: usize = 120_000;
/// Room for the numbers beside each of several planes \[px\].
const AROUND: f64 = 30.0;
/// Room for one row of maps \[px\].
const ROOM: f64 = 1100.0;

/// Arrangement of maps that fit.
pub(super) struct Maps<'a> {
    dims: &'a [u32],
    cell: f64,
    /// Number of maps side by side.
    columns: u32,
}

/// Returns the maps of a grid of at least two dimensions, if they fit.
pub(super) fn plan(fabric: &Fabric) -> Option<Maps<'_>> {
    let dims = match fabric.family().sketch() {
        Sketch::Lattice(grid) => &grid.dims,
        Sketch::Crossbars(grid) => &grid.dims,
        _ => return None,
    };
    let (&[x, y, ..], true) = (dims.as_slice(), fabric.links().len() <= MOST_CELLS) else { return None };
    if x < 2 || y < 2 || x > 300 || y > 300 {
        return None;
    }
    let planes: u32 = dims[2..].iter().product();
    // The planes of one direction stand side by side; with a single plane, the two directions of a dimension do.
    let columns = if planes == 1 { 2 } else { planes };
    let cell = (ROOM / f64::from(columns) - AROUND) / f64::from(x);
    if planes > 1 && cell < 2.0 {
        let columns = (ROOM / (f64::from(x) * 2.0 + AROUND)).floor().max(1.0) as u32;
        return Some(Maps { dims, cell: 2.0, columns });
    }
    let cell = cell.min(420.0 / f64::from(y)).clamp(2.0, 16.0);
    Some(Maps { dims, cell, columns })
}

impl Maps<'_> {
    fn planes(&self) -> u32 {
        self.dims[2..].iter().product()
    }

    /// Returns the size of one map with its labels.
    fn panel(&self) -> (f64, f64) {
        let (x, y) = (f64::from(self.dims[0]) * self.cell, f64::from(self.dims[1]) * self.cell);
        let least = if self.planes() == 1 { 400.0 } else { 30.0 };
        (x.max(least) + if self.planes() == 1 { 44.0 } else { AROUND }, y + 40.0)
    }

    pub(super) fn width(&self) -> f64 {
        f64::from(self.columns) * self.panel().0
    }

    /// Draws all maps; returns the y coordinate below them.
    pub(super) fn draw(&self, canvas: &mut Canvas, loads: &Loads<'_>, y: f64) -> f64 {
        let mut y = y;
        let (width, height) = self.panel();
        let mut column = 0;
        let links = loads.fabric.links();
        let mut groups = groups(loads.fabric);
        if let Some(at) = groups.iter().position(|group| group.name == "ejection") {
            // Ejection stands beside injection, like the two directions of a dimension.
            groups[1..=at].rotate_right(1);
        }
        for group in groups {
            let mut at = vec![None; loads.fabric.nodes() as usize];
            for &link in &group.links {
                if let Some((from, to)) = links[link].ends {
                    at[self.owner(loads.fabric, &group.name, from.0, to.0)] = Some(link);
                }
            }
            let (mean, max) = loads.summary(&group.links);
            let summary = format!("mean {}, max {}", percent(mean), percent(max));
            let caption = match group.name.as_str() {
                "injection" => "injection, by node".to_owned(),
                "ejection" => "ejection, by node".to_owned(),
                name if name.contains("crossbar") => format!("{name}, by router"),
                name => format!("{name}, by the switch it leaves"),
            };
            if self.planes() == 1 {
                if column >= self.columns {
                    y += height + 30.0;
                    column = 0;
                }
                let x = MARGIN + f64::from(column) * width;
                self.title(canvas, x, y, &caption, &summary);
                self.map(canvas, loads, &at, x + 20.0, y + 20.0);
                column += 1;
            } else {
                self.title(canvas, MARGIN, y, &caption, &summary);
                y += 16.0;
                let cells = (self.dims[0] * self.dims[1]) as usize;
                for (plane, at) in at.chunks(cells).enumerate() {
                    let column = plane as u32 % self.columns;
                    if plane > 0 && column == 0 {
                        y += height + 8.0;
                    }
                    let x = MARGIN + f64::from(column) * width;
                    self.map(canvas, loads, at, x + 20.0, y + 16.0);
                    let name = self.plane_name(plane as u32);
                    canvas.text(x + 20.0, y + 11.0, 9.0, Anchor::Start, &name, &format!(r#"fill="{GREY}""#));
                }
                y += height + 18.0;
            }
        }
        if column > 0 { y + height + 12.0 } else { y }
    }

    /// Returns the position that a link belongs to.
    fn owner(&self, fabric: &Fabric, group: &str, from: u32, to: u32) -> usize {
        let nodes = fabric.nodes();
        // Nodes are numbered first, then a switch for each, then crossbars.
        let vertex = if group == "ejection" || group.starts_with("from") { to } else { from };
        (vertex % nodes.max(1)) as usize
    }

    fn title(&self, canvas: &mut Canvas, x: f64, y: f64, name: &str, summary: &str) {
        canvas.text(x + 20.0, y + 12.0, 12.0, Anchor::Start, name, r#"font-weight="bold""#);
        let after = x + 20.0 + text_width(name, 13.0) + 12.0;
        canvas.text(after, y + 12.0, 11.0, Anchor::Start, summary, &format!(r#"fill="{GREY}""#));
    }

    /// Names a plane: `z = 2`.
    fn plane_name(&self, plane: u32) -> String {
        let mut rest = plane;
        let mut names = Vec::new();
        for dim in 2..self.dims.len() {
            names.push(format!("{} = {}", dimension_name(self.dims.len(), dim), rest % self.dims[dim]));
            rest /= self.dims[dim];
        }
        names.join(", ")
    }

    /// Draws one plane: x to the right, y upwards.
    fn map(&self, canvas: &mut Canvas, loads: &Loads<'_>, at: &[Option<LinkId>], x: f64, y: f64) {
        let (columns, rows) = (self.dims[0] as usize, self.dims[1] as usize);
        let (width, height) = (self.cell * columns as f64, self.cell * rows as f64);
        let colour = |row: usize, column: usize| match at.get(row * columns + column).copied().flatten() {
            Some(link) => loads.scale.colour(loads.of(link)),
            None => "#ffffff".to_owned(),
        };
        for row in 0..rows {
            let top = y + height - self.cell * (row + 1) as f64;
            let colours: Vec<String> = (0..columns).map(|column| colour(row, column)).collect();
            cells(canvas, &colours, Point::new(x, top), (width, self.cell + 0.15));
        }
        let link = |place: usize| at.get(place).copied().flatten();
        canvas.rect(x, y, width, height, &frame((0..rows * columns).map(link), columns));
        for place in (0..rows * columns).filter(|&place| link(place).is_some_and(|link| loads.fabric.has_failed(link)))
        {
            let (row, column) = (place / columns, place % columns);
            let corner = Point::new(x + self.cell * column as f64, y + height - self.cell * (row + 1) as f64);
            failed::stroke(canvas, corner, self.cell, self.cell);
        }
        self.numbers(canvas, x, y, width, height);
    }

    /// Writes the positions along the two axes.
    fn numbers(&self, canvas: &mut Canvas, x: f64, y: f64, width: f64, height: f64) {
        let grey = format!(r#"fill="{GREY}""#);
        let every = |count: u32, room: f64| {
            let fits = |&step: &u32| f64::from(step) * self.cell >= room;
            [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100].iter().copied().find(fits).unwrap_or(count.max(1))
        };
        for i in (0..self.dims[0]).step_by(every(self.dims[0], 20.0) as usize) {
            let at = x + self.cell * (f64::from(i) + 0.5);
            canvas.text(at, y + height + 11.0, 9.0, Anchor::Middle, &i.to_string(), &grey);
        }
        for i in (0..self.dims[1]).step_by(every(self.dims[1], 11.0) as usize) {
            let at = y + height - self.cell * (f64::from(i) + 0.5);
            canvas.text(x - 4.0, at + 3.0, 9.0, Anchor::End, &i.to_string(), &grey);
        }
        let names = [dimension_name(self.dims.len(), 0), dimension_name(self.dims.len(), 1)];
        if width > 60.0 {
            canvas.text(x + width + 4.0, y + height + 11.0, 10.0, Anchor::Start, &format!("{} →", names[0]), &grey);
            canvas.text(x + width + 4.0, y + 9.0, 10.0, Anchor::Start, &format!("{} ↑", names[1]), &grey);
        }
    }
}
