//! SimGrid's network models on SimGrid's platforms: the program gives SimGrid's completion times.

use std::fmt::Write;

use serde::Deserialize;

use super::Desk;

/// Platform with messages and their end times in SimGrid; `simgrid/README.md` names the sources.
#[derive(Deserialize)]
struct Case {
    name: String,
    platform: String,
    flows: Vec<Flow>,
    end_s: Ends,
}

/// End times by model and message \[s\].
#[derive(Deserialize)]
struct Ends {
    cm02_rtt: Vec<f64>,
    lv08: Vec<f64>,
    lv08_crosstraffic: Vec<f64>,
}

#[derive(Deserialize)]
struct Flow {
    src: String,
    dst: String,
    bytes: f64,
    start_s: f64,
}

/// Sets for which SimGrid's results differ without its selective update.
#[derive(Deserialize)]
struct Full {
    case01: Set1,
    case08: Set8,
}

#[derive(Deserialize)]
struct Set1 {
    cm02_rtt: Vec<f64>,
}

#[derive(Deserialize)]
struct Set8 {
    lv08_crosstraffic: Vec<f64>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("simgrid/cases.json")).unwrap()
}

/// Returns the rank of a host; hosts are named h0, h1, ... in the order of ranks.
fn rank(host: &str) -> u32 {
    host.strip_prefix('h').unwrap().parse().unwrap()
}

impl Case {
    /// Returns the end of each message by `hayase run` under a preset \[s\].
    fn ends(&self, preset: &str) -> Vec<f64> {
        // A sender's messages in the order of their starts, each as long after the one before.
        let mut order: Vec<usize> = (0..self.flows.len()).collect();
        order.sort_by(|&a, &b| self.flows[a].start_s.total_cmp(&self.flows[b].start_s));
        let mut table = "src,dst,bytes,delay\n".to_owned();
        let mut last = [0.0; 64];
        let mut sent = [0; 64];
        let mut places = vec![(0, 0); self.flows.len()];
        for f in order {
            let Flow { src, dst, bytes, start_s } = &self.flows[f];
            let src = rank(src);
            let delay = start_s - std::mem::replace(&mut last[src as usize], *start_s);
            writeln!(table, "{src},{},{bytes},{delay} s", rank(dst)).unwrap();
            places[f] = (src, sent[src as usize]);
            sent[src as usize] += 1;
        }
        let desk = Desk::new().file("platform.xml", &self.platform).file("flows.csv", &table);
        let words = format!("run -t platform.xml -p flows.csv --preset {preset} -o messages.csv");
        desk.hayase(&words).assert().success();
        let text = desk.read("messages.csv");
        let mut ends = vec![f64::NAN; self.flows.len()];
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let place = (cells[0].parse().unwrap(), cells[2].parse().unwrap());
            let f = places.iter().position(|&other| other == place).unwrap();
            ends[f] = cells[5].parse().unwrap();
        }
        ends
    }

    /// Asserts that each message ends at its expected time \[s\].
    fn agrees(&self, preset: &str, expected: &[f64]) {
        for (f, (end, expected)) in self.ends(preset).into_iter().zip(expected).enumerate() {
            let apart = (end - expected).abs() / expected;
            assert!(apart <= 1e-9, "{}, {preset}, message {f}: {end} s, SimGrid {expected} s", self.name);
        }
    }
}

#[test]
fn completion_times_are_those_of_cm02() {
    let full: Full = serde_json::from_str(include_str!("simgrid/full.json")).unwrap();
    for case in cases() {
        let expected = if case.name == "case01" { &full.case01.cm02_rtt } else { &case.end_s.cm02_rtt };
        case.agrees("simgrid-cm02", expected);
    }
}

#[test]
fn completion_times_are_those_of_lv08() {
    for case in cases() {
        case.agrees("simgrid-lv08", &case.end_s.lv08);
    }
}

#[test]
fn completion_times_are_those_of_lv08_with_cross_traffic() {
    let full: Full = serde_json::from_str(include_str!("simgrid/full.json")).unwrap();
    for case in cases() {
        let expected =
            if case.name == "case08" { &full.case08.lv08_crosstraffic } else { &case.end_s.lv08_crosstraffic };
        case.agrees("simgrid-lv08-crosstraffic", expected);
    }
}

#[test]
fn all_messages_of_a_pipe_stop_where_the_first_has_its_bandwidth() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("simgrid/pipes.json")).unwrap();
    for case in cases {
        case.agrees("simgrid-cm02", &case.end_s.cm02_rtt);
        // (None if rounding decides in SimGrid that the first message stops the others.)
        if !case.end_s.lv08.is_empty() {
            case.agrees("simgrid-lv08", &case.end_s.lv08);
            case.agrees("simgrid-lv08-crosstraffic", &case.end_s.lv08_crosstraffic);
        }
    }
}

#[test]
fn windows_hold_messages_back_as_in_simgrid() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("simgrid/window.json")).unwrap();
    for case in cases {
        case.agrees("simgrid-cm02", &case.end_s.cm02_rtt);
        case.agrees("simgrid-lv08", &case.end_s.lv08);
        case.agrees("simgrid-lv08-crosstraffic", &case.end_s.lv08_crosstraffic);
    }
}

#[test]
fn wrong_terms_are_told_with_their_place() {
    let scenario = "[topology.fat-tree]\ndown = [4]\n[workload.ring]\nsize = \"1 B\"\n[sharing.redistribute]\n\
        [transport.flow]\nlatency-factor = 0.5\nbandwidth-factor = 0\ncross-traffic = 1.5\nweight-size = \"1 B\"\nwindow = \"0 B\"\n";
    let desk = Desk::new().file("wrong.toml", scenario);
    let output = desk.hayase("run wrong.toml").assert().code(2).get_output().stderr.clone();
    let text = String::from_utf8(output).unwrap();
    for (line, what) in [
        (7, "0.5 is not a latency factor"),
        (8, "0 is not a bandwidth factor"),
        (9, "1.5 is not a fraction of a rate"),
        (10, "without weights no message has use for a weight size"),
        (11, "nothing ever moves in a window of 0 bytes"),
        (5, "this policy cannot share links among messages with terms of their own"),
    ] {
        assert!(text.contains(what), "{what}: {text}");
        assert!(text.contains(&format!("wrong.toml:{line}:")), "line {line}: {text}");
    }
}

#[test]
fn ways_back_that_are_not_there_take_nothing() {
    let platform = r#"<?xml version="1.0"?>
<platform version="4.1"><zone id="z" routing="Full"><host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/>
<link id="l" bandwidth="1000000Bps" latency="0s"/>
<route src="h0" dst="h1" symmetrical="NO"><link_ctn id="l"/></route></zone></platform>
"#;
    let flows = vec![Flow { src: "h0".to_owned(), dst: "h1".to_owned(), bytes: 970000.0, start_s: 0.0 }];
    let end_s = Ends { cm02_rtt: Vec::new(), lv08: Vec::new(), lv08_crosstraffic: Vec::new() };
    let case = Case { name: "one way".to_owned(), platform: platform.to_owned(), flows, end_s };
    case.agrees("simgrid-lv08-crosstraffic", &[1.0]);
}

/// 2 MB over a link of 1 MB/s that has half the bandwidth from 1 s on: 1 s, and 2 s for the second half.
#[test]
fn profiles_lie_beside_the_platform_wherever_that_is() {
    let platform = r#"<?xml version="1.0"?>
<platform version="4.1"><zone id="z" routing="Full"><host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/>
<link id="l" bandwidth="1MBps" latency="0s" bandwidth_file="profiles/slow.bw"/>
<route src="h0" dst="h1"><link_ctn id="l"/></route></zone></platform>
"#;
    let desk = Desk::new().file("sites/a/p.xml", platform).file("sites/a/profiles/slow.bw", "1.0 500000\n");
    let desk = desk.file("one.csv", "src,dst,bytes\n0,1,2000000\n");
    desk.hayase("run -t sites/a/p.xml -p one.csv -o messages.csv").assert().success();
    let text = desk.read("messages.csv");
    let end: f64 = text.lines().nth(1).unwrap().split(',').nth(5).unwrap().parse().unwrap();
    assert!((end - 3.0).abs() < 1e-9, "{text}");
}
