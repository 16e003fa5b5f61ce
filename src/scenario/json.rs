//! Scenarios as JSON, in the form in which reports contain them.

use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::reading::json::in_words;
use crate::reading::nulls::drop_nulls;
use crate::report;

/// A mistake in a JSON text that should be a scenario.
#[derive(Clone, Debug)]
pub(super) struct JsonError {
    message: String,
    help: Option<&'static str>,
    /// Line and column from 1; 0 for the whole text.
    line: usize,
    column: usize,
}

impl JsonError {
    /// Returns the diagnostic for the text at `base`.
    pub fn located(self, base: usize, sources: &Sources) -> Diagnostic {
        let mut diagnostic = Diagnostic::new("json", self.message);
        if let Some(help) = self.help {
            diagnostic = diagnostic.help(help);
        }
        let Some((_, text, _)) = sources.find(Span::new(base, base)) else { return diagnostic };
        let line_start: usize = text.split_inclusive('\n').take(self.line.saturating_sub(1)).map(str::len).sum();
        let at = base + (line_start + self.column.saturating_sub(1)).min(text.len());
        diagnostic.at(Span::new(at, at + 1))
    }
}

/// Schemas of the reports that contain a scenario: runs, replays, variations, farms and jobs.
const KNOWN_SCHEMAS: [&str; 5] =
    [report::SCHEMA, report::replay::SCHEMA, report::whatif::SCHEMA, report::FARM_SCHEMA, report::JOBS_SCHEMA];

/// Refuses a report with an unknown schema, because the meaning of its keys is unknown.
fn check_schema(report: &Map<String, Value>) -> Result<(), JsonError> {
    let message = match report.get("schema") {
        Some(Value::String(schema)) if KNOWN_SCHEMAS.contains(&schema.as_str()) => return Ok(()),
        Some(Value::String(schema)) => format!("this is a report of the unknown schema \"{schema}\""),
        Some(other) => format!("this is a report of the unknown schema {other}"),
        None => "this report has no schema".to_owned(),
    };
    Err(JsonError {
        message,
        help: Some("reports that can be run again have \"schema\": \"hayase-report-1\""),
        line: 0,
        column: 0,
    })
}

/// JSON outputs without a scenario, by the beginning of their schema.
const OTHERS: [(&str, &str); 12] = [
    ("hayase-comparison-", "a comparison"),
    ("hayase-throughput-", "a throughput"),
    ("hayase-rates-", "a list of rates"),
    ("hayase-advice-", "the advice for a program"),
    ("hayase-benchmark-", "a benchmark"),
    ("hayase-communication-", "communication data"),
    ("hayase-master-slave-plan-", "a plan of tasks to execute"),
    ("hayase-trace-info-", "what `hayase trace info` says of a trace"),
    ("hayase-trace-sites-", "what `hayase trace sites` says of a trace"),
    ("hayase-fold-", "what `hayase program fold` made"),
    ("hayase-calibration-", "a calibration"),
    ("hayase-run-", "the description of a recording"),
];

/// Describes JSON that contains no scenario, if its kind is known: by its schema, or without one by its first
/// keys.
fn describe_other(value: &Value) -> Option<String> {
    let has = |value: &Value, keys: &[&str]| keys.iter().all(|key| value.get(key).is_some());
    if let Some(schema) = value.get("schema").and_then(Value::as_str) {
        let known = OTHERS.iter().find(|(begin, _)| schema.starts_with(begin));
        return Some(known.map_or_else(|| format!("something of the schema \"{schema}\""), |(_, what)| (*what).into()));
    }
    let what = match value {
        Value::Array(rows) => match rows.first() {
            Some(row) if has(row, &["src", "dst", "rate_Bps"]) => "a list of rates",
            Some(row) if has(row, &["ph", "ts"]) => "a trace for Perfetto",
            Some(row) if has(row, &["case", "verdict"]) => "what `hayase validate` found",
            _ => "a list",
        },
        value if has(value, &["throughput", "largest_load"]) => "a throughput",
        value if has(value, &["traceEvents"]) => "a trace for Perfetto",
        value if has(value, &["nodes"]) && (has(value, &["edges"]) || has(value, &["links"])) => {
            "a graph, which `-t` takes as a topology,"
        }
        value if has(value, &["runs", "version"]) => "a log of findings (SARIF)",
        Value::Object(_) => return None,
        _ => "a single value",
    };
    Some(what.to_owned())
}

/// Returns true if a text is JSON and not TOML: an object, or a valid list (`[1]` would be a table in TOML).
pub(super) fn is_meant(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') || text.starts_with('[') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Converts the scenario of a JSON report (its key `scenario`, or the whole) to TOML.
pub(super) fn to_toml(text: &str) -> Result<String, JsonError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        // The place is reported separately from the message.
        JsonError { message: in_words(&error), help: None, line: error.line(), column: error.column() }
    })?;
    if value.get("scenario").is_none()
        && let Some(what) = describe_other(&value)
    {
        return Err(JsonError { message: format!("this is {what} and contains no scenario"), ..no_scenario() });
    }
    let mut scenario = match value {
        Value::Object(mut map) => match map.remove("scenario") {
            Some(scenario) => {
                check_schema(&map)?;
                scenario
            }
            None => Value::Object(map),
        },
        other => other,
    };
    drop_nulls(&mut scenario);
    match scenario {
        Value::Object(map) => {
            let mut toml = String::new();
            write_table(&mut toml, "", &map);
            Ok(toml)
        }
        _ => Err(no_scenario()),
    }
}

fn no_scenario() -> JsonError {
    JsonError {
        message: "this JSON holds no scenario".to_owned(),
        help: Some("give a report of `hayase run`, `replay`, `whatif` or `master-slave` (--format json, -o x.json)"),
        line: 0,
        column: 0,
    }
}

/// Writes a table: plain values first, then tables with a header each.
pub(super) fn write_table(toml: &mut String, header: &str, map: &Map<String, Value>) {
    for (key, value) in map.iter().filter(|(_, value)| !value.is_object()) {
        toml.push_str(&quoted_key(key));
        toml.push_str(" = ");
        write_value(toml, value);
        toml.push('\n');
    }
    for (key, value) in map {
        let Value::Object(inner) = value else { continue };
        let header = if header.is_empty() { quoted_key(key) } else { format!("{header}.{}", quoted_key(key)) };
        if inner.is_empty() || inner.values().any(|value| !value.is_object()) {
            toml.push_str(&format!("\n[{header}]\n"));
        }
        write_table(toml, &header, inner);
    }
}

fn write_value(toml: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            toml.push('[');
            for (i, item) in items.iter().enumerate() {
                toml.push_str(if i > 0 { ", " } else { "" });
                write_value(toml, item);
            }
            toml.push(']');
        }
        Value::Object(map) => {
            toml.push('{');
            for (i, (key, item)) in map.iter().enumerate() {
                toml.push_str(if i > 0 { ", " } else { " " });
                toml.push_str(&quoted_key(key));
                toml.push_str(" = ");
                write_value(toml, item);
            }
            toml.push_str(" }");
        }
        Value::String(text) => toml.push_str(&quoted(text)),
        other => toml.push_str(&other.to_string()),
    }
}

/// Returns a text in quotes. TOML reads the escapes of JSON the same way, and requires one more character to
/// be escaped.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn quoted_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_the_toml_that_says_the_same() {
        let json = r#"{ "schema": "hayase-report-1", "scenario": { "seed": 3, "topology": { "torus": { "dims": [4, 4], "none": null } },
            "sharing": { "max-min": {} }, "odd key": { "a": "\u007f\u0001\"\\" } }, "makespan_s": 1.5 }"#;
        let toml = to_toml(json).unwrap();
        assert!(toml.starts_with("seed = 3\n\n[topology.torus]\ndims = [4, 4]\n\n[sharing.max-min]\n"), "{toml}");
        let read: toml::Table = toml.parse().unwrap();
        assert_eq!(read["odd key"]["a"].as_str(), Some("\u{7f}\u{1}\"\\"));
    }

    #[test]
    fn what_is_no_scenario_is_said_with_its_place() {
        let error = to_toml("{\n  \"seed\": }").unwrap_err();
        assert_eq!((error.message.as_str(), error.line, error.column), ("expected value", 2, 11));
        assert!(
            to_toml("{\"schema\": \"hayase-report-1\", \"scenario\": 3}").unwrap_err().message.contains("no scenario")
        );
        for (other, what) in [
            (r#"{ "schema": "hayase-comparison-1", "title": "", "rows": [] }"#, "this is a comparison and"),
            (r#"[{ "src": 0, "dst": 1, "rate_Bps": 1e9, "bottleneck": null }]"#, "this is a list of rates and"),
            (r#"{ "fabric": "x", "throughput": 1.0, "largest_load": {} }"#, "this is a throughput and"),
            (r#"{ "schema": "else-7" }"#, "schema \"else-7\" and"),
            ("[]", "this is a list and"),
        ] {
            assert!(to_toml(other).unwrap_err().message.contains(what), "{other}");
        }
        // Without a schema it may be a scenario written as JSON.
        assert!(to_toml(r#"{ "seed": 3 }"#).is_ok());
        for report in ["{\"scenario\": {}}", "{\"schema\": \"hayase-report-99\", \"scenario\": {}}"] {
            assert!(to_toml(report).unwrap_err().message.contains("schema"), "{report}");
        }
    }
}
