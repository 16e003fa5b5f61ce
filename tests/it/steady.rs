//! Steady traffic, compared with load counting and closed networks.

use std::sync::atomic::{AtomicU64, Ordering};

use hayase::Network;
use hayase::engine::{Progress, Watch};
use hayase::ids::NodeId;
use hayase::rng::Mix;
use hayase::routing::Demand;
use hayase::steady::{SteadyOptions, Traffic, steady};

/// Builds a network from the text of a topology, under a rule.
fn network(topology: &str, rule: &str) -> Network {
    hayase::Loader::new().text("t.toml", topology).routing(rule).load_topology().unwrap().network()
}

fn dragonfly(h: u32) -> String {
    format!(
        "[topology.dragonfly]\np = {h}\na = {}\nh = {h}\narrangement = \"palmtree\"\nbandwidth = \"1 GB/s\"\n",
        2 * h
    )
}

fn crossbar(nodes: u32) -> String {
    format!("[topology.crossbar]\nnodes = {nodes}\nbandwidth = \"1 GB/s\"\n")
}

fn options(under_way: u32) -> SteadyOptions {
    SteadyOptions { under_way, ..SteadyOptions::default() }
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected, "{value} instead of {expected}");
}

#[test]
fn a_bottleneck_that_never_idles_gives_the_closed_form() {
    // All messages from a group to the next cross one cable.
    let network = network(&dragonfly(2), "minimal");
    for under_way in [1, 2, 7] {
        let measured = steady(&network, &Traffic::Adversarial(1), &options(under_way), None).unwrap();
        near(measured.throughput, 0.125, 1e-2 / f64::from(under_way));
        assert_eq!(measured.batches.len(), SteadyOptions::BATCHES as usize);
    }
}

#[test]
fn messages_that_are_split_share_links_by_their_parts() {
    // A tree with full bisection bandwidth carries all traffic of its nodes, for any pairs of its halves.
    let tree = network("[topology.fat-tree]\np = 2\nbandwidth = \"1 GB/s\"\n", "spray");
    let measured = steady(&tree, &Traffic::Bisection { both: false }, &options(3), None).unwrap();
    near(measured.throughput, 1.0, 1e-6);
}

#[test]
fn pairs_get_what_their_links_carry() {
    let network = network(&crossbar(6), "d-mod-k");
    for traffic in [Traffic::Permutation, Traffic::Bisection { both: false }] {
        let measured = steady(&network, &traffic, &options(3), None).unwrap();
        near(measured.throughput, 1.0, 1e-9);
        near(measured.slowest_node, 1.0, 1e-9);
        assert!(measured.half_width < 1e-9);
    }
}

#[test]
fn nodes_with_random_destinations_are_a_closed_network() {
    // Each message crosses the link of its sender, which never idles, and one of N links to receivers, with k
    // messages on average. The result lies between 1 - 1/(k + 1), with one bottleneck on each path, and 1.
    let network = network(&crossbar(16), "d-mod-k");
    for under_way in [8, 32] {
        let measured = steady(&network, &Traffic::Uniform, &options(under_way), None).unwrap();
        let idle = 1.0 - measured.throughput;
        let expected = 1.0 / (f64::from(under_way) + 1.0);
        assert!(idle > 0.2 * expected && idle < 2.0 * expected, "{idle} beside {expected}");
        assert!(measured.half_width < 0.1 && measured.slowest_node <= measured.throughput * (1.0 + 1e-9));
    }
}

#[test]
fn the_same_seed_gives_the_same_and_another_does_not() {
    let network = network(&dragonfly(2), "valiant-groups");
    let run = |seed| {
        let options = SteadyOptions { under_way: 2, warm_up: 1, rounds: 10, seed, ..SteadyOptions::default() };
        steady(&network, &Traffic::Adversarial(1), &options, None).unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).batches, run(2).batches);
}

#[test]
fn nobody_to_send_to_is_no_traffic() {
    let network = network(&crossbar(1), "d-mod-k");
    let measured = steady(&network, &Traffic::Uniform, &options(4), None).unwrap();
    assert_eq!((measured.throughput, measured.messages), (1.0, 0));
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let mistake = |rule, options: SteadyOptions| {
        steady(&network(&dragonfly(2), rule), &Traffic::Uniform, &options, None).unwrap_err().code
    };
    assert_eq!(mistake("fluid", options(4)), "routing-misfit");
    assert_eq!(mistake("minimal", options(0)), "too-many-under-way");
    assert_eq!(mistake("minimal", options(100_000)), "too-many-under-way");
    assert_eq!(mistake("minimal", SteadyOptions { rounds: 9, ..options(1) }), "too-few-rounds");
    assert_eq!(mistake("minimal", SteadyOptions { bytes: 0, ..options(1) }), "wrong-value");
}

#[test]
fn whoever_looks_on_can_end_it() {
    struct Never;
    impl Watch for Never {
        fn tick(&self, _: Progress) -> bool {
            false
        }
    }
    let network = network(&dragonfly(2), "minimal");
    let ended = steady(&network, &Traffic::Uniform, &options(32), Some(&Never)).unwrap_err();
    assert_eq!(ended.code, "interrupted");
}

#[test]
fn destinations_are_drawn_in_the_proportions_of_the_traffic() {
    let pairs = vec![(NodeId(0), NodeId(1), 3.0), (NodeId(0), NodeId(2), 1.0), (NodeId(2), NodeId(0), 1.0)];
    let demand = Demand::Pairs(pairs);
    let draws = Mix::new(1, "test");
    let to_one = (0..4000).filter(|&i| demand.drawn(NodeId(0), draws.one_unit(i)) == Some(NodeId(1))).count();
    assert!((2900..3100).contains(&to_one), "{to_one}");
    assert_eq!((demand.drawn(NodeId(1), 0.5), demand.drawn(NodeId(2), 0.999)), (None, Some(NodeId(0))));
    // All other nodes of 5, equally often, and never the node itself.
    let blocks = Demand::Blocks(hayase::routing::Blocks::new(vec![0; 5], vec![1.0; 5], vec![0]));
    let drawn: Vec<u32> = (0..4).map(|i| blocks.drawn(NodeId(2), (f64::from(i) + 0.5) / 4.0).unwrap().0).collect();
    assert_eq!(drawn, [0, 1, 3, 4]);
}

#[test]
fn with_many_messages_under_way_a_watch_is_asked_after_few_turns() {
    // A turn may take as long as all messages under way; 1024 turns with one delivery each took minutes.
    struct Asked(AtomicU64);
    impl Watch for Asked {
        fn tick(&self, progress: Progress) -> bool {
            self.0.store(progress.delivered, Ordering::Relaxed);
            false
        }
    }
    let delivered = |under_way: u32| {
        let asked = Asked(AtomicU64::new(u64::MAX));
        let network = network(&dragonfly(2), "minimal");
        let options = SteadyOptions { under_way, ..options(32) };
        assert!(steady(&network, &Traffic::Uniform, &options, Some(&asked)).is_err());
        asked.0.into_inner()
    };
    let (few, many) = (delivered(4), delivered(256));
    assert!(few >= 256 && many < 256, "{few} {many}");
}
