//! Tests of advice: changes of a program and their gains.

use super::{Desk, Said};
use serde_json::Value;

/// Rank 0 computes, sends three messages to rank 1 one after another, and computes on; rank 1 receives them; five
/// times.
fn run() -> String {
    let mut text = "#hxtrace-text 1\n#title pair\n#ranks 2\n#gap_overhead_ns 0\n\
                    #columns op cpu_gap_ns peer tag bytes comm reqs site\n\
                    #site 0 pair.c:10\n#site 1 pair.c:11\n#site 2 pair.c:12\n#site 3 pair.c:20\n#site 4 pair.c:21\n#site 5 pair.c:22\n"
        .to_owned();
    for (rank, call, first) in [(0, "Send", 0), (1, "Recv", 3)] {
        text += &format!("#rank {rank}\nInit\t0\t{rank}\t0\t0\t0\t-\t-1\n");
        for _ in 0..5 {
            for (i, bytes) in [8, 4000, 8].into_iter().enumerate() {
                let gap = if i == 0 { 300_000 } else { 100 };
                let peer = 1 - rank;
                text += &format!("{call}\t{gap}\t{peer}\t{i}\t{bytes}\t0\t-\t{}\n", first + i);
            }
        }
        text += &format!("Allreduce\t100000\t-1\t0\t8\t0\t-\t-1\nFinalize\t0\t{rank}\t0\t0\t0\t-\t-1\n");
    }
    text
}

fn json(desk: &Desk, words: &str) -> Value {
    desk.hayase(words).assert().success().json()
}

#[test]
fn advice_is_ranked_by_what_the_changed_program_saves() {
    let desk = Desk::new().file("run.tsv", &run());
    let advice = json(&desk, "-q advise run.tsv -m fast-ethernet --format json");
    let before = advice["simulated"]["makespan_s"].as_f64().unwrap();
    let findings = advice["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    let gains: Vec<f64> = findings.iter().filter_map(|finding| finding["gain_s"].as_f64()).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b), "{gains:?}");
    assert!(gains[0] > 0.0, "{gains:?}");
    for finding in findings {
        match finding["gain_s"].as_f64() {
            Some(gain) => {
                let after = finding["changed"]["makespan_s"].as_f64().unwrap();
                assert!((before - after - gain).abs() < 1e-12);
            }
            None => assert!(finding["not_simulated"].is_string()),
        }
    }
    // Three messages of one destination: two latencies less each time.
    let merged = findings.iter().find(|finding| finding["rule"] == "A002").expect("messages can be merged");
    assert!(merged["gain_s"].as_f64().unwrap() > 0.0, "{merged}");
}

#[test]
fn the_same_advice_comes_from_any_number_of_threads() {
    let desk = Desk::new().file("run.tsv", &run());
    let one = json(&desk, "-q advise run.tsv -m myrinet -t torus-4x4 --format json --threads 1");
    assert_eq!(one, json(&desk, "-q advise run.tsv -m myrinet -t torus-4x4 --format json --threads 3"));
}

#[test]
fn advice_is_written_as_page_log_and_json_and_may_be_a_failure() {
    let desk = Desk::new().file("run.tsv", &run());
    desk.hayase("-q advise run.tsv -m fast-ethernet -o a.html -o a.sarif -o a.json --deny warning").assert().code(1);
    assert!(desk.read("a.html").starts_with("<!doctype html>"));
    let log: Value = serde_json::from_str(&desk.read("a.sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let advice: Value = serde_json::from_str(&desk.read("a.json")).unwrap();
    assert_eq!(advice["schema"], "hayase-advice-1");
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), advice["findings"].as_array().unwrap().len());
}

#[test]
fn without_a_machine_there_are_no_gains_and_that_is_said() {
    let desk = Desk::new().file("run.tsv", &run());
    let output = desk.hayase("advise run.tsv --format json").assert().success();
    let error = output.stderr();
    assert!(error.contains("gains are not simulated"), "{error}");
    let advice: Value = output.json();
    assert!(advice["simulated"].is_null());
    assert!(advice["notes"].to_string().contains("memory accesses were not recorded"));
}

#[test]
fn a_schedule_gets_the_advice_that_a_simulation_gives() {
    let desk = Desk::new();
    let advice = json(&desk, "-q advise linear:ranks=8,size=64KiB -m myrinet --format json");
    assert!(advice["notes"].to_string().contains("a schedule has no calls"));
    let rules: Vec<&str> =
        advice["findings"].as_array().unwrap().iter().filter_map(|finding| finding["rule"].as_str()).collect();
    assert!(rules.iter().all(|rule| rule.starts_with("A2")), "{rules:?}");
}

#[test]
fn rules_are_explained() {
    let desk = Desk::new();
    let list = desk.hayase("advise --explain").assert().success();
    let list = list.stdout();
    for rule in ["A001", "A002", "A004", "A201", "A202", "A203", "A204"] {
        assert!(list.contains(rule), "{rule}: {list}");
    }
    assert!(desk.hayase("advise --explain a001").assert().success().stdout().starts_with("A001 overlap: "));
    let error = desk.hayase("advise --explain overlp").assert().code(2).stdout_eq("").stderr();
    assert!(error.contains("there is no rule `overlp`") && error.contains("did you mean `overlap`?"), "{error}");
    // The old name of the command, in all forms.
    for rest in ["", " overlap", " A001-3 --format json", " --format csv"] {
        let [new, old] = ["advise --explain", "explain"].map(|verb| desk.hayase(&format!("{verb}{rest}")).assert());
        assert_eq!(new.success().stdout(), old.success().stdout(), "{rest}");
    }
    // It excludes advice.
    for words in ["advise run --explain", "advise --explain overlap -m myrinet", "advise --explain overlap --all"] {
        let error = desk.hayase(words).assert().code(2).stdout_eq("").stderr();
        assert!(error.contains("cannot be used with"), "{words}: {error}");
    }
    let error = desk.hayase("advise -m myrinet").assert().code(2).stdout_eq("").stderr();
    assert!(error.contains("<TRACE>"), "{error}");
}

#[test]
fn what_is_to_be_checked_is_never_called_proven() {
    let desk = Desk::new().file("run.tsv", &run());
    let advice = json(&desk, "-q advise run.tsv -m fast-ethernet -t torus-4x4 --all --format json");
    let findings = advice["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let checks = finding["caveats"].as_array().unwrap().len();
        assert_eq!(finding["certainty"] == "proven", checks == 0, "{finding}");
    }
    let text = desk.hayase("-q advise run.tsv -m fast-ethernet -t torus-4x4 --all").assert().success();
    let text = text.stdout();
    for finding in findings {
        let id = format!("\n{} ", finding["id"].as_str().unwrap());
        let (_, own) = text.split_once(&id).unwrap();
        let own = own.split("\n\n").next().unwrap();
        assert_eq!(own.contains("    check: "), finding["certainty"] == "check", "{own}");
    }
}
