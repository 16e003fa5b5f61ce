//! How long messages take between two processes, over their size: measured times and the straight lines through them.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, GREY, MARGIN, Point};
use super::chart::{Chart, LIMIT, Mark, Pen};
use hayase::prediction::communication::{Communication, Row};
use hayase::units::{Bytes, Time};

const WIDTH: f64 = 860.0;
const CHART: (f64, f64) = (730.0, 420.0);
const LABELS: f64 = 58.0;

/// A column of the table: its name, its pen, its time.
type Series = (&'static str, Pen, fn(&Row) -> Option<Time>);
const SERIES: [Series; 3] = [
    (
        "message, its receive posted before: send called to received",
        Pen::new("#2f6f8f", 1.4).marked(Mark::Disc),
        |row| Some(row.receive),
    ),
    ("blocking send alone, its receive posted", Pen::new("#b5502f", 1.4).dashed("7 4").marked(Mark::Ring), |row| {
        row.send
    }),
    (
        "receive alone, its message there (above S: its request)",
        Pen::new("#5d7a2e", 1.4).dashed("2 3").marked(Mark::Square),
        |row| row.late,
    ),
];

/// Draws the table of communication data on logarithmic axes.
pub fn communication(data: &Communication) -> String {
    let mut canvas = Canvas::new();
    let origin = &data.origin;
    let title = format!("Messages between two processes: {}", origin.mpi);
    let subtitle = format!("{}; {}; {}", origin.launcher, origin.hosts.join(" and "), origin.measured);
    let mut y = canvas.heading(&title, &subtitle, WIDTH);
    let shown = SERIES.iter().filter(|series| data.times.iter().any(|row| series.2(row).is_some()));
    for (name, pen, _) in shown.clone() {
        pen.key(&mut canvas, MARGIN, y + 4.0, name);
        y += 16.0;
    }
    canvas.rect(MARGIN, y - 5.0, 28.0, 9.0, r##"fill="#c9dbe4""##);
    let text = "where 95 % of its repetitions are; thick and grey: a straight line for each protocol";
    canvas.text(MARGIN + 36.0, y + 4.0, 11.0, Anchor::Start, text, "");
    y += 10.0 + Chart::room_above(2);

    let times = || data.times.iter().flat_map(|row| SERIES.iter().filter_map(|series| series.2(row)).chain([row.high]));
    let positive = || times().map(Time::seconds).filter(|&time| time > 0.0);
    let times = Axis::logarithmic(positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max), SECONDS);
    let sizes = Axis::lengths(data.times.last().map_or(1, |row| row.size.0));
    let (left, (width, height)) = (MARGIN + LABELS, CHART);
    let chart = Chart { left, top: y, width, height, across: sizes, up: times };
    chart.axes(&mut canvas, "size of the message", "time");
    let at = |bytes: f64, time: Time| chart.at(bytes, time.seconds());

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
    for (_, pen, of) in shown {
        let points: Vec<(u64, Point)> =
            data.times.iter().filter_map(|row| Some((row.size.0, at(row.size.0 as f64, of(row)?)))).collect();
        // Not across S, where times may jump.
        for piece in points.chunk_by(|a, b| data.waits(a.0) == data.waits(b.0)) {
            pen.curve(&mut canvas, &piece.iter().map(|point| point.1).collect::<Vec<_>>());
        }
    }
    for (row, (name, limit)) in [("S", data.limits.sync), ("s", data.limits.s)].into_iter().enumerate() {
        if let Some(Bytes(limit)) = limit {
            chart.upright(&mut canvas, limit as f64, &format!("{name} = {limit} B"), row, LIMIT);
        }
    }
    canvas.finish(WIDTH, chart.bottom() + 44.0, &title)
}
