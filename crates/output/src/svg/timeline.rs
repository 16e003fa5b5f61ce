//! Who sends to whom and when, and computes before: a row for each rank.

use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use super::window::{Span, Window};
use crate::table::count;
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

/// Draws the messages of a run among so many ranks: above what each rank sends, and its computation before that, below
/// what it receives.
///
/// `delay` is how long the sender of a message computes before it sends it \[s\].
///
/// Up to 64 ranks and 5,000 messages; of a larger run a part, which the picture says.
pub fn timeline(
    records: &[MessageRecord],
    ranks: u32,
    makespan_s: f64,
    delay: impl Fn(&MessageRecord) -> f64,
    window: Window,
    title: &str,
) -> String {
    draw(records, ranks, makespan_s, delay, window, title, &[])
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
    draw(records, ranks, makespan_s, |_| 0.0, window, title, jobs)
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

fn draw(
    records: &[MessageRecord],
    ranks: u32,
    makespan_s: f64,
    delay: impl Fn(&MessageRecord) -> f64,
    window: Window,
    title: &str,
    jobs: &[(&str, u32)],
) -> String {
    let width = MARGIN * 2.0 + LABELS + CHART + 20.0;
    let mut canvas = Canvas::new();
    let messages = count(records.len() as u64, "message", "messages");
    let subtitle = format!("{messages} among {}", count(ranks.into(), "rank", "ranks"));
    let y = canvas.heading(title, &subtitle, width);
    let selection = select(records, ranks, makespan_s, window);
    let computes = selection.messages.iter().any(|message| delay(message) > 0.0);
    let y = legend(&mut canvas, y, computes, jobs) + 8.0;
    let y = canvas.remarks(&selection.remarks, y - 10.0, width) + 14.0;

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
        let sent = bars(&selection, &delay, |message| (message.src == rank).then_some(message.dst));
        let received = bars(&selection, &|_| 0.0, |message| (message.dst == rank).then_some(message.src));
        let inner = row - 3.0;
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

/// Colours and what they mean; returns where it ends.
fn legend(canvas: &mut Canvas, y: f64, computes: bool, jobs: &[(&str, u32)]) -> f64 {
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
        let text = "computing before a message (delay)";
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

/// The messages of one row, and what is computed before them, each in the first lane that is free when it starts.
fn bars(
    selection: &Selection<'_>,
    delay: &dyn Fn(&MessageRecord) -> f64,
    other: impl Fn(&MessageRecord) -> Option<u32>,
) -> Vec<Bar> {
    let mut bars: Vec<Bar> = selection
        .messages
        .iter()
        .filter_map(|message| Some((message, other(message)?)))
        .flat_map(|(message, other)| {
            let (start, delay) = (message.start_s, delay(message));
            let bar = |from, to, computes| Bar { from, to, other, index: message.index, lane: 0, computes };
            let sent = bar(start, message.end_s, false);
            (delay > 0.0).then(|| bar((start - delay).max(0.0), start, true)).into_iter().chain([sent])
        })
        .filter(|bar| selection.span.has(bar.from, bar.to))
        .collect();
    bars.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.to.total_cmp(&b.to)).then(a.other.cmp(&b.other)));
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
        messages.sort_by(|a, b| a.start_s.total_cmp(&b.start_s).then(a.src.cmp(&b.src)).then(a.index.cmp(&b.index)));
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
