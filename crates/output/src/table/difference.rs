//! Two saved reports beside each other.

use std::fmt::Write;

use super::figures::{percent, seconds};
use super::{Answer, Grid, count, printable};
use crate::columns;
use hayase::report::{Difference, OtherValue};
use serde_json::Value;

/// Largest number of rows of a table; `-o x.csv` has all.
const MOST_ROWS: usize = 60;
/// Longest value of a table \[characters\].
const MOST_LETTERS: usize = 32;

/// Returns the differences of two reports for a terminal.
pub fn difference(difference: &Difference) -> Answer {
    let mut text = Answer::new();
    let names = [&difference.first, &difference.second].map(|name| printable(name));
    let _ = writeln!(text, "{} and {}\n", names[0], names[1]);
    let mut sentences = Vec::new();
    let makespan = difference.figure("makespan_s").and_then(|of| Some((of.first.as_f64()?, of.second.as_f64()?)));
    if let Some((first, second)) = makespan.filter(|&(first, _)| first > 0.0) {
        let times = [first, second].map(seconds);
        let longer = if second > first { "longer" } else { "less" };
        let by = percent((second / first - 1.0).abs());
        sentences.push(format!("{} takes {by} {longer} than {}: {} and {}.", names[1], names[0], times[1], times[0]));
    }
    if difference.figure("fingerprint").is_none() {
        sentences.push("The fingerprints are equal: all happened at the same times.".to_owned());
    }
    let keys: Vec<&str> = difference.scenario.iter().map(|value| value.key.as_str()).take(5).collect();
    sentences.push(match difference.scenario.len() {
        0 => "The scenarios are equal.".to_owned(),
        all => {
            let more = if all > keys.len() { ", …" } else { "" };
            let differ = count(all as u64, "key", "keys");
            format!("The scenarios differ in {differ}: {}{more}.", printable(&keys.join(", ")))
        }
    });
    for sentence in sentences {
        let _ = writeln!(text, "{sentence}");
        text.say(&sentence);
    }
    // Long texts are cut; the other forms have them in full.
    let cut = |value: &Value| match value.to_string() {
        text if text.chars().count() <= MOST_LETTERS => value.clone(),
        _ => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Value::String(text.chars().take(MOST_LETTERS).chain(['…']).collect())
        }
    };
    let short =
        |value: &OtherValue| OtherValue { first: cut(&value.first), second: cut(&value.second), ..value.clone() };
    for (title, values) in [("Scenario", &difference.scenario), ("Result", &difference.result)] {
        if values.is_empty() {
            continue;
        }
        text.push_str("\n");
        text.title(title);
        let shown: &[OtherValue] = values.get(..MOST_ROWS).unwrap_or(values);
        text.table(Grid::of(&columns::other_values(), shown.iter().map(short)));
        if shown.len() < values.len() {
            let _ = writeln!(
                text,
                "and {}; -o x.csv has all",
                count((values.len() - shown.len()) as u64, "more key", "more keys")
            );
        }
    }
    text
}
