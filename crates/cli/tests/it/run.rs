//! Tests of `hayase run`: results on standard output, files that are whole or absent, and ends of runs.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use super::{Desk, FABRIC, MESSAGES, Said};
use snapbox::str;

fn desk() -> Desk {
    Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES)
}

#[test]
fn a_run_prints_a_table_and_says_on_the_side_what_it_took() {
    desk()
        .hayase("run -t fabric.toml -p messages.csv")
        .assert()
        .success()
        .stderr_eq(concat!(
            "accuracy: unknown, no similar case has been measured; hayase accuracy -t fabric.toml -p messages.csv measures it\n",
            "simulated in [..] messages/s, [..] events/s, peak memory [..]\n"
        ))
        .stdout_eq(str![[r#"
fat-tree down 4 up 1 (4 nodes, 1 switch, 8 links)
messages of messages.csv
placement regular, routing d-mod-k, sharing max-min, injection queue, seed 1

makespan      40 us
messages      3
bytes         50 KB
bandwidth     312.5 MB/s per node, 1.25 GB/s in all
bounds        injection     40 us       makespan is 1.000 times this
              busiest link  40 us       1.000 times
              bisection     10 us       4.000 times
contention    1.000  (no message was held back by another)
fingerprint   8eccec2d0e0f85c3

The 4 busiest links
link            capacity [GB/s]  bytes [KB]  utilisation [%]  busy [us]  peak flows  mean flows
───────────────────────────────────────────────────────────────────────────────────────────────
node 0 -> L1.0            1.000      40.000            100.0     40.000           1        1.00
L1.0 -> node 2            1.000      30.000             75.0     30.000           1        1.00
L1.0 -> node 1            1.000      20.000             50.0     20.000           1        1.00
node 3 -> L1.0            1.000      10.000             25.0     10.000           1        1.00

"#]]);
}

#[test]
fn quiet_leaves_nothing_but_results() {
    desk().hayase("run -t fabric.toml -p messages.csv -q").assert().success().stderr_eq("");
}

#[test]
fn a_report_can_be_run_again_and_says_the_same() {
    let desk = desk();
    let json = |words: &str| {
        let assert = desk.hayase(words).assert().success();
        let mut report: serde_json::Value = assert.json();
        report["meta"].take();
        report
    };
    let first = json("run -t fabric.toml -p messages.csv --injection all -o report.json --format json");
    assert_eq!(first, json("run report.json --format json"));
    assert_eq!(first["status"], "complete");
    assert_eq!(first["bytes"], 50_000);
    // Both messages of rank 0 share its link, and 50 KB arrive in all.
    assert_eq!(first["makespan_s"].as_f64(), Some(40e-6));
}

#[test]
fn files_say_by_their_name_what_they_hold() {
    let desk = desk();
    let words = "run -t fabric.toml -p messages.csv -q -o out/report.json -o out/all-messages.csv -o out/Links.csv \
                 -o out/loads.svg -o out/timeline.svg";
    fs::create_dir(desk.path().join("out")).unwrap();
    desk.hayase(words).assert().success();
    snapbox::assert_data_eq!(
        desk.read("out/all-messages.csv"),
        str![[r#"
src,dst,index,bytes,start_s,end_s
3,2,0,10000,0,0.00001
0,1,0,20000,0,0.00002
0,2,1,20000,0.00002,0.00004

"#]]
    );
    snapbox::assert_data_eq!(
        desk.read("out/Links.csv"),
        str![[r#"
id,name,capacity_Bps,bytes,busy_s,utilisation,peak_flows,mean_flows,peak_queue,mean_queue,blocked_s,delay_s
0,node 0 -> L1.0,1000000000,40000,0.00004,1,1,1,0,0,0,0
1,node 1 -> L1.0,1000000000,0,0,0,0,0,0,0,0,0
2,node 2 -> L1.0,1000000000,0,0,0,0,0,0,0,0,0
3,node 3 -> L1.0,1000000000,10000,0.00001,0.25,1,1,0,0,0,0
4,L1.0 -> node 0,1000000000,0,0,0,0,0,0,0,0,0
5,L1.0 -> node 1,1000000000,20000,0.00002,0.5,1,1,0,0,0,0
6,L1.0 -> node 2,1000000000,30000,0.00003,0.75,1,1,0,0,0,0
7,L1.0 -> node 3,1000000000,0,0,0,0,0,0,0,0,0

"#]]
    );
    for name in ["out/loads.svg", "out/timeline.svg"] {
        assert!(desk.read(name).contains("</svg>"), "{name}");
    }
    assert_eq!(fs::read_dir(desk.path().join("out")).unwrap().count(), 5);
}

#[test]
fn seeds_are_run_and_their_spread_is_reported() {
    let desk = desk();
    let assert = desk.hayase("run -t fabric.toml -p messages.csv --jitter 1us --seeds 5 --format json").assert();
    let report: serde_json::Value = assert.success().json();
    let seeds = &report["seeds"];
    assert_eq!(seeds["seeds"], serde_json::json!([1, 2, 3, 4, 5]));
    assert_eq!(seeds["makespans_s"][0], report["makespan_s"]);
    assert!(seeds["sd_s"].as_f64().unwrap() > 0.0);
    desk.hayase("run -t fabric.toml -p messages.csv --seeds 5 -q").assert().success();
    desk.hayase("run -t fabric.toml -p messages.csv --seeds 5")
        .assert()
        .stderr_eq("hint: nothing [..]\naccuracy: unknown, [..]\nsimulated [..]\n");
}

#[test]
fn rates_are_csv_with_the_bottleneck_of_each_message() {
    desk()
        .hayase("rates -t fabric.toml -p messages.csv --injection all --format csv")
        .assert()
        .success()
        .stderr_eq("")
        .stdout_eq(str![[r#"
src,dst,rate_Bps,bottleneck
0,1,500000000,node 0 -> L1.0
0,2,500000000,node 0 -> L1.0
3,2,500000000,L1.0 -> node 2

"#]]);
}

#[test]
fn a_comparison_ranks_patterns_and_is_written_in_four_forms() {
    let desk = desk().file("other.csv", "src,dst,bytes\n0,1,20000\n3,2,30000\n");
    let words = "compare -t fabric.toml -p messages.csv,other.csv --sharing max-min,equal-share -o c.svg -o c.csv \
                 -o c.json -o c.md";
    let assert =
        desk.hayase(words).assert().success().stderr_eq("accuracy: unknown, no similar case has been measured; [..]\n");
    let text = assert.stdout();
    let best =
        "(other.csv with sharing max-min) and (other.csv with sharing equal-share) are equally fast and the fastest, ";
    assert!(text.contains(best), "{text}");
    let end = "other.csv is the fastest pattern in both cases of the rest, the next takes 33 % longer.\n";
    assert!(text.ends_with(end), "{text}");
    let csv = desk.read("c.csv");
    assert_eq!(csv.lines().count(), 5, "{csv}");
    let json: serde_json::Value = serde_json::from_str(&desk.read("c.json")).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 4);
    assert!(desk.read("c.md").contains("| messages.csv | max-min | 40.000 |"), "{}", desk.read("c.md"));
    assert!(desk.read("c.svg").contains("</svg>"));
}

#[test]
fn a_plan_for_another_fabric_is_played_with_a_warning() {
    let desk = Desk::new()
        .file("fabric.toml", FABRIC)
        .file("m.csv", "# fabric: 0123456789abcdef\nsrc,dst,bytes,slot,path,flow_weight\n0,1,100,0,,1\n");
    let assert = desk.hayase("run -t fabric.toml -p m.csv --format json").assert().success();
    let text = assert.get_output().stderr.clone();
    let warning = "warning: this plan was made for another fabric (0123456789abcdef); its paths and slots may not fit";
    assert!(String::from_utf8(text).unwrap().starts_with(warning));
    let report: serde_json::Value = assert.json();
    assert_eq!(report["planned_for"], "0123456789abcdef");
}

#[test]
fn a_deadlock_names_who_waits_for_whom_and_has_an_exit_code_of_its_own() {
    let desk = Desk::new()
        .file("fabric.toml", FABRIC)
        .file("m.csv", "src,dst,bytes,after\n0,1,100,1:0\n1,2,100,2:0\n2,0,100,0:0\n3,0,100,\n");
    let assert = desk.hayase("run -t fabric.toml -p m.csv -q -o r.json -o messages.csv --format json").assert().code(3);
    let report: serde_json::Value = assert.json();
    assert_eq!((&report["status"], &report["messages"]), (&"deadlocked".into(), &1.into()));
    assert_eq!(report["stopped"], serde_json::json!({ "at_s": report["makespan_s"], "messages": 1, "bytes": 100 }));
    assert.stderr_eq(str![[r#"
deadlock at [..]s, with 1 message (100 B) delivered: 3 ranks wait for messages that never come

rank  next message  waits for
───────────────────────────────────────
   0             0  message 0 of rank 1
   1             0  message 0 of rank 2
   2             0  message 0 of rank 0

cycle: rank 0 waits for rank 1 waits for rank 2 waits for rank 0

"#]]);
    assert_eq!(desk.names(), ["fabric.toml", "m.csv", "r.json"]);
    desk.hayase("compare -t fabric.toml -p m.csv -q").assert().code(3).stdout_eq("");
}

#[test]
fn a_window_of_a_timeline_is_drawn_and_one_that_is_none_is_refused_before_the_run() {
    let desk = desk();
    desk.hayase("run -t fabric.toml -p messages.csv -q -o timeline.svg --window 1ns..").assert().success();
    assert!(desk.read("timeline.svg").contains("Drawn is the time from 1 ns to"));
    desk.hayase("replay linear:ranks=4 -m myrinet -q -o timeline.svg --window ..50us").assert().success();
    assert!(desk.read("timeline.svg").contains("Drawn is the time from 0 ps to 50 us"));
    desk.hayase("replay linear:ranks=4 -m myrinet -q -o timeline.svg --window 3000s..").assert().success();
    assert!(desk.read("timeline.svg").contains("Nothing is in this window"));
    for window in ["2us..1us", "1us..1us", "..", "1us", "a..b", "-1us..2us"] {
        for verb in ["run -t fabric.toml -p messages.csv", "replay linear:ranks=4 -m myrinet"] {
            let assert =
                desk.hayase(&format!("{verb} -o other-timeline.svg --window {window}")).assert().code(2).stdout_eq("");
            let said = assert.stderr();
            assert!(said.contains("--window") && said.contains("1.2ms..1.4ms"), "{said}");
        }
    }
    desk.hayase("run -t fabric.toml -p messages.csv --window 1us..2us").assert().code(2).stdout_eq("");
    assert!(!desk.names().iter().any(|name| name.contains("other")));
}

#[test]
fn a_timeline_of_millions_is_refused_before_the_run() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    let words = "run -t fabric.toml -p all-to-all-pairwise --set topology.fat-tree.down=[512] -o timeline.svg";
    desk.hayase(words).assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[too-large]: a timeline of 261,632 messages cannot be read (`timeline.svg`)
 |
 = help: at most 100,000 messages can be drawn; take a smaller run, or -o messages.csv

"#]]);
    assert_eq!(desk.names(), ["fabric.toml"]);
}

/// Starts a run that takes long enough to be stopped.
#[cfg(unix)]
fn long_run(desk: &Desk) -> std::process::Child {
    Command::new(snapbox::cmd::cargo_bin!("hayase"))
        .args("run -t fabric.toml -p all-to-all-simple-spread --placement random --progress never".split(' '))
        .args(["--set", "topology.fat-tree.down=[16,128]", "--set", "topology.fat-tree.up=[1,4]"])
        .args("--format json -o r.json -o messages.csv".split(' '))
        .current_dir(desk.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_reports_what_had_happened_and_leaves_no_half_file() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    let mut child = long_run(&desk);
    // The message table is being written as soon as the run has begun.
    while !desk.names().iter().any(|name| name.ends_with(".tmp")) {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    let stderr: Vec<String> = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr:?}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["status"], "interrupted");
    assert_eq!(desk.read("r.json"), stdout);
    assert_eq!(desk.names(), ["fabric.toml", "r.json"]);
    assert!(stderr.iter().any(|line| line.starts_with("stopping")), "{stderr:?}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let desk = Desk::new();
    let mut child = Command::new(snapbox::cmd::cargo_bin!("hayase"))
        .arg("schema")
        .current_dir(desk.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_with_a_reason() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(snapbox::cmd::cargo_bin!("hayase")).arg("schema").stdout(full).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), stderr.as_str()),
        (Some(1), "error: cannot write to standard output: no space left on device\n")
    );
}

#[test]
fn bounds_know_latencies_and_delays() {
    // 2 (P - 1) steps of 2 us each: a ring has a chain of them, and nothing shares a link.
    let ring = "topology.torus = { dims = [16], bandwidth = \"1 GB/s\", latency = \"2 us\", host-link = false }\n\
                workload.allreduce = { algorithm = \"ring\", size = \"16 B\" }\n";
    let desk = Desk::new().file("ring.toml", ring).file("fabric.toml", FABRIC);
    let report = |words: &str| -> serde_json::Value { desk.hayase(words).assert().success().json() };
    let run = report("run ring.toml -q --format json");
    let path = run["bounds"]["path_s"].as_f64().unwrap();
    assert!((path - 30.0 * (2e-6 + 1e-9)).abs() < 1e-15, "{path}");
    assert!(run["bounds"]["injection_s"].as_f64().unwrap() < path / 300.0);
    assert!((run["ratio_to_bound"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{run}");
    let text = desk.hayase("run ring.toml -q").assert().success().get_output().stdout.clone();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("critical path 60.03 us    1.000 times"), "{text}");
    // A delay counts; without delay and computation there is no such bound.
    let desk = desk.file("m.csv", "src,dst,bytes,delay\n0,1,1000,5 us\n");
    let of = |words: &str| desk.hayase(words).assert().success().get_output().stdout.clone();
    let delayed: serde_json::Value =
        serde_json::from_slice(&of("run -t fabric.toml -p m.csv -q --format json")).unwrap();
    assert_eq!(delayed["bounds"]["path_s"], delayed["makespan_s"]);
    let none: serde_json::Value =
        serde_json::from_slice(&of("run -t fabric.toml -p all-to-all-pairwise -q --format json")).unwrap();
    assert!(none["bounds"].get("path_s").is_none(), "{none}");
}
