//! Numbers with whatever unit they have.

use crate::units::{Bandwidth, Bytes, PerByte, Time};

/// A number, or a quantity of one of the kinds that scenarios have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Amount {
    /// Without a unit.
    Number(f64),
    /// A size \[B\].
    Size(f64),
    /// A time \[ps\].
    Time(f64),
    /// A time per byte \[ps/B\].
    PerByte(f64),
    /// A bandwidth \[B/s\].
    Bandwidth(f64),
}

impl Amount {
    /// The number or quantity that a text is, if it is one.
    pub fn read(text: &str) -> Option<Self> {
        let number = || text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Self::Number);
        let size = || text.parse::<Bytes>().ok().map(|size| Self::Size(size.0 as f64));
        let time = || text.parse::<Time>().ok().map(|time| Self::Time(time.ps()));
        let per_byte = || text.parse::<PerByte>().ok().map(|gap| Self::PerByte(gap.ps()));
        let bandwidth = || text.parse::<Bandwidth>().ok().map(|rate| Self::Bandwidth(rate.bytes_per_second()));
        number().or_else(size).or_else(time).or_else(per_byte).or_else(bandwidth)
    }

    /// The number alone, in the unit of its kind.
    pub fn raw(self) -> f64 {
        match self {
            Self::Number(x) | Self::Size(x) | Self::Time(x) | Self::PerByte(x) | Self::Bandwidth(x) => x,
        }
    }

    /// Another number of the same kind; sizes are whole.
    #[must_use]
    pub fn with(self, raw: f64) -> Self {
        match self {
            Self::Number(_) => Self::Number(raw),
            Self::Size(_) => Self::Size(raw.floor()),
            Self::Time(_) => Self::Time(raw),
            Self::PerByte(_) => Self::PerByte(raw),
            Self::Bandwidth(_) => Self::Bandwidth(raw),
        }
    }

    /// Whether both have the same kind of unit.
    pub fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// In base units \[1, B, s, s/B, B/s\].
    pub fn base(self) -> f64 {
        match self {
            Self::Number(x) | Self::Size(x) | Self::Bandwidth(x) => x,
            Self::Time(x) => Time::from_ps(x).seconds(),
            Self::PerByte(x) => Time::from_ps(x).seconds(),
        }
    }

    /// For people, and yet what reads back as the same.
    pub fn shown(self) -> String {
        let shown = match self {
            Self::Number(_) | Self::Size(_) => self.text(),
            Self::Time(x) => Time::from_ps(x).to_string(),
            Self::PerByte(x) => PerByte::from_ps(x).to_string(),
            Self::Bandwidth(x) => Bandwidth::from_bytes_per_second(x).to_string(),
        };
        if Self::read(&shown) == Some(self) { shown } else { self.text() }
    }

    /// As files have it, to the last bit.
    pub fn text(self) -> String {
        match self {
            Self::Number(x) => x.to_string(),
            Self::Size(x) => Bytes(x as u64).exact(),
            Self::Time(x) => Time::from_ps(x).exact(),
            Self::PerByte(x) => PerByte::from_ps(x).exact(),
            Self::Bandwidth(x) => Bandwidth::from_bytes_per_second(x).exact(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_quantity_is_read_and_written_back() {
        let texts = [
            ("0.5", Amount::Number(0.5)),
            ("4 KiB", Amount::Size(4096.0)),
            ("850 ns", Amount::Time(850e3)),
            ("5.02 ns/B", Amount::PerByte(5020.0)),
            ("12.5 GB/s", Amount::Bandwidth(12.5e9)),
        ];
        for (text, amount) in texts {
            assert_eq!(Amount::read(text), Some(amount), "{text}");
            assert_eq!(Amount::read(&amount.text()), Some(amount), "{text}");
            assert_eq!(Amount::read(&amount.shown()), Some(amount), "{text}");
        }
        assert_eq!(Amount::PerByte(15_170.0).shown(), "15.17 ns/B");
        for text in ["", "ring", "nan", "1 parsec"] {
            assert_eq!(Amount::read(text), None, "{text}");
        }
        assert_eq!(Amount::Size(3.0).with(1.5).text(), "1 B");
    }
}
