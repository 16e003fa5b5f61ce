//! Tests of regions: a closed form, real programs in C and Fortran, and mistakes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hayase_trace::{Call, Event, Header, Mark, Site, Writer};
use serde_json::Value;
use snapbox::str;

use super::{Desk, Said};
use hayase_needs::is_there;

/// Number of times that "step" is executed.
const TIMES: u64 = 5;

/// Returns a trace of two ranks.
///
/// In each iteration, within "step", rank 0 computes 100 us and sends, rank 1 computes 60 us and receives; a message
/// takes 10 us. Between iterations rank 0 computes 30 us and rank 1 70 us. The region "all" begins at the start, and
/// only rank 0 ends it; rank 1 ends "never", which no rank began.
fn trace() -> Vec<u8> {
    let mut out = Vec::new();
    for rank in 0..2_u32 {
        let header = Header { start: 1_000_000, ..Header::new(rank, 2) }.note("host", "here");
        let mut writer = Writer::new(&mut out, &header).unwrap();
        let sites = ["src/step.c:10 (send)", "src/step.c:20 (receive)", "src/step.c:30 (main)"];
        for (site, name) in (0..).zip(sites) {
            writer.site(site, &Site { address: 0, name: name.into(), callers: Vec::new() }).unwrap();
        }
        for (region, name) in (0..).zip(["all", "step", "never"]) {
            writer.region(region, name).unwrap();
        }
        let mark = |region, begins, at, cpu| Mark { region, begins, site: 3, begin: at, end: at, cpu: Some(cpu) };
        writer.event(&Event { site: 3, cpu: Some(0), ..Event::new(Call::Init, 0, 0) }).unwrap();
        writer.mark(&mark(0, true, 0, 0)).unwrap();
        let (mut now, mut outside) = (0, 0);
        for _ in 0..TIMES {
            writer.mark(&mark(1, true, now, outside)).unwrap();
            if rank == 0 {
                let send = Event {
                    site: 1,
                    peer: 1,
                    tag: 7,
                    bytes: 8,
                    ..Event::new(Call::Send, now + 100_000, now + 100_000)
                };
                writer.event(&Event { cpu: Some(outside + 100_000), ..send }).unwrap();
                now += 100_000;
            } else {
                // When the message is there: 110 us behind the begin of the sender's iteration, which is every 130 us.
                let arrived = (now.max(50_000) - 50_000) / 130_000 * 130_000 + 110_000;
                let (begin, end) = (now + 60_000, (now + 60_000).max(arrived));
                let receive = Event { site: 2, peer: 0, tag: 7, bytes: 8, ..Event::new(Call::Recv, begin, end) };
                writer.event(&Event { cpu: Some(outside + 60_000), ..receive }).unwrap();
                now = end;
            }
            writer.mark(&mark(1, false, now, 0)).unwrap();
            outside = if rank == 0 { 30_000 } else { 70_000 };
            now += outside;
        }
        writer.mark(&mark(if rank == 0 { 0 } else { 2 }, false, now, outside)).unwrap();
        writer.event(&Event { site: 3, cpu: Some(outside), ..Event::new(Call::Finalize, now, now) }).unwrap();
        writer.finish().unwrap();
    }
    out
}

const NETWORK: &str = r#"format = "hayase-communication-1"
times = [{ size = "8 B", receive = "10 us", median = "10 us", high = "10 us" }]
"#;

fn desk() -> Desk {
    let desk = Desk::new().file("ten.comm", NETWORK);
    fs::write(desk.path().join("step.hyt"), trace()).unwrap();
    desk.hayase("program fold step.hyt -o step.prog -o step.comp -q").assert().success();
    desk
}

fn report(desk: &Desk, words: &str) -> Value {
    desk.hayase(&format!("{words} --format json -q")).assert().success().json()
}

fn region<'a>(report: &'a Value, name: &str) -> &'a Value {
    let found = report["regions"].as_array().unwrap().iter().find(|region| region["name"] == name);
    found.unwrap_or_else(|| panic!("no region {name} in {}", report["regions"]))
}

/// Returns microseconds, rounded to a thousandth.
fn us(region: &Value, key: &str) -> f64 {
    (region[key].as_f64().unwrap_or_else(|| panic!("{key} of {region}")) * 1e9).round() / 1e3
}

const PREDICT: &str = "predict --program step.prog --computation step.comp --communication ten.comm";

#[test]
fn the_time_of_a_region_is_that_of_its_closed_form_recorded_replayed_and_predicted() {
    let desk = desk();
    let n = TIMES as f64;
    // Iteration i: rank 0 begins at 130 i and its message is there at 130 i + 100 + T. With T = 10 us rank 1 takes it
    // at once, but in the first iteration it has waited 50 us. So each execution goes from 130 i to 130 i + 110.
    let predicted = report(&desk, PREDICT);
    let step = region(&predicted, "step");
    assert_eq!((step["executions"].as_u64(), step["ranks"].as_u64()), (Some(TIMES), Some(2)));
    assert_eq!(us(step, "time_s"), 110.0 * n);
    assert_eq!(us(step, "computation_s"), 80.0 * n, "the mean of 100 and 60 us");
    assert_eq!((us(step, "waiting_s"), us(step, "communication_s")), (25.0, 0.0));
    assert_eq!(us(step, "recorded_s"), 110.0 * n);
    // Messages that take no time: rank 1 waits 40 us at first, and each execution ends with the computation of rank 0.
    let replayed = report(&desk, "replay step.hyt");
    let step = region(&replayed, "step");
    assert_eq!((us(step, "time_s"), us(step, "recorded_s")), (100.0 * n, 110.0 * n));
    let info = report(&desk, "trace info step.hyt");
    let step = region(&info, "step");
    assert_eq!((us(step, "time_s"), us(step, "computation_s")), (110.0 * n, 80.0 * n));
    assert_eq!((step["calls"].as_u64(), step["bytes"].as_u64()), (Some(2 * TIMES), Some(16 * TIMES)));
    // That no rank ends is there to the end of the rank, and an end without a begin is nothing.
    let last = us(&predicted, "makespan_s");
    assert_eq!((us(region(&predicted, "all"), "time_s"), last), (last, 130.0 * n + 50.0));
    assert_eq!(region(&predicted, "never")["executions"], 0);
    // Borders are no operations: a computation within, a message and a computation between, on each rank and in each
    // iteration.
    assert_eq!(predicted["operations"], 2 * 3 * TIMES);
}

#[test]
fn borders_that_belong_to_no_other_are_said_in_one_line() {
    let desk = desk();
    for words in ["replay step.hyt -m myrinet", "trace info step.hyt", PREDICT] {
        desk.hayase(words).assert().success().stderr_eq(str![[r#"
hint: region `all` does not end (once, on rank 1): it is taken to end with its rank; region `never` ends without having begun (once, on rank 1): that end is passed over
...
"#]]);
    }
}

#[test]
fn one_region_is_asked_for_by_name_or_by_places() {
    let desk = desk();
    let one = report(&desk, &format!("{PREDICT} --region step"));
    assert_eq!((&one["region"], one["regions"].as_array().unwrap().len()), (&"step".into(), 1));
    assert_eq!(us(&one["regions"][0], "time_s"), 110.0 * TIMES as f64);
    assert_eq!(us(&one, "makespan_s"), 130.0 * TIMES as f64 + 50.0, "the whole program is played");
    assert_eq!(us(&one["ranks"][0], "compute_s"), 100.0 * TIMES as f64, "of the region");
    assert_eq!(us(&one["breakdown"][0], "most_s"), 100.0 * TIMES as f64);
    for words in ["replay step.hyt", PREDICT] {
        let by_places = report(&desk, &format!("{words} --from step.c:20 --to src/step.c:20"));
        let found = &by_places["regions"][0];
        assert_eq!(found["name"], "step.c:20 to src/step.c:20");
        assert_eq!((found["executions"].as_u64(), found["ranks"].as_u64()), (Some(TIMES), Some(1)), "{words}");
        // Rank 0 returns from line 10 after 100 us; rank 1 never comes there, and computes 60 + 70 us in each
        // iteration.
        let named = report(&desk, &format!("{words} --to step.c:10 --region first"));
        let found = &named["regions"][0];
        assert_eq!((&found["name"], us(found, "computation_s")), (&"first".into(), (100.0 + 5.0 * 130.0) / 2.0));
    }
    desk.hayase(&format!("{PREDICT} --region step -q")).assert().success().stdout_eq(str![[r#"
step.prog (2 ranks, [..] operations)
nodes receive-times; network: measured receive times, no contention

predicted     550 us, region step
whole run     700 us
...
Regions (time: from the first rank's begin to the last one's end; the rest: mean of its ranks)
region  executions  ranks  time [us]  computation [us]  communication [us]  waiting [us]  recorded [us]  error [%]
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
step             5      2    550.000           400.000               0.000        25.000        550.000        0.0
...
"#]]);
}

#[test]
fn loops_fold_around_regions_and_the_data_can_be_read() {
    let desk = desk();
    let text = desk.read("step.prog");
    for line in
        ["region 1 all", "region 2 step", "region 3 never", "loop L1 5", " enter 2 @3", " leave 2 @3", "leave 1 @3"]
    {
        assert!(text.lines().any(|found| found == line), "no line {line:?} in\n{text}");
    }
    assert_eq!(text.matches("enter 2").count(), 2, "once for each group of ranks:\n{text}");
    assert!(desk.read("step.comp").contains("\tenter step\tstep.c:10 (send)\n"));
    assert!(desk.read("step.comp").contains("note measured-region 0.00055 s step\n"));
    let wrong = text.replace("enter 2", "enter 7");
    let desk = desk.file("wrong.prog", &wrong);
    desk.hayase("program show wrong.prog").assert().code(2).stderr_eq(str![[r#"
error[wrong-value]: there is no region 7
...
"#]]);
}

#[test]
fn a_trace_keeps_its_regions_when_it_is_converted() {
    let desk = desk();
    desk.hayase("trace convert step.hyt -o folder/ -q").assert().success();
    assert_eq!(report(&desk, "trace info folder")["regions"], report(&desk, "trace info step.hyt")["regions"]);
}

#[test]
fn times_of_whatif_are_those_of_the_region() {
    let desk = desk();
    let words = "whatif step.hyt -m myrinet --vary cpu-speed=1,2";
    let whole = report(&desk, words);
    let part = report(&desk, &format!("{words} --region step"));
    assert_eq!(part["region"], "step");
    assert!(us(&part, "makespan_s") < us(&whole, "makespan_s") && us(&part, "makespan_s") > 500.0);
    let time = |at: usize| us(&part["varied"][0]["points"][at], "time_s");
    assert!(time(1) < 0.6 * time(0), "{part}");
}

#[test]
fn regions_are_drawn_and_written_for_perfetto() {
    let desk = desk();
    desk.hayase("replay step.hyt -m myrinet -o timeline.svg -o trace.json -q").assert().success();
    let svg = desk.read("timeline.svg");
    assert!(svg.contains(">step</text>") && svg.contains(">all</text>"));
    let trace: Value = serde_json::from_str(&desk.read("trace.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let count = |name: &str| events.iter().filter(|event| event["cat"] == "region" && event["name"] == name).count();
    assert_eq!((count("step"), count("all")), (2 * TIMES as usize, 1));
}

#[test]
fn what_cannot_be_asked_for_says_what_can() {
    let desk = desk();
    desk.hayase("replay step.hyt --region stpe").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
...
error[unknown-region]: there is no region `stpe`
 --> --region:1:1
  |
1 | stpe
  | ^^^^
  |
  = help: did you mean `step`? there are `all`, `step`, `never`
...
"#]]);
    desk.hayase("replay linear:ranks=4 --region solve").assert().code(2).stderr_eq(str![[r#"
error[unknown-key]: the workload `program` has no `region`
 --> --region:1:1
  |
1 | solve
  | ^^^^^
  |
  = help: leave out --region; `program` is a program and has rule, cpu-speed, fragment, skip-start

"#]]);
    desk.hayase("replay step.hyt --from step.c:12").assert().code(2).stderr_eq(str![[r#"
error[no-call]: no call of MPI is recorded at --from step.c:12
 --> --from:1:1
  |
1 | step.c:12
  | ^^^^^^^^^
  |
  = help: the nearest lines with calls are src/step.c:10, src/step.c:20, src/step.c:30
...
"#]]);
    desk.hayase(&format!("{PREDICT} --to main.c:5")).assert().code(2).stderr_eq(str![[r#"
error[no-call]: no call of MPI is recorded at --to main.c:5
 --> --to:1:1
  |
1 | main.c:5
  | ^^^^^^^^
  |
  = help: calls are made in src/step.c
...
"#]]);
    desk.hayase("replay step.hyt --from step.c:20 --to step.c:10").assert().code(2).stderr_eq(str![[r#"
error[empty-region]: no rank comes to a call at --to step.c:10 after one at --from step.c:20
 --> --from:1:1
  |
1 | step.c:20
  | ^^^^^^^^^
  |
  = help: write --from step.c:10 --to step.c:20, or leave --to out: the region then ends with the program
...
"#]]);
    desk.hayase("replay step.hyt --from step.c").assert().code(2).stderr_eq(str![[r#"
error: invalid value 'step.c' for '--from <FILE:LINE>': a file and a line are expected: solver.c:40
...
"#]]);
    desk.hayase(&format!("{PREDICT} --skip-start=2ms")).assert().code(2).stderr_eq(str![[r#"
error[no-times]: --skip-start=2 ms needs recorded times, and this program has none
...
"#]]);
}

#[test]
fn start_up_is_left_out_as_found_or_as_said() {
    let desk = desk();
    let one: Value = desk
        .hayase("replay step.hyt --skip-start=1 --format json")
        .assert()
        .success()
        .stderr_eq(str![[r#"
...
hint: start-up is left out: 1 calls for each rank (20.0 % of all), up to that at src/step.c:10 (send)
...
"#]])
        .json();
    let after = region(&one, "after start-up");
    assert_eq!(us(after, "computation_s"), (130.0 * 4.0 + 30.0 + 130.0 * 4.0 + 70.0) / 2.0);
    // The first call of each rank that begins 105 us behind its start or later: of rank 0 the second, of rank 1 the
    // second.
    let by_time = report(&desk, "replay step.hyt --skip-start=105us");
    let after = region(&by_time, "after start-up");
    assert_eq!(us(after, "computation_s"), (130.0 * 3.0 + 30.0 + 130.0 * 3.0 + 70.0) / 2.0);
}

/// Builds programs for an MPI; returns false if it is not installed.
fn built(desk: &Desk, mpi: &str) -> bool {
    if !is_there(&format!("mpicc.{mpi}")) || !is_there(&format!("mpifort.{mpi}")) {
        return false;
    }
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/build");
    let mut built = Command::new(build);
    built.args([mpi, "bin", "regions", "regionsf"]).current_dir(desk.path());
    assert!(built.output().is_ok_and(|output| output.status.success()), "{mpi}");
    true
}

/// Returns the command `hayase` with the environment that MPI programs need.
fn hayase(desk: &Desk, words: &str) -> snapbox::cmd::Command {
    desk.hayase(words)
        .env("XDG_CACHE_HOME", desk.path().join("cache"))
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .timeout(Duration::from_secs(300))
}

#[test]
fn programs_in_c_and_fortran_are_recorded_predicted_and_advised_by_region() {
    for mpi in ["openmpi", "mpich"] {
        let desk = Desk::new().file("ten.comm", NETWORK);
        if !built(&desk, mpi) {
            continue;
        }
        let more = if mpi == "openmpi" { "--oversubscribe" } else { "" };
        // What is found depends on times a little: once in a while nothing is said of these broadcasts.
        let mut somewhere = 0;
        for program in ["regions", "regionsf"] {
            for token in ["", "--token"] {
                let what = format!("{program} {token} under {mpi}");
                let run =
                    format!("record --force {token} -o run -- timeout 120 mpirun.{mpi} -np 3 {more} bin/{program}");
                hayase(&desk, &run).assert().success();
                let info = report(&desk, "trace info run");
                let (solve, exchange) = (region(&info, "solve"), region(&info, "exchange"));
                assert_eq!((&solve["executions"], &exchange["executions"]), (&1.into(), &20.into()), "{what}");
                assert_eq!((&solve["ranks"], &exchange["calls"]), (&3.into(), &(3 * 2 * 20).into()), "{what}");
                assert_eq!(solve["time_s"].is_null(), !token.is_empty(), "with the token there is no real time");

                desk.hayase("program fold run -o run.prog -o run.comp -q").assert().success();
                assert!(desk.read("run.prog").contains(" 20\n enter 2 "), "{what}: {}", desk.read("run.prog"));
                let predict = "predict --program run.prog --computation run.comp --communication ten.comm";
                let (predicted, replayed) = (report(&desk, predict), report(&desk, "replay run -m infiniband-hdr"));
                for played in [&predicted, &replayed] {
                    let (solve, exchange) = (region(played, "solve"), region(played, "exchange"));
                    assert_eq!((&solve["executions"], &exchange["executions"]), (&1.into(), &20.into()), "{what}");
                    let (all, inner) = (us(solve, "time_s"), us(exchange, "time_s"));
                    assert!(inner > 0.0 && all > inner && us(played, "makespan_s") >= all, "{what}: {all} {inner}");
                    let parts =
                        ["computation_s", "communication_s", "waiting_s"].map(|key| us(solve, key)).iter().sum::<f64>();
                    assert!(parts <= all * 1.001 && parts > 0.5 * all, "{what}: {solve}");
                    // Within it is all that the program computes, but for what is before and behind the loop.
                    let whole = us(&played["breakdown"][0], "mean_s");
                    assert!(us(solve, "computation_s") > 0.8 * whole, "{what}: {whole} {solve}");
                }
                // The same region by places: the two exchanges are recorded at two lines.
                let sites = report(&desk, "trace sites run");
                let mut lines: Vec<String> = sites["sites"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|site| site["call"] == "Sendrecv")
                    .map(|site| site["site"].as_str().unwrap().split(" (").next().unwrap().to_owned())
                    .collect();
                lines.sort();
                let [first, second] = lines.as_slice() else { panic!("{what}: {lines:?}") };
                let places = format!("--from {first} --to {second}");
                let by_places = report(&desk, &format!("replay run -m infiniband-hdr {places}"));
                let (marked, found) = (region(&replayed, "exchange"), &by_places["regions"][0]);
                assert_eq!(found["executions"], marked["executions"], "{what}");
                let (marked, found) = (us(marked, "time_s"), us(found, "time_s"));
                // It begins with the first call and ends with the second: within what is marked around them.
                assert!(found > 0.0 && found <= marked * (1.0 + 1e-9), "{what}: {marked} {found}");

                // Advice on a region is about calls in it; on what is not start-up, not about the broadcasts of
                // options.
                let broadcasts = |words: &str| {
                    let advice = report(&desk, &format!("advise run -m infiniband-hdr --all {words}"));
                    let findings = advice["findings"].as_array().unwrap().clone();
                    findings.iter().filter(|finding| finding.to_string().contains("Bcast")).count()
                };
                somewhere += broadcasts("");
                for words in ["--region solve", "--skip-start"] {
                    assert_eq!(broadcasts(words), 0, "{what} {words}");
                }
                fs::remove_dir_all(desk.path().join("run")).unwrap();
            }
        }
        assert!(somewhere > 0, "{mpi}: nothing was said of broadcasts in whole runs either");
        hayase(&desk, &format!("record --force -o run -- mpirun.{mpi} -np 2 {more} bin/regions")).assert().success();
        hayase(&desk, "advise run -m infiniband-hdr --region solve --all -o page.html -q").assert().success();
        let page = desk.read("page.html");
        assert!(page.contains(r#""regions":[["solve",1,["#) && page.contains(r#""region":0"#));
        assert!(page.contains(r#"["region","solve (once): advice and times are of it"]"#));
    }
}

#[test]
fn compilers_find_the_header_and_the_module_by_themselves() {
    let c = "#include \"hayase.h\"\n#include <mpi.h>\nint main(int n, char **a) { hayase_region_begin(\"x\"); MPI_Init(&n, &a); \
             hayase_region_begin(\"x\"); hayase_region_end(\"x\"); MPI_Finalize(); return 0; }\n";
    let f = "program a\nuse mpi\nuse hayase\ninteger :: e\ncall MPI_Init(e)\ncall hayase_region_begin('x')\n\
             call hayase_region_end('x')\ncall MPI_Finalize(e)\nend program\n";
    for mpi in ["openmpi", "mpich"] {
        if !is_there(&format!("mpicc.{mpi}")) {
            continue;
        }
        let desk = Desk::new().file("a.c", c).file("a.f90", f);
        for (verb, compiler, source) in [("cc", "mpicc", "a.c"), ("fc", "mpifort", "a.f90")] {
            // In one step, and in two.
            for words in ["-O2 SOURCE -o one", "-pedantic -c SOURCE -o a.o", "a.o -o two"] {
                let words = words.replace("SOURCE", source);
                hayase(&desk, &format!("{verb} --compiler {compiler}.{mpi} {words}")).assert().success();
            }
            for program in ["one", "two"] {
                // Nobody records: nothing happens.
                let mut plain = Command::new("timeout");
                plain.args(["60", &format!("mpirun.{mpi}"), "-np", "1"]).arg(desk.path().join(program));
                plain.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
                assert!(plain.output().unwrap().status.success(), "{verb} {program} under {mpi}");
                hayase(&desk, &format!("record --force -o run -- mpirun.{mpi} -np 1 ./{program}")).assert().success();
                let info = report(&desk, "trace info run");
                assert_eq!(region(&info, "x")["executions"], 1, "{verb} {program} under {mpi}");
            }
        }
        let folder = hayase(&desk, "wrap --print-include").assert().success().stdout();
        for name in ["hayase.h", "hayase.f90"] {
            assert!(Path::new(folder.trim()).join(name).is_file(), "{folder}");
        }
        let mut plain = Command::new(format!("mpicc.{mpi}"));
        plain
            .args(["-I", folder.trim(), "-pedantic", "-Werror", "-Wall", "a.c", "-o", "plain"])
            .current_dir(desk.path());
        assert!(plain.status().unwrap().success());
    }
}
