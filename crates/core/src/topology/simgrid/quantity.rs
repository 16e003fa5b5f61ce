//! Quantities in SimGrid's notation: `1.25GBps`, `10Gbps`, `50us`; a bare number is in the base unit.

use crate::units::{Bandwidth, Time};

/// Decimal and binary prefixes with their factors.
const PREFIXES: [(&str, f64); 13] = [
    ("", 1.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
];

/// Units of time \[ps\].
const TIMES: [(&str, f64); 10] = [
    ("", 1e12),
    ("s", 1e12),
    ("ms", 1e9),
    ("us", 1e6),
    ("ns", 1e3),
    ("ps", 1.0),
    ("m", 60e12),
    ("h", 3600e12),
    ("d", 86_400e12),
    ("w", 604_800e12),
];

/// Returns the number at the start of a text, and the rest.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = usize::from(text.starts_with(['+', '-']));
    end += digits(end);
    if text[end..].starts_with('.') {
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

/// Parses a bandwidth, which must be positive; the error names what is expected.
pub(super) fn bandwidth(text: &str) -> Result<Bandwidth, &'static str> {
    const EXPECTED: &str = "expected a bandwidth like \"125MBps\", \"10Gbps\" or \"1.25E8\" (bytes per second)";
    let (value, unit) = split(text).ok_or(EXPECTED)?;
    let (prefix, factor) = match unit {
        "" => ("", 1.0),
        _ => unit
            .strip_suffix("Bps")
            .map(|prefix| (prefix, 1.0))
            .or_else(|| unit.strip_suffix("bps").map(|prefix| (prefix, 0.125)))
            .ok_or(EXPECTED)?,
    };
    let (_, scale) = PREFIXES.iter().find(|(name, _)| *name == prefix).ok_or(EXPECTED)?;
    let value = value * factor * scale;
    if value.is_finite() && value > 0.0 {
        Ok(Bandwidth::from_bytes_per_second(value))
    } else {
        Err("expected a positive, finite bandwidth")
    }
}

/// Parses a latency; the error names what is expected.
pub(super) fn latency(text: &str) -> Result<Time, &'static str> {
    const EXPECTED: &str = "expected a time like \"50us\", \"1.5ms\" or \"5E-5\" (seconds)";
    let (value, unit) = split(text).ok_or(EXPECTED)?;
    let (_, factor) = TIMES.iter().find(|(name, _)| *name == unit).ok_or(EXPECTED)?;
    let value = value * factor;
    if value.is_finite() && value >= 0.0 {
        Ok(Time::from_ps(value.abs()))
    } else {
        Err("expected a finite time that is not negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_simgrid() {
        let bandwidths = [
            ("1GBps", 1e9),
            ("125MBps", 125e6),
            ("10Gbps", 1.25e9),
            ("1.25E8", 1.25e8),
            ("41279125", 41_279_125.0),
            (" 2 KiBps ", 2048.0),
            ("1EBps", 1e18),
            ("1e3kbps", 125e3),
        ];
        for (text, value) in bandwidths {
            assert_eq!(bandwidth(text), Ok(Bandwidth::from_bytes_per_second(value)), "{text}");
        }
        for (text, ps) in [("50us", 50e6), ("1ms", 1e9), ("0", 0.0), ("5E-5", 5e7), ("2m", 120e12), ("24.3ns", 24.3e3)]
        {
            assert_eq!(latency(text), Ok(Time::from_ps(ps)), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_says_what_is_expected() {
        for text in ["", "fast", "1 GB/s", "0Bps", "-1Bps", "1e999Bps", "1KBps", "NaN", "inf", "1.Ä", "1eBps"] {
            assert!(bandwidth(text).is_err(), "{text}");
        }
        for text in ["", "x", "-1us", "1e999s", "5 minutes", "NaN"] {
            assert!(latency(text).is_err(), "{text}");
        }
    }
}
