//! Master/slave programs as work of a scenario file, under every command that takes a scenario.

use serde_json::Value;

use super::{Desk, Said};

/// Five tasks of 1 to 5 ms.
const TASKS: &str = "time,bytes_in\n1 ms,1 KB\n2 ms,1 KB\n3 ms,1 KB\n4 ms,1 KB\n5 ms,1 KB\n";

const FARM: &str = "[workload.master-slave]\ntasks = \"tasks.csv\"\nworkers = 2\n";

fn desk() -> Desk {
    Desk::new().file("farms/tasks.csv", TASKS).file("farms/farm.toml", FARM)
}

fn json(desk: &Desk, words: &str) -> Value {
    desk.hayase(&format!("{words} --format json -q")).assert().success().stderr_eq("").json()
}

/// Returns the predicted times in microseconds.
fn times_us(report: &Value) -> Vec<f64> {
    let rows = report["predictions"].as_array().unwrap();
    rows.iter().map(|row| (row["time_s"].as_f64().unwrap() * 1e9).round() / 1e3).collect()
}

#[test]
fn a_scenario_names_a_farm_and_its_report_runs_again() {
    let desk = desk();
    // 1 + 3 + 5 ms at one worker, 2 + 4 ms at the other.
    assert_eq!(times_us(&json(&desk, "run farms/farm.toml")), [9000.0]);
    let longest = "run farms/farm.toml --set workload.master-slave.order=longest-first -o a.json";
    // 5 + 2 + 1 ms, and 4 + 3.
    assert_eq!(times_us(&json(&desk, longest)), [8000.0]);
    assert_eq!(times_us(&json(&desk, "run a.json")), [8000.0]);
    let typed = "master-slave farms/tasks.csv --workers 2 --order longest-first -o b.json";
    assert_eq!(times_us(&json(&desk, typed)), [8000.0]);
    assert_eq!(times_us(&json(&desk, "run b.json")), [8000.0]);
    desk.hayase("check farms/farm.toml a.json").assert().success().stdout_eq(
        "farms/farm.toml: ok: tasks of tasks.csv, 5 of them, 2 workers, messages at no cost, a task a message\n\
         a.json: ok: tasks of farms/tasks.csv, 5 of them, 2 workers, messages at no cost, a task a message, longest first\n",
    );
}

/// A task of 1 ms and 1 MB goes to a worker two links away: 1 ms for the message, and the overhead at both
/// ends of both messages.
#[test]
fn a_farm_runs_on_every_fabric_machine_and_transport() {
    let farm = "[workload.master-slave]\ntasks = \"constant:count=1,time=1ms\"\nbytes-in = \"1 MB\"\nworkers = 1\n";
    let desk = Desk::new().file("farm.toml", farm);
    let base = times_us(&json(&desk, "run farm.toml -t torus-4x4"))[0];
    assert_eq!(base, 2000.0);
    let ends = "--set workload.master-slave.overhead=10us";
    // The master receives the request and sends, the worker receives and sends, the master receives the result.
    assert_eq!(times_us(&json(&desk, &format!("run farm.toml -t torus-4x4 {ends}")))[0], 2050.0);
    // Packets of 1 KB and more, stored and forwarded: a packet more under way for each link but the first.
    let packets = times_us(&json(&desk, "run farm.toml -t torus-4x4 --transport packet:oq"))[0];
    assert!(packets > base && packets < base * 1.1, "{packets}");
    let machine = times_us(&json(&desk, "run farm.toml -t torus-4x4 -m myrinet"))[0];
    // Myrinet's links have 160 MB/s.
    assert!(machine > 1000.0 + 1e6 / 160.0, "{machine}");
    for name in ["mesh-16x16", "fat-tree-54", "crossbar-64"] {
        assert_eq!(times_us(&json(&desk, &format!("run farm.toml -t {name} --placement random --seed 3")))[0], base);
    }
}

#[test]
fn files_are_written_as_the_verb_writes_them() {
    let desk = desk();
    let written = "run farms/farm.toml -o f.json -o f.csv -o f.svg -o gantt.svg -q";
    desk.hayase(written).assert().success();
    assert!(desk.read("f.csv").starts_with("workers,processors,time_s,"));
    assert!(desk.read("f.svg").contains("predicted time") && desk.read("gantt.svg").contains("worker 1"));
    let report: Value = serde_json::from_str(&desk.read("f.json")).unwrap();
    assert_eq!(report["scenario"]["workload"]["master-slave"]["workers"], 2);
    for (words, expected) in [
        ("run farms/farm.toml -o x.png", ".png"),
        ("run farms/farm.toml -o messages.csv -o timeline.svg", ""),
        ("run farms/farm.toml --set workload.master-slave.workers=[1,2] -o gantt.svg", "there are 2"),
    ] {
        let assert = desk.hayase(words).assert();
        let said = assert.stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn seeds_draw_tasks_orders_and_places_anew() {
    let desk = Desk::new().file(
        "farm.toml",
        "topology = \"torus-4x4\"\n[placement.random]\n[workload.master-slave]\ntasks = \"exponential:count=50,mean=1ms\"\n\
         bytes-in = \"100 KB\"\nworkers = [3, 7]\norder = \"random\"\n",
    );
    let report = json(&desk, "run farm.toml --seeds 3 -o s.csv");
    for (i, row) in report["predictions"].as_array().unwrap().iter().enumerate() {
        let over = row["seeds"]["makespans_s"].as_array().unwrap();
        assert_eq!(over.len(), 3);
        for (seed, time) in (1..).zip(over) {
            let alone = times_us(&json(&desk, &format!("run farm.toml --seed {seed}")))[i];
            assert_eq!(alone, (time.as_f64().unwrap() * 1e9).round() / 1e3, "{i} {seed}");
        }
        assert!(over[0] != over[1] && over[1] != over[2]);
    }
    assert!(desk.read("s.csv").lines().next().unwrap().ends_with(",bound_s,seeds,mean_s,sd_s,min_s,max_s"));
}

#[test]
fn farms_and_fabrics_are_compared() {
    let one = "[workload.master-slave]\ntasks = \"exponential:count=60,mean=1ms\"\nbytes-in = \"1 MB\"\nworkers = \"2..4:2\"\n";
    let desk = Desk::new().file("one.toml", one).file("two.toml", &one.replace("count=60", "count=70"));
    let words = "compare -p ./one.toml,./two.toml -t torus-4x4,crossbar-64 --vary workload.master-slave.granularity=1,4 --seeds 2";
    let report = json(&desk, &format!("{words} -o c.svg -o c.csv"));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 16);
    for row in rows {
        let (fabric, farm) = (row["topology"].as_str().unwrap(), row["pattern"].as_str().unwrap());
        let key = |name: &str| row["varied"][&format!("workload.master-slave.{name}")].as_str().unwrap();
        let (workers, k) = (key("workers"), key("granularity"));
        let alone = |seed| {
            let set =
                format!("--set workload.master-slave.workers={workers} --set workload.master-slave.granularity={k}");
            times_us(&json(&desk, &format!("run {farm} -t {fabric} {set} --seed {seed}")))[0]
        };
        let mean = row["makespan"]["mean_s"].as_f64().unwrap() * 1e6;
        assert!((mean - (alone(1) + alone(2)) / 2.0).abs() < 2e-3, "{row}");
        // The largest of the farm's own bounds.
        assert!(row["ratio_to_bound"].as_f64().unwrap() >= 1.0, "{row}");
    }
    // A job for each list of tasks, whatever the workers.
    let jobs: std::collections::BTreeSet<&str> = rows.iter().map(|row| row["job"].as_str().unwrap()).collect();
    assert_eq!(jobs.len(), 2);
    let lost = "compare -p ./one.toml --set workload.master-slave.lose=[\"0@1ms\",\"1@1ms\"] --set workload.master-slave.workers=2";
    let assert = desk.hayase(&format!("{lost} -q")).assert().code(1);
    let said = assert.stderr();
    assert!(said.contains("all workers are lost"), "{said}");
}

/// Rows with points of their own stand beside rows without.
#[test]
fn a_farm_with_several_points_is_compared_with_what_has_none() {
    let desk = Desk::new()
        .file("several.toml", "[workload.master-slave]\ntasks = \"constant:count=10,time=1ms\"\nworkers = [3, 7]\n");
    for patterns in ["several.toml,ring", "ring,several.toml"] {
        let words = format!("compare -p {patterns},ring -t torus-4x4 -o x.csv -o x.svg -q");
        desk.hayase(&words).assert().success();
        let csv = desk.read("x.csv");
        // The number of workers is the last column; unknown bounds are empty.
        let mut ends: Vec<&str> = csv.lines().map(|line| &line[line.rfind(',').unwrap_or(0)..]).skip(1).collect();
        ends.sort_unstable();
        assert_eq!(ends, [",", ",3", ",7"], "{csv}");
        assert!(csv.lines().next().unwrap().ends_with(",machine,workload.master-slave.workers"), "{csv}");
        let farms: Vec<&str> = csv.lines().filter(|line| line.contains("constant:count=10")).collect();
        assert!(farms.len() == 2 && farms.iter().all(|line| line.contains(",20,0,,,,1.")), "{csv}");
    }
}

#[test]
fn what_of_a_farm_matters_is_asked_with_whatif() {
    let desk = desk();
    let words =
        "whatif farms/farm.toml --set workload.master-slave.overhead=10us --set workload.master-slave.latency=5us";
    let report = json(&desk, words);
    let names: Vec<&str> =
        report["varied"].as_array().unwrap().iter().map(|one| one["parameter"].as_str().unwrap()).collect();
    assert!(names.contains(&"workload.master-slave.overhead") && names.contains(&"workload.master-slave.latency"));
    assert_eq!((report["limits"]["ideal_s"].as_f64().unwrap() * 1e6).round(), 9000.0);
    let varied = json(&desk, &format!("{words} --vary workload.master-slave.overhead=10us,20us"));
    let point = &varied["varied"][0]["points"][1]["time_s"];
    let alone = json(
        &desk,
        "run farms/farm.toml --set workload.master-slave.overhead=20us --set workload.master-slave.latency=5us",
    );
    assert_eq!(point, &alone["predictions"][0]["time_s"]);
    for (words, expected) in [
        ("whatif farms/farm.toml --set workload.master-slave.workers=[1,2]", "tried in 2 ways"),
        ("whatif farms/farm.toml --vary cpu-speed=1,2", "only programs have processors"),
        ("whatif farms/farm.toml --cpu-speed 2", "the workload `master-slave` has no `cpu-speed`"),
        ("whatif farms/farm.toml --wildcards arrival", "`master-slave` is a farm and has tasks, grid, "),
    ] {
        let assert = desk.hayase(words).assert().code(2);
        let said = assert.stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
    // A pattern too.
    let pattern = json(&desk, "whatif ring -t crossbar-64");
    let size =
        pattern["varied"].as_array().unwrap().iter().find(|one| one["parameter"] == "workload.ring.size").unwrap();
    assert_eq!(size["elasticity"], 1.0);
    assert_eq!(pattern["limits"]["ideal_s"], Value::Null);
}

#[test]
fn mistakes_are_marked_where_they_stand() {
    let head = "[workload.master-slave]\n";
    for (text, places) in [
        ("tasks = \"tasks.csv\"\nworkers = 0\n", vec![":3:11", "without workers"]),
        ("tasks = \"none.csv\"\nworkers = 1\n", vec![":2:9", "there is no file `none.csv`"]),
        ("tasks = \"tasks.csv\"\nworkers = \"8..2\"\n", vec![":3:11", "is not a range of numbers"]),
        ("tasks = \"tasks.csv\"\nworkers = -1\n", vec![":3:11", "a whole number, a list of them or a range"]),
        ("tasks = \"tasks.csv\"\nworkers = []\n", vec![":3:11", "there are no numbers"]),
        ("tasks = \"tasks.csv\"\nworkers = 1.5\n", vec![":3:11", "a whole number"]),
        ("tasks = \"tasks.csv\"\n", vec![":1:11", "number of workers is not given"]),
        ("workers = 2\n", vec![":1:1", "missing key `tasks`"]),
        ("tasks = \"tasks.csv\"\nwrokers = 2\n", vec![":3:1", "did you mean `workers`?"]),
        ("tasks = \"tasks.csv\"\nworkers = 2\nprocessors = 3\n", vec![":4:14", "both say"]),
        ("tasks = \"tasks.csv\"\nworkers = 2\norder = \"shortest\"\n", vec![":4:9", "unknown order `shortest`"]),
        ("tasks = \"tasks.csv\"\nworkers = 2\ngranularity = 0\n", vec![":4:15", "from 1"]),
        ("tasks = \"tasks.csv\"\nworkers = 2\nlatency = \"5\"\n", vec![":4:11", "has no unit"]),
        ("tasks = \"tasks.csv\"\nworkers = 2\nlose = [\"1@1s\", \"5@1s\"]\n", vec![":4:17", "worker 5"]),
        ("tasks = \"tasks.csv\"\nworkers = 2\nlose = [\"1\"]\n", vec![":4:9", "which worker is lost when"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\nspeeds = \"1,2\"\n", vec![":3:11", "speeds are given for 2"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\nspeeds = \"fast\"\n", vec![":4:10", "neither a file of speeds"]),
        (
            "tasks = \"tasks.csv\"\nworkers = 3\nvary = \"granulrity=1..4\"\n",
            vec![":4:8", "did you mean `granularity`?"],
        ),
        ("tasks = \"tasks.csv\"\nworkers = 3\nvary = \"order=listed,lucky\"\n", vec![":4:8", "unknown order `lucky`"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\nclamp = true\n", vec!["without a grid"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\ngrid = \"3x\"\n", vec![":4:8", "is not a grid"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\noverlap = true\n", vec![":4:11", "without a topology"]),
        ("tasks = \"exponential:count=5\"\nworkers = 3\n", vec![":2:9", "missing key `mean`"]),
        ("tasks = \"exponential:count=5,mean=fast\"\nworkers = 3\n", vec![":2:35", "is not a time"]),
        ("tasks = \"exponental:count=5\"\nworkers = 3\n", vec![":2:10", "unknown tasks `exponental`"]),
        ("workers = 3\n[workload.master-slave.tasks]\n", vec![":3:", "`tasks` is not one choice"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\n[placement.random]\n", vec![":4:", "without a topology"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\n[transport.flow]\n", vec![":4:", "without a topology"]),
        ("tasks = \"tasks.csv\"\nworkers = 3\n[node.loggopsim]\n", vec![":4:", "sets more than the cost of a message"]),
    ] {
        let desk = Desk::new().file("tasks.csv", TASKS).file("bad.toml", &format!("{head}{text}"));
        for verb in ["run", "check"] {
            let assert = desk.hayase(&format!("{verb} bad.toml")).assert().code(2).stdout_eq("");
            let said = assert.stderr();
            for place in &places {
                assert!(said.contains(place), "{text}: {place}: {said}");
            }
        }
    }
    let desk = desk();
    for (words, expected) in [
        ("run farms/farm.toml -t torus-4x4 --set workload.master-slave.workers=16", "need 17 nodes, the fabric has 16"),
        ("run farms/farm.toml -t torus-4x4 --set workload.master-slave.prefetch=1", "over a fabric"),
        ("run farms/farm.toml -t torus-4x4 --set workload.master-slave.gap=\"1ns/B\"", "takes the place of the gap"),
        ("run farms/farm.toml -m myrinet --set workload.master-slave.latency=1us", "both set the cost of messages"),
        ("run farms/farm.toml --size 3KB", "the workload `master-slave` has no `size`"),
        ("rates -t torus-4x4 farms/farm.toml", "a pattern is needed here"),
    ] {
        let assert = desk.hayase(words).assert().code(2);
        let said = assert.stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}

/// Returns the keys of the outermost object of a report, in order.
fn keys(report: &str) -> Vec<&str> {
    report.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect()
}

#[test]
fn reports_of_all_work_begin_with_the_same_keys_and_end_with_meta() {
    let desk = desk();
    desk.hayase("run farms/farm.toml --seeds 2 -o farm.json -q").assert().success();
    desk.hayase("run -t crossbar-64 -p all-to-all-pairwise --seeds 2 -o pattern.json -q").assert().success();
    desk.hayase("replay linear:ranks=4 --node loggopsim --seeds 2 -o program.json -q").assert().success();
    let head = ["schema", "scenario", "status", "makespan_s", "messages", "bytes", "seeds", "fingerprint"];
    for name in ["farm.json", "pattern.json", "program.json"] {
        let report = desk.read(name);
        let keys = keys(&report);
        assert_eq!((&keys[..head.len()], keys.last()), (&head[..], Some(&"meta")), "{name}: {keys:?}");
    }
}

#[test]
fn the_head_of_a_farm_is_that_of_its_first_prediction() {
    let desk = desk();
    let one = json(&desk, "run farms/farm.toml");
    // A message with each of five tasks of 1 KB, and one with each result.
    assert_eq!((&one["status"], &one["messages"], &one["bytes"]), (&"complete".into(), &10.into(), &5000.into()));
    assert_eq!(one["makespan_s"], one["predictions"][0]["time_s"]);
    assert_eq!(one["fingerprint"], one["predictions"][0]["fingerprint"]);
    let many = json(&desk, "run farms/farm.toml --set workload.master-slave.workers=[2,3] --seeds 3");
    assert_eq!((&many["makespan_s"], &many["messages"]), (&one["makespan_s"], &10.into()));
    assert_eq!(many["seeds"], many["predictions"][0]["seeds"]);
    assert_eq!(many["seeds"]["seeds"], serde_json::json!([1, 2, 3]));
    // One chart over all predictions.
    assert!(
        [&one["fingerprint"], &many["predictions"][1]["fingerprint"]].iter().all(|&one| *one != many["fingerprint"])
    );
}

/// Two workers are lost after one task each; every output reports that the other three tasks are not done.
#[test]
fn a_farm_that_loses_all_its_workers_is_not_complete() {
    let farm = "[workload.master-slave]\ntasks = \"constant:count=5,time=1ms\"\nworkers = 2\n";
    let desk = Desk::new().file("late.toml", &format!("{farm}lose = [\"0@3.5ms\", \"1@3.5ms\"]\n"));
    let desk = desk.file("lost.toml", &format!("{farm}lose = [\"0@1.5ms\", \"1@1.5ms\"]\n"));
    let desk = desk.file("half.toml", &format!("{farm}lose = [\"0@1.5ms\"]\n"));
    let json = |words: &str, code: i32| -> Value {
        desk.hayase(&format!("{words} --format json -q")).assert().code(code).json()
    };
    let report = json("run lost.toml", 1);
    assert_eq!((&report["status"], &report["predictions"][0]["undone"]), (&"undone".into(), &3.into()));
    assert_eq!(json("run half.toml", 0)["status"], "complete");
    // The worst of several points, also with several seeds.
    let tried = "run lost.toml --set workload.master-slave.workers=[2,3]";
    assert_eq!(json(tried, 1)["status"], "undone");
    assert_eq!(json("run lost.toml --seeds 2", 1)["status"], "undone");
    // A program that does not end is not varied; a change that loses all workers has no time.
    let report = json("whatif lost.toml", 1);
    assert_eq!((&report["status"], &report["undone"]), (&"undone".into(), &3.into()));
    assert_eq!(report["varied"].as_array().map(Vec::len), Some(0));
    let assert = desk.hayase("whatif lost.toml -q").assert().code(1);
    let output = assert.get_output();
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        assert!(text.contains("all workers are lost, and 3 tasks are not done"), "{text}");
    }
    // Slower messages: the workers are lost before they have done all.
    let slow = json("whatif late.toml --vary workload.master-slave.latency=0s,2ms", 0);
    let points = slow["varied"][0]["points"].as_array().unwrap();
    assert!(points[0]["time_s"].as_f64().is_some());
    // Each has done one, after 2 + 1 ms.
    assert_eq!(points[1]["failed"], "all workers are lost, and 3 tasks are not done");
}

/// Tasks given by a rule equal those of its table: their parameters can be changed one at a time.
#[test]
fn parameters_of_tasks_that_are_named_by_a_rule_are_varied() {
    let farm = "[workload.master-slave]\ntasks = \"constant:count=6,time=1ms\"\nworkers = 2\n";
    let desk = Desk::new().file("farm.toml", farm);
    let report = json(&desk, "whatif farm.toml");
    let varied = report["varied"].as_array().unwrap();
    let time = varied.iter().find(|one| one["parameter"] == "workload.master-slave.tasks.constant.time").unwrap();
    let ms = |i: usize| (time["points"][i]["time_s"].as_f64().unwrap() * 1e6).round() / 1e3;
    assert_eq!((ms(0), ms(1)), (1.5, 6.0));
    let set = "run farm.toml --set workload.master-slave.tasks.constant.count=8";
    assert_eq!(times_us(&json(&desk, set)), [4000.0]);
    // Another rule replaces this one, however it is written.
    for other in
        ["constant:count=2,time=5ms", "{constant={count=2,time=\"5ms\"}}", "uniform:count=1,least=5ms,most=5ms"]
    {
        let set = format!("run farm.toml --set workload.master-slave.tasks={other}");
        assert_eq!(times_us(&json(&desk, &set)), [5000.0], "{other}");
    }
}
