//! Activities and messages of ranks over time, as spans or, for a large run, as shares of successive times.

use hayase::ids::RankId;
use hayase::player::ActivityKind;
use hayase::record::History;
use hayase::report::MessageRecord;
use serde_json::{Value, json};

use super::data::{RunData, short};
use crate::svg;

/// Largest number of spans; more are summed up.
const MOST_SPANS: usize = 120_000;
/// Largest number of rows and number of columns of sums.
const MOST_ROWS: u32 = 512;
const COLUMNS: usize = 400;
/// Number of units of time until the end of the run.
const UNITS: f64 = 1e7;
/// Largest number of steps of a critical path.
const MOST_STEPS: usize = 20_000;

/// Mean number of activities of each kind in successive times of equal length, by group of ranks.
///
/// Times begin as short as the first activity and double when the run outgrows them.
#[derive(Debug, Default)]
pub struct Binned {
    /// Number of kinds.
    kinds: usize,
    /// Number of ranks.
    ranks: u32,
    /// Length of a time \[s\].
    span_s: f64,
    /// Sums of times \[s\], by row, column and kind.
    sums: Vec<f32>,
    /// Number of activities.
    count: usize,
}

impl Binned {
    /// Creates sums of these ranks.
    pub fn new(ranks: u32, kinds: usize) -> Self {
        let rows = ranks.div_ceil(Self { ranks, ..Self::default() }.together()) as usize;
        Self { kinds, ranks, sums: vec![0.0; rows * COLUMNS * kinds], ..Self::default() }
    }

    /// Returns the number of ranks of a row.
    fn together(&self) -> u32 {
        self.ranks.div_ceil(MOST_ROWS).max(1)
    }

    /// Adds a message to those of its sender.
    pub fn message(&mut self, message: &MessageRecord) {
        if self.kinds > 0 {
            self.add(message.src, 0, message.start_s, message.end_s);
        }
    }

    /// Adds an activity.
    pub fn add(&mut self, rank: u32, kind: usize, begin_s: f64, end_s: f64) {
        self.count += 1;
        if self.span_s == 0.0 {
            self.span_s = end_s / COLUMNS as f64;
        }
        if end_s <= begin_s || rank >= self.ranks {
            return;
        }
        while end_s > self.span_s * COLUMNS as f64 * (1.0 + 1e-9) {
            self.double();
        }
        let row = (rank / self.together()) as usize;
        let place = |time: f64| ((time / self.span_s) as usize).min(COLUMNS - 1);
        for column in place(begin_s)..=place(end_s) {
            let (from, to) = (self.span_s * column as f64, self.span_s * (column + 1) as f64);
            let time = end_s.min(to) - begin_s.max(from);
            self.sums[(row * COLUMNS + column) * self.kinds + kind] += time.max(0.0) as f32;
        }
    }

    fn double(&mut self) {
        self.span_s *= 2.0;
        let kinds = self.kinds;
        for row in self.sums.chunks_mut(COLUMNS * kinds) {
            for i in 0..COLUMNS * kinds {
                let (column, kind) = (i / kinds, i % kinds);
                let first = 2 * column * kinds + kind;
                row[i] = if 2 * column < COLUMNS { row[first] + row[first + kinds] } else { 0.0 };
            }
        }
    }

    /// Returns the means of each row in hundredths, up to the end of the run.
    fn to_json(&self, end_s: f64) -> Value {
        let columns = ((end_s / self.span_s * (1.0 - 1e-9)).ceil() as usize).clamp(1, COLUMNS);
        let whole = self.span_s * f64::from(self.together());
        let mean = |sum: &f32| (f64::from(*sum) / whole * 100.0).round() as u32;
        let rows = self.sums.chunks(COLUMNS * self.kinds);
        let rows: Vec<Vec<u32>> = rows.map(|row| row[..columns * self.kinds].iter().map(mean).collect()).collect();
        json!({
            "span": short(self.span_s), "together": self.together(), "count": self.count, "kinds": self.kinds,
            "rows": rows,
        })
    }
}

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
    let path = run.path.get(..MOST_STEPS).unwrap_or(run.path).iter().map(|step| {
        let units = |time: hayase::units::Time| (time.seconds() / unit_s).round() as u64;
        json!([step.rank.0, units(step.begin), units(step.end), step.kind.name(), step.peer.map(|peer| peer.0)])
    });
    let mut timeline = json!({"unit": short(unit_s), "kinds": kinds, "path": path.collect::<Vec<_>>()});
    if spans.is_empty() && run.binned.count > 0 {
        timeline["sums"] = run.binned.to_json(run.end_s);
        return Some(timeline);
    }
    if spans.is_empty() || run.end_s <= 0.0 {
        return None;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_the_time_of_all_activities_when_they_grow() {
        let mut sums = Binned::new(2000, 2);
        assert_eq!(sums.together(), 4);
        sums.add(0, 0, 0.0, 1.0);
        sums.add(3, 1, 0.5, 900.0);
        sums.add(1999, 1, 100.0, 101.0);
        let of = |row: usize, kind| -> f32 {
            sums.sums[row * COLUMNS * 2..(row + 1) * COLUMNS * 2].iter().skip(kind).step_by(2).sum()
        };
        assert!((of(0, 0) - 1.0).abs() < 1e-4 && (of(0, 1) - 899.5).abs() < 1e-2 && (of(499, 1) - 1.0).abs() < 1e-4);
        let rows = sums.to_json(900.0)["rows"].as_array().unwrap().len();
        assert_eq!(rows, 500);
    }
}
