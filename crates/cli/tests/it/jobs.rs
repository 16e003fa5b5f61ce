//! Several jobs on one fabric: options and outputs.

use super::{Desk, Said};

/// Two switches with three nodes each and one cable between them.
const BELL: &str = "[topology.fat-tree]\ndown = [3, 2]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\n";

fn report(desk: &Desk, words: &str) -> serde_json::Value {
    desk.hayase(&format!("{words} -q --format json")).assert().success().stderr_eq("").json()
}

#[test]
fn jobs_are_typed_set_and_run_again() {
    let desk = Desk::new().file("bell.toml", BELL).file("one.csv", "src,dst,bytes\n0,1,4000000\n");
    let words = "run -t ./bell.toml --job a=one.csv:2@0,3 --job b=one.csv:2@1,4";
    let of = |report: &serde_json::Value, key: &str| {
        let jobs = report["jobs"].as_array().unwrap().clone();
        jobs.into_iter().map(|job| (job[key].as_f64().unwrap() * 1e9).round() / 1e6).collect::<Vec<f64>>()
    };
    // 4 ms each alone, 8 together; 2 ms apart they share a link from 2 to 6 ms.
    let together = report(&desk, words);
    assert_eq!((of(&together, "makespan_s"), of(&together, "alone_s")), (vec![8.0, 8.0], vec![4.0, 4.0]));
    let apart = report(&desk, &format!("{words} --set job.b.start=2ms -o apart.json -o apart.svg -o apart.csv"));
    assert_eq!((of(&apart, "makespan_s"), of(&apart, "end_s")), (vec![6.0, 6.0], vec![6.0, 8.0]));
    assert_eq!(report(&desk, &format!("{words} --set job.1.start=2ms"))["fingerprint"], apart["fingerprint"]);
    assert_eq!(report(&desk, "run apart.json")["jobs"], apart["jobs"]);
    assert!(desk.read("apart.svg").contains("slowdown 1.500"));
    assert_eq!(desk.read("apart.csv").lines().count(), 3);
    assert_eq!(together["jobs"][0]["nodes"], serde_json::json!([0, 3]));
    assert!(desk.read("apart.csv").contains("\na,2,\"0,3\","), "{}", desk.read("apart.csv"));
    let repeated = report(&desk, &format!("{words} --set job.a.repeat=3 --set job.a.think-time=1ms"));
    assert_eq!(repeated["jobs"][0]["repetitions"], 3);
    desk.hayase("check apart.json").assert().success();
}

#[test]
fn joint_placements_are_compared_in_one_command() {
    let desk = Desk::new();
    let jobs = "--job a=all-to-all-simple-spread:16 --job b=ring:20@block";
    let words = &format!("compare -t fat-tree-54 {jobs} --placement regular,random,block");
    let comparison = report(&desk, words);
    let rows = comparison["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let mut placements: Vec<&str> = rows.iter().map(|row| row["placement"].as_str().unwrap()).collect();
    placements.sort_unstable();
    assert_eq!(placements, ["block", "random", "regular"]);
    // All rows do the same job, and are ranked together.
    assert!(rows.iter().all(|row| row["job"] == rows[0]["job"]));
    // Each job is as long, beside the others and alone, as in a run with that placement.
    for row in rows {
        let placement = row["placement"].as_str().unwrap();
        let run = report(&desk, &format!("run -t fat-tree-54 {jobs} --placement {placement}"));
        let figures = |job: &serde_json::Value| {
            ["name", "ranks", "makespan_s", "alone_s", "slowdown"].map(|key| job[key].clone())
        };
        let of = |jobs: &serde_json::Value| jobs.as_array().unwrap().iter().map(figures).collect::<Vec<_>>();
        assert_eq!(of(&row["jobs"]), of(&run["jobs"]));
        let slowdowns = run["jobs"].as_array().unwrap().iter().map(|job| job["slowdown"].as_f64().unwrap());
        assert_eq!(row["worst_slowdown"]["mean"].as_f64().unwrap(), slowdowns.fold(0.0, f64::max));
    }
}

#[test]
fn rows_of_jobs_are_ranked_by_the_largest_slowdown_where_that_is_asked_for() {
    let desk = Desk::new();
    let jobs = "--job a=all-to-all-simple-spread:18 --job b=ring:18";
    let words = &format!("compare -t fat-tree-54 {jobs} --placement random,by-group,round-robin:group --seeds 3");
    let by = |rank: &str| {
        let files = "-o c.svg -o c.csv -o jobs.csv";
        report(&desk, &format!("{words} --rank {rank} {files}"))
    };
    let comparison = by("slowdown");
    assert_eq!(comparison["ranked_by"], "slowdown");
    let rows = comparison["rows"].as_array().unwrap();
    let worst: Vec<f64> = rows.iter().map(|row| row["worst_slowdown"]["mean"].as_f64().unwrap()).collect();
    assert!(worst.is_sorted(), "{worst:?}");
    // Two jobs with groups of their own never meet.
    assert_eq!((rows[0]["placement"].as_str(), worst[0]), (Some("by-group"), 1.0));
    assert_eq!(rows[0]["place"], 1);
    let ratio = rows[2]["ratio_to_best"].as_f64().unwrap();
    assert!((ratio - worst[2] / worst[0]).abs() < 1e-12, "{ratio}");
    // Random placements differ over the seeds, and so do the slowdowns in them.
    let random = rows.iter().find(|row| row["placement"] == "random").unwrap();
    assert!(random["jobs"][0]["slowdown_sd"].as_f64().unwrap() > 0.0);
    let (picture, table) = (desk.read("c.svg"), desk.read("jobs.csv"));
    assert!(picture.contains("placement by-group") && picture.contains("smallest worst slowdown"));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 3 * 2);
    assert!(lines[0].ends_with("seeds,place,job,ranks,makespan_s,alone_s,slowdown,slowdown_sd"), "{}", lines[0]);
    assert!(desk.read("c.csv").lines().next().unwrap().ends_with(",worst_slowdown,worst_job"));
    let by_makespan = by("makespan");
    assert_eq!(by_makespan["ranked_by"], serde_json::Value::Null);
    let text = desk.hayase(&format!("{words} --rank slowdown")).assert().success();
    let text = text.stdout();
    assert!(
        text.contains("Each job beside the others, and alone")
            && text.contains("With placement by-group no job is slowed; with placement "),
        "{text}"
    );
    let nothing = desk.hayase("compare -t fat-tree-54 -p ring --placement regular,random --rank slowdown");
    assert!(nothing.assert().code(2).stderr().contains("slowdowns are those of several jobs"));
}

#[test]
fn messages_links_and_timelines_say_which_job_it_was() {
    let desk = Desk::new().file("bell.toml", BELL).file("one.csv", "src,dst,bytes\n0,1,4000000\n");
    let jobs = "--job a=one.csv:2@0,3 --job b,too=one.csv:2@4,1 --set job.1.start=2ms";
    let files = "-o messages.csv -o links.csv -o timeline.svg -o loads.svg -o x.svg -o x.csv";
    let assert = desk.hayase(&format!("run -t ./bell.toml {jobs} -q {files}")).assert().success();
    drop(assert);
    // The jobs send in opposite directions: each takes 4 ms.
    let messages = desk.read("messages.csv");
    let expected =
        "job,src,dst,index,bytes,start_s,end_s\na,0,1,0,4000000,0,0.004\n\"b,too\",0,1,0,4000000,0.002,0.006\n";
    assert_eq!(messages, expected);
    let links = desk.read("links.csv");
    let mut lines = links.lines();
    assert_eq!(lines.next(), Some("id,name,capacity_Bps,bytes,utilisation,bytes of a,\"bytes of b,too\""));
    let cells = |line: &str| line.rsplit(',').take(4).map(str::to_owned).collect::<Vec<String>>();
    let used: Vec<Vec<String>> = lines.map(cells).filter(|cells| cells[3] != "0").collect();
    // Each crosses two host links and a cable up and down over the upper switch: 4 MB in 6 ms at 1 GB/s.
    assert_eq!(used.len(), 8);
    for cells in used {
        let bytes: Vec<u64> = cells[..2].iter().map(|bytes| bytes.parse().unwrap()).collect();
        assert!(bytes.iter().sum::<u64>() == 4_000_000 && cells[2].starts_with("0.666666666666"), "{cells:?}");
    }
    let timeline = desk.read("timeline.svg");
    assert!(timeline.contains("sent by a") && timeline.contains("sent by b,too") && timeline.contains(">a 1<"));
    assert!(desk.read("loads.svg").contains("2 jobs, makespan 6 ms"));
    assert!(desk.read("x.svg").contains("from beginning to end") && desk.read("x.csv").starts_with("job,ranks,"));
    let assert = desk.hayase(&format!("run -t ./bell.toml {jobs} --window 1ms..2ms")).assert().code(2);
    assert!(assert.stderr().contains("--window is for a timeline"));
}

#[test]
fn what_is_wrong_with_a_typed_job_is_marked() {
    let desk = Desk::new().file("pattern.toml", "[workload.ring]\n");
    for (words, said) in [
        ("--job a=ring:50 --job b=ring:8", "job `b` has 8 ranks, and 4 of the 54 nodes"),
        ("--job a=ring:5 --job a=ring:8", "there are two jobs `a`"),
        ("--job a=ring:3@0-2 --job b=ring:2@2-3", "node 2 is given to job `b`, and job `a` has it"),
        ("--job ring", "`ring` is not a job"),
        ("--job a=rung:3", "rung"),
        ("--job a=ring:3 --set job.b.start=1us", "there is no job `b`"),
        ("--job a=ring:3 --set job.a.start=-1us", "negative"),
        ("--job a=ring:3 --set job.a.background=true", "never ends"),
        ("--job a=ring:3 -p ring", "a workload beside them"),
    ] {
        let assert = desk.hayase(&format!("run -t fat-tree-54 {words}")).assert().code(2);
        let stderr = assert.stderr();
        assert!(stderr.contains(said) && stderr.contains("--> "), "{words}\n{stderr}");
    }
}

#[test]
fn jobs_go_on_with_what_fails_and_are_checked_with_it() {
    let text = "topology = \"torus-4x4\"\n[[job]]\nname = \"a\"\nranks = 8\n[job.workload.adv]\ngroup-size = 2\n\
                size = \"20 KB\"\n[[job]]\nname = \"b\"\n[job.workload.ring]\nsize = \"1 KB\"\n";
    let desk = Desk::new().file("jobs.toml", text).file("work.toml", text.split_once('\n').unwrap().1);
    let says = |words: &str, code: i32, said: &str| {
        let assert = desk.hayase(words).assert().code(code);
        let output = assert.get_output();
        let text = String::from_utf8_lossy(if code == 0 { &output.stdout } else { &output.stderr }).into_owned();
        assert!(text.contains(said), "{words}\n{text}");
    };
    says("check jobs.toml", 0, "2 jobs, 16 ranks: a: ");
    says("check work.toml", 2, "topology");
    let whole = report(&desk, "run jobs.toml");
    let failed = report(&desk, "run jobs.toml --faults 10%");
    assert!(failed["faults"]["failed_links"]["count"].as_u64().unwrap() > 0);
    assert_ne!(failed["fingerprint"], whole["fingerprint"]);
    says("run jobs.toml --faults 10%", 0, "links failed");
    let compared = report(&desk, "compare jobs.toml --faults 0%,10% --seeds 3");
    assert_eq!(compared["rows"].as_array().unwrap().len(), 2);
    report(&desk, "run jobs.toml --transport packet");
    // Groups are those of the fabric, after the nodes of another job.
    let words = "run -t dragonfly-72 --job r=ring:21@random --job a=adv:k=1:38";
    assert_eq!(report(&desk, words)["jobs"][1]["ranks"], 38);
    says("run -t torus-4x4 --job a=adv:k=1:8", 2, "group-size");
    let alone = report(&desk, "run -t dragonfly-72 -p adv:k=1");
    assert_eq!(report(&desk, "run -t dragonfly-72 --job a=adv:k=1")["fingerprint"], alone["fingerprint"]);
}

#[test]
fn which_job_delays_which_is_told_where_it_is_asked_for() {
    let desk = Desk::new().file("bell.toml", BELL).file("one.csv", "src,dst,bytes\n0,1,4000000\n");
    let words = "run -t ./bell.toml --job a=one.csv:2@0,3 --job b=one.csv:2@1,4 --set job.b.start=2ms";
    assert!(report(&desk, words)["interference"].is_null());
    // They share a link from 2 to 6 ms, each at half its rate.
    let told = report(&desk, &format!("{words} --interference"));
    let pairs: Vec<(&str, &str, f64)> = told["interference"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| {
            (pair["victim"].as_str().unwrap(), pair["culprit"].as_str().unwrap(), pair["delay_s"].as_f64().unwrap())
        })
        .collect();
    let ms = |pair: &(&str, &str, f64)| (pair.2 * 1e12).round() / 1e9;
    assert_eq!(
        pairs.iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>(),
        [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    );
    assert_eq!(pairs.iter().map(ms).collect::<Vec<_>>(), [0.0, 2.0, 2.0, 0.0]);
    // The name of a file asks, too.
    let by_name = report(&desk, &format!("{words} -o run-interference.csv -o interference.svg -o jobs.csv"));
    assert_eq!(by_name["interference"], told["interference"]);
    let csv = desk.read("run-interference.csv");
    assert!(csv.starts_with("victim,culprit,delay_s\na,a,0\na,b,0.002"), "{csv}");
    assert!(desk.read("interference.svg").contains("Who delays whom") && desk.read("jobs.csv").starts_with("job,"));
    let shown = desk.hayase(&format!("{words} --interference")).assert().success();
    let shown = shown.stdout();
    assert!(shown.contains("to a [ms]") && shown.contains("to b [ms]") && shown.contains("all [ms]"), "{shown}");
    for (words, said) in [
        (
            format!("{words} --transport packet --interference"),
            "under packet:oq it is not known which job delays which",
        ),
        (format!("{words} --sharing redistribute -o interference.csv"), "left-over"),
        ("run -t fat-tree-54 -p ring --interference".to_owned(), "needs several jobs"),
        ("run -t fat-tree-54 -p ring -o interference.svg".to_owned(), "needs several jobs"),
    ] {
        let assert = desk.hayase(&words).assert().code(2);
        let stderr = assert.stderr();
        assert!(stderr.contains(said), "{words}\n{stderr}");
    }
}

#[test]
fn a_job_that_never_began_has_no_times_and_says_why() {
    let desk = Desk::new().file(
        "jobs.toml",
        "topology = \"fat-tree-54\"\n[[job]]\nname = \"a\"\nranks = 4\nworkload = \"ring\"\n[[job]]\nname = \"b\"\n\
         ranks = 4\nworkload = \"ring\"\nstart = \"1 s\"\nbackground = true\n",
    );
    let assert = desk.hayase("run jobs.toml -q -o jobs.csv -o jobs.json -o jobs.svg").assert().success();
    let text = assert.stdout();
    assert!(text.contains("b never began: the other jobs ended before its start\n"), "{text}");
    let report: serde_json::Value = serde_json::from_str(&desk.read("jobs.json")).unwrap();
    let job = &report["jobs"][1];
    assert!(job["start_s"].is_null() && job["end_s"].is_null(), "{job}");
    assert_eq!(job["unfinished"], "the other jobs ended before its start");
    assert!(report["jobs"][0]["end_s"].is_number() && report["jobs"][0]["unfinished"].is_null());
    let rows = desk.read("jobs.csv");
    assert!(rows.lines().nth(2).unwrap().starts_with("b,4,4-7,,,0,,,,,,0,0,"), "{rows}");
    assert!(desk.read("jobs.svg").contains("never began"));
}
