//! Charts as data: two axes, series of values, and limits with their names.

use std::collections::BTreeSet;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, INK, Point, text_width, wrap};
use super::picture::Part;
use super::sign::{Fill, Pen};
use hayase::base::Arrange;

/// Bar of a chart, between two values of each axis.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Column {
    pub across: (f64, f64),
    pub up: (f64, f64),
    /// Tooltip; empty if there is none.
    pub tooltip: String,
}

/// Values with a common appearance, as (across, up).
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Series {
    /// Line through points, with the marks of its pen.
    Line(Pen, Vec<(f64, f64)>),
    /// Marks alone; coinciding marks are drawn once.
    Marks(Pen, Vec<(f64, f64)>),
    /// Intervals upwards: across, from, to.
    Intervals(Pen, Vec<(f64, f64, f64)>),
    /// Filled outline.
    Area(&'static str, Vec<(f64, f64)>),
    /// Bars.
    Columns(Fill, Vec<Column>),
    /// Places of the configurations of a sweep, by number, with tooltips; the script of a page finds them.
    Spots(Vec<((f64, f64), u64, String)>),
    /// Texts above points, at most one at each place.
    Texts(Vec<(f64, f64, String)>),
}

/// Limit of a chart: its value, its name and its pen.
pub(super) type Limit = (f64, String, Pen);

/// Chart as data.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chart {
    /// Name above the chart; empty if the title is enough.
    pub name: String,
    /// Width and height between the axes \[px\].
    pub inside: (f64, f64),
    /// Axis of values from left to right, and its caption.
    pub across: (Axis, String),
    /// Axis of values upwards, and its caption.
    pub up: (Axis, String),
    pub series: Vec<Series>,
    /// Limits of the values across: vertical lines with their names above.
    pub uprights: Vec<Limit>,
    /// Limits of the values upwards: horizontal lines with their names on the right.
    pub levels: Vec<Limit>,
}

/// Room left of a chart for its axis, and below it \[px\].
const LEFT: f64 = 68.0;
const BELOW: f64 = 36.0;
/// Height of a line of the name, and of the name of a limit \[px\].
const LINE: f64 = 14.0;
/// Smallest distance of marks, if there are too many points for a mark each \[px\].
const APART: f64 = 7.0;
/// Half the length of a line through a single point \[px\].
const ALONE: f64 = 12.0;
/// Radius of the place of a configuration \[px\].
const SPOT: f64 = 8.0;
/// Number of points from which a line is thinned.
const DENSE: usize = 2000;

impl Chart {
    /// Creates a chart without limits.
    pub(super) fn new(inside: (f64, f64), across: (Axis, &str), up: (Axis, &str), series: Vec<Series>) -> Self {
        let named = |(axis, name): (Axis, &str)| (axis, name.to_owned());
        let (across, up) = (named(across), named(up));
        Self { name: String::new(), inside, across, up, series, uprights: Vec::new(), levels: Vec::new() }
    }

    fn name_lines(&self) -> Vec<String> {
        wrap(&self.name, 11.0, self.inside.0)
    }

    fn above(&self) -> f64 {
        let rows = self.name_lines().len() + self.uprights.len().min(2);
        6.0 + LINE * rows as f64
    }

    /// Draws horizontal limits, with their names right of the chart as far as these do not overlap.
    fn draw_levels(&self, canvas: &mut Canvas, corner: Point) {
        let mut levels: Vec<&Limit> = self.levels.iter().collect();
        levels.arrange_by(|a, b| b.0.total_cmp(&a.0));
        let (right, mut free) = (corner.x + self.inside.0, f64::NEG_INFINITY);
        for (value, name, pen) in levels {
            let y = corner.y - self.inside.1 * self.up.0.place(*value);
            pen.line(canvas, Point::new(corner.x, y), Point::new(right, y));
            if name.is_empty() {
                continue;
            }
            let base = (y + 3.5).max(free);
            pen.line(canvas, Point::new(right, y), Point::new(right + 10.0, base - 3.5));
            canvas.text(right + 14.0, base, 10.0, Anchor::Start, name, "");
            free = base + 12.0;
        }
    }
}

impl Part for Chart {
    fn size(&self) -> (f64, f64) {
        let names = self.levels.iter().map(|level| text_width(&level.1, 10.0) + 14.0).fold(12.0, f64::max);
        (LEFT + self.inside.0 + names, self.above() + self.inside.1 + BELOW)
    }

    fn draw(&self, canvas: &mut Canvas, at: Point) {
        let (width, height) = self.inside;
        let (left, top) = (at.x + LEFT, at.y + self.above());
        let bottom = top + height;
        for (line, text) in self.name_lines().iter().enumerate() {
            canvas.text(left, at.y + 10.0 + LINE * line as f64, 11.0, Anchor::Start, text, r#"font-weight="bold""#);
        }
        self.across.0.draw(canvas, left, width, top, bottom, &self.across.1);
        self.up.0.draw_left(canvas, left, width, top, bottom, &self.up.1);
        // The axes are drawn over the begins of the grid lines.
        for (from, to) in [((left, top), (left, bottom)), ((left, bottom), (left + width, bottom))] {
            Pen::new(INK, 1.0).line(canvas, Point::new(from.0, from.1), Point::new(to.0, to.1));
        }
        self.draw_levels(canvas, Point::new(left, bottom));
        let limits = self.uprights.iter().map(|limit| (left + width * self.across.0.place(limit.0), limit));
        uprights(canvas, limits.collect(), left + width / 2.0, (top, bottom));
        let place = |(across, up): (f64, f64)| {
            Point::new(left + width * self.across.0.place(across), bottom - height * self.up.0.place(up))
        };
        for series in &self.series {
            series.draw(canvas, place, width);
        }
    }
}

impl Series {
    fn draw(&self, canvas: &mut Canvas, place: impl Fn((f64, f64)) -> Point, width: f64) {
        let points = |points: &[(f64, f64)]| -> Vec<Point> { points.iter().copied().map(&place).collect() };
        match self {
            Self::Line(pen, values) => {
                let points = points(values);
                match points[..] {
                    // A line through a single point is drawn as a short one.
                    [at] => pen.line(canvas, at.plus(-ALONE, 0.0), at.plus(ALONE, 0.0)),
                    _ => pen.trace(canvas, &thinned(&points)),
                }
                let kept = apart(&points, width, |at| at.x);
                pen.marks(canvas, kept);
            }
            Self::Marks(pen, values) => {
                let mut drawn = BTreeSet::new();
                let at = points(values).into_iter();
                pen.marks(canvas, at.filter(|at| drawn.insert((at.x.round() as i64, at.y.round() as i64))));
            }
            Self::Intervals(pen, values) => {
                let ends: Vec<(Point, Point)> =
                    values.iter().map(|&(at, low, high)| (place((at, low)), place((at, high)))).collect();
                for (low, high) in apart(&ends, width, |ends| ends.0.x) {
                    pen.whisker(canvas, low, high);
                }
            }
            Self::Area(fill, values) => canvas.polygon(&points(values), fill),
            Self::Columns(fill, columns) => {
                for Column { across, up, tooltip } in columns {
                    let (low, high) = (place((across.0, up.0)), place((across.1, up.1)));
                    if !tooltip.is_empty() {
                        canvas.open(tooltip);
                    }
                    canvas.rect(low.x, high.y, high.x - low.x, low.y - high.y, &fill.attributes());
                    if !tooltip.is_empty() {
                        canvas.close();
                    }
                }
            }
            Self::Spots(spots) => {
                for (at, point, tooltip) in spots {
                    canvas.open_found("point", *point as usize, tooltip);
                    canvas.circle(place(*at), SPOT, r#"fill="none" pointer-events="all""#);
                    canvas.close();
                }
            }
            Self::Texts(texts) => {
                let mut named: Option<Point> = None;
                for (across, up, text) in texts {
                    let at = place((*across, *up));
                    // Overlapping texts are left out.
                    if named.is_none_or(|last| (at.x - last.x).abs() > 14.0 || (at.y - last.y).abs() > 11.0) {
                        canvas.text(at.x + 5.0, at.y - 6.0, 10.0, Anchor::Start, text, r#"font-weight="bold""#);
                        named = Some(at);
                    }
                }
            }
        }
    }
}

/// Draws vertical limits at these places, with their names above in two rows; from `turn` on, names are left
/// of the line.
pub(super) fn uprights(canvas: &mut Canvas, mut limits: Vec<(f64, &Limit)>, turn: f64, (top, bottom): (f64, f64)) {
    limits.arrange_by(|a, b| a.0.total_cmp(&b.0));
    let (first, last) = limits.split_at(limits.partition_point(|limit| limit.0 <= turn));
    // Rows alternate from the outermost limit inwards, so that no line crosses the name of another limit.
    for (row, (x, (_, name, pen))) in last.iter().chain(first.iter().rev()).enumerate() {
        let base = top - 4.0 - LINE * (row % 2) as f64;
        pen.line(canvas, Point::new(*x, if name.is_empty() { top } else { base - 8.0 }), Point::new(*x, bottom));
        let (anchor, aside) = if *x > turn { (Anchor::End, -4.0) } else { (Anchor::Start, 4.0) };
        canvas.text(x + aside, base, 11.0, anchor, name, "");
    }
}

/// Returns all items; if they are too dense, only those that are far enough from the one before.
fn apart<T: Copy>(items: &[T], width: f64, x: impl Fn(&T) -> f64) -> Vec<T> {
    let is_crowded = APART * items.len() as f64 > width;
    let mut last = f64::NEG_INFINITY;
    let mut kept = items.to_vec();
    kept.retain(|item| {
        let is_apart = !is_crowded || x(item) > last + APART;
        last = if is_apart { x(item) } else { last };
        is_apart
    });
    kept
}

/// Thins a line of many points without changing its appearance: it keeps the first, highest, lowest and last
/// point of each half pixel.
fn thinned(points: &[Point]) -> Vec<Point> {
    if points.len() <= DENSE {
        return points.to_vec();
    }
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| (a.x * 2.0).floor() == (b.x * 2.0).floor()) {
        let by_height = |a: &&Point, b: &&Point| a.y.total_cmp(&b.y);
        let ends = [column.first(), column.iter().min_by(by_height), column.iter().max_by(by_height), column.last()];
        kept.extend(ends.into_iter().flatten().copied());
    }
    kept
}
