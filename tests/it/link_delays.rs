//! Time that messages lose on links, in cases with a known bottleneck link.

use hayase::report::Report;
use hayase::scenario::Loader;
use hayase::simulation::RunOptions;

fn report(text: &str) -> Report {
    let scenario = Loader::new().text("scenario", text).load_pattern();
    let scenario = scenario.unwrap_or_else(|invalid| panic!("{text}\n{invalid:?}"));
    scenario.run(RunOptions { link_use: true, ..RunOptions::default() }).report
}

/// Returns the names of links on which messages lost time, with the time \[ms\].
fn lost_times(report: &Report) -> Vec<(&str, f64)> {
    let links = report.links.iter().filter(|link| link.delay_s > 0.0);
    links.map(|link| (link.name.as_str(), (link.delay_s * 1e3 * 1e6).round() / 1e6)).collect()
}

fn delay_ms(report: &Report) -> f64 {
    report.delays.as_ref().map_or(0.0, |delays| delays.total_s * 1e3)
}

/// A tree of two leaf switches with two nodes each and one link up, 1 GB/s.
const TREE: &str = "[topology.fat-tree]\ndown = [2, 2]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\n";

#[test]
fn two_messages_lose_their_time_on_the_up_link_that_they_share() {
    for sharing in ["max-min", "equal-share"] {
        // Both nodes of a leaf send 1 MB to the other leaf: 2 ms each, 1 ms longer than alone. The other leaf does the
        // same.
        let shift = "[workload.permutation]\nkind = \"shift\"\noffset = 2\nsize = \"1 MB\"\n";
        let report = report(&format!("sharing = \"{sharing}\"\n{TREE}{shift}"));
        let kinds = &report.delays.as_ref().unwrap().kinds;
        assert!((delay_ms(&report) - 4.0).abs() < 1e-9, "{sharing}: {report:?}");
        assert!(
            kinds.iter().all(|kind| kind.links.contains("level 1 to 2") || kind.links.contains("level 2 to 1")),
            "{kinds:?}"
        );
        assert!(lost_times(&report).iter().all(|(link, _)| !link.contains("node")), "{:?}", lost_times(&report));
    }
}

#[test]
fn an_incast_loses_its_time_on_the_link_to_its_target() {
    for sharing in ["max-min", "equal-share"] {
        let incast = "[topology.crossbar]\nnodes = 5\nbandwidth = \"1 GB/s\"\n[workload.incast]\nsize = \"1 MB\"\n";
        let report = report(&format!("sharing = \"{sharing}\"\n{incast}"));
        // Four messages take 4 ms instead of 1.
        assert_eq!(lost_times(&report), [("L1.0 -> node 0", 12.0)], "{sharing}");
    }
}

#[test]
fn a_dragonfly_loses_its_time_on_the_cables_between_groups() {
    for sharing in ["max-min", "equal-share"] {
        // Three groups of four nodes, each of which sends to the next group over one cable: 4 ms instead of
        // 1. Cables inside groups and of hosts are twice as wide.
        let dragonfly =
            "[topology.dragonfly]\np = 2\na = 2\nh = 1\nbandwidth = \"2 GB/s\"\nglobal-bandwidth = \"1 GB/s\"\n";
        let load = "[workload.group-permutation]\nsize = \"1 MB\"\n";
        let report = report(&format!("sharing = \"{sharing}\"\nrouting = \"minimal\"\n{dragonfly}{load}"));
        let cables = [("g0.s1 -> g2.s0", 12.0), ("g1.s0 -> g0.s0", 12.0), ("g2.s1 -> g1.s1", 12.0)];
        let mut found = lost_times(&report);
        found.sort_by(|a, b| a.0.cmp(b.0));
        assert_eq!(found, cables, "{sharing}");
        let kinds = &report.delays.as_ref().unwrap().kinds;
        assert!(kinds.len() == 1 && kinds[0].links == "between groups", "{kinds:?}");
    }
}

#[test]
fn what_links_cost_adds_up_to_what_messages_lose() {
    for (topology, placement) in [("fat-tree-54", "random"), ("torus-4x4", "random"), ("dragonfly-72", "regular")] {
        for sharing in ["max-min", "equal-share", "redistribute"] {
            let mut messages = 0.0;
            let mut note = |message: &hayase::report::MessageRecord| {
                messages += message.end_s - message.start_s;
            };
            let loader = Loader::new().topology(topology).pattern("all-to-all-simple-spread").placement(placement);
            let scenario = loader.sharing(sharing).load_pattern().unwrap();
            let options = RunOptions { link_use: true, on_message: Some(&mut note), ..RunOptions::default() };
            let report = scenario.run(options).report;
            // Time under way over time alone is the contention.
            let lost = messages - messages / report.contention;
            let found = report.delays.as_ref().unwrap().total_s;
            assert!((found - lost).abs() <= 1e-6 * messages, "{topology} {sharing}: {found} s, not {lost} s");
        }
    }
}
