//! Quantities as text: short for people, exact for files.

use std::fmt;

use super::{Bandwidth, Bytes, PerByte, Time};

/// Writes `value` in the largest unit in which it is at least 1, with four significant digits.
fn scaled(f: &mut fmt::Formatter<'_>, value: f64, units: &[(&str, f64)]) -> fmt::Result {
    if value == 0.0 || !value.is_finite() {
        let text = if value == 0.0 { "0".into() } else { value.to_string() };
        return f.pad(&format!("{text} {}", units[0].0));
    }
    let rounds_to_one = |factor: f64| value.abs() >= factor * 0.99995;
    let (unit, factor) = units.iter().rev().find(|(_, factor)| rounds_to_one(*factor)).unwrap_or(&units[0]);
    let scaled = value / factor;
    let decimals = match scaled.abs() {
        x if x >= 999.95 => 0,
        x if x >= 99.995 => 1,
        x if x >= 9.9995 => 2,
        _ => 3,
    };
    let text = format!("{scaled:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    f.pad(&format!("{text} {unit}"))
}

/// Returns the exact value in the largest unit that divides it without a fraction, else in the base unit.
fn exact(value: f64, units: &[(&str, f64)]) -> String {
    let fits = |&&(_, factor): &&(&str, f64)| {
        value != 0.0 && (value / factor).fract() == 0.0 && (value / factor) * factor == value
    };
    let (unit, factor) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    format!("{} {unit}", value / factor)
}

const TIME: &[(&str, f64)] = &[("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)];
const BYTES: &[(&str, f64)] = &[("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
const BANDWIDTH: &[(&str, f64)] = &[("B/s", 1.0), ("KB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)];

const PER_BYTE: &[(&str, f64)] = &[("ps/B", 1.0), ("ns/B", 1e3), ("us/B", 1e6), ("ms/B", 1e9), ("s/B", 1e12)];

impl PerByte {
    /// Returns the exact value with its unit, so that [`str::parse`] reads the same value.
    pub fn exact(self) -> String {
        exact(self.ps(), PER_BYTE)
    }
}

impl fmt::Display for PerByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.ps(), PER_BYTE)
    }
}

impl Time {
    /// Returns the exact value with its unit, so that [`str::parse`] reads the same value.
    pub fn exact(self) -> String {
        exact(self.ps(), TIME)
    }
}

impl Bytes {
    /// Returns the exact value with its unit, so that [`str::parse`] reads the same value.
    pub fn exact(self) -> String {
        exact(self.0 as f64, BYTES)
    }
}

impl Bandwidth {
    /// Returns the exact value with its unit, so that [`str::parse`] reads the same value.
    pub fn exact(self) -> String {
        exact(self.bytes_per_second(), BANDWIDTH)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.ps(), TIME)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0 as f64, BYTES)
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.bytes_per_second(), BANDWIDTH)
    }
}

/// Returns a whole number with its digits in groups of three: `11,940,480`.
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

/// Returns a number with its noun in the singular or plural: `1 rank`, `2,862 messages`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_four_digits_and_a_fitting_unit() {
        assert_eq!(Time::from_seconds(0.0691).to_string(), "69.1 ms");
        assert_eq!(Time::from_ps(20e6).to_string(), "20 us");
        assert_eq!(Time::ZERO.to_string(), "0 ps");
        assert_eq!(Bytes(20_000).to_string(), "20 KB");
        assert_eq!(Bytes(999_999).to_string(), "1 MB");
        assert_eq!(Bandwidth::from_bytes_per_second(1e9 / 3.0).to_string(), "333.3 MB/s");
    }
}
