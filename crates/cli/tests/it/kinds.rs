//! `hayase run` with every kind of work: it equals the command of that kind, with its options and no others.

use serde_json::Value;

use super::master_slave::TASKS;
use super::{Desk, FABRIC, Said, predict};

const GOAL: &str = "\
num_ranks 2
rank 0 {
c: calc 1000
s: send 20000b to 1 tag 3
s requires c
}
rank 1 {
r: recv 20000b from 0 tag 3
}
";

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/cg.S.16.tsv.zst");

/// Returns the report without values that differ between runs.
fn report(desk: &Desk, words: &str) -> Value {
    let mut report: Value = desk.hayase(&format!("{words} --format json -q")).assert().success().json();
    report["meta"] = Value::Null;
    report
}

/// Checks that both commands give the same report.
fn same(desk: &Desk, words: &str, of_kind: &str) {
    assert_eq!(report(desk, words), report(desk, of_kind), "{words}; {of_kind}");
}

/// Checks that the arguments are refused with these texts.
fn refused(desk: &Desk, words: &str, told: &[&str]) {
    let stderr = desk.hayase(words).assert().code(2).stdout_eq("").stderr();
    for told in told {
        assert!(stderr.contains(told), "{words}: {told}: {stderr}");
    }
}

#[test]
fn a_program_is_replayed() {
    let desk = Desk::new().file("x.goal", GOAL).file("on.toml", FABRIC);
    for rest in [
        "x.goal -m myrinet",
        "x.goal -m myrinet --cpu-speed 4 --wildcards arrival",
        "x.goal -m myrinet --scenario on.toml --seeds 2 --placement random",
        "linear:ranks=4,size=20KB -m myrinet --cpu-speed 0.5",
        "gaussian-elimination:n=64,ranks=4 -m myrinet --fragment 1000B",
        &format!("{RECORDED} -m myrinet --fragment 700B --flop-rate 2e9 --skip-start=5"),
    ] {
        same(&desk, &format!("run {rest}"), &format!("replay {rest}"));
    }
    // Four times as fast: the calculation of 1 us takes a quarter.
    let makespan = |words: &str| report(&desk, words)["makespan_s"].as_f64().unwrap();
    let gained = makespan("run x.goal -m myrinet") - makespan("run x.goal -m myrinet --cpu-speed 4");
    assert!((gained - 750e-9).abs() < 1e-15, "{gained}");
    let files = "-o ranks.csv -o breakdown.svg -o trace.json";
    desk.hayase(&format!("run x.goal -m myrinet -q {files}")).assert().success();
    assert_eq!(desk.read("ranks.csv").lines().count(), 3);
}

#[test]
fn data_sets_are_predicted_in_any_order_and_by_options() {
    let desk = predict::desk();
    let of_kind = "predict --program ring.prog --computation a.comp --communication slow.comm";
    for words in [
        "run ring.prog a.comp slow.comm",
        "run slow.comm a.comp ring.prog",
        "run ring.prog --computation a.comp slow.comm",
        "run --program ring.prog --computation a.comp --communication slow.comm",
    ] {
        same(&desk, words, of_kind);
    }
    same(
        &desk,
        "run ring.prog 0-1=a.comp,2-3=b.comp slow.comm,0-1=fast.comm --scale 2 --times draw --seed 4",
        "predict --program ring.prog --computation 0-1=a.comp,2-3=b.comp --communication slow.comm,0-1=fast.comm \
         --scale 2 --times draw --seed 4",
    );
    same(&desk, "run ring.prog a.comp -m myrinet", "predict --program ring.prog --computation a.comp -m myrinet");
    refused(&desk, "run ring.prog a.comp b.comp slow.comm", &["`b.comp` and `a.comp` are both --computation"]);
    refused(&desk, "run ring.prog -m myrinet", &["computation"]);
    refused(&desk, "run ring.prog a.comp slow.comm --times best", &["there are: mean, line, draw"]);
}

#[test]
fn tasks_are_given_out_by_a_master() {
    let desk = Desk::new()
        .file("tasks.csv", TASKS)
        .file("tasks.toml", "bytes-in = \"16 B\"\n[tasks.file]\npath = \"tasks.csv\"\n")
        .file("farm.toml", "[workload.master-slave]\ntasks = \"tasks.csv\"\nworkers = 2\nlatency = \"5 us\"\n");
    for rest in [
        "tasks.csv --workers 1..3 --latency 5us --overhead 10us --gap 1ns/B",
        "tasks.toml -w 2 -k 2 --order shortest-first --prefetch 1",
        "tasks.csv --speeds 1,2 --lose 0@50us --detection 10us",
        "tasks.csv --processors 3 --vary order=listed,random --seeds 2",
        "exponential:count=100,mean=1ms --workers 4 --masters 2 --chunking guided",
    ] {
        same(&desk, &format!("run {rest}"), &format!("master-slave {rest}"));
    }
    // Options change the master/slave program of a scenario.
    same(&desk, "run farm.toml --workers 3 --order random", "master-slave tasks.csv --latency 5us -w 3 --order random");
}

#[test]
fn options_are_those_of_the_work_however_it_is_named() {
    let desk = Desk::new().file("x.goal", GOAL).file("s.toml", "[workload.trace]\npath = \"x.goal\"\n");
    for named in ["-p x.goal", "s.toml"] {
        same(&desk, &format!("run {named} -m myrinet --cpu-speed 3"), "replay x.goal -m myrinet --cpu-speed 3");
    }
    // Each job takes the options that it has.
    let end = |words: &str| report(&desk, words)["jobs"][0]["end_s"].as_f64().unwrap();
    let jobs = "run -t torus-4x4 --job a=x.goal:2 --job b=ring:4";
    assert!(end(&format!("{jobs} --cpu-speed 0.01")) > end(jobs) + 90e-6);
    // So do studies of one scenario.
    let base = report(&desk, "whatif s.toml -m myrinet --cpu-speed 3 --vary L=1us");
    assert_eq!(base, report(&desk, "whatif s.toml -m myrinet --set workload.trace.cpu-speed=3 --vary L=1us"));
}

#[test]
fn options_of_other_work_are_refused_with_those_that_there_are() {
    let desk = Desk::new().file("x.goal", GOAL).file("tasks.csv", TASKS).file("m.csv", "src,dst,bytes\n0,1,5\n");
    for (words, told) in [
        (
            "run x.goal -m myrinet --workers 3",
            ["`trace` has no `workers`", "`trace` is a program and has path, cpu-speed"],
        ),
        ("run x.goal -m myrinet --size 1KB", ["`trace` has no `size`", "is a program"]),
        ("run linear:ranks=4 --order listed", ["`program` has no `order`", "is a program and has rule, "]),
        ("run -t torus-4x4 -p ring --cpu-speed 2", ["`ring` has no `cpu-speed`", "is a pattern and has size, rounds"]),
        ("run -t torus-4x4 -p ring --order random", ["`ring` has no `order`", "is a pattern"]),
        ("run -t torus-4x4 -p ring --program a.prog", ["`ring` has no `program`", "is a pattern"]),
        ("run m.csv -t torus-4x4 --truncated", ["`file` has no `truncated`", "is a pattern"]),
        ("run tasks.csv -w 2 --injection all", ["`master-slave` has no `injection`", "is a farm and has tasks, grid"]),
        ("run tasks.csv -w 2 --region solve", ["`master-slave` has no `region`", "is a farm"]),
        ("replay linear:ranks=4 --flop-rate 1e9", ["`program` has no `flop-rate`", "is a program"]),
        // A value that another kind of work, or of choice, knows.
        ("run tasks.csv -w 2 --order zyx", ["unknown order `zyx`", "there are: listed, "]),
        ("run tasks.csv -w 2 --vary size=1KB", ["unknown parameter `size`", "there are: granularity, "]),
    ] {
        refused(&desk, words, &told);
    }
}

#[cfg(unix)]
#[test]
fn a_scenario_comes_through_a_pipe() {
    let scenario = format!("workload = \"ring\"\n{FABRIC}");
    let report = Desk::new().hayase("run /dev/stdin --format json -q").stdin(scenario).assert().success().json();
    assert_eq!(report["messages"], 4);
}

#[test]
fn one_run_has_one_work() {
    let desk = Desk::new().file("x.goal", GOAL).file("tasks.csv", TASKS);
    refused(&desk, "run x.goal tasks.csv", &["only data sets can be several files"]);
    refused(&desk, "run x.goal -p ring -t torus-4x4", &["`x.goal` is work, and --pattern names other work"]);
    refused(&desk, "run lineer:ranks=4", &["did you mean the program by rule `linear`?"]);
}

#[test]
fn the_help_of_run_says_where_options_of_each_kind_are_described() {
    let help = Desk::new().hayase("run --help").env("COLUMNS", "200").assert().success().stdout();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for verb in ["replay", "predict", "master-slave"] {
        assert!(help.contains(&format!("`hayase {verb} --help`")), "{verb}: {help}");
    }
    assert!(!help.contains("--cpu-speed") && !help.contains("--prefetch"), "{help}");
}
