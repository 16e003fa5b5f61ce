//! Timeline of messages: a row for each rank, with its messages, its computation and its waits.

use super::lanes::{Lane, Lanes, PATH, Span as Bar};
use super::picture::Picture;
use super::sign::{Fill, Legend, Sign};
use super::window::{Span, Window, evenly};
use crate::table::{count, seconds};
use hayase::base::Arrange;
use hayase::ids::RankId;
use hayase::player::ActivityKind;
use hayase::record::{History, PathStep};
use hayase::report::MessageRecord;

/// Largest numbers of rows and bars of a picture.
const MOST_RANKS: u32 = 64;
const MOST_MESSAGES: usize = 5000;
/// Smallest number of rows that are kept if there are too many messages.
const FEWEST_RANKS: usize = 8;
/// Smallest height of a lane \[px\]. If more messages are under way at once, the further ones share the last
/// lane.
const LEAST_LANE: f64 = 2.0;
/// Largest number of jobs in the legend.
const MOST_JOBS: usize = 16;

/// Edge of messages.
const RIM: &str = r##"stroke="#ffffff" stroke-width="0.4""##;
/// Two alternating tones, so that successive messages can be told apart.
const SENT: [&str; 2] = OF_JOBS[0];
/// Pairs of tones for messages of jobs. The names of the rows show the job too.
const OF_JOBS: [[&str; 2]; 6] = [
    ["#2f6f8f", "#5b9ab8"],
    ["#9a5b13", "#c98b3c"],
    ["#5a4a8a", "#8c7dbb"],
    ["#3f7a3a", "#76ad70"],
    ["#8f2f5a", "#bd6b90"],
    ["#555555", "#8c8c8c"],
];
const RECEIVED: [&str; 2] = ["#ddd3b8", "#c9b98c"];
const COMPUTED: Fill = Fill("#e4e7eb", r##"stroke="#444b55" stroke-width="0.9""##);
/// Parts of a row for sent and for received messages.
const UPPER: (f64, f64) = (0.0, 0.58);
const LOWER: (f64, f64) = (0.62, 1.0);
/// Signs of waits: for a rank that has not sent yet, and for a message that is under way.
const WAITS_FOR_RANK: Sign = Sign::Box(Fill("#d98c8c", r##"stroke="#8f2f2f" stroke-width="0.5""##), 0.29, UPPER.1);
const WAITS_FOR_MESSAGE: Sign = Sign::Box(Fill("#f0d9d9", ""), 0.435, UPPER.1);

/// Messages of a run, and other records of it.
#[derive(Clone, Copy)]
pub struct Sent<'a> {
    /// Messages.
    pub messages: &'a [MessageRecord],
    /// Number of ranks.
    pub ranks: u32,
    /// Arrival of the last message \[s\].
    pub makespan_s: f64,
    /// Activities of ranks (computation and waits), if they were kept.
    pub history: Option<&'a History>,
    /// Critical path; empty if it is unknown.
    pub path: &'a [PathStep],
    /// Jobs of the ranks, one after another, with their numbers of ranks. Each has colours of its own. Empty
    /// if there are no jobs.
    pub jobs: &'a [(&'a str, u32)],
    /// Time that is drawn.
    pub window: Window,
}

/// Message in a row.
struct Placed {
    from: f64,
    to: f64,
    other: u32,
    index: u32,
    lane: usize,
    /// True for computation, false for a message.
    computes: bool,
}

/// Part of a run that is drawn.
struct Selection<'a> {
    ranks: Vec<u32>,
    messages: Vec<&'a MessageRecord>,
    span: Span,
    remarks: Vec<String>,
}

/// Draws the messages of a run. The upper part of a row shows the rank's sent messages, its computation and
/// its waits, the lower part its received messages. The critical path is drawn over all rows.
///
/// A larger run is cut to 64 ranks and 5,000 messages, with a remark.
pub fn timeline(sent: &Sent<'_>, title: &str) -> String {
    let Sent { messages, ranks, makespan_s, history, path, jobs, window } = *sent;
    let messages_ = count(messages.len() as u64, "message", "messages");
    let subtitle = format!("{messages_} among {}", count(ranks.into(), "rank", "ranks"));
    let mut selection = select(messages, ranks, makespan_s, window);
    let seen: Vec<Seen> = selection.ranks.iter().map(|&rank| Seen::of(history, rank, &selection.span)).collect();
    let middle = |rank: RankId| Some(selection.ranks.binary_search(&rank.0).ok()? as f64 + 0.3);
    let mut remarks = std::mem::take(&mut selection.remarks);
    let lines = selection.span.critical_path(path, middle, &mut remarks);
    let height = (760.0 / selection.ranks.len().max(1) as f64).clamp(13.0, 44.0);
    let mut is_crowded = false;
    let mut lanes = Vec::new();
    for (&rank, seen) in selection.ranks.iter().zip(&seen) {
        let (spans, crowded) = spans(&selection, rank, seen, jobs, height - 3.0);
        is_crowded |= crowded;
        let name =
            job_of(jobs, rank).map_or_else(|| format!("rank {rank}"), |(_, name, rank)| format!("{name} {rank}"));
        lanes.push(Lane { name, height, spans, ..Lane::default() });
    }
    let crowded = "Where more messages are under way at once than there is room for, the further ones share a lane.";
    let (legend, uprights) = (legend(&seen, !lines.is_empty(), jobs), selection.span.makespan(makespan_s));
    let lanes = Lanes::new(selection.span.axis, "simulated time", 1080.0, lanes);
    Picture::new(title, subtitle)
        .legend(legend)
        .remarks(remarks)
        .with(Lanes { is_ruled: true, uprights, lines, ..lanes })
        .notes(is_crowded.then(|| crowded.to_owned()))
        .draw()
}

/// Returns the bars of a rank in a row of this height \[px\]; true if more messages are under way than there
/// are lanes.
fn spans(selection: &Selection<'_>, rank: u32, seen: &Seen, jobs: &[(&str, u32)], height: f64) -> (Vec<Bar>, bool) {
    let tones = job_of(jobs, rank).map_or(SENT, |(index, ..)| OF_JOBS[index % OF_JOBS.len()]);
    // A rank within its job.
    let named = |rank: u32| job_of(jobs, rank).map_or(rank, |(_, _, rank)| rank);
    let wait = |wait: &Waited| match wait.late {
        true => Bar { text: format!("for {}", named(wait.peer)), ..Bar::new(wait.from, wait.to, WAITS_FOR_RANK) },
        false => Bar::new(wait.from, wait.to, WAITS_FOR_MESSAGE),
    };
    let mut spans: Vec<Bar> = seen.waited.iter().map(wait).collect();
    let sent = bars(selection, &seen.computed, |message| (message.src == rank).then_some(message.dst));
    let received = bars(selection, &[], |message| (message.dst == rank).then_some(message.src));
    let mut is_crowded = false;
    for (bars, tones, (from, to), arrow) in [(sent, tones, UPPER, "→"), (received, RECEIVED, LOWER, "←")] {
        let lanes = bars.iter().map(|bar| bar.lane + 1).max().unwrap_or(1);
        let most = ((height * (to - from) / LEAST_LANE) as usize).max(1);
        is_crowded |= lanes > most;
        let high = (to - from) / lanes.min(most) as f64;
        for bar in bars {
            let at = from + high * bar.lane.min(most - 1) as f64;
            let (fill, text) = match bar.computes {
                true => (COMPUTED, String::new()),
                false => (Fill(tones[bar.index as usize % 2], RIM), format!("{arrow}{}", named(bar.other))),
            };
            spans.push(Bar { text, ..Bar::bar(bar.from, bar.to, fill, (at, at + 0.97 * high)) });
        }
    }
    (spans, is_crowded)
}

/// Returns the index and name of the job of a rank, and the number of the rank within it.
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

/// Activities of a rank other than its messages.
#[derive(Default)]
struct Seen {
    /// Begin and end of each computation \[s\].
    computed: Vec<(f64, f64)>,
    waited: Vec<Waited>,
}

/// Part of a wait for another rank.
struct Waited {
    from: f64,
    to: f64,
    peer: u32,
    /// True if the other rank has not sent yet.
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

/// Returns colours and their meanings.
fn legend(seen: &[Seen], has_path: bool, jobs: &[(&str, u32)]) -> Legend {
    let tones = |tones: [&'static str; 2], (from, to): (f64, f64), text: String| {
        let [first, second] = tones.map(|tone| Sign::Box(Fill(tone, RIM), from, to));
        [(first, String::new()), (second, text)]
    };
    let mut legend = Legend::new();
    legend.extend(tones(SENT, UPPER, "sent, with its destination (upper)".to_owned()));
    let received = "received, with its source (lower); tones only tell apart messages that follow each other";
    legend.extend(tones(RECEIVED, LOWER, received.to_owned()));
    let waits = seen.iter().any(|seen| !seen.waited.is_empty());
    let entries = [
        (
            seen.iter().any(|seen| !seen.computed.is_empty()),
            Sign::Box(COMPUTED, 0.0, 0.9),
            "computing (delay, late start)",
        ),
        (waits, WAITS_FOR_RANK, "waits for a rank that has not sent"),
        (waits, WAITS_FOR_MESSAGE, "for a message under way"),
        (has_path, Sign::Line(PATH), "critical path"),
    ];
    legend.extend(entries.into_iter().filter(|entry| entry.0).map(|(_, sign, text)| (sign, text.to_owned())));
    for (index, (name, _)) in jobs.iter().enumerate() {
        let more = if index + 1 == MOST_JOBS { jobs.len() - MOST_JOBS } else { 0 };
        let more = if more > 0 { format!(", and {more} more jobs") } else { String::new() };
        let text = format!("sent by {name}{more}");
        legend.extend(tones(OF_JOBS[index % OF_JOBS.len()], UPPER, text));
    }
    legend.truncate(MOST_JOBS * 2 + 8);
    legend
}

/// Returns the messages and the computation of one row, each in the first lane that is free when it starts.
fn bars(
    selection: &Selection<'_>,
    computed: &[(f64, f64)],
    other: impl Fn(&MessageRecord) -> Option<u32>,
) -> Vec<Placed> {
    let sent = selection.messages.iter().filter_map(|message| {
        let (from, to) = (message.start_s, message.end_s);
        Some(Placed { from, to, other: other(message)?, index: message.index, lane: 0, computes: false })
    });
    let computed = computed.iter().map(|&(from, to)| Placed { from, to, other: 0, index: 0, lane: 0, computes: true });
    let mut bars: Vec<Placed> = sent.chain(computed).filter(|bar| selection.span.has(bar.from, bar.to)).collect();
    bars.arrange_by(|a, b| a.from.total_cmp(&b.from).then(a.to.total_cmp(&b.to)).then(a.other.cmp(&b.other)));
    let mut free_at: Vec<f64> = Vec::new();
    for bar in &mut bars {
        // The start of a message and the end of the one before may differ in the last bit.
        let lane = free_at.iter().position(|&free| free <= bar.from * (1.0 + 1e-12));
        bar.lane = lane.unwrap_or(free_at.len());
        match lane {
            Some(lane) => free_at[lane] = bar.to,
            None => free_at.push(bar.to),
        }
    }
    bars
}

/// Chooses the part of a run that is drawn. Ranks at even distances are taken first, then the time is
/// shortened, until few enough messages are left.
fn select(records: &[MessageRecord], ranks: u32, makespan_s: f64, window: Window) -> Selection<'_> {
    let usable = |message: &&MessageRecord| {
        message.start_s.is_finite() && message.end_s.is_finite() && message.start_s <= window.to_s
    };
    let mut remarks = Vec::new();
    let end_of = |messages: &[&MessageRecord]| messages.iter().map(|message| message.end_s).fold(0.0, f64::max);
    let of_ranks = |ranks: &[u32]| -> Vec<&MessageRecord> {
        let drawn = |rank: u32| ranks.binary_search(&rank).is_ok();
        records.iter().filter(usable).filter(|message| drawn(message.src) || drawn(message.dst)).collect()
    };
    let mut chosen = evenly(ranks.min(MOST_RANKS), ranks);
    let mut messages = of_ranks(&chosen);
    while messages.len() > MOST_MESSAGES && chosen.len() > FEWEST_RANKS {
        chosen = evenly((chosen.len() as u32 / 2).max(FEWEST_RANKS as u32), ranks);
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
            let until = seconds(end);
            remarks.push(format!("{first}, up to {until}; --window shows another part."));
            let to_s = if window == Window::default() { f64::INFINITY } else { end };
            span = Window { from_s: window.from_s, to_s }.of(end);
        } else {
            remarks.push(format!("{first}."));
        }
    }
    Selection { ranks: chosen, messages, span, remarks }
}
