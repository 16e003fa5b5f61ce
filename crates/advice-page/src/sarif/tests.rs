use super::*;
use crate::{Gain, Run};

fn mark(role: Role, file: &str, line: u32) -> Mark {
    Mark { file: file.into(), line, last_line: line, role, text: "flow dependence".into() }
}

fn finding(rule: &str, marks: Vec<Mark>) -> Finding {
    Finding {
        id: format!("{rule}-1"),
        rule: rule.into(),
        title: "overlap x[i] {send}".into(),
        unit: Default::default(),
        gain: Some(Gain { before_s: 2.0, after_s: 1.5 }),
        text: vec!["seen".into()],
        caveats: Vec::new(),
        notes: Vec::new(),
        facts: Vec::new(),
        marks,
        ranks: vec![0, 1],
        occurrences: 3,
        details: Vec::new(),
    }
}

fn log(findings: Vec<Finding>, text: &str) -> Value {
    let sources = vec![Source { path: "src/a b.c".into(), text: Some(text.into()) }];
    let rules = vec![Rule { id: "A001".into(), name: "late sender".into(), ..Rule::default() }];
    sarif(&PageData { findings, sources, rules, ..PageData::new(Run::new(2)) }, "0.1.0")
}

#[test]
fn a_result_is_at_its_communication_and_names_what_forbids_more() {
    let marks = vec![mark(Role::Forbids, "src/a b.c", 3), mark(Role::Communication, "src/a b.c", 2)];
    let log = log(vec![finding("A001", marks)], "one\n  MPI_Send(x);\nx = 1;\n");
    let result = &log["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"], json!({"uri": "src/a%20b.c", "uriBaseId": "%SRCROOT%"}));
    assert_eq!(place["region"], json!({"startLine": 2, "endLine": 2, "snippet": {"text": "  MPI_Send(x);"}}));
    let related = &result["relatedLocations"][0];
    assert_eq!(related["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(related["message"]["text"], "forbids more: flow dependence");
    assert_eq!((&result["level"], &result["rank"], &result["ruleIndex"]), (&json!("error"), &json!(25.0), &json!(0)));
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][0]["name"], "LateSender");
}

#[test]
fn braces_and_brackets_of_messages_are_text() {
    let log = log(vec![finding("A001", Vec::new())], "");
    let text = log["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(text.starts_with(r"overlap x\[i\] {{send}} (saves 0.5 s, 25.00 % of the run)"), "{text}");
}

#[test]
fn what_has_no_place_has_no_location() {
    let log = log(vec![finding("A001", vec![mark(Role::Communication, "", 0)])], "");
    assert_eq!(log["runs"][0]["results"][0]["locations"], json!([]));
    let log = self::log(vec![finding("A001", vec![mark(Role::Communication, "0x401136", 0)])], "");
    assert_eq!(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"].get("region"), None);
}

#[test]
fn fingerprints_stay_when_lines_above_change_and_differ_between_lines_of_one_text() {
    let print = |log: &Value, i: usize| log["runs"][0]["results"][i]["partialFingerprints"]["hayaseAdvice/v1"].clone();
    let at = |line| finding("A001", vec![mark(Role::Communication, "src/a b.c", line)]);
    let before = log(vec![at(1), at(2)], "MPI_Send(x);\nMPI_Send(x);\n");
    let after = log(vec![at(2), at(3)], "new\n    MPI_Send(x);\nMPI_Send(x);\n");
    assert_eq!((print(&before, 0), print(&before, 1)), (print(&after, 0), print(&after, 1)));
    assert_ne!(print(&before, 0), print(&before, 1));
    let other = log(vec![finding("A002", vec![mark(Role::Communication, "src/a b.c", 1)])], "MPI_Send(x);\n");
    assert_ne!(print(&before, 0), print(&other, 0));
}

#[test]
fn levels_follow_the_gain() {
    let with = |after_s, certainty| {
        let caveats = if certainty == Certainty::Check { vec!["blocks".to_owned()] } else { Vec::new() };
        let finding = Finding { gain: Some(Gain { before_s: 1.0, after_s }), caveats, ..finding("A001", Vec::new()) };
        assert_eq!(finding.certainty(), certainty);
        Level::of(&finding)
    };
    assert_eq!(with(0.85, Certainty::Proven), Level::Error);
    assert_eq!(with(0.85, Certainty::Check), Level::Warning);
    assert_eq!(with(0.95, Certainty::Proven), Level::Warning);
    assert_eq!(with(0.995, Certainty::Proven), Level::Note);
    assert_eq!(with(1.2, Certainty::Proven), Level::Note);
    assert_eq!(Level::of(&Finding { gain: None, ..finding("A001", Vec::new()) }), Level::Note);
}

#[test]
fn paths_become_uris() {
    assert_eq!(uri("./a.c"), "a.c");
    assert_eq!(uri("/x/ä#1.c"), "file:///x/%C3%A4%231.c");
    assert_eq!(uri("c:d.f90"), "c%3Ad.f90");
}
