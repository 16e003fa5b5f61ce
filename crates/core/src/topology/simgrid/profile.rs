//! Profiles: properties of a link over time.

use std::ops::Range;

use crate::diagnostic::Span;
use crate::units::Time;

/// Property of a link that changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChangingProperty {
    /// Bandwidth \[B/s\].
    Bandwidth,
    /// Latency \[s\].
    Latency,
    /// State: on if the value is above 0, else off.
    State,
}

/// Values from given times on, in order of time. Before the first one the values of the platform hold.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Timetable {
    /// Start time, and the value from then on.
    pub entries: Vec<(Time, f64)>,
    /// Time after which all entries repeat, if they do.
    pub period: Option<Time>,
}

/// Timetable of a link.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    /// Number of the link in the platform.
    pub link: u32,
    pub subject: ChangingProperty,
    pub table: Timetable,
    /// Place of the profile in the document.
    pub span: Span,
}

const EXPECTED: &str =
    "expected a time and a value, like \"11.0 0.5\" (seconds), PERIODICITY or LOOPAFTER with seconds";

/// Parses a text of lines `time value`, with comments after `#` or `%`.
///
/// `PERIODICITY p` repeats the entries with period p, `LOOPAFTER d` starts again d after the last time;
/// `period` is the period given by an attribute.
///
/// # Errors
/// Returns the first line that is none of these, and what was expected.
pub(super) fn timetable(text: &str, period: Option<f64>) -> Result<Timetable, (Range<usize>, &'static str)> {
    let mut entries: Vec<(Time, f64)> = Vec::new();
    let (mut every, mut after) = (period.filter(|&period| period > 0.0), None);
    let mut start = 0;
    let mut end = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim();
        let from = start + whole.len() - whole.trim_start().len();
        start += whole.len();
        if line.is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let at = from..from + line.len();
        end = at.end;
        let mut words = line.split_ascii_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let number = |text: Option<&str>| {
            text.and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite() && *number >= 0.0)
        };
        // (A link is off unless its state is above 0.)
        let value =
            |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok()).filter(|value| value.is_finite());
        let wrong = |expected| Err((at.clone(), expected));
        match first {
            "STOCHASTIC" => {
                return wrong("expected a profile whose times and values are given: drawn ones are not supported");
            }
            "PERIODICITY" | "LOOPAFTER" => match number(second) {
                Some(value) if first == "PERIODICITY" => every = Some(value).filter(|&value| value > 0.0),
                Some(value) => after = Some(value),
                None => return wrong(EXPECTED),
            },
            _ => match (number(Some(first)), value(second), words.next()) {
                (Some(time), Some(value), None) => {
                    let time = Time::from_seconds(time);
                    if entries.last().is_some_and(|last| last.0 > time) {
                        return wrong("expected times in ascending order");
                    }
                    entries.push((time, value));
                }
                _ => return wrong(EXPECTED),
            },
        }
    }
    let Some(&(last, _)) = entries.last() else {
        return Err((0..text.len(), "expected at least one line with a time and a value"));
    };
    let period = match (every, after) {
        (Some(every), None) => Some(Time::from_seconds(every)),
        (None, Some(after)) => Some(last + Time::from_seconds(after)),
        (None, None) => None,
        (Some(_), Some(_)) => return Err((0..end, "expected PERIODICITY or LOOPAFTER, not both")),
    };
    if period.is_some_and(|period| period < last || period == Time::ZERO) {
        return Err((0..end, "expected a period that is not shorter than the profile"));
    }
    Ok(Timetable { entries, period })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_lists_values_from_times_on() {
        let s = Time::from_seconds;
        let table = timetable("# state\n 13 0\n14 1\n\n% end\n", None).unwrap();
        assert_eq!(table, Timetable { entries: vec![(s(13.0), 0.0), (s(14.0), 1.0)], period: None });
        assert_eq!(timetable("2 2e6\n4 3e6\nLOOPAFTER 6", None).unwrap().period, Some(s(10.0)));
        assert_eq!(timetable("PERIODICITY 12\n1.0 0.0\n2.0 1.0", None).unwrap().period, Some(s(12.0)));
        assert_eq!(timetable("0.0 1.0\n11.0 0.5", Some(21.0)).unwrap().period, Some(s(21.0)));
        assert_eq!(timetable("0 1", Some(-1.0)).unwrap().period, None);
    }

    #[test]
    fn a_line_that_is_no_entry_is_marked() {
        let wrong = |text: &str| timetable(text, None).unwrap_err();
        assert_eq!(wrong("0 1\n  one 2\n").0, 6..11);
        for text in ["1", "1 2 3", "-1 2", "nan 1", "1 inf", "PERIODICITY", "LOOPAFTER x", "", "# none"] {
            timetable(text, None).unwrap_err();
        }
        assert!(wrong("2 1\n1 1").1.contains("ascending"));
        assert!(wrong("0 1\n5 1\nPERIODICITY 4").1.contains("not shorter"));
        assert!(wrong("0 1\nPERIODICITY 4\nLOOPAFTER 1").1.contains("not both"));
        assert!(wrong("STOCHASTIC\nDET 0 DET 1").1.contains("drawn"));
    }
}
