//! Tests of `hayase whatif`.

use super::{Desk, Said};

/// Program in which one rank computes, then sends 20,000 bytes to the other: a rendezvous on Myrinet.
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

fn report(words: &str) -> serde_json::Value {
    Desk::new().file("x.goal", GOAL).hayase(words).assert().success().stderr_eq("").json()
}

#[test]
fn halving_and_doubling_a_parameter_follows_the_model() {
    let report = report("whatif x.goal -m myrinet --format json -q");
    let varied = report["varied"].as_array().unwrap();
    let find = |name: &str| varied.iter().find(|one| one["parameter"] == name).unwrap();
    let seconds = |value: &serde_json::Value| value["time_s"].as_f64().unwrap();
    let unchanged = report["makespan_s"].as_f64().unwrap();
    // Rendezvous: the request, the answer and the message have L each.
    let latency = find("L");
    assert_eq!(latency["base"], "850 ns");
    assert!((seconds(&latency["points"][1]) - unchanged - 3.0 * 850e-9).abs() < 1e-12);
    assert!((unchanged - seconds(&latency["points"][0]) - 3.0 * 425e-9).abs() < 1e-12);
    // An eager message: o + k Oss + s Gs + (k - s) Gl + L + o + k Ors after 1 us.
    let eager = 1e-6 + 2.0 * 6730e-9 + 20_000.0 * 9.74e-9 + 8191.0 * 15.17e-9 + 11_809.0 * 0.04e-9 + 850e-9;
    assert!((seconds(&find("S")["points"][1]) - eager).abs() < 1e-12);
    // Only the computation of 1 us is left without a network.
    assert_eq!(report["limits"]["ideal_s"].as_f64(), Some(1e-6));
    assert_eq!(report["limits"]["compute_s"].as_f64(), Some(1e-6));
    let swing = |one: &serde_json::Value| (seconds(&one["points"][1]) - seconds(&one["points"][0])).abs();
    assert!(varied.windows(2).all(|pair| swing(&pair[0]) >= swing(&pair[1]) - 1e-15));
}

#[test]
fn values_are_those_that_were_named_and_files_are_written() {
    let desk = Desk::new().file("x.goal", GOAL);
    let words = "whatif x.goal -m myrinet --vary S=8KiB..32KiB --vary cpu-speed=1,2 -o w.svg -o w.csv -o w.json -q";
    let assert = desk.hayase(words).assert().success().stderr_eq("");
    let stdout = assert.stdout();
    for text in ["ideal network", "zero wait", "S (unchanged: 16383 B)", "32768 B", "cpu-speed (unchanged: 1)"] {
        assert!(stdout.contains(text), "{text}: {stdout}");
    }
    let csv = desk.read("w.csv");
    assert!(csv.starts_with("parameter,value,number,time_s,change,failed\nunchanged,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 1 + 3 + 3 + 2);
    assert!(desk.read("w.svg").starts_with("<?xml") && desk.read("w.json").contains("hayase-whatif-1"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let printed = |threads: u32| {
        let words = format!("whatif x.goal -m myrinet -t torus-4x4 -j {threads} --format csv -q");
        let assert = Desk::new().file("x.goal", GOAL).hayase(&words).assert().success();
        assert.get_output().stdout.clone()
    };
    assert_eq!(printed(1), printed(2));
}

#[test]
fn a_value_that_does_not_go_with_the_others_is_told_beside_them() {
    let report = report("whatif x.goal -m myrinet --vary s=32KiB,4KiB --format json -q");
    let points = &report["varied"][0]["points"];
    assert!(points[0]["failed"].as_str().unwrap().starts_with("s (32.77 KB) is larger than S"));
    assert!(points[0]["time_s"].is_null() && points[1]["time_s"].is_number());
}

#[test]
fn s_follows_the_eager_limit_down_and_the_table_says_so() {
    let report = report("whatif x.goal -m myrinet --vary S=4KiB..256KiB --format json -q");
    let points = report["varied"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 7);
    assert!(points.iter().all(|point| point["time_s"].is_number()), "{points:?}");
    let notes: Vec<_> = points.iter().map(|point| point["note"].as_str().unwrap_or_default()).collect();
    assert_eq!(notes, ["s = 4096 B too", "", "", "", "", "", ""]);
    // As if both had been typed.
    let both = self::report("whatif x.goal -m myrinet --set node.loggps.s=4KiB --vary S=4KiB --format json -q");
    assert_eq!(both["varied"][0]["points"][0]["time_s"], points[0]["time_s"]);
    let desk = Desk::new().file("x.goal", GOAL);
    let assert = desk.hayase("whatif x.goal -m myrinet --vary S=4KiB..256KiB -q").assert().success();
    let stdout = assert.stdout();
    assert!(stdout.contains("s = 4096 B too"), "{stdout}");
}

#[test]
fn mistakes_show_their_place_and_what_there_is() {
    let cases = [
        ("l=1us", "did you mean `L`? there are:"),
        ("L", "no `=`"),
        ("L=1us,2uz", "--vary"),
        ("L=3us..1us", "`3us` is above `1us`"),
        ("cpu-speed=fast", "a number above 0"),
        ("topology.torus.bandwith=1GB/s,2GB/s", "did you mean `bandwidth`?"),
    ];
    for (vary, text) in cases {
        let desk = Desk::new().file("x.goal", GOAL);
        let assert = desk.hayase(&format!("whatif x.goal -m myrinet -t torus-4x4 --vary {vary} -q")).assert().code(2);
        let stderr = assert.stderr();
        assert!(stderr.contains(text) && stderr.contains("--vary"), "{vary}: {stderr}");
    }
}

#[test]
fn a_program_that_deadlocks_unchanged_says_so() {
    let goal = "num_ranks 2\nrank 0 {\nc: calc 1000\ns: send 8b to 1 tag 3\nr: recv 8b from 1 tag 1\ns requires c\nr requires s\n}\n\
                rank 1 {\nq: recv 8b from 0 tag 3\nr: recv 8b from 0 tag 2\nr requires q\n}\n";
    let desk = Desk::new().file("x.goal", goal);
    let assert = desk.hayase("whatif x.goal -m myrinet -q").assert().code(3);
    let stdout = assert.stdout();
    // On Myrinet a calculation of 1 us, then o + 8 Oss + 8 Gs + L for what nobody asks for, and o + 8 Ors for what is
    // taken.
    assert!(stdout.contains("DEADLOCKED at 15.51 us: "), "{stdout}");
    assert!(stdout.contains("delivered      1 message (8 B)\n"), "{stdout}");
    let report = desk.hayase("whatif x.goal -m myrinet -q --format json").assert().code(3).get_output().stdout.clone();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!((&report["stopped"]["messages"], &report["stopped"]["bytes"]), (&1.into(), &8.into()));
}
