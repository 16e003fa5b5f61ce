//! A part of a run's time: what a timeline shows.

use super::axis::{Axis, SECONDS};
use hayase::units::Time;

/// From when to when a timeline is drawn \[s\].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// From when; 0 from the start.
    pub from_s: f64,
    /// Until when; infinite to the end of the run.
    pub to_s: f64,
}

impl Default for Window {
    fn default() -> Self {
        Self { from_s: 0.0, to_s: f64::INFINITY }
    }
}

/// The time a timeline shows: its axis, and what is said of it.
pub(super) struct Span {
    pub axis: Axis,
    pub from_s: f64,
    pub to_s: f64,
    pub remark: Option<String>,
}

impl Window {
    /// The part of a run of this length that is drawn.
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
    /// Whether something is in it, if only an instant.
    pub(super) fn has(&self, begin_s: f64, end_s: f64) -> bool {
        end_s >= self.from_s && begin_s <= self.to_s
    }

    /// Whether it shows this instant.
    pub(super) fn shows(&self, time_s: f64) -> bool {
        time_s >= self.from_s && time_s <= self.to_s * (1.0 + 1e-9)
    }
}
