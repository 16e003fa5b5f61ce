//! Tables of reports made by hand, as a reader sees them.

use serde_json::json;

use super::*;
use hayase::report::{
    Bounds, Comparison, ComparisonRow, Estimate, Estimated, Head, JobReport, JobsReport, LinkUse, Meta, RankBy, Rate,
    Report, Rounds, SCHEMA, SeedStatistics, Status, Stopped,
};

fn link(id: u32, name: &str, bytes: u64, peak_flows: u32) -> LinkUse {
    LinkUse {
        id,
        failed: false,
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
        delay_s: 0.0,
    }
}

fn report() -> Report {
    Report {
        head: Head {
            schema: SCHEMA,
            scenario: json!({
                "seed": 1,
                "topology": { "fat-tree": { "p": 12 } },
                "routing": { "d-mod-k": {} },
                "placement": { "regular": {} },
                "sharing": { "max-min": {} },
                "workload": { "all-to-all": { "injection": "queue", "message-jitter": "0 ps" } },
            }),
            status: Status::Complete,
            makespan_s: 0.0691,
            messages: 11_940_480,
            bytes: 238_809_600_000,
            stopped: None,
            seeds: None,
            noise: None,
            accuracy: None,
            estimated: None,
            faults: None,
            fingerprint: "f3a1".into(),
        },
        fabric: "fat-tree p=12 (3456 nodes, 720 switches, 20736 links)".into(),
        workload: "all-to-all simple-spread, 20 KB, 3456 ranks".into(),
        planned_for: None,
        bandwidth_bps: 3.456e12,
        bandwidth_per_node_bps: 1e9,
        bounds: Bounds {
            injection_s: Some(0.0691),
            busiest_link_s: Some(0.0691),
            bisection_s: Some(0.03456),
            ..Bounds::default()
        },
        ratio_to_bound: 1.0,
        ratio_to_optimum: None,
        ratio_in_step: None,
        order: None,
        contention: 1.0,
        links: vec![link(0, "node 0 -> switch 0.0", 69_100_000, 1), link(1, "switch 0.0 -> node 0", 6_910_000, 12)],
        delays: None,
        channels: None,
        rounds: None,
        gridlock: None,
        ranks: None,
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
        head: Head { seeds: Some(SeedStatistics::new(vec![1, 2, 3], vec![0.2, 0.21, 0.22])), ..report().head },
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
    seeds         3 (1 to 3); the other figures are of the first
                  mean makespan 210 ms, standard deviation 10 ms (4.8 %)
                  200 ms to 220 ms
    fingerprint   f3a1
    ");
}

#[test]
fn a_partial_run_is_marked_and_not_held_against_the_bounds_of_the_whole() {
    let stopped = Stopped { at_s: 0.012, messages: 1, bytes: 8 };
    let text = run(&Report {
        head: Head { status: Status::Interrupted, stopped: Some(stopped), ..report().head },
        ..report()
    })
    .to_string();
    assert!(text.contains("INTERRUPTED at 12 ms"), "{text}");
    assert!(!text.contains("times this"), "{text}");
}

#[test]
fn an_interrupted_study_of_seeds_says_how_many_were_run() {
    let seeds = SeedStatistics { missing: 7, ..SeedStatistics::new(vec![1, 2, 3, 201, 300], vec![0.2; 5]) };
    let text =
        run(&Report { head: Head { status: Status::Interrupted, seeds: Some(seeds), ..report().head }, ..report() })
            .to_string();
    assert!(text.contains("INTERRUPTED: 5 of 12 seeds were run\n"), "{text}");
    assert!(text.contains("5 of 12 (1 to 3, 201, 300); the other figures are of the first\n"), "{text}");
    // The first run is complete, so its figures are shown.
    assert!(text.contains("makespan is 1.000 times this"), "{text}");
}

#[test]
fn a_run_without_messages_has_no_ratios() {
    let nothing = Report {
        head: Head { makespan_s: 0.0, messages: 0, bytes: 0, ..report().head },
        bandwidth_bps: f64::NAN,
        bandwidth_per_node_bps: f64::NAN,
        bounds: Bounds::default(),
        links: Vec::new(),
        contention: f64::NAN,
        ..report()
    };
    let text = run(&nothing).to_string();
    assert!(!text.contains("NaN") && !text.contains("contention"), "{text}");
}

fn row(placement: &str, pattern: &str, makespans: &[f64]) -> ComparisonRow {
    let makespan = SeedStatistics::new((1..).take(makespans.len()).collect(), makespans.to_vec());
    ComparisonRow {
        ratio_to_optimum: None,
        ratio_in_step: None,
        machine: String::new(),
        varied: Default::default(),
        topology: "fat-tree-54".into(),
        placement: placement.into(),
        sharing: "max-min".into(),
        transport: "flow".into(),
        faults: None,
        jobs: Vec::new(),
        estimated: None,
        worst_slowdown: None,
        slowdown: None,
        cut_off: 0,
        packet_hops: None,
        links: Vec::new(),
        llm: None,
        routing: "d-mod-k".into(),
        injection: "queue".into(),
        pattern: pattern.into(),
        messages: 2862,
        bytes: 57_240_000,
        bounds: Bounds { injection_s: Some(0.00106), busiest_link_s: Some(0.0012), ..Bounds::default() },
        ratio_to_bound: makespan.mean_s / 0.0012,
        ratio_to_best: 1.0,
        job: "all-to-all of 20 KB among 54 ranks".into(),
        place: 1,
        tied: false,
        makespan,
        wall_s: 0.0123,
        accuracy: None,
        fingerprint: "ab".into(),
    }
}

fn compared(rows: Vec<ComparisonRow>) -> Comparison {
    Comparison::new("all-to-all on fat-tree-54", rows, 0)
}

#[test]
fn a_comparison_is_ranked_over_all_that_varies_and_ends_with_sentences() {
    let comparison = compared(vec![
        row("regular", "simple-spread", &[0.00106]),
        row("regular", "2d-spread", &[0.00106]),
        row("regular", "ring", &[0.0022]),
        row("random", "2d-spread", &[0.0020, 0.0022, 0.0024]),
        row("random", "simple-spread", &[0.0021, 0.0023, 0.0025]),
    ]);
    insta::assert_snapshot!(super::comparison(&comparison), @"
    all-to-all on fat-tree-54

    fat-tree-54, sharing max-min, routing d-mod-k, injection queue, 3 seeds
    pattern        placement  mean [ms]  sd [ms]  to best  to bound  bandwidth [GB/s]  run time [ms]
    ────────────────────────────────────────────────────────────────────────────────────────────────
    simple-spread  regular        1.060        -    1.000     0.883            54.000         12.300
    2d-spread      regular        1.060        -    1.000     0.883            54.000         12.300
    ring           regular        2.200        -    2.075     1.833            26.018         12.300
    2d-spread      random         2.200    0.200    2.075     1.833            26.018         12.300
    simple-spread  random         2.300    0.200    2.170     1.917            24.887         12.300

    bounds: injection 1.06 ms, busiest link 1.2 ms

    (simple-spread with placement regular) and (2d-spread with placement regular) are equally fast and the fastest, ring with placement regular takes 108 % longer.
    regular is the fastest placement in both cases of the rest, the next takes 108 % to 117 % longer.
    2d-spread is the fastest pattern in both cases of the rest, the next takes 4.5 % to 108 % longer.
    ");
    insta::assert_snapshot!(super::comparison(&comparison).to_markdown(), @"
    all-to-all on fat-tree-54

    **fat-tree-54, sharing max-min, routing d-mod-k, injection queue, 3 seeds**

    | pattern | placement | mean [ms] | sd [ms] | to best | to bound | bandwidth [GB/s] | run time [ms] |
    | :-- | :-- | --: | --: | --: | --: | --: | --: |
    | simple-spread | regular | 1.060 | - | 1.000 | 0.883 | 54.000 | 12.300 |
    | 2d-spread | regular | 1.060 | - | 1.000 | 0.883 | 54.000 | 12.300 |
    | ring | regular | 2.200 | - | 2.075 | 1.833 | 26.018 | 12.300 |
    | 2d-spread | random | 2.200 | 0.200 | 2.075 | 1.833 | 26.018 | 12.300 |
    | simple-spread | random | 2.300 | 0.200 | 2.170 | 1.917 | 24.887 | 12.300 |

    bounds: injection 1.06 ms, busiest link 1.2 ms

    (simple-spread with placement regular) and (2d-spread with placement regular) are equally fast and the fastest, ring with placement regular takes 108 % longer.
    regular is the fastest placement in both cases of the rest, the next takes 108 % to 117 % longer.
    2d-spread is the fastest pattern in both cases of the rest, the next takes 4.5 % to 108 % longer.
    ");
}

#[test]
fn a_choice_that_wins_whatever_the_others_are_is_named_once() {
    let comparison = compared(vec![
        row("regular", "a", &[1.0]),
        row("regular", "b", &[1.032]),
        row("random", "a", &[2.0]),
        row("random", "b", &[3.0]),
    ]);
    let text = super::comparison(&comparison).to_string();
    let end = "\
        a with placement regular is the fastest, b with placement regular takes 3.2 % longer.\n\
        regular is the fastest placement in both cases of the rest, the next takes 100 % to 191 % longer.\n\
        a is the fastest pattern in both cases of the rest, the next takes 3.2 % to 50 % longer.\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_choice_that_wins_here_and_there_is_said_to_depend() {
    let comparison = compared(vec![
        row("regular", "a", &[1.0]),
        row("regular", "b", &[1.5]),
        row("random", "a", &[3.0]),
        row("random", "b", &[2.0]),
    ]);
    let text = super::comparison(&comparison).to_string();
    let end = "Which pattern is the fastest depends on the rest: a with placement regular, b with placement random.\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn choices_that_are_equally_fast_everywhere_are_named_in_the_singular_of_what_they_are() {
    let on = |topology: &str, pattern: &str, time: f64| ComparisonRow {
        topology: topology.into(),
        ..row("regular", pattern, &[time])
    };
    let comparison =
        compared(vec![on("torus", "a", 1.0), on("mesh", "a", 1.0), on("torus", "b", 2.0), on("mesh", "b", 2.0)]);
    let text = super::comparison(&comparison).to_string();
    assert!(
        text.contains("torus and mesh are equally fast and the fastest choices of topology in both cases"),
        "{text}"
    );
}

#[test]
fn jobs_in_a_sentence_are_parted_by_semicolons_throughout() {
    let job = |job: &str| ComparisonRow { job: job.into(), ..row("regular", job, &[1.0]) };
    let text =
        super::comparison(&compared(["a among 3 ranks", "b, c among 1 rank", "d among 7 ranks"].map(job).into()));
    let text = text.to_string();
    assert!(text.contains(": a among 3 ranks; b, c among 1 rank; and d among 7 ranks.\n"), "{text}");
}

#[test]
fn rows_that_are_equally_fast_share_the_first_place() {
    let comparison =
        compared(vec![row("regular", "a", &[1.0]), row("regular", "b", &[1.0]), row("regular", "c", &[1.5])]);
    let places: Vec<u32> = comparison.rows.iter().map(|row| row.place).collect();
    assert_eq!(places, [1, 1, 3]);
    let text = super::comparison(&comparison).to_string();
    assert!(text.ends_with("a and b are equally fast and the fastest, c takes 50 % longer.\n"), "{text}");
}

#[test]
fn placements_of_one_pattern_are_ranked() {
    let rows = ["random", "regular", "block"].into_iter().zip([3.0, 1.0, 2.0]);
    let comparison = compared(rows.map(|(placement, time)| row(placement, "a", &[time])).collect());
    let placements: Vec<&str> = comparison.rows.iter().map(|row| row.placement.as_str()).collect();
    assert_eq!(placements, ["regular", "block", "random"]);
    let text = super::comparison(&comparison).to_string();
    assert!(text.ends_with("placement regular is the fastest, placement block takes 100 % longer.\n"), "{text}");
}

#[test]
fn a_difference_within_its_interval_is_a_tie() {
    let noisy = [row("random", "a", &[1.0, 1.2, 1.4]), row("random", "b", &[1.5, 1.1, 1.2])];
    let comparison = compared(noisy.to_vec());
    assert!(comparison.rows[1].tied && !comparison.rows[0].tied);
    let text = super::comparison(&comparison).to_string();
    let end = "; a tie with b: the difference lies within its 95 % interval over 3 seeds.\n";
    assert!(text.ends_with(end), "{text}");
    // The same difference for every seed is not a tie.
    let sure = compared(vec![row("random", "a", &[1.0, 1.2, 1.4]), row("random", "b", &[1.07, 1.27, 1.47])]);
    assert!(!super::comparison(&sure).to_string().contains("tie"));
}

#[test]
fn rows_of_different_jobs_are_listed_and_not_ranked() {
    let ring = ComparisonRow { job: "1,080,000 B among 54 ranks".into(), ..row("regular", "ring", &[0.00006]) };
    let comparison = compared(vec![row("regular", "a", &[1.0]), ring.clone()]);
    insta::assert_snapshot!(super::comparison(&comparison), @"
    all-to-all on fat-tree-54

    fat-tree-54, placement regular, sharing max-min, routing d-mod-k, injection queue
    pattern  mean [s]  to bound  bandwidth [GB/s]  run time [ms]
    ────────────────────────────────────────────────────────────
    a          1.0000   833.333             0.057         12.300
    ring       0.0001     0.050           954.000         12.300

    bounds: injection 1.06 ms, busiest link 1.2 ms

    Not ranked against each other, since they do not do the same: all-to-all of 20 KB among 54 ranks and 1,080,000 B among 54 ranks.
    ");
    // If a job has two rows, each job has a table.
    let three = compared(vec![row("regular", "a", &[1.0]), row("regular", "b", &[2.0]), ring]);
    let text = super::comparison(&three).to_string();
    assert!(text.contains("all-to-all of 20 KB among 54 ranks: a is the fastest, b takes 100 % longer.\n"), "{text}");
    assert_eq!(text.matches("─\n").count(), 2, "{text}");
}

#[test]
fn an_interrupted_comparison_says_how_much_was_run() {
    let mut part = row("random", "a", &[1.0, 1.1]);
    part.makespan.missing = 2;
    let comparison = Comparison::new("t", vec![part, row("random", "b", &[1.0, 1.2, 1.3, 1.4])], 2);
    assert!(!comparison.complete);
    let text = super::comparison(&comparison).to_string();
    assert!(text.contains("INTERRUPTED: 6 of 8 runs were made; what follows from them:\n"), "{text}");
    assert!(text.contains("seeds run") && text.contains("2 of 4") && text.contains("4 of 4"), "{text}");
    let nothing = super::comparison(&Comparison::new("t", Vec::new(), 8)).to_string();
    assert_eq!(nothing, "t\n\nINTERRUPTED: 0 of 8 runs were made\n");
}

#[test]
fn bounds_that_differ_have_a_column_and_common_ones_a_line() {
    let own = Bounds { injection_s: Some(0.5), busiest_link_s: Some(0.7), ..Bounds::default() };
    let rows = vec![row("x", "a", &[1.0]), ComparisonRow { bounds: own, ..row("x", "b", &[1.032]) }];
    let text = super::comparison(&compared(rows)).to_string();
    assert!(text.contains("bound [s]") && text.contains("  0.700") && !text.contains("bounds:"), "{text}");
}

#[test]
fn a_comparison_of_one_pattern_has_no_winner_and_an_empty_one_no_tables() {
    let text = super::comparison(&compared(vec![row("regular", "a", &[1.0])])).to_string();
    assert!(!text.contains("fastest"), "{text}");
    assert_eq!(super::comparison(&compared(Vec::new())).to_string(), "all-to-all on fat-tree-54\n\n");
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

#[test]
fn who_is_late_is_shown_where_it_matters_and_whom_that_delays() {
    use hayase::report::RanksReport;
    use hayase::report::replay::{Delayed, LateRank};
    let late = |rank: u32, caused_s: f64, delays: u32| LateRank {
        rank,
        caused_s,
        by_computing_s: caused_s,
        by_sending_s: 0.0,
        delays: (0..delays).map(|rank| Delayed { rank, time_s: caused_s / f64::from(delays) }).collect(),
        waited_for_s: 0.02,
        as_it_computed_s: 0.0,
        as_it_sent_s: 0.0,
        as_it_waited_s: 0.02 - caused_s.min(0.02),
    };
    // The makespan is 69.1 ms. Ranks that cause less than a thousandth of it, or no delay, are left out.
    let rows = vec![late(7, 0.04, 5), late(3, 0.001, 2), late(4, 6e-5, 1), late(9, 0.0, 0)];
    let ranks = RanksReport { late: rows, ..RanksReport::default() };
    let text = run(&Report { ranks: Some(Box::new(ranks)), ..report() }).to_string();
    let (_, table) = text.split_once("Late ranks").unwrap();
    let rows: Vec<&str> = table.lines().skip(3).take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows[0].contains("0, 1, 2, ...") && rows[1].trim_start().starts_with("3 "), "{text}");
    // If no rank computes or is late, there is no such table.
    let even = RanksReport { late: vec![late(1, 0.0, 0)], ..RanksReport::default() };
    let same = run(&Report { ranks: Some(Box::new(even)), ..report() }).to_string();
    assert_eq!(same, run(&report()).to_string());
}

#[test]
fn an_interval_wider_than_asked_for_is_said_to_be_wider() {
    let line = |half_s: f64| {
        let (low_s, high_s) = (1.0 - half_s, 1.0 + half_s);
        let estimate = Estimate { makespan_s: 1.0, low_s, high_s, confidence: 0.95, simulated_part: 0.11, asked: 0.01 };
        let mut report = report();
        report.head.estimated = Some(Estimated::By(estimate));
        run(&report).to_string().lines().find(|line| line.starts_with("makespan")).map(str::to_owned).unwrap()
    };
    let wider = line(0.0112);
    assert!(
        wider.contains("(an estimate, \u{b1} 1.12 %, wider than the 1.00 % asked for: 988.8 ms to 1.011 s"),
        "{wider}"
    );
    let narrower = line(0.0093);
    assert!(narrower.contains("\u{b1} 0.93 %: 990.7 ms") && !narrower.contains("wider"), "{narrower}");
}

#[test]
fn what_is_ranked_first_by_slowdown_says_that_it_takes_longer() {
    let mut comparison = compared(vec![row("regular", "a", &[1.0]), row("random", "a", &[2.3])]);
    comparison.ranked_by = RankBy::Slowdown;
    let said = "placement random, ranked first, takes 130 % longer in all than placement regular, the fastest.\n";
    assert!(!super::comparison(&comparison).to_string().contains("ranked first"));
    comparison.rows.reverse();
    let text = super::comparison(&comparison).to_string();
    assert!(text.contains(said), "{text}");
}

#[test]
fn a_job_that_is_faster_than_alone_is_remarked_and_one_that_is_as_fast_is_not() {
    let job = |slowdown: f64| JobReport { name: "a".into(), slowdown: Some(slowdown), ..JobReport::default() };
    let text = |slowdown| super::jobs(&JobsReport { jobs: vec![job(slowdown)], ..JobsReport::default() }).to_string();
    assert!(text(0.9).contains("a takes less time than alone: "), "{}", text(0.9));
    assert!(!text(1.0).contains("alone: "));
}
