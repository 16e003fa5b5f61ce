//! Numbers, ranges and quantities on the command line.

use std::str::FromStr;

use hayase::diagnostic::Diagnostic;
use hayase::units::QuantityError;

pub use hayase::units::range::{ListItem, Stride, parts};

/// Parses a quantity with its unit.
pub fn quantity<T: FromStr<Err = QuantityError>>(flag: &str, text: &str) -> Result<T, Diagnostic> {
    text.parse().map_err(|error: QuantityError| Diagnostic::new("bad-quantity", format!("{flag}: {error}")))
}

/// Parses a fraction such as `2%` or `0.02`.
pub fn part(flag: &str, text: &str) -> Result<f64, Diagnostic> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value / unit),
        _ => Err(Diagnostic::new("bad-number", format!("{flag}: \"{text}\" is not a part; write 2% or 0.02"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read() {
        assert_eq!((part("-a", "2%").unwrap(), part("-a", "0.05").unwrap()), (0.02, 0.05));
        assert!(part("-a", "-1%").is_err() && part("-a", "inf").is_err());
    }
}
