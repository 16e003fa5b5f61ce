//! Transcripts of schedules, orders and the best possible time.

use serde_json::Value;

use super::{Desk, Said};

fn json(desk: &Desk, words: &str) -> Value {
    desk.hayase(&format!("{words} --format json")).assert().success().json()
}

fn number(value: &Value, key: &str) -> f64 {
    value.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key} of {value}"))
}

/// Asserts that two numbers agree to a relative error.
fn assert_near(a: f64, b: f64, error: f64) {
    assert!((a - b).abs() <= error * b.abs(), "{a} is not near {b}");
}

const TORUS: &str = "torus:dims=[4,4],bandwidth=1GB/s,host-link=false";

#[test]
fn trees_of_a_torus_take_little_more_than_the_worst_cut() {
    let desk = Desk::new();
    let answer =
        json(&desk, &format!("schedule all-gather -t {TORUS} --size 1MB -o plan.csv -o plan.goal -o plan.xml"));
    // 15 of 16 ranks send their MB over the four links of the last.
    assert_near(number(&answer, "/optimum_s"), 15e6 / 4e9, 1e-12);
    assert_eq!((&answer["optimum_exact"], &answer["worst_cut"]["nodes"]), (&true.into(), &15.into()));
    assert_eq!(answer["worst_cut"]["bandwidth_Bps"], 4e9);
    let simulated = number(&answer, "/simulated_s");
    assert!(simulated < 1.03 * number(&answer, "/optimum_s"), "{simulated}");
    // The files are the same plan.
    let run = json(&desk, &format!("run -t {TORUS} -p plan.csv --injection all"));
    assert_near(number(&run, "/makespan_s"), simulated, 1e-9);
    assert_eq!(run["messages"], answer["messages"]);
    let goal = json(&desk, &format!("run plan.goal -t {TORUS}"));
    assert_eq!(goal["messages"], answer["messages"]);
    assert!(desk.read("plan.xml").starts_with("<algo "));
}

#[test]
fn a_plan_on_another_fabric_is_reported() {
    let desk = Desk::new();
    json(&desk, "schedule all-to-all -t torus-4x4 --method greedy --size 20KB -o plan.csv");
    let said = desk.hayase("run -t torus-8x8 -p plan.csv --injection barrier").assert().success();
    assert!(said.stderr().contains("made for another fabric"), "{}", said.stderr());
}

#[test]
fn every_operation_has_a_schedule_and_a_bound_below_it() {
    let desk = Desk::new();
    for operation in ["all-to-all", "all-gather", "reduce-scatter", "all-reduce", "broadcast", "scatter", "gather"] {
        for fabric in ["fat-tree-54", TORUS] {
            let answer = json(&desk, &format!("schedule {operation} -t {fabric} --size 64KB --ranks 7"));
            let (optimum, simulated) = (number(&answer, "/optimum_s"), number(&answer, "/simulated_s"));
            assert!(optimum > 0.0 && simulated >= optimum * (1.0 - 1e-9), "{operation} on {fabric}: {answer}");
            assert!(simulated < 2.0 * optimum, "{operation} on {fabric}: {answer}");
            let ratios = answer["algorithms"].as_array().unwrap().iter().map(|row| number(row, "/ratio_in_step"));
            assert!(ratios.fold(f64::INFINITY, f64::min) > 1.0 - 1e-9, "{operation} on {fabric}: {answer}");
        }
    }
}

#[test]
fn node_order_is_perfect_on_a_tree_and_only_in_step() {
    let desk = Desk::new();
    let run = |words: &str| {
        json(&desk, &format!("run -t fat-tree-54 -p all-to-all-simple-spread --placement random {words}"))
    };
    assert_near(number(&run("--order node"), "/ratio_to_bound"), 1.0, 1e-9);
    assert!(number(&run("--order rank"), "/ratio_to_bound") > 2.0);
    let auto = run("--order auto --jitter 1us");
    assert_eq!(auto["order"], "node");
    assert!(number(&auto, "/ratio_to_bound") > 1.02);
    assert_near(number(&auto, "/ratio_in_step"), 1.0, 1e-9);
    let rounds = number(&auto, "/rounds_s/node");
    assert_near(number(&run("--order node --injection barrier"), "/makespan_s"), rounds, 1e-9);
    // 53 rounds have 52 barriers between them.
    assert_near(
        number(&run("--order node --injection barrier --barrier-cost 1us"), "/makespan_s"),
        rounds + 52e-6,
        1e-9,
    );
}

#[test]
fn the_optimum_is_beside_the_bounds() {
    let desk = Desk::new();
    let run = json(&desk, "run -t torus-8x8 -p all-to-all-simple-spread --placement random --optimum");
    let (least, reached) = (number(&run, "/bounds/optimum_at_least_s"), number(&run, "/bounds/optimum_reached_s"));
    // The mean distance of a ring of 8 is 2, so that a link carries 64 * 4 / 4 messages.
    assert_near(least, 64.0 * 20e3 / 1e9, 1e-9);
    assert!(reached >= least * (1.0 - 1e-12) && reached <= 1.01 * least);
    assert_near(number(&run, "/ratio_to_optimum"), number(&run, "/makespan_s") / least, 1e-12);
    assert!(["distance", "lengths", "cut", "ports"].contains(&run["bounds"]["optimum_certificate"].as_str().unwrap()));
    let program = json(&desk, "run linear:ranks=8,size=1KB -t torus-4x4 --optimum");
    assert!(number(&program, "/ratio_to_optimum") >= 1.0);
}

#[test]
fn the_routes_of_the_best_throughput_reach_it() {
    let desk = Desk::new();
    let words = "throughput -t dragonfly-72 --traffic adversarial=1";
    let best = json(&desk, &format!("{words} --optimum -o paths.csv"));
    let (reached, at_most) = (number(&best, "/optimum_throughput"), number(&best, "/optimum_throughput_at_most"));
    assert!(reached <= at_most * (1.0 + 1e-12) && at_most <= 1.0101 * reached, "{reached} {at_most}");
    assert!(number(&best, "/throughput") < reached);
    let played = json(&desk, &format!("{words} --routing paths:paths.csv"));
    assert_near(number(&played, "/throughput"), reached, 1e-4);
    let cables = json(&desk, "throughput -t mesh-16x16 --optimum 5% --cables");
    let cables = cables["cables"].as_array().unwrap();
    assert!(!cables.is_empty() && cables.len() <= 10);
}

#[test]
fn an_operation_has_a_fastest_algorithm_for_each_size() {
    let desk = Desk::new();
    let answer = json(&desk, "compare --op all-reduce -t torus-4x4 --vary size=1KB,1MB");
    assert_eq!(answer["operation"], "all-reduce");
    let rows = answer["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["name"] == "schedule") && rows.iter().any(|row| row["name"] == "ring"));
    assert_eq!(answer["crossings"][0]["from_bytes"], 1000);
}

#[test]
fn wrong_requests_say_what_is_expected() {
    let told = |words: &str| Desk::new().hayase(words).assert().code(2).stdout_eq("").stderr();
    for (words, expected) in [
        ("schedule all-gather -t torus-4x4 --ranks 1", "with one rank moves nothing"),
        ("schedule broadcast -t torus-4x4 --root 16", "there is no rank 16 among 16"),
        ("schedule all-gather -t torus-4x4 --method pack", "makes no schedule of all-gather"),
        ("schedule all-to-all -t torus-4x4 --size 0B", "above 0"),
        ("schedule all-gather", "there is no topology"),
        ("schedule all-to-all -t crossbar:nodes=100000,bandwidth=1GB/s", "can be scheduled"),
        ("run -t fat-tree-54 -p all-to-all-simple-spread --order sign", "follows coordinates"),
        ("run -t torus-4x4 -p all-to-all-ring --order node", "`order` has no meaning"),
        ("run -t torus-4x4 -p all-to-all-simple-spread --barrier-cost 1us", "only for \"barrier\""),
        ("run -t torus-4x4 -p ring --optimum 0", "no relative precision"),
        ("throughput -t torus-4x4 -o paths.csv", "not asked for"),
    ] {
        assert!(told(words).contains(expected), "{words}: {}", told(words));
    }
}

#[test]
fn a_schedule_is_drawn_over_time() {
    let desk = Desk::new();
    let words = "schedule all-to-all -t fat-tree-54 --size 20KB -q -o timeline.svg -o links.svg";
    desk.hayase(words).assert().success();
    assert!(desk.read("timeline.svg").contains("2,862 messages among 54 ranks"));
    // All ports are busy all the time.
    let picture = desk.read("links.svg");
    let loads: Vec<&str> = picture.lines().filter(|line| line.contains("injection (54), ")).collect();
    assert!(!loads.is_empty() && loads.iter().all(|line| line.contains(": 100 %")), "{loads:?}");
}

#[test]
fn free_shares_of_roots_are_named_where_nodes_are_unequal() {
    let desk = Desk::new();
    let of = |fabric: &str| json(&desk, &format!("schedule all-reduce -t {fabric},bandwidth=1GB/s,host-link=false"));
    let (mesh, torus) = (of("mesh:dims=[3,4]"), of("torus:dims=[3,3]"));
    // 12 ranks: corners have two links, and trees of 8/3 GB/s have roots elsewhere.
    assert_near(number(&mesh, "/free_shares_s"), 0.75e-3, 1e-4);
    assert!(torus["free_shares_s"].is_null() && number(&torus, "/optimum_s") > 0.0);
}

#[test]
fn a_rank_file_gives_rank_order_the_order_of_the_run() {
    let desk = Desk::new();
    let run = |rest: &str| format!("run -t fat-tree-54 -p all-to-all-simple-spread --ranks 7 --placement {rest}");
    for order in ["node", "stride"] {
        let ordered = format!("random --seed 3 --order {order} -o rankfile=ranks.txt -o hostfile=hosts");
        let makespan = number(&json(&desk, &run(&ordered)), "/makespan_s");
        let text = desk.read("ranks.txt");
        let nodes: Vec<&str> =
            text.lines().filter_map(|line| line.split_once("=node")?.1.strip_suffix(" slot=0")).collect();
        assert_eq!(nodes.len(), 7);
        let hosts: String = nodes.iter().map(|node| format!("node{node}:1\n")).collect();
        assert!(desk.read("hosts").ends_with(&hosts));
        // Ranks on these nodes in the order of the file take the same time without an order.
        assert_near(number(&json(&desk, &run(&nodes.join(","))), "/makespan_s"), makespan, 1e-12);
    }
    let said = desk.hayase(&run("random --order random -o rankfile=ranks.txt")).assert().code(2);
    assert!(said.stderr().contains("no numbering"), "{}", said.stderr());
}

/// Node 0 sends with 1 GB/s and receives with 2 GB/s.
const UNEVEN: &str = r#"{"directed": true, "nodes": [{"id": 0, "kind": "node"}, {"id": 1, "kind": "node"},
 {"id": 2, "kind": "node"}, {"id": "a", "kind": "switch"}],
 "edges": [{"source": 0, "target": "a", "bandwidth": 1e9}, {"source": "a", "target": 0, "bandwidth": 2e9},
  {"source": 1, "target": "a", "bandwidth": 4e9}, {"source": "a", "target": 1, "bandwidth": 4e9},
  {"source": 2, "target": "a", "bandwidth": 4e9}, {"source": "a", "target": 2, "bandwidth": 4e9}]}"#;

#[test]
fn a_reduce_scatter_is_bound_by_the_bandwidth_out_of_a_node() {
    let desk = Desk::new().file("uneven.json", UNEVEN);
    let of = |operation: &str| json(&desk, &format!("schedule {operation} -t ./uneven.json --size 1MB"));
    // Node 0 receives the blocks of two others, and sends the contributions to their blocks.
    for (operation, expected) in [("all-gather", 1e-3), ("reduce-scatter", 2e-3)] {
        let answer = of(operation);
        assert_near(number(&answer, "/optimum_s"), expected, 1e-12);
        let simulated = number(&answer, "/simulated_s");
        assert!(simulated >= expected * (1.0 - 1e-9) && simulated < 1.05 * expected, "{answer}");
    }
    // A vector of 1 MB has blocks of a third of that.
    assert_near(number(&of("all-reduce"), "/optimum_s"), (1e-3 + 2e-3) / 3.0, 1e-12);
}

#[test]
fn no_algorithm_that_sends_blocks_on_is_faster_than_the_optimum() {
    // Ranks of two servers reach each other over slow spines, or over a GPU of the same server.
    let desk = Desk::new();
    let fabric = "rails:servers=4,gpus=2,bandwidth=1GB/s,nvlink-bandwidth=10GB/s,spine-bandwidth=10MB/s";
    for (operation, expected) in [("gather", 3e-3), ("scatter", 3e-3), ("all-to-all", 6e-3)] {
        let answer = json(&desk, &format!("schedule {operation} -t {fabric} --size 1MB"));
        // Three servers have two blocks each for a rank, or four for a server, which has two rails of 1 GB/s.
        assert_near(number(&answer, "/optimum_s"), expected, 0.01);
        assert!(number(&answer, "/algorithms/0/ratio_to_optimum") > 0.999, "{answer}");
    }
}

#[test]
fn options_and_files_without_meaning_are_refused() {
    let desk = Desk::new();
    for (words, mistake) in [
        ("all-to-all --chunks 4", "--chunks has no meaning for all-to-all"),
        ("scatter --trees 4", "--trees has no meaning for scatter"),
        ("all-gather --chunks 99999999 -o x.csv", "there is no plan for `x.csv`"),
    ] {
        let said = desk.hayase(&format!("schedule {words} -t torus-4x4")).assert().code(2);
        assert!(said.stderr().contains(mistake), "{words}: {}", said.stderr());
    }
    assert_eq!(desk.names(), [""; 0]);
}
