//! Tests of fitting parameters of a machine to measurements.

use super::Desk;

/// Returns round trips and sends under LogGPS with the published parameters of Myrinet \[ns\], some per mille
/// off.
fn measurements(with_sends: bool) -> String {
    let (latency, o, short, sync) = (850.0, 6730.0, 8191.0, 16_383.0);
    let mut text = String::from("bytes,work,time,call\n");
    for step in 0..40_u32 {
        let k = f64::from(step * 1024);
        let (oss, ors) = if k > sync { (4.80, 3.86) } else { (5.02, 4.72) };
        let network = latency + 15.17 * k.min(short) + 0.04 * (k - short).max(0.0);
        let (send, receive, request) = (o + k * oss, o + k * ors, o + latency);
        let wobble = |by: u32| 1.0 + f64::from((step * 7 + by * 3) % 5) * 0.001 - 0.002;
        for (by, work) in [(0, 0.0_f64), (1, 2e6)] {
            let time = if k > sync {
                let late = (network + receive + request - work).max(0.0);
                late + work + 2.0 * send + network + receive + 4.0 * (o + request) - request
            } else {
                (send + 2.0 * network + receive - work).max(0.0) + work + send + receive
            };
            text += &format!("{k},{work} ns,{} ns,\n", (time - work) * wobble(by) + work);
        }
        if with_sends && k <= sync {
            text += &format!("{k},,{} ns,send\n", send * wobble(2));
        }
    }
    text
}

fn output(desk: &Desk, words: &str, code: i32) -> (String, String) {
    let assert = desk.hayase(words).assert().code(code);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&assert.get_output().stdout), text(&assert.get_output().stderr))
}

#[test]
fn a_machine_is_found_printed_drawn_and_written() {
    let desk = Desk::new().file("rtt.csv", &measurements(true));
    let words = "calibrate rtt.csv --short 8191 --eager 16383 -o m.toml -o m.json -o m.svg";
    let (out, err) = output(&desk, words, 0);
    assert!(out.starts_with("LogGPS parameters from rtt.csv\n\nparameter"), "{out}");
    assert!(out.contains("8191") && out.contains("as given") && err.is_empty(), "{out}{err}");
    let machine: toml::Table = toml::from_str(&desk.read("m.toml")).unwrap();
    let node = machine["node"]["loggps"].as_table().unwrap();
    for (key, published) in [("o", 6730.0), ("Oss", 5.02), ("Ors", 4.72), ("Gs", 15.17), ("Osl", 4.80), ("Orl", 3.86)] {
        let found: f64 = node[key].as_str().unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((found / published - 1.0).abs() < 0.03, "{key} = {found}");
    }
    assert_eq!((node["s"].as_str(), node["S"].as_str()), (Some("8191 B"), Some("16383 B")));
    let json: serde_json::Value = serde_json::from_str(&desk.read("m.json")).unwrap();
    assert_eq!(json["parameters"].as_array().unwrap().len(), 8);
    let picture = desk.read("m.svg");
    assert!(picture.contains("round trip without work") && picture.contains("S = 16383 B"));
}

#[test]
fn what_cannot_be_told_is_said_and_no_machine_is_written() {
    let desk = Desk::new().file("rtt.csv", &measurements(false));
    let (out, err) = output(&desk, "calibrate rtt.csv -o m.toml", 2);
    assert!(out.contains("not identifiable") && out.contains("Oss + Ors"), "{out}");
    assert!(err.contains("blocking send") && err.contains("no machine file is written"), "{err}");
    assert_eq!(desk.names(), ["rtt.csv"]);
}

#[test]
fn a_wrong_table_is_shown_where_it_is_wrong() {
    let desk = Desk::new().file("rtt.csv", "bytes,work,time\n0,0,28.6 us\n8,1 ms,3 parsecs\n");
    let (out, err) = output(&desk, "calibrate rtt.csv", 2);
    assert!(out.is_empty() && err.contains("rtt.csv:3:8"), "{err}");
    let (_, err) = output(&desk, "calibrate rtt.csv --short 9KB --eager 8KB", 2);
    assert!(err.contains("rtt.csv:3:8"), "{err}");
    let (_, err) = output(&desk, "calibrate none.csv", 2);
    assert!(err.contains("there is no file `none.csv`"), "{err}");
}

#[test]
fn a_ring_gives_end_costs_that_predict_it() {
    // 7 steps of 2 us and 5 us beyond the wire of 1 GB/s.
    let desk = Desk::new().file("ring.csv", "bytes,time\n1000,21 us\n1 MB,7.035 ms\n");
    let (out, err) = output(&desk, "calibrate ring.csv --ring 8 --bandwidth 1GB/s --eager 8KiB -o m.toml -o m.json", 0);
    assert!(out.contains("1005.000") && err.contains("not identifiable"), "{out}{err}");
    for (size, time) in [("1000B", "21 us"), ("1MB", "7.035 ms")] {
        let (out, _) = output(&desk, &format!("run -t crossbar:nodes=8 -p allgather-ring --size {size} -m m.toml"), 0);
        assert!(out.contains(&format!("predicted     {time}")), "{out}");
    }
}

#[test]
fn a_ping_pong_gives_end_costs_and_a_wrong_one_is_refused() {
    let desk = Desk::new()
        .file("pp.csv", "bytes,time\n8,1.5 us\n64,1.4 us\n1 MB,1.1 ms\n")
        .file("one.csv", "bytes,time\n8,1.5 us\n")
        .file("work.csv", "bytes,time,work\n8,1.5 us,1 us\n9,2 us,1 us\n");
    let (out, err) = output(&desk, "calibrate pp.csv --ping-pong --bandwidth 1GB/s -o m.toml", 0);
    assert!(out.contains("1.436") && err.contains("--eager") && err.contains("--ring"), "{out}{err}");
    let (out, _) = output(&desk, "check m.toml", 0);
    assert!(out.contains("nodes tabulated"), "{out}");
    for (words, said) in [
        ("pp.csv --ping-pong --bandwidth 0.5GB/s", "faster than"),
        ("pp.csv --ping-pong --bandwidth 0GB/s", "without bandwidth"),
        ("pp.csv --ping-pong --bandwidth fast", "--bandwidth"),
        ("one.csv --ping-pong --bandwidth 1GB/s", "too few"),
        ("work.csv --ping-pong --bandwidth 1GB/s", "neither `work` nor `call`"),
        ("pp.csv --ping-pong", "--bandwidth"),
        ("pp.csv --ring 1 --bandwidth 1GB/s", "1"),
    ] {
        let (_, err) = output(&desk, &format!("calibrate {words}"), 2);
        assert!(err.contains(said), "{words}: {err}");
    }
}

#[test]
fn blocking_sends_of_long_messages_take_the_costs_of_both_ends() {
    let machine = "[node.tabulated]\nG = \"1 ns/B\"\nstep = [{ size = \"0 B\", time = \"9 us\" }]\neager = \"999 B\"\n\
                   gap = \"1 us\"\none-way = \"4 us\"\nshared-above = \"5000 B\"\n[link]\nbandwidth = \"1 GB/s\"\n\
                   [collectives]\ncombine = \"1 GB/s\"\n";
    let desk = Desk::new().file("m.toml", machine);
    // Ring: 3 (a + n/B), and a combination with each step of a reduction. Scatter: three sends of O(n), or posted at
    // once O(n) + 2 (n/B + g). Recursive doubling: both messages of the second step share what is beyond x,
    // and so do those of the first.
    for (pattern, time) in [
        ("allgather-ring", "57 us"),
        ("reduce-scatter-block-ring", "87 us"),
        ("scatter-linear", "42 us"),
        ("scatter-linear-nonblocking", "36 us"),
        ("alltoall-linear", "36 us"),
        ("allgather-recursive-doubling", "68 us"),
    ] {
        let words = format!("run -t crossbar:nodes=4 -p {pattern} -m m.toml --size 10KB");
        let (out, _) = output(&desk, &words, 0);
        assert!(out.contains(&format!("predicted     {time}")), "{pattern}: {out}");
    }
}
