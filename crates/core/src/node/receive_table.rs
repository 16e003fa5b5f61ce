//! Times by message size, from measured rows.

use std::sync::Arc;

use super::costs::{CostsByLength, MessageCosts, NoCosts, Role};
use super::pairs::Pairs;
use crate::ids::RankId;
use crate::units::Time;

/// Times of messages by size, for all pairs of ranks and for some \[B, ps\].
#[derive(Clone, PartialEq, Debug)]
pub struct ReceiveTable {
    all: Line,
    /// Times of pairs that have their own; the last entry that includes a pair counts.
    between: Vec<(Pairs, Line)>,
}

/// Piecewise linear T(k) \[B, ps\].
#[derive(Clone, PartialEq, Debug)]
struct Line {
    rows: Vec<(u64, f64)>,
    /// Growth beyond the last row \[ps/B\].
    beyond: f64,
}

impl Line {
    fn of(rows: Vec<(u64, f64)>) -> Self {
        let beyond = rows.last().and_then(|&(size, time)| {
            let from = rows.iter().find(|row| row.0 >= size / 2 && row.0 < size).or(rows.iter().rev().nth(1));
            // A longer message is never faster.
            from.map(|&(before, at)| ((time - at) / (size - before) as f64).max(0.0))
        });
        Self { rows, beyond: beyond.unwrap_or_default() }
    }

    #[inline]
    fn time(&self, bytes: u64) -> Time {
        let at = self.rows.partition_point(|row| row.0 < bytes);
        Time::from_ps(match (at.checked_sub(1).map(|below| self.rows[below]), self.rows.get(at)) {
            (_, Some(&(size, time))) if size == bytes => time,
            (Some((a, at_a)), Some(&(b, at_b))) => at_a + (at_b - at_a) * (bytes - a) as f64 / (b - a) as f64,
            (None, Some(&(_, time))) => time,
            (Some((size, time)), None) => time + self.beyond * (bytes - size) as f64,
            (None, None) => 0.0,
        })
    }
}

impl ReceiveTable {
    /// Creates a table from rows of size and time, by ascending size, for all pairs and for some pairs. The
    /// last entry that includes a pair counts.
    pub(super) fn new(all: Vec<(u64, f64)>, between: impl Iterator<Item = (Pairs, Vec<(u64, f64)>)>) -> Self {
        Self { all: Line::of(all), between: between.map(|(pairs, rows)| (pairs, Line::of(rows))).collect() }
    }

    /// Returns T(k) of pairs that have no times of their own.
    ///
    /// Cost: O(log n) for n rows.
    #[inline]
    pub fn time(&self, bytes: u64) -> Time {
        self.all.time(bytes)
    }

    /// Returns T(from, to, k).
    ///
    /// Cost: O(log n + m) for n rows and m kinds of pairs with times of their own.
    #[inline]
    pub fn between(&self, src: RankId, dst: RankId, bytes: u64) -> Time {
        let own = self.between.iter().rev().find(|(pairs, _)| pairs.hold(src, dst));
        own.map_or(&self.all, |(_, line)| line).time(bytes)
    }
}

/// Costs of messages with the whole time as a gap.
impl CostsByLength for ReceiveTable {
    fn message(&self, bytes: u64) -> MessageCosts {
        MessageCosts { gap: self.time(bytes), ..MessageCosts::default() }
    }

    fn between(&self, src: RankId, dst: RankId, bytes: u64, _rendezvous: bool, _role: Role) -> MessageCosts {
        MessageCosts { gap: Self::between(self, src, dst, bytes), ..MessageCosts::default() }
    }

    fn on_fabric(&self) -> Arc<dyn CostsByLength> {
        Arc::new(NoCosts)
    }
}
