//! Values of a key: a list, or a range.

use super::MOST_POINTS;
use crate::diagnostic::{Diagnostic, Span};
use crate::reading::tree::{Kind, Tree};
use crate::study::{Amount, Unit};
use crate::units::{Bytes, grouped};

/// Parses an amount of a plan, which may also be in per cent or have `_` between digits.
pub(super) fn amount_of(text: &str) -> Option<Amount> {
    let plain = text.trim().replace('_', "");
    match plain.strip_suffix('%') {
        Some(part) => part.trim().parse().ok().map(|value| Amount { value, unit: Unit::Percent }),
        None => Amount::read(&plain),
    }
}

/// Returns the amount of a value, if it is one.
pub(super) fn amount(tree: &Tree) -> Option<Amount> {
    match &tree.kind {
        Kind::Text(text) | Kind::Whole(text) | Kind::Decimal(text) => amount_of(text),
        _ => None,
    }
}

/// Converts an amount to a value of a scenario.
pub(super) fn written(amount: Amount, span: Span) -> Tree {
    let kind = match amount.unit {
        Unit::Whole if amount.value.fract() == 0.0 => Kind::Whole(amount.text()),
        Unit::Whole | Unit::Plain => Kind::Decimal(format!("{:?}", amount.value)),
        _ => Kind::Text(amount.text()),
    };
    Tree { span, kind }
}

/// Returns the normal form of a value, the same for all ways to write it: `20 KB` is `20000 B`.
pub(super) fn normal(tree: &Tree) -> String {
    match (&tree.kind, amount(tree)) {
        (_, Some(Amount { value, unit })) if unit.is_none() => format!("{value}"),
        (_, Some(Amount { value, unit })) => format!("{value} {unit:?}"),
        (Kind::Text(text), None) => format!("{text:?}"),
        _ => json(tree).to_string(),
    }
}

/// Converts a value to JSON, as written in the plan.
pub(super) fn json(tree: &Tree) -> serde_json::Value {
    match &tree.kind {
        Kind::Text(text) | Kind::Date(text) => text.as_str().into(),
        Kind::Whole(text) | Kind::Decimal(text) => {
            let plain = text.replace('_', "");
            serde_json::from_str(plain.trim_start_matches('+')).unwrap_or_else(|_| text.as_str().into())
        }
        Kind::Truth(value) => (*value).into(),
        Kind::List(items) => items.iter().map(json).collect(),
        Kind::Table(table) => table.iter().map(|(key, entry)| (key.clone(), json(&entry.value))).collect(),
    }
}

/// Values of a key.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// Values one after another.
    Listed(Vec<Tree>),
    /// Range from a first value on, by steps or by a factor.
    Range(Range),
}

/// Range `1 KiB..1 GiB:x2`. Both ends belong to it, and the steps lead from one to the other.
#[derive(Clone, Debug)]
pub(super) struct Range {
    first: Amount,
    stride: Stride,
    count: u64,
    span: Span,
}

#[derive(Clone, Copy, Debug)]
enum Stride {
    Step(f64),
    Factor(f64),
}

/// Largest number of values of a range.
const MAX_VALUES: f64 = 1e15;
/// Tolerance for rounding of the last value of a range, relative to its end.
const ROUNDING: f64 = 1e-9;

impl Range {
    /// Parses a range; returns `None` if the text is not a range, but a text like any other.
    pub fn of(text: &str, span: Span) -> Option<Result<Self, Diagnostic>> {
        let (first, rest) = text.split_once("..")?;
        let first_number = amount_of(first)?;
        let (last, stride) = rest.strip_prefix('=').unwrap_or(rest).split_once(':').map_or_else(
            || (rest.strip_prefix('=').unwrap_or(rest), None),
            |(last, stride)| (last, Some(stride.trim())),
        );
        let wrong = |message: String, help: &str| {
            let diagnostic = Diagnostic::new("wrong-value", message).at(span);
            Some(Err(diagnostic.help(help.to_owned())))
        };
        const FORMS: &str = "write \"1..=1000\", \"8..=128:8\" (steps), \"1 KiB..1 GiB:x2\" (factors), or a list";
        let Some(last_number) = amount_of(last) else {
            return wrong(format!("\"{}\" is not the end of a range", last.trim()), FORMS);
        };
        let unit = match (first_number.unit, last_number.unit) {
            (a, b) if a == b => a,
            (Unit::Whole | Unit::Plain, Unit::Whole | Unit::Plain) => Unit::Plain,
            // `1..8 KB`: the unit applies to both ends.
            _ => return wrong(format!("the ends of \"{text}\" are not of the same unit"), FORMS),
        };
        let (low, high) = (first_number.value, last_number.value);
        if low > high {
            return wrong(format!("\"{text}\" is empty: it ends before it begins"), "write the smaller one first");
        }
        let (stride, unit) = match stride {
            None if unit == Unit::Whole => (Stride::Step(1.0), unit),
            None => return wrong(format!("\"{text}\" has no step"), FORMS),
            Some(text) => match text.strip_prefix('x') {
                Some(factor) => {
                    let factor: f64 = factor.trim().parse().unwrap_or(f64::NAN);
                    if !(factor > 1.0 && factor.is_finite() && low > 0.0) {
                        let message = format!("a range by the factor \"{}\" from {low} on does not go on", &text[1..]);
                        return wrong(message, "a factor above 1 and a first value above 0 are expected");
                    }
                    let whole = unit != Unit::Whole || factor.fract() == 0.0;
                    (Stride::Factor(factor), if whole { unit } else { Unit::Plain })
                }
                None => match amount_of(text) {
                    Some(step) if step.value > 0.0 && (step.unit == unit || step.is_like(first_number)) => {
                        (Stride::Step(step.value), if step.unit == Unit::Plain { Unit::Plain } else { unit })
                    }
                    _ => return wrong(format!("\"{text}\" is not a step of this range"), FORMS),
                },
            },
        };
        // A last step that is slightly too long by rounding still counts.
        let room = 1.0 + 1e-12;
        let count = match stride {
            Stride::Step(step) if unit == Unit::Whole => ((high - low) / step).floor() + 1.0,
            Stride::Step(step) => ((high - low) / step * room).floor() + 1.0,
            Stride::Factor(factor) => {
                let (mut at, mut count, mut before) = (low, 0.0, -1.0);
                while at <= high * room {
                    if count > MOST_POINTS as f64 {
                        let most = grouped(MOST_POINTS);
                        let message = format!("\"{text}\" has more values than the {most} points of a plan");
                        return wrong(message, "take a larger factor");
                    }
                    if unit == Unit::Bytes && at.round() == before {
                        let message = format!("\"{text}\" holds {} more than once", Bytes(before as u64).exact());
                        return wrong(message, "take a larger factor: values of less than a byte apart are the same");
                    }
                    before = at.round();
                    at *= factor;
                    count += 1.0;
                }
                count
            }
        };
        if count > MAX_VALUES {
            return wrong(format!("\"{text}\" has more values than can be counted"), "take a longer step");
        }
        let in_words = |amount: Amount| match amount.unit {
            Unit::Plain => format!("{:?}", amount.value),
            _ => amount.text(),
        };
        let range = Self { first: Amount { value: low, unit }, stride, count: count as u64, span };
        let [last, next] = [range.count - 1, range.count].map(|i| range.number(i));
        if (last.value - high).abs() > ROUNDING * high.abs() {
            let message = format!("\"{text}\" misses its end: {}, and then {}", in_words(last), in_words(next));
            let how = rest.split_once(':').map_or_else(String::new, |(_, how)| format!(":{}", how.trim()));
            let ends = if range.count > 1 { vec![last, next] } else { vec![next] };
            let ranges = ends.iter().map(|end| format!("\"{}..{}{how}\"", first.trim(), in_words(*end)));
            return wrong(message, &format!("write {}", ranges.collect::<Vec<_>>().join(" or ")));
        }
        Some(Ok(range))
    }

    fn number(&self, i: u64) -> Amount {
        let value = match self.stride {
            Stride::Step(step) => self.first.value + i as f64 * step,
            Stride::Factor(factor) => (0..i).fold(self.first.value, |value, _| value * factor),
        };
        Amount { value: if self.first.unit == Unit::Bytes { value.round() } else { value }, ..self.first }
    }
}

impl Values {
    /// Returns the number of values.
    pub fn len(&self) -> u64 {
        match self {
            Self::Listed(values) => values.len() as u64,
            Self::Range(range) => range.count,
        }
    }

    /// Returns the value with this number.
    pub fn value(&self, i: u64) -> Tree {
        match self {
            Self::Listed(values) => values[i as usize].clone(),
            Self::Range(range) => written(range.number(i), range.span),
        }
    }

    /// Returns the values of a list.
    pub fn listed(&self) -> Option<&Vec<Tree>> {
        match self {
            Self::Listed(values) => Some(values),
            Self::Range(_) => None,
        }
    }

    /// Reads the values of a key.
    pub fn of(value: &Tree) -> Result<Self, Diagnostic> {
        match &value.kind {
            Kind::List(items) if items.is_empty() => {
                let diagnostic = Diagnostic::new("empty-grid", "a list without values leaves no point").at(value.span);
                Err(diagnostic.label("empty").help("leave the key out, or write the values that it takes"))
            }
            Kind::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    match item.text().and_then(|text| Range::of(text, item.span)) {
                        // A range in a list is expanded.
                        Some(range) => {
                            let range = range?;
                            if range.count > 1_000_000 {
                                let message = "this range has too many values to stand in a list";
                                return Err(Diagnostic::new("too-many-points", message).at(item.span));
                            }
                            let range = Self::Range(range);
                            values.extend((0..range.len()).map(|i| range.value(i)));
                        }
                        None => values.push(item.clone()),
                    }
                }
                Ok(Self::Listed(values))
            }
            Kind::Text(text) => match Range::of(text, value.span) {
                Some(range) => range.map(Self::Range),
                None => Ok(Self::Listed(vec![value.clone()])),
            },
            _ => Ok(Self::Listed(vec![value.clone()])),
        }
    }

    /// Returns the numbers of the values that show the kind of all: every value of a list, the ends of a
    /// range.
    pub fn representatives(&self) -> impl Iterator<Item = u64> {
        let last = self.len() - 1;
        let step = match self {
            Self::Listed(_) => 1,
            Self::Range(_) => last.max(1),
        };
        (0..=last).step_by(step as usize)
    }

    /// Returns the numbers of the values that are checked before anything runs: all of a short list, the ends
    /// of a range.
    pub fn checked_numbers(&self) -> Vec<u64> {
        let most = self.len();
        match self {
            Self::Listed(_) => (0..most.min(1000)).collect(),
            Self::Range(_) => vec![0, most - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let tree = Tree { span: Span::new(0, text.len()), kind: Kind::Text(text.to_owned()) };
        let values = Values::of(&tree).unwrap_or_else(|error| panic!("{text}: {}", error.message));
        (0..values.len()).map(|i| json(&values.value(i)).to_string()).collect()
    }

    #[test]
    fn ranges_go_in_steps_and_by_factors_and_hold_both_ends() {
        assert_eq!(all("1..=5"), ["1", "2", "3", "4", "5"]);
        assert_eq!(all("8..=32:8"), ["8", "16", "24", "32"]);
        assert_eq!(all("1..9:x3"), ["1", "3", "9"]);
        assert_eq!(all("1..=2:0.1").len(), 11);
        assert_eq!(all("1 KB..8 KB:x2"), [r#""1 KB""#, r#""2 KB""#, r#""4 KB""#, r#""8 KB""#]);
        assert_eq!(all("1 KiB..3 KiB:1 KiB"), [r#""1024 B""#, r#""2048 B""#, r#""3072 B""#]);
        assert_eq!(all("0.1..=0.3:0.1").len(), 3);
        assert_eq!(all("5 us..20 us:x2"), [r#""5 us""#, r#""10 us""#, r#""20 us""#]);
        assert_eq!(all("7..=7"), ["7"]);
        // Not ranges: a path, a name.
        assert_eq!(all("../x.csv"), [r#""../x.csv""#]);
        assert_eq!(all("torus-4x4"), [r#""torus-4x4""#]);
    }

    #[test]
    fn a_range_that_leads_nowhere_is_refused() {
        let mistakes = ["5..=1", "1 KB..1 GB", "1 KB..1 s:x2", "0..=8:x2", "1..=8:x1", "1..=8:0", "1..=8:-1", "1..=z"];
        for text in mistakes {
            assert!(Range::of(text, Span::new(0, 1)).unwrap().is_err(), "{text}");
        }
        let is = |text: &str, expected: &str| {
            let mistake = Range::of(text, Span::new(0, 1)).unwrap().unwrap_err();
            assert_eq!(format!("{}; {}", mistake.message, mistake.help.unwrap()), expected);
        };
        is(
            "64 B..16 MB:x4",
            "\"64 B..16 MB:x4\" misses its end: 4194304 B, and then 16777216 B; \
             write \"64 B..4194304 B:x4\" or \"64 B..16777216 B:x4\"",
        );
        is("1..=8:2", "\"1..=8:2\" misses its end: 7, and then 9; write \"1..7:2\" or \"1..9:2\"");
        is("1 KB..1.5 KB:x2", "\"1 KB..1.5 KB:x2\" misses its end: 1 KB, and then 2 KB; write \"1 KB..2 KB:x2\"");
        // Refused before counting, or once values of less than a byte are seen.
        is(
            "1 us..1 s:x1.000000001",
            "\"1 us..1 s:x1.000000001\" has more values than the 10,000,000 points of a plan; take a larger factor",
        );
        is(
            "1 B..1 KB:x1.1",
            "\"1 B..1 KB:x1.1\" holds 1 B more than once; \
             take a larger factor: values of less than a byte apart are the same",
        );
        // Counted, not expanded.
        assert_eq!(Range::of("1..=1000000000000", Span::new(0, 1)).unwrap().unwrap().count, 1_000_000_000_000);
    }

    #[test]
    fn one_value_has_one_form_however_it_is_written() {
        let normal = |text: &str| super::normal(&Tree { span: Span::new(0, 0), kind: Kind::Text(text.to_owned()) });
        assert_eq!(normal("20 KB"), normal("20000 B"));
        assert_eq!(normal("1 Gbit/s"), normal("125 MB/s"));
        assert_ne!(normal("1 KB"), normal("1 KiB"));
        assert_ne!(normal("1 s"), normal("1 B"));
        assert_eq!(normal("ring"), "\"ring\"");
    }
}
