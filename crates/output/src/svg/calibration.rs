//! Measured times and what the parameters found say of them, over the length of the message.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point};
use super::scale::percent;
use hayase::node::calibrate::{Calibration, Measured, Point as Measurement};

const WIDTH: f64 = 860.0;
const CHART: (f64, f64) = (730.0, 380.0);
const RESIDUALS: f64 = 120.0;
const LABELS: f64 = 58.0;
/// Residuals of more than so many times the median are not drawn to scale.
const FAR: f64 = 20.0;

/// What is measured the same way: a line of the legend.
struct Series {
    name: &'static str,
    colour: &'static str,
    dashes: &'static str,
    mark: Mark,
    /// Its measurements by length, each with its time \[s\] and the fitted one, less the work in them.
    points: Vec<(Measurement, f64, f64)>,
}

/// Forms that can be told apart without colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    Full,
    Open,
    Square,
    Triangle,
}

/// Whether a measurement is of a series.
type Belongs = fn(&Measurement) -> bool;
/// Name, colour, dashes, mark and what belongs to it.
const SERIES: [(&str, &str, &str, Mark, Belongs); 4] = [
    ("round trip without work", "#2f6f8f", "", Mark::Full, |point| {
        point.call == Measured::RoundTrip && point.work_s == 0.0
    }),
    ("round trip with work in it, less the work: what work cannot hide", "#b5502f", "7 4", Mark::Open, |point| {
        point.call == Measured::RoundTrip && point.work_s > 0.0
    }),
    ("blocking send", "#5d7a2e", "2 3", Mark::Square, |point| point.call == Measured::Send),
    ("interval of a train", "#7a4a8c", "9 3 2 3", Mark::Triangle, |point| point.call == Measured::Interval),
];

/// Draws measurements as marks and the fitted times as lines, and below them how far each measurement is off.
pub fn calibration(found: &Calibration, title: &str) -> String {
    let series = series(found);
    let mut canvas = Canvas::new();
    let subtitle = format!(
        "marks: measured; lines: LogGPS with the parameters found; off by {} (median), {} at most",
        percent(found.median_residual),
        percent(found.largest_residual)
    );
    let mut y = canvas.heading(title, &subtitle, WIDTH);
    for entry in &series {
        let style = format!(r#"stroke="{}" stroke-width="2" stroke-dasharray="{}""#, entry.colour, entry.dashes);
        canvas.line(Point::new(MARGIN, y), Point::new(MARGIN + 34.0, y), &style);
        entry.mark(&mut canvas, Point::new(MARGIN + 17.0, y));
        canvas.text(MARGIN + 42.0, y + 4.0, 11.0, Anchor::Start, entry.name, "");
        y += 16.0;
    }
    let all = || series.iter().flat_map(|entry| &entry.points);
    let times = || all().flat_map(|point| [point.1, point.2]).filter(|&time| time > 0.0);
    let below = all().filter(|point| point.1 <= 0.0).count();
    if below > 0 {
        let what = if below == 1 { "1 round trip is" } else { &format!("{below} round trips are") };
        let text = format!("{what} no longer than the work in it: at the foot, where there is no logarithm.");
        y = canvas.remarks(&[text], y - 10.0, WIDTH) + 8.0;
    }
    // Names of thresholds stand above the chart, each in a row of its own.
    y += 30.0;
    let sizes = Axis::lengths(all().map(|point| point.0.bytes).max().unwrap_or(0));
    let time = Axis::logarithmic(times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max), SECONDS);
    let (left, bottom) = (MARGIN + LABELS, y + CHART.1);
    sizes.draw(&mut canvas, left, CHART.0, y, bottom, "length of the message");
    time.draw_left(&mut canvas, left, CHART.0, y, bottom, "time");
    let at = |bytes: u64, value: f64| {
        Point::new(left + CHART.0 * sizes.place(bytes as f64), bottom - CHART.1 * time.place(value))
    };
    thresholds(&mut canvas, found, (left, y, bottom), |bytes| left + CHART.0 * sizes.place(bytes as f64));
    let limits = [found.s, found.sync].map(|threshold| threshold.map_or(u64::MAX, |threshold| threshold.bytes));
    let piece = |bytes: u64| limits.map(|limit| bytes > limit);
    for entry in &series {
        let style =
            format!(r#"fill="none" stroke="{}" stroke-width="1.6" stroke-dasharray="{}""#, entry.colour, entry.dashes);
        // One line through lengths that were measured with several times of work: what the longest of them leaves.
        let lengths = entry.points.chunk_by(|a, b| a.0.bytes == b.0.bytes);
        let line: Vec<(u64, f64)> = lengths
            .map(|same| (same[0].0.bytes, same.iter().map(|point| point.2).fold(f64::INFINITY, f64::min)))
            .filter(|point| point.1 > 0.0)
            .collect();
        // A line for each protocol: between them times may jump.
        for points in line.chunk_by(|a, b| piece(a.0) == piece(b.0)) {
            let line: Vec<Point> = straight(points).map(|(bytes, time)| at(bytes, time)).collect();
            canvas.polyline(&line, &style);
        }
        for point in &entry.points {
            entry.mark(&mut canvas, at(point.0.bytes, point.1));
        }
    }
    let top = bottom + 58.0;
    residuals(&mut canvas, &series, left, top, |bytes| left + CHART.0 * sizes.place(bytes as f64));
    canvas.finish(WIDTH, top + RESIDUALS + 30.0, title)
}

fn series(found: &Calibration) -> Vec<Series> {
    let of = |belongs: Belongs| {
        let points = found.points.iter().filter(|point| belongs(point));
        let mut points: Vec<_> =
            points.map(|&point| (point, point.time_s - point.work_s, point.fitted_s - point.work_s)).collect();
        points.sort_by(|a, b| a.0.bytes.cmp(&b.0.bytes).then(a.0.work_s.total_cmp(&b.0.work_s)));
        points
    };
    let all =
        SERIES.map(|(name, colour, dashes, mark, belongs)| Series { name, colour, dashes, mark, points: of(belongs) });
    all.into_iter().filter(|entry| !entry.points.is_empty()).collect()
}

/// Straight lines from length to length, with places in between: they are not straight on logarithmic axes.
fn straight(points: &[(u64, f64)]) -> impl Iterator<Item = (u64, f64)> + '_ {
    let between = |pair: &[(u64, f64)]| {
        let ((from, first), (to, last)) = (pair[0], pair[1]);
        let inside = std::iter::successors(Some(from.max(1)), |&bytes| Some(bytes + (bytes / 4).max(1)));
        let at = move |bytes: u64| (bytes, first + (last - first) * (bytes - from) as f64 / (to - from) as f64);
        std::iter::once((from, first))
            .chain(inside.skip_while(move |&bytes| bytes <= from).take_while(move |&bytes| bytes < to).map(at))
    };
    points.windows(2).flat_map(between).chain(points.last().copied())
}

impl Series {
    fn mark(&self, canvas: &mut Canvas, at: Point) {
        let colour = self.colour;
        let (full, open) =
            (format!(r#"fill="{colour}""#), format!(r##"fill="#ffffff" stroke="{colour}" stroke-width="1.3""##));
        match self.mark {
            Mark::Full => canvas.circle(at, 3.0, &full),
            Mark::Open => canvas.circle(at, 3.0, &open),
            Mark::Square => canvas.rect(at.x - 2.6, at.y - 2.6, 5.2, 5.2, &full),
            Mark::Triangle => canvas.polygon(&[at.plus(0.0, -3.8), at.plus(3.4, 2.6), at.plus(-3.4, 2.6)], &open),
        }
    }
}

/// Upright lines where one protocol ends, with their names above.
fn thresholds(canvas: &mut Canvas, found: &Calibration, (left, top, bottom): (f64, f64, f64), x: impl Fn(u64) -> f64) {
    let same = found.s.map(|s| s.bytes) == found.sync.map(|sync| sync.bytes);
    let named = [("s", found.s.filter(|_| !same)), (if same { "s = S" } else { "S" }, found.sync)];
    for (row, (name, threshold)) in named.into_iter().enumerate() {
        let Some(threshold) = threshold else { continue };
        let (x, above) = (x(threshold.bytes), top - 6.0 - 13.0 * (1 - row) as f64);
        let style = format!(r#"stroke="{GREY}" stroke-dasharray="1 3""#);
        canvas.line(Point::new(x, above), Point::new(x, bottom), &style);
        let anchor = if x > left + CHART.0 / 2.0 { Anchor::End } else { Anchor::Start };
        let aside = if anchor == Anchor::End { -4.0 } else { 4.0 };
        canvas.text(x + aside, above + 2.0, 11.0, anchor, &format!("{name} = {} B", threshold.bytes), "");
    }
}

/// How far each measurement is off, around a line at 0.
fn residuals(canvas: &mut Canvas, series: &[Series], left: f64, top: f64, x: impl Fn(u64) -> f64) {
    let mut sizes: Vec<f64> =
        series.iter().flat_map(|entry| &entry.points).map(|point| point.0.residual().abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let (median, largest) = (sizes.get(sizes.len() / 2).copied().unwrap_or(0.0), sizes.last().copied().unwrap_or(0.0));
    // A few that are far off must not make all others one line.
    let limit = if median > 0.0 { largest.min(FAR * median) } else { largest }.max(1e-4);
    let beyond = sizes.iter().filter(|&&size| size > limit).count();
    let middle = top + RESIDUALS / 2.0;
    for part in [-1.0, 0.0, 1.0] {
        let y = middle - part * RESIDUALS / 2.0;
        let colour = if part == 0.0 { INK } else { FAINT };
        canvas.line(
            Point::new(left, y),
            Point::new(left + CHART.0, y),
            &format!(r#"stroke="{colour}" stroke-width="0.8""#),
        );
        let sign = if part < 0.0 { "-" } else { "+" };
        let text = if part == 0.0 { "0".to_owned() } else { format!("{sign}{}", percent(limit)) };
        canvas.text(left - 6.0, y + 3.5, 10.0, Anchor::End, &text, "");
    }
    let beyond = if beyond > 0 { format!("; {beyond} further off: at the edge") } else { String::new() };
    let caption = format!("measured over fitted, less 1 (over the same lengths){beyond}");
    canvas.text(left, top - 8.0, 11.0, Anchor::Start, &caption, "");
    for entry in series {
        for point in &entry.points {
            let y = middle - (point.0.residual() / limit).clamp(-1.0, 1.0) * RESIDUALS / 2.0;
            entry.mark(canvas, Point::new(x(point.0.bytes), y));
        }
    }
}
