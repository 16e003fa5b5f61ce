//! Cells as data: a field of coloured cells with names of rows and columns, and ramps of colours.

use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, Point, text_width, wrap};
use super::picture::Part;
use super::scale::LoadScale;

/// Cell as data.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cell {
    pub row: usize,
    pub column: usize,
    pub colour: String,
    /// True if the colour is so dark that text on it is white.
    pub is_dark: bool,
    /// Text inside, if there is room for it.
    pub text: String,
    pub is_strong: bool,
    /// Tooltip; empty if there is none.
    pub tooltip: String,
    /// Number of the configuration of a sweep, for the script of a page.
    pub point: Option<usize>,
}

/// Field of cells as data.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Cells {
    /// Name at the top; empty if the title is enough.
    pub name: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Captions of rows and of columns.
    pub captions: (String, String),
    /// Width and height of a cell \[px\].
    pub cell: (f64, f64),
    pub cells: Vec<Cell>,
    /// Names above groups of columns, with their numbers of columns. Groups are set apart from each other.
    pub groups: Vec<(String, usize)>,
    /// True if cells on the diagonal have a frame.
    pub has_diagonal: bool,
}

/// Height of a line of text above cells, and space between groups \[px\].
const LINE: f64 = 16.0;
const GAP: f64 = 10.0;
/// Largest length of the name of a row, and of the turned name of a column \[px\].
const NAMES: f64 = 460.0;
const TURNED: f64 = 160.0;
/// Size of names \[px\].
const FONT: f64 = 10.0;

impl Cells {
    fn left(&self) -> f64 {
        let caption = text_width(&self.captions.0, 11.0);
        self.rows.iter().map(|name| text_width(name, FONT)).fold(caption.max(30.0), f64::max).min(NAMES) + 10.0
    }

    fn widest(&self) -> f64 {
        self.columns.iter().map(|name| text_width(name, FONT)).fold(0.0, f64::max)
    }

    /// True if names of columns do not fit side by side. Names cannot be left out, as numbers can.
    fn is_turned(&self) -> bool {
        self.widest() + 4.0 > self.cell.0 && !self.columns.iter().all(|name| name.parse::<u64>().is_ok())
    }

    fn name_lines(&self) -> Vec<String> {
        wrap(&self.name, 11.0, self.left() + self.inside().0)
    }

    fn above(&self) -> f64 {
        let lines = self.name_lines().len() + usize::from(!self.captions.1.is_empty());
        let groups = if self.groups.is_empty() { 0.0 } else { 22.0 };
        let names = if self.is_turned() { 0.65 * self.widest().min(TURNED) + 10.0 } else { LINE };
        LINE * lines as f64 + groups + names
    }

    /// Returns the x coordinate of a column.
    fn x(&self, column: usize) -> f64 {
        let mut end = 0;
        let ends = self.groups.iter().map(|group| {
            end += group.1;
            end
        });
        self.cell.0 * column as f64
            + GAP * ends.filter(|end| *end <= column && *end < self.columns.len()).count() as f64
    }

    fn inside(&self) -> (f64, f64) {
        (self.x(self.columns.len()), self.cell.1 * self.rows.len() as f64)
    }

    fn draw_columns(&self, canvas: &mut Canvas, corner: Point) {
        let mut first = 0;
        for (name, count) in &self.groups {
            let (from, to) = (corner.x + self.x(first), corner.x + self.x(first + count - 1) + self.cell.0);
            let base = corner.y - self.above() + LINE * (self.name_lines().len() + 1) as f64;
            let room = (to - from).max(self.cell.0 * 2.0) - 4.0;
            canvas.fitted(Point::new(from, base), FONT, Anchor::Start, name, room, r#"font-weight="bold""#);
            let line = format!(r#"stroke="{GREY}" stroke-width="0.8""#);
            canvas.line(Point::new(from, base + 5.0), Point::new(to - 2.0, base + 5.0), &line);
            first += count;
        }
        // Numbers are spaced so that they can be read.
        let every = if self.is_turned() { FONT + 1.0 } else { self.widest() + 4.0 };
        for (column, name) in self.columns.iter().enumerate().step_by((every / self.cell.0).ceil().max(1.0) as usize) {
            let (at, base) = (corner.x + self.x(column) + self.cell.0 / 2.0, corner.y - 6.0);
            if self.is_turned() {
                let turned = format!(r#"transform="rotate(-40 {at:.1} {base:.1})""#);
                canvas.fitted(Point::new(at, base), FONT, Anchor::Start, name, TURNED, &turned);
            } else {
                canvas.text(at, base, FONT, Anchor::Middle, name, "");
            }
        }
    }

    fn draw_cell(&self, canvas: &mut Canvas, cell: &Cell, corner: Point) {
        let (wide, high) = self.cell;
        let at = corner.plus(self.x(cell.column), high * cell.row as f64);
        match cell.point {
            Some(point) => canvas.open_found("point", point, &cell.tooltip),
            None if cell.tooltip.is_empty() => {}
            None => canvas.open(&cell.tooltip),
        }
        canvas.rect(at.x, at.y, wide, high, &format!(r#"fill="{}""#, cell.colour));
        if text_width(&cell.text, 9.0) + 3.0 < wide && high > 11.0 {
            let ink = if cell.is_dark { "#ffffff" } else { INK };
            let weight = if cell.is_strong { r#" font-weight="bold""# } else { "" };
            let base = at.y + high / 2.0 + 3.2;
            canvas.text(at.x + wide / 2.0, base, 9.0, Anchor::Middle, &cell.text, &format!(r#"fill="{ink}"{weight}"#));
        }
        if !cell.tooltip.is_empty() {
            canvas.close();
        }
    }
}

impl Part for Cells {
    fn size(&self) -> (f64, f64) {
        let (wide, high) = self.inside();
        let turned = if self.is_turned() { 0.77 * self.widest().min(TURNED) } else { 0.0 };
        (self.left() + wide + turned, self.above() + high)
    }

    fn draw(&self, canvas: &mut Canvas, at: Point) {
        for (line, text) in self.name_lines().iter().enumerate() {
            canvas.text(at.x, at.y + 10.0 + LINE * line as f64, 11.0, Anchor::Start, text, r#"font-weight="bold""#);
        }
        let corner = at.plus(self.left(), self.above());
        let (wide, high) = self.inside();
        let caption = at.y + LINE * self.name_lines().len() as f64 + 10.0;
        canvas.text(corner.x + wide / 2.0, caption, 11.0, Anchor::Middle, &self.captions.1, "");
        canvas.text(at.x, corner.y - 6.0, 11.0, Anchor::Start, &self.captions.0, "");
        self.draw_columns(canvas, corner);
        let every = ((FONT + 1.0) / self.cell.1).ceil().max(1.0) as usize;
        for (row, name) in self.rows.iter().enumerate().step_by(every) {
            let base = corner.y + self.cell.1 * (row as f64 + 0.5) + 3.5;
            canvas.fitted(Point::new(corner.x - 8.0, base), FONT, Anchor::End, name, NAMES, "");
        }
        for cell in &self.cells {
            self.draw_cell(canvas, cell, corner);
        }
        let line = format!(r#"stroke="{FAINT}" stroke-width="0.6""#);
        for row in 0..=self.rows.len() {
            let y = self.cell.1 * row as f64;
            canvas.line(corner.plus(0.0, y), corner.plus(wide, y), &line);
        }
        for x in (0..=self.columns.len()).map(|column| self.x(column)) {
            canvas.line(corner.plus(x, 0.0), corner.plus(x, high), &line);
        }
        for own in (0..self.rows.len()).filter(|_| self.has_diagonal) {
            let (x, y) = (corner.x + self.x(own) + 1.0, corner.y + self.cell.1 * own as f64 + 1.0);
            let frame = format!(r#"fill="none" stroke="{INK}" stroke-width="1.2""#);
            canvas.rect(x, y, self.cell.0 - 2.0, self.cell.1 - 2.0, &frame);
        }
    }
}

/// Ramp of colours from left to right, with labels below.
pub(super) struct Ramp {
    pub caption: String,
    /// Colour of a place from 0 to 1.
    pub colour: fn(f64) -> String,
    /// Places from 0 to 1, and their labels.
    pub ticks: Vec<(f64, String)>,
}

/// Width of a ramp \[px\].
pub(super) const RAMP: f64 = 320.0;

impl Part for Ramp {
    fn size(&self) -> (f64, f64) {
        (RAMP + 30.0, 46.0)
    }

    fn draw(&self, canvas: &mut Canvas, at: Point) {
        canvas.text(at.x, at.y + 10.0, 11.0, Anchor::Start, &self.caption, "");
        for step in 0..64 {
            let fill = format!(r#"fill="{}""#, (self.colour)((f64::from(step) + 0.5) / 64.0));
            canvas.rect(at.x + RAMP * f64::from(step) / 64.0, at.y + 16.0, RAMP / 64.0 + 0.3, 12.0, &fill);
        }
        canvas.rect(at.x, at.y + 16.0, RAMP, 12.0, &format!(r#"fill="none" stroke="{GREY}" stroke-width="0.7""#));
        for (place, text) in &self.ticks {
            let x = at.x + RAMP * place;
            canvas.line(Point::new(x, at.y + 28.0), Point::new(x, at.y + 32.0), &format!(r#"stroke="{GREY}""#));
            let anchor = if *place < 0.05 { Anchor::Start } else { Anchor::Middle };
            canvas.text(x, at.y + 42.0, 10.0, anchor, text, &format!(r#"data-tick="{place}""#));
        }
    }
}

/// Returns the colour of a fraction of the maximum; only 0 is white.
pub(super) fn shade(part: f64) -> String {
    LoadScale::up_to(1.0).colour(0.1 + 0.9 * part)
}
