//! Tests of `hayase replay`.

use super::{Desk, Said};

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

#[test]
fn a_schedule_on_a_machine_says_how_long_and_where_the_time_went() {
    let assert = Desk::new()
        .file("x.goal", GOAL)
        .hayase("replay x.goal -m myrinet")
        .assert()
        .success()
        .stderr_eq("played in [..] events/s, peak memory [..]\n");
    let stdout = assert.stdout();
    for line in [
        "x.goal (2 ranks, 3 operations)\n",
        "nodes loggps; network: the model's own latency and gaps\n",
        // 1 us, rendezvous 4 o + 2 (o + L), T1', T2' and T3' of 20,000 bytes.
        "predicted     341.9 us\n",
        "messages      1, 20 KB\n",
        "Where the time of ranks went",
        "The longest waits between two ranks",
        "receive wait",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
}

#[test]
fn the_report_has_the_names_others_rely_on() {
    let desk = Desk::new().file("x.goal", GOAL);
    let words = "replay x.goal --node loggopsim --set node.loggopsim.L=2500ns --set node.loggopsim.G=\"6ns/B\" \
                 --set node.loggopsim.S=65535B --format json -q";
    let assert = desk.hayase(words).assert().success().stderr_eq("");
    let report: serde_json::Value = assert.json();
    assert_eq!(report["makespan_s"].as_f64(), Some(126_494e-9));
    let rank = &report["ranks"][0];
    for key in
        ["rank", "end_s", "compute_s", "send_overhead_s", "recv_overhead_s", "send_wait_s", "recv_wait_s", "sync_s"]
    {
        assert!(rank[key].is_number(), "{key}");
    }
    assert_eq!(report["status"], "complete");
}

#[test]
fn a_deadlock_names_ranks_operations_and_lines() {
    let goal = "num_ranks 2\nrank 0 {\nr: recv 8b from 1 tag 1\ns: send 8b to 1 tag 2\ns requires r\n}\n\
                rank 1 {\nr: recv 8b from 0 tag 2\ns: send 8b to 0 tag 1\ns requires r\n}\n";
    for machine in ["myrinet", "loggopsim"] {
        let assert =
            Desk::new().file("x.goal", goal).hayase(&format!("replay x.goal -m {machine} -q")).assert().code(3);
        let stderr = assert.stderr();
        assert!(stderr.contains("recv of 8 B from rank 1, tag 1 (x.goal:3)"), "{stderr}");
        assert!(stderr.contains("cycle: rank 0 waits for rank 1 waits for rank 0"), "{stderr}");
    }
}

#[test]
fn a_deadlock_says_when_nothing_moved_any_more_and_what_was_delivered() {
    let goal = "num_ranks 2\nrank 0 {\nc: calc 1000\ns: send 8b to 1 tag 3\nr: recv 8b from 1 tag 1\ns requires c\nr requires s\n}\n\
                rank 1 {\nq: recv 8b from 0 tag 3\nr: recv 8b from 0 tag 2\nr requires q\n}\n";
    let desk = Desk::new().file("x.goal", goal);
    let on = ["-m myrinet", "-m loggopsim", "--node ideal -t torus-4x4", "-m myrinet -t torus-4x4"];
    let mut times = Vec::new();
    for on in on {
        let assert = desk.hayase(&format!("replay x.goal {on} -q --format json")).assert().code(3);
        let report: serde_json::Value = assert.json();
        assert_eq!((&report["stopped"]["messages"], &report["stopped"]["bytes"]), (&1.into(), &8.into()), "{on}");
        times.push(report["stopped"]["at_s"].as_f64().unwrap() * 1e6);
        let parts = report["breakdown"].as_array().unwrap().iter().map(|kind| kind["part"].as_f64().unwrap());
        let part: f64 = parts.sum();
        assert!(part > 0.0 && part <= 1.0 + 1e-12, "{on}: ranks spend {part} of the time until the run stopped");
        let stderr = assert.stderr();
        assert!(
            stderr.contains("us, with 1 message (8 B) delivered: 2 ranks wait for messages that never come"),
            "{stderr}"
        );
    }
    // 1 us, o + 8 Oss + L + 8 Gs + o + 8 Ors on Myrinet; 2 o + L + 7 G of LogGOPSim and 1 us, and more on a fabric than
    // without.
    assert!((times[0] - 15.509_28).abs() < 1e-6, "{times:?}");
    assert!((times[1] - (1.0 + 5.5 + 0.042)).abs() < 1e-6, "{times:?}");
    assert!(times[2] > 1.0 && times[3] > times[2] + 13.46, "{times:?}");
    let stdout = desk.hayase("replay x.goal -m myrinet -q").assert().code(3).get_output().stdout.clone();
    let stdout = String::from_utf8(stdout).unwrap();
    assert!(stdout.contains("DEADLOCKED at 15.51 us: ") && stdout.contains("delivered "), "{stdout}");
    assert!(!stdout.contains("predicted"), "{stdout}");
}

#[test]
fn files_that_are_asked_for_are_written() {
    let desk = Desk::new().file("x.goal", GOAL);
    desk.hayase("replay x.goal -m myrinet -o r.json -o ranks.csv -o activities.csv -q").assert().success();
    assert_eq!(desk.read("ranks.csv").lines().count(), 3);
    let activities = desk.read("activities.csv");
    assert!(activities.starts_with("rank,kind,begin_s,end_s,op,message,peer\n0,compute,0,1e-6,0,,\n"), "{activities}");
    assert!(desk.read("r.json").contains("hayase-replay-1"));
}

#[test]
fn pictures_traces_and_the_critical_path_are_written() {
    let desk = Desk::new().file("x.goal", GOAL);
    desk.hayase(
        "replay x.goal -m myrinet -q -o timeline.svg -o matrix.svg -o matrix.csv -o path.csv -o trace.json -o r.json",
    )
    .assert()
    .success();
    assert_eq!(desk.read("matrix.csv"), "src,dst,messages,bytes\n0,1,1,20000\n");
    let path = desk.read("path.csv");
    assert!(path.starts_with("rank,kind,begin_s,end_s,op,message,peer\n0,compute,0,1e-6,0,,\n"), "{path}");
    let trace: serde_json::Value = serde_json::from_str(&desk.read("trace.json")).unwrap();
    let phases = |phase: &str| trace["traceEvents"].as_array().unwrap().iter().filter(|e| e["ph"] == phase).count();
    assert_eq!((phases("s"), phases("f")), (1, 1));
    let report: serde_json::Value = serde_json::from_str(&desk.read("r.json")).unwrap();
    let kinds = report["critical_path"]["kinds"].as_array().unwrap();
    let sum: f64 = kinds.iter().map(|kind| kind["time_s"].as_f64().unwrap()).sum();
    assert!((sum - report["makespan_s"].as_f64().unwrap()).abs() < 1e-12);
    assert!(desk.read("timeline.svg").contains("critical path") && desk.read("matrix.svg").contains("sending rank"));
}

#[test]
fn links_of_a_program_have_loads_and_delays() {
    // Ranks 0 and 1 send to rank 2 at the same time, so both lose time on its ejection link.
    let two = "num_ranks 3\nrank 0 {\nl1: send 1000b to 2 tag 0\n}\nrank 1 {\nl1: send 1000b to 2 tag 0\n}\n\
               rank 2 {\nl1: recv 1000b from 0 tag 0\nl2: recv 1000b from 1 tag 0\n}\n";
    let desk = Desk::new().file("x.goal", two);
    let words = "replay x.goal -t fat-tree-54 --node ideal -o loads.svg -o links.svg -o links.csv --format json -q";
    let report: serde_json::Value = serde_json::from_str(&desk.hayase(words).assert().success().stdout()).unwrap();
    assert_eq!(report["links"][0]["name"], "L1.0 -> node 2");
    assert_eq!(report["delays"]["kinds"][0]["links"], "ejection");
    // Each of the two takes twice as long as alone.
    let seconds = |value: &serde_json::Value| value.as_f64().unwrap();
    let (lost, makespan) = (seconds(&report["delays"]["total_s"]), seconds(&report["makespan_s"]));
    assert!((lost / makespan - 1.0).abs() < 1e-9, "{lost} {makespan}");
    let ejection = desk.read("links.csv").lines().find(|line| line.contains("L1.0 -> node 2")).unwrap().to_owned();
    assert!(ejection.contains(",2000,"), "{ejection}");
    assert!(
        desk.read("links.svg").contains("L1.0 -&gt; node 2, 0 ps to") && desk.read("loads.svg").contains("makespan")
    );
    let refused = desk.hayase("replay x.goal --node ideal -o links.svg").assert().code(2);
    assert!(refused.stderr().contains("without a network"), "{}", refused.stderr());
}

#[test]
fn long_messages_of_any_program_go_in_pieces() {
    let desk = Desk::new();
    let report = |words: &str| -> serde_json::Value {
        desk.hayase(&format!("replay {words} -m myrinet -q --format json")).assert().success().json()
    };
    // The program by rule cuts its messages itself.
    let [own, cut] = ["n=256,ranks=4,fragment=1000B", "n=256,ranks=4 --fragment 1000B"]
        .map(|rest| report(&format!("gaussian-elimination:{rest}")));
    assert_eq!(own["makespan_s"], cut["makespan_s"]);
    assert_eq!(own["messages"], cut["messages"]);
    // All bytes of a recorded program arrive, between the same ranks; messages of collectives have no sending
    // operation.
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/cg.S.16.tsv.zst");
    let whole = report(&format!("{trace} -o whole-matrix.csv -o whole-messages.csv"));
    let cut = report(&format!("{trace} --fragment 700B -o matrix.csv -o messages.csv -o r.json"));
    assert_eq!(whole["bytes"], cut["bytes"]);
    let pieces = |file: &str, most: u64| -> u64 {
        let text = desk.read(file);
        let bytes = text.lines().skip(1).map(|line| line.split(',').nth(5).unwrap().parse::<u64>().unwrap());
        bytes.map(|bytes| bytes.div_ceil(most).max(1)).sum()
    };
    assert!(pieces("whole-messages.csv", u64::MAX) < pieces("messages.csv", u64::MAX));
    assert_eq!(pieces("whole-messages.csv", 700), pieces("messages.csv", u64::MAX));
    let again = desk.hayase("run r.json -q --format json").assert().success();
    let again: serde_json::Value = again.json();
    assert_eq!(again["makespan_s"], cut["makespan_s"]);
}

#[test]
fn where_the_time_of_ranks_went_is_drawn_as_bars() {
    let desk = Desk::new();
    desk.hayase("replay linear:ranks=400,size=20KB -m myrinet -q -o breakdown.svg").assert().success();
    let svg = desk.read("breakdown.svg");
    assert!(svg.contains("rank (a bar is the mean of 2)") && svg.contains(">mean<"), "{svg}");
    assert!(svg.contains("receive overhead: ") && !svg.contains("compute: "), "{svg}");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let desk = Desk::new().file("x.goal", GOAL);
    let stderr = |words: &str| desk.hayase(words).assert().code(2).stdout_eq("").stderr();
    assert!(stderr("replay x.goal -m myrinett").contains("did you mean `myrinet`?"));
    assert!(stderr("replay x.goal --node loggps").contains("missing keys"));
    assert!(stderr("replay x.goal -m myrinet --set node.loggps.S=5").contains("has no unit"));
    assert!(stderr("replay linear:ranks=0 -m myrinet").contains("a number from 1"));
    assert!(stderr("replay none.goal").contains("there is no file"));
    assert!(stderr("replay x.goal -m myrinet --fragment 100B").contains("operations of a schedule cannot be cut"));
    assert!(stderr("replay linear:ranks=4 -m myrinet --fragment 0B").contains("in pieces of no bytes"));
    assert!(
        stderr("run -t torus-4x4 -p all-to-all-pairwise --set node.loggopsim={}").contains("is a network of its own")
    );
}

#[test]
fn machines_are_listed_and_shown() {
    let assert = Desk::new().hayase("machine list -q").assert().success();
    let stdout = assert.stdout();
    assert!(stdout.contains("myrinet-loggp   loggp "), "{stdout}");
    let assert = Desk::new().hayase("machine show cenju-4").assert().success();
    assert!(assert.stdout().contains("Oss = \"19.61 ns/B\""));
    Desk::new().hayase("machine show cenju").assert().code(2);
}

#[test]
fn of_very_many_ranks_the_critical_path_is_worked_out_where_it_is_asked_for() {
    let desk = Desk::new();
    let said = |words: &str| desk.hayase(words).assert().success().stdout();
    let text = said("replay broadcast:ranks=10001 -m myrinet");
    assert!(text.contains("where they are asked for: `-o path.csv`") && !text.contains("Critical path:"), "{text}");
    let text = said("replay broadcast:ranks=10001 -m myrinet -o path.csv");
    assert!(text.contains("ritical path") && !text.contains("where they are asked for"), "{text}");
    assert!(std::fs::read_to_string(desk.path().join("path.csv")).unwrap().lines().count() > 10);
}
