//! What ranks do and when, the messages between them and the critical path: a band for each rank.

use super::canvas::{Anchor, Canvas, FAINT, INK, MARGIN, Point, text_width};
use super::window::{Span, Window};
use hayase::base::Arrange;
use hayase::ids::RankId;
use hayase::player::{ActivityKind, Transfer};
use hayase::record::{History, PathKind, PathStep};
use hayase::units::Time;

/// Most bands of a picture.
const MOST_RANKS: u32 = 64;
/// Most arrows: more of them hide what ranks do.
const MOST_ARROWS: usize = 200;
/// Most changes of rank of a critical path that is drawn.
const MOST_CHANGES: usize = 200;
/// Most regions, each a row above the bands.
const MOST_REGIONS: usize = 8;
/// Height of such a row.
const REGION_ROW: f64 = 15.0;
const REGION: &str = "#8a6d1f";
const LABELS: f64 = 64.0;
const CHART: f64 = 1080.0;
/// Colour of the critical path.
const PATH: &str = "#b3122d";

/// How a kind is drawn: its colour, and the part of the band it takes, from the top. Kinds differ in height and place,
/// so that they can be told apart without colour.
fn form(kind: ActivityKind) -> (&'static str, f64, f64) {
    match kind {
        ActivityKind::Compute => ("#2f6f8f", 0.0, 1.0),
        ActivityKind::SendOverhead => ("#c8641e", 0.0, 0.5),
        ActivityKind::RecvOverhead => ("#6b8e23", 0.5, 1.0),
        ActivityKind::SendWait => ("#eab98f", 0.0, 0.2),
        ActivityKind::RecvWait => ("#c3d391", 0.8, 1.0),
        ActivityKind::Sync => ("#7d63a0", 0.38, 0.62),
    }
}

/// Colour of a kind.
pub(super) fn colour(kind: ActivityKind) -> &'static str {
    form(kind).0
}

/// A region of the program: its name, and from when to when each execution was.
pub type Region<'a> = (&'a str, &'a [(Time, Time)]);

/// Where things are.
struct Chart {
    left: f64,
    top: f64,
    row: f64,
    span: Span,
    ranks: Vec<u32>,
}

impl Chart {
    fn x(&self, time_s: f64) -> f64 {
        self.left + CHART * self.span.axis.place(time_s)
    }

    /// Whether any of it is in the window.
    fn has(&self, begin: Time, end: Time) -> bool {
        self.span.has(begin.seconds(), end.seconds())
    }

    /// The part of a straight way from one point in time and height to another that is in the window.
    fn within(&self, from: (f64, f64), to: (f64, f64)) -> (Point, Point) {
        let at = |time_s: f64| {
            let part = if to.0 > from.0 { ((time_s - from.0) / (to.0 - from.0)).clamp(0.0, 1.0) } else { 0.0 };
            Point::new(self.x(time_s), from.1 + (to.1 - from.1) * part)
        };
        if to.0 <= from.0 {
            return (Point::new(self.x(from.0), from.1), Point::new(self.x(to.0), to.1));
        }
        (at(from.0.max(self.span.from_s)), at(to.0.min(self.span.to_s)))
    }

    /// The middle of a rank's band, if it has one.
    fn y(&self, rank: RankId) -> Option<f64> {
        let at = self.ranks.binary_search(&rank.0).ok()?;
        Some(self.top + self.row * (at as f64 + 0.5))
    }
}

/// What was played, and which part of it is drawn.
#[derive(Clone, Copy)]
pub struct Played<'a> {
    /// What ranks did, and the messages.
    pub history: &'a History,
    /// The critical path.
    pub path: &'a [PathStep],
    /// How many ranks there are.
    pub ranks: u32,
    /// When the last of them was done \[s\].
    pub makespan_s: f64,
    /// The regions that have a row of their own.
    pub regions: &'a [Region<'a>],
    /// From when to when.
    pub window: Window,
}

/// Draws what so many ranks did: up to 64 bands; of more ranks some at even distances, which the picture says. What is
/// too short to be seen is merged. Of too many messages those have an arrow that were waited for longest.
pub fn replay(played: &Played<'_>, title: &str, subtitle: &str) -> String {
    let Played { history, path, ranks, makespan_s, regions, window } = *played;
    let width = MARGIN * 2.0 + LABELS + CHART + 20.0;
    let span = window.of(makespan_s);
    let steps = path.iter().filter(|step| span.has(step.begin.seconds(), step.end.seconds()));
    let path: Vec<PathStep> = steps.cloned().collect();
    let changes = path.windows(2).filter(|pair| pair[0].rank != pair[1].rank).count();
    let crowded = changes > MOST_CHANGES;
    let path = if crowded { &[] } else { path.as_slice() };
    let mut canvas = Canvas::new();
    let y = canvas.heading(title, subtitle, width);
    let y = legend(&mut canvas, y, !path.is_empty());
    let bands = ranks.min(MOST_RANKS);
    let chosen: Vec<u32> =
        (0..bands).map(|i| (u64::from(i) * u64::from(ranks) / u64::from(bands.max(1))) as u32).collect();
    let mut chart = Chart {
        left: MARGIN + LABELS,
        top: y + 26.0,
        row: (760.0 / f64::from(bands.max(1))).clamp(12.0, 44.0),
        span,
        ranks: chosen,
    };
    let drawn = |transfer: &&Transfer| {
        transfer.src != transfer.dst
            && chart.y(transfer.src).is_some()
            && chart.y(transfer.dst).is_some()
            && chart.span.has(transfer.leave.seconds(), transfer.arrive.seconds())
    };
    let (arrows, left_out) = heaviest(history, &chart, history.transfers().filter(drawn).collect());
    let mut remarks: Vec<String> = chart.span.remark.iter().cloned().collect();
    if bands < ranks {
        remarks.push(format!("Too many ranks for one picture: {bands} of {ranks} are drawn, at even distances."));
    }
    remarks.extend(left_out);
    if crowded {
        remarks.push(format!("The critical path changes the rank {changes} times, too often to be drawn."));
    }
    let shown = &regions[..regions.len().min(MOST_REGIONS)];
    if shown.len() < regions.len() {
        remarks.push(format!("Too many regions for one picture: {MOST_REGIONS} of {} are drawn.", regions.len()));
    }
    let column = if bands > 16 { 2.0 } else { 1.0 };
    let shortest = (chart.span.axis.end - chart.span.axis.start) * column / CHART;
    let short = |&rank: &u32| {
        let mut shown = history.of(RankId(rank)).iter().filter(|activity| chart.has(activity.begin, activity.end));
        shown.any(|activity| (activity.end - activity.begin).seconds() < shortest)
    };
    if chart.ranks.iter().any(short) {
        let shortest = hayase::units::Time::from_seconds(shortest);
        remarks.push(format!("What is shorter than {shortest} is merged: such a stretch shows what took most of it."));
    }
    chart.top = canvas.remarks(&remarks, chart.top - 24.0, width) + 26.0;
    let top = chart.top;
    chart.top += REGION_ROW * shown.len() as f64;
    let bottom = chart.top + chart.row * f64::from(bands);
    chart.span.axis.draw(&mut canvas, chart.left, CHART, top, bottom, "simulated time");
    for (row, (name, spans)) in shown.iter().enumerate() {
        region(&mut canvas, &chart, name, spans, top + REGION_ROW * row as f64);
    }
    for &rank in &chart.ranks {
        band(&mut canvas, &chart, history, rank, column);
    }
    for transfer in arrows {
        arrow(&mut canvas, &chart, transfer);
    }
    for part in path_lines(&chart, path) {
        canvas.polyline(&part, r##"fill="none" stroke="#ffffff" stroke-width="3.4" stroke-opacity="0.75""##);
        canvas.polyline(&part, &format!(r#"fill="none" stroke="{PATH}" stroke-width="1.7""#));
    }
    canvas.line(Point::new(chart.left, chart.top), Point::new(chart.left, bottom), &format!(r#"stroke="{INK}""#));
    if makespan_s > 0.0 && chart.span.shows(makespan_s) {
        let at = chart.x(makespan_s);
        let above = top;
        let line = format!(r#"stroke="{INK}" stroke-width="1.2" stroke-dasharray="5 3""#);
        canvas.line(Point::new(at, above - 6.0), Point::new(at, bottom), &line);
        let anchor = if at > chart.left + CHART * 0.85 { Anchor::End } else { Anchor::Start };
        let text = format!("makespan {}", hayase::units::Time::from_seconds(makespan_s));
        canvas.text(at, above - 9.0, 10.0, anchor, &text, "");
    }
    canvas.finish(width, bottom + 36.0 + MARGIN, title)
}

/// The messages that have an arrow, the lightest first, and what is said of those that have none: what was waited for
/// longest, and of equal ones the largest, weighs most.
fn heaviest<'a>(
    history: &History,
    chart: &Chart,
    mut transfers: Vec<&'a Transfer>,
) -> (Vec<&'a Transfer>, Option<String>) {
    let count = transfers.len();
    if count <= MOST_ARROWS {
        return (transfers, None);
    }
    let last = transfers.iter().map(|transfer| transfer.message).max().unwrap_or(0) as usize;
    let mut waited = vec![0.0; last + 1];
    for activity in chart.ranks.iter().flat_map(|&rank| history.of(RankId(rank))) {
        let waits = matches!(activity.kind, ActivityKind::SendWait | ActivityKind::RecvWait | ActivityKind::Sync);
        if let Some(time) = activity.message.filter(|_| waits).and_then(|message| waited.get_mut(message as usize)) {
            *time += (activity.end - activity.begin).seconds();
        }
    }
    let of = |transfer: &Transfer| waited[transfer.message as usize];
    let heavier = |a: &&Transfer, b: &&Transfer| {
        of(b).total_cmp(&of(a)).then(b.bytes.cmp(&a.bytes)).then(a.message.cmp(&b.message))
    };
    transfers.arrange_by(heavier);
    let by = if transfers.first().is_some_and(|transfer| of(transfer) > 0.0) {
        "that were waited for longest"
    } else {
        "that are largest"
    };
    transfers.truncate(MOST_ARROWS);
    transfers.reverse();
    let without = count - MOST_ARROWS;
    let text = format!("Too many messages for one picture: the {MOST_ARROWS} {by} have an arrow, {without} have none.");
    (transfers, Some(text))
}

/// What forms and colours mean; returns where it ends.
fn legend(canvas: &mut Canvas, y: f64, with_path: bool) -> f64 {
    let mut x = MARGIN;
    let frame = format!(r#"fill="none" stroke="{FAINT}""#);
    for kind in ActivityKind::ALL {
        let (colour, from, to) = form(kind);
        canvas.rect(x, y - 4.0, 26.0, 14.0, &frame);
        canvas.rect(x, y - 4.0 + 14.0 * from, 26.0, 14.0 * (to - from), &format!(r#"fill="{colour}""#));
        canvas.text(x + 31.0, y + 7.0, 11.0, Anchor::Start, kind.name(), "");
        x += 31.0 + text_width(kind.name(), 11.0) + 14.0;
    }
    let line = format!(r#"stroke="{INK}" stroke-width="0.8" stroke-opacity="0.6""#);
    canvas.line(Point::new(x, y + 3.0), Point::new(x + 22.0, y + 3.0), &line);
    head(canvas, Point::new(x, y + 3.0), Point::new(x + 26.0, y + 3.0));
    canvas.text(x + 31.0, y + 7.0, 11.0, Anchor::Start, "message", "");
    x += 31.0 + text_width("message", 11.0) + 14.0;
    if with_path {
        canvas.line(
            Point::new(x, y + 3.0),
            Point::new(x + 26.0, y + 3.0),
            &format!(r#"stroke="{PATH}" stroke-width="1.7""#),
        );
        canvas.text(x + 31.0, y + 7.0, 11.0, Anchor::Start, "critical path", "");
    }
    y + 14.0
}

/// A row with the executions of a region; what is closer than a pixel is one.
fn region(canvas: &mut Canvas, chart: &Chart, name: &str, spans: &[(Time, Time)], y: f64) {
    const LONGEST: usize = 10;
    let label: String = match name.chars().count() {
        0..=LONGEST => name.to_owned(),
        _ => name.chars().take(LONGEST - 1).chain(['…']).collect(),
    };
    canvas.text(chart.left - 8.0, y + REGION_ROW - 4.5, 10.0, Anchor::End, &label, "");
    let fill = format!(r#"fill="{REGION}""#);
    let mut sorted: Vec<(f64, f64)> = spans
        .iter()
        .filter(|&&(from, to)| chart.has(from, to))
        .map(|&(from, to)| (chart.x(from.seconds()), chart.x(to.seconds())))
        .collect();
    sorted.arrange_by(|a, b| a.0.total_cmp(&b.0));
    let mut open: Option<(f64, f64)> = None;
    for (from, to) in sorted.into_iter().chain([(f64::INFINITY, f64::INFINITY)]) {
        open = match open {
            Some((begin, end)) if from < end + 1.0 => Some((begin, end.max(to))),
            before => {
                if let Some((begin, end)) = before {
                    canvas.rect(begin, y + 3.0, (end - begin).max(0.6), REGION_ROW - 7.0, &fill);
                }
                Some((from, to))
            }
        };
    }
}

/// What one rank did.
fn band(canvas: &mut Canvas, chart: &Chart, history: &History, rank: u32, column: f64) {
    let Some(middle) = chart.y(RankId(rank)) else { return };
    let top = middle - chart.row / 2.0;
    canvas.text(chart.left - 8.0, middle + 3.5, 10.0, Anchor::End, &format!("rank {rank}"), "");
    canvas.line(Point::new(chart.left, top), Point::new(chart.left + CHART, top), &format!(r#"stroke="{FAINT}""#));
    let high = chart.row - 3.0;
    let mut draw = |from: f64, to: f64, kind: ActivityKind| {
        let (colour, upper, lower) = form(kind);
        let fill = format!(r#"fill="{colour}""#);
        canvas.rect(from, top + 1.5 + high * upper, to - from, high * (lower - upper), &fill);
    };
    let mut columns = vec![[0.0_f64; ActivityKind::ALL.len()]; (CHART / column) as usize + 1];
    let mut long = Vec::new();
    for activity in history.of(RankId(rank)).iter().filter(|activity| chart.has(activity.begin, activity.end)) {
        let (from, to) = (chart.x(activity.begin.seconds()), chart.x(activity.end.seconds()));
        if to - from >= column {
            long.push((from, to, activity.kind));
        } else {
            let at = ((from + to) / 2.0 - chart.left) / column;
            let last = columns.len() - 1;
            columns[(at.max(0.0) as usize).min(last)][activity.kind as usize] += to - from;
        }
    }
    // Of what is too short, columns in which the same kind takes most are one bar.
    let most = |times: &[f64; ActivityKind::ALL.len()]| {
        let kinds = ActivityKind::ALL.into_iter().filter(|kind| times[*kind as usize] > 0.0);
        kinds.max_by(|a, b| times[*a as usize].total_cmp(&times[*b as usize]))
    };
    let mut since: Option<(usize, ActivityKind)> = None;
    for at in 0..=columns.len() {
        let kind = columns.get(at).and_then(most);
        if let Some((from, before)) = since.filter(|(_, before)| kind != Some(*before)) {
            let x = |at: usize| (chart.left + at as f64 * column).min(chart.left + CHART);
            draw(x(from), x(at), before);
            since = None;
        }
        since = since.or(kind.map(|kind| (at, kind)));
    }
    for (from, to, kind) in long {
        draw(from, to, kind);
    }
}

/// A message, from where it leaves to where it arrives.
fn arrow(canvas: &mut Canvas, chart: &Chart, transfer: &Transfer) {
    let (Some(from), Some(to)) = (chart.y(transfer.src), chart.y(transfer.dst)) else { return };
    let (from, to) = chart.within((transfer.leave.seconds(), from), (transfer.arrive.seconds(), to));
    canvas.line(from, to, &format!(r#"stroke="{INK}" stroke-width="0.8" stroke-opacity="0.6""#));
    if chart.span.shows(transfer.arrive.seconds()) {
        head(canvas, from, to);
    }
}

/// The head of an arrow.
fn head(canvas: &mut Canvas, from: Point, to: Point) {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = (dx * dx + dy * dy).sqrt().max(1e-9);
    let (dx, dy) = (dx / length, dy / length);
    let corners =
        [to, to.plus(-6.0 * dx - 2.2 * dy, -6.0 * dy + 2.2 * dx), to.plus(-6.0 * dx + 2.2 * dy, -6.0 * dy - 2.2 * dx)];
    canvas.polygon(&corners, &format!(r#"fill="{INK}" fill-opacity="0.75""#));
}

/// The critical path as lines; a rank without a band interrupts it, and what is too close to be seen is left out.
fn path_lines(chart: &Chart, path: &[PathStep]) -> Vec<Vec<Point>> {
    let mut lines: Vec<Vec<Point>> = vec![Vec::new()];
    for step in path {
        let begin = match (step.kind, step.peer) {
            (PathKind::Network, Some(sender)) => sender,
            _ => step.rank,
        };
        let (Some(from), Some(to)) = (chart.y(begin), chart.y(step.rank)) else {
            lines.push(Vec::new());
            continue;
        };
        let (from, to) = chart.within((step.begin.seconds(), from), (step.end.seconds(), to));
        for point in [from, to] {
            let Some(line) = lines.last_mut() else { continue };
            let many = line.len() > 4000;
            match line.as_mut_slice() {
                // Straight on.
                [.., before, last] if before.y == point.y && last.y == point.y => *last = point,
                [.., last] if point.x - last.x < 0.3 && many => {}
                _ => line.push(point),
            }
        }
    }
    lines.retain(|line| line.len() > 1);
    lines
}
