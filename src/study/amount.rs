//! Numbers with whatever unit they have.

use crate::units::{Bandwidth, Bytes, PerByte, Time};

/// What an amount is of, and the unit that its value is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Nothing: whole numbers.
    Whole,
    /// Nothing: any other number.
    Plain,
    /// Per cent.
    Percent,
    /// A size \[B\].
    Bytes,
    /// A time \[ps\].
    Time,
    /// A bandwidth \[B/s\].
    Bandwidth,
    /// A time per byte \[ps/B\].
    PerByte,
}

impl Unit {
    /// True if it is a time, or a time per byte.
    pub(super) fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::PerByte)
    }

    /// True if it is none.
    pub fn is_none(self) -> bool {
        matches!(self, Self::Whole | Self::Plain)
    }

    /// Returns the base unit, for people and for names of columns.
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

/// A number, or a quantity of one of the kinds that scenarios have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Amount {
    /// The number in its unit.
    pub value: f64,
    /// What it is of.
    pub unit: Unit,
}

impl Amount {
    /// An amount without a unit.
    pub fn number(value: f64) -> Self {
        Self { value, unit: Unit::Plain }
    }

    /// The number or quantity that a text is, if it is one.
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

    /// Another number of the same kind; sizes are whole.
    #[must_use]
    pub fn with(self, value: f64) -> Self {
        match self.unit {
            Unit::Whole => Self::number(value),
            Unit::Bytes => Self { value: value.floor(), ..self },
            _ => Self { value, ..self },
        }
    }

    /// Whether both have the same kind of unit.
    pub fn is_like(self, other: Self) -> bool {
        self.unit == other.unit || self.unit.is_none() && other.unit.is_none()
    }

    /// In base units \[1, %, B, s, s/B, B/s\].
    pub fn base(self) -> f64 {
        if self.unit.is_time() { Time::from_ps(self.value).seconds() } else { self.value }
    }

    /// For people, and yet what reads back as the same.
    pub fn shown(self) -> String {
        let shown = match self.unit {
            Unit::Time => Time::from_ps(self.value).to_string(),
            Unit::PerByte => PerByte::from_ps(self.value).to_string(),
            Unit::Bandwidth => Bandwidth::from_bytes_per_second(self.value).to_string(),
            _ => return self.text(),
        };
        if Self::read(&shown) == Some(self) { shown } else { self.text() }
    }

    /// As files have it, to the last bit.
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
