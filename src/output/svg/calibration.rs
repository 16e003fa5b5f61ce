//! Measured round trips and what the parameters found say of them, over the length of the message.

use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point};
use super::scale::{Axis, BYTES, SECONDS, percent};
use crate::node::calibrate::{Calibration, Measured, Point as Measurement};
use crate::units::Time;

const WIDTH: f64 = 860.0;
const CHART: (f64, f64) = (730.0, 380.0);
const RESIDUALS: f64 = 120.0;
const LABELS: f64 = 58.0;
/// Lines that can be told apart: a colour, a dash pattern, and whether the marks are filled.
const LOOKS: [(&str, &str, bool); 4] =
    [("#2f6f8f", "", true), ("#b5502f", "7 4", false), ("#5d7a2e", "2 3", true), ("#7a4a8c", "9 3 2 3", false)];

/// What is measured the same way, and only the length differs.
struct Series {
    name: String,
    points: Vec<Measurement>,
}

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
    for (entry, look) in series.iter().zip(LOOKS.iter().cycle()) {
        let (colour, dashes, filled) = *look;
        let style = format!(r#"stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}""#);
        canvas.line(Point::new(MARGIN, y), Point::new(MARGIN + 34.0, y), &style);
        mark(&mut canvas, Point::new(MARGIN + 17.0, y), colour, filled);
        canvas.text(MARGIN + 42.0, y + 4.0, 11.0, Anchor::Start, &entry.name, "");
        y += 16.0;
    }
    y += 6.0;
    let all = || series.iter().flat_map(|entry| &entry.points);
    let x_axis = Axis::new(all().map(|point| point.bytes as f64).fold(0.0, f64::max), 8, BYTES);
    let y_axis = Axis::new(all().map(|point| point.time_s.max(point.fitted_s)).fold(0.0, f64::max), 7, SECONDS);
    let (left, bottom) = (MARGIN + LABELS, y + CHART.1);
    x_axis.draw(&mut canvas, left, CHART.0, y, bottom, "length of the message");
    scale_at_left(&mut canvas, &y_axis, left, bottom, CHART.1, "time");
    let at = |point: &Measurement, time: f64| {
        Point::new(left + CHART.0 * point.bytes as f64 / x_axis.end, bottom - CHART.1 * time / y_axis.end)
    };
    thresholds(&mut canvas, found, &x_axis, (left, y, bottom));
    for (entry, (colour, dashes, filled)) in series.iter().zip(LOOKS.iter().cycle()) {
        let style = format!(r#"fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}""#);
        // A line for each protocol: between them times may jump.
        let limits = [found.s, found.sync].map(|threshold| threshold.map_or(u64::MAX, |threshold| threshold.bytes));
        let piece = |point: &Measurement| limits.map(|limit| point.bytes > limit);
        for points in entry.points.chunk_by(|a, b| piece(a) == piece(b)) {
            let line: Vec<Point> = points.iter().map(|point| at(point, point.fitted_s)).collect();
            canvas.polyline(&line, &style);
        }
        for point in &entry.points {
            mark(&mut canvas, at(point, point.time_s), colour, *filled);
        }
    }
    let top = bottom + 56.0;
    residuals(&mut canvas, &series, &x_axis, left, top);
    canvas.finish(WIDTH, top + RESIDUALS + 30.0, title)
}

fn series(found: &Calibration) -> Vec<Series> {
    let mut points = found.points.clone();
    points.sort_by(|a, b| a.call.cmp(&b.call).then(a.work_s.total_cmp(&b.work_s)).then(a.bytes.cmp(&b.bytes)));
    let same = |a: &Measurement, b: &Measurement| a.call == b.call && a.work_s == b.work_s;
    let groups = points.chunk_by(same);
    groups
        .map(|group| {
            let name = match (group[0].call, group[0].work_s) {
                (Measured::Interval, _) => "interval".to_owned(),
                (Measured::Send, _) => "blocking send".to_owned(),
                (Measured::RoundTrip, 0.0) => "round trip without work".to_owned(),
                (Measured::RoundTrip, work) => format!("round trip with {} of work", Time::from_seconds(work)),
            };
            Series { name, points: group.to_vec() }
        })
        .collect()
}

fn mark(canvas: &mut Canvas, at: Point, colour: &str, filled: bool) {
    let fill = if filled { colour } else { "#ffffff" };
    canvas.circle(at, 2.6, &format!(r#"fill="{fill}" stroke="{colour}""#));
}

fn scale_at_left(canvas: &mut Canvas, axis: &Axis, left: f64, bottom: f64, height: f64, caption: &str) {
    for (value, text) in &axis.ticks {
        let y = bottom - height * value / axis.end;
        canvas.line(Point::new(left, y), Point::new(left + CHART.0, y), &format!(r#"stroke="{FAINT}""#));
        canvas.text(left - 6.0, y + 3.5, 10.0, Anchor::End, text, "");
    }
    canvas.line(Point::new(left, bottom - height), Point::new(left, bottom), &format!(r#"stroke="{INK}""#));
    let (x, y) = (MARGIN + 12.0, bottom - height / 2.0);
    let turned = format!(r#"transform="rotate(-90 {x:.1} {y:.1})""#);
    canvas.text(x, y, 11.0, Anchor::Middle, &format!("{caption} [{}]", axis.unit), &turned);
}

/// Upright lines where one protocol ends.
fn thresholds(canvas: &mut Canvas, found: &Calibration, axis: &Axis, (left, top, bottom): (f64, f64, f64)) {
    let same = found.s.map(|s| s.bytes) == found.sync.map(|sync| sync.bytes);
    for (name, threshold) in [("s", found.s.filter(|_| !same)), (if same { "s = S" } else { "S" }, found.sync)] {
        let Some(threshold) = threshold else { continue };
        let x = left + CHART.0 * threshold.bytes as f64 / axis.end;
        let style = format!(r#"stroke="{GREY}" stroke-dasharray="1 3""#);
        canvas.line(Point::new(x, top), Point::new(x, bottom), &style);
        canvas.text(x + 4.0, top + 11.0, 11.0, Anchor::Start, &format!("{name} = {} B", threshold.bytes), "");
    }
}

/// How far each measurement is off, around a line at 0.
fn residuals(canvas: &mut Canvas, series: &[Series], axis: &Axis, left: f64, top: f64) {
    let limit = series.iter().flat_map(|entry| &entry.points).map(|point| point.residual().abs()).fold(1e-4, f64::max);
    let middle = top + RESIDUALS / 2.0;
    for part in [-1.0, 0.0, 1.0] {
        let y = middle - part * RESIDUALS / 2.0;
        canvas.line(Point::new(left, y), Point::new(left + CHART.0, y), &format!(r#"stroke="{FAINT}""#));
        let sign = if part < 0.0 { "-" } else { "" };
        let text = if part == 0.0 { "0".to_owned() } else { format!("{sign}{}", percent(limit)) };
        canvas.text(left - 6.0, y + 3.5, 10.0, Anchor::End, &text, "");
    }
    canvas.text(left, top - 8.0, 11.0, Anchor::Start, "measured over fitted, less 1", "");
    for (entry, (colour, _, filled)) in series.iter().zip(LOOKS.iter().cycle()) {
        for point in &entry.points {
            let x = left + CHART.0 * point.bytes as f64 / axis.end;
            let y = middle - point.residual() / limit * RESIDUALS / 2.0;
            mark(canvas, Point::new(x, y), colour, *filled);
        }
    }
}
