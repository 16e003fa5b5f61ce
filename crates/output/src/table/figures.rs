//! Numbers in readable form: grouped digits, a common unit for all columns of a quantity, ratios.

pub use hayase::columns::Quantity;
use hayase::units::{Bandwidth, Time};

const TIMES: &[(&str, f64)] = &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)];
const BYTES: &[(&str, f64)] = &[("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];
const BANDWIDTHS: &[(&str, f64)] = &[("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3), ("B/s", 1.0)];
const RATES: &[(&str, f64)] = &[("G/s", 1e9), ("M/s", 1e6), ("k/s", 1e3), ("1/s", 1.0)];
const PARTS: &[(&str, f64)] = &[("%", 1e-2)];

/// Returns the units of a quantity, the largest first, each with its size in the base unit.
fn units(quantity: Quantity) -> &'static [(&'static str, f64)] {
    match quantity {
        Quantity::Time | Quantity::RunTime => TIMES,
        Quantity::Bytes => BYTES,
        Quantity::Bandwidth => BANDWIDTHS,
        Quantity::Rate => RATES,
        Quantity::Part | Quantity::Change => PARTS,
    }
}

/// Returns the fewest decimals of a column of a quantity.
fn decimals(quantity: Quantity) -> usize {
    match quantity {
        Quantity::Rate | Quantity::Part | Quantity::Change => 1,
        _ => 3,
    }
}

/// Unit of many figures of a quantity, chosen so that they can be compared at a glance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    /// Name of the unit, for the heading.
    pub unit: &'static str,
    factor: f64,
}

impl Scale {
    /// Chooses the largest unit in which the largest value is at least 1; the base unit if all values are 0.
    pub fn of(quantity: Quantity, values: impl IntoIterator<Item = f64>) -> Self {
        let units = units(quantity);
        let largest = largest(values);
        let fits = |(_, factor): &&(&str, f64)| largest >= *factor * 0.9995;
        let base = |(_, factor): &&(&str, f64)| largest == 0.0 && *factor == 1.0;
        let none = units.iter().find(base).or(units.last());
        let (unit, factor) = units.iter().find(fits).or(none).copied().unwrap_or(("", 1.0));
        Self { unit, factor }
    }

    /// Returns the format of the figures of a column in this unit.
    ///
    /// All have the same number of decimals, at least the usual number for the quantity. The largest figure
    /// keeps three digits. The smallest nonzero figure keeps three too, as long as the largest has no more
    /// than five.
    pub fn column(self, quantity: Quantity, values: impl IntoIterator<Item = f64>) -> Style {
        let decimals = decimals(quantity);
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.into_iter().map(|value| (value / self.factor).abs()) {
            if value.is_finite() && value > 0.0 {
                (least, most) = (least.min(value), most.max(value));
            }
        }
        // Decimals that show a value with `digits` digits; none if it has enough before the point.
        let digits = |value, digits: usize| (digits + MOST_DECIMALS).saturating_sub(integer_digits(value));
        let decimals = match quantity {
            _ if most == 0.0 => decimals,
            Quantity::Time | Quantity::Bandwidth => {
                let enough = digits(least, 3).min(digits(most, 5)).max(digits(most, 3));
                enough.clamp(decimals, MOST_DECIMALS)
            }
            Quantity::RunTime | Quantity::Bytes => digits(most, 3).clamp(decimals, MOST_DECIMALS),
            Quantity::Rate => digits(least, 3).min(digits(most, 5)).max(decimals),
            Quantity::Part | Quantity::Change => decimals,
        };
        Style { quantity, factor: self.factor, decimals }
    }
}

/// Returns the digits before the point plus [`MOST_DECIMALS`]; zeros behind the point lower the result.
fn integer_digits(value: f64) -> usize {
    let (mut digits, mut power) = (MOST_DECIMALS, 1.0);
    while value >= power * 0.9995 && digits < 2 * MOST_DECIMALS {
        power *= 10.0;
        digits += 1;
    }
    let mut power = 0.1;
    while value < power * 0.9995 && digits > 0 {
        power /= 10.0;
        digits -= 1;
    }
    digits
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(f64::abs).filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// Largest number of decimals of a column: enough for picoseconds beside a second.
const MOST_DECIMALS: usize = 12;
/// Value from which digits carry no information.
const HUGE: f64 = 1e15;

/// Format of the figures of one column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Style {
    quantity: Quantity,
    factor: f64,
    decimals: usize,
}

impl Style {
    /// Formats a figure without its unit; `<0.001` if a nonzero figure would appear as zero.
    pub fn show(self, value: f64) -> String {
        let scaled = value / self.factor;
        let text = fixed(scaled, self.decimals);
        let is_zero = |text: &str| text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
        let signed = self.quantity == Quantity::Change;
        match () {
            () if !scaled.is_finite() => text,
            () if scaled.abs() >= HUGE => format!("{scaled:.3e}"),
            () if !is_zero(&text) && signed && scaled > 0.0 => format!("+{text}"),
            () if !is_zero(&text) => text,
            () if value == 0.0 || matches!(self.quantity, Quantity::Part | Quantity::Change | Quantity::Rate) => {
                fixed(0.0, self.decimals)
            }
            () => format!("<{:.*}1", self.decimals.saturating_sub(1), 0.0),
        }
    }
}

/// Formats a number with `decimals` decimals; `-` for NaN, `inf` for infinity.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        "-".into()
    } else if value.is_infinite() {
        "inf".into()
    } else {
        format!("{value:.decimals$}")
    }
}

pub use hayase::units::{count, grouped};

/// Formats a fraction in percent with two digits: `3.2 %`, `140 %`.
pub fn percent(part: f64) -> String {
    let percent = part * 100.0;
    let decimals = if percent >= 9.95 { 0 } else { 1 };
    format!("{} %", fixed(percent, decimals))
}

/// Formats a rate per second with three digits: `127 k/s`, `54.3 /s`.
pub fn rate(per_second: f64) -> String {
    let text = counted(per_second);
    // A prefix stands before `/s` without a blank, a plain number with one.
    if text.ends_with(|c: char| c.is_ascii_digit()) { format!("{text} /s") } else { format!("{text}/s") }
}

/// Formats a rate of events per second: `127 k messages/s`.
pub fn rate_of(per_second: f64, what: &str) -> String {
    format!("{} {what}/s", counted(per_second))
}

/// Formats a large number with three digits: `127 k`, `11.9 M`; small numbers stay unchanged.
pub fn counted(value: f64) -> String {
    if !value.is_finite() {
        return fixed(value, 0);
    }
    let (prefix, factor) = match value.abs() {
        x if x >= 999.5e6 => (" G", 1e9),
        x if x >= 999.5e3 => (" M", 1e6),
        x if x >= 999.5 => (" k", 1e3),
        _ => ("", 1.0),
    };
    let scaled = value / factor;
    let decimals = match scaled.abs() {
        x if x >= 99.95 || (factor == 1.0 && x.fract() == 0.0) => 0,
        x if x >= 9.995 => 1,
        _ => 2,
    };
    let text = fixed(scaled, decimals);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{prefix}")
}

/// Formats a time \[s\] with a fitting unit.
pub fn seconds(value: f64) -> String {
    if value.is_finite() { Time::from_seconds(value).to_string() } else { fixed(value, 0) }
}

/// Formats a bandwidth \[B/s\] with a fitting unit.
pub fn bandwidth(value: f64) -> String {
    if value.is_finite() { Bandwidth::from_bytes_per_second(value).to_string() } else { fixed(value, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_unit_of_its_largest_number() {
        let scale = |quantity, values: &[f64]| Scale::of(quantity, values.iter().copied());
        let times = [20e-6, 0.0691];
        let time = scale(Quantity::Time, &times);
        let style = time.column(Quantity::Time, times);
        assert_eq!((time.unit, style.show(20e-6), style.show(0.0691)), ("ms", "0.020".into(), "69.100".into()));
        assert_eq!(scale(Quantity::Time, &[0.0]).unit, "s");
        assert_eq!(scale(Quantity::Bytes, &[1.0]).unit, "B");
        assert_eq!(scale(Quantity::Bandwidth, &[f64::INFINITY, 2e9]).unit, "GB/s");
        assert_eq!(scale(Quantity::Part, &[0.5]).unit, "%");
        assert_eq!(scale(Quantity::Rate, &[127_031.0]).unit, "k/s");
    }

    #[test]
    fn a_figure_that_is_something_never_looks_like_nothing() {
        let second = Scale::of(Quantity::Time, [1.0]);
        let show = |values: &[f64]| {
            let style = second.column(Quantity::Time, values.iter().copied());
            values.iter().map(|&value| style.show(value)).collect::<Vec<_>>()
        };
        assert_eq!(show(&[1e6, 1.0, 1e-12, 0.0]), ["1000000.000", "1.000", "<0.001", "0.000"]);
        // A column of small figures keeps its digits in the common unit.
        assert_eq!(show(&[0.00106, 0.0012]), ["0.00106", "0.00120"]);
        assert_eq!(show(&[1e-12, 0.0]), ["0.000000000001", "0.000000000000"]);
        // A large figure does not take digits from a small one.
        assert_eq!(show(&[0.0691, 1.293]), ["0.0691", "1.2930"]);
        assert_eq!(show(&[0.000_069_1, 1.293]), ["0.0001", "1.2930"]);
        assert_eq!(show(&[f64::INFINITY, f64::NAN, 1e300]), ["inf", "-", "1.000e300"]);
    }

    #[test]
    fn changes_have_a_sign_unless_they_are_none() {
        let changes = [0.032, -0.84, 0.0, -0.0001, 1e-9];
        let style = Scale::of(Quantity::Change, changes).column(Quantity::Change, changes);
        assert_eq!(changes.map(|change| style.show(change)), ["+3.2", "-84.0", "0.0", "0.0", "0.0"]);
    }

    #[test]
    fn rates_have_three_digits_and_a_prefix() {
        let of = [127_031.0, 999.4, 999.6, 54.321, 0.5, 0.0, 11_940_480.0, 2e9, 1e13];
        let shown = of.map(rate);
        assert_eq!(
            shown,
            ["127 k/s", "999 /s", "1 k/s", "54.3 /s", "0.5 /s", "0 /s", "11.9 M/s", "2 G/s", "10000 G/s"]
        );
        assert_eq!(rate_of(127_031.0, "messages"), "127 k messages/s");
        assert_eq!(counted(4032.0), "4.03 k");
        assert_eq!(counted(17.0), "17");
        assert_eq!(rate(f64::NAN), "-/s");
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
