//! Activities and messages of ranks over time, as spans or, for a large run, as shares of successive times.

use hayase::ids::RankId;
use hayase::player::ActivityKind;
use hayase::record::History;
use serde_json::{Value, json};

use super::run::RunData;
use super::sums::{Binned, short};
use crate::svg;

/// Largest number of spans; more are summed up.
const MOST_SPANS: usize = 60_000;
/// Number of units of time until the end of the run.
const UNITS: f64 = 1e7;
/// Largest number of steps of a critical path.
const MOST_STEPS: usize = 10_000;

/// Activity or message of a rank.
struct Span {
    rank: u32,
    kind: usize,
    begin_s: f64,
    end_s: f64,
    peer: Option<u32>,
    bytes: u64,
}

/// Returns the timeline of a run; `None` if nothing of it was kept.
pub(super) fn timeline(run: &RunData<'_>) -> Option<Value> {
    if run.end_s <= 0.0 {
        return None;
    }
    let of_program = run.history.is_some_and(|history| !history.is_of_pattern());
    let mut spans: Vec<Span> = Vec::new();
    if !of_program && run.unknown.is_empty() {
        spans.extend(run.messages.iter().map(|message| Span {
            rank: message.src,
            kind: 0,
            begin_s: message.start_s,
            end_s: message.end_s,
            peer: Some(message.dst),
            bytes: message.bytes,
        }));
    }
    if let Some(history) = run.history {
        (0..history.ranks()).for_each(|rank| spans.extend(activities(history, rank)));
    }
    let kinds: Vec<Value> = std::iter::once(json!(["message", "#2f6f8f", 0.0, if of_program { 0.0 } else { 0.58 }]))
        .chain(ActivityKind::ALL.iter().map(|&kind| {
            let (colour, from, to) = svg::form_of(kind, of_program);
            json!([kind.name(), colour, from, to])
        }))
        .collect();
    let unit_s = run.end_s / UNITS;
    let path = run.path[run.path.len().saturating_sub(MOST_STEPS)..].iter().map(|step| {
        let units = |time: hayase::units::Time| (time.seconds() / unit_s).round() as u64;
        json!([step.rank.0, units(step.begin), units(step.end), step.kind.name(), step.peer.map(|peer| peer.0)])
    });
    let mut timeline =
        json!({"unit": short(unit_s), "kinds": kinds, "path": path.collect::<Vec<_>>(), "steps": run.path.len()});
    if spans.is_empty() {
        timeline["sums"] = run.binned.filter(|binned| !binned.is_empty())?.to_json(run.end_s);
        return Some(timeline);
    }
    if spans.len() > MOST_SPANS {
        let mut sums = Binned::new(run.ranks, kinds.len());
        spans.iter().for_each(|span| sums.add(span.rank, span.kind, span.begin_s, span.end_s));
        timeline["sums"] = sums.to_json(run.end_s);
        return Some(timeline);
    }
    let mut of_rank: Vec<Vec<Span>> = (0..run.ranks).map(|_| Vec::new()).collect();
    for span in spans {
        if let Some(row) = of_rank.get_mut(span.rank as usize) {
            row.push(span);
        }
    }
    let rows = of_rank.iter_mut().map(|row| {
        row.sort_by(|a, b| a.begin_s.total_cmp(&b.begin_s).then(a.end_s.total_cmp(&b.end_s)));
        let mut last = 0;
        let units = |time_s: f64| (time_s / unit_s).round() as u64;
        // Begin after the begin before it, length, kind, peer from 1 (0: none), bytes.
        let numbers = row.iter().flat_map(|span| {
            let begin = units(span.begin_s);
            let after = begin - std::mem::replace(&mut last, begin);
            let peer = span.peer.map_or(0, |peer| u64::from(peer) + 1);
            [after, units(span.end_s).saturating_sub(begin), span.kind as u64, peer, span.bytes]
        });
        numbers.collect::<Vec<u64>>()
    });
    timeline["rows"] = rows.collect();
    Some(timeline)
}

/// Returns the activities of a rank that take time, with the bytes of their messages.
fn activities(history: &History, rank: u32) -> impl Iterator<Item = Span> {
    let last = history.of(RankId(rank)).iter().filter(|activity| activity.end > activity.begin);
    last.map(move |activity| Span {
        rank,
        kind: 1 + ActivityKind::ALL.iter().position(|kind| *kind == activity.kind).unwrap_or(0),
        begin_s: activity.begin.seconds(),
        end_s: activity.end.seconds(),
        peer: activity.peer.map(|peer| peer.0),
        bytes: activity.message.and_then(|message| history.message(message)).map_or(0, |message| message.bytes),
    })
}
