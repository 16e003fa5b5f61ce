//! SARIF log of the advice, which editors and code hosts show on the lines.
//!
//! Source: Static Analysis Results Interchange Format (SARIF) Version 2.1.0, OASIS Standard, 2020.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::data::{Certainty, Finding, Mark, PageData, Role, Rule, Source};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Importance of a piece of advice, as a SARIF level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It gains less than 1 % of the run, or was not simulated.
    Note,
    /// It gains 1 % of the run or more.
    Warning,
    /// It gains 10 % of the run or more, and is proven.
    Error,
}

impl Level {
    /// Returns the level of a piece of advice.
    pub fn of(finding: &Finding) -> Self {
        match finding.gain.map_or(0.0, |gain| gain.share()) {
            share if share >= 0.1 && finding.certainty() == Certainty::Proven => Self::Error,
            share if share >= 0.01 => Self::Warning,
            _ => Self::Note,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Converts the advice of a page to a SARIF 2.1.0 log of one run of the tool; `version` is that of the tool
/// (`0.1.0`).
///
/// Each piece is a result at its communication; its obstacles and the lines that it can overlap are related
/// locations. Its `rank` is the share of the run that it saves, in per cent. Its fingerprint depends on rule,
/// file and the text of the line, so it stays the same when lines above it change. Relative paths are
/// relative to `%SRCROOT%`.
pub fn sarif(data: &PageData, version: &str) -> Value {
    let sources: BTreeMap<&str, Vec<&str>> = data.sources.iter().filter_map(lines_of).collect();
    let mut seen = BTreeMap::new();
    let results: Vec<Value> = data.findings.iter().map(|finding| result(finding, data, &sources, &mut seen)).collect();
    let notes: Vec<Value> =
        data.notes.iter().map(|note| json!({"level": "note", "message": {"text": message_text(note)}})).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Hayase",
                "semanticVersion": version,
                "rules": data.rules.iter().map(rule).collect::<Vec<_>>(),
            }},
            "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": notes}],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn lines_of(source: &Source) -> Option<(&str, Vec<&str>)> {
    Some((&source.path, source.text.as_deref()?.lines().collect()))
}

fn rule(rule: &Rule) -> Value {
    let mut value = json!({
        "id": rule.id,
        "shortDescription": {"text": or(&rule.summary, &rule.id)},
        "help": {"text": or(&rule.help, or(&rule.summary, &rule.id))},
    });
    if let Some(fields) = value.as_object_mut() {
        if !rule.name.is_empty() {
            fields.insert("name".into(), identifier(&rule.name).into());
        }
        if !rule.help_uri.is_empty() {
            fields.insert("helpUri".into(), rule.help_uri.clone().into());
        }
    }
    value
}

fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

/// Converts a name to the form that code hosts expect for rules: `LateSender`.
fn identifier(name: &str) -> String {
    let mut identifier = String::new();
    for word in name.split(|c: char| !c.is_alphanumeric()) {
        let mut letters = word.chars();
        identifier.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        identifier.push_str(letters.as_str());
    }
    identifier
}

fn result(
    finding: &Finding,
    data: &PageData,
    sources: &BTreeMap<&str, Vec<&str>>,
    seen: &mut BTreeMap<u64, u32>,
) -> Value {
    let mut text = finding.title.clone();
    if let Some(gain) = finding.gain {
        let saved = finding.unit.write(gain.saved_s() * 1e9);
        text += &format!(" (saves {saved}, {:.2} % of the run)", gain.share() * 100.0);
    }
    for more in finding.text.iter().chain(&finding.notes) {
        text.push('\n');
        text += more;
    }
    for caveat in &finding.caveats {
        text += "\nCheck: ";
        text += caveat;
    }
    let mut value = Map::new();
    value.insert("ruleId".into(), finding.rule.clone().into());
    if let Some(index) = data.rules.iter().position(|rule| rule.id == finding.rule) {
        value.insert("ruleIndex".into(), index.into());
    }
    value.insert("level".into(), Level::of(finding).name().into());
    value.insert("message".into(), json!({"text": message_text(&text)}));

    let place = finding.marks.iter().find(|mark| mark.role == Role::Communication).or(finding.marks.first());
    let located = place.filter(|mark| !mark.file.is_empty());
    value.insert("locations".into(), located.map(|mark| location(mark, sources)).into_iter().collect());
    let related: Vec<Value> = finding
        .marks
        .iter()
        .filter(|&mark| !mark.file.is_empty() && !located.is_some_and(|place| std::ptr::eq(place, mark)))
        .enumerate()
        .map(|(id, mark)| {
            let mut related = location(mark, sources);
            let colon = if mark.text.is_empty() { "" } else { ": " };
            related["id"] = id.into();
            related["message"] = json!({"text": message_text(&format!("{}{colon}{}", mark.role.name(), mark.text))});
            related
        })
        .collect();
    if !related.is_empty() {
        value.insert("relatedLocations".into(), related.into());
    }

    let mut hash = fingerprint(finding, located, sources);
    let before = seen.entry(hash).or_default();
    // The same advice on two lines of the same text gets two fingerprints.
    hash = hash.wrapping_add(u64::from(*before));
    *before += 1;
    value.insert("partialFingerprints".into(), json!({"hayaseAdvice/v1": format!("{hash:016x}")}));
    if let Some(gain) = finding.gain {
        value.insert("rank".into(), json!((gain.share() * 100.0).clamp(0.0, 100.0)));
    }
    value.insert(
        "properties".into(),
        json!({
            "id": finding.id,
            "certainty": finding.certainty(),
            "occurrences": finding.occurrences,
            "ranks": finding.ranks,
            "gain": finding.gain,
        }),
    );
    value.into()
}

fn location(mark: &Mark, sources: &BTreeMap<&str, Vec<&str>>) -> Value {
    let mut artifact = json!({"uri": uri(&mark.file)});
    if !mark.file.starts_with('/') {
        artifact["uriBaseId"] = "%SRCROOT%".into();
    }
    let mut physical = json!({"artifactLocation": artifact});
    if mark.line > 0 {
        let mut region = json!({"startLine": mark.line, "endLine": mark.last_line.max(mark.line)});
        if let Some(text) = sources.get(mark.file.as_str()).and_then(|lines| lines.get(mark.line as usize - 1))
            && mark.last_line <= mark.line
        {
            region["snippet"] = json!({"text": text});
        }
        physical["region"] = region;
    }
    json!({"physicalLocation": physical})
}

/// Converts a path to a URI reference: absolute paths begin with `file://`, others stay relative.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.strip_prefix("./").unwrap_or(path).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// Escapes the text of a message, in which braces are placeholders and brackets are links (SARIF 2.1.0,
/// sections 3.11.5 and 3.11.6).
fn message_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' => escaped.push_str("{{"),
            '}' => escaped.push_str("}}"),
            '[' => escaped.push_str("\\["),
            ']' => escaped.push_str("\\]"),
            '\\' => escaped.push_str("\\\\"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Returns a fingerprint that stays when other lines of the file change (FNV-1a of rule, file and line).
fn fingerprint(finding: &Finding, mark: Option<&Mark>, sources: &BTreeMap<&str, Vec<&str>>) -> u64 {
    let (file, line) = mark.map_or(("", 0), |mark| (mark.file.as_str(), mark.line));
    let known = line.checked_sub(1).and_then(|index| sources.get(file)?.get(index as usize).copied());
    let line = known.map_or_else(|| line.to_string(), |text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in [finding.rule.as_str(), file, &line] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
mod tests;
