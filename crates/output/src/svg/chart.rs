//! A line chart: two axes, lines with marks, limits with their names, a legend. Each picture fills it.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, GREY, INK, Point};
use hayase::base::Arrange;

/// The form of the points of a line: forms are told apart without colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    None,
    Disc,
    Ring,
    Square,
    Triangle,
}

/// How a line and its points are drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pen {
    pub colour: &'static str,
    pub width: f64,
    /// Lengths of dashes and gaps; empty: none.
    pub dashes: &'static str,
    pub mark: Mark,
}

/// Length of a line in a legend [px].
const SAMPLE: f64 = 28.0;
/// Room above a chart for each row of names of limits [px].
const ROW_ABOVE: f64 = 13.0;

impl Pen {
    /// A line without dashes and marks.
    pub(super) const fn new(colour: &'static str, width: f64) -> Self {
        Self { colour, width, dashes: "", mark: Mark::None }
    }

    /// The same in dashes.
    pub(super) const fn dashed(self, dashes: &'static str) -> Self {
        Self { dashes, ..self }
    }

    /// The same with a mark at each point.
    pub(super) const fn marked(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    fn stroke(&self) -> String {
        let Self { colour, width, dashes, .. } = self;
        let dashes = if dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dashes}""#) };
        format!(r#"stroke="{colour}" stroke-width="{width}"{dashes}"#)
    }

    /// A straight line.
    pub(super) fn line(&self, canvas: &mut Canvas, from: Point, to: Point) {
        canvas.line(from, to, &self.stroke());
    }

    /// A line through these points, without their marks.
    pub(super) fn trace(&self, canvas: &mut Canvas, points: &[Point]) {
        canvas.polyline(points, &format!(r#"fill="none" {}"#, self.stroke()));
    }

    /// The marks of these points.
    pub(super) fn marks(&self, canvas: &mut Canvas, points: impl IntoIterator<Item = Point>) {
        let colour = self.colour;
        let full = format!(r#"fill="{colour}""#);
        for at in points {
            match self.mark {
                Mark::None => {}
                Mark::Disc => canvas.circle(at, 3.0, &full),
                Mark::Ring => {
                    canvas.circle(at, 3.0, &format!(r##"fill="#ffffff" stroke="{colour}" stroke-width="1.3""##));
                }
                Mark::Square => canvas.rect(at.x - 2.8, at.y - 2.8, 5.6, 5.6, &full),
                Mark::Triangle => canvas.polygon(&[at.plus(0.0, -4.0), at.plus(3.7, 2.9), at.plus(-3.7, 2.9)], &full),
            }
        }
    }

    /// A line through these points, with their marks.
    pub(super) fn curve(&self, canvas: &mut Canvas, points: &[Point]) {
        self.trace(canvas, points);
        self.marks(canvas, points.iter().copied());
    }

    /// An entry of a legend, 16 px high; `y` is the base line of its text.
    pub(super) fn key(&self, canvas: &mut Canvas, x: f64, y: f64, text: &str) {
        let middle = y - 4.0;
        self.line(canvas, Point::new(x, middle), Point::new(x + SAMPLE, middle));
        self.marks(canvas, [Point::new(x + SAMPLE / 2.0, middle)]);
        canvas.text(x + SAMPLE + 8.0, y, 11.0, Anchor::Start, text, "");
    }
}

/// Draws ranks below a chart from `left` on, `width` wide: each has its number in the middle of its column.
pub(super) fn ranks_below(canvas: &mut Canvas, ranks: usize, (left, width): (f64, f64), bottom: f64, what: &str) {
    let column = width / ranks.max(1) as f64;
    for (rank, text) in Axis::counts(ranks.max(1)).ticks.iter().filter(|(rank, _)| *rank < ranks as f64) {
        let at = left + (rank + 0.5) * column;
        canvas.line(Point::new(at, bottom), Point::new(at, bottom + 4.0), &format!(r#"stroke="{GREY}""#));
        canvas.text(at, bottom + 16.0, 10.0, Anchor::Middle, text, "");
    }
    canvas.line(Point::new(left, bottom), Point::new(left + width, bottom), &format!(r#"stroke="{INK}""#));
    canvas.text(left + width / 2.0, bottom + 32.0, 11.0, Anchor::Middle, what, "");
}

/// Where a chart is, and its axes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chart {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    /// Of the values from left to right.
    pub across: Axis,
    /// Of the values upwards.
    pub up: Axis,
}

impl Chart {
    /// Room above a chart for so many rows of names of limits [px].
    pub(super) fn room_above(rows: usize) -> f64 {
        4.0 + ROW_ABOVE * rows as f64
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.width * self.across.place(value)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom() - self.height * self.up.place(value)
    }

    /// Where two values meet.
    pub(super) fn at(&self, across: f64, up: f64) -> Point {
        Point::new(self.x(across), self.y(up))
    }

    /// Draws the axes with what their values are: up to 34 px below the chart, up to the margin left of it.
    pub(super) fn axes(&self, canvas: &mut Canvas, across: &str, up: &str) {
        self.across.draw(canvas, self.left, self.width, self.top, self.bottom(), across);
        self.up.draw_left(canvas, self.left, self.width, self.top, self.bottom(), up);
        // Over the grid lines where these begin.
        let (top, corner) = (Point::new(self.left, self.top), Point::new(self.left, self.bottom()));
        for end in [top, Point::new(self.right(), self.bottom())] {
            Pen::new(INK, 1.0).line(canvas, corner, end);
        }
    }

    /// Draws a limit upright, with its name above the chart in a row of its own, from 0 below.
    pub(super) fn upright(&self, canvas: &mut Canvas, value: f64, name: &str, row: usize, pen: Pen) {
        let (x, base) = (self.x(value), self.top - 4.0 - ROW_ABOVE * row as f64);
        pen.line(canvas, Point::new(x, base - 8.0), Point::new(x, self.bottom()));
        let ends = x > self.left + self.width / 2.0;
        let (anchor, aside) = if ends { (Anchor::End, -4.0) } else { (Anchor::Start, 4.0) };
        canvas.text(x + aside, base, 11.0, anchor, name, "");
    }

    /// Draws limits across, with their names right of the chart where these do not touch.
    pub(super) fn levels(&self, canvas: &mut Canvas, mut levels: Vec<(f64, String, Pen)>) {
        levels.arrange_by(|a, b| b.0.total_cmp(&a.0));
        let mut free = f64::NEG_INFINITY;
        for (value, name, pen) in levels {
            let y = self.y(value);
            pen.line(canvas, Point::new(self.left, y), Point::new(self.right(), y));
            let base = (y + 3.5).max(free);
            let to = Point::new(self.right() + 10.0, base - 3.5);
            pen.line(canvas, Point::new(self.right(), y), to);
            canvas.text(to.x + 4.0, base, 10.0, Anchor::Start, &name, "");
            free = base + 12.0;
        }
    }

    /// Fills what lies below these points.
    pub(super) fn area(&self, canvas: &mut Canvas, points: &[Point], fill: &str) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        let feet = [Point::new(last.x, self.bottom()), Point::new(first.x, self.bottom())];
        let outline: Vec<Point> = points.iter().copied().chain(feet).collect();
        canvas.polygon(&outline, fill);
    }
}

/// What is drawn in ink: limits that are no data.
pub(super) const LIMIT: Pen = Pen::new(INK, 1.0).dashed("1 3");
