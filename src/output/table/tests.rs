//! Tables of reports made by hand, as a reader sees them.

use serde_json::json;

use super::*;
use crate::report::{
    Bounds, COMPARISON_SCHEMA, Comparison, ComparisonRow, LinkUse, Meta, Rate, Report, Rounds, SCHEMA, SeedStatistics,
    Status, Stopped,
};

fn link(id: u32, name: &str, bytes: u64, peak_flows: u32) -> LinkUse {
    LinkUse {
        id,
        name: name.into(),
        capacity_bps: 1e9,
        bytes,
        busy_s: 0.0691,
        utilisation: bytes as f64 / 1e9 / 0.0691,
        peak_flows,
        mean_flows: 1.0,
        peak_queue: 0,
        mean_queue: 0.0,
        blocked_s: 0.0,
    }
}

fn report() -> Report {
    Report {
        schema: SCHEMA,
        scenario: json!({
            "seed": 1,
            "topology": { "fat-tree": { "p": 12 } },
            "routing": { "d-mod-k": {} },
            "placement": { "regular": {} },
            "sharing": { "max-min": {} },
            "workload": { "all-to-all": { "injection": "queue", "message-jitter": "0 ps" } },
        }),
        fabric: "fat-tree p=12 (3456 nodes, 720 switches, 20736 links)".into(),
        workload: "all-to-all simple-spread, 20 KB, 3456 ranks".into(),
        status: Status::Complete,
        makespan_s: 0.0691,
        messages: 11_940_480,
        bytes: 238_809_600_000,
        bandwidth_bps: 3.456e12,
        bandwidth_per_node_bps: 1e9,
        bounds: Bounds { injection_s: 0.0691, busiest_link_s: 0.0691, bisection_s: Some(0.03456), path_s: None },
        ratio_to_bound: 1.0,
        contention: 1.0,
        links: vec![link(0, "node 0 -> switch 0.0", 69_100_000, 1), link(1, "switch 0.0 -> node 0", 6_910_000, 12)],
        rounds: None,
        stopped: None,
        seeds: None,
        fingerprint: "f3a1".into(),
        gridlock: None,
        meta: Meta { wall_s: 1.5, events: 10, packet_hops: None, peak_rss_bytes: None, version: "0.1.0".into() },
    }
}

#[test]
fn a_run_shows_its_figures_its_bounds_and_its_busiest_links() {
    insta::assert_snapshot!(run(&report()), @"
    fat-tree p=12 (3456 nodes, 720 switches, 20736 links)
    all-to-all simple-spread, 20 KB, 3456 ranks
    placement regular, routing d-mod-k, sharing max-min, injection queue, seed 1

    makespan      69.1 ms
    messages      11,940,480
    bytes         238.8 GB
    bandwidth     1 GB/s per node, 3.456 TB/s in all
    bounds        injection     69.1 ms     makespan is 1.000 times this
                  busiest link  69.1 ms     1.000 times
                  bisection     34.56 ms    1.999 times
    contention    1.000  (no message was held back by another)
    fingerprint   f3a1

    The 2 busiest links
    link                  capacity [GB/s]  bytes [MB]  utilisation [%]  busy [ms]  peak flows  mean flows
    ─────────────────────────────────────────────────────────────────────────────────────────────────────
    node 0 -> switch 0.0            1.000      69.100            100.0     69.100           1        1.00
    switch 0.0 -> node 0            1.000       6.910             10.0     69.100          12        1.00
    ");
}

#[test]
fn a_run_over_seeds_with_redistribution_and_contention_says_so() {
    let report = Report {
        contention: 2.345,
        rounds: Some(Rounds { min: 8, mean: 10.25, max: 13 }),
        seeds: Some(SeedStatistics::new(vec![1, 2, 3], vec![0.2, 0.21, 0.22])),
        bounds: Bounds { bisection_s: None, ..report().bounds },
        links: Vec::new(),
        ..report()
    };
    insta::assert_snapshot!(run(&report), @"
    fat-tree p=12 (3456 nodes, 720 switches, 20736 links)
    all-to-all simple-spread, 20 KB, 3456 ranks
    placement regular, routing d-mod-k, sharing max-min, injection queue, seed 1

    makespan      69.1 ms
    messages      11,940,480
    bytes         238.8 GB
    bandwidth     1 GB/s per node, 3.456 TB/s in all
    bounds        injection     69.1 ms     makespan is 1.000 times this
                  busiest link  69.1 ms     1.000 times
    contention    2.345  (messages were under way 2.345 times as long as each would be alone)
    rounds        10.2 of redistribution on average, 8 to 13
    seeds         3 (1 to 3); the figures above are of the first
                  mean makespan 210 ms, standard deviation 10 ms (4.8 %)
                  200 ms to 220 ms
    fingerprint   f3a1
    ");
}

#[test]
fn a_partial_run_is_marked_and_not_held_against_the_bounds_of_the_whole() {
    let stopped = Stopped { at_s: 0.012, messages: 1, bytes: 8 };
    let text = run(&Report { status: Status::Interrupted, stopped: Some(stopped), ..report() });
    assert!(text.contains("INTERRUPTED at 12 ms"), "{text}");
    assert!(!text.contains("times this"), "{text}");
}

#[test]
fn a_run_without_messages_has_no_ratios() {
    let nothing = Report {
        makespan_s: 0.0,
        messages: 0,
        bytes: 0,
        bandwidth_bps: f64::NAN,
        bandwidth_per_node_bps: f64::NAN,
        bounds: Bounds::default(),
        links: Vec::new(),
        contention: f64::NAN,
        ..report()
    };
    let text = run(&nothing);
    assert!(!text.contains("NaN") && !text.contains("contention"), "{text}");
}

fn row(placement: &str, pattern: &str, makespans: &[f64], best: f64) -> ComparisonRow {
    let makespan = SeedStatistics::new((1..).take(makespans.len()).collect(), makespans.to_vec());
    ComparisonRow {
        topology: "fat-tree-54".into(),
        placement: placement.into(),
        sharing: "max-min".into(),
        transport: "flow".into(),
        packet_hops: None,
        routing: "d-mod-k".into(),
        injection: "queue".into(),
        pattern: pattern.into(),
        messages: 2862,
        bytes: 57_240_000,
        bounds: Bounds { injection_s: 0.00106, busiest_link_s: 0.0012, bisection_s: None, path_s: None },
        ratio_to_bound: makespan.mean_s / 0.0012,
        ratio_to_best: makespan.mean_s / best,
        makespan,
        wall_s: 0.0123,
        fingerprint: "ab".into(),
    }
}

fn compared(rows: Vec<ComparisonRow>) -> Comparison {
    Comparison { schema: COMPARISON_SCHEMA, title: "all-to-all on fat-tree-54".into(), rows, complete: true }
}

#[test]
fn a_comparison_has_a_table_for_each_block_and_ends_with_a_sentence() {
    let comparison = compared(vec![
        row("regular", "simple-spread", &[0.00106], 0.00106),
        row("regular", "2d-spread", &[0.00106], 0.00106),
        row("regular", "ring", &[0.0022], 0.00106),
        row("random", "2d-spread", &[0.0020, 0.0022, 0.0024], 0.0022),
        row("random", "simple-spread", &[0.0021, 0.0023, 0.0025], 0.0022),
    ]);
    insta::assert_snapshot!(super::comparison(&comparison), @"
    all-to-all on fat-tree-54

    fat-tree-54, placement regular, sharing max-min, routing d-mod-k, injection queue
    pattern        mean [ms]  to best  to bound  bandwidth [GB/s]  run time [ms]
    ────────────────────────────────────────────────────────────────────────────
    simple-spread      1.060    1.000     0.883            54.000         12.300
    2d-spread          1.060    1.000     0.883            54.000         12.300
    ring               2.200    2.075     1.833            26.018         12.300

    bounds: injection 1.06 ms, busiest link 1.2 ms

    fat-tree-54, placement random, sharing max-min, routing d-mod-k, injection queue, 3 seeds
    pattern        mean [ms]  sd [ms]  to best  to bound  bandwidth [GB/s]  run time [ms]
    ─────────────────────────────────────────────────────────────────────────────────────
    2d-spread          2.200    0.200    1.000     1.833            26.018         12.300
    simple-spread      2.300    0.200    1.045     1.917            24.887         12.300

    bounds: injection 1.06 ms, busiest link 1.2 ms

    simple-spread and 2d-spread are the fastest, and equally fast with placement regular, ring takes 108 % longer; 2d-spread is the fastest with placement random, simple-spread takes 4.5 % longer (within the spread over seeds).
    ");
    insta::assert_snapshot!(comparison_markdown(&comparison), @"
    all-to-all on fat-tree-54

    **fat-tree-54, placement regular, sharing max-min, routing d-mod-k, injection queue**

    | pattern | mean [ms] | to best | to bound | bandwidth [GB/s] | run time [ms] |
    | :-- | --: | --: | --: | --: | --: |
    | simple-spread | 1.060 | 1.000 | 0.883 | 54.000 | 12.300 |
    | 2d-spread | 1.060 | 1.000 | 0.883 | 54.000 | 12.300 |
    | ring | 2.200 | 2.075 | 1.833 | 26.018 | 12.300 |

    bounds: injection 1.06 ms, busiest link 1.2 ms

    **fat-tree-54, placement random, sharing max-min, routing d-mod-k, injection queue, 3 seeds**

    | pattern | mean [ms] | sd [ms] | to best | to bound | bandwidth [GB/s] | run time [ms] |
    | :-- | --: | --: | --: | --: | --: | --: |
    | 2d-spread | 2.200 | 0.200 | 1.000 | 1.833 | 26.018 | 12.300 |
    | simple-spread | 2.300 | 0.200 | 1.045 | 1.917 | 24.887 | 12.300 |

    bounds: injection 1.06 ms, busiest link 1.2 ms

    simple-spread and 2d-spread are the fastest, and equally fast with placement regular, ring takes 108 % longer; 2d-spread is the fastest with placement random, simple-spread takes 4.5 % longer (within the spread over seeds).
    ");
}

#[test]
fn a_pattern_that_wins_everywhere_is_named_once() {
    let comparison = compared(vec![
        row("regular", "a", &[1.0], 1.0),
        row("regular", "b", &[1.032], 1.0),
        row("random", "a", &[2.0], 2.0),
        row("random", "b", &[3.0], 2.0),
    ]);
    let text = super::comparison(&comparison);
    assert!(text.ends_with("a is the fastest in all 2 blocks, the next takes 3.2 % to 50 % longer.\n"), "{text}");
}

#[test]
fn patterns_that_are_equally_fast_share_the_first_place() {
    let comparison = compared(vec![
        row("regular", "a", &[1.0], 1.0),
        row("regular", "b", &[1.0], 1.0),
        row("regular", "c", &[1.5], 1.0),
        row("random", "a", &[2.0], 2.0),
        row("random", "b", &[2.0], 2.0),
    ]);
    let text = super::comparison(&comparison);
    let claim = "a and b are the fastest, and equally fast in all 2 blocks, the next takes 50 % longer.\n";
    assert!(text.ends_with(claim), "{text}");
}

#[test]
fn bounds_that_differ_have_a_column_and_common_ones_a_line() {
    let own = Bounds { injection_s: 0.5, busiest_link_s: 0.7, bisection_s: None, path_s: None };
    let rows = vec![row("x", "a", &[1.0], 1.0), ComparisonRow { bounds: own, ..row("x", "b", &[1.032], 1.0) }];
    let text = super::comparison(&compared(rows));
    assert!(text.contains("bound [s]") && text.contains("  0.700") && !text.contains("bounds:"), "{text}");
}

#[test]
fn a_comparison_of_one_pattern_has_no_winner_and_an_empty_one_no_tables() {
    let text = super::comparison(&compared(vec![row("regular", "a", &[1.0], 1.0)]));
    assert!(!text.contains("fastest"), "{text}");
    assert_eq!(super::comparison(&compared(Vec::new())), "all-to-all on fat-tree-54\n\n");
}

#[test]
fn rates_end_with_their_spread() {
    let rate = |src, dst, rate_bps, bottleneck: Option<&str>| Rate {
        src,
        dst,
        rate_bps,
        bottleneck: bottleneck.map(str::to_owned),
    };
    let list = [
        rate(0, 1, 1e9 / 3.0, Some("switch 0 -> switch 1")),
        rate(1, 2, 2e9 / 3.0, Some("node 1 -> switch 0")),
        rate(2, 2, f64::INFINITY, None),
    ];
    insta::assert_snapshot!(rates("first step of shift on torus-4x4", &list), @"
    first step of shift on torus-4x4

    src  dst  rate [MB/s]  bottleneck
    ───────────────────────────────────────────
      0    1      333.333  switch 0 -> switch 1
      1    2      666.667  node 1 -> switch 0
      2    2          inf

    3 messages at once: slowest 333.3 MB/s, mean 500 MB/s, fastest 666.7 MB/s, together 1 GB/s
    where several links hold a message back equally, one of them is named
    ");
}
