//! Tests of `hayase measure`, with a launcher that reports measurements of a network with known LogGPS
//! parameters, and with launchers that fail. (`.ci/run` measures real MPIs.)

use std::fmt::Write;

use hayase::diagnostic::Sources;
use hayase::prediction::communication::Communication;
use hayase_measure::protocol::{MeasurementKind, Message, Times};
use hayase_measure::{Increment, Sizes};

use super::{Desk, Said};

const SYNC: u64 = 4096;

/// Returns the output of rank 0 for these sizes: L = 2 us, o = 1 us, 1 ns/B at each end, 8 ns/B in between.
fn said(sizes: &Sizes) -> String {
    let pair = Message::Pair {
        mpi: "MPI 1".into(),
        hosts: vec!["a".into(), "b".into()],
        processor: "P".into(),
        clock_ns: 20.0,
    };
    let mut text = String::from("Warning: something else\n");
    text += &pair.to_line();
    let limit = Some(SYNC).filter(|&sync| sync < sizes.largest);
    text += &Message::Eager { limit }.to_line();
    for bytes in sizes.all(Some(SYNC)) {
        let (k, waits) = (bytes as f64, bytes > SYNC);
        let (end, net, handshake) = (1000.0 + k, 2000.0 + 8.0 * k, 4000.0);
        let (seen, hidden) = if waits {
            (2.0 * end + net + end + 4.0 * handshake - 3000.0, net + end + 3000.0)
        } else {
            (2.0 * end, 2.0 * end + 2.0 * net)
        };
        let send = end + if waits { 2.0 * handshake } else { 0.0 };
        let work = 10.0 * (seen + hidden);
        for (kind, work_ns, ns) in [
            (MeasurementKind::RoundTrip, 0.0, seen + hidden),
            (MeasurementKind::RoundTrip, work, work + seen),
            (MeasurementKind::Send, 0.0, send),
            (MeasurementKind::Late, 0.0, end),
        ] {
            text += &Message::Times(Times { kind, bytes, work_ns, ns: vec![ns, ns * 1.0001, ns * 1.0002] }).to_line();
        }
    }
    text += &Message::End.to_line();
    text
}

fn desk() -> Desk {
    let sizes = Sizes { largest: 1 << 16, ..Sizes::default() };
    Desk::new().file("said", &said(&sizes)).file("launcher", "cat said\n")
}

#[test]
fn a_network_is_measured_written_and_used_for_predictions() {
    let desk = desk();
    let words = "measure communication --percentile 0 -o net.comm -o net.svg -o net.csv -o net.json --node-out net.toml \
                 -- sh launcher";
    let assert = desk.hayase(words).assert().success();
    let table = assert.stdout();
    let errors = assert.stderr();
    assert!(table.contains("eager limit S: 4,096 B"), "{table}");
    assert!(errors.contains("Warning: something else") && !errors.contains("hayase-measure"), "{errors}");
    let data = desk.read("net.comm");
    assert!(data.contains("mpi = \"MPI 1\"") && data.contains("launcher = \"sh launcher\""), "{data}");
    assert!(desk.read("net.toml").contains("S = \"4096 B\""));
    let json: serde_json::Value = serde_json::from_str(&desk.read("net.json")).unwrap();
    let parameters = json["communication"]["parameters"].as_array().unwrap();
    for (name, value) in [("L", 2000.0), ("o", 1000.0), ("Oss", 1.0), ("Ors", 1.0), ("Gs", 8.0), ("Osl", 1.0)] {
        let found = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
        assert!((found["value"].as_f64().unwrap() / value - 1.0).abs() < 1e-3, "{found}");
    }
    let svg = desk.read("net.svg");
    assert!(svg.contains("S = 4096 B") && !svg.contains("NaN"), "{svg}");
    // The measurements are read by `calibrate`, the machine by `replay`.
    let calibrated = desk.hayase("calibrate net.csv --percentile 0").assert().success();
    assert!(calibrated.stdout().contains("2000.0"));
    // S is the measured one.
    let said = calibrated.stdout();
    let exact = |line: &str| line.split_whitespace().eq(["S", "4096", "B", "to", "the", "byte"]);
    assert!(said.lines().any(exact), "{said}");
    desk.hayase("replay linear:ranks=4 -m net.toml").assert().success();
}

#[test]
fn the_sizes_that_are_asked_for_are_measured_and_written() {
    // With S and the size above it; and all of them above S.
    for (words, sizes, told) in [
        (
            "--smallest 1000B --largest 10KB --increment 3000B",
            Sizes { smallest: 1000, largest: 10_000, increment: Some(Increment::Add(3000)) },
            vec![1000, 4000, SYNC, SYNC + 1, 7000, 10_000],
        ),
        (
            "--smallest 8KiB --largest 128KiB --increment x2",
            Sizes { smallest: 8 << 10, largest: 128 << 10, increment: Some(Increment::Times(2.0)) },
            vec![8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10],
        ),
        (
            "--smallest 100B --largest 500B",
            Sizes { smallest: 100, largest: 500, increment: None },
            vec![100, 128, 192, 256, 384, 500],
        ),
    ] {
        let desk =
            Desk::new().file("said", &said(&sizes)).file("launcher", "shift 2; echo \"$@\" > options; cat said\n");
        desk.hayase(&format!(
            "measure communication {words} -o x.comm -o x.svg -o x.csv --node-out x.toml -- sh launcher"
        ))
        .assert()
        .success();
        let options = desk.read("options");
        let begin = format!("--smallest={} --largest={}", sizes.smallest, sizes.largest);
        assert!(options.starts_with(&begin), "{options}");
        match sizes.increment {
            Some(increment) => assert!(options.contains(&format!(" --increment={increment} ")), "{options}"),
            None => assert!(!options.contains("increment"), "{options}"),
        }
        let (data, mut sources) = (desk.path().join("x.comm"), Sources::default());
        let data = Communication::read(&data.display().to_string(), &mut sources).unwrap();
        let found: Vec<u64> = data.times.iter().map(|row| row.size.0).collect();
        assert_eq!(found, told, "{words}");
        assert!(data.lines.iter().all(|line| line.from.0 >= sizes.smallest && line.to.0 <= sizes.largest), "{words}");
        assert!(!desk.read("x.svg").contains("NaN"));
        desk.hayase("replay linear:ranks=4 -m x.toml").assert().success();
    }
}

#[test]
fn what_fails_says_why_and_leaves_no_file() {
    let failed = Message::Failed {
        message: "two processes are measured, and the launcher started 1".into(),
        help: "try 2".into(),
    };
    let mut launcher = String::new();
    writeln!(launcher, "cat said; exit 1").unwrap();
    let desk = Desk::new().file("said", &failed.to_line()).file("launcher", &launcher).file("broken", "exit 7\n");
    for (words, code, message) in [
        ("sh launcher", 1, "two processes are measured, and the launcher started 1"),
        ("sh broken", 1, "`sh` ended (exit status: 7) before anything was measured"),
        ("no-such-launcher -np 2", 2, "cannot start `no-such-launcher`: no such file or directory"),
    ] {
        let assert = desk.hayase(&format!("measure communication -o x.comm -- {words}")).assert().code(code);
        let errors = assert.stderr();
        assert!(errors.contains(message) && errors.contains("help"), "{errors}");
    }
    assert_eq!(desk.names(), ["broken", "launcher", "said"]);
}

#[test]
fn mistakes_are_found_before_anything_is_started() {
    let desk = Desk::new();
    for words in [
        "measure communication -o x.comm",
        "measure communication -o x.comn -- true",
        "measure communication --node-out x.json -- true",
        "measure communication --largest 5B -- true",
        "measure communication --smallest much -- true",
        "measure communication --seconds 0 -- true",
        "measure communication --seconds nan -- true",
    ] {
        desk.hayase(words).assert().code(2);
    }
    for (words, message, help) in [
        (
            "--smallest 1MiB --largest 64KiB",
            "--smallest: 1MiB is more than the largest, 64KiB",
            "default: 0 B to 4 MiB",
        ),
        ("--smallest 8MiB", "--smallest: 8MiB is more than the largest, 4 MiB", "default: 0 B to 4 MiB"),
        ("--increment 0B", "--increment: a step of 0B does not change the size", "--increment x2"),
        ("--smallest 5", "--smallest: \"5\" has no unit", "write a size like"),
        ("--increment x1", "--increment: `x1` is not a factor above 1", "--increment x2"),
        ("--increment xnan", "--increment: `xnan` is not a factor above 1", "--increment x2"),
        ("--increment 1B", "--increment: 1B makes more than 1000 sizes from 0 B to 4 MiB", "write 4199 B or more"),
        ("--increment x1.0001", "makes more than 1000 sizes", "or a factor, --increment x2"),
        ("--increment 4MiB", "there are 2 sizes from 0 B to 4 MiB, and at least 4", "a smaller --increment"),
        ("--smallest 4MiB", "there is 1 size from 4MiB to 4 MiB", "a wider interval"),
    ] {
        let assert = desk.hayase(&format!("measure communication -o x.comm {words} -- true")).assert().code(2);
        let errors = assert.stderr();
        assert!(errors.contains(message) && errors.contains(help), "{errors}");
    }
    // The values in the help are accepted.
    let assert = desk.hayase("measure communication --increment 4199B -- no-such-launcher").assert().code(2);
    assert!(assert.stderr().contains("cannot start `no-such-launcher`"));
    assert!(desk.names().is_empty());
}
