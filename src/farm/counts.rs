//! Numbers of workers as written in a scenario, and the speeds of workers.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::reading::csv::{self, Column};
use crate::units::range;

/// Numbers of workers to try one after another: `64`, `[4, 8, 16]`, `"8..128:8"`, `"1..1024:x2"`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts(pub Vec<u32>);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Counts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, a list of them or a range like \"8..128:8\"")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Counts, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
                u32::try_from(number).map(|number| Counts(vec![number])).map_err(wrong)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Counts, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Unsigned(number), &self);
                u32::try_from(number).map(|number| Counts(vec![number])).map_err(wrong)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Counts, E> {
                range::numbers(text).map(Counts).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Counts, A::Error> {
                let mut all = Vec::new();
                while let Some(number) = list.next_element::<u32>()? {
                    all.push(number);
                }
                match all.is_empty() {
                    true => Err(de::Error::custom("there are no numbers; write 64, or a list [4, 8, 16]")),
                    false => Ok(Counts(all)),
                }
            }
        }
        deserializer.deserialize_any(Numbers)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Counts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Counts".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "array", "items": { "type": "integer", "minimum": 1 } },
            { "type": "string", "description": "A list or a range; \"8..128:8\"" },
        ] })
    }
}

/// Largest number of workers.
pub(super) const MAX_WORKERS: u32 = 1 << 24;

/// Reads the factors of workers: groups like `64x1,64x2.5`, or a CSV file with the columns `factor` or
/// `workers,factor`.
pub(super) fn factors(text: &Located<String>, sources: &Sources) -> Result<Vec<f64>, Vec<Diagnostic>> {
    let group = |part: &str| -> Option<(u32, f64)> {
        let (count, factor) = part.split_once('x').unwrap_or(("1", part));
        let factor = factor.trim().parse::<f64>().ok().filter(|factor| is_factor(*factor))?;
        Some((count.trim().parse().ok()?, factor))
    };
    if let Some(groups) = text.split(',').map(group).collect::<Option<Vec<_>>>() {
        return expand(groups.into_iter(), text);
    }
    if !text.contains(['.', '/', '\\']) || text.contains('x') && !sources.resolve(text).exists() {
        let message = format!("\"{}\" is neither a file of speeds nor a list of groups", **text);
        let diagnostic = Diagnostic::new("bad-speeds", message).at_value(text);
        return Err(vec![diagnostic.help("write 64x1,64x2.5 or the name of a CSV file")]);
    }
    let input = sources.open(text).map_err(|diagnostic| vec![diagnostic])?;
    const COLUMNS: [Column; 2] = [Column::optional("workers"), Column::required("factor")];
    let mut groups = Vec::new();
    csv::read(input, &COLUMNS, |row| {
        let count = if row.has(0) { row.number(0, "worker", u32::MAX) } else { Some(1) };
        if let (Some(count), Some(factor)) = (count, row.decimal(1)) {
            if !is_factor(factor) {
                let message = format!("a task cannot take {factor} times as long");
                row.mistake(1, Diagnostic::new("out-of-range", message).label("a factor above 0, like 2.5"));
            }
            groups.push((count, factor));
        }
    })?;
    expand(groups.into_iter(), text)
}

fn is_factor(factor: f64) -> bool {
    (1e-9..=1e9).contains(&factor)
}

/// Returns a factor for each worker of the groups.
fn expand(groups: impl Iterator<Item = (u32, f64)>, text: &Located<String>) -> Result<Vec<f64>, Vec<Diagnostic>> {
    let mut factors = Vec::new();
    for (count, factor) in groups {
        if factors.len() + count as usize > MAX_WORKERS as usize {
            let message = format!("there cannot be more than {MAX_WORKERS} workers");
            return Err(vec![Diagnostic::new("out-of-range", message).at_value(text)]);
        }
        factors.resize(factors.len() + count as usize, factor);
    }
    if factors.is_empty() {
        return Err(vec![Diagnostic::new("bad-speeds", "no speeds of workers are given").at_value(text)]);
    }
    Ok(factors)
}
