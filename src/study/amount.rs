//! Numbers with any of the units of scenarios.

use crate::units::{Bandwidth, Bytes, PerByte, Time};

/// Unit of an amount, and the base in which its value is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// No unit: whole numbers.
    Whole,
    /// No unit: any other number.
    Plain,
    /// Per cent.
    Percent,
    /// Size \[B\].
    Bytes,
    /// Time \[ps\].
    Time,
    /// Bandwidth \[B/s\].
    Bandwidth,
    /// Time per byte \[ps/B\].
    PerByte,
}

impl Unit {
    /// Returns true for a time or a time per byte.
    pub(super) fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::PerByte)
    }

    /// Returns true if there is no unit.
    pub fn is_none(self) -> bool {
        matches!(self, Self::Whole | Self::Plain)
    }

    /// Returns the name of the base unit for people, and its suffix for names of columns.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Whole | Self::Plain => ("", ""),
            Self::Percent => ("%", "_percent"),
            Self::Bytes => ("B", "_bytes"),
            Self::Time => ("s", "_s"),
            Self::Bandwidth => ("B/s", "_bytes_per_s"),
            Self::PerByte => ("s/B", "_s_per_byte"),
        }
    }
}

/// Number, or quantity with one of the units of scenarios.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Amount {
    /// Number in its unit.
    pub value: f64,
    /// Unit of the value.
    pub unit: Unit,
}

impl Amount {
    /// Creates an amount without a unit.
    pub fn number(value: f64) -> Self {
        Self { value, unit: Unit::Plain }
    }

    /// Parses a number or quantity; returns `None` if the text is neither.
    pub fn read(text: &str) -> Option<Self> {
        let whole = || text.parse::<i64>().ok().map(|whole| (whole as f64, Unit::Whole));
        let plain = || text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|plain| (plain, Unit::Plain));
        let size = || text.parse::<Bytes>().ok().map(|size| (size.0 as f64, Unit::Bytes));
        let time = || text.parse::<Time>().ok().map(|time| (time.ps(), Unit::Time));
        let per_byte = || text.parse::<PerByte>().ok().map(|gap| (gap.ps(), Unit::PerByte));
        let bandwidth = || text.parse::<Bandwidth>().ok().map(|rate| (rate.bytes_per_second(), Unit::Bandwidth));
        let read = whole().or_else(plain).or_else(size).or_else(time).or_else(per_byte).or_else(bandwidth);
        read.map(|(value, unit)| Self { value, unit })
    }

    /// Returns an amount with another value and the same unit; sizes are rounded to whole bytes.
    #[must_use]
    pub fn with(self, value: f64) -> Self {
        match self.unit {
            Unit::Whole => Self::number(value),
            Unit::Bytes => Self { value: value.floor(), ..self },
            _ => Self { value, ..self },
        }
    }

    /// Returns true if both have the same kind of unit.
    pub fn is_like(self, other: Self) -> bool {
        self.unit == other.unit || self.unit.is_none() && other.unit.is_none()
    }

    /// Returns the value in base units \[1, %, B, s, s/B, B/s\].
    pub fn base(self) -> f64 {
        if self.unit.is_time() { Time::from_ps(self.value).seconds() } else { self.value }
    }

    /// Formats the amount for people; the text still parses to the same amount.
    pub fn shown(self) -> String {
        let shown = match self.unit {
            Unit::Time => Time::from_ps(self.value).to_string(),
            Unit::PerByte => PerByte::from_ps(self.value).to_string(),
            Unit::Bandwidth => Bandwidth::from_bytes_per_second(self.value).to_string(),
            _ => return self.text(),
        };
        if Self::read(&shown) == Some(self) { shown } else { self.text() }
    }

    /// Formats the amount for files, exact to the last bit.
    pub fn text(self) -> String {
        match self.unit {
            Unit::Whole | Unit::Plain => self.value.to_string(),
            Unit::Percent => format!("{} %", self.value),
            Unit::Bytes => Bytes(self.value as u64).exact(),
            Unit::Time => Time::from_ps(self.value).exact(),
            Unit::PerByte => PerByte::from_ps(self.value).exact(),
            Unit::Bandwidth => Bandwidth::from_bytes_per_second(self.value).exact(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_quantity_is_read_and_written_back() {
        let amount = |value, unit| Amount { value, unit };
        let texts = [
            ("64", amount(64.0, Unit::Whole)),
            ("0.5", amount(0.5, Unit::Plain)),
            ("4 KiB", amount(4096.0, Unit::Bytes)),
            ("850 ns", amount(850e3, Unit::Time)),
            ("5.02 ns/B", amount(5020.0, Unit::PerByte)),
            ("12.5 GB/s", amount(12.5e9, Unit::Bandwidth)),
        ];
        for (text, amount) in texts {
            assert_eq!(Amount::read(text), Some(amount), "{text}");
            assert_eq!(Amount::read(&amount.text()), Some(amount), "{text}");
            assert_eq!(Amount::read(&amount.shown()), Some(amount), "{text}");
        }
        assert_eq!(amount(15_170.0, Unit::PerByte).shown(), "15.17 ns/B");
        for text in ["", "ring", "nan", "1 parsec"] {
            assert_eq!(Amount::read(text), None, "{text}");
        }
        assert_eq!(amount(3.0, Unit::Bytes).with(1.5).text(), "1 B");
    }
}
