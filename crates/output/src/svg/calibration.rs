//! Measured times over the length of the message, and the times that the fitted parameters give.

use super::axis::{Axis, SECONDS};
use super::canvas::INK;
use super::chart::{Chart, Series as Drawn};
use super::picture::Picture;
use super::scale::percent;
use super::sign::{LIMIT, Mark, Pen, Sign};
use hayase::base::Arrange;
use hayase::node::calibrate::{Calibration, Measured, Point as Measurement};

/// Width of the charts \[px\].
const WIDTH: f64 = 730.0;
/// Ratio to the median above which a residual is drawn at the edge and not to scale.
const FAR: f64 = 20.0;

/// Measurements of one kind: an entry of the legend.
struct Series {
    name: &'static str,
    pen: Pen,
    /// Measurements by length, each with the measured and the fitted time \[s\], less the work in them.
    points: Vec<(Measurement, f64, f64)>,
}

/// Test of a measurement for membership of a series.
type Belongs = fn(&Measurement) -> bool;
/// Name, pen and membership test of each series.
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

/// Draws measurements as marks and fitted times as lines, and below them the error of the fit at each
/// measurement.
pub fn calibration(found: &Calibration, title: &str) -> String {
    let series = series(found);
    let subtitle = format!(
        "marks: measured; lines: LogGPS with the parameters found; off by {} (median), {} at most",
        percent(found.median_residual),
        percent(found.largest_residual)
    );
    let all = || series.iter().flat_map(|entry| &entry.points);
    let remark = match all().filter(|point| point.1 <= 0.0).count() {
        0 => None,
        1 => Some("1 round trip is".to_owned()),
        below => Some(format!("{below} round trips are")),
    };
    let remark =
        remark.map(|what| format!("{what} no longer than the work in it: at the foot, where there is no logarithm."));
    let sizes = Axis::lengths(all().map(|point| point.0.bytes).max().unwrap_or(0));
    Picture::new(title, subtitle)
        .legend(series.iter().map(|entry| (Sign::Line(entry.pen), entry.name)))
        .remarks(remark)
        .with(times(found, &series, sizes.clone()))
        .with(residuals(&series, sizes))
        .draw()
}

/// Returns measured and fitted times over the length, with the lengths at which a protocol ends.
fn times(found: &Calibration, series: &[Series], sizes: Axis) -> Chart {
    let all = || series.iter().flat_map(|entry| &entry.points);
    let times = || all().flat_map(|point| [point.1, point.2]).filter(|&time| time > 0.0);
    let time = Axis::logarithmic(times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max), SECONDS);
    let limits = [found.s, found.sync].map(|threshold| threshold.map_or(u64::MAX, |threshold| threshold.bytes));
    let piece = |bytes: u64| limits.map(|limit| bytes > limit);
    let mut drawn = Vec::new();
    for entry in series {
        // If a length was measured with several amounts of work, the line passes through the smallest fitted time.
        let lengths = entry.points.chunk_by(|a, b| a.0.bytes == b.0.bytes);
        let line: Vec<(u64, f64)> = lengths
            .map(|same| (same[0].0.bytes, same.iter().map(|point| point.2).fold(f64::INFINITY, f64::min)))
            .filter(|point| point.1 > 0.0)
            .collect();
        // Each protocol has a line, because times may jump between protocols.
        for points in line.chunk_by(|a, b| piece(a.0) == piece(b.0)) {
            let line = straight(points).map(|(bytes, time)| (bytes as f64, time)).collect();
            drawn.push(Drawn::Line(entry.pen.marked(Mark::None), line));
        }
        let points = entry.points.iter().map(|point| (point.0.bytes as f64, point.1));
        drawn.push(Drawn::Marks(entry.pen, points.collect()));
    }
    let same = found.s.map(|s| s.bytes) == found.sync.map(|sync| sync.bytes);
    let named = [(if same { "s = S" } else { "S" }, found.sync), ("s", found.s.filter(|_| !same))];
    let uprights = named.into_iter().filter_map(|(name, threshold)| {
        let bytes = threshold?.bytes;
        Some((bytes as f64, format!("{name} = {bytes} B"), LIMIT))
    });
    let chart = Chart::new((WIDTH, 380.0), (sizes, "length of the message"), (time, "time"), drawn);
    Chart { uprights: uprights.collect(), ..chart }
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

/// Returns straight lines from length to length, with intermediate points: they are curves on logarithmic
/// axes.
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

/// Returns the error of the fit at each measurement, around a line at 0.
fn residuals(series: &[Series], across: Axis) -> Chart {
    let mut sizes: Vec<f64> =
        series.iter().flat_map(|entry| &entry.points).map(|point| point.0.residual().abs()).collect();
    sizes.arrange_by(f64::total_cmp);
    let (median, largest) = (sizes.get(sizes.len() / 2).copied().unwrap_or(0.0), sizes.last().copied().unwrap_or(0.0));
    // A few outliers must not flatten all other residuals.
    let limit = if median > 0.0 { largest.min(FAR * median) } else { largest }.max(1e-4);
    let beyond = sizes.iter().filter(|&&size| size > limit).count();
    let beyond = if beyond > 0 { format!("; {beyond} further off: at the edge") } else { String::new() };
    let ticks =
        [(-limit, format!("-{}", percent(limit))), (0.0, "0".to_owned()), (limit, format!("+{}", percent(limit)))];
    let up = Axis::linear(-limit, limit, "", ticks.into());
    let marks = |entry: &Series| {
        let points = entry.points.iter().map(|point| (point.0.bytes as f64, point.0.residual()));
        Drawn::Marks(entry.pen, points.collect())
    };
    let series = series.iter().map(marks).collect();
    let chart = Chart::new((WIDTH, 120.0), (across, "length of the message"), (up, ""), series);
    let name = format!("measured over fitted, less 1{beyond}");
    Chart { name, levels: vec![(0.0, String::new(), Pen::new(INK, 0.8))], ..chart }
}
