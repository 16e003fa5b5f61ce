//! Tests of sweeps: finished points are kept whatever happens to the process, and written in the order of the
//! plan.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Desk;

/// Plan of 2 bandwidths, 4 sizes and 60 seeds: 480 points, some of which cannot be built.
const PLAN: &str = "\
topology = \"torus-4x4\"
workload = \"all-to-all-pairwise\"
placement = \"random\"
[grid]
\"topology.torus.bandwidth\" = [\"1 GB/s\", \"2 GB/s\"]
size = \"1 KB..8 KB:x2\"
seed = \"1..=60\"
";

const SMALL: &str = "topology = \"torus-4x4\"\nworkload = \"ring\"\n[grid]\nsize = \"1 KB..8 KB:x2\"\n";

fn desk() -> Desk {
    Desk::new().file("plan.toml", PLAN).file("small.toml", SMALL)
}

/// Runs these arguments; returns standard output, standard error and the exit code.
fn hayase(desk: &Desk, words: &str) -> (String, String, i32) {
    let output = desk.hayase(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

fn start(desk: &Desk, words: &str) -> Child {
    Command::new(snapbox::cmd::cargo_bin!("hayase"))
        .args(words.split_whitespace())
        .current_dir(desk.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn rows(desk: &Desk, name: &str) -> usize {
    fs::read_to_string(desk.path().join(name)).map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// Waits until a file has more rows than these.
fn until_more(desk: &Desk, name: &str, than: usize) {
    let mut looks = 0;
    while rows(desk, name) <= than {
        assert!(looks < 60_000, "no row is added to {name}");
        looks += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn killed_five_times_and_resumed_the_merged_bytes_are_those_of_an_undisturbed_run() {
    let desk = desk();
    let (_, error, code) = hayase(&desk, "sweep plan.toml -o whole");
    assert_eq!(code, 0, "{error}");
    assert_eq!(hayase(&desk, "sweep plan.toml -o whole --merge whole.csv --merge whole.json").2, 0);
    let mut killed = 0;
    while killed < 5 {
        let before = rows(&desk, "out/0-of-1.jsonl");
        let mut child = start(&desk, "sweep plan.toml -o out -j 2");
        until_more(&desk, "out/0-of-1.jsonl", before + 5);
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        // If the machine was faster than the kill, starts again.
        if rows(&desk, "out/0-of-1.jsonl") > 470 {
            fs::remove_dir_all(desk.path().join("out")).unwrap();
        }
    }
    // Adds a line that is certainly torn.
    let path = desk.path().join("out/0-of-1.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    let there = rows(&desk, "out/0-of-1.jsonl");
    let (stdout, error, code) = hayase(&desk, "sweep plan.toml -o out");
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(stdout.contains("were done before"), "{stdout} {there}");
    assert_eq!(hayase(&desk, "sweep plan.toml -o out --merge out.csv --merge out.json").1, "");
    assert_eq!(desk.read("out.csv"), desk.read("whole.csv"));
    assert_eq!(desk.read("out.json"), desk.read("whole.json"));
    assert_eq!(desk.read("out.csv").lines().count(), 481);
    // Three shards at once, one of them killed and run again.
    let mut children: Vec<Child> =
        (0..3).map(|i| start(&desk, &format!("sweep plan.toml -o three --shard {i}/3 -j 1"))).collect();
    until_more(&desk, "three/1-of-3.jsonl", 3);
    children[1].kill().unwrap();
    for child in &mut children {
        child.wait().unwrap();
    }
    assert_eq!(hayase(&desk, "sweep plan.toml -o three --shard 1/3").2, 0);
    assert_eq!(hayase(&desk, "sweep plan.toml -o three --merge three.csv").1, "");
    assert_eq!(desk.read("three.csv"), desk.read("whole.csv"));
}

#[test]
fn points_are_counted_and_what_a_changed_plan_shares_is_not_run_again() {
    let desk = desk();
    let (stdout, _, code) = hayase(&desk, "sweep small.toml --count");
    assert_eq!(
        (code, stdout.as_str()),
        (0, "points     4\ndone       0\nfailed     0\nmissing    4\nvaried     size\n")
    );
    let (stdout, _, _) = hayase(&desk, "sweep small.toml -o out");
    assert_eq!(stdout, "4 points run\n");
    let (stdout, _, _) = hayase(&desk, "sweep small.toml -o out --count");
    assert_eq!(stdout, "points     4\ndone       4\nfailed     0\nmissing    0\nvaried     size\n");
    // The same sizes in other words, and one more.
    let changed = SMALL.replace(
        "size = \"1 KB..8 KB:x2\"",
        "\"workload.ring.size\" = [\"1000 B\", \"2 KB\", \"0.004 MB\", \"8 KB\", \"16 KB\"]",
    );
    let desk = desk.file("small.toml", &changed);
    let (stdout, _, _) = hayase(&desk, "sweep small.toml -o out --count");
    assert!(stdout.starts_with("points     5\ndone       4\n"), "{stdout}");
    let (stdout, _, _) = hayase(&desk, "sweep small.toml -o out");
    assert_eq!(stdout, "1 point run, 4 were done before\n");
    assert_eq!(hayase(&desk, "sweep small.toml -o out --merge all.csv").1, "");
    let csv = desk.read("all.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("id,workload.ring.size,status,makespan_s,injection_bound_s"), "{csv}");
    assert_eq!(lines.len(), 6);
}

#[test]
fn a_folder_that_is_not_the_plans_is_left_as_it_is() {
    let other = "topology = \"torus-4x4\"\nworkload = \"ring\"\n[grid]\nsize = [\"3 KB\"]\n";
    let desk = desk().file("other.toml", other).file("sub/other.toml", other);
    assert_eq!(hayase(&desk, "sweep small.toml -o out").2, 0);
    let before = desk.read("out/0-of-1.jsonl");
    let refused = |words: &str, what: &str| {
        let (stdout, error, code) = hayase(&desk, words);
        assert_eq!((code, stdout.as_str()), (2, ""), "{words}: {error}");
        assert!(error.contains(what), "{words}: {error}");
    };
    refused("sweep other.toml -o out", "holds the sweep of `small.toml`, and no point of it is one of `other.toml`");
    refused("sweep other.toml -o out --count", "holds the sweep of `small.toml`");
    refused("sweep other.toml", "no folder is given for the results");
    refused("sweep other.toml -o none --merge x.csv", "there is no folder `none`");
    refused("sweep other.toml -o none --merge x.parquet", "there is no folder `none`");
    refused("sweep small.toml -o out --shard 2/2", "the last 1/2");
    refused("sweep nothing.toml -o out", "nothing.toml");
    refused("run small.toml", "`grid` is part of a plan, and a scenario is needed here");
    // A shard of another plan.
    assert_eq!(hayase(&desk, "sweep sub/other.toml -o theirs --shard 0/1").2, 0);
    fs::copy(desk.path().join("theirs/0-of-1.jsonl"), desk.path().join("out/1-of-2.jsonl")).unwrap();
    refused("sweep small.toml -o out", "`out/1-of-2.jsonl` is a shard of another plan");
    fs::remove_file(desk.path().join("out/1-of-2.jsonl")).unwrap();
    // Another version of results, and a folder that is not a store.
    let plans = desk.read("out/plans.jsonl");
    fs::write(desk.path().join("out/plans.jsonl"), plans.replace("\"results\":", "\"results\":9")).unwrap();
    refused("sweep small.toml -o out", "of results, and this program has version");
    fs::write(desk.path().join("out/plans.jsonl"), &plans).unwrap();
    fs::write(desk.path().join("out/5-of-8.jsonl"), "a,b\n1,2\n").unwrap();
    refused("sweep small.toml -o out", "does not begin as the shard of a sweep does");
    fs::remove_file(desk.path().join("out/5-of-8.jsonl")).unwrap();
    assert_eq!(desk.read("out/0-of-1.jsonl"), before);
    assert_eq!(hayase(&desk, "sweep small.toml -o out").0, "0 points run, 4 were done before\n");
}

#[test]
fn a_shard_has_one_process_at_a_time() {
    let desk = desk();
    assert_eq!(hayase(&desk, "sweep small.toml -o out").2, 0);
    let held = OpenOptions::new().append(true).open(desk.path().join("out/0-of-1.jsonl")).unwrap();
    held.lock().unwrap();
    let (_, error, code) = hayase(&desk, "sweep small.toml -o out");
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("another process runs shard 0/1"), "{error}");
    // Other processes may read the folder.
    assert_eq!(hayase(&desk, "sweep small.toml -o out --merge all.csv").2, 0);
    drop(held);
    assert_eq!(hayase(&desk, "sweep small.toml -o out").2, 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_said_and_loses_nothing() {
    let desk = desk();
    fs::create_dir(desk.path().join("out")).unwrap();
    std::os::unix::fs::symlink("/dev/full", desk.path().join("out/0-of-1.jsonl")).unwrap();
    let (_, error, code) = hayase(&desk, "sweep small.toml -o out");
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("no space left on device"), "{error}");
    fs::remove_file(desk.path().join("out/0-of-1.jsonl")).unwrap();
    assert_eq!(hayase(&desk, "sweep small.toml -o out").0, "4 points run\n");
}

#[test]
fn torn_lines_and_doubles_are_told_and_do_no_harm() {
    let desk = desk();
    assert_eq!(hayase(&desk, "sweep small.toml -o out").2, 0);
    assert_eq!(hayase(&desk, "sweep small.toml -o out --merge a.csv").2, 0);
    let path = desk.path().join("out/0-of-1.jsonl");
    let text = desk.read("out/0-of-1.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    // The second row is torn in its middle, and the third stands there twice.
    let torn = [lines[0], lines[1], &lines[2][..40], lines[3], lines[3], lines[4]].join("\n") + "\n";
    fs::write(&path, torn).unwrap();
    let (_, error, code) = hayase(&desk, "sweep small.toml -o out --merge b.csv");
    assert_eq!(code, 0);
    assert!(error.contains("0-of-1.jsonl:3"), "{error}");
    assert!(error.contains("1 point has more than one row"), "{error}");
    assert!(error.contains("`b.csv` has 3 of 4 points; 1 are missing"), "{error}");
    assert_eq!(hayase(&desk, "sweep small.toml -o out").0, "1 point run, 3 were done before\n");
    assert_eq!(hayase(&desk, "sweep small.toml -o out --merge c.csv").2, 0);
    assert_eq!(desk.read("c.csv"), desk.read("a.csv"));
    // Different rows of one point are not duplicates.
    let row = lines[1].replace("\"makespan_s\":", "\"makespan_s\":1");
    let mut file: File = OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(file, "{row}").unwrap();
    let (_, error, code) = hayase(&desk, "sweep small.toml -o out --merge d.csv");
    assert_eq!(code, 2);
    assert!(error.contains("a point has two rows that differ"), "{error}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_what_is_done() {
    let desk = desk();
    let child = start(&desk, "sweep plan.toml -o out -j 1");
    until_more(&desk, "out/0-of-1.jsonl", 3);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let (stdout, _, _) = hayase(&desk, "sweep plan.toml -o out --count");
    assert!(!stdout.contains("done       480"), "{stdout}");
    assert_eq!(hayase(&desk, "sweep plan.toml -o out").2, 0);
    assert_eq!(rows(&desk, "out/0-of-1.jsonl"), 480);
}

/// Sweeps over the settings of every kind of work.
#[test]
fn any_work_is_swept() {
    let farm = "[workload.master-slave]\ntasks = \"constant:count=20,time=1ms\"\n[grid]\n\
                \"workload.master-slave.workers\" = \"1..=5\"\n\"workload.master-slave.granularity\" = [1, 4]\n";
    let program = "[workload.program]\nrule = \"linear:ranks=4\"\n[grid]\nmachine = [\"myrinet\", \"infiniband-hdr\"]\n\
                   topology = [\"torus-4x4\", \"fat-tree-54\"]\n";
    let jobs = "topology = \"torus-4x4\"\n[[job]]\nname = \"a\"\nranks = 8\nworkload = \"ring\"\n[[job]]\nname = \"b\"\n\
                ranks = 8\nworkload = \"ring\"\n[grid]\n\"job.a.start\" = [\"0 s\", \"1 us\"]\nplacement = [\"random\", \"block\"]\n";
    let desk = Desk::new().file("farm.toml", farm).file("program.toml", program).file("jobs.toml", jobs);
    for (name, points) in [("farm", 10), ("program", 4), ("jobs", 4)] {
        let (stdout, error, code) = hayase(&desk, &format!("sweep {name}.toml -o {name}"));
        assert_eq!((code, stdout.as_str()), (0, format!("{points} points run\n").as_str()), "{name}: {error}");
        assert_eq!(hayase(&desk, &format!("sweep {name}.toml -o {name} --merge {name}.csv")).1, "");
    }
    // 20 tasks of 1 ms at k workers, one by one: ceil(20 / k) ms.
    let csv = desk.read("farm.csv");
    let makespans: Vec<f64> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| cells[2] == "1")
        .map(|cells| cells[4].parse::<f64>().unwrap() * 1e3)
        .collect();
    assert_eq!(makespans.iter().map(|ms| ms.round()).collect::<Vec<_>>(), [20.0, 10.0, 7.0, 5.0, 4.0]);
}

#[test]
fn what_came_out_is_drawn_listed_and_weighed() {
    let plan = "topology = \"torus-4x4\"\nworkload = \"all-to-all-pairwise\"\nplacement = \"random\"\n[grid]\n\
                \"topology.torus.bandwidth\" = [\"1 GB/s\", \"2 GB/s\"]\nsize = \"1 KB..64 KB:x4\"\nseed = [1, 2, 3]\n\
                [sweep]\nkeep = [\"bytes\"]\n";
    let desk = Desk::new().file("plan.toml", plan);
    let words = "sweep plan.toml -o out -o lines.svg -o heat.svg -o pareto.svg --cost topology.torus.bandwidth --run \
                 --best=2 --sensitivity";
    let (stdout, error, code) = hayase(&desk, words);
    assert_eq!((code, error.as_str()), (0, ""));
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "24 points run");
    assert!(lines[2].starts_with("topology.torus.bandwidth  size  mean [us]  +- [us]  seeds"), "{stdout}");
    assert!(lines[4].starts_with("2 GB/s                    1 KB"), "{stdout}");
    assert!(lines[7].starts_with("key"), "{stdout}");
    assert!(lines[9].starts_with("size") && lines[10].starts_with("topology.torus.bandwidth"), "{stdout}");
    assert_eq!(lines.len(), 11, "{stdout}");
    for name in ["lines.svg", "heat.svg", "pareto.svg"] {
        let svg = desk.read(name);
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(svg.contains("mean makespan"), "{name}");
    }
    let refused = |words: &str, what: &str| {
        let (_, error, code) = hayase(&desk, words);
        assert_eq!(code, 2, "{words}: {error}");
        assert!(error.contains(what), "{words}: {error}");
    };
    refused("sweep plan.toml -o out --merge pareto.svg", "needs the cost of a point");
    refused("sweep plan.toml -o out --merge pareto.svg --cost fingerprint", "neither a key with numbers nor a figure");
    refused("sweep plan.toml -o out --crossings sise,placement", "did you mean `size`?");
    refused("sweep plan.toml -o out -o other", "results are kept in one folder");
    refused("sweep plan.toml -o out --merge x.png", "no output of this kind is called `.png`");
}

#[test]
fn lines_have_a_gap_where_points_are_left_out() {
    let grid = "[grid]\nsize = \"1 KB..16 KB:x2\"\npattern = [\"ring\", \"all-to-all-pairwise\"]\n";
    for (skipped, lines) in [("", 2), ("[[skip]]\nsize = \"4 KB\"\n", 4)] {
        let desk = Desk::new().file("plan.toml", &format!("topology = \"torus-4x4\"\n{grid}{skipped}"));
        assert_eq!(hayase(&desk, "sweep plan.toml -q -o out -o lines.svg").2, 0);
        assert_eq!(desk.read("lines.svg").matches("<polyline").count(), lines, "{skipped}");
    }
}

#[test]
fn rows_as_parquet_are_the_same_bytes_in_one_process_and_in_shards() {
    let plan = format!("{PLAN}[sweep]\nkeep = [\"messages\", \"contention\"]\n");
    let desk = desk().file("typed.toml", &plan);
    assert_eq!(hayase(&desk, "sweep typed.toml -o one --merge none.parquet").2, 2);
    assert_eq!(hayase(&desk, "sweep typed.toml -o one -o one.parquet").2, 0);
    for shard in ["2/3", "0/3", "1/3"] {
        assert_eq!(hayase(&desk, &format!("sweep typed.toml -o three --shard {shard}")).2, 0);
    }
    let (_, error, code) = hayase(&desk, "sweep typed.toml -o three --merge three.parquet");
    assert_eq!((code, error.as_str()), (0, ""));
    let [one, three] = ["one.parquet", "three.parquet"].map(|name| fs::read(desk.path().join(name)).unwrap());
    assert!(one == three && one.starts_with(b"PAR1") && one.ends_with(b"PAR1"));
    for name in ["topology.torus.bandwidth_bytes_per_s", "size_bytes", "makespan_s", "messages", "typed.toml"] {
        assert!(one.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    assert!(!desk.path().join("none.parquet").exists());
    // A full disk is reported for the file that is written.
    let (_, error, code) = hayase(&desk, "sweep typed.toml -o one --merge /dev/full/x.parquet");
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("cannot write `/dev/full/x.parquet`"), "{error}");
}

#[test]
fn a_figure_that_every_row_has_anyway_is_not_kept_twice() {
    for (keep, name) in [("makespan_s", "makespan_s"), ("size", "size"), ("messages\", \"messages", "messages")] {
        let desk = desk().file("twice.toml", &format!("{SMALL}[sweep]\nkeep = [\"{keep}\"]\n"));
        let (_, error, code) = hayase(&desk, "sweep twice.toml --count");
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(&format!("`{name}` is a column of every row already")), "{error}");
    }
}

#[test]
fn the_script_of_an_engine_names_the_plan_and_its_shards() {
    let desk = desk();
    let (stdout, error, code) = hayase(&desk, "sweep plan.toml -o out --submit slurm -j 2");
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("pilot: 6"), "{error}");
    assert!(stdout.contains("points in 1 shard of about") && stdout.contains("submit it: sbatch"), "{stdout}");
    let script = desk.read("out/submit.slurm");
    for line in [
        "#SBATCH --array=0-0\n",
        "#SBATCH --cpus-per-task=2\n",
        "sweep plan.toml -o out --shard \"$SLURM_ARRAY_TASK_ID/1\"",
    ] {
        assert!(script.contains(line), "{script}");
    }
    // The script also runs in a shell.
    let script = desk.path().join("out/submit.slurm");
    let status =
        Command::new("sh").arg(script).env("SLURM_ARRAY_TASK_ID", "0").current_dir(desk.path()).status().unwrap();
    assert!(status.success());
    assert!(hayase(&desk, "sweep plan.toml -o out --count").0.contains("missing    0"));
    assert_eq!(hayase(&desk, "sweep plan.toml -o out --submit hq").2, 0);
    assert!(desk.read("out/submit.hq.sh").contains("hq submit --name hayase-sweep --array 0-0"));
    // HyperQueue runs a shell for each task, with its number.
    let hq = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do [ \"$1\" = --array ] && tasks=$2; shift; done\nshift\n\
              for task in $(seq ${tasks%-*} ${tasks#*-}); do HQ_TASK_ID=$task \"$@\" || exit 1; done\n";
    fs::create_dir(desk.path().join("bin")).unwrap();
    fs::write(desk.path().join("bin/hq"), hq).unwrap();
    let path = format!("{}:{}", desk.path().join("bin").display(), std::env::var("PATH").unwrap());
    let in_shell = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(desk.path()).env("PATH", &path).stdout(Stdio::null());
        assert!(command.status().unwrap().success(), "{words:?}");
    };
    in_shell(&["chmod", "+x", "bin/hq"]);
    assert_eq!(hayase(&desk, "sweep plan.toml -o it's --submit hq").2, 0);
    assert!(desk.read("it's/submit.hq.sh").contains("--stdout 'it'\\''s/hq-%{JOB_ID}-%{TASK_ID}.out'"));
    in_shell(&["sh", "it's/submit.hq.sh"]);
    assert!(hayase(&desk, "sweep plan.toml -o it's --count").0.contains("missing    0"));
    // An engine that is not installed cannot submit.
    let (_, error, code) = hayase(&desk, "sweep plan.toml -o out --go");
    assert_eq!(code, 2, "{error}");
}

/// An estimate is marked as one: rows by their interval, tables and pictures in words.
#[test]
fn a_makespan_by_estimate_is_told_as_one() {
    let plan = "topology = \"torus-4x4\"\nestimate = \"5 %\"\n[workload.uniform-random]\nmessages = 4000\n\
                [grid]\nsize = [\"20 KB\", \"40 KB\"]\nseed = [1, 2]\n";
    let whole = "topology = \"torus-4x4\"\nworkload = \"ring\"\nestimate = \"5 %\"\n[grid]\nseed = [1]\n";
    let desk = desk().file("estimated.toml", plan).file("whole.toml", whole);
    let (out, error, code) = hayase(&desk, "sweep estimated.toml -o out --run --best -o x.svg");
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("mean, by estimate"), "{out}");
    assert!(fs::read_to_string(desk.path().join("x.svg")).unwrap().contains("by estimate"));
    assert_eq!(hayase(&desk, "sweep estimated.toml -o out --merge rows.csv").2, 0);
    let csv = fs::read_to_string(desk.path().join("rows.csv")).unwrap();
    let (header, rows) = csv.split_once('\n').unwrap();
    let place = |name: &str| header.split(',').position(|column| column == name).unwrap();
    for row in rows.lines() {
        let number = |name| row.split(',').nth(place(name)).unwrap().parse::<f64>().unwrap();
        let makespan = number("makespan_s");
        assert!(number("estimate_low_s") < makespan && makespan < number("estimate_high_s"), "{row}");
        assert!(number("simulated_part") < 1.0, "{row}");
    }
    // A full simulation has no estimate.
    for words in ["sweep whole.toml -o whole", "sweep whole.toml -o whole --merge whole.json"] {
        let (_, error, code) = hayase(&desk, words);
        assert_eq!(code, 0, "{error}");
    }
    let rows = fs::read_to_string(desk.path().join("whole.json")).unwrap();
    assert!(rows.contains("\"estimate_low_s\":null"), "{rows}");
}

#[test]
fn what_cannot_be_written_as_it_is_asked_for_is_refused_before_anything_is_run() {
    let desk = desk().file("notes", "mine\n");
    let before = desk.names();
    let refused = |words: &str, said: &[&str]| {
        let (stdout, error, code) = hayase(&desk, words);
        assert_eq!((code, stdout.as_str()), (2, ""), "{words}: {error}");
        assert!(said.iter().all(|part| error.contains(part)), "{words}: {error}");
        assert_eq!(desk.names(), before, "{words}");
    };
    refused("sweep small.toml -o out --merge p.csv --merge p.csv", &["output-twice", "`p.csv`"]);
    refused("sweep small.toml -o out -o p.csv --merge ./p.csv", &["output-twice"]);
    let besides = "`m1.csv` is made from the results in a folder: add -o DIR";
    refused("sweep small.toml -o m1.csv", &["no folder is given for the results", besides]);
    refused("sweep small.toml --merge m1.csv", &[besides]);
    refused("sweep small.toml -o ./small.toml", &["output-is-input", "is the plan itself"]);
    refused("sweep small.toml -o notes", &["`notes` is a file; results are kept in a folder"]);
    let cost = "--cost is for pareto.svg and x.html, and none is written";
    refused("sweep small.toml -o out --cost size", &["wrong-choice", cost]);
    refused("sweep small.toml -o out -o lines.svg --cost size", &[cost]);
    assert_eq!(desk.read("notes"), "mine\n");
}

#[test]
fn seeds_are_no_key_over_which_lines_cross() {
    let plan = SMALL.to_owned() + "seed = [1, 2]\n";
    let desk = Desk::new().file("seeds.toml", &plan);
    let (_, error, code) = hayase(&desk, "sweep seeds.toml -o out --crossings size,seed");
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("seeds cannot be one of the two keys") && !error.contains("not varied"), "{error}");
}
