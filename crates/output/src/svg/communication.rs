//! How long messages take between two processes, over their size: measured times and the straight lines through them.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, GREY, INK, MARGIN, Point};
use hayase::prediction::communication::{Communication, Row};
use hayase::units::{Bytes, Time};

const WIDTH: f64 = 860.0;
const CHART: (f64, f64) = (730.0, 420.0);
const LABELS: f64 = 58.0;

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
    let positive = || times().map(Time::seconds).filter(|&time| time > 0.0);
    let times = Axis::logarithmic(positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max), SECONDS);
    let sizes = Axis::lengths(data.times.last().map_or(1, |row| row.size.0));
    let (left, bottom) = (MARGIN + LABELS, y + CHART.1);
    let x = |bytes: f64| left + CHART.0 * sizes.place(bytes);
    let at = |bytes: f64, time: Time| Point::new(x(bytes), bottom - CHART.1 * times.place(time.seconds()));
    sizes.draw(&mut canvas, left, CHART.0, y, bottom, "size of the message");
    times.draw_left(&mut canvas, left, CHART.0, y, bottom, "time");

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
