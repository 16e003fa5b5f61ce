//! How long messages take between two processes, over their size: measured times and the straight lines through them.

#![expect(clippy::disallowed_methods, reason = "logarithmic axes of a picture, nothing is computed from them")]

use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point};
use crate::data_set::communication::{Communication, Row};
use crate::units::{Bytes, Time};

const WIDTH: f64 = 860.0;
const CHART: (f64, f64) = (730.0, 420.0);
const LABELS: f64 = 58.0;
/// Room of the size 0, which has no logarithm, left of the axis.
const ZERO: f64 = 36.0;

/// A column of the table: its name, colour, dashes, whether its marks are filled, its time.
type Series = (&'static str, &'static str, &'static str, bool, fn(&Row) -> Option<Time>);
const SERIES: [Series; 3] = [
    ("message, its receive posted before: send called to received", "#2f6f8f", "", true, |row| Some(row.receive)),
    ("blocking send alone, its receive posted", "#b5502f", "7 4", false, |row| row.send),
    ("receive alone, its message there (above S: its request)", "#5d7a2e", "2 3", true, |row| row.late),
];

/// Draws the table of communication data on logarithmic axes.
pub fn communication(data: &Communication) -> String {
    let mut canvas = Canvas::new();
    let origin = &data.origin;
    let title = format!("Messages between two processes: {}", origin.mpi);
    let subtitle = format!("{}; {}; {}", origin.launcher, origin.hosts.join(" and "), origin.measured);
    let mut y = canvas.heading(&title, &subtitle, WIDTH);
    let shown = SERIES.iter().filter(|series| data.times.iter().any(|row| series.4(row).is_some()));
    for (name, colour, dashes, filled, _) in shown.clone() {
        let style = format!(r#"stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}""#);
        canvas.line(Point::new(MARGIN, y), Point::new(MARGIN + 34.0, y), &style);
        mark(&mut canvas, Point::new(MARGIN + 17.0, y), colour, *filled);
        canvas.text(MARGIN + 42.0, y + 4.0, 11.0, Anchor::Start, name, "");
        y += 16.0;
    }
    canvas.rect(MARGIN, y - 5.0, 34.0, 9.0, r##"fill="#c9dbe4""##);
    let text = "where 95 % of its repetitions are; thick and grey: a straight line for each protocol";
    canvas.text(MARGIN + 42.0, y + 4.0, 11.0, Anchor::Start, text, "");
    y += 22.0;

    let times = || data.times.iter().flat_map(|row| SERIES.iter().filter_map(|series| series.4(row)).chain([row.high]));
    let positive = || times().map(Time::ps).filter(|&ps| ps > 0.0);
    let least = positive().fold(f64::INFINITY, f64::min);
    let most = positive().fold(0.0, f64::max);
    let (low, high) = if most > 0.0 { (least.log10().floor(), most.log10().ceil()) } else { (3.0, 6.0) };
    let high = high.max(low + 1.0);
    let largest = data.times.last().map_or(1, |row| row.size.0).max(2);
    let (left, bottom) = (MARGIN + LABELS, y + CHART.1);
    let x = |bytes: f64| match bytes {
        bytes if bytes < 1.0 => left + ZERO / 2.0,
        bytes => left + ZERO + (CHART.0 - ZERO) * bytes.log2() / (largest as f64).log2(),
    };
    let at = |bytes: f64, time: Time| {
        let part = (time.ps().max(1.0).log10() - low) / (high - low);
        Point::new(x(bytes), bottom - CHART.1 * part.clamp(0.0, 1.0))
    };

    // Grid: a line for each power of ten of the time, a tick for every fourth power of two of the size.
    for power in low as i32..=high as i32 {
        let time = Time::from_ps(10.0_f64.powi(power));
        let line = at(1.0, time).y;
        canvas.line(Point::new(left, line), Point::new(left + CHART.0, line), &format!(r#"stroke="{FAINT}""#));
        canvas.text(left - 6.0, line + 3.5, 10.0, Anchor::End, &time.exact(), "");
    }
    let sizes = (0..63).step_by(4).map(|power| 1_u64 << power).take_while(|&size| size <= largest);
    for (size, text) in std::iter::once((0, "0".to_owned())).chain(sizes.map(|size| (size, binary(size)))) {
        let tick = x(size as f64);
        canvas.line(Point::new(tick, y), Point::new(tick, bottom), &format!(r#"stroke="{FAINT}""#));
        canvas.text(tick, bottom + 15.0, 10.0, Anchor::Middle, &text, "");
    }
    canvas.line(Point::new(left, bottom), Point::new(left + CHART.0, bottom), &format!(r#"stroke="{INK}""#));
    canvas.line(Point::new(left, y), Point::new(left, bottom), &format!(r#"stroke="{INK}""#));
    let middle = left + CHART.0 / 2.0;
    canvas.text(middle, bottom + 31.0, 11.0, Anchor::Middle, "size of the message [B], logarithmic", "");
    let (caption_x, caption_y) = (MARGIN + 8.0, bottom - CHART.1 / 2.0);
    let turned = format!(r#"transform="rotate(-90 {caption_x:.1} {caption_y:.1})""#);
    canvas.text(caption_x, caption_y, 11.0, Anchor::Middle, "time, logarithmic", &turned);

    let upper = data.times.iter().map(|row| at(row.size.0 as f64, row.high));
    let lower = data.times.iter().rev().map(|row| at(row.size.0 as f64, row.receive));
    let band: Vec<Point> = upper.chain(lower).collect();
    canvas.polygon(&band, r##"fill="#c9dbe4" fill-opacity="0.6""##);
    for line in &data.lines {
        let inside = data.times.iter().map(|row| row.size.0).filter(|size| (line.from.0..=line.to.0).contains(size));
        let points: Vec<Point> = inside
            .map(|size| at(size as f64, Time::from_ps((line.start_ns + line.slope_ns * size as f64) * 1e3)))
            .collect();
        canvas.polyline(&points, &format!(r#"fill="none" stroke="{GREY}" stroke-opacity="0.45" stroke-width="6""#));
    }
    for (_, colour, dashes, filled, of) in shown {
        let style = format!(r#"fill="none" stroke="{colour}" stroke-width="1.4" stroke-dasharray="{dashes}""#);
        let points: Vec<(u64, Point)> =
            data.times.iter().filter_map(|row| Some((row.size.0, at(row.size.0 as f64, of(row)?)))).collect();
        // Not across S, where times may jump.
        for piece in points.chunk_by(|a, b| data.waits(a.0) == data.waits(b.0)) {
            canvas.polyline(&piece.iter().map(|point| point.1).collect::<Vec<_>>(), &style);
        }
        for (_, point) in points {
            mark(&mut canvas, point, colour, *filled);
        }
    }
    for (name, limit, row) in [("s", data.limits.s, 0.0), ("S", data.limits.sync, 1.0)] {
        let Some(Bytes(limit)) = limit else { continue };
        let style = format!(r#"stroke="{INK}" stroke-dasharray="1 3""#);
        canvas.line(Point::new(x(limit as f64), y), Point::new(x(limit as f64), bottom), &style);
        let text = format!("{name} = {limit} B");
        canvas.text(x(limit as f64) - 4.0, y + 12.0 + 14.0 * row, 11.0, Anchor::End, &text, "");
    }
    canvas.finish(WIDTH, bottom + 44.0, &title)
}

fn mark(canvas: &mut Canvas, at: Point, colour: &str, filled: bool) {
    let fill = if filled { colour } else { "#ffffff" };
    canvas.circle(at, 2.4, &format!(r#"fill="{fill}" stroke="{colour}""#));
}

/// A power of two with its binary unit: `16`, `64 Ki`, `1 Mi`.
fn binary(size: u64) -> String {
    match size {
        size if size >= 1 << 20 => format!("{} Mi", size >> 20),
        size if size >= 1 << 10 => format!("{} Ki", size >> 10),
        size => size.to_string(),
    }
}
