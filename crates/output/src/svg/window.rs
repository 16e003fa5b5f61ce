//! Part of a run's time that a timeline shows.

use super::axis::{Axis, SECONDS};
use super::canvas::INK;
use super::chart::Limit;
use super::sign::Pen;
use hayase::ids::RankId;
use hayase::record::{PathKind, PathStep};
use hayase::units::Time;

/// Largest number of changes of rank of a critical path that is drawn.
const MOST_CHANGES: usize = 200;

/// Time that a timeline shows \[s\].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Begin; 0 for the start of the run.
    pub from_s: f64,
    /// End; infinite for the end of the run.
    pub to_s: f64,
}

impl Default for Window {
    fn default() -> Self {
        Self { from_s: 0.0, to_s: f64::INFINITY }
    }
}

/// Axis of the time that a timeline shows, with a remark on it.
pub(super) struct Span {
    pub axis: Axis,
    pub from_s: f64,
    pub to_s: f64,
    pub remark: Option<String>,
}

impl Window {
    /// Returns the part of a run of this length that is drawn.
    pub(super) fn of(self, end_s: f64) -> Span {
        let end_s = if end_s.is_finite() && end_s > 0.0 { end_s } else { 0.0 };
        if self == Self::default() {
            let axis = Axis::new(end_s, 10, SECONDS);
            return Span { from_s: 0.0, to_s: axis.end, axis, remark: None };
        }
        let text = |seconds: f64| Time::from_seconds(seconds).to_string();
        let from_s = self.from_s.max(0.0);
        let beyond = from_s >= end_s;
        let to_s = match self.to_s {
            to if to.is_finite() && (beyond || to <= end_s) => to,
            _ if beyond => from_s * 1.1 + 1e-9,
            _ => end_s,
        };
        let remark = if beyond {
            format!("Nothing is in this window: it begins at {}, and the run ended at {}.", text(from_s), text(end_s))
        } else {
            format!("Drawn is the time from {} to {}, of {}.", text(from_s), text(to_s), text(end_s))
        };
        Span { axis: Axis::between(from_s, to_s, 10, SECONDS), from_s, to_s, remark: Some(remark) }
    }
}

impl Span {
    /// True if the activity lies in the window, at least for an instant.
    pub(super) fn has(&self, begin_s: f64, end_s: f64) -> bool {
        end_s >= self.from_s && begin_s <= self.to_s
    }

    /// True if the window shows this instant.
    pub(super) fn shows(&self, time_s: f64) -> bool {
        time_s >= self.from_s && time_s <= self.to_s * (1.0 + 1e-9)
    }

    /// Returns a line at the makespan if it is in the window.
    pub(super) fn makespan(&self, makespan_s: f64) -> Vec<Limit> {
        let limit =
            (makespan_s, format!("makespan {}", Time::from_seconds(makespan_s)), Pen::new(INK, 1.2).dashed("5 3"));
        let is_shown = makespan_s.is_finite() && makespan_s > 0.0 && self.shows(makespan_s);
        is_shown.then_some(limit).into_iter().collect()
    }

    /// Returns the part in the window of a straight line from one time and lane to another.
    pub(super) fn within(&self, from: (f64, f64), to: (f64, f64)) -> [(f64, f64); 2] {
        if to.0 <= from.0 {
            return [from, to];
        }
        let at = |time_s: f64| {
            let part = ((time_s - from.0) / (to.0 - from.0)).clamp(0.0, 1.0);
            (time_s, from.1 + (to.1 - from.1) * part)
        };
        [at(from.0.max(self.from_s)), at(to.0.min(self.to_s))]
    }

    /// Returns the part of a critical path in the window as lines through times and lanes. A rank without a
    /// lane interrupts the line. A path that changes the rank too often is left out, with a remark.
    pub(super) fn critical_path(
        &self,
        path: &[PathStep],
        lane: impl Fn(RankId) -> Option<f64>,
        remarks: &mut Vec<String>,
    ) -> Vec<Vec<(f64, f64)>> {
        let is_inside = |step: &&PathStep| self.has(step.begin.seconds(), step.end.seconds());
        let path: Vec<&PathStep> = path.iter().filter(is_inside).collect();
        let changes = path.windows(2).filter(|pair| pair[0].rank != pair[1].rank).count();
        if changes > MOST_CHANGES {
            remarks.push(format!("The critical path changes the rank {changes} times, too often to be drawn."));
            return Vec::new();
        }
        let mut lines: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
        for step in path {
            let begin = match (step.kind, step.peer) {
                (PathKind::Network, Some(sender)) => sender,
                _ => step.rank,
            };
            let (Some(from), Some(to)) = (lane(begin), lane(step.rank)) else {
                lines.push(Vec::new());
                continue;
            };
            for point in self.within((step.begin.seconds(), from), (step.end.seconds(), to)) {
                match lines.last_mut().map(|line| (line.len(), line)) {
                    // The line goes straight on.
                    Some((2.., line)) if line[line.len() - 2..].iter().all(|before| before.1 == point.1) => {
                        line.pop();
                        line.push(point);
                    }
                    Some((_, line)) => line.push(point),
                    None => {}
                }
            }
        }
        lines.retain(|line| line.len() > 1);
        lines
    }
}

/// Returns `count` ranks at even distances.
pub(super) fn evenly(count: u32, ranks: u32) -> Vec<u32> {
    (0..count).map(|i| (u64::from(i) * u64::from(ranks) / u64::from(count.max(1))) as u32).collect()
}
