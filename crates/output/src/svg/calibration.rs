//! Measured times and what the parameters found say of them, over the length of the message.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, INK, MARGIN, Point};
use super::chart::{Chart, LIMIT, Mark, Pen};
use super::scale::percent;
use hayase::base::Arrange;
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
    pen: Pen,
    /// Its measurements by length, each with its time \[s\] and the fitted one, less the work in them.
    points: Vec<(Measurement, f64, f64)>,
}

/// Whether a measurement is of a series.
type Belongs = fn(&Measurement) -> bool;
/// Name, pen and what belongs to it.
const SERIES: [(&str, Pen, Belongs); 4] = [
    ("round trip without work", Pen::new("#2f6f8f", 1.6).marked(Mark::Disc), |point| {
        point.call == Measured::RoundTrip && point.work_s == 0.0
    }),
    (
        "round trip with work in it, less the work: what work cannot hide",
        Pen::new("#b5502f", 1.6).dashed("7 4").marked(Mark::Ring),
        |point| point.call == Measured::RoundTrip && point.work_s > 0.0,
    ),
    ("blocking send", Pen::new("#5d7a2e", 1.6).dashed("2 3").marked(Mark::Square), |point| {
        point.call == Measured::Send
    }),
    ("interval of a train", Pen::new("#7a4a8c", 1.6).dashed("9 3 2 3").marked(Mark::Triangle), |point| {
        point.call == Measured::Interval
    }),
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
        entry.pen.key(&mut canvas, MARGIN, y + 4.0, entry.name);
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
    y += Chart::room_above(2);
    let sizes = Axis::lengths(all().map(|point| point.0.bytes).max().unwrap_or(0));
    let time = Axis::logarithmic(times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max), SECONDS);
    let (left, (width, height)) = (MARGIN + LABELS, CHART);
    let chart = Chart { left, top: y, width, height, across: sizes, up: time };
    chart.axes(&mut canvas, "length of the message", "time");
    thresholds(&mut canvas, found, &chart);
    let limits = [found.s, found.sync].map(|threshold| threshold.map_or(u64::MAX, |threshold| threshold.bytes));
    let piece = |bytes: u64| limits.map(|limit| bytes > limit);
    for entry in &series {
        // One line through lengths that were measured with several times of work: what the longest of them leaves.
        let lengths = entry.points.chunk_by(|a, b| a.0.bytes == b.0.bytes);
        let line: Vec<(u64, f64)> = lengths
            .map(|same| (same[0].0.bytes, same.iter().map(|point| point.2).fold(f64::INFINITY, f64::min)))
            .filter(|point| point.1 > 0.0)
            .collect();
        // A line for each protocol: between them times may jump.
        for points in line.chunk_by(|a, b| piece(a.0) == piece(b.0)) {
            let line: Vec<Point> = straight(points).map(|(bytes, time)| chart.at(bytes as f64, time)).collect();
            entry.pen.trace(&mut canvas, &line);
        }
        entry.pen.marks(&mut canvas, entry.points.iter().map(|point| chart.at(point.0.bytes as f64, point.1)));
    }
    let top = chart.bottom() + 58.0;
    residuals(&mut canvas, &series, left, top, |bytes| chart.x(bytes as f64));
    canvas.finish(WIDTH, top + RESIDUALS + 30.0, title)
}

fn series(found: &Calibration) -> Vec<Series> {
    let of = |belongs: Belongs| {
        let points = found.points.iter().filter(|point| belongs(point));
        let mut points: Vec<_> =
            points.map(|&point| (point, point.time_s - point.work_s, point.fitted_s - point.work_s)).collect();
        points.arrange_by(|a, b| a.0.bytes.cmp(&b.0.bytes).then(a.0.work_s.total_cmp(&b.0.work_s)));
        points
    };
    let all = SERIES.map(|(name, pen, belongs)| Series { name, pen, points: of(belongs) });
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

/// Upright lines where one protocol ends.
fn thresholds(canvas: &mut Canvas, found: &Calibration, chart: &Chart) {
    let same = found.s.map(|s| s.bytes) == found.sync.map(|sync| sync.bytes);
    let named = [(if same { "s = S" } else { "S" }, found.sync), ("s", found.s.filter(|_| !same))];
    for (row, (name, threshold)) in named.into_iter().enumerate() {
        if let Some(threshold) = threshold {
            chart.upright(canvas, threshold.bytes as f64, &format!("{name} = {} B", threshold.bytes), row, LIMIT);
        }
    }
}

/// How far each measurement is off, around a line at 0.
fn residuals(canvas: &mut Canvas, series: &[Series], left: f64, top: f64, x: impl Fn(u64) -> f64) {
    let mut sizes: Vec<f64> =
        series.iter().flat_map(|entry| &entry.points).map(|point| point.0.residual().abs()).collect();
    sizes.arrange_by(f64::total_cmp);
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
        let y = |off: f64| middle - (off / limit).clamp(-1.0, 1.0) * RESIDUALS / 2.0;
        let points = entry.points.iter().map(|point| Point::new(x(point.0.bytes), y(point.0.residual())));
        entry.pen.marks(canvas, points);
    }
}
