//! Who sends to whom and when, computes, and waits for whom: a row for each rank.

use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use super::window::{Span, Window};
use crate::table::count;
use hayase::base::Arrange;
use hayase::ids::RankId;
use hayase::player::ActivityKind;
use hayase::record::{History, PathKind, PathStep};
use hayase::report::MessageRecord;

/// Most rows and bars of a picture.
const MOST_RANKS: u32 = 64;
const MOST_MESSAGES: usize = 5000;
/// Fewest rows that are kept when there are too many messages.
const FEWEST_RANKS: usize = 8;
/// Least height of a lane: where more messages are under way at once, the further ones share the last [px].
const LEAST_LANE: f64 = 2.0;

const LABELS: f64 = 64.0;
const CHART: f64 = 1080.0;

/// Two tones in turn, so that messages that follow each other can be told apart.
const SENT: [&str; 2] = ["#2f6f8f", "#5b9ab8"];
/// The same for messages of jobs, one pair after another: their rows say which job it is.
const OF_JOBS: [[&str; 2]; 6] = [
    ["#2f6f8f", "#5b9ab8"],
    ["#9a5b13", "#c98b3c"],
    ["#5a4a8a", "#8c7dbb"],
    ["#3f7a3a", "#76ad70"],
    ["#8f2f5a", "#bd6b90"],
    ["#555555", "#8c8c8c"],
];
const COMPUTED: &str = r##"fill="#e4e7eb" stroke="#444b55" stroke-width="0.9""##;
const RECEIVED: [&str; 2] = ["#ddd3b8", "#c9b98c"];

/// A rank waits for another that has not sent yet; and for a message that is under way.
const WAITS_FOR_RANK: &str = r##"fill="#d98c8c" stroke="#8f2f2f" stroke-width="0.5""##;
const WAITS_FOR_MESSAGE: &str = r##"fill="#f0d9d9""##;
/// Colour of the critical path, and the most changes of rank of one that is drawn.
const PATH: &str = "#b3122d";
const MOST_CHANGES: usize = 200;

/// What was sent, and what else was seen of a run.
#[derive(Clone, Copy)]
pub struct Sent<'a> {
    /// Its messages.
    pub messages: &'a [MessageRecord],
    /// How many ranks there are.
    pub ranks: u32,
    /// When the last message arrived \[s\].
    pub makespan_s: f64,
    /// What ranks did, where that was kept: they compute, and wait.
    pub history: Option<&'a History>,
    /// The critical path; empty where it is not known.
    pub path: &'a [PathStep],
    /// The jobs that the ranks are of, one after another: name and number of ranks. Empty where there are none.
    pub jobs: &'a [(&'a str, u32)],
    /// From when to when.
    pub window: Window,
}

/// One bar of a row.
struct Bar {
    from: f64,
    to: f64,
    other: u32,
    index: u32,
    lane: usize,
    /// It is computation before the message.
    computes: bool,
}

/// What is drawn of a run.
struct Selection<'a> {
    ranks: Vec<u32>,
    messages: Vec<&'a MessageRecord>,
    span: Span,
    remarks: Vec<String>,
}

/// Draws the messages of a run among so many ranks: above what each rank sends, where it computes and whom it waits
/// for, below what it receives; and the critical path.
///
/// Up to 64 ranks and 5,000 messages; of a larger run a part, which the picture says.
pub fn timeline(sent: &Sent<'_>, title: &str) -> String {
    let Sent { messages: records, ranks, makespan_s, history, path, jobs, window } = *sent;
    let width = MARGIN * 2.0 + LABELS + CHART + 20.0;
    let mut canvas = Canvas::new();
    let messages = count(records.len() as u64, "message", "messages");
    let subtitle = format!("{messages} among {}", count(ranks.into(), "rank", "ranks"));
    let y = canvas.heading(title, &subtitle, width);
    let selection = select(records, ranks, makespan_s, window);
    let seen: Vec<Seen> = selection.ranks.iter().map(|&rank| Seen::of(history, rank, &selection.span)).collect();
    let path: Vec<&PathStep> =
        path.iter().filter(|step| selection.span.has(step.begin.seconds(), step.end.seconds())).collect();
    let changes = path.windows(2).filter(|pair| pair[0].rank != pair[1].rank).count();
    let mut remarks = selection.remarks.clone();
    if changes > MOST_CHANGES {
        remarks.push(format!("The critical path changes the rank {changes} times, too often to be drawn."));
    }
    let path = if changes > MOST_CHANGES { &[][..] } else { &path };
    let computes = seen.iter().any(|seen| !seen.computed.is_empty());
    let waits = seen.iter().any(|seen| !seen.waited.is_empty());
    let y = legend(&mut canvas, y, computes, waits, !path.is_empty(), jobs) + 8.0;
    let y = canvas.remarks(&remarks, y - 10.0, width) + 14.0;

    let Selection { span, .. } = &selection;
    let row = (760.0 / selection.ranks.len().max(1) as f64).clamp(13.0, 44.0);
    let left = MARGIN + LABELS;
    let bottom = y + row * selection.ranks.len() as f64;
    span.axis.draw(&mut canvas, left, CHART, y, bottom, "simulated time");
    let x = |time: f64| left + CHART * span.axis.place(time);
    let mut crowded = false;
    for (i, &rank) in selection.ranks.iter().enumerate() {
        let top = y + row * i as f64;
        let job = job_of(jobs, rank);
        let label = job.map_or_else(|| format!("rank {rank}"), |(_, name, rank)| of_job(name, rank));
        canvas.text(left - 8.0, top + row * 0.5 + 3.5, 10.0, Anchor::End, &label, "");
        let tones = job.map_or(SENT, |(index, ..)| OF_JOBS[index % OF_JOBS.len()]);
        // A rank within its job.
        let named = |rank: u32| job_of(jobs, rank).map_or(rank, |(_, _, rank)| rank);
        canvas.line(Point::new(left, top), Point::new(left + CHART, top), &format!(r#"stroke="{FAINT}""#));
        let computed = &seen[i].computed;
        let sent = bars(&selection, computed, |message| (message.src == rank).then_some(message.dst));
        let received = bars(&selection, &[], |message| (message.dst == rank).then_some(message.src));
        let inner = row - 3.0;
        for wait in &seen[i].waited {
            let high = inner * 0.58 * if wait.late { 0.5 } else { 0.25 };
            let form = if wait.late { WAITS_FOR_RANK } else { WAITS_FOR_MESSAGE };
            let (from, at) = (x(wait.from), top + 1.5 + inner * 0.58 - high);
            canvas.rect(from, at, (x(wait.to) - from).max(0.6), high.max(0.6), form);
            let text = format!("for {}", named(wait.peer));
            let size = (high * 0.8).min(9.0);
            if wait.late && size >= 6.0 && text_width(&text, size) + 3.0 < x(wait.to) - from {
                let centre = (from + x(wait.to)) / 2.0;
                canvas.text(centre, at + high / 2.0 + size * 0.36, size, Anchor::Middle, &text, "");
            }
        }
        for (bars, colours, top, height, arrow) in [
            (sent, tones, top + 1.5, inner * 0.58, "→"),
            (received, RECEIVED, top + 1.5 + inner * 0.62, inner * 0.38, "←"),
        ] {
            let lanes = bars.iter().map(|bar| bar.lane + 1).max().unwrap_or(1);
            let most = ((height / LEAST_LANE) as usize).max(1);
            crowded |= lanes > most;
            let lanes = lanes.min(most);
            let high = height / lanes as f64;
            for bar in &bars {
                let at = top + high * bar.lane.min(lanes - 1) as f64;
                if bar.computes {
                    canvas.rect(
                        x(bar.from),
                        at + 0.4,
                        (x(bar.to) - x(bar.from)).max(0.6),
                        (high - 1.2).max(0.6),
                        COMPUTED,
                    );
                    continue;
                }
                let wide = (x(bar.to) - x(bar.from)).max(0.6);
                let fill = colours[bar.index as usize % 2];
                canvas.rect(
                    x(bar.from),
                    at,
                    wide,
                    (high - 0.4).max(0.6),
                    &format!(r##"fill="{fill}" stroke="#ffffff" stroke-width="0.4""##),
                );
                let text = format!("{arrow}{}", named(bar.other));
                let size = (high * 0.8).min(9.0);
                if size >= 6.5 && text_width(&text, size) + 3.0 < wide {
                    let ink = if arrow == "→" && bar.index.is_multiple_of(2) { "#ffffff" } else { INK };
                    let base = at + high / 2.0 + size * 0.36;
                    let centre = x(bar.from) + wide / 2.0;
                    canvas.text(centre, base, size, Anchor::Middle, &text, &format!(r#"fill="{ink}""#));
                }
            }
        }
    }
    for line in path_lines(path, &selection, x, |row_of| y + row * (row_of as f64 + 0.3)) {
        canvas.polyline(&line, r##"fill="none" stroke="#ffffff" stroke-width="3.4" stroke-opacity="0.75""##);
        canvas.polyline(&line, &format!(r#"fill="none" stroke="{PATH}" stroke-width="1.7""#));
    }
    canvas.line(Point::new(left, y), Point::new(left, bottom), &format!(r#"stroke="{INK}""#));
    if makespan_s.is_finite() && makespan_s > 0.0 && span.shows(makespan_s) {
        let at = x(makespan_s);
        let line = format!(r#"stroke="{INK}" stroke-width="1.2" stroke-dasharray="5 3""#);
        canvas.line(Point::new(at, y - 6.0), Point::new(at, bottom), &line);
        let anchor = if at > left + CHART * 0.85 { Anchor::End } else { Anchor::Start };
        let text = format!("makespan {}", hayase::units::Time::from_seconds(makespan_s));
        canvas.text(at, y - 9.0, 10.0, anchor, &text, "");
    }
    let mut y = bottom + 36.0;
    if crowded {
        let text = "Where more messages are under way at once than there is room for, the further ones share a lane.";
        y = canvas.remarks(&[text.to_owned()], y, width);
    }
    canvas.finish(width, y + MARGIN, title)
}

/// The same of several jobs, each with its name and its number of ranks, which are one after another: messages of a job
/// have a colour of their own.
pub fn timeline_of_jobs(
    records: &[MessageRecord],
    jobs: &[(&str, u32)],
    makespan_s: f64,
    window: Window,
    title: &str,
) -> String {
    let ranks = jobs.iter().map(|(_, ranks)| ranks).sum();
    let sent = Sent { messages: records, ranks, makespan_s, history: None, path: &[], jobs, window };
    timeline(&sent, title)
}

/// The job of a rank of all, and its number there.
fn job_of<'a>(jobs: &[(&'a str, u32)], rank: u32) -> Option<(usize, &'a str, u32)> {
    let mut first = 0;
    for (index, (name, ranks)) in jobs.iter().enumerate() {
        if rank < first + ranks {
            return Some((index, name, rank - first));
        }
        first += ranks;
    }
    None
}

/// A rank of a job; of a long name only the beginning.
fn of_job(name: &str, rank: u32) -> String {
    let number = format!(" {rank}");
    fit(name, 10.0, LABELS - 8.0 - text_width(&number, 10.0)) + &number
}

/// What was seen of a rank beside its messages.
#[derive(Default)]
struct Seen {
    /// From when to when it computed \[s\].
    computed: Vec<(f64, f64)>,
    waited: Vec<Waited>,
}

/// A part of a wait for another rank.
struct Waited {
    from: f64,
    to: f64,
    peer: u32,
    /// The other has not sent yet.
    late: bool,
}

impl Seen {
    fn of(history: Option<&History>, rank: u32, span: &Span) -> Self {
        let mut seen = Self::default();
        let Some(history) = history else { return seen };
        for activity in history.of(RankId(rank)) {
            let (from, to) = (activity.begin.seconds(), activity.end.seconds());
            match (activity.kind, activity.peer) {
                (ActivityKind::Compute, _) if span.has(from, to) => seen.computed.push((from, to)),
                (ActivityKind::RecvWait, Some(peer)) if span.has(from, to) => {
                    let transfer = activity.message.and_then(|message| history.message(message));
                    let sent = transfer.map_or(to, |transfer| transfer.called.seconds()).clamp(from, to);
                    let parts = [(from, sent, true), (sent, to, false)];
                    let parts = parts.into_iter().filter(|(from, to, _)| to > from);
                    seen.waited.extend(parts.map(|(from, to, late)| Waited { from, to, peer: peer.0, late }));
                }
                _ => {}
            }
        }
        seen
    }
}

/// The critical path as lines; a rank without a row interrupts it.
fn path_lines(
    path: &[&PathStep],
    selection: &Selection<'_>,
    x: impl Fn(f64) -> f64,
    y: impl Fn(usize) -> f64,
) -> Vec<Vec<Point>> {
    let span = &selection.span;
    let row = |rank: u32| selection.ranks.binary_search(&rank).ok();
    let mut lines: Vec<Vec<Point>> = vec![Vec::new()];
    for step in path {
        let begin = match (step.kind, step.peer) {
            (PathKind::Network, Some(sender)) => sender.0,
            _ => step.rank.0,
        };
        let (Some(from), Some(to)) = (row(begin), row(step.rank.0)) else {
            lines.push(Vec::new());
            continue;
        };
        let (first, last) = (step.begin.seconds(), step.end.seconds());
        // What is outside the window is cut off, on the straight way between the two rows.
        let at = |time: f64| {
            let part = if last > first { (time - first) / (last - first) } else { 1.0 };
            Point::new(x(time), y(from) + (y(to) - y(from)) * part)
        };
        let (first, last) = (first.max(span.from_s), last.min(span.to_s));
        if let Some(line) = lines.last_mut() {
            line.extend([at(first), at(last)]);
        }
    }
    lines.retain(|line| line.len() > 1);
    lines
}

/// Colours and what they mean; returns where it ends.
fn legend(canvas: &mut Canvas, y: f64, computes: bool, waits: bool, path: bool, jobs: &[(&str, u32)]) -> f64 {
    let y = y + 6.0;
    let mut x = MARGIN;
    for (colours, text) in
        [(SENT, "sent, with its destination (upper)"), (RECEIVED, "received, with its source (lower)")]
    {
        for (i, colour) in colours.iter().enumerate() {
            let height = if text.starts_with("sent") { 12.0 } else { 8.0 };
            canvas.rect(x + 18.0 * i as f64, y - height + 2.0, 17.0, height, &format!(r#"fill="{colour}""#));
        }
        canvas.text(x + 44.0, y, 11.0, Anchor::Start, text, "");
        x += 44.0 + text_width(text, 11.0) + 24.0;
    }
    if computes {
        canvas.rect(x, y - 9.0, 35.0, 11.0, COMPUTED);
        let text = "computing (delay, late start)";
        canvas.text(x + 44.0, y, 11.0, Anchor::Start, text, "");
        x += 44.0 + text_width(text, 11.0) + 24.0;
    }
    let room = |x: f64, text: &str| x + text_width(text, 11.0) <= MARGIN + LABELS + CHART;
    let (mut x, mut y) = (x, y);
    if waits {
        let texts = ["waits for a rank that has not sent", "for a message under way"];
        for (form, text, high) in [(WAITS_FOR_RANK, texts[0], 7.0), (WAITS_FOR_MESSAGE, texts[1], 4.0)] {
            if !room(x + 44.0, text) {
                (x, y) = (MARGIN, y + 18.0);
            }
            canvas.rect(x, y + 2.0 - high, 35.0, high, form);
            canvas.text(x + 44.0, y, 11.0, Anchor::Start, text, "");
            x += 44.0 + text_width(text, 11.0) + 24.0;
        }
    }
    if path {
        let text = "critical path";
        if !room(x + 44.0, text) {
            (x, y) = (MARGIN, y + 18.0);
        }
        let line = format!(r#"stroke="{PATH}" stroke-width="1.7""#);
        canvas.line(Point::new(x, y - 4.0), Point::new(x + 35.0, y - 4.0), &line);
        canvas.text(x + 44.0, y, 11.0, Anchor::Start, text, "");
        x += 44.0 + text_width(text, 11.0) + 24.0;
    }
    let text = "the two tones only tell messages apart that follow each other";
    if x + text_width(text, 11.0) <= MARGIN + LABELS + CHART {
        canvas.text(x, y, 11.0, Anchor::Start, text, &format!(r#"fill="{GREY}""#));
    }
    if jobs.is_empty() {
        return y + 14.0;
    }
    let (mut x, y) = (MARGIN, y + 20.0);
    for (index, (name, _)) in jobs.iter().enumerate() {
        let text = fit(&format!("sent by {name}"), 11.0, 200.0);
        let room = MARGIN + LABELS + CHART - 100.0;
        if x + 44.0 + text_width(&text, 11.0) > room {
            canvas.text(x, y, 11.0, Anchor::Start, &format!("and {} more jobs", jobs.len() - index), "");
            break;
        }
        for (i, colour) in OF_JOBS[index % OF_JOBS.len()].iter().enumerate() {
            canvas.rect(x + 18.0 * i as f64, y - 10.0, 17.0, 12.0, &format!(r#"fill="{colour}""#));
        }
        canvas.text(x + 44.0, y, 11.0, Anchor::Start, &text, "");
        x += 44.0 + text_width(&text, 11.0) + 24.0;
    }
    y + 14.0
}

/// The messages of one row, and what is computed, each in the first lane that is free when it starts.
fn bars(selection: &Selection<'_>, computed: &[(f64, f64)], other: impl Fn(&MessageRecord) -> Option<u32>) -> Vec<Bar> {
    let sent = selection.messages.iter().filter_map(|message| {
        let (from, to) = (message.start_s, message.end_s);
        Some(Bar { from, to, other: other(message)?, index: message.index, lane: 0, computes: false })
    });
    let computed = computed.iter().map(|&(from, to)| Bar { from, to, other: 0, index: 0, lane: 0, computes: true });
    let mut bars: Vec<Bar> = sent.chain(computed).filter(|bar| selection.span.has(bar.from, bar.to)).collect();
    bars.arrange_by(|a, b| a.from.total_cmp(&b.from).then(a.to.total_cmp(&b.to)).then(a.other.cmp(&b.other)));
    let mut free_at: Vec<f64> = Vec::new();
    for bar in &mut bars {
        // A message that starts as another ends may differ from it in the last bit.
        let lane = free_at.iter().position(|&free| free <= bar.from * (1.0 + 1e-12));
        bar.lane = lane.unwrap_or(free_at.len());
        match lane {
            Some(lane) => free_at[lane] = bar.to,
            None => free_at.push(bar.to),
        }
    }
    bars
}

/// Chooses what is drawn: ranks at even distances, then a shorter time, until few enough messages are left.
fn select(records: &[MessageRecord], ranks: u32, makespan_s: f64, window: Window) -> Selection<'_> {
    let usable = |message: &&MessageRecord| {
        message.start_s.is_finite() && message.end_s.is_finite() && message.start_s <= window.to_s
    };
    let mut remarks = Vec::new();
    let end_of = |messages: &[&MessageRecord]| messages.iter().map(|message| message.end_s).fold(0.0, f64::max);
    let evenly = |count: u32| -> Vec<u32> {
        (0..count).map(|i| (u64::from(i) * u64::from(ranks) / u64::from(count.max(1))) as u32).collect()
    };
    let of_ranks = |ranks: &[u32]| -> Vec<&MessageRecord> {
        let drawn = |rank: u32| ranks.binary_search(&rank).is_ok();
        records.iter().filter(usable).filter(|message| drawn(message.src) || drawn(message.dst)).collect()
    };
    let mut chosen = evenly(ranks.min(MOST_RANKS));
    let mut messages = of_ranks(&chosen);
    while messages.len() > MOST_MESSAGES && chosen.len() > FEWEST_RANKS {
        chosen = evenly((chosen.len() as u32 / 2).max(FEWEST_RANKS as u32));
        messages = of_ranks(&chosen);
    }
    if (chosen.len() as u32) < ranks {
        let (shown, all) = (chosen.len(), ranks);
        remarks.push(format!(
            "Too many ranks or messages for one picture: {shown} of {all} ranks are drawn, at even distances."
        ));
    }
    let whole = if makespan_s.is_finite() && makespan_s > 0.0 { makespan_s } else { end_of(&messages) };
    messages.retain(|message| message.end_s >= window.from_s);
    let mut span = window.of(whole);
    remarks.extend(span.remark.clone());
    if messages.len() > MOST_MESSAGES {
        messages.arrange_by(|a, b| a.start_s.total_cmp(&b.start_s).then(a.src.cmp(&b.src)).then(a.index.cmp(&b.index)));
        let end = messages[MOST_MESSAGES].start_s;
        messages.truncate(MOST_MESSAGES);
        let first = format!("Only the first {MOST_MESSAGES} messages of these ranks are drawn");
        if end > span.from_s {
            let until = hayase::units::Time::from_seconds(end);
            remarks.push(format!("{first}, up to {until}; --window shows another part."));
            let to_s = if window == Window::default() { f64::INFINITY } else { end };
            span = Window { from_s: window.from_s, to_s }.of(end);
        } else {
            remarks.push(format!("{first}."));
        }
    }
    Selection { ranks: chosen, messages, span, remarks }
}
