//! `hayase measure`, with a launcher that says what two processes measured on a network whose LogGPS parameters are known,
//! and with launchers that fail. (Real MPIs are measured by `.ci/run`.)

use std::fmt::Write;

use hayase::measure::protocol::{Kind, Message, Times};
use hayase::measure::sizes;

use super::Desk;

const SYNC: u64 = 4096;

/// What rank 0 says: L = 2 us, o = 1 us, 1 ns/B at each end, 8 ns/B in between.
fn said() -> String {
    let pair = Message::Pair {
        mpi: "MPI 1".into(),
        hosts: vec!["a".into(), "b".into()],
        processor: "P".into(),
        clock_ns: 20.0,
    };
    let mut text = String::from("Warning: something else\n");
    text += &pair.to_line();
    text += &Message::Eager { limit: Some(SYNC) }.to_line();
    for bytes in sizes(1 << 16, Some(SYNC)) {
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
            (Kind::RoundTrip, 0.0, seen + hidden),
            (Kind::RoundTrip, work, work + seen),
            (Kind::Send, 0.0, send),
            (Kind::Late, 0.0, end),
        ] {
            text += &Message::Times(Times { kind, bytes, work_ns, ns: vec![ns, ns * 1.0001, ns * 1.0002] }).to_line();
        }
    }
    text += &Message::End.to_line();
    text
}

fn desk() -> Desk {
    Desk::new().file("said", &said()).file("launcher", "cat said\n")
}

#[cfg(unix)]
#[test]
fn a_network_is_measured_written_and_used_for_predictions() {
    let desk = desk();
    let words = "measure communication --percentile 0 -o net.comm -o net.svg -o net.csv -o net.json --node-out net.toml \
                 -- sh launcher";
    let assert = desk.hayase(words).assert().success();
    let table = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    let errors = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
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
    let calibrated = desk.hayase("calibrate net.csv --eager 4096B --percentile 0").assert().success();
    assert!(String::from_utf8_lossy(&calibrated.get_output().stdout).contains("2000.0"));
    desk.hayase("replay linear:ranks=4 -m net.toml").assert().success();
}

#[cfg(unix)]
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
        let errors = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
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
        "measure communication --largest 5 -- true",
        "measure communication --seconds 0 -- true",
        "measure communication --seconds nan -- true",
    ] {
        desk.hayase(words).assert().code(2);
    }
    assert!(desk.names().is_empty());
}
