//! Signs: the appearance of a line, a box or a mark, the same in a chart and in its legend.

use super::canvas::{Anchor, Canvas, GREY, INK, MARGIN, Point, text_width, wrap};

/// Form of the points of a line, so that lines differ without colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    None,
    Disc,
    Ring,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
    Frame,
}

/// Appearance of a line and its points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pen {
    pub colour: &'static str,
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dashes: &'static str,
    pub mark: Mark,
}

/// Pen of limits that are no data.
pub(super) const LIMIT: Pen = Pen::new(INK, 1.0).dashed("1 3");

impl Pen {
    /// Creates a line without dashes and marks.
    pub(super) const fn new(colour: &'static str, width: f64) -> Self {
        Self { colour, width, dashes: "", mark: Mark::None }
    }

    /// Returns the same pen in dashes.
    pub(super) const fn dashed(self, dashes: &'static str) -> Self {
        Self { dashes, ..self }
    }

    /// Returns the same pen with a mark at each point.
    pub(super) const fn marked(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    fn stroke(&self) -> String {
        let Self { colour, width, dashes, .. } = self;
        let dashes = if dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dashes}""#) };
        format!(r#"stroke="{colour}" stroke-width="{width}"{dashes}"#)
    }

    /// Draws a straight line.
    pub(super) fn line(&self, canvas: &mut Canvas, from: Point, to: Point) {
        canvas.line(from, to, &self.stroke());
    }

    /// Draws a straight line with short bars at its ends.
    pub(super) fn whisker(&self, canvas: &mut Canvas, from: Point, to: Point) {
        self.line(canvas, from, to);
        let (dx, dy) = if from.x == to.x { (4.0, 0.0) } else { (0.0, 4.0) };
        for end in [from, to] {
            self.line(canvas, end.plus(-dx, -dy), end.plus(dx, dy));
        }
    }

    /// Draws a line through these points, without their marks.
    pub(super) fn trace(&self, canvas: &mut Canvas, points: &[Point]) {
        canvas.polyline(points, &format!(r#"fill="none" {}"#, self.stroke()));
    }

    /// Draws the marks of these points.
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
                Mark::Diamond => {
                    canvas.polygon(
                        &[(0.0, -4.2), (4.2, 0.0), (0.0, 4.2), (-4.2, 0.0)].map(|(x, y)| at.plus(x, y)),
                        &full,
                    );
                }
                Mark::Cross | Mark::Plus => {
                    let ends =
                        if self.mark == Mark::Plus { [(0.0, 4.0), (4.0, 0.0)] } else { [(3.0, 3.0), (3.0, -3.0)] };
                    ends.iter().for_each(|&(x, y)| Self::new(colour, 1.6).line(canvas, at.plus(-x, -y), at.plus(x, y)));
                }
                Mark::Frame => {
                    let frame = format!(r##"fill="#ffffff" stroke="{colour}" stroke-width="1.3""##);
                    canvas.rect(at.x - 2.6, at.y - 2.6, 5.2, 5.2, &frame);
                }
                Mark::Triangle => canvas.polygon(&[at.plus(0.0, -4.0), at.plus(3.7, 2.9), at.plus(-3.7, 2.9)], &full),
            }
        }
    }
}

/// Pens of lines, which differ in their marks and dashes too.
pub(super) const PENS: [Pen; 8] = [
    Pen::new("#2f6f8f", 1.8).marked(Mark::Disc),
    Pen::new("#b3541e", 1.8).marked(Mark::Square),
    Pen::new("#4d7c3a", 1.8).marked(Mark::Triangle),
    Pen::new("#6d4a8c", 1.8).marked(Mark::Ring),
    Pen::new("#8c7a1f", 1.8).dashed("7 3").marked(Mark::Disc),
    Pen::new("#a3252c", 1.8).dashed("7 3").marked(Mark::Square),
    Pen::new("#444b55", 1.8).dashed("2 3").marked(Mark::Triangle),
    Pen::new("#1b7a74", 1.8).dashed("2 3").marked(Mark::Ring),
];

/// Returns the pen of a line by its number. If there are more lines than pens, pens are repeated with other
/// marks.
pub(super) fn pen(number: usize) -> Pen {
    let marks = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Ring];
    let pen = PENS[number % PENS.len()];
    match number / PENS.len() {
        0 => pen,
        turn => pen.marked(marks[(number + turn) % marks.len()]),
    }
}

/// Fill of a box and the attributes of its edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fill(pub &'static str, pub &'static str);

/// Edge of bars.
pub(super) const EDGE: &str = r##"stroke="#2b4a5a" stroke-width="0.7""##;
/// Fill of the best bar, or of the bars that a chart is about.
pub(super) const STRONG: Fill = Fill("#2f6f8f", EDGE);
/// Fill of other bars.
pub(super) const PALE: Fill = Fill("#9dbccc", EDGE);

impl Fill {
    /// Returns the attributes of a shape.
    pub(super) fn attributes(self) -> String {
        format!(r#"fill="{}" {}"#, self.0, self.1)
    }

    /// Returns the colour of text on the fill.
    fn ink(self) -> &'static str {
        let rgb = u32::from_str_radix(self.0.trim_start_matches('#'), 16).unwrap_or(u32::MAX);
        let luma = (rgb >> 16 & 255) * 299 + (rgb >> 8 & 255) * 587 + (rgb & 255) * 114;
        if luma < 115_000 { "#ffffff" } else { INK }
    }
}

/// Sign of a span in a lane, or of an entry in a legend.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Sign {
    /// Line through the middle, with the mark of its pen in legends.
    Line(Pen),
    /// Mark of a pen in the middle.
    Mark(Pen),
    /// Box that takes a part of the height, from the first fraction to the second, downwards.
    Box(Fill, f64, f64),
    /// Disc at the end, filled or empty.
    Dot(bool),
    /// Line through the middle with bars at its ends.
    Whisker,
    /// Lower bound at the end: a red line with a head.
    Bound,
    /// Arrow through the middle.
    Arrow,
    /// Node of a fabric.
    Node,
    /// Crossbar of a fabric.
    Crossbar,
    /// Cable that carries messages in one direction only.
    OneWay,
    /// Cross, over a line if there is one.
    Cross(Option<Pen>),
}

impl Sign {
    /// Draws the sign between two x coordinates, at a height, with a text if it has room.
    pub(super) fn draw(self, canvas: &mut Canvas, (from, to): (f64, f64), (top, height): (f64, f64), text: &str) {
        let middle = top + height / 2.0;
        let (start, end) = (Point::new(from, middle), Point::new(to, middle));
        match self {
            Self::Line(pen) => pen.line(canvas, start, end),
            Self::Mark(pen) => pen.marks(canvas, [start.plus((to - from) / 2.0, 0.0)]),
            Self::Box(fill, first, last) => {
                let (at, high) = (top + height * first, (height * (last - first)).max(0.6));
                canvas.rect(from, at, (to - from).max(0.6), high, &fill.attributes());
                let size = (high * 0.8).min(9.0);
                if size >= 6.0 && !text.is_empty() && text_width(text, size) + 3.0 < to - from {
                    let (x, base) = ((from + to) / 2.0, at + high / 2.0 + size * 0.36);
                    canvas.text(x, base, size, Anchor::Middle, text, &format!(r#"fill="{}""#, fill.ink()));
                }
            }
            Self::Dot(is_full) => {
                let fill = if is_full { STRONG.0 } else { "#ffffff" };
                canvas.circle(end, 5.0, &format!(r##"fill="{fill}" stroke="#2b4a5a" stroke-width="1.6""##));
            }
            Self::Whisker => Pen::new(INK, 1.3).whisker(canvas, start, end),
            Self::Bound => {
                let (head, foot) = (Point::new(to, top), Point::new(to, top + height));
                canvas.line(head, foot, r##"stroke="#ffffff" stroke-width="4""##);
                canvas.line(head, foot, r##"stroke="#b3261e" stroke-width="2""##);
                canvas.polygon(
                    &[head.plus(0.0, 3.0), head.plus(-4.0, -2.0), head.plus(4.0, -2.0)],
                    r##"fill="#b3261e""##,
                );
            }
            Self::Arrow => arrow(canvas, start, end, true),
            Self::Node => canvas.circle(start.plus((to - from) / 2.0, 0.0), 4.5, &format!(r#"fill="{}""#, STRONG.0)),
            Self::Crossbar => crossbar(canvas, start, end),
            Self::OneWay => {
                Pen::new(GREY, 1.0).line(canvas, start, end);
                one_way(canvas, &[start, end], false);
            }
            Self::Cross(pen) => {
                if let Some(pen) = pen {
                    pen.line(canvas, start, end);
                }
                cross(canvas, start.plus((to - from) / 2.0, 0.0), 4.0);
            }
        }
    }
}

/// Draws a message as a thin line, with a head if its arrival is shown.
pub(super) fn arrow(canvas: &mut Canvas, from: Point, to: Point, has_head: bool) {
    canvas.line(from, to, &format!(r#"stroke="{INK}" stroke-width="0.8" stroke-opacity="0.6""#));
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = (dx * dx + dy * dy).sqrt().max(1e-9);
    let (dx, dy) = (6.0 * dx / length, 6.0 * dy / length);
    if has_head {
        let back = to.plus(-dx, -dy);
        let corners = [to, back.plus(-0.37 * dy, 0.37 * dx), back.plus(0.37 * dy, -0.37 * dx)];
        canvas.polygon(&corners, &format!(r#"fill="{INK}" fill-opacity="0.75""#));
    }
}

/// Draws a crossbar of a fabric.
pub(super) fn crossbar(canvas: &mut Canvas, from: Point, to: Point) {
    canvas.line(from, to, r##"stroke="#1b1f24" stroke-width="6" stroke-linecap="round""##);
    canvas.line(from, to, r##"stroke="#ffffff" stroke-width="3.6" stroke-linecap="round""##);
}

/// Draws the head of an arrow in the middle of a line.
pub(super) fn one_way(canvas: &mut Canvas, points: &[Point], backwards: bool) {
    let Some(&[from, to]) = points.windows(2).nth((points.len().saturating_sub(1)) / 2) else { return };
    let (from, to) = if backwards { (to, from) } else { (from, to) };
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = (dx * dx + dy * dy).sqrt();
    if length < 8.0 {
        return;
    }
    let (dx, dy) = (dx / length, dy / length);
    let tip = Point::new((from.x + to.x) / 2.0 + dx * 4.0, (from.y + to.y) / 2.0 + dy * 4.0);
    let back = tip.plus(-dx * 8.0, -dy * 8.0);
    let head = [tip, back.plus(-dy * 3.2, dx * 3.2), back.plus(dy * 3.2, -dx * 3.2)];
    canvas.polygon(&head, &format!(r#"fill="{GREY}""#));
}

/// Draws a cross, the mark of failed parts.
pub(super) fn cross(canvas: &mut Canvas, at: Point, half: f64) {
    for (dx, dy) in [(half, half), (half, -half)] {
        for (stroke, width) in [("#ffffff", 4), (FAILED, 2)] {
            let attributes = format!(r#"stroke="{stroke}" stroke-width="{width}" stroke-linecap="round""#);
            canvas.line(at.plus(-dx, -dy), at.plus(dx, dy), &attributes);
        }
    }
}

/// Colour of failed parts.
pub(super) const FAILED: &str = "#c0182b";

/// Legend: signs with their meanings. A sign without a text shares that of the next one.
pub(super) type Legend = Vec<(Sign, String)>;

/// Width of a sign in a legend \[px\].
const SAMPLE: f64 = 28.0;

/// Draws a legend from `y` on in rows; returns the y coordinate below it.
pub(super) fn legend(canvas: &mut Canvas, legend: &[(Sign, String)], y: f64, width: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, y);
    // Signs that share a text stay in one row.
    for entry in legend.chunk_by(|(_, text), _| text.is_empty()) {
        let signs = (SAMPLE + 2.0) * entry.len() as f64 + 6.0;
        let text = entry.last().map_or("", |(_, text)| text);
        let lines = wrap(text, 11.0, width - 2.0 * MARGIN - signs);
        let wide = signs + lines.iter().map(|line| text_width(line, 11.0)).fold(0.0, f64::max);
        if x > MARGIN && x + wide > width - MARGIN {
            (x, y) = (MARGIN, y + 18.0);
        }
        for (number, (sign, _)) in entry.iter().enumerate() {
            let from = x + (SAMPLE + 2.0) * number as f64;
            let middle = from + SAMPLE / 2.0;
            let is_point = matches!(sign, Sign::Dot(_) | Sign::Bound);
            sign.draw(canvas, if is_point { (middle, middle) } else { (from, from + SAMPLE) }, (y - 6.0, 12.0), "");
            if let Sign::Line(pen) = sign {
                pen.marks(canvas, [Point::new(middle, y)]);
            }
        }
        for (line, text) in lines.iter().enumerate() {
            y += if line > 0 { 14.0 } else { 0.0 };
            canvas.text(x + signs, y + 4.0, 11.0, Anchor::Start, text, "");
        }
        x += wide + 18.0;
    }
    if legend.is_empty() { y } else { y + 20.0 }
}
