//! Differences between two saved reports.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Version of the JSON format of [`Difference`].
pub const SCHEMA: &str = "hayase-difference-1";

/// Keys whose values may differ from machine to machine.
const NOT_COMPARED: [&str; 3] = ["meta", "scenario", "schema"];
/// Keys that tell the rows of a list apart, the first of them that a row has.
const NAMES: [&str; 6] = ["name", "links", "kind", "pattern", "rank", "id"];

/// Two reports of the same kind beside each other.
#[report]
pub struct Difference {
    /// Version of the JSON format: `hayase-difference-1`.
    pub schema: &'static str,
    /// File of the first report.
    pub first: String,
    /// File of the second report.
    pub second: String,
    /// Keys of the scenario with other values.
    pub scenario: Vec<OtherValue>,
    /// Keys of the result with other values.
    pub result: Vec<OtherValue>,
}

/// Value of a key in two reports.
#[report]
pub struct OtherValue {
    /// Key: `links[node 3 -> L1.0].bytes`.
    pub key: String,
    /// Value in the first report; null if it has none.
    pub first: Value,
    /// Value in the second report; null if it has none.
    pub second: Value,
    /// `second / first - 1`, for numbers.
    pub change: Option<f64>,
}

impl Difference {
    /// Compares two reports, each with its file.
    ///
    /// # Errors
    /// The schemas of the two, if they are not the same.
    pub fn new([first, second]: [(&str, &Value); 2]) -> Result<Self, [String; 2]> {
        let schemas = [first.1, second.1].map(|report| report["schema"].as_str().unwrap_or("none").to_owned());
        if schemas[0] != schemas[1] {
            return Err(schemas);
        }
        let without = |report: &Value| {
            let mut report = report.clone();
            report
                .as_object_mut()
                .into_iter()
                .for_each(|keys| keys.retain(|key, _| !NOT_COMPARED.contains(&key.as_str())));
            report
        };
        Ok(Self {
            schema: SCHEMA,
            first: first.0.to_owned(),
            second: second.0.to_owned(),
            scenario: differences([&first.1["scenario"], &second.1["scenario"]]),
            result: differences([&without(first.1), &without(second.1)]),
        })
    }

    /// Returns a figure of both results, if it differs.
    pub fn figure(&self, key: &str) -> Option<&OtherValue> {
        self.result.iter().find(|value| value.key == key)
    }
}

/// Returns the keys with other values, those of the whole before those of parts. A row that one report lacks is a
/// single key.
fn differences([first, second]: [&Value; 2]) -> Vec<OtherValue> {
    let mut all: BTreeMap<(usize, String), [&Value; 2]> = BTreeMap::new();
    let mut rows = [BTreeSet::new(), BTreeSet::new()];
    for (place, value) in [first, second].into_iter().enumerate() {
        each(String::new(), value, &mut |key, value| {
            rows[place].extend(row_of(&key).map(str::to_owned));
            let depth = key.matches(['.', '[']).count();
            all.entry((depth, key)).or_insert([&Value::Null; 2])[place] = value;
        });
    }
    let (mut found, mut lacking) = (Vec::new(), BTreeSet::new());
    for ((_, key), [first, second]) in all.into_iter().filter(|(_, [first, second])| first != second) {
        let row = row_of(&key).filter(|row| !rows.iter().all(|rows| rows.contains(*row)));
        if let Some(row) = row {
            if lacking.insert(row.to_owned()) {
                let [first, second] =
                    [0, 1].map(|place| if rows[place].contains(row) { "a row".into() } else { Value::Null });
                found.push(OtherValue { key: row.to_owned(), first, second, change: None });
            }
            continue;
        }
        let change = first.as_f64().zip(second.as_f64()).filter(|&(first, _)| first != 0.0);
        let change = change.map(|(first, second)| second / first - 1.0);
        found.push(OtherValue { key, first: first.clone(), second: second.clone(), change });
    }
    found
}

/// Returns the row that a key is part of: `links[node 3 -> L1.0]`.
fn row_of(key: &str) -> Option<&str> {
    key.rfind(']').map(|end| &key[..=end])
}

/// Calls a function with each value that has no parts, and its key.
fn each<'a>(key: String, value: &'a Value, found: &mut impl FnMut(String, &'a Value)) {
    match value {
        Value::Object(keys) => keys.iter().for_each(|(name, value)| {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            each(key, value, found);
        }),
        Value::Array(rows) if rows.iter().any(|row| row.is_object() || row.is_array()) => {
            for (place, row) in rows.iter().enumerate() {
                let name = NAMES.iter().find_map(|name| row.get(*name));
                let name = name.map_or_else(
                    || place.to_string(),
                    |name| name.as_str().map_or_else(|| name.to_string(), str::to_owned),
                );
                each(format!("{key}[{name}]"), row, found);
            }
        }
        value => found(key, value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_matched_by_their_names_and_equal_values_are_left_out() {
        let first = json!({"schema": "a", "scenario": {"seed": 1, "size": "1 KB"}, "makespan_s": 2.0, "meta": {"wall_s": 1},
            "links": [{"name": "a", "bytes": 5}, {"name": "b", "bytes": 6}]});
        let second = json!({"schema": "a", "scenario": {"seed": 2, "size": "1 KB"}, "makespan_s": 3.0, "meta": {"wall_s": 2},
            "links": [{"name": "b", "bytes": 6}]});
        let found = Difference::new([("x", &first), ("y", &second)]).unwrap();
        let keys = |values: &[OtherValue]| values.iter().map(|value| value.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(&found.scenario), ["seed"]);
        assert_eq!(keys(&found.result), ["makespan_s", "links[a]"]);
        assert_eq!(found.figure("makespan_s").and_then(|value| value.change), Some(0.5));
        assert_eq!(Difference::new([("x", &first), ("y", &json!({}))]), Err(["a".to_owned(), "none".to_owned()]));
    }
}
