//! Ambiguous inputs: refused with a suggestion, or read by their content.

use std::fs;

use super::Desk;

fn hayase(desk: &Desk, words: &str) -> (String, String, Option<i32>) {
    let output = desk.hayase(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// Checks that the arguments are refused with these texts.
fn refused(desk: &Desk, words: &str, told: &[&str]) {
    let (_, error, code) = hayase(desk, words);
    assert_eq!(code, Some(2), "{words}: {error}");
    for what in told {
        assert!(error.contains(what), "{words}: {what}: {error}");
    }
    for what in ["os error", "invalid digit", "expected u64", "EOF while"] {
        assert!(!error.contains(what), "{words}: {error}");
    }
}

const PLAN: &str = "topology = \"torus-4x4\"\nworkload = \"ring\"\n[grid]\nsize = [\"1 KB\", \"2 KB\"]\n";

#[test]
fn options_that_do_nothing_together_are_refused() {
    let desk = Desk::new().file("plan.toml", PLAN).file("list.txt", "rank-0.txt\n").file("links.csv", "a,b\n0,1\n");
    let ring = "run -t torus-4x4 -p ring";
    let jobs = "run -t torus-4x4 --job a=ring:8 --job b=ring:8";
    for (words, told) in [
        (format!("{ring} -o ranks.csv -o ./ranks.csv"), "two outputs would be written to `./ranks.csv`"),
        (format!("{ring} --straggler 3=50"), "write \"50%\""),
        (format!("{ring} --straggler 3=50"), "\"x50\""),
        (format!("{jobs} --interference --format csv"), "-o interference.csv"),
        (format!("{jobs} --set job.a.think-time=1ms"), "`think-time` is the time to the next beginning"),
        ("run -t links.csv -p ring".to_owned(), "`custom:links=links.csv,nodes=N`"),
        ("accuracy -t torus-4x4 -p ring --count -o x.csv".to_owned(), "cannot be used with"),
        (
            "accuracy -t torus-4x4 -p ring --keep plan.toml".to_owned(),
            "`plan.toml` is a file, and --keep takes a folder",
        ),
        ("master-slave constant:count=10,time=1ms --grid 10 --workers 4".to_owned(), "leave out the grid"),
        ("sweep plan.toml -o out -o pareto.svg".to_owned(), "write --cost KEY"),
        ("sweep plan.toml -o out --crossings size,size".to_owned(), "`size` is named twice"),
        ("trace sites list.txt --depth x".to_owned(), "a whole number from 0"),
        ("record -o run --depth x -- true".to_owned(), "a whole number from 0 to 64 is expected"),
        ("replay list.txt".to_owned(), "list.txt:1:1"),
        ("throughput -t torus-4x4 --simulate --rounds 3".to_owned(), "--rounds:1:1"),
    ] {
        refused(&desk, &words, &[told]);
    }
    assert!(!desk.path().join("out").exists());
}

#[test]
fn what_a_verb_would_not_look_at_is_refused() {
    let goal = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n";
    let ti = "0 init\n1 init\n0 send 1 7 8 6 9\n1 recv 0 7 8 6\n0 finalize\n1 finalize\n";
    let few = "topology = \"torus-4x4\"\nworkload = \"ring\"\n[transport.packet]\npackets-per-message = 7\n";
    let desk = Desk::new()
        .file("two.goal", goal)
        .file("ti.txt", ti)
        .file("both.toml", &format!("{few}packet-size = \"1500 B\"\n"))
        .file("few.toml", few)
        .file("empty.toml", "[topology.torus]\ndims = [0]\nbandwidth = \"1 GB/s\"\n");
    for (words, told) in [
        ("run both.toml", "both.toml:5:15"),
        ("replay ti.txt", "ti.txt:3:16"),
        ("replay two.goal --placement no/such.toml", "--placement:1:1"),
        ("replay two.goal -m myrinet --sharing equal-share", "--sharing:1:1"),
        ("whatif two.goal -m myrinet --placement random", "--placement:1:1"),
        ("advise two.goal -m myrinet --routing ecmp", "--routing:1:1"),
        ("advise two.goal -m myrinet --times run", "--times needs a recording, and `two.goal` is a schedule"),
        ("advise two.goal -m myrinet --source .", "--source needs a recording, and `two.goal` is a schedule"),
        ("advise linear:ranks=4 -m myrinet --source .", "--source needs a recording"),
        ("advise ti.txt -m myrinet --times run", "ti.txt"),
        ("init -t empty.toml", "empty.toml:2:"),
        ("init -t torus-4x4 -p no/such.csv", "no/such.csv"),
    ] {
        refused(&desk, words, &[told]);
    }
    // Packets by message in a report exclude a packet size.
    assert_eq!(hayase(&desk, "run few.toml -q -o few.json").2, Some(0));
    let (again, error, code) = hayase(&desk, "run few.json --format json");
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(again.matches("packet-size").count(), 0);
}

#[test]
fn a_comparison_has_a_limit_and_is_not_listed_before() {
    let values: Vec<String> = (1..=500).map(|value| format!("{value}KB")).collect();
    let values = values.join(",");
    let words = format!(
        "compare -t torus-4x4 -p ring --vary size={values} --vary topology.torus.bandwidth={values}/s --vary seed={values}"
    );
    refused(
        &Desk::new(),
        &words,
        &["125,000,000 runs are requested, and at most 100,000 are possible", "`hayase sweep`"],
    );
}

#[test]
fn jobs_without_a_node_are_refused_with_the_first_of_them() {
    let job = |i: u32| format!("[[job]]\nname = \"j{i}\"\nranks = 2\nworkload = \"ring\"\n");
    let jobs: String = (0..5000).map(job).collect();
    let desk = Desk::new().file("jobs.toml", &format!("topology = \"torus-4x4\"\n{jobs}"));
    refused(&desk, "run jobs.toml", &["job `j8` has 2 ranks, and 0 of the 16 nodes"]);
    // A pattern that was named before is read again, so its mistakes are marked at its own name.
    let named = |name: &str| format!("[[job]]\nname = \"{name}\"\nworkload = \"all-to-all-bruck\"\n");
    let two = format!("topology = \"torus-4x4\"\n{}ranks = 8\n{}ranks = 7\n", named("a"), named("b"));
    assert_eq!(hayase(&Desk::new().file("two.toml", &two), "run two.toml -q").2, Some(0));
    let wrong = format!("{two}[job.workload]\n");
    refused(&Desk::new().file("wrong.toml", &wrong), "run wrong.toml", &["wrong.toml:10:"]);
    let desk = Desk::new().file("none.toml", "topology = \"torus-4x4\"\njob = []\n");
    refused(&desk, "run none.toml", &["none.toml:2:1", "there is no job"]);
    let load = "topology = \"torus-4x4\"\n[[job]]\nname = \"a\"\nworkload = \"ring\"\nload = \"10 %\"\n";
    refused(&Desk::new().file("load.toml", load), "run load.toml", &["load.toml:5:8"]);
    let long = "topology = \"torus-4x4\"\n[[job]]\nname = \"a\"\nworkload = \"ring\"\nuntil = \"1000000 h\"\n";
    refused(
        &Desk::new().file("long.toml", long),
        "run long.toml",
        &["long.toml:5:9", "at most 4,294,967,295 times are possible"],
    );
}

#[test]
fn what_stands_in_a_folder_of_results_is_read_as_what_it_is() {
    let desk = Desk::new().file("plan.toml", PLAN);
    assert_eq!(hayase(&desk, "sweep plan.toml -o out").2, Some(0));
    let rows = desk.read("out/0-of-1.jsonl");
    for (was, is) in [
        ("\"complete\"", "\"finished\""),
        ("\"makespan_s\":", "\"makespan_s\":-"),
        ("\"makespan_s\":", "\"makespan_s\":1e999,\"was\":"),
    ] {
        fs::write(desk.path().join("out/0-of-1.jsonl"), rows.replacen(was, is, 1)).unwrap();
        let (counted, error, code) = hayase(&desk, "sweep plan.toml -o out --count");
        assert_eq!(code, Some(0), "{error}");
        assert!(error.contains("note: 1 unreadable line is left out: 0-of-1.jsonl:2"), "{was}: {error}{rows}");
        assert!(counted.contains("missing    1"), "{counted}");
    }
    fs::write(desk.path().join("out/0-of-1.jsonl"), rows).unwrap();
    let plans = desk.read("out/plans.jsonl");
    for foreign in ["{\"name\": 1}\n".as_bytes(), b"\x00\xff\n", b"plans\n"] {
        fs::write(desk.path().join("out/plans.jsonl"), foreign).unwrap();
        refused(&desk, "sweep plan.toml -o out", &["does not list the plans of this folder", "plans.jsonl:1:1"]);
    }
    // A torn line, and one after it.
    fs::write(desk.path().join("out/plans.jsonl"), format!("{{\"store\":\"ha{plans}{plans}")).unwrap();
    assert_eq!(hayase(&desk, "sweep plan.toml -o out").0, "0 points run, 2 were done before\n");
}

#[test]
fn what_is_best_is_told_of_what_is_done() {
    let desk =
        Desk::new().file("plan.toml", &PLAN.replace("\"2 KB\"", "\"2 KB\", \"3 KB\", \"4 KB\", \"5 KB\", \"6 KB\""));
    assert_eq!(hayase(&desk, "sweep plan.toml -o out --shard 0/2").2, Some(0));
    let rows = desk.read("out/0-of-2.jsonl").lines().count();
    assert!((2..7).contains(&rows), "{rows}");
    let (_, error, code) = hayase(&desk, "sweep plan.toml -o out --best --sensitivity");
    assert_eq!(code, Some(0), "{error}");
    assert!(error.contains("add --run to run them"), "{error}");
    assert!(!desk.path().join("out/0-of-1.jsonl").exists());
    let (stdout, error, code) = hayase(&desk, "sweep plan.toml -o out --run --best");
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert!(stdout.starts_with(&format!("{} point", 7 - rows)), "{stdout}");
}

#[test]
fn without_seeds_crossings_say_nothing_of_intervals_and_name_what_is_best() {
    let plan = "topology = \"torus-4x4\"\n[grid]\nsize = [\"1 KB\", \"2 KB\"]\n\
                pattern = [\"all-to-all-pairwise\", \"ring\"]\nsharing = [\"max-min\", \"equal-share\"]\n";
    let (stdout, error, code) =
        hayase(&Desk::new().file("plan.toml", plan), "sweep plan.toml -o out --crossings size,pattern");
    assert_eq!(code, Some(0), "{error}");
    assert!(!stdout.contains("interval"), "{stdout}");
    for sharing in ["max-min", "equal-share"] {
        assert!(stdout.contains(&format!("sharing {sharing}: nothing crosses: ring is best everywhere\n")), "{stdout}");
    }
}

#[test]
fn no_more_threads_are_started_than_are_of_use() {
    let desk = Desk::new().file("plan.toml", PLAN);
    for words in ["sweep plan.toml -o out", "compare -t torus-4x4 -p ring"] {
        desk.hayase(words).env("RAYON_NUM_THREADS", "100000").assert().success();
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_so_large_is_a_failure_that_leaves_nothing_behind() {
    let desk = Desk::new();
    let program = snapbox::cmd::cargo_bin!("hayase").to_owned();
    // Blocks of 512 bytes.
    let script =
        format!("ulimit -f 8; exec {} run -t fat-tree-54 -p all-to-all-linear -o messages.csv", program.display());
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(desk.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot write `messages.csv`: file too large"), "{error}");
    assert!(desk.names().is_empty(), "{:?}", desk.names());
}
