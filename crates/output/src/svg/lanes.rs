//! Lanes as data: rows of spans along one axis. Lists of bars and timelines are lanes.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, FAINT, INK, Point, text_width};
use super::chart::{Limit, uprights};
use super::picture::Part;
use super::sign::{Fill, Pen, Sign, arrow};

/// Span of a lane.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Span {
    pub from: f64,
    pub to: f64,
    pub sign: Sign,
    /// Text inside, if there is room for it.
    pub text: String,
}

impl Span {
    /// Creates a span without a text.
    pub(super) fn new(from: f64, to: f64, sign: Sign) -> Self {
        Self { from, to, sign, text: String::new() }
    }

    /// Creates a box that takes a fraction of the lane's height.
    pub(super) fn bar(from: f64, to: f64, fill: Fill, part: (f64, f64)) -> Self {
        Self::new(from, to, Sign::Box(fill, part.0, part.1))
    }
}

/// Lane as data.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Lane {
    pub name: String,
    /// Heading above the lane; empty if it has none.
    pub heading: String,
    /// Height \[px\].
    pub height: f64,
    pub spans: Vec<Span>,
    /// Text behind the last span.
    pub behind: String,
    /// Texts in the columns right of the axis.
    pub figures: Vec<String>,
    /// True if texts are bold.
    pub is_strong: bool,
    /// Tooltip; empty if there is none.
    pub tooltip: String,
}

/// Message from a time and lane to another; true if its arrival is shown, so that it has a head.
pub(super) type Arrow = ((f64, f64), (f64, f64), bool);

/// Lanes below each other.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Lanes {
    /// Name at the top, and a remark on it.
    pub name: (String, &'static str),
    /// Axis of all spans, its caption, and its width \[px\]. An axis without ticks is not drawn.
    pub axis: Axis,
    pub caption: &'static str,
    pub width: f64,
    pub lanes: Vec<Lane>,
    /// Headings and widths \[px\] of the columns right of the axis.
    pub columns: Vec<(&'static str, f64)>,
    pub uprights: Vec<Limit>,
    /// Messages between times and lanes. The middle of the first lane is 0.5.
    pub arrows: Vec<Arrow>,
    /// Lines over all lanes, through times and lanes.
    pub lines: Vec<Vec<(f64, f64)>>,
    /// True for timelines: small names, and a line above each lane.
    pub is_ruled: bool,
}

/// Height of a heading, and of the texts above and below lanes \[px\].
const HEADING: f64 = 24.0;
const ROW: f64 = 16.0;
const BELOW: f64 = 36.0;
/// Largest width of the name of a lane, and of the text behind one \[px\].
const NAMES: f64 = 330.0;
const RULED_NAMES: f64 = 110.0;
const BEHIND: f64 = 340.0;
/// Colour of lines over lanes: the critical path.
pub(super) const PATH: Pen = Pen::new("#b3122d", 1.7);

impl Lanes {
    /// Creates lanes without columns.
    pub(super) fn new(axis: Axis, caption: &'static str, width: f64, lanes: Vec<Lane>) -> Self {
        let name = (String::new(), "");
        let (columns, uprights, arrows, lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { name, axis, caption, width, lanes, columns, uprights, arrows, lines, is_ruled: false }
    }

    /// Creates a list: a name, a bar and figures in each lane, and no axis.
    pub(super) fn list(name: &str, most: f64, lanes: Vec<Lane>, columns: &[(&'static str, f64)]) -> Self {
        let axis = Axis::linear(0.0, most.max(f64::MIN_POSITIVE), "", Vec::new());
        let lanes = Self::new(axis, "", 115.0, lanes);
        Self { name: (name.to_owned(), ""), columns: columns.to_vec(), ..lanes }
    }

    fn font(&self) -> f64 {
        if self.is_ruled { 10.0 } else { 11.0 }
    }

    fn names(&self) -> f64 {
        let wide = self.lanes.iter().map(|lane| text_width(&lane.name, self.font()));
        wide.fold(50.0, f64::max).min(self.most_names()) + 10.0
    }

    fn most_names(&self) -> f64 {
        if self.is_ruled { RULED_NAMES } else { NAMES }
    }

    fn above(&self) -> f64 {
        let rows = usize::from(!self.name.0.is_empty() || !self.columns.is_empty()) + self.uprights.len().min(2);
        ROW * rows as f64
    }

    fn x(&self, value: f64) -> f64 {
        self.width * if value.is_finite() { self.axis.place(value) } else { 0.0 }
    }

    /// Returns the x coordinate of the end of the last span of a lane \[px\].
    fn end(&self, lane: &Lane) -> f64 {
        lane.spans.iter().map(|span| self.x(span.to)).fold(0.0, f64::max)
    }

    fn height(&self) -> f64 {
        self.lanes.iter().map(|lane| lane.height + if lane.heading.is_empty() { 0.0 } else { HEADING }).sum()
    }

    fn draw_lane(&self, canvas: &mut Canvas, lane: &Lane, at: Point) {
        let (size, base) = (self.font(), at.y + lane.height / 2.0 + 4.0);
        let weight = if lane.is_strong { r#"font-weight="bold""# } else { "" };
        if self.is_ruled {
            canvas.line(at, at.plus(self.width, 0.0), &format!(r#"stroke="{FAINT}""#));
        }
        if !lane.tooltip.is_empty() {
            canvas.open(&lane.tooltip);
        }
        canvas.fitted(Point::new(at.x - 8.0, base), size, Anchor::End, &lane.name, self.most_names(), "");
        for Span { from, to, sign, text } in &lane.spans {
            let across = (at.x + self.x(*from), at.x + self.x(*to));
            sign.draw(canvas, across, (at.y + 1.5, lane.height - 3.0), text);
        }
        if !lane.behind.is_empty() {
            let behind = Point::new(at.x + self.end(lane) + 8.0, base);
            canvas.fitted(behind, 11.0, Anchor::Start, &lane.behind, BEHIND, weight);
        }
        let mut right = at.x + self.width;
        for (figure, column) in lane.figures.iter().zip(&self.columns) {
            right += column.1;
            canvas.text(right, base, 11.0, Anchor::End, figure, weight);
        }
        if !lane.tooltip.is_empty() {
            canvas.close();
        }
    }
}

impl Part for Lanes {
    fn size(&self) -> (f64, f64) {
        let behind = |lane: &Lane| match text_width(&lane.behind, 11.0).min(BEHIND) {
            0.0 => 0.0,
            wide => self.end(lane) + 8.0 + wide - self.width,
        };
        let behind = self.lanes.iter().map(behind).fold(12.0, f64::max);
        let columns: f64 = self.columns.iter().map(|column| column.1).sum();
        let below = if self.axis.ticks.is_empty() { 4.0 } else { BELOW };
        (self.names() + self.width + behind.max(columns), self.above() + self.height() + below)
    }

    fn draw(&self, canvas: &mut Canvas, at: Point) {
        let bold = r#"font-weight="bold""#;
        let (left, top) = (at.x + self.names(), at.y + self.above());
        let bottom = top + self.height();
        canvas.text(at.x, at.y + 8.0, 12.0, Anchor::Start, &self.name.0, bold);
        let beside = at.x + text_width(&self.name.0, 13.5) + 8.0;
        canvas.text(beside, at.y + 8.0, 10.0, Anchor::Start, self.name.1, "");
        let mut right = left + self.width;
        for (heading, wide) in &self.columns {
            right += wide;
            canvas.text(right, top - 6.0, 11.0, Anchor::End, heading, bold);
        }
        // The axis is drawn first, so that it lies behind the spans.
        if !self.axis.ticks.is_empty() {
            self.axis.draw(canvas, left, self.width, top, bottom, self.caption);
        }
        let mut tops = Vec::new();
        let mut y = top;
        for lane in &self.lanes {
            if !lane.heading.is_empty() {
                let heading = Point::new(at.x, y + 16.0);
                canvas.fitted(heading, 12.0, Anchor::Start, &lane.heading, self.names() + self.width, bold);
                y += HEADING;
            }
            self.draw_lane(canvas, lane, Point::new(left, y));
            tops.push((y, lane.height));
            y += lane.height;
        }
        let place = |&(time, lane): &(f64, f64)| {
            let (top, high) = tops.get(lane as usize).copied().unwrap_or((bottom, 0.0));
            Point::new(left + self.x(time), top + high * lane.fract())
        };
        for (from, to, has_head) in &self.arrows {
            arrow(canvas, place(from), place(to), *has_head);
        }
        for line in &self.lines {
            let points: Vec<Point> = line.iter().map(place).collect();
            canvas.polyline(&points, r##"fill="none" stroke="#ffffff" stroke-width="3.4" stroke-opacity="0.75""##);
            PATH.trace(canvas, &points);
        }
        // The line at 0 is interrupted by headings.
        for (top, high) in tops {
            canvas.line(Point::new(left, top), Point::new(left, top + high), &format!(r#"stroke="{INK}""#));
        }
        let limits = self.uprights.iter().map(|limit| (left + self.x(limit.0), limit));
        uprights(canvas, limits.collect(), left + 0.85 * self.width, (top, bottom));
    }
}
