//! Contents of recorded programs and schedules, and their conversion to other formats.

use std::fs;

use super::{Desk, Said};
use snapbox::str;

const SCHEDULE: &str = "num_ranks 2
rank 0 {
s: send 1024b to 1 tag 7
c: calc 1500
c requires s
}
rank 1 {
recv 1024b from 0 tag 7
}
";

/// Returns the path of a shipped trace.
fn shipped(name: &str) -> String {
    format!("{}/../../traces/{name}.tsv.zst", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the standard output of a verb that succeeds.
fn stdout(desk: &Desk, words: &str) -> String {
    desk.hayase(words).assert().success().stdout()
}

fn stderr(desk: &Desk, words: &str, code: i32) -> String {
    desk.hayase(words).assert().code(code).stderr()
}

#[test]
fn a_schedule_says_what_it_holds() {
    let desk = Desk::new().file("two.goal", SCHEDULE);
    desk.hayase("trace info two.goal").assert().success().stderr_eq("").stdout_eq(str![[r#"
two.goal (goal)

ranks         2
operations    3
messages      1, 1,024 bytes
collectives   0 calls, 1 communicator
computation   1.5 us in all, 750 ns a rank

"#]]);
}

#[test]
fn a_recorded_program_says_which_calls_it_makes() {
    let text = stdout(&Desk::new(), &format!("trace info {}", shipped("is.S.16")));
    for what in [
        "(npb-text)",
        "title: NPB3.4-MPI is class S np 16",
        "ranks         16",
        "Alltoallv",
        "processor time between calls",
    ] {
        assert!(text.contains(what), "{what}: {text}");
    }
}

#[test]
fn formats_lead_into_one_another() {
    let desk = Desk::new().file("two.goal", SCHEDULE);
    desk.hayase("trace convert two.goal -o two.bin").assert().success().stdout_eq("");
    desk.hayase("trace convert two.bin -o again.goal.zst").assert().success();
    desk.hayase("trace convert again.goal.zst -o again.bin").assert().success();
    assert_eq!(fs::read(desk.path().join("two.bin")).unwrap(), fs::read(desk.path().join("again.bin")).unwrap());

    desk.hayase(&format!("trace convert {} -o one.hyt", shipped("mg.S.4"))).assert().success();
    desk.hayase("trace convert one.hyt -o folder/").assert().success();
    assert_eq!(fs::read_dir(desk.path().join("folder")).unwrap().count(), 4);
    let calls = |trace: &str| {
        let info: serde_json::Value =
            serde_json::from_str(&stdout(&desk, &format!("trace info {trace} --format json"))).unwrap();
        (info["calls"].clone(), info["program"].clone())
    };
    assert_eq!(calls("folder"), calls(&shipped("mg.S.4")));
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is() {
    let desk = Desk::new().file("two.goal", SCHEDULE);
    assert!(stderr(&desk, "trace convert two.goal -o two.xyz", 2).contains("x.goal"));
    assert!(stderr(&desk, "trace convert two.goal -o two.hyt", 2).contains("it holds no calls"));
    assert_eq!(desk.names(), ["two.goal"]);
}

#[test]
fn broken_traces_are_refused_with_the_place() {
    let desk = Desk::new()
        .file("wrong.goal", &SCHEDULE.replace("1500", "x"))
        .file("unmatched.goal", &SCHEDULE.replace("from 0 tag 7", "from 0 tag 8"))
        .file("cyclic.goal", &SCHEDULE.replace("c requires s", "c requires s\ns requires c"))
        .file("cut.goal", &SCHEDULE[..SCHEDULE.find("c requires").unwrap()])
        .file("missing.goal", &SCHEDULE[..SCHEDULE.find("rank 1").unwrap()])
        .file("garbage.hyt", "\u{1}\u{2}\u{3}")
        .file("what", "nothing that is known");
    for (name, what) in [
        ("wrong.goal", "wrong.goal:4:9"),
        ("unmatched.goal", "unmatched.goal:8: recv of 1024 B from rank 0, tag 8 of rank 1: no message is sent for it"),
        ("cyclic.goal", "requires itself"),
        ("cut.goal", "cut.goal:2: the block of rank 0 has no end"),
        ("missing.goal", "rank 1 is missing"),
        ("garbage.hyt", "garbage.hyt, byte 0: no stream of a trace begins here"),
        ("what", "no format that is known"),
        ("nowhere", "there is no file `nowhere`"),
    ] {
        let text = stderr(&desk, &format!("trace info {name}"), 2);
        assert!(text.contains(what), "{name}: {text}");
    }
}

#[test]
fn a_trace_that_ends_early_is_shown_as_far_as_it_goes() {
    let desk = Desk::new();
    desk.hayase(&format!("trace convert {} -o one.hyt", shipped("ep.S.16"))).assert().success();
    let bytes = fs::read(desk.path().join("one.hyt")).unwrap();
    fs::write(desk.path().join("cut.hyt"), &bytes[..bytes.len() - 10]).unwrap();
    let assert = desk.hayase("trace info cut.hyt").assert().code(2);
    let output = assert.get_output();
    assert!(String::from_utf8_lossy(&output.stdout).contains("Allreduce"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cut.hyt, byte "));
    desk.hayase("trace info cut.hyt --truncated").assert().success();
}
