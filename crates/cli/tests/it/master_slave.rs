//! Tests of master/slave programs.

use std::fmt::Write;

use serde_json::Value;
use snapbox::str;

use super::{Desk, Said};

/// Four tasks for two workers, worked out by hand in the tests of the task queue (there in picoseconds).
pub const TASKS: &str = "\
time,bytes_in,bytes_out
100 us,20 KB,30 KB
40 us,20 KB,30 KB
60 us,20 KB,30 KB
80 us,20 KB,30 KB
";

/// Its network.
const NETWORK: &str = "--latency 5us --overhead 10us --gap 1ns/B";

const CROSSBAR: &str = "\
# Eight nodes, for tests.
[topology.crossbar]
nodes = 8
bandwidth = \"1 GB/s\"
";

fn desk() -> Desk {
    Desk::new().file("tasks.csv", TASKS).file("crossbar.toml", CROSSBAR)
}

fn json(desk: &Desk, words: &str) -> Value {
    desk.hayase(&format!("master-slave {words} --format json")).assert().success().json()
}

/// Returns the predicted times.
fn times(report: &Value) -> Vec<f64> {
    report["predictions"].as_array().unwrap().iter().map(|row| row["time_s"].as_f64().unwrap()).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

#[test]
fn a_prediction_is_that_worked_out_by_hand_in_every_form() {
    let desk = desk();
    let words = format!("tasks.csv --speeds 1,2 {NETWORK}");
    let report = json(&desk, &format!("{words} -o p.json -o p.csv -o p.svg -o gantt.svg"));
    assert!(close(times(&report)[0], 510e-6), "{report}");
    let row = &report["predictions"][0];
    assert_eq!((row["workers"].as_u64(), row["processors"].as_u64()), (Some(2), Some(3)));
    assert!(close(row["efficiency"].as_f64().unwrap(), 280.0 / 1.5 / 510.0));
    assert!(close(row["master_utilisation"].as_f64().unwrap(), 180.0 / 510.0));
    assert!(close(row["bound_s"].as_f64().unwrap(), 280.0 / 1.5 * 1e-6 + 120e-6), "{row}");
    assert_eq!(report["schema"], "hayase-master-slave-1");
    assert!(desk.read("p.csv").starts_with("workers,processors,time_s,efficiency,"));
    assert!(desk.read("p.svg").contains("predicted time") && desk.read("gantt.svg").contains("worker 1"));
    assert_eq!(desk.read("p.json").matches("time_s").count(), 1);
    desk.hayase(&format!("master-slave {words}")).assert().success().stderr_eq("").stdout_eq(str![[r#"
tasks of tasks.csv
L = 5 us, o = 10 us, G = 1 ns/B, a task a message
4 tasks, work 280 us, longest 100 us

workers  time [us]  efficiency [%]  master busy [%]  workers busy [%]  waiting, mean  most  imbalance [%]  bound [us]  by
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
      2    510.000            36.6             35.3              39.2           0.04     1           13.7     306.667  workers

estimate in closed form: 5 equal workers keep the master busy, but for start and end

"#]]);
}

#[test]
fn processors_count_the_master_too() {
    let desk = desk();
    let workers = json(&desk, &format!("tasks.csv --workers 1..3 {NETWORK}"));
    let processors = json(&desk, &format!("tasks.csv --processors 2..4 {NETWORK}"));
    assert_eq!(times(&workers), times(&processors));
    assert_eq!(times(&workers).len(), 3);
}

#[test]
fn over_an_idle_crossbar_the_exchange_is_that_of_the_closed_form() {
    let mut table = "time,bytes_in\n".to_owned();
    for i in 0..40 {
        let _ = writeln!(table, "{} us,{} KB", 50 + (i * 37) % 90, 1 + i % 5);
    }
    let desk = desk().file("one-way.csv", &table);
    let ends = "--latency 5us --overhead 10us --overhead-per-processor 1us";
    let closed = json(&desk, &format!("one-way.csv --workers 1..7 {ends} --gap 1ns/B"));
    let fabric = json(&desk, &format!("one-way.csv --workers 1..7 {ends} -t crossbar.toml"));
    for (a, b) in times(&closed).into_iter().zip(times(&fabric)) {
        assert!((a - b).abs() < 1e-11, "{a} {b}");
    }
    // Large results that come at once share the master's link: then it takes longer.
    let both = "--bytes-out 500KB --latency 5us --overhead 10us";
    let constant = "constant:count=64,time=100us";
    let closed = times(&json(&desk, &format!("{constant} --workers 7 {both} --gap 1ns/B")))[0];
    let fabric = times(&json(&desk, &format!("{constant} --workers 7 {both} -t crossbar.toml")))[0];
    // 64 results of 500 us each through one link.
    assert!(fabric > 64.0 * 500e-6 && fabric > 2.0 * closed, "{fabric} {closed}");
}

#[test]
fn a_machine_says_what_messages_cost() {
    let desk = desk();
    // Myrinet: o = 6.73 us, L = 850 ns, nothing per byte for messages of 0 bytes.
    let machine = times(&json(&desk, "constant:count=10,time=1ms --workers 2 -m myrinet"))[0];
    let typed = times(&json(&desk, "constant:count=10,time=1ms --workers 2 --overhead 6730ns --latency 850ns"))[0];
    assert!(close(machine, typed), "{machine} {typed}");
}

#[test]
fn executed_tasks_are_interpolated() {
    let desk = desk().file("few.csv", "i1,time\n1,10 us\n5,50 us\n");
    // 10, 20, ..., 50 on one worker at no cost.
    assert!(close(times(&json(&desk, "few.csv --grid 5 --workers 1"))[0], 150e-6));
    assert!(close(times(&json(&desk, "few.csv --grid 6 --clamp --workers 1"))[0], 200e-6));
    assert!(close(times(&json(&desk, "few.csv --workers 1"))[0], 60e-6));
    desk.hayase("master-slave few.csv --grid 6 --workers 1").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[outside-executed]: few.csv: in dimension 1 tasks were executed from 1 to 5 only, the grid goes from 1 to 6
 --> <TASKS>:1:1
  |
1 | few.csv
  | ^^^^^^^
  |
  = help: execute the tasks at the ends too, or have those beyond take as long as the nearest (--clamp)

"#]]);
}

#[test]
fn ways_of_giving_out_tasks_are_varied() {
    let desk = desk();
    let base = "exponential:count=2000,mean=1ms --workers 16 --overhead 20us --latency 10us";
    let report = json(&desk, &format!("{base} --vary granularity=1..64:x2 -o vary.svg"));
    assert_eq!(report["predictions"].as_array().unwrap().len(), 7);
    assert_eq!(report["predictions"][6]["value"], "64");
    for vary in ["prefetch=0..3", "masters=1,2,4", "order=listed,longest-first,random,guided,factoring"] {
        let report = json(&desk, &format!("{base} --vary {vary}"));
        for row in report["predictions"].as_array().unwrap() {
            assert!(row["time_s"].as_f64() >= row["bound_s"].as_f64(), "{row}");
        }
    }
    let report = json(&desk, &format!("{base} --masters 3 --hierarchy 50"));
    assert_eq!(report["predictions"][0]["processors"], 20);
}

#[test]
fn saturation_is_found_where_the_master_has_no_more_time() {
    // The master needs 40 us a task, a worker's turn takes 40 + 1000 + 40 us: saturated from 27 workers on.
    let report = json(&desk(), "constant:count=5000,time=1ms --workers 9..45:9 --overhead 20us");
    assert_eq!(report["master_bound_workers"], 27);
    assert_eq!(report["saturation_workers"], 27);
    let report = json(&desk(), "constant:count=5000,time=1ms --workers 2..8:2 --overhead 20us");
    assert_eq!(report["saturation_workers"], Value::Null);
}

#[test]
fn losses_cost_time_and_without_any_worker_left_it_fails() {
    let desk = desk();
    let base = "constant:count=100,time=1ms --workers 4";
    let whole = times(&json(&desk, base))[0];
    let report = json(&desk, &format!("{base} --lose 1@10.5ms --detection 2ms"));
    assert!(times(&report)[0] > whole && report["predictions"][0]["repeated"] == 1);
    assert_eq!(report["predictions"][0]["undone"], 0);
    let all = "--lose 0@1ms --lose 1@1ms --lose 2@1ms --lose 3@5ms";
    let assert = desk.hayase(&format!("master-slave {base} {all}")).assert().code(1);
    assert.stderr_eq("error: all of 4 workers are lost, and 92 tasks are not done\n");
}

#[test]
fn plan_and_execute_in_turn_until_it_is_sure_enough() {
    let desk = desk();
    let time = |i: f64, j: f64| if i * i + j * j < 900.0 { 1e-3 } else { 1e-5 };
    let mut executed = "i1,i2,time\n".to_owned();
    let mut rounds = 0;
    desk.hayase("master-slave plan --grid 64x64 -o next.csv").assert().success();
    while desk.read("next.csv").lines().count() > 1 {
        for line in desk.read("next.csv").lines().skip(1) {
            let (i, j) = line.split_once(',').unwrap();
            let _ = writeln!(executed, "{line},{:e}", time(i.parse().unwrap(), j.parse().unwrap()));
        }
        std::fs::write(desk.path().join("executed.csv"), &executed).unwrap();
        let words = "master-slave plan executed.csv --grid 64x64 --accuracy 3% --workers 8 -o next.csv -o plan.json";
        desk.hayase(words).assert().success();
        rounds += 1;
        assert!(rounds < 30);
    }
    let plan: Value = serde_json::from_str(&desk.read("plan.json")).unwrap();
    let work: f64 = (1..=64).flat_map(|i| (1..=64).map(move |j| time(i.into(), j.into()))).sum();
    let estimate = plan["work_s"].as_f64().unwrap();
    assert!((estimate / work - 1.0).abs() < 0.05, "{estimate} {work}");
    assert!(plan["executed"].as_u64().unwrap() < 64 * 64 / 2, "{}", plan["executed"]);
    assert_eq!(plan["rate"], 0.95);
    let row = &plan["predictions"][0];
    let (least, time, most) = (row["least_s"].as_f64(), row["time_s"].as_f64(), row["most_s"].as_f64());
    assert!(least <= time && time <= most);
    let predicted = times(&json(&desk, "executed.csv --refined --grid 64x64 --workers 8"))[0];
    assert!(close(predicted, time.unwrap()));
    // As a product grid it is none.
    let assert = desk.hayase("master-slave executed.csv --grid 64x64 --workers 8").assert().code(2);
    assert!(assert.stderr().contains("are missing"));
}

#[test]
fn a_plan_says_its_rate_and_which_accuracy_no_part_of_the_tasks_gives() {
    // Of 200 tasks, one in four a hundred times as long as the others, no part tells the sum to 2 %.
    let desk = desk();
    desk.hayase("master-slave plan --grid 200 -o next.csv").assert().success();
    let time = |i: u32| if i * 7919 % 37 < 9 { 1e-1 } else { 1e-3 };
    let next = desk.read("next.csv");
    let rows: Vec<String> =
        next.lines().skip(1).map(|line| format!("{line},{:e}", time(line.parse().unwrap()))).collect();
    std::fs::write(desk.path().join("executed.csv"), format!("i1,time\n{}\n", rows.join("\n"))).unwrap();
    let words = "master-slave plan executed.csv --grid 200 --accuracy 2% --workers 4";
    let assert = desk.hayase(words).assert().success();
    let text = assert.stdout();
    assert!(text.contains("interval of 95 %") && text.contains("with intervals of 95 %"), "{text}");
    assert!(text.contains("2.00 % cannot be had from a part"), "{text}");
    // Without a task that was proposed there is no plan.
    std::fs::write(desk.path().join("executed.csv"), format!("i1,time\n{}\n", rows[1..].join("\n"))).unwrap();
    let assert = desk.hayase(words).assert().code(2).stdout_eq("");
    let stderr = assert.stderr();
    assert!(stderr.contains("1 task of round 1") && stderr.contains("before planning again"), "{stderr}");
}

#[test]
fn mistakes_are_told_with_what_to_write_instead() {
    let desk = desk().file("bad.csv", "i1,time\n1,1 s\n2,fast\n").file("bad.toml", "[tasks.constant]\ncount = 3\n");
    for (words, says) in [
        ("master-slave tasks.csv", "--workers"),
        ("master-slave none.csv -w 2", "there is no file `none.csv`"),
        ("master-slave bad.csv -w 2", "bad.csv:3:3"),
        ("master-slave bad.toml -w 2", "missing key `time`"),
        ("master-slave tasks.csv -w 8..2", "\"8..2\" is not a range"),
        ("master-slave tasks.csv -w 0", "without workers nothing is done"),
        ("master-slave tasks.csv -w 2 --order longst", "unknown order `longst`"),
        ("master-slave tasks.csv -w 2 --grid 3x", "is not a grid"),
        ("master-slave tasks.csv -w 2 --grid 4", "0 coordinates"),
        ("master-slave tasks.csv -w 2 --latency 5", "has no unit"),
        ("master-slave tasks.csv -w 9 -t crossbar.toml", "need 10 nodes, the fabric has 8"),
        ("master-slave tasks.csv -w 2 -t crossbar.toml --prefetch 1", "over a fabric"),
        ("master-slave tasks.csv -w 2 -m no-such", "no-such"),
        ("master-slave tasks.csv -w 3 --speeds 1,2", "speeds are given for 2"),
        ("master-slave tasks.csv -w 2 --masters 3", "too few workers"),
        ("master-slave tasks.csv -w 2 --lose 5@1s", "worker 5"),
        ("master-slave tasks.csv -w 1,2 -o gantt.svg", "one prediction"),
        ("master-slave tasks.csv -w 2 -o x.png", ".png"),
        ("master-slave exponential:count=5 -w 2", "missing key `mean`"),
        ("master-slave exponental:count=5,mean=1ms -w 2", "unknown tasks `exponental`"),
        ("master-slave plan tasks.csv", "--grid"),
        ("master-slave plan --grid 9x9 --accuracy much", "2%"),
    ] {
        let assert = desk.hayase(words).assert().code(2).stdout_eq("");
        let stderr = assert.stderr();
        assert!(stderr.contains(says), "{words}: {stderr}");
    }
}
