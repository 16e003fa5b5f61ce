//! Precision asked for a makespan, or for its lower bound.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Relative precision: half of the interval that an estimate may leave, or the gap between the bounds of an optimum;
/// from 0.01 % to 50 %.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Target(f64);

/// Smallest and largest relative half interval.
const RANGE: std::ops::RangeInclusive<f64> = 1e-4..=0.5;

impl Target {
    /// Parses `1 %` or `0.01`.
    ///
    /// # Errors
    /// A text that is neither, or out of range. The message says what is wrong and, after a semicolon, what
    /// to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (number, unit) = match text.strip_suffix('%') {
            Some(percent) => (percent.trim(), 100.0),
            None => (text, 1.0),
        };
        match number.parse::<f64>() {
            Ok(value) if RANGE.contains(&(value / unit)) => Ok(Self(value / unit)),
            Ok(_) => Err(format!("`{text}` is no relative precision; write one from 0.01 % to 50 %, such as \"1 %\"")),
            Err(_) => {
                Err(format!("`{text}` is not a fraction of a makespan; write one from 0.01 % to 50 %, such as \"1 %\""))
            }
        }
    }

    /// Returns the half interval as a part of the makespan.
    pub fn part(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded to a hundredth of a percent, since 0.07 * 100 is not exactly 7.
        write!(f, "{} %", (self.0 * 1e8).round() / 1e6)
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Target;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part of the makespan (\"1 %\")")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Target, E> {
                Target::parse(&value.to_string()).map_err(E::custom)
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Target, E> {
                self.visit_f64(value as f64)
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Target, E> {
                self.visit_f64(value as f64)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Target, E> {
                Target::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Target {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "type": "number", "exclusiveMinimum": 0 }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_and_written_as_they_are() {
        for (text, part, shown) in [("1%", 0.01, "1 %"), (" 0.07 % ", 0.0007, "0.07 %"), ("0.02", 0.02, "2 %")] {
            let target = Target::parse(text).unwrap();
            assert!((target.part() - part).abs() < 1e-15);
            assert_eq!(target.to_string(), shown);
            assert_eq!(Target::parse(shown).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_error_of_an_estimate_is_refused() {
        for text in ["0", "0%", "-1%", "200%", "51 %", "nan", "inf%", "1e-9", "abc", "", "%", "1 %%"] {
            assert!(Target::parse(text).is_err(), "{text}");
        }
    }
}
