//! Advice on common idioms of MPI in which the library and the language access memory too. Each program lists
//! the advice that it allows and forbids; `tests/programs/cases/idioms/idioms.h` explains the format.

use std::collections::BTreeMap;

use hayase_advice::model::{Action, CallPart, Certainty, Change, Finding, Role, RuleId};

use super::advice_cases::{Chain, advised, recorded};

/// Expected advice, as the source of a program states it.
struct Answers<'a> {
    /// Names of lines.
    names: BTreeMap<&'a str, u32>,
    findings: Vec<Finding>,
    /// Name of the source.
    file: &'a str,
}

impl Answers<'_> {
    fn is_at(&self, finding: &Finding, roles: &[Role], name: &str) -> bool {
        let line = self.names.get(name).unwrap_or_else(|| panic!("no line is {name}"));
        finding.places.iter().any(|place| {
            roles.contains(&place.role) && place.location.line == *line && place.location.file.ends_with(self.file)
        })
    }

    /// Returns the findings, or the proven ones, by which a call or a part of it could pass a line.
    fn passing(&self, call: &str, part: Option<CallPart>, side: Role, line: &str, proven: bool) -> Vec<String> {
        let of_part = |finding: &Finding| match (&finding.change, part) {
            (Change::Program { edits, .. }, Some(wanted)) => {
                matches!(edits[0].action, Action::Overlap { part, .. } if part == wanted)
            }
            (_, wanted) => wanted.is_none(),
        };
        let found = self.findings.iter().filter(|finding| finding.rule == RuleId::A001);
        found
            .filter(|finding| of_part(finding) && self.is_at(finding, &[Role::Communication], call))
            .filter(|finding| self.is_at(finding, &[side], line))
            .filter(|finding| !proven || finding.certainty() == Certainty::Proven)
            .map(|finding| format!("{}: {}", finding.title, finding.text.join("; ")))
            .collect()
    }

    fn merging(&self, one: &str, other: &str, proven: bool) -> Vec<String> {
        let roles = [Role::Communication, Role::Companion];
        let found = self.findings.iter().filter(|finding| [RuleId::A002, RuleId::A003].contains(&finding.rule));
        found
            .filter(|finding| self.is_at(finding, &roles, one) && self.is_at(finding, &roles, other))
            .filter(|finding| !proven || finding.certainty() == Certainty::Proven)
            .map(|finding| finding.title.clone())
            .collect()
    }

    /// Returns the mistake of an answer, if any.
    fn fails(&self, answer: &str) -> Option<String> {
        let words: Vec<&str> = answer.split_whitespace().collect();
        let part = match words.get(2) {
            Some(&"(send)") => Some(CallPart::Send),
            Some(&"(receive)") => Some(CallPart::Receive),
            _ => None,
        };
        let words: Vec<&str> = words.into_iter().filter(|word| !word.starts_with('(')).collect();
        let found = match words.as_slice() {
            ["may" | "not", call, side, line] => {
                let side = if *side == "before" { Role::OverlapBefore } else { Role::OverlapAfter };
                self.passing(call, part, side, line, words[0] == "not")
            }
            ["one" | "two", one, other] => self.merging(one, other, words[0] == "two"),
            ["none", rule, call] => {
                let of_rule = self.findings.iter().filter(|finding| finding.rule.to_string() == *rule);
                of_rule
                    .filter(|finding| self.is_at(finding, &[Role::Communication], call))
                    .map(|finding| finding.title.clone())
                    .collect()
            }
            _ => panic!("{answer}"),
        };
        let wanted = ["may", "one"].contains(&words[0]);
        (found.is_empty() == wanted).then(|| format!("{answer}: {}", found.join("\n    ")))
    }
}

/// Compiles, records and advises a program under these compilers and libraries, and checks all its answers.
fn answers_hold(name: &str, ranks: u32, chains: &[Chain]) {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/cases/idioms").join(name);
    let text = std::fs::read_to_string(source).unwrap();
    let comment = if name.ends_with(".c") { "//" } else { "!" };
    let answer = format!("{comment}=");
    let named =
        (1..).zip(text.lines()).filter_map(|(number, line)| Some((line.rsplit_once(comment)?.1.trim(), number)));
    let names: BTreeMap<&str, u32> = named.filter(|(name, _)| name.starts_with('@')).collect();
    let answers: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(&answer)).collect();
    assert!(!answers.is_empty(), "{name} has no answers");
    for chain in chains {
        let Some(desk) = recorded(&format!("idioms/{name}"), ranks, chain) else { continue };
        let advice = advised(&desk, "-q advise run -m fast-ethernet --all --format json");
        let findings = serde_json::from_value(advice["findings"].clone()).unwrap();
        let all = Answers { names: names.clone(), findings, file: name };
        let wrong: Vec<String> = answers.iter().filter_map(|answer| all.fails(answer)).collect();
        let Chain { compiler, mpi } = chain;
        assert!(wrong.is_empty(), "{name}, {compiler}, {mpi}:\n{}", wrong.join("\n"));
    }
}

const IN_C: [Chain; 2] = [Chain { compiler: "gcc", mpi: "openmpi" }, Chain { compiler: "clang", mpi: "mpich" }];

#[test]
fn a_buffer_is_the_same_through_another_pointer() {
    answers_hold("alias.c", 2, &IN_C);
}

#[test]
fn an_operation_in_place_reads_and_writes_its_buffer() {
    answers_hold("in_place.c", 3, &IN_C);
}

#[test]
fn a_persistent_request_uses_its_buffer_between_start_and_wait() {
    answers_hold("persistent.c", 2, &IN_C);
}

#[test]
fn other_ranks_write_the_memory_of_a_window_before_a_barrier() {
    answers_hold("window.c", 3, &IN_C);
}

#[test]
fn what_follows_waitsome_depends_on_its_indices() {
    answers_hold("waitsome.c", 4, &IN_C);
}

#[test]
fn arrays_of_a_structure_are_one_message_if_none_needs_an_answer() {
    answers_hold("arrays.c", 2, &IN_C);
}

#[test]
fn one_buffer_in_each_iteration_is_free_between_its_uses() {
    answers_hold("reuse.c", 2, &IN_C);
}

#[test]
fn a_neighbourhood_collective_overlaps_with_the_interior() {
    answers_hold("neighbour.c", 3, &IN_C);
}

#[test]
fn sums_over_rows_are_never_one_with_a_sum_over_columns() {
    answers_hold("split.c", 4, &IN_C);
}

#[test]
fn a_completion_writes_its_status() {
    answers_hold("status.c", 3, &IN_C);
}

#[test]
fn pack_writes_its_buffer_and_unpack_reads_it() {
    answers_hold("pack.c", 2, &IN_C);
}

#[test]
fn the_end_of_a_buffer_is_a_write_of_it() {
    answers_hold("freed.c", 2, &IN_C);
}

#[test]
fn a_section_is_sent_from_a_copy_that_ends_with_the_call() {
    let chains = ["openmpi", "mpich"].map(|mpi| Chain { compiler: "gfortran", mpi });
    answers_hold("section.f90", 2, &chains);
}
