//! Same scenario and seed: same result to the last bit, on any machine, at any level of optimisation.

use hayase::report::LinkUse;
use hayase::scenario::Loader;
use hayase::simulation::{LinkUses, RunOptions};

/// Topology, pattern, settings, and the fingerprint that every machine must find.
///
/// The build server checks the release build against the same list. A change that moves one of them raises
/// `hayase::plan::RESULTS`.
const FINGERPRINTS: &str = include_str!("fingerprints.txt");

#[test]
fn results_are_the_same_to_the_last_bit_everywhere() {
    let mut found = String::new();
    for line in FINGERPRINTS.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (settings, known) = words.split_at(words.len() - 1);
        let mut loader = Loader::new().topology(settings[0]).pattern(settings[1]);
        for setting in &settings[2..] {
            let (name, value) = setting.split_once('=').expect("NAME=VALUE");
            loader = match name {
                "placement" => loader.placement(value),
                "sharing" => loader.sharing(value),
                "injection" => loader.injection(value),
                "routing" => loader.routing(value),
                "jitter" => loader.jitter(value),
                "transport" => loader.transport(value),
                other => panic!("unknown setting {other}"),
            };
        }
        let scenario = loader.load_pattern().unwrap_or_else(|invalid| panic!("{line}: {invalid}"));
        let report = scenario.run(RunOptions::default()).report;
        found += &format!("{} {}\n", settings.join(" "), report.head.fingerprint);
        assert_eq!(known.len(), 1);
    }
    assert_eq!(found, FINGERPRINTS);
}

#[test]
fn observing_a_run_does_not_change_it() {
    let scenario = Loader::new()
        .topology("fat-tree-54")
        .pattern("all-to-all-simple-spread")
        .placement("random")
        .load_pattern()
        .unwrap();
    let plain = scenario.run(RunOptions::default()).report;
    let mut messages = 0;
    let mut count = |_: &hayase::report::MessageRecord| messages += 1;
    let observed = scenario.run(RunOptions { link_use: true, on_message: Some(&mut count), ..RunOptions::default() });
    assert_eq!(observed.report.head.fingerprint, plain.head.fingerprint);
    assert_eq!(messages, plain.head.messages);
}

/// Returns the uses of links without delays, which are measured only if messages are played.
fn without_delays(links: &LinkUses) -> Vec<LinkUse> {
    links.iter().map(|link| LinkUse { delay_s: 0.0, ..link }).collect()
}

#[test]
fn even_steps_are_counted_to_the_bit_as_they_are_played() {
    let slow_dimension = "topology.torus.bandwidth=[\"1 GB/s\", \"3 GB/s\"]";
    let spread = "all-to-all-simple-spread";
    let cases = [
        ("fat-tree-54", spread, "regular", "queue", None),
        ("fat-tree-54", spread, "regular", "sendrecv", None),
        ("fat-tree-54", spread, "random", "queue", None),
        ("torus-4x4", spread, "regular", "queue", None),
        ("torus-4x4", spread, "regular", "queue", Some(slow_dimension)),
        ("torus-8x8", spread, "random", "sendrecv", None),
        ("crossbar-64", spread, "random", "queue", None),
        ("crossbar-64", spread, "round-robin", "sendrecv", None),
        // The same step again.
        ("crossbar-64", "ring:rounds=7,size=31B", "random", "queue", None),
        ("fat-tree-128", "allreduce-ring", "regular", "queue", None),
        ("fat-tree-54", "allgather-ring:size=123B", "regular", "sendrecv", None),
        ("torus-4x4", "allreduce-ring:size=1MB", "random", "queue", Some(slow_dimension)),
        ("torus-4x4", "all-to-all-simple-spread:messages=3", "regular", "queue", None),
        // Blocks of several sizes.
        ("fat-tree-54", "allreduce-ring:size=1MB", "regular", "queue", None),
    ];
    for (topology, pattern, placement, injection, set) in cases {
        for sharing in ["equal-share", "max-min"] {
            let loader = Loader::new().topology(topology).pattern(pattern).placement(placement);
            let mut loader = loader.sharing(sharing).injection(injection);
            if let Some(set) = set {
                loader = loader.set("--set", set);
            }
            let scenario = loader.load_pattern().unwrap();
            // An observer of messages has them played.
            let mut look = |_: &hayase::report::MessageRecord| {};
            let options = RunOptions { link_use: true, on_message: Some(&mut look), ..RunOptions::default() };
            let played = scenario.run(options);
            let with_links = scenario.run(RunOptions { link_use: true, ..RunOptions::default() });
            let case = format!("{topology} {pattern} {placement} {injection} {sharing} {set:?}");
            assert!(played.links.iter().any(|link| link.busy_s > 0.0 && link.mean_flows > 0.0), "{case}");
            assert_eq!(without_delays(&with_links.links), without_delays(&played.links), "{case}");
            let (played, with_links) = (played.report, with_links.report);
            assert_eq!(with_links.head.makespan_s, played.head.makespan_s, "{case}");
            let counted = scenario.run(RunOptions::default()).report;
            assert_eq!(counted.head.fingerprint, played.head.fingerprint, "{case}");
            assert_eq!(counted.head.makespan_s, played.head.makespan_s, "{case}");
            assert_eq!(
                (counted.head.messages, counted.head.bytes),
                (played.head.messages, played.head.bytes),
                "{case}"
            );
            assert_eq!(counted.contention, played.contention, "{case}");
            assert_eq!(counted.bounds, played.bounds, "{case}");
        }
    }
}

#[test]
fn a_barrier_counted_step_by_step_ends_when_its_messages_do() {
    for topology in ["fat-tree-54", "fat-tree-128", "torus-4x4", "torus-8x8", "crossbar-64"] {
        let patterns =
            ["all-to-all-simple-spread", "all-to-all-random-order", "ring:rounds=3", "allgather-ring:size=9B"];
        for pattern in patterns {
            for sharing in ["equal-share", "max-min"] {
                let loader = Loader::new().topology(topology).pattern(pattern).placement("random");
                let loader = loader.sharing(sharing).injection("barrier");
                let scenario = loader.load_pattern().unwrap();
                let counted = scenario.run(RunOptions::default()).report;
                let played = scenario.run(RunOptions { link_use: true, ..RunOptions::default() }).report;
                assert_eq!(counted.head.fingerprint, played.head.fingerprint, "{topology} {pattern} {sharing}");
                assert_eq!(counted.head.makespan_s, played.head.makespan_s);
                assert_eq!((counted.head.messages, counted.head.bytes), (played.head.messages, played.head.bytes));
                assert_eq!(counted.contention, played.contention);
                assert_eq!(counted.bounds, played.bounds);
            }
        }
    }
}

/// All threads build fabrics with 65,536 links or more, and prepare their links for a run.
#[test]
fn a_large_run_is_the_same_on_any_number_of_threads() {
    let run = |threads: usize, placement: &str, sharing: &str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let scenario = Loader::new()
                .text("large.toml", "[topology.fat-tree]\np = 20\nbandwidth = \"1 GB/s\"\n")
                .pattern("shift")
                .set("--set", "workload.permutation.offset=4711")
                .placement(placement)
                .sharing(sharing)
                .load_pattern()
                .unwrap();
            let run = scenario.run(scenario.work().usual());
            let mut report = run.report.clone();
            report.meta = hayase::report::Meta::default();
            (report, run.links)
        })
    };
    for (placement, sharing) in [("random", "max-min"), ("random", "equal-share"), ("regular", "max-min")] {
        let one = run(1, placement, sharing);
        assert_eq!(one.1.len(), 96_000);
        assert_eq!(one.0.links.len(), 10);
        for threads in [2, 3] {
            let several = run(threads, placement, sharing);
            assert!(several.0 == one.0, "{placement}, {sharing}: {threads} threads give another report");
            assert!(several.1 == one.1, "{placement}, {sharing}: {threads} threads give other links");
        }
    }
}
