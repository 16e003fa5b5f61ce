//! Sums of activities over time, for runs with too many to show each.

use hayase::report::MessageRecord;
use serde_json::{Value, json};

/// Largest number of rows and number of columns of sums.
const MOST_ROWS: u32 = 512;
const COLUMNS: usize = 400;

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

    /// Returns true if nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of ranks of a row.
    fn together(&self) -> u32 {
        self.ranks.div_ceil(MOST_ROWS).max(1)
    }

    /// Adds a message to those of its sender.
    pub fn message(&mut self, message: &MessageRecord) {
        self.add(message.src, 0, message.start_s, message.end_s);
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
    pub(super) fn to_json(&self, end_s: f64) -> Value {
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

/// Rounds a figure to seven digits, which take less room.
pub(super) fn short(figure: f64) -> Value {
    format!("{figure:.6e}").parse::<f64>().unwrap_or_default().into()
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
