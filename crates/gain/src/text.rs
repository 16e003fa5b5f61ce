//! Advice as text for a terminal, and as JSON.

use std::fmt::Write as _;

use hayase_advice_page::{Certainty, Finding, PageData, Role, Unit};
use serde_json::{Value, json};

use super::page::path;
use super::{Ranked, Simulated, Together};
use hayase::program::caveats::Caveats;
use hayase_output::table::{Answer, Cell, Grid, Quantity, printable, seconds};

/// Version of the JSON format of advice.
pub const SCHEMA: &str = "hayase-advice-1";

/// Writes a table, best first, and then each piece in words.
pub fn text(page: &PageData, ranked: &Ranked) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}", printable(&page.program));
    for (name, value) in &page.facts {
        let _ = writeln!(text, "{name}: {}", printable(value));
    }
    if let Some(base) = &ranked.base {
        let _ = writeln!(text, "simulated: {}{}", seconds(base.makespan_s), on_path(base));
    }
    for note in &page.notes {
        let _ = writeln!(text, "note: {}", printable(note));
    }
    if page.findings.is_empty() {
        text.push_str("\nnothing was found that could be improved\n");
        return text;
    }
    // Without a simulation no gain is known.
    let gains = page.findings.iter().any(|finding| finding.gain.is_some());
    let mut grid = Grid::new();
    if gains {
        grid = grid.time("saves").quantity("share", Quantity::Part);
    }
    grid = grid.text("advice").text("place").text("what to do");
    for finding in &page.findings {
        let (saved, share) = match finding.gain {
            Some(gain) => (gain.saved_s(), gain.share()),
            None => (f64::NAN, f64::NAN),
        };
        let check = if finding.certainty() == Certainty::Check { " (check)" } else { "" };
        let what = format!("{}{check}", printable(&finding.title));
        let row = [Cell::from(saved), share.into(), finding.id.clone().into(), place(finding).into(), what.into()];
        grid.row(row.into_iter().skip(if gains { 0 } else { 2 }));
    }
    text.push_str("\n");
    text.table(grid.keys(if gains { 3 } else { 1 }));
    if let Some(together) = &ranked.together
        && let Some(base) = &ranked.base
    {
        let saved = base.makespan_s - together.changed.makespan_s;
        let unit = unit(base, together);
        let _ = writeln!(
            text,
            "\ntogether ({}): {} instead of {}, {:.1} % less{}",
            together.taken.join(", "),
            unit.write(1e9 * together.changed.makespan_s),
            unit.write(1e9 * base.makespan_s),
            if base.makespan_s > 0.0 { 100.0 * saved / base.makespan_s } else { 0.0 },
            on_path(&together.changed),
        );
        for line in why(together, unit) {
            let _ = writeln!(text, "  {}", printable(&line));
        }
    }
    for finding in &page.findings {
        details(&mut text, finding);
    }
    text
}

/// Explains in lines why pieces save more together than alone, and why others are left out; times are in
/// `unit`.
pub fn why(together: &Together, unit: Unit) -> Vec<String> {
    let time = |seconds: f64| unit.write(1e9 * seconds);
    let groups = together.only_together.iter().map(|group| {
        let alone: Vec<String> = group.alone_s.iter().map(|&saved| time(saved)).collect();
        let (names, gain, alone) = (group.names(), time(group.gain_s), alone.join(" and "));
        format!("{names} save {gain} only together, alone {alone}: each shortens a way that is the longest once the other is shorter")
    });
    let left_out = together.left_out.iter().map(|(id, why)| format!("without {id}: {why}"));
    groups.chain(left_out).collect()
}

/// Returns the unit of the times of all pieces together.
pub fn unit(base: &Simulated, together: &Together) -> Unit {
    Unit::of(1e9 * base.makespan_s.max(together.changed.makespan_s))
}

fn on_path(run: &Simulated) -> String {
    match run.critical_path.is_empty() {
        true => String::new(),
        false => format!("; on the critical path: {}", path(&run.critical_path)),
    }
}

/// Returns the first place of a finding, shortened for a table row.
fn place(finding: &Finding) -> String {
    let first = finding.marks.iter().find(|mark| mark.role == Role::Communication).or(finding.marks.first());
    let known = first.filter(|mark| !mark.file.is_empty());
    known.map_or_else(|| "-".to_owned(), |mark| printable(&short(&mark.file, mark.line)).to_string())
}

/// Returns a file without its folders, and the line.
fn short(file: &str, line: u32) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    if line == 0 { name.to_owned() } else { format!("{name}:{line}") }
}

fn details(text: &mut Answer, finding: &Finding) {
    let _ = writeln!(text, "\n{} {}", finding.id, printable(&finding.title));
    for line in &finding.text {
        let _ = writeln!(text, "    {}", printable(line));
    }
    for mark in &finding.marks {
        let place = if mark.file.is_empty() { "place not known".to_owned() } else { short(&mark.file, mark.line) };
        let _ = writeln!(text, "    {:<18} {}: {}", mark.role.name(), printable(&place), printable(&mark.text));
    }
    for (name, value) in &finding.facts {
        let _ = writeln!(text, "    {name}: {}", printable(value));
    }
    for caveat in &finding.caveats {
        let _ = writeln!(text, "    check: {}", printable(caveat));
    }
    for note in &finding.notes {
        let _ = writeln!(text, "    note: {}", printable(note));
    }
}

/// Writes JSON for programs: the findings with their changes and gains.
pub fn json(page: &PageData, ranked: &Ranked, caveats: &Caveats) -> Value {
    let findings: Vec<Value> = ranked
        .findings
        .iter()
        .map(|judged| {
            let mut value = serde_json::to_value(&judged.finding).unwrap_or_default();
            if let Some(map) = value.as_object_mut() {
                let (changed, why_not) = match &judged.changed {
                    Ok(changed) => (serde_json::to_value(changed).unwrap_or_default(), Value::Null),
                    Err(why) => (Value::Null, why.clone().into()),
                };
                let saved = ranked.base.as_ref().and_then(|base| judged.saved_s(base));
                let certainty = serde_json::to_value(judged.finding.certainty()).unwrap_or_default();
                map.insert("certainty".into(), certainty);
                map.insert("gain_s".into(), saved.into());
                map.insert("changed".into(), changed);
                map.insert("not_simulated".into(), why_not);
                map.insert("calls_not_simulated".into(), judged.unplayed_calls.into());
            }
            value
        })
        .collect();
    let mut advice = json!({
        "schema": SCHEMA,
        "program": page.program,
        "facts": page.facts.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect::<serde_json::Map<String, Value>>(),
        "simulated": ranked.base,
        "notes": page.notes,
        "findings": findings,
        "hidden": ranked.hidden,
        "untried": ranked.untried,
        "together": ranked.together.as_ref().map(|together| json!({
            "changed": together.changed,
            "taken": together.taken,
            "sum_s": together.sum_s,
            "only_together": together.only_together,
            "left_out": together.left_out.iter().map(|(id, why)| json!({"id": id, "why": why})).collect::<Vec<_>>(),
        })),
    });
    let Caveats { incomplete, lack_of_cores, outside, ignored } = caveats;
    let wrong =
        [("incomplete", incomplete), ("lack_of_cores", lack_of_cores), ("outside", outside), ("ignored", ignored)];
    for (name, texts) in wrong.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        advice[name] = texts.clone().into();
    }
    advice
}
