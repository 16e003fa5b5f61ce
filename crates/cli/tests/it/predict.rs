//! Tests of data sets: made, reused and combined.

use super::{Desk, Said};

/// Returns a ring of four ranks: ten iterations of work (in microseconds), an exchange with the neighbours,
/// and a sum.
fn run(work: u32) -> String {
    let mut text = "#hxtrace-text 1\n#title ring\n#ranks 4\n#gap_overhead_ns 400\n\
                    #columns op cpu_gap_ns peer tag bytes comm reqs site\n\
                    #site 0 ring.c:10\n#site 1 ring.c:11\n#site 2 ring.c:12\n#site 3 ring.c:20\n"
        .to_owned();
    for rank in 0..4_u32 {
        text += &format!("#rank {rank}\nInit\t0\t{rank}\t0\t0\t0\t-\t-1\n");
        for i in 0..10_u32 {
            // Work before the first iteration takes 500 us and happens once.
            let gap = if i == 0 { 500_400 } else { 1000 * work + 400 };
            let (next, before) = ((rank + 1) % 4, (rank + 3) % 4);
            text += &format!("Irecv\t{gap}\t{before}\t7\t8000\t0\t{}\t0\n", i + 1);
            text += &format!("Send\t{}\t{next}\t7\t8000\t0\t-\t1\n", 1000 * work + 400);
            text += &format!("Wait\t400\t-1\t0\t0\t0\t{}\t2\n", i + 1);
            text += "Allreduce\t400\t-1\t0\t8\t0\t-\t3\n";
        }
        text += &format!("Finalize\t0\t{rank}\t0\t0\t0\t-\t-1\n");
    }
    text
}

const NETWORK: &str = r#"format = "hayase-communication-1"
times = [
  { size = "0 B", receive = "10 us", median = "10 us", high = "10 us" },
  { size = "8000 B", receive = "90 us", median = "90 us", high = "90 us" },
]
"#;

fn report(desk: &Desk, words: &str) -> serde_json::Value {
    desk.hayase(words).assert().success().json()
}

fn predicted(desk: &Desk, words: &str) -> f64 {
    let words = format!("predict {words} --format json -q");
    (report(desk, &words)["makespan_s"].as_f64().unwrap() * 1e9).round() / 1e3
}

pub fn desk() -> Desk {
    let desk = Desk::new()
        .file("a.tsv", &run(100))
        .file("b.tsv", &run(200))
        .file("slow.comm", NETWORK)
        .file("fast.comm", &NETWORK.replace("90 us", "20 us").replace("10 us", "2 us"));
    for (trace, files) in [("a.tsv", "-o ring.prog -o a.comp"), ("b.tsv", "-o b.comp")] {
        desk.hayase(&format!("program fold {trace} {files} -q")).assert().success();
    }
    desk
}

#[test]
fn a_run_has_two_halves_that_are_small_and_can_be_read() {
    let desk = desk();
    let fold = report(&desk, "program fold a.tsv --format json -q");
    assert_eq!((fold["ranks"].as_u64(), fold["groups"].as_u64(), fold["loops"].as_u64()), (Some(4), Some(1), Some(1)));
    assert_eq!(fold["operations"].as_u64(), Some(160));
    assert_eq!(fold["steps"].as_u64(), Some(5));
    assert_eq!(fold["variation"]["recorded_s"], fold["variation"]["means_s"]);
    let text = desk.read("ring.prog");
    assert!(text.contains("group 0-3\nloop L1 10\n irecv rank-1 7 8000 @1\n send rank+1 7 8000 @2\n"), "{text}");
    let checked = desk.hayase("check ring.prog a.comp slow.comm").assert().success();
    let checked = checked.stdout();
    assert!(
        checked.starts_with("ring.prog: ok: program data, 4 ranks, 160 operations in 5 steps\na.comp: ok: "),
        "{checked}"
    );
    let shown = desk.hayase("program show ring.prog --computation a.comp").assert().success();
    let shown = shown.stdout();
    for line in ["loop L1: 10 times", "irecv rank-1 7 8000", "ring.c:10", "when entered", "mean [us]", "500.000"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

#[test]
fn the_three_files_are_reused_in_any_combination() {
    let desk = desk();
    // 500 us; ten times: 100 (nine times) and 100 us of work, a message of 8,000 B, and two rounds of a sum of 8 B.
    let own = predicted(&desk, "--program ring.prog --computation a.comp --communication slow.comm");
    let sum = 2.0 * (10.0 + 8.0 * 80.0 / 8000.0);
    assert!((own - (500.0 + 900.0 + 1000.0 + 10.0 * (90.0 + sum))).abs() < 0.01, "{own}");
    // Another machine.
    let b = predicted(&desk, "--program ring.prog --computation b.comp --communication slow.comm");
    assert!((b - (own + 1900.0)).abs() < 0.01, "{b}");
    // Another network.
    let fast = predicted(&desk, "--program ring.prog --computation a.comp --communication fast.comm");
    let sum = 2.0 * (2.0 + 8.0 * 18.0 / 8000.0);
    assert!((fast - (500.0 + 1900.0 + 10.0 * (20.0 + sum))).abs() < 0.01, "{fast}");
    // Ranks on both machines: everybody waits for the slow ones at every sum.
    let mixed = predicted(&desk, "--program ring.prog --computation 0-1=a.comp,2-3=b.comp --communication slow.comm");
    assert!(mixed > own && mixed <= b, "{own} {mixed} {b}");
    // More iterations: what is before the loop is not repeated.
    desk.hayase("program extend ring.prog --loop L1 --iterations 10x -o long.prog -q").assert().success();
    let long = predicted(&desk, "--program long.prog --computation a.comp --communication slow.comm");
    let iteration = (long - own) / 90.0;
    assert!((iteration - (200.0 + 90.0 + 2.0 * (10.0 + 8.0 * 80.0 / 8000.0))).abs() < 0.01, "{iteration}");
    // A machine without measurements.
    let scaled = predicted(&desk, "--program ring.prog --computation a.comp --scale 2 --communication slow.comm");
    assert!((scaled - (own + 2400.0)).abs() < 0.01, "{scaled}");
}

#[test]
fn messages_take_other_times_between_nodes_than_within_them() {
    let desk = desk();
    let takes = |communication: &str| {
        predicted(&desk, &format!("--program ring.prog --computation a.comp --communication {communication}"))
    };
    let (slow, fast) = (|bytes: f64| 10.0 + bytes * 80.0 / 8000.0, |bytes: f64| 2.0 + bytes * 18.0 / 8000.0);
    // Ranks 0 and 1 on one node, 2 and 3 on another: in every iteration somebody waits for a message from the other
    // node; of the two rounds of the sum one is within a node and one between them.
    let nodes = 2400.0 + 10.0 * (slow(8000.0) + slow(8.0) + fast(8.0));
    for communication in
        ["slow.comm,node:2=fast.comm", "fast.comm,0-1:2-3=slow.comm", "slow.comm,0-1=fast.comm,2-3=fast.comm"]
    {
        let found = takes(communication);
        assert!((found - nodes).abs() < 0.01, "{communication}: {found} {nodes}");
    }
    // Among all ranks, the other table has no effect: the last entry that names a pair counts.
    assert_eq!(takes("slow.comm,0-3=fast.comm"), takes("fast.comm"));
    assert_eq!(takes("slow.comm,0-3=fast.comm,0+1-3=slow.comm"), takes("slow.comm"));
    // One way holds up less than both.
    let one_way = takes("fast.comm,0>1=slow.comm");
    let both = takes("fast.comm,0:1=slow.comm");
    assert!(takes("fast.comm") + 10.0 < one_way && one_way < both, "{one_way} {both}");
}

#[test]
fn pairs_have_their_times_in_the_order_of_arrival_too() {
    // Every receive has a wildcard source and each rank has one sender, so arrival order gives the same matches.
    let text = run(100);
    let open: Vec<String> = text
        .lines()
        .map(|line| match line.strip_prefix("Irecv\t").and_then(|rest| rest.split_once('\t')) {
            Some((gap, rest)) => format!("Irecv\t{gap}\t*{rest}"),
            None => line.to_owned(),
        })
        .collect();
    let desk = desk().file("open.tsv", &(open.join("\n") + "\n"));
    desk.hayase("program fold open.tsv -o open.prog -o open.comp -q").assert().success();
    assert!(desk.read("open.prog").contains(" irecv any=rank-1 7 8000 @1\n"), "{}", desk.read("open.prog"));
    let words = "--computation open.comp --communication slow.comm,node:2=fast.comm";
    let closed = predicted(&desk, &format!("--program ring.prog {}", words.replace("open", "a")));
    for (wildcards, waits) in [("recorded", "rules"), ("arrival", "order of arrival")] {
        let words = format!("predict --program open.prog {words} --wildcards {wildcards} --format json -q");
        let report = report(&desk, &words);
        assert_eq!((report["makespan_s"].as_f64().unwrap() * 1e9).round() / 1e3, closed, "{wildcards}");
        assert_eq!(report["prediction"]["waits"], waits);
        let open = &report["open_receives"];
        assert_eq!((open["take"].as_str(), open["receives"].as_u64()), (Some(wildcards), Some(40)));
        assert_eq!((open["seen"].as_u64(), open["as_recorded"].as_u64()), (Some(40), Some(40)), "{wildcards}");
    }
}

#[test]
fn in_the_order_of_arrival_a_receive_takes_what_comes_first() {
    // Rank 1 sends late and rank 2 early; in the recorded run the message of rank 1 came first.
    let text = "#hxtrace-text 1\n#title late\n#ranks 3\n#gap_overhead_ns 400\n#columns op cpu_gap_ns peer tag bytes comm reqs site\n\
                #site 0 a.c:1\n#site 1 a.c:2\n\
                #rank 0\nInit\t0\t0\t0\t0\t0\t-\t-1\nRecv\t400\t*1\t*1\t0\t0\t-\t0\nRecv\t400\t*2\t*2\t0\t0\t-\t1\nFinalize\t400\t0\t0\t0\t0\t-\t-1\n\
                #rank 1\nInit\t0\t1\t0\t0\t0\t-\t-1\nSend\t50400\t0\t1\t0\t0\t-\t0\nFinalize\t400\t1\t0\t0\t0\t-\t-1\n\
                #rank 2\nInit\t0\t2\t0\t0\t0\t-\t-1\nSend\t400\t0\t2\t0\t0\t-\t0\nFinalize\t400\t2\t0\t0\t0\t-\t-1\n";
    let desk = Desk::new().file("late.tsv", text).file("slow.comm", NETWORK);
    desk.hayase("program fold late.tsv -o late.prog -o late.comp -q").assert().success();
    for (wildcards, as_recorded, first) in [("recorded", 2, ["1", "0", "1"]), ("arrival", 0, ["2", "0", "2"])] {
        let words = format!(
            "predict --program late.prog --computation late.comp --communication slow.comm --wildcards {wildcards} \
             -o messages.csv --format json -q"
        );
        let open = &report(&desk, &words)["open_receives"];
        assert_eq!((open["seen"].as_u64(), open["as_recorded"].as_u64()), (Some(2), Some(as_recorded)), "{wildcards}");
        // The first line is the message that was received first: its sender, receiver and tag.
        let table = desk.read("messages.csv");
        let line = table.lines().nth(1).unwrap();
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[1..4], first, "{wildcards}: {table}");
    }
}

#[test]
fn a_simulated_network_stands_in_for_the_table() {
    let desk = desk();
    let words = "predict --program ring.prog --computation a.comp -m myrinet -t torus-4x4 --format json -q \
                 -o ranks.csv -o timeline.svg -o report.json";
    let report = report(&desk, words);
    assert_eq!(report["status"], "complete");
    assert_eq!(report["prediction"]["waits"], "simulated");
    assert_eq!(report["prediction"]["computation"][0]["ranks"], "0-3");
    assert!(report["makespan_s"].as_f64().unwrap() > 2400e-6);
    assert!(desk.read("timeline.svg").contains("<svg"));
    // The same as the trace replayed: its blocks all take one time.
    let replayed = self::report(&desk, "replay a.tsv -m myrinet -t torus-4x4 --format json -q");
    assert_eq!(replayed["makespan_s"], report["makespan_s"]);
}

#[test]
fn what_does_not_fit_together_is_said() {
    let desk = desk()
        .file("other.comp", "hayase-computation 1\nranks 4\nstructure 0\nblock\t1\tx.c:1\tx.c:2\n0 1 1 1 0 1 1\n")
        .file("bad.prog", "hayase-program 1\nranks 2\ngroup 0-1\nloop L1 3\nsnd rank+1 0 8\nend\n");
    for (words, what) in [
        ("predict --program ring.prog --computation other.comp", "there is no time for block"),
        ("predict --program ring.prog --computation 0-2=a.comp", "no data for rank 3"),
        ("predict --program ring.prog --computation 0-2=a.comp,2-3=a.comp", "`computation` names rank 2 twice"),
        ("predict --program ring.prog --computation a.comp --scale 0=1,0=2", "`scale` names rank 0 twice"),
        ("predict --program ring.prog --computation other.comp", "--> --computation:1:1"),
        (
            "predict --program ring.prog --computation a.comp --communication slow.comm -m myrinet",
            "`node` names another",
        ),
        ("predict --program ring.prog --computation a.comp --communication a.comp", "no communication data"),
        (
            "predict --program ring.prog --computation a.comp --communication slow.comm,0-1:2-4=fast.comm",
            "names rank 4",
        ),
        (
            "predict --program ring.prog --computation a.comp --communication slow.comm,fast.comm",
            "names 2 files for all",
        ),
        ("predict --program ring.prog --computation a.comp --communication node:2=fast.comm", "names 0 files for all"),
        ("predict --program ring.prog --computation a.comp --communication slow.comm,0-1:=fast.comm", "names no pairs"),
        ("predict --program bad.prog --computation a.comp", "bad.prog:5:1"),
        ("predict --program a.tsv --computation a.comp", "hayase program fold"),
        ("program extend ring.prog --loop L2 --iterations 2x -o x.prog", "there is no loop `L2`"),
        ("program fold a.tsv -o x.txt", "x.prog or x.comp"),
    ] {
        let assert = desk.hayase(words).assert().code(2);
        let stderr = assert.stderr();
        assert!(stderr.contains(what), "{words}: {stderr}");
    }
    assert!(!desk.path().join("x.prog").exists());
}

/// The same as a scenario.
const SCENARIO: &str =
    "[workload.program-data]\nprogram = \"ring.prog\"\ncomputation = \"a.comp\"\ncommunication = \"slow.comm\"\n";

fn ran(desk: &Desk, words: &str) -> f64 {
    (report(desk, &format!("run {words} --format json -q"))["makespan_s"].as_f64().unwrap() * 1e9).round() / 1e3
}

#[test]
fn a_scenario_names_the_data_sets_and_every_verb_takes_it() {
    let desk = desk().file("cluster.toml", SCENARIO).file("sub/far.toml", &SCENARIO.replace("= \"", "= \"../"));
    let verb = |more: &str| predicted(&desk, &format!("--program ring.prog --computation a.comp {more}"));
    let base = verb("--communication slow.comm");
    assert_eq!([ran(&desk, "cluster.toml"), ran(&desk, "sub/far.toml")], [base, base]);
    assert_eq!(
        ran(&desk, "cluster.toml --set workload.program-data.communication=fast.comm"),
        verb("--communication fast.comm")
    );
    assert_eq!(
        ran(&desk, "cluster.toml --set workload.program-data.scale=2"),
        verb("--communication slow.comm --scale 2")
    );
    let ranks = "0-1=a.comp,2-3=b.comp";
    let mixed = format!("--program ring.prog --computation {ranks} --communication slow.comm,node:2=fast.comm");
    let set = format!(
        "cluster.toml --set workload.program-data.computation={ranks} \
         --set workload.program-data.communication=slow.comm,node:2=fast.comm"
    );
    assert_eq!(ran(&desk, &set), predicted(&desk, &mixed));
    // Reports of the command and of the scenario run again with the same result.
    for words in [
        "run sub/far.toml -o a.json",
        "predict --program ring.prog --computation a.comp --communication slow.comm -o a.json",
    ] {
        desk.hayase(&format!("{words} -q")).assert().success();
        assert_eq!(ran(&desk, "a.json"), base, "{words}");
    }
    let checked = desk.hayase("check cluster.toml").assert().success();
    let checked = checked.stdout();
    assert!(
        checked.starts_with("cluster.toml: ok: ring.prog, 4 ranks, 240 operations, nodes receive-times"),
        "{checked}"
    );
    // On a machine and fabrics in place of communication data.
    let on = SCENARIO.replace("communication = \"slow.comm\"\n", "");
    std::fs::write(desk.path().join("on.toml"), &on).unwrap();
    let words = "-m myrinet -t torus-4x4";
    let simulated = predicted(&desk, &format!("--program ring.prog --computation a.comp {words}"));
    assert_eq!(ran(&desk, &format!("on.toml {words}")), simulated);
    let compared = report(
        &desk,
        "compare on.toml -m myrinet -t torus-4x4,crossbar-64 --vary workload.program-data.computation=a.comp,b.comp --format json -q",
    );
    assert_eq!(compared["rows"].as_array().unwrap().len(), 4);
    let whatif = report(&desk, "whatif cluster.toml --vary workload.program-data.scale=1,2 --format json -q");
    let points = whatif["varied"][0]["points"].as_array().unwrap();
    assert_eq!(
        (points[1]["time_s"].as_f64().unwrap() * 1e9).round() / 1e3,
        verb("--communication slow.comm --scale 2")
    );
    let tornado = report(&desk, "whatif on.toml -m myrinet --format json -q");
    assert!(tornado["varied"].as_array().unwrap().iter().any(|one| one["parameter"] == "cpu-speed"));
}

#[test]
fn times_that_are_drawn_depend_on_the_seed() {
    // Two ranks whose work varies over 40 iterations; each waits for the slower one.
    let mut text = "#hxtrace-text 1\n#title varying\n#ranks 2\n#gap_overhead_ns 400\n\
                    #columns op cpu_gap_ns peer tag bytes comm reqs site\n#site 0 v.c:1\n"
        .to_owned();
    for rank in 0..2_u32 {
        text += &format!("#rank {rank}\nInit\t0\t{rank}\t0\t0\t0\t-\t-1\n");
        for i in 0..40_u32 {
            text += &format!("Allreduce\t{}\t-1\t0\t8\t0\t-\t0\n", 60_400 + (i * 2 + rank) * 7919 % 90_000);
        }
        text += &format!("Finalize\t0\t{rank}\t0\t0\t0\t-\t-1\n");
    }
    let desk = desk()
        .file("v.tsv", &text)
        .file("v.toml", &SCENARIO.replace("a.comp", "v.comp").replace("ring.prog", "v.prog"));
    desk.hayase("program fold v.tsv -o v.prog -o v.comp -q").assert().success();
    let over = report(&desk, "run v.toml --set workload.program-data.times=draw --seeds 3 --format json -q");
    let times = over["seeds"]["makespans_s"].as_array().unwrap();
    assert!(times[0] != times[1] || times[1] != times[2], "{times:?}");
    for (seed, time) in (1..).zip(times) {
        let words = format!("v.toml --set workload.program-data.times=draw --seed {seed}");
        assert_eq!(ran(&desk, &words), (time.as_f64().unwrap() * 1e9).round() / 1e3);
    }
}

#[test]
fn mistakes_of_a_prediction_are_marked_where_they_stand() {
    let desk = desk();
    for (text, places) in [
        ("program = \"no.prog\"\ncomputation = \"a.comp\"\n", ["bad.toml:2:11", "there is no file `no.prog`"]),
        ("program = \"ring.prog\"\ncomputation = \"0-2=a.comp\"\n", ["bad.toml:3:15", "no data for rank 3"]),
        (
            "program = \"ring.prog\"\ncomputation = \"0-1=a.comp,2-3=c.comp\"\n",
            ["bad.toml:3:31", "there is no file `c.comp`"],
        ),
        ("program = \"ring.prog\"\ncomputation = \"0-1=a.comp,2-4=b.comp\"\n", ["bad.toml:3:27", "not ranks below 4"]),
        ("program = \"ring.prog\"\ncomputation = \"a.comp\"\nscale = 0\n", ["bad.toml:4:9", "not a number above 0"]),
        ("program = \"ring.prog\"\ncomputation = \"a.comp\"\nscale = [1]\n", ["bad.toml:4:9", "a number, or a text"]),
        (
            "program = \"ring.prog\"\ncomputation = \"a.comp\"\ntimes = \"men\"\n",
            ["bad.toml:4:9", "did you mean `mean`?"],
        ),
        ("program = \"ring.prog\"\n", ["bad.toml:1:1", "missing key `computation`"]),
        (
            "program = \"ring.prog\"\ncomputation = \"a.comp\"\ncommunication = \"a.comp\"\n",
            ["a.comp", "no communication data"],
        ),
        (
            "program = \"ring.prog\"\ncomputation = \"a.comp\"\ncommunication = \"slow.comm\"\n[node.ideal]\n",
            ["bad.toml:4:17", "`node` names another"],
        ),
        (
            "program = \"ring.prog\"\ncomputation = \"a.comp\"\ncommunication = \"slow.comm,fast.comm\"\n",
            ["bad.toml:4:17", "names 2 files for all"],
        ),
        (
            "program = \"ring.prog\"\ncomputation = \"a.comp\"\ncpu-speed = 0\n",
            ["bad.toml:4:13", "cannot be 0 times as fast"],
        ),
    ] {
        std::fs::write(desk.path().join("bad.toml"), format!("[workload.program-data]\n{text}")).unwrap();
        for verb in ["run", "check"] {
            let assert = desk.hayase(&format!("{verb} bad.toml")).assert().code(2).stdout_eq("");
            let said = assert.stderr();
            for place in places {
                assert!(said.contains(place), "{text}: {place}: {said}");
            }
        }
    }
}
