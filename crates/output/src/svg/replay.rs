//! Timeline of a replay: a band of activities for each rank, the messages between ranks and the critical
//! path.

use super::lanes::{Lane, Lanes, PATH, Span as Bar};
use super::picture::Picture;
use super::sign::{Fill, Legend, Sign};
use super::window::{Span, Window, evenly};
use hayase::base::Arrange;
use hayase::ids::RankId;
use hayase::player::{ActivityKind, Transfer};
use hayase::record::{History, PathStep};
use hayase::units::Time;

/// Largest number of bands of a picture.
const MOST_RANKS: u32 = 64;
/// Largest number of arrows; more would hide the activities.
const MOST_ARROWS: usize = 200;
/// Largest number of regions, each a row above the bands.
const MOST_REGIONS: usize = 8;
const REGION: Fill = Fill("#8a6d1f", "");
/// Width of the axis \[px\].
const WIDTH: f64 = 1080.0;

/// Returns the form of a kind: its colour, and the fraction of the band it takes, from the top. Kinds differ
/// in height and place, so that they can be told apart without colour.
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

/// Returns the colour of a kind.
pub(super) fn colour(kind: ActivityKind) -> &'static str {
    form(kind).0
}

/// Returns colour and place of a kind of activity in a row: of a program as in this picture, of a pattern below its
/// messages.
pub(crate) fn form_of(kind: ActivityKind, of_program: bool) -> (&'static str, f64, f64) {
    match (kind, of_program) {
        (_, true) => form(kind),
        (ActivityKind::Compute, _) => ("#75808f", 0.62, 1.0),
        (ActivityKind::SendWait | ActivityKind::RecvWait, _) => ("#d98c8c", 0.8, 1.0),
        _ => (form(kind).0, 0.62, 0.8),
    }
}

/// Region of the program: its name, and the begin and end of each execution.
pub type Region<'a> = (&'a str, &'a [(Time, Time)]);

/// Replayed program, and the part of it that is drawn.
#[derive(Clone, Copy)]
pub struct Played<'a> {
    /// Activities of ranks, and messages.
    pub history: &'a History,
    /// Critical path.
    pub path: &'a [PathStep],
    /// Number of ranks.
    pub ranks: u32,
    /// End of the last rank \[s\].
    pub makespan_s: f64,
    /// Regions that have a row of their own.
    pub regions: &'a [Region<'a>],
    /// Time that is drawn.
    pub window: Window,
}

/// Draws the activities of ranks, in up to 64 bands.
///
/// With more ranks, some at even distances are drawn, with a remark. Activities that are too short to be seen
/// are merged. If there are too many messages, those with the longest waits have an arrow.
pub fn replay(played: &Played<'_>, title: &str, subtitle: &str) -> String {
    let Played { history, path, ranks, makespan_s, regions, window } = *played;
    let span = window.of(makespan_s);
    let chosen = evenly(ranks.min(MOST_RANKS), ranks);
    let shown = &regions[..regions.len().min(MOST_REGIONS)];
    let mut remarks: Vec<String> = span.remark.iter().cloned().collect();
    if chosen.len() < ranks as usize {
        let bands = chosen.len();
        remarks.push(format!("Too many ranks for one picture: {bands} of {ranks} are drawn, at even distances."));
    }
    // The middle of a rank's band, below the regions.
    let middle = |rank: RankId| Some((shown.len() + chosen.binary_search(&rank.0).ok()?) as f64 + 0.5);
    let drawn = |transfer: &&Transfer| {
        let ends = [middle(transfer.src), middle(transfer.dst)];
        ends[0] != ends[1]
            && ends.iter().all(Option::is_some)
            && span.has(transfer.leave.seconds(), transfer.arrive.seconds())
    };
    let transfers = heaviest(history, &chosen, history.transfers().filter(drawn).collect(), &mut remarks);
    let arrows = transfers.into_iter().filter_map(|transfer| {
        let (leave, arrive) = (transfer.leave.seconds(), transfer.arrive.seconds());
        let [from, to] = span.within((leave, middle(transfer.src)?), (arrive, middle(transfer.dst)?));
        Some((from, to, span.shows(arrive)))
    });
    let arrows = arrows.collect();
    let lines = span.critical_path(path, middle, &mut remarks);
    if shown.len() < regions.len() {
        remarks.push(format!("Too many regions for one picture: {MOST_REGIONS} of {} are drawn.", regions.len()));
    }
    let pixel = (span.axis.end - span.axis.start) / WIDTH;
    let shortest = pixel * if chosen.len() > 16 { 2.0 } else { 1.0 };
    let height = (760.0 / chosen.len().max(1) as f64).clamp(12.0, 44.0);
    let mut lanes: Vec<Lane> = shown.iter().map(|region| of_region(region, &span, pixel)).collect();
    let mut is_merged = false;
    for &rank in &chosen {
        let (spans, merged) = band(history, rank, &span, shortest);
        is_merged |= merged;
        lanes.push(Lane { name: format!("rank {rank}"), height, spans, ..Lane::default() });
    }
    if is_merged {
        let shortest = Time::from_seconds(shortest);
        remarks.push(format!("What is shorter than {shortest} is merged: such a stretch shows what took most of it."));
    }
    let (legend, uprights) = (legend(!lines.is_empty()), span.makespan(makespan_s));
    let lanes = Lanes::new(span.axis, "simulated time", WIDTH, lanes);
    Picture::new(title, subtitle)
        .legend(legend)
        .remarks(remarks)
        .with(Lanes { is_ruled: true, uprights, arrows, lines, ..lanes })
        .draw()
}

/// Returns the messages that have an arrow, those of least weight first. The weight is the time that ranks
/// waited for the message, then its size. Messages without an arrow are counted in a remark.
fn heaviest<'a>(
    history: &History,
    ranks: &[u32],
    mut transfers: Vec<&'a Transfer>,
    remarks: &mut Vec<String>,
) -> Vec<&'a Transfer> {
    let count = transfers.len();
    if count <= MOST_ARROWS {
        return transfers;
    }
    let last = transfers.iter().map(|transfer| transfer.message).max().unwrap_or(0) as usize;
    let mut waited = vec![0.0; last + 1];
    for activity in ranks.iter().flat_map(|&rank| history.of(RankId(rank))) {
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
    let is_waited_for = transfers.first().is_some_and(|transfer| of(transfer) > 0.0);
    let by = if is_waited_for { "that were waited for longest" } else { "that are largest" };
    transfers.truncate(MOST_ARROWS);
    transfers.reverse();
    let without = count - MOST_ARROWS;
    remarks
        .push(format!("Too many messages for one picture: the {MOST_ARROWS} {by} have an arrow, {without} have none."));
    transfers
}

/// Returns the meanings of forms and colours.
fn legend(with_path: bool) -> Legend {
    let kind = |kind: ActivityKind| {
        let (colour, from, to) = form(kind);
        (Sign::Box(Fill(colour, ""), from, to), kind.name().to_owned())
    };
    let mut legend: Legend = ActivityKind::ALL.into_iter().map(kind).collect();
    legend.push((Sign::Arrow, "message".to_owned()));
    legend.extend(with_path.then(|| (Sign::Line(PATH), "critical path".to_owned())));
    legend
}

/// Returns a lane with the executions of a region; executions closer than a pixel are merged.
fn of_region(&(name, spans): &Region<'_>, span: &Span, pixel: f64) -> Lane {
    const LONGEST: usize = 10;
    let name = match name.chars().count() {
        0..=LONGEST => name.to_owned(),
        _ => name.chars().take(LONGEST - 1).chain(['…']).collect(),
    };
    let seconds = spans.iter().map(|(from, to)| (from.seconds(), to.seconds()));
    let mut inside: Vec<(f64, f64)> = seconds.filter(|&(from, to)| span.has(from, to)).collect();
    inside.arrange_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (from, to) in inside {
        match merged.last_mut() {
            Some(last) if from < last.1 + pixel => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    let spans = merged.into_iter().map(|(from, to)| Bar::bar(from, to, REGION, (0.1, 0.8))).collect();
    Lane { name, height: 15.0, spans, ..Lane::default() }
}

/// Returns the activities of one rank in the window; true if some were so short that they were merged.
fn band(history: &History, rank: u32, span: &Span, shortest: f64) -> (Vec<Bar>, bool) {
    let bar = |from: f64, to: f64, kind: ActivityKind| {
        let (colour, upper, lower) = form(kind);
        Bar::bar(from, to, Fill(colour, ""), (upper, lower))
    };
    let (start, end) = (span.axis.start, span.axis.end);
    let mut columns = vec![[0.0_f64; ActivityKind::ALL.len()]; ((end - start) / shortest) as usize + 1];
    let (mut long, mut is_merged) = (Vec::new(), false);
    for activity in history.of(RankId(rank)) {
        let (from, to) = (activity.begin.seconds(), activity.end.seconds());
        if !span.has(from, to) {
            continue;
        }
        is_merged |= to - from < shortest;
        let (from, to) = (from.max(start), to.min(end));
        if to - from >= shortest {
            long.push(bar(from, to, activity.kind));
        } else {
            let (at, last) = (((from + to) / 2.0 - start) / shortest, columns.len() - 1);
            columns[(at.max(0.0) as usize).min(last)][activity.kind as usize] += to - from;
        }
    }
    // Activities that are too short are merged by column; adjacent columns with the same dominant kind are one bar.
    let most = |times: &[f64; ActivityKind::ALL.len()]| {
        let kinds = ActivityKind::ALL.into_iter().filter(|kind| times[*kind as usize] > 0.0);
        kinds.max_by(|a, b| times[*a as usize].total_cmp(&times[*b as usize]))
    };
    let kinds: Vec<Option<ActivityKind>> = columns.iter().map(most).collect();
    let (mut bars, mut at) = (Vec::new(), 0);
    for run in kinds.chunk_by(|a, b| a == b) {
        let x = |at: usize| (start + at as f64 * shortest).min(end);
        bars.extend(run[0].map(|kind| bar(x(at), x(at + run.len()), kind)));
        at += run.len();
    }
    bars.extend(long);
    (bars, is_merged)
}
