//! Axes: linear from 0 or within a window, or logarithmic for values of very different size.

use super::canvas::{Anchor, Canvas, FAINT, INK, Point, text_width};
use super::scale::round_step;
use hayase::base::Arrange;

/// Ratio of the largest to the smallest value above which an axis is logarithmic.
const LARGEST_RATIO: f64 = 30.0;
/// Fraction of an axis of message sizes that size 0 takes, which has no logarithm.
const ZERO: f64 = 0.05;

/// Axis with round steps in a fitting unit.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Axis {
    /// Smallest value, in the base unit.
    pub start: f64,
    /// Largest value, in the base unit.
    pub end: f64,
    /// Unit of the numbers; empty if each has its own.
    pub unit: &'static str,
    /// Ticks: value in the base unit, and label.
    pub ticks: Vec<(f64, String)>,
    /// Set for a logarithmic axis: the fraction of the axis that is kept for 0, before the smallest value.
    logarithmic: Option<f64>,
}

/// Units of time \[s\].
pub(super) const SECONDS: &[(&str, f64)] = &[("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
/// Units of data \[B\].
pub(super) const BYTES: &[(&str, f64)] = &[("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)];
/// Units of bandwidth \[B/s\].
pub(super) const BYTES_PER_SECOND: &[(&str, f64)] =
    &[("B/s", 1.0), ("KB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)];

type Units = [(&'static str, f64)];

/// Largest number of decimals beside a tick; longer numbers are written with a power of ten.
const MOST_DECIMALS: usize = 6;

impl Axis {
    /// Creates a linear axis for values from 0 to `largest`, with about `count` ticks.
    pub(super) fn new(largest: f64, count: usize, units: &Units) -> Self {
        let largest = if largest.is_finite() && largest > 0.0 { largest } else { units[units.len() - 1].1 };
        let mut axis = Self::between(0.0, largest, count, units);
        axis.end = axis.ticks.last().map_or(largest, |tick| tick.0);
        axis
    }

    /// Creates a linear axis from `start` to `end`, which need not be round. There is a tick at each round
    /// value and, if the axis starts at 0, one at or after the end.
    pub(super) fn between(start: f64, end: f64, count: usize, units: &Units) -> Self {
        let (unit, factor) = units.iter().rev().find(|(_, factor)| end >= *factor).unwrap_or(&units[0]);
        let (step, decimals) = round_step((end - start) / factor / count.max(1) as f64);
        let (first, last) = (start / factor / step, end / factor / step);
        let first = (first * (1.0 - 1e-9)).ceil().max(0.0);
        let last = if start > 0.0 { (last * (1.0 + 1e-9)).floor() } else { (last * (1.0 - 1e-9)).ceil() };
        let count = (last - first).clamp(if start > 0.0 { 0.0 } else { 1.0 }, 1000.0) as u32;
        let ticks = (0..=count)
            .map(|i| first + f64::from(i))
            .map(|i| match decimals {
                0..=MOST_DECIMALS => (i * step * factor, format!("{:.decimals$}", i * step)),
                _ => (i * step * factor, format!("{:e}", i * step)),
            })
            .filter(|tick| start == 0.0 || tick.0 <= end * (1.0 + 1e-9))
            .collect();
        Self { start, end, unit, ticks, logarithmic: None }
    }

    /// Creates an axis for values from `least` to `most`: linear from 0, or logarithmic if that would hide
    /// the smallest.
    pub(super) fn fitting(least: f64, most: f64, count: usize, units: &Units) -> Self {
        let differ = least > 0.0 && most.is_finite() && most > LARGEST_RATIO * least * (1.0 + 1e-9);
        if differ { Self::logarithmic(least, most, units) } else { Self::new(most, count, units) }
    }

    /// Creates an axis for these values, none of them below 0: linear from 0, or logarithmic if that would
    /// hide the smallest nonzero value. A logarithmic axis has 0 beside it if one of the values is 0.
    pub(super) fn of(values: impl Iterator<Item = f64> + Clone, count: usize, units: &Units) -> Self {
        let positive = values.clone().filter(|value| *value > 0.0);
        let axis =
            Self::fitting(positive.clone().fold(f64::INFINITY, f64::min), positive.fold(0.0, f64::max), count, units);
        axis.with_zero(values)
    }

    /// Extends a logarithmic axis down to the smallest of these values, with 0 beside it if one of them is 0.
    pub(super) fn reaching(self, values: impl Iterator<Item = f64> + Clone, units: &Units) -> Self {
        if !self.is_logarithmic() {
            return self;
        }
        let least = values.clone().filter(|value| *value > 0.0).fold(self.start, f64::min);
        Self::logarithmic(least, self.end, units).with_zero(values)
    }

    /// Adds 0 beside a logarithmic axis if one of these values is 0.
    pub(super) fn with_zero(mut self, mut values: impl Iterator<Item = f64>) -> Self {
        if self.is_logarithmic() && values.any(|value| value == 0.0) {
            self.logarithmic = Some(ZERO);
            self.ticks.insert(0, (0.0, "0".to_owned()));
        }
        self
    }

    /// Creates a logarithmic axis for values from `least` to `most`, both above 0. Its ends are 1, 2 or 5
    /// times a power of ten.
    #[expect(clippy::disallowed_methods, reason = "logarithms of a picture, nothing is computed from them")]
    pub(super) fn logarithmic(least: f64, most: f64, units: &Units) -> Self {
        let usable = least.is_finite() && most.is_finite() && least > 0.0 && most >= least;
        let (least, most) = if usable { (least, most) } else { (units[0].1, 10.0 * units[0].1) };
        let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
        let all = (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|times| (times, power)));
        let value = |&(times, power): &(f64, i32)| times * 10.0_f64.powi(power);
        let all: Vec<(f64, i32)> = all.collect();
        let from = all.iter().rposition(|tick| value(tick) <= least * (1.0 + 1e-9)).unwrap_or(0);
        let to = all.iter().position(|tick| value(tick) >= most * (1.0 - 1e-9)).unwrap_or(all.len() - 1);
        let to = to.max(from + 1).min(all.len() - 1);
        let (start, end) = (value(&all[from.min(to - 1)]), value(&all[to]));
        let every = ((last - first) / 10 + 1).max(1);
        let wanted = |&&(times, power): &&(f64, i32)| last - first <= 3 || times == 1.0 && (power - first) % every == 0;
        let ticks =
            all[from.min(to - 1)..=to].iter().filter(wanted).map(|tick| (value(tick), quantity(value(tick), units)));
        Self { start, end, unit: "", ticks: ticks.collect(), logarithmic: Some(0.0) }
    }

    /// Creates a logarithmic axis for sizes of messages from `least` to `largest` \[B\], both above 0.
    pub(super) fn lengths_from(least: u64, largest: u64) -> Self {
        let least = least.max(1);
        let largest = largest.max(least.saturating_mul(2));
        let step = if largest / least > 1 << 15 { 3 } else { 1 };
        let ticks = (0..63).step_by(step).map(|power| 1_u64 << power).filter(|size| (least..=largest).contains(size));
        let ticks = ticks.map(|size| (size as f64, binary(size))).collect();
        Self { start: least as f64, end: largest as f64, unit: "B", ticks, logarithmic: Some(0.0) }
    }

    /// Creates a logarithmic axis for sizes of messages up to `largest` \[B\], with 0 beside it.
    pub(super) fn lengths(largest: u64) -> Self {
        let largest = largest.max(2);
        let ticks = (0..63).step_by(if largest > 1 << 30 { 6 } else { 3 }).map(|power| 1_u64 << power);
        let ticks = ticks.take_while(|&size| size <= largest).map(|size| (size as f64, binary(size)));
        let ticks = std::iter::once((0.0, "0".to_owned())).chain(ticks).collect();
        Self { start: 1.0, end: largest as f64, unit: "B", ticks, logarithmic: Some(ZERO) }
    }

    /// Creates a linear axis of whole numbers from 0 to `count`.
    pub(super) fn counts(count: usize) -> Self {
        let mut axis = Self::between(0.0, count as f64, 8, &[("", 1.0)]);
        axis.ticks.retain(|tick| tick.0 <= axis.end && tick.0.fract() == 0.0);
        axis.ticks.iter_mut().for_each(|(value, text)| *text = format!("{value:.0}"));
        axis
    }

    /// Creates a linear axis of ranks, each with its number in the middle of its column.
    pub(super) fn ranks(count: usize) -> Self {
        let mut axis = Self::counts(count.max(1));
        axis.ticks.retain(|tick| tick.0 < axis.end);
        axis.ticks.iter_mut().for_each(|tick| tick.0 += 0.5);
        axis
    }

    /// Creates an axis with labels at these places, from 0 to 1.
    pub(super) fn of_places(mut places: Vec<(f64, String)>) -> Self {
        places.arrange_by(|a, b| a.0.total_cmp(&b.0));
        places.dedup();
        Self::linear(0.0, 1.0, "", places)
    }

    /// Creates a linear axis with these ticks.
    pub(super) const fn linear(start: f64, end: f64, unit: &'static str, ticks: Vec<(f64, String)>) -> Self {
        Self { start, end, unit, ticks, logarithmic: None }
    }

    /// Returns the places of the ticks, from 0 to 1, and their labels.
    pub(super) fn places(&self) -> Vec<(f64, String)> {
        self.ticks.iter().map(|(value, text)| (self.place(*value), text.clone())).collect()
    }

    /// True if the axis is logarithmic.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic.is_some()
    }

    /// Returns the place of a value, from 0 to 1; values outside are at the nearer end.
    #[expect(clippy::disallowed_methods, reason = "logarithms of a picture, nothing is computed from them")]
    pub(super) fn place(&self, value: f64) -> f64 {
        let part = match self.logarithmic {
            None => (value - self.start) / (self.end - self.start),
            Some(room) if value >= self.start => {
                room + (1.0 - room) * (value / self.start).ln() / (self.end / self.start).ln()
            }
            Some(room) => room / 2.0,
        };
        if part.is_finite() { part.clamp(0.0, 1.0) } else { f64::from(u8::from(part > 0.0)) }
    }

    /// Returns the caption of the axis: `time [ms]`, `time, logarithmic`.
    pub(super) fn caption(&self, what: &str) -> String {
        match (self.unit, self.is_logarithmic()) {
            ("", true) => format!("{what}, logarithmic"),
            ("", false) => what.to_owned(),
            (unit, true) => format!("{what} [{unit}], logarithmic"),
            (unit, false) => format!("{what} [{unit}]"),
        }
    }

    /// Draws ticks, numbers and grid lines for values mapped to `x .. x + width`, below `bottom`, 34 px high.
    pub(super) fn draw(&self, canvas: &mut Canvas, x: f64, width: f64, top: f64, bottom: f64, what: &str) {
        let mut free = f64::NEG_INFINITY;
        for (value, text) in &self.ticks {
            let at = x + width * self.place(*value);
            canvas.line(Point::new(at, top), Point::new(at, bottom), &format!(r#"stroke="{FAINT}""#));
            canvas.line(Point::new(at, bottom), Point::new(at, bottom + 4.0), &format!(r#"stroke="{INK}""#));
            let half = text_width(text, 10.0) / 2.0;
            if at - half >= free {
                canvas.text(at, bottom + 15.0, 10.0, Anchor::Middle, text, "");
                free = at + half + 4.0;
            }
        }
        canvas.line(Point::new(x, bottom), Point::new(x + width, bottom), &format!(r#"stroke="{INK}""#));
        canvas.text(x + width / 2.0, bottom + 30.0, 11.0, Anchor::Middle, &self.caption(what), "");
    }

    /// Draws ticks, numbers and grid lines for values mapped to `bottom .. top`, left of `x`, and the turned
    /// caption if there is one.
    pub(super) fn draw_left(&self, canvas: &mut Canvas, x: f64, width: f64, top: f64, bottom: f64, what: &str) {
        let mut free = f64::INFINITY;
        for (value, text) in &self.ticks {
            let at = bottom - (bottom - top) * self.place(*value);
            canvas.line(Point::new(x, at), Point::new(x + width, at), &format!(r#"stroke="{FAINT}""#));
            if at <= free {
                canvas.text(x - 6.0, at + 3.5, 10.0, Anchor::End, text, "");
                free = at - 9.0;
            }
        }
        canvas.line(Point::new(x, top), Point::new(x, bottom), &format!(r#"stroke="{INK}""#));
        if what.is_empty() {
            return;
        }
        let (turn_x, turn_y) = (x - 56.0, (top + bottom) / 2.0);
        let turned = format!(r#"transform="rotate(-90 {turn_x:.1} {turn_y:.1})""#);
        canvas.text(turn_x, turn_y, 11.0, Anchor::Middle, &self.caption(what), &turned);
    }
}

/// Formats a value of few digits with a fitting unit: `20 us`.
fn quantity(value: f64, units: &Units) -> String {
    let (unit, factor) = units.iter().rev().find(|(_, factor)| value >= factor * (1.0 - 1e-9)).unwrap_or(&units[0]);
    let number = value / factor;
    // The number is 1, 2 or 5 times a power of ten; rounding removes the error of the division.
    let number = if number >= 1.0 { number.round() } else { (number * 1e9).round() / 1e9 };
    if number >= 1e6 { format!("{number:.0e} {unit}") } else { format!("{number} {unit}") }
}

/// Formats a power of two with its binary prefix: `16`, `64 Ki`, `1 Mi`.
fn binary(size: u64) -> String {
    match size {
        size if size >= 1 << 30 => format!("{} Gi", size >> 30),
        size if size >= 1 << 20 => format!("{} Mi", size >> 20),
        size if size >= 1 << 10 => format!("{} Ki", size >> 10),
        size => size.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_reaches_the_largest_value_in_round_steps() {
        for largest in [1e-12, 3.3e-9, 1.0, 0.0691, 0.999, 99.0, 12345.0, 1e-15, 0.25] {
            let axis = Axis::new(largest, 8, SECONDS);
            assert!(axis.end >= largest * (1.0 - 1e-9), "{largest}: {axis:?}");
            assert!((2..=22).contains(&axis.ticks.len()), "{largest}: {axis:?}");
            let texts: std::collections::BTreeSet<_> = axis.ticks.iter().map(|tick| &tick.1).collect();
            assert_eq!(texts.len(), axis.ticks.len(), "{axis:?}");
        }
        assert_eq!(Axis::new(0.0691, 7, SECONDS).ticks[1].1, "10");
        assert!(Axis::new(f64::NAN, 5, SECONDS).end.is_finite());
    }

    #[test]
    fn an_axis_is_logarithmic_from_more_than_thirty_times_on() {
        assert!(!Axis::fitting(1e-6, 30e-6, 6, SECONDS).is_logarithmic());
        let axis = Axis::fitting(1e-6, 31e-6, 6, SECONDS);
        assert!(axis.is_logarithmic() && axis.caption("time") == "time, logarithmic");
        let texts: Vec<&str> = axis.ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(texts, ["1 us", "2 us", "5 us", "10 us", "20 us", "50 us"]);
        // Only finite values above 0 can stand on a logarithmic axis.
        assert!(!Axis::fitting(0.0, 1.0, 6, SECONDS).is_logarithmic());
        assert!(!Axis::fitting(1.0, f64::INFINITY, 6, SECONDS).is_logarithmic());
    }

    #[test]
    fn equal_ratios_are_equally_far_apart() {
        let axis = Axis::logarithmic(3e-9, 0.7, SECONDS);
        assert!(axis.start <= 3e-9 && axis.end >= 0.7, "{axis:?}");
        let (a, b, c) = (axis.place(1e-7), axis.place(1e-5), axis.place(1e-3));
        assert!((b - a - (c - b)).abs() < 1e-12 && a > 0.0 && c < 1.0);
        assert_eq!((axis.place(0.0), axis.place(-1.0), axis.place(9.0), axis.place(f64::NAN)), (0.0, 0.0, 1.0, 0.0));
        assert!(axis.ticks.iter().any(|tick| tick.1 == "1 ms") && axis.ticks.len() <= 12, "{axis:?}");
        for (least, most) in [(1e-15, 1e-15), (1.0, 1.0), (5e-10, 5e10), (f64::NAN, 1.0), (2e-6, 5e-6)] {
            let axis = Axis::logarithmic(least, most, SECONDS);
            assert!(axis.start < axis.end && axis.ticks.len() >= 2, "{axis:?}");
        }
    }

    #[test]
    fn a_length_of_nothing_stands_beside_the_logarithms() {
        let axis = Axis::lengths(1 << 20);
        assert!(axis.place(0.0) < axis.place(1.0) && axis.place(1.0) < axis.place(2.0));
        assert_eq!(axis.place(1048576.0), 1.0);
    }

    #[test]
    fn an_axis_of_lengths_begins_at_the_smallest() {
        let axis = Axis::lengths_from(1 << 20, 1 << 30);
        assert_eq!([1_u64 << 20, 1 << 25, 1 << 30].map(|size| axis.place(size as f64)), [0.0, 0.5, 1.0]);
        assert_eq!(axis.ticks[0].1, "1 Mi");
        // One size has a width, too.
        assert!(Axis::lengths_from(7, 7).end > 7.0);
    }

    #[test]
    fn an_axis_of_counts_has_whole_numbers_alone_and_ends_where_they_do() {
        for count in [1, 2, 7, 54, 3456, 1_000_003] {
            let axis = Axis::counts(count);
            assert_eq!(axis.place(count as f64), 1.0);
            assert!(axis.ticks.len() >= 2 && axis.ticks.iter().all(|tick| tick.1.parse() == Ok(tick.0 as usize)));
            assert_eq!(axis.caption("messages"), "messages");
        }
    }

    #[test]
    fn an_axis_of_a_window_has_ticks_inside_alone() {
        let axis = Axis::between(1.37e-3, 1.42e-3, 10, SECONDS);
        assert!(axis.ticks.len() >= 5 && axis.ticks.iter().all(|tick| (0.0..=1.0).contains(&axis.place(tick.0))));
        assert!(axis.ticks.iter().all(|tick| (1.37e-3..=1.42e-3 * (1.0 + 1e-9)).contains(&tick.0)), "{axis:?}");
        assert_eq!(axis.place(1.37e-3), 0.0);
    }

    #[test]
    fn zero_stands_beside_values_that_need_logarithms() {
        let of = |values: &[f64]| Axis::of(values.iter().copied(), 6, BYTES);
        let axis = of(&[0.0, 1e3, 1e6]);
        assert!(axis.is_logarithmic());
        assert_eq!([0.0, 1e3, 1e6].map(|value| axis.place(value)), [ZERO / 2.0, ZERO, 1.0]);
        assert_eq!(axis.ticks[0], (0.0, "0".to_owned()));
        // Without a 0 nothing stands beside the axis; values that are close enough to each other need no logarithms.
        assert_eq!(of(&[1e3, 1e6]).place(1e3), 0.0);
        assert!(!of(&[0.0, 10.0, 20.0]).is_logarithmic());
        assert!(!of(&[0.0]).is_logarithmic() && !of(&[]).is_logarithmic());
    }
}
