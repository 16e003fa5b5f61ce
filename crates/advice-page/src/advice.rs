//! Conversion of advice from the model of the search to that of the page.

use hayase_advice::model::{self, Action, Change, Dependence, Edit, Location, Point, Side};
use hayase_advice::unit::bytes;

use crate::data::{Detail, Finding, Gain, Mark, Role, Rule};

/// Largest number of occurrences that are listed one by one.
const MOST_DETAILS: usize = 300;
/// Largest number of ranks that are listed by name.
const MOST_RANKS: u64 = 4096;

impl Rule {
    /// Converts a rule of the search.
    pub fn of(rule: &hayase_advice::rules::Rule) -> Self {
        Self {
            id: rule.id.to_string(),
            name: rule.name.into(),
            summary: rule.summary.into(),
            help: rule.explanation.into(),
            help_uri: String::new(),
        }
    }
}

impl Finding {
    /// Converts a finding of the search, with its simulated gain.
    pub fn of(found: &model::Finding, gain: Option<Gain>) -> Self {
        let places = found.places.iter().map(|place| mark(Some(&place.location), role(place.role), place_text(place)));
        let blockers = found.blockers.iter().map(|by| mark(by.location.as_ref(), Role::Forbids, blocker_text(by)));
        let mut facts = Vec::new();
        if found.executions > found.occurrences {
            facts.push(("found in".into(), format!("{} of {} executions", found.occurrences, found.executions)));
        }
        if found.bytes > 0 {
            facts.push(("bytes of the messages".into(), bytes(found.bytes)));
        }
        if found.time_ns > 0 {
            facts.push(("time at stake, over all ranks".into(), found.unit.write(found.time_ns as f64)));
        }
        Self {
            id: found.id.clone(),
            rule: found.rule.to_string(),
            title: found.title.clone(),
            gain,
            unit: found.unit,
            text: found.text.clone(),
            caveats: found.caveats.clone(),
            notes: found.notes.clone(),
            facts,
            marks: places.chain(blockers).collect(),
            ranks: if found.ranks.len() <= MOST_RANKS { found.ranks.iter().collect() } else { Vec::new() },
            occurrences: found.occurrences,
            details: details(&found.change),
        }
    }
}

fn mark(location: Option<&Location>, role: Role, text: String) -> Mark {
    // The search names an unknown place `?`.
    let known = location.filter(|place| !matches!(place.file.as_str(), "" | "?"));
    let (file, line) = known.map_or((String::new(), 0), |place| (place.file.clone(), place.line));
    Mark { file, line, last_line: line, role, text }
}

fn role(role: model::Role) -> Role {
    match role {
        model::Role::Communication => Role::Communication,
        model::Role::Completion => Role::Completion,
        model::Role::OverlapBefore | model::Role::OverlapAfter => Role::Overlap,
        model::Role::Companion => Role::Companion,
        model::Role::Partner => Role::Partner,
        model::Role::Cause => Role::Cause,
    }
}

fn place_text(place: &model::Place) -> String {
    let mut parts: Vec<String> = place.call.iter().map(|call| format!("MPI_{call}")).collect();
    match place.role {
        model::Role::OverlapBefore => parts.push("before the call".into()),
        model::Role::OverlapAfter => parts.push("after the call".into()),
        _ => {}
    }
    parts.extend(place.iterations.map(|iterations| iterations.to_string()));
    parts.push(times(place.occurrences));
    parts.extend(called_from(&place.location));
    if place.iterations.is_some() && place.whole > 0 {
        parts.push(format!("of these {} with all iterations", place.whole));
    }
    parts.join(", ")
}

fn blocker_text(by: &model::Blocker) -> String {
    let mut parts = vec![match by.dependence {
        Dependence::Opaque | Dependence::NotSeen => format!("{} (may forbid it)", by.dependence.name()),
        _ => by.dependence.name().to_owned(),
    }];
    parts.extend(by.call.clone());
    parts.extend(by.location.as_ref().and_then(called_from));
    parts.push(match by.side {
        Side::Before => "must stay before the communication".into(),
        Side::After => "must stay after it".into(),
    });
    parts.extend(by.iterations.map(|iterations| iterations.to_string()));
    parts.extend(by.address.map(|address| format!("first at address {address:#x}")));
    parts.push(times(by.occurrences));
    parts.join(", ")
}

/// Returns the caller of a place, if the caller distinguishes it from the same place called from elsewhere.
fn called_from(location: &Location) -> Option<String> {
    location.called.as_ref().map(|called| format!("called from {}", called.from))
}

fn times(n: u64) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

/// Lists the single edits of a program, up to a limit.
fn details(change: &Change) -> Vec<Detail> {
    let Change::Program { edits, .. } = change else { return Vec::new() };
    let single = edits.iter().flat_map(|edit| edit.events().map(move |event| (edit, event)));
    single
        .take(MOST_DETAILS)
        .map(|(edit, event)| Detail { rank: edit.rank, event, text: edit_text(edit, event) })
        .collect()
}

fn edit_text(edit: &Edit, event: u64) -> String {
    match &edit.action {
        Action::Overlap { post, wait, .. } => {
            format!("posted {}, waited for {}", point_text(event, *post), point_text(event, *wait))
        }
        Action::Merge { with, bytes, copy, .. } => {
            let others: Vec<String> = with.iter().map(|distance| (event + distance).to_string()).collect();
            let copied = if *copy > 0 { format!(", {} copied", self::bytes(*copy)) } else { String::new() };
            format!("one with events {}: {}{copied}", others.join(", "), self::bytes(*bytes))
        }
        Action::Replace { collective, members, root, bytes, calls, .. } => {
            let root = root.map_or(String::new(), |root| format!(" from root {root}"));
            format!(
                "MPI_{collective}{root} among {} ranks, {}, in place of {} calls",
                members.len(),
                self::bytes(*bytes),
                calls.len()
            )
        }
    }
}

/// Describes a point in the computation before an event.
fn point_text(event: u64, point: Point) -> String {
    let to = event.saturating_add_signed(point.interval);
    match point.fraction {
        fraction if fraction <= 0.0 => format!("just after event {}", to.saturating_sub(1)),
        fraction if fraction >= 1.0 => format!("just before event {to}"),
        fraction => format!("after {:.1} % of the computation before event {to}", fraction * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Blocker, CallPart, Iterations, Place, RuleId};

    fn at(line: u32) -> Location {
        Location { file: "a.c".into(), line, ..Location::default() }
    }

    fn found(change: Change) -> model::Finding {
        let iterations = Some(Iterations { first: 1, last: 10, of: 40 });
        let place = |line, role, iterations| Place {
            location: at(line),
            role,
            call: None,
            iterations,
            occurrences: 3,
            whole: 1,
        };
        model::Finding {
            id: "A001-1".into(),
            rule: RuleId::A001,
            title: "title".into(),
            text: Vec::new(),
            places: vec![
                Place { call: Some("Send".into()), ..place(81, model::Role::Communication, None) },
                place(86, model::Role::OverlapAfter, iterations),
            ],
            blockers: vec![
                Blocker {
                    location: Some(at(86)),
                    call: None,
                    dependence: Dependence::Anti,
                    side: Side::After,
                    address: Some(0x1000),
                    iterations: Some(Iterations { first: 11, last: 40, of: 40 }),
                    occurrences: 1,
                },
                Blocker {
                    location: None,
                    call: None,
                    dependence: Dependence::Program,
                    side: Side::Before,
                    address: None,
                    iterations: None,
                    occurrences: 2,
                },
            ],
            ranks: [0, 2].into_iter().collect(),
            occurrences: 3,
            executions: 4,
            bytes: 0,
            time_ns: 0,
            caveats: Vec::new(),
            notes: Vec::new(),
            unit: Default::default(),
            change,
        }
    }

    #[test]
    fn places_and_blockers_become_marks_in_words() {
        let finding = Finding::of(&found(Change::None), None);
        let marks: Vec<_> =
            finding.marks.iter().map(|mark| (mark.file.as_str(), mark.line, mark.role, mark.text.as_str())).collect();
        assert_eq!(
            marks,
            [
                ("a.c", 81, Role::Communication, "MPI_Send, 3 times"),
                (
                    "a.c",
                    86,
                    Role::Overlap,
                    "after the call, iterations 1..10 of 40, 3 times, of these 1 with all iterations"
                ),
                (
                    "a.c",
                    86,
                    Role::Forbids,
                    "anti-dependence, must stay after it, iterations 11..40 of 40, first at address 0x1000, once"
                ),
                ("", 0, Role::Forbids, "start or end of the program, must stay before the communication, 2 times"),
            ]
        );
        assert_eq!(finding.ranks, [0, 2]);
        assert_eq!(finding.facts, [("found in".to_owned(), "3 of 4 executions".to_owned())]);
    }

    #[test]
    fn edits_that_repeat_are_listed_one_by_one_up_to_a_limit() {
        let (post, wait) = (Point { interval: 0, fraction: 1.0 }, Point { interval: 1, fraction: 0.25 });
        let action = Action::Overlap { part: CallPart::Send, post, wait, needs: Vec::new() };
        let edit = |times| Edit { rank: 1, event: 10, times, step: 4, action: action.clone() };
        let of = |times| details(&Change::Program { edits: vec![edit(times)], left_out: 0 });
        let list = of(2);
        assert_eq!((list[1].rank, list[1].event, list.len()), (1, 14, 2));
        assert_eq!(
            list[1].text,
            "posted just before event 14, waited for after 25.0 % of the computation before event 15"
        );
        assert_eq!(of(1_000_000).len(), MOST_DETAILS);
    }
}
