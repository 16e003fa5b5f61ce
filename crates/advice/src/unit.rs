//! Unit in which all times of one piece of advice are written.
//!
//! Readers compare times that stand side by side, so all have the unit of the longest.

use serde::{Deserialize, Serialize};

/// Unit of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[default]
    #[serde(rename = "s")]
    Seconds,
}

impl Unit {
    /// Returns the unit that fits the longest of some times \[ns\].
    pub fn of(longest_ns: f64) -> Self {
        match longest_ns.abs() {
            ns if ns >= 1e9 => Self::Seconds,
            ns if ns >= 1e6 => Self::Milliseconds,
            ns if ns >= 1e3 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }

    /// Returns its symbol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }

    /// Number of nanoseconds in the unit.
    pub fn nanoseconds(self) -> f64 {
        match self {
            Self::Nanoseconds => 1.0,
            Self::Microseconds => 1e3,
            Self::Milliseconds => 1e6,
            Self::Seconds => 1e9,
        }
    }

    /// Writes a time \[ns\] in this unit, to four digits or to the nanosecond: `0.353 ms`.
    pub fn write(self, ns: f64) -> String {
        format!("{} {}", self.number(ns), self.name())
    }

    /// Writes the same number without the unit.
    pub fn number(self, ns: f64) -> String {
        let value = ns / self.nanoseconds();
        // Digits end at the nanosecond.
        let most = match self {
            Self::Nanoseconds => 0,
            Self::Microseconds => 3,
            Self::Milliseconds => 6,
            Self::Seconds => 9,
        };
        let mut decimals = 0;
        let mut scaled = value.abs();
        while scaled < 999.95 && scaled > 0.0 && decimals < most {
            scaled *= 10.0;
            decimals += 1;
        }
        let text = format!("{value:.decimals$}");
        if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

/// Writes a size \[B\] in the unit that fits it, to three digits: `7.68 KB`.
pub fn bytes(value: u64) -> String {
    let (mut scaled, mut unit) = (value as f64, 0);
    while scaled >= 999.5 && unit + 1 < BYTES.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    let decimals = match scaled {
        _ if unit == 0 => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.decimals$} {}", BYTES[unit])
}

/// Units of bytes, each a thousand times the one before.
const BYTES: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_three_digits() {
        let words = [0, 7, 999, 1_000, 7_680, 20_480, 320_000, 999_600, 12_345_678_900].map(bytes);
        assert_eq!(words, ["0 B", "7 B", "999 B", "1.00 KB", "7.68 KB", "20.5 KB", "320 KB", "1.00 MB", "12.3 GB"]);
    }

    #[test]
    fn times_have_the_unit_of_the_longest_and_four_digits() {
        let unit = Unit::of(34_700_000.0);
        let times = [34_702_345.0, 353_021.0, 41.0, 0.0, -1_000_000.0, 123_456_789_000.0];
        let words = times.map(|ns| unit.write(ns));
        assert_eq!(words, ["34.7 ms", "0.353 ms", "0.000041 ms", "0 ms", "-1 ms", "123457 ms"]);
        assert_eq!([999.0, 1e3, 1e6, 1e9].map(|ns| Unit::of(ns).name()), ["ns", "us", "ms", "s"]);
        assert_eq!(Unit::Seconds.write(66_247_000.0), "0.06625 s");
    }
}
