//! Time of messages between two processes over their size: measured times and the straight lines through
//! them.

use super::axis::{Axis, SECONDS};
use super::chart::{Chart, Series as Drawn};
use super::picture::Picture;
use super::sign::{Fill, LIMIT, Mark, Pen, Sign};
use hayase::prediction::communication::{Communication, Row};
use hayase::units::{Bytes, Time};

/// Column of the table: name, pen and time.
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

/// Pen of straight lines.
const STRAIGHT: Pen = Pen::new("#c3c8cf", 6.0);

/// Draws the table of communication data on logarithmic axes.
pub fn communication(data: &Communication) -> String {
    let origin = &data.origin;
    let shown = SERIES.iter().filter(|series| data.times.iter().any(|row| series.2(row).is_some()));
    let below = [
        (Sign::Box(Fill("#c9dbe4", ""), 0.1, 0.9), "where 95 % of its repetitions are"),
        (Sign::Line(STRAIGHT), "a straight line for each protocol"),
    ];
    let legend = shown.clone().map(|(name, pen, _)| (Sign::Line(*pen), *name)).chain(below);
    let times = || data.times.iter().flat_map(|row| SERIES.iter().filter_map(|series| series.2(row)).chain([row.high]));
    let positive = || times().map(Time::seconds).filter(|&time| time > 0.0);
    let up = Axis::logarithmic(positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max), SECONDS);
    let across = Axis::lengths(data.times.last().map_or(1, |row| row.size.0));
    let upper = data.times.iter().map(|row| (row.size.0 as f64, row.high.seconds()));
    let lower = data.times.iter().rev().map(|row| (row.size.0 as f64, row.receive.seconds()));
    let mut series = vec![Drawn::Area(r##"fill="#c9dbe4" fill-opacity="0.6""##, upper.chain(lower).collect())];
    for line in &data.lines {
        let inside = data.times.iter().map(|row| row.size.0).filter(|size| (line.from.0..=line.to.0).contains(size));
        let at =
            |size: u64| (size as f64, Time::from_ps((line.start_ns + line.slope_ns * size as f64) * 1e3).seconds());
        series.push(Drawn::Line(STRAIGHT, inside.map(at).collect()));
    }
    for (_, pen, of) in shown {
        let points: Vec<(u64, f64)> =
            data.times.iter().filter_map(|row| Some((row.size.0, of(row)?.seconds()))).collect();
        // A line does not cross S, where times may jump.
        for piece in points.chunk_by(|a, b| data.waits(a.0) == data.waits(b.0)) {
            series.push(Drawn::Line(*pen, piece.iter().map(|&(size, time)| (size as f64, time)).collect()));
        }
    }
    let limits = [("S", data.limits.sync), ("s", data.limits.s)].into_iter();
    let uprights = limits.filter_map(|(name, limit)| {
        let Bytes(limit) = limit?;
        Some((limit as f64, format!("{name} = {limit} B"), LIMIT))
    });
    let chart = Chart::new((730.0, 420.0), (across, "size of the message"), (up, "time"), series);
    let subtitle = format!("{}; {}; {}", origin.launcher, origin.hosts.join(" and "), origin.measured);
    Picture::new(format!("Messages between two processes: {}", origin.mpi), subtitle)
        .legend(legend)
        .with(Chart { uprights: uprights.collect(), ..chart })
        .draw()
}
