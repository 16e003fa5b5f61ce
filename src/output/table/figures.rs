//! Numbers as people read them: grouped digits, a common unit for a column, ratios.

use crate::units::{Bandwidth, Time};

/// A unit that fits all the numbers of a column, so that they can be compared at a glance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    /// Its name, for the heading.
    pub unit: &'static str,
    factor: f64,
}

const TIMES: &[(&str, f64)] = &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)];
const BYTES: &[(&str, f64)] = &[("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];
const BANDWIDTHS: &[(&str, f64)] = &[("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3), ("B/s", 1.0)];

impl Scale {
    /// The largest unit in which the largest of the values is at least 1.
    fn fitting(units: &'static [(&'static str, f64)], values: impl IntoIterator<Item = f64>) -> Self {
        let largest = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let fits = |(_, factor): &&(&str, f64)| largest >= *factor * 0.9995;
        // Nothing but zeros are shown in the base unit.
        let base = |(_, factor): &&(&str, f64)| largest == 0.0 && *factor == 1.0;
        let none = units.iter().find(base).or(units.last());
        let (unit, factor) = units.iter().find(fits).or(none).copied().unwrap_or(("", 1.0));
        Self { unit, factor }
    }

    /// For times in seconds.
    pub fn time(values: impl IntoIterator<Item = f64>) -> Self {
        Self::fitting(TIMES, values)
    }

    /// For sizes in bytes.
    pub fn bytes(values: impl IntoIterator<Item = f64>) -> Self {
        Self::fitting(BYTES, values)
    }

    /// For bandwidths in bytes per second.
    pub fn bandwidth(values: impl IntoIterator<Item = f64>) -> Self {
        Self::fitting(BANDWIDTHS, values)
    }

    /// The value in this unit, with three decimals.
    pub fn show(self, value: f64) -> String {
        fixed(value / self.factor, 3)
    }
}

/// So many decimals; `-` for what is no number, `inf` for infinity.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        "-".into()
    } else if value.is_infinite() {
        "inf".into()
    } else {
        format!("{value:.decimals$}")
    }
}

/// `11,940,480`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How much more `1 + part` is than 1, in percent with two digits: `3.2 %`, `140 %`.
pub fn percent(part: f64) -> String {
    let percent = part * 100.0;
    let decimals = if percent >= 9.95 { 0 } else { 1 };
    format!("{} %", fixed(percent, decimals))
}

/// Seconds with a fitting unit.
pub fn seconds(value: f64) -> String {
    if value.is_finite() { Time::from_seconds(value).to_string() } else { fixed(value, 0) }
}

/// Bytes per second with a fitting unit.
pub fn bandwidth(value: f64) -> String {
    if value.is_finite() { Bandwidth::from_bytes_per_second(value).to_string() } else { fixed(value, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_unit_of_its_largest_number() {
        let scale = Scale::time([20e-6, 0.0691]);
        assert_eq!((scale.unit, scale.show(20e-6), scale.show(0.0691)), ("ms", "0.020".into(), "69.100".into()));
        assert_eq!(Scale::time([0.0]).unit, "s");
        assert_eq!(Scale::bytes([1.0]).unit, "B");
        assert_eq!(Scale::bandwidth([f64::INFINITY, 2e9]).unit, "GB/s");
    }

    #[test]
    fn long_numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 11_940_480].map(grouped), ["0", "999", "1,000", "11,940,480"]);
    }

    #[test]
    fn what_is_no_number_is_a_dash() {
        assert_eq!(fixed(f64::NAN, 3), "-");
        assert_eq!(seconds(f64::NAN), "-");
        assert_eq!(percent(0.032), "3.2 %");
        assert_eq!(percent(1.4), "140 %");
    }
}
