//! Quantities read from text, with messages that say what to write instead.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use super::{Bandwidth, Bytes, PerByte, Time};

/// An error in the text of a quantity. The message says what to write instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuantityError(String);

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QuantityError {}

/// Name of a kind of quantity, an example of it, and its units with their factors.
struct QuantityKind {
    name: &'static str,
    example: &'static str,
    units: &'static [(&'static str, f64)],
}

const TIME: QuantityKind = QuantityKind {
    name: "time",
    example: "\"1.5 us\" or \"250 ns\"",
    units: &[
        ("ps", 1.0),
        ("ns", 1e3),
        ("us", 1e6),
        ("µs", 1e6),
        ("μs", 1e6),
        ("ms", 1e9),
        ("s", 1e12),
        ("min", 60e12),
        ("h", 3600e12),
    ],
};

const BYTES: QuantityKind = QuantityKind {
    name: "size",
    example: "\"20 KB\" or \"64 KiB\"",
    units: &[
        ("B", 1.0),
        ("KB", 1e3),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("GiB", 1073741824.0),
        ("TiB", 1099511627776.0),
    ],
};

const BANDWIDTH: QuantityKind = QuantityKind {
    name: "bandwidth",
    example: "\"12.5 GB/s\" or \"100 Gbit/s\"",
    units: &[
        ("B/s", 1.0),
        ("KB/s", 1e3),
        ("kB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("TB/s", 1e12),
        ("KiB/s", 1024.0),
        ("MiB/s", 1048576.0),
        ("GiB/s", 1073741824.0),
        ("TiB/s", 1099511627776.0),
        ("bit/s", 0.125),
        ("b/s", 0.125),
        ("Kbit/s", 125.0),
        ("kbit/s", 125.0),
        ("Kb/s", 125.0),
        ("Mbit/s", 125e3),
        ("Mb/s", 125e3),
        ("Gbit/s", 125e6),
        ("Gb/s", 125e6),
        ("Tbit/s", 125e9),
        ("Tb/s", 125e9),
    ],
};

const PER_BYTE: QuantityKind = QuantityKind {
    name: "time per byte",
    example: "\"0.08 ns/B\" or \"6 ns/B\"",
    units: &[("ps/B", 1.0), ("ns/B", 1e3), ("us/B", 1e6), ("µs/B", 1e6), ("μs/B", 1e6), ("ms/B", 1e9), ("s/B", 1e12)],
};

impl QuantityKind {
    /// Returns the message for a number without a unit.
    fn without_unit(&self, given: impl fmt::Display) -> String {
        format!("{given} has no unit; write a {} like {}", self.name, self.example)
    }

    /// Returns the value of `text` in the base unit of this kind. A number without a unit is multiplied by
    /// `bare`, if given.
    fn parse(&self, text: &str, bare: Option<f64>) -> Result<f64, QuantityError> {
        let text = text.trim();
        let fail = |message: String| QuantityError(message);
        let number_end = text
            .char_indices()
            .find(|&(i, c)| {
                !(c.is_ascii_digit()
                    || matches!(c, '.' | '_')
                    || (matches!(c, '+' | '-') && (i == 0 || text[..i].ends_with(['e', 'E'])))
                    || (matches!(c, 'e' | 'E')
                        && text[..i].ends_with(|d: char| d.is_ascii_digit() || d == '.')
                        && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+')))
            })
            .map_or(text.len(), |(i, _)| i);
        let (number, unit) = (text[..number_end].replace('_', ""), text[number_end..].trim());
        if number.is_empty() {
            return Err(fail(format!("\"{text}\" is not a {}; write {}", self.name, self.example)));
        }
        let value: f64 =
            number.parse().map_err(|_| fail(format!("\"{number}\" is not a number; write {}", self.example)))?;
        if !value.is_finite() || value.is_sign_negative() && value != 0.0 {
            return Err(fail(format!("a {} is finite and not negative, unlike \"{text}\"", self.name)));
        }
        let factor = match (unit, bare) {
            ("", Some(factor)) => factor,
            ("", None) => return Err(fail(self.without_unit(format_args!("\"{text}\"")))),
            _ => self
                .units
                .iter()
                .find(|(name, _)| *name == unit)
                .map(|(_, factor)| *factor)
                .ok_or_else(|| fail(format!("unknown {} unit \"{unit}\"; write {}", self.name, self.example)))?,
        };
        let value = value.abs() * factor;
        if !value.is_finite() {
            return Err(fail(format!("\"{text}\" is a larger {} than can be reckoned with", self.name)));
        }
        Ok(value)
    }
}

impl Bytes {
    fn from_value(value: f64, text: &str) -> Result<Self, QuantityError> {
        // (A product like 16.38 * 1000 is a rounding beside its whole number.)
        let whole = value.round();
        if (value - whole).abs() > whole * f64::EPSILON {
            return Err(QuantityError(format!("\"{text}\" is not a whole number of bytes")));
        }
        if whole > (1u64 << 53) as f64 {
            return Err(QuantityError(format!("\"{text}\" is more than 2^53 bytes, the largest size there is")));
        }
        Ok(Self(whole as u64))
    }

    /// Reads text in which a bare number means bytes, as in a CSV column named `bytes`.
    pub fn from_cell(text: &str) -> Result<Self, QuantityError> {
        Self::from_value(BYTES.parse(text, Some(1.0))?, text)
    }
}

impl Time {
    /// Reads text in which a bare number means seconds, as in a CSV column named `delay`.
    pub fn from_cell(text: &str) -> Result<Self, QuantityError> {
        TIME.parse(text, Some(1e12)).map(Self::from_ps)
    }
}

impl Bandwidth {
    /// Reads text in which a bare number means bytes per second, as in a CSV column named `bandwidth`.
    pub fn from_cell(text: &str) -> Result<Self, QuantityError> {
        BANDWIDTH.parse(text, Some(1.0)).map(Self::from_bytes_per_second)
    }
}

macro_rules! quantity_serde {
    ($type:ident, $kind:ident, $from:expr, $title:literal, $doc:literal) => {
        impl FromStr for $type {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                let from: fn(f64, &str) -> Result<Self, QuantityError> = $from;
                from($kind.parse(text, None)?, text)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "a {} with its unit, like {}", $kind.name, $kind.example)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$type, E> {
                        Err(E::custom($kind.without_unit(number)))
                    }
                    fn visit_f64<E: de::Error>(self, number: f64) -> Result<$type, E> {
                        Err(E::custom($kind.without_unit(number)))
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.exact())
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $title.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $doc, "pattern": r"^\s*[0-9]" })
            }
        }
    };
}

quantity_serde!(
    Time,
    TIME,
    |value, _| Ok(Self::from_ps(value)),
    "Time",
    "A time with its unit: ps, ns, us, ms, s, min, h; \"1.5 us\""
);
quantity_serde!(
    Bytes,
    BYTES,
    Self::from_value,
    "Size",
    "A size with its unit: B, KB (1000), KiB (1024), MB, MiB, ...; \"20 KB\""
);
quantity_serde!(
    PerByte,
    PER_BYTE,
    |value, _| Ok(Self::from_ps(value)),
    "TimePerByte",
    "A time per byte with its unit: ps/B, ns/B, us/B, s/B; \"0.08 ns/B\""
);
quantity_serde!(
    Bandwidth,
    BANDWIDTH,
    |value, _| Ok(Self::from_bytes_per_second(value)),
    "Bandwidth",
    "A bandwidth with its unit: B/s, GB/s, GiB/s, Gbit/s, ...; \"12.5 GB/s\""
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!("20 KB".parse(), Ok(Bytes(20_000)));
        assert_eq!("64KiB".parse(), Ok(Bytes(65_536)));
        // (As numbers of the processor, 16.38 * 1000 is less than 16,380.)
        assert_eq!(["16.38 KB", "1.001 KB"].map(str::parse), [Ok(Bytes(16_380)), Ok(Bytes(1001))]);
        assert_eq!("1.5 us".parse(), Ok(Time::from_ps(1.5e6)));
        assert_eq!("0 s".parse(), Ok(Time::ZERO));
        assert_eq!("100 Gbit/s".parse(), Ok(Bandwidth::from_bytes_per_second(12.5e9)));
        assert_eq!("1e9 B/s".parse(), Ok(Bandwidth::from_bytes_per_second(1e9)));
        assert_eq!(Bytes::from_cell("1e3"), Ok(Bytes(1000)));
        assert_eq!(Time::from_cell("2e-6"), Ok(Time::from_ps(2e6)));
    }

    #[test]
    fn a_mistake_says_what_to_write() {
        let error = |text: &str| text.parse::<Bandwidth>().unwrap_err().to_string();
        assert_eq!(error("4 GBs"), "unknown bandwidth unit \"GBs\"; write \"12.5 GB/s\" or \"100 Gbit/s\"");
        assert!(error("4").contains("has no unit"));
        assert!(error("fast").contains("is not a bandwidth"));
        assert!(error("-1 GB/s").contains("not negative"));
        assert!(error("1e999 GB/s").contains("finite"));
        assert!(error("1e308 GB/s").contains("larger"));
        assert!("16.3801 KB".parse::<Bytes>().is_err());
        assert!("0.5 B".parse::<Bytes>().unwrap_err().to_string().contains("whole number"));
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        for value in [0.0, 1.0, 1.5, 20_000.0, 1e9 / 3.0, 12.5e9] {
            let bandwidth = Bandwidth::from_bytes_per_second(value);
            assert_eq!(bandwidth.exact().parse(), Ok(bandwidth));
            assert_eq!(Time::from_ps(value).exact().parse(), Ok(Time::from_ps(value)));
        }
        for value in [0.0, 19.61, 6000.0, 1e3 / 7.0] {
            assert_eq!(PerByte::from_ps(value).exact().parse(), Ok(PerByte::from_ps(value)));
        }
        for bytes in [0, 1, 999, 1000, 20_000, 1 << 20, (1 << 53) - 1] {
            assert_eq!(Bytes(bytes).exact().parse(), Ok(Bytes(bytes)));
        }
    }
}
