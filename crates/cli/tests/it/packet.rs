//! Packet models in scenario files, on the command line, in comparisons and in reports.

use super::Said;
use hayase::report::Status;
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::{PatternWork, RunOptions};
use insta::assert_snapshot;

use crate::Desk;

const TORUS: &str = "[topology.torus]\ndims = [4, 4]\nbandwidth = \"1 GB/s\"\n";
const SPREAD: &str = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n";

fn base() -> Loader {
    Loader::new().text("s.toml", format!("{TORUS}{SPREAD}"))
}

fn load(loader: Loader) -> Scenario<PatternWork> {
    loader.load_pattern().unwrap_or_else(|invalid| panic!("{invalid}"))
}

fn makespan_us(loader: Loader) -> f64 {
    let report = load(loader).run(RunOptions::default()).report;
    assert_eq!(report.head.status, Status::Complete);
    report.head.makespan_s * 1e6
}

#[test]
fn what_is_wrong_with_the_options_of_packets_is_said_all_at_once() {
    let text = format!(
        "{TORUS}{SPREAD}[transport.packet]\nmodel = \"oq\"\npacket-size = \"0 B\"\nbuffer = 8\narbitration = \"round-robin\"\n"
    );
    assert_snapshot!(Loader::new().text("s.toml", text).load_pattern().unwrap_err().lines(), @r#"
    s.toml:9:15: packets of 0 B (from 1 B to 1.074 GB); Ethernet's are "1500 B", InfiniBand's "4 KiB"
    s.toml:10:10: `buffer` has no meaning for oq (only for `iq` and `fq`); leave it out, or write model = "iq"
    s.toml:11:15: `arbitration` has no meaning for oq (only for `iq`); leave it out, or write model = "iq"
    "#);
    let text = format!("{TORUS}{SPREAD}[transport.packet]\nmodel = \"xq\"\nbuffer = 0\nbufer = 1\n");
    assert_snapshot!(Loader::new().text("s.toml", text).load_pattern().unwrap_err().lines(), @r"
    s.toml:8:9: unknown model `xq`; did you mean `oq`?
    s.toml:9:10: a buffer of 0 packets; write a number from 1 to 1073741824
    s.toml:10:1: unknown key `bufer` in [transport.packet]; did you mean `buffer`?
    ");
    let text = format!("{TORUS}{SPREAD}[transport.packet]\nmodel = \"iq\"\nbuffer = 1\nhead-latency = 50\n");
    assert_snapshot!(Loader::new().text("s.toml", text).load_pattern().unwrap_err().lines(), @r#"s.toml:10:16: 50 has no unit; write a time like "1.5 us" or "250 ns""#);
    let text = format!("resolution = \"1 us\"\ntransport = \"packet:fq\"\n{TORUS}{SPREAD}");
    assert_snapshot!(Loader::new().text("s.toml", text).load_pattern().unwrap_err().lines(), @"s.toml:1:14: packets have no use for a resolution (only for flows); leave `resolution` out, or choose [transport.flow]");
    for wrong in ["packet:", "paket:oq", "flow:maxmin", "contention-free:x", ":"] {
        assert!(base().transport(wrong).load_pattern().is_err(), "{wrong}");
    }
}

#[test]
fn a_transport_is_chosen_in_a_file_by_a_word_or_by_a_flag() {
    let table = Loader::new().text("s.toml", format!("{TORUS}{SPREAD}[transport.packet]\nmodel = \"fq\"\n"));
    let word = Loader::new().text("s.toml", format!("transport = \"packet:fq\"\n{TORUS}{SPREAD}"));
    for loader in [table, word, base().transport("packet:fq"), base().set("--set", "transport.packet.model=fq")] {
        let scenario = load(loader);
        assert_eq!(scenario.network().unwrap().transport.name(), "packet:fq");
        // The scenario of a report is the same scenario.
        let again = load(Loader::new().text("r.json.toml", toml::to_string(&scenario.to_json()).unwrap()));
        assert_eq!(again.to_json(), scenario.to_json());
    }
    // The packet size of a file stays if a flag chooses another model, but keys of the file's model do not.
    let file = format!("{TORUS}{SPREAD}[transport.packet]\nmodel = \"fq\"\npacket-size = \"4 KiB\"\nbuffer = 1\n");
    let scenario = load(Loader::new().text("s.toml", file).transport("packet:iq"));
    assert_eq!(makespan_us(base().transport("packet:iq").set("--set", "transport.packet.packet-size=4 KiB")), {
        scenario.run(RunOptions::default()).report.head.makespan_s * 1e6
    });
    let scenario = load(base().transport("flow:equal-share"));
    assert_eq!(
        (scenario.network().unwrap().transport.name().as_str(), scenario.network().unwrap().sharing.name()),
        ("flow", "equal-share")
    );
    assert!(load(base()).network().unwrap().transport.is_default());
}

/// A rank's 15 messages of 20 us follow one another whatever else moves; each has the latencies of two host
/// links and 1 to 4 others.
#[test]
fn without_contention_each_message_takes_its_time_alone() {
    assert_eq!(makespan_us(base().transport("contention-free")), 300.0);
    let latency = base().set("--set", "topology.torus.latency=1 us").set("--set", "topology.torus.host-latency=2 us");
    // Of a node's 15 messages, 4 go 1 link, 6 go 2, 4 go 3 and 1 goes 4: 32 in all.
    let expected = 300.0 + 15.0 * 4.0 + 32.0;
    assert!((makespan_us(latency.transport("contention-free")) - expected).abs() < 1e-9);
}

#[test]
fn flows_never_beat_messages_without_contention() {
    for pattern in ["all-to-all-pairwise", "halo-2d", "allreduce-ring"] {
        let loader = || Loader::new().topology("torus-8x8").pattern(pattern).placement("random");
        let alone = makespan_us(loader().transport("contention-free"));
        let flows = makespan_us(loader().transport("flow"));
        assert!(alone <= flows * (1.0 + 1e-12), "{pattern}: {alone} us alone, {flows} us as flows");
    }
}

#[test]
fn every_pattern_and_injection_rule_runs_on_packets() {
    for pattern in ["all-to-all-linear", "broadcast-binomial", "allreduce-rabenseifner", "halo-2d", "npb-cg-W-16"] {
        for injection in ["queue", "sendrecv", "barrier", "left", "all", "window=3"] {
            for transport in ["packet:oq", "packet:iq", "packet:fq"] {
                let loader = Loader::new().topology("torus-4x4").pattern(pattern).size("3 KB").injection(injection);
                let loader = if pattern.starts_with("npb") {
                    Loader::new().topology("torus-4x4").pattern(pattern).injection(injection)
                } else {
                    loader
                };
                let scenario = load(loader.placement("random").transport(transport));
                let report = scenario.run(RunOptions::default()).report;
                assert_eq!(report.head.status, Status::Complete, "{pattern}, {injection}, {transport}");
                assert_eq!(
                    report.head.messages,
                    scenario.work().pattern.messages(),
                    "{pattern}, {injection}, {transport}"
                );
                assert!(report.contention >= 1.0 - 1e-9, "{pattern}, {injection}, {transport}: {}", report.contention);
                assert!(report.ratio_to_bound >= 1.0 - 1e-9, "{pattern}, {injection}, {transport}");
            }
        }
    }
}

/// Nodes send to themselves, with and without bytes; departures are reported where they exist.
#[test]
fn messages_of_no_bytes_and_to_the_own_node_go_through() {
    let desk = Desk::new().file("m.csv", "src,dst,bytes\n0,0,5000\n0,1,0\n0,2,5000\n0,0,0\n1,0,1\n2,1,1501\n");
    for injection in ["queue", "left", "all"] {
        for model in ["oq", "iq", "fq"] {
            let words = format!(
                "run -q -t torus-4x4 -p m.csv --transport packet:{model} --injection {injection} --format json"
            );
            let output = desk.hayase(&words).assert().success().get_output().stdout.clone();
            let report: serde_json::Value = serde_json::from_slice(&output).unwrap();
            assert_eq!(report["messages"], 6, "{words}");
        }
    }
}

#[test]
fn a_report_with_packets_tells_of_queues() {
    let run = load(base().transport("packet:iq")).run(RunOptions { link_use: true, ..RunOptions::default() });
    // 240 messages of 14 packets; 32 network links and two host links for each of a node's messages.
    assert_eq!(run.report.meta.packet_hops, Some(16 * 14 * (32 + 30)));
    assert!(run.links.iter().any(|link| link.peak_queue > 1 && link.mean_queue > 0.0));
    assert!(run.links.iter().any(|link| link.blocked_s > 0.0), "buffers of 8 packets fill up");
    for link in &run.links {
        assert!(link.busy_s + link.blocked_s <= run.report.head.makespan_s * (1.0 + 1e-12), "{link:?}");
        // A link is busy for the time that its bytes take.
        assert!((link.busy_s - link.bytes as f64 / 1e9).abs() < 1e-12, "{link:?}");
    }
    let free = load(base().transport("packet:oq")).run(RunOptions::default());
    assert!(free.links.iter().all(|link| link.blocked_s == 0.0), "output queues refuse nothing");
}

const RING: &str = "topology.torus = { dims = [7], bandwidth = \"1 GB/s\", host-link = false }
workload.permutation = { kind = \"shift\", offset = 3, size = \"30 KB\" }
transport.packet = { model = \"iq\", buffer = 1, deadlock-avoidance = \"none\" }
";

#[test]
fn a_deadlock_of_packets_is_told_with_its_circle() {
    let desk = Desk::new().file("ring.toml", RING);
    let output = desk.hayase("run -q ring.toml --format json").assert().code(3).get_output().clone();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["status"], "deadlocked");
    assert_eq!(report["gridlock"]["packets"], 14);
    assert_eq!(report["gridlock"]["cycle"].as_array().unwrap().len(), 7);
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r#"
    deadlock at 1.5 us, with 0 messages (0 B) delivered: 14 packets wait; these channels wait for each other in a circle:
      node 0 -> node 1
      node 1 -> node 2
      node 2 -> node 3
      node 3 -> node 4
      node 4 -> node 5
      node 5 -> node 6
      node 6 -> node 0
    the buffer behind each is full, and its first packet waits for the next; the last waits for the first
    help: [transport.packet] deadlock-avoidance = "classes" prevents this on any fabric under any rule; on a torus in dimension-order "local-bubble" and "dateline" do, too
    "#);
    let avoided = "run -q ring.toml --set transport.packet.deadlock-avoidance=dateline";
    desk.hayase(avoided).assert().success();
    let output =
        desk.hayase("compare -q ring.toml --transport packet:iq,packet:oq").assert().code(3).get_output().clone();
    assert!(String::from_utf8(output.stderr).unwrap().contains("wait for each other in a circle"));
}

const SLIM_FLY: &str = "topology.slim-fly = { q = 5, p = 1, bandwidth = \"1 GB/s\" }
workload.permutation = { kind = \"random\", size = \"6 KB\" }
transport.packet = { model = \"iq\", buffer = 1, channels = 3 }
routing.ugal-l = {}
";

#[test]
fn too_few_channels_are_told_with_how_many_are_needed() {
    let desk = Desk::new().file("slim.toml", SLIM_FLY);
    let output = desk.hayase("run -q slim.toml").assert().code(2).get_output().clone();
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r#"
    error[too-few-channels]: 3 virtual channels cannot keep packets from waiting in a circle
     --> slim.toml:3:59
      |
    3 | transport.packet = { model = "iq", buffer = 1, channels = 3 }
      |                                                           ^ 4 are needed on `slim-fly q=5 p=1` under this rule
      |
      = help: write `channels = 4`, or leave it out
    "#);
    desk.hayase("run -q slim.toml --set transport.packet.channels=4").assert().success();
    // Shortest ways of two links need two.
    desk.hayase("run -q slim.toml --routing minimal").assert().success();
    assert!(
        desk.hayase("run -q slim.toml --set transport.packet.deadlock-avoidance=none")
            .assert()
            .code(2)
            .stderr()
            .contains("only for classes")
    );
}

/// The bytes that the packets of all messages carried over each link equal those in the report.
#[test]
fn packets_that_choose_their_ways_are_counted_on_the_links_that_they_crossed() {
    let loader = || {
        Loader::new()
            .text("t.toml", "[topology.dragonfly]\np = 2\nbandwidth = \"1 GB/s\"\n")
            .text("p.toml", "[workload.permutation]\nkind = \"shift\"\noffset = 8\nsize = \"15 KB\"\n")
    };
    for (routing, transport) in [("ugal-l", "packet:iq"), ("progressive", "packet:oq"), ("spray", "packet:fq")] {
        let run = || load(loader().routing(routing).transport(transport)).run(RunOptions::default());
        let (first, again) = (run(), run());
        assert_eq!(first.report.head.status, Status::Complete, "{routing}");
        assert_eq!(first.report.head.fingerprint, again.report.head.fingerprint, "{routing}");
        // Whole packets of 1,500 B, each counted on each of its links.
        let carried: u64 = first.links.iter().map(|link| link.bytes).sum();
        assert_eq!(first.report.meta.packet_hops.unwrap() * 1500, carried, "{routing}");
    }
}

#[test]
fn transports_are_set_against_each_other() {
    let desk = Desk::new();
    let words = "compare -q -t torus-4x4 -p all-to-all-pairwise --jitter 1.5us --seeds 2 \
                 --transport packet:oq,packet:fq,flow:equal-share,flow:max-min,contention-free -o c.json -o c.svg -o c.csv -o c.md";
    let output = desk.hayase(words).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains("/ oq") && text.contains("speed-up on fq") && text.contains("packet-hops ["), "{text}");
    let comparison: serde_json::Value = serde_json::from_str(&desk.read("c.json")).unwrap();
    let rows = comparison["rows"].as_array().unwrap();
    let names: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["transport"].as_str().unwrap(), row["sharing"].as_str().unwrap())).collect();
    // Best first: nothing is faster than messages without contention.
    assert_eq!(names[0], ("contention-free", ""));
    assert!(rows.is_sorted_by_key(|row| row["makespan"]["mean_s"].as_f64()), "{text}");
    let expected =
        [("packet:oq", ""), ("packet:fq", ""), ("flow", "equal-share"), ("flow", "max-min"), ("contention-free", "")];
    assert!(expected.iter().all(|name| names.contains(name)) && names.len() == expected.len(), "{names:?}");
    assert!(desk.read("c.md").contains("speed-up on oq"));
    assert!(
        desk.read("c.csv").lines().any(|line| line.contains("packet:oq") && line.contains(",13888,")),
        "packet-hops of 240 messages"
    );
    // A transport without sharing policies runs once, whatever policies are listed.
    let words = "compare -q -t torus-4x4 -p ring --sharing max-min,equal-share --transport packet:oq,flow -o d.json";
    desk.hayase(words).assert().success();
    let comparison: serde_json::Value = serde_json::from_str(&desk.read("d.json")).unwrap();
    assert_eq!(comparison["rows"].as_array().unwrap().len(), 3);
}

#[test]
fn settings_of_a_choice_hold_for_it_in_comparisons_too() {
    let desk = Desk::new();
    let load = "-t torus-8x8 -p all-to-all-pairwise --size 20KB";
    let turn = "--set transport.packet.deadlock-avoidance=turn";
    let of_run = |words: &str| {
        desk.hayase(&format!("run {load} --format json -q {words}")).assert().success().json()["makespan_s"].clone()
    };
    let of_rows = |words: &str| {
        let said = desk.hayase(&format!("compare {load} --format json -q {words}")).assert().success().json();
        let mut rows: Vec<_> = said["rows"].as_array().unwrap().clone();
        rows.sort_by_key(|row| row["transport"].as_str().unwrap().to_owned());
        rows.iter().map(|row| row["makespan"]["mean_s"].clone()).collect::<Vec<_>>()
    };
    let (plain, set) = (of_run("--transport packet:iq"), of_run(&format!("--transport packet:iq {turn}")));
    assert_ne!(plain, set);
    assert_eq!(of_rows("--transport packet:iq"), [plain]);
    let flow = of_run("--transport flow");
    assert_eq!(of_rows(&format!("--transport flow,packet:iq {turn}")), [flow, set.clone()]);
    assert_eq!(of_rows(&format!("--transport packet:iq {turn}")), [set]);
    // No value of the list has the key.
    for verb in ["run", "compare"] {
        let said = desk.hayase(&format!("{verb} {load} --transport flow {turn}")).assert().code(2).stdout_eq("");
        assert!(said.stderr().contains("`--transport flow` chooses `flow`"), "{}", said.stderr());
    }
}
