//! Throughput compared with closed forms, and with all pairs counted by brute force from the definitions of
//! the fabrics.

use super::*;
use crate::diagnostic::{Located, Sources};
use crate::fabric::Tree;
use crate::routing::RoutingSpec;
use crate::routing::test_fabrics::{Arrangement, dragonfly, dragonfly_plus, hyperx, of_cables, slim_fly, two_planes};
use crate::units::{Bandwidth, Time};

fn count(fabric: &Arc<Fabric>, rule: &str, traffic: &Traffic, seeds: u64) -> Throughput {
    let router = RoutingSpec::parse_name(rule).unwrap().build(fabric, 1).unwrap();
    throughput(fabric, &*router, traffic, 1..=seeds).unwrap()
}

fn theta(fabric: &Arc<Fabric>, rule: &str, traffic: &Traffic) -> f64 {
    count(fabric, rule, traffic, 1).throughput
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs(), "{value} instead of {expected}");
}

fn full_tree(p: u32) -> Arc<Fabric> {
    let tree = Tree { down: vec![p, p, 2 * p], up: vec![1, p, p], parallel: vec![1, 1, 1] };
    Arc::new(tree.build("tree".to_owned(), |_| (Bandwidth::from_bytes_per_second(1e9), Time::ZERO)))
}

#[test]
fn minimal_routes_of_a_dragonfly_under_uniform_traffic() {
    for (h, local, global) in [(2, 0.95775, 0.90141), (4, 0.98578, 0.97062)] {
        for rule in ["minimal", "ecmp", "spray"] {
            let counted = count(&dragonfly(h, Arrangement::Palmtree), rule, &Traffic::Uniform, 1);
            near(counted.largest_load["local"], local, 1e-5);
            near(counted.largest_load["global"], global, 1e-5);
            near(counted.largest_load["node"], 1.0, 1e-12);
            near(counted.throughput, 1.0, 1e-12);
        }
        // The load of a global link is (ap)^2 / (N - 1).
        let (group, nodes) = (f64::from(2 * h * h), f64::from(2 * h * h * (2 * h * h + 1)));
        near(
            count(&dragonfly(h, Arrangement::Absolute), "minimal", &Traffic::Uniform, 1).largest_load["global"],
            group * group / (nodes - 1.0),
            1e-12,
        );
    }
}

#[test]
fn adversarial_traffic_on_a_dragonfly() {
    for h in [2, 4] {
        let (group, g) = (f64::from(2 * h * h), f64::from(2 * h * h + 1));
        for arrangement in Arrangement::ALL {
            let fabric = dragonfly(h, arrangement);
            let theta = |rule, k| theta(&fabric, rule, &Traffic::Adversarial(k));
            for k in [1, h, 2 * h * h] {
                near(theta("minimal", k), 1.0 / group, 1e-9);
            }
            near(theta("valiant-groups", 1), (g - 2.0) / (2.0 * group), 1e-9);
            match (arrangement, h) {
                (Arrangement::Circulant, 2) => near(theta("valiant-groups", h), 0.4375, 1e-9),
                (Arrangement::Circulant, _) => near(theta("valiant-groups", h), 0.3229, 1e-3),
                _ => near(theta("valiant-groups", h), (g - 2.0) / (f64::from(h + 1) * group), 1e-9),
            }
            if h == 2 {
                (1..9).for_each(|k| near(theta("valiant-switches", k), 0.4375, 1e-9));
            }
        }
    }
}

#[test]
fn uniform_traffic_through_groups() {
    near(theta(&dragonfly(2, Arrangement::Palmtree), "valiant-groups", &Traffic::Uniform), 0.55469, 1e-5);
}

#[test]
fn the_best_mix_of_minimal_and_valiant() {
    for h in [2, 4] {
        let (group, g) = (f64::from(2 * h * h), f64::from(2 * h * h + 1));
        let palmtree = dragonfly(h, Arrangement::Palmtree);
        let counted = count(&palmtree, "fluid", &Traffic::Adversarial(1), 1);
        near(counted.throughput, g / (2.0 * group), 1e-9);
        near(counted.minimal_share.unwrap(), 2.0 / g, 1e-9);
        // The cable of a pair of groups, s ap, is as busy as a local link, (1 - s) (h + 1) ap / (g - 2).
        let beyond = (g + f64::from(h) - 1.0) / (f64::from(h + 1) * group);
        near(theta(&palmtree, "fluid", &Traffic::Adversarial(h)), beyond, 1e-9);
        near(theta(&dragonfly(h, Arrangement::Absolute), "fluid", &Traffic::Adversarial(1)), 0.5, 1e-9);
    }
}

#[test]
fn slim_flies_under_uniform_traffic() {
    near(theta(&slim_fly(5), "spray", &Traffic::Uniform), 199.0 / 208.0, 1e-9);
    for (q, nodes, expected) in [(17, 7_514, 0.9073), (19, 10_830, 0.8751)] {
        let fabric = slim_fly(q);
        assert_eq!(fabric.nodes(), nodes);
        near(theta(&fabric, "spray", &Traffic::Uniform), expected, 6e-5);
    }
}

#[test]
fn a_hyperx_under_uniform_traffic() {
    for (dims, nodes) in [(vec![8, 8], 8), (vec![12, 8], 7), (vec![3, 4, 5], 2)] {
        let fabric = hyperx(&dims, nodes);
        let loads = count(&fabric, "spray", &Traffic::Uniform, 1).largest_load;
        let all: u32 = dims.iter().product();
        let load = |size: &u32| f64::from(nodes * nodes * (all / size)) / f64::from(fabric.nodes() - 1);
        near(loads["network"], dims.iter().map(load).fold(0.0, f64::max), 1e-9);
    }
}

#[test]
fn a_group_of_leaves_and_spines_is_bound_by_its_cables() {
    // 5 groups of 4 leaves and 4 spines, 4 nodes per leaf, 4 cables per pair of groups: 16 * 16 / 4 pairs per cable.
    let fabric = dragonfly_plus(4, 4, 4, 4, 5);
    let loads = count(&fabric, "spray", &Traffic::Uniform, 1).largest_load;
    near(loads["global"], 16.0 * 16.0 / 4.0 / 79.0, 1e-9);
}

#[test]
fn effective_bisection_of_full_bisection_trees() {
    let there = Traffic::Bisection { both: false };
    let both = Traffic::Bisection { both: true };
    let tree = full_tree(8);
    assert_eq!(tree.nodes(), 1024);
    for (rule, traffic, expected) in
        [("d-mod-k", &there, 0.703), ("hashed", &there, 0.557), ("d-mod-k", &both, 0.526), ("hashed", &both, 0.403)]
    {
        let counted = count(&tree, rule, traffic, 20);
        assert!((counted.throughput - expected).abs() < 0.01, "{rule}: {counted:?} instead of {expected}");
    }
    // Spread over all paths, messages meet only at the nodes.
    near(theta(&tree, "spray", &there), 1.0, 1e-9);
}

/// Counts the loads from the route of each pair.
fn by_pairs(fabric: &Arc<Fabric>, rule: &str, traffic: &Traffic) -> IdVec<LinkId, f64> {
    let router = RoutingSpec::parse_name(rule).unwrap().build(fabric, 1).unwrap();
    let mut loads = IdVec::filled(fabric.links().len(), 0.0);
    let mut path = Path::default();
    let demand = traffic.demand(fabric, &*router, 1).unwrap();
    for src in fabric.node_ids() {
        demand.from(src, |dst, much| {
            path.clear();
            match router.choice() {
                None => {
                    router.route(src, dst, &mut path.links);
                    path.parts.resize(path.links.len(), 1.0);
                }
                Some(choice) => assert!(choice.expected(src, dst, &mut path)),
            }
            for (&link, part) in path.links.iter().zip(&path.parts) {
                loads[link] += much * part;
            }
        });
    }
    loads
}

#[test]
fn loads_added_up_by_switches_are_those_of_all_pairs() {
    let ring = |switches: u32, nodes| {
        of_cables("ring", switches, nodes, (0..switches).map(|switch| (switch, (switch + 1) % switches)), None)
    };
    let fabrics = [
        dragonfly(2, Arrangement::Circulant),
        dragonfly_plus(2, 3, 2, 4, 4),
        slim_fly(3),
        hyperx(&[3, 4], 3),
        ring(7, 2),
        ring(6, 1),
        full_tree(2),
        two_planes(),
    ];
    let traffics = [Traffic::Uniform, Traffic::Adversarial(1), Traffic::Adversarial(3), Traffic::Permutation];
    let rules = ["minimal", "ecmp", "spray", "valiant-groups", "valiant-switches", "shortest-path"];
    for fabric in &fabrics {
        for rule in rules.into_iter().filter(|rule| fabric.groups().is_some() || *rule != "valiant-groups") {
            for traffic in &traffics {
                let router = RoutingSpec::parse_name(rule).unwrap().build(fabric, 1).unwrap();
                let mut counted = IdVec::filled(fabric.links().len(), 0.0);
                router.loads(&traffic.demand(fabric, &*router, 1).unwrap(), &mut counted).unwrap();
                for (link, &expected) in by_pairs(fabric, rule, traffic).iter_ids() {
                    let difference = (counted[link] - expected).abs();
                    assert!(difference < 1.0, "{rule}, {traffic:?} on {fabric}, {link}: {} {expected}", counted[link]);
                }
            }
        }
    }
}

#[test]
fn one_node_and_cut_off_nodes_are_told() {
    let alone = of_cables("alone", 1, 1, [], None);
    for traffic in [Traffic::Uniform, Traffic::Adversarial(7), Traffic::Bisection { both: true }, Traffic::Permutation]
    {
        let counted = count(&alone, "minimal", &traffic, 3);
        assert_eq!((counted.throughput, counted.bottleneck), (1.0, None));
    }
    let apart = of_cables("apart", 2, 2, [], None);
    let router = RoutingSpec::parse_name("spray").unwrap().build(&apart, 1).unwrap();
    let mistake = throughput(&apart, &*router, &Traffic::Uniform, [1]).unwrap_err();
    assert_eq!(mistake.message, "there is no route from node 0 to node 2");
}

#[test]
fn a_rule_that_adapts_cannot_be_counted() {
    let fabric = dragonfly(2, Arrangement::Absolute);
    let router = RoutingSpec::parse_name("ugal-l").unwrap().build(&fabric, 1).unwrap();
    assert_eq!(throughput(&fabric, &*router, &Traffic::Uniform, [1]).unwrap_err().code, "adaptive-routing");
    let router = RoutingSpec::parse_name("fluid").unwrap().build(&fabric, 1).unwrap();
    let mistake = throughput(&fabric, &*router, &Traffic::Bisection { both: false }, [1]).unwrap_err();
    assert_eq!(mistake.code, "mixed-routing");
}

#[test]
fn words_for_traffic() {
    let parse = |text: &str, both| {
        let mut sources = Sources::default();
        Traffic::parse(&Located::from(text.to_owned()), both, 4, &mut sources)
            .map_err(|mistakes| mistakes[0].message.clone())
    };
    assert_eq!(parse("uniform", false), Ok(Traffic::Uniform));
    assert_eq!(parse("adversarial=3", false), Ok(Traffic::Adversarial(3)));
    assert_eq!(parse("bisection", true), Ok(Traffic::Bisection { both: true }));
    assert!(parse("uniform", true).unwrap_err().contains("--both"));
    assert!(parse("adversarial=x", false).unwrap_err().contains("how many groups"));
    assert!(parse("adversarial", false).unwrap_err().contains("unknown traffic"));
    assert!(parse("no/such.csv", false).is_err());
}

#[test]
fn the_busiest_sender_of_a_list_sends_with_its_whole_bandwidth() {
    // Two nodes send to a third, one of them twice as much: 1.5 times its bandwidth.
    let fabric = of_cables("switch", 1, 4, [], None);
    let pairs = [(0, 2, 10.0), (1, 2, 20.0)].map(|(src, dst, much)| (NodeId(src), NodeId(dst), much));
    near(theta(&fabric, "minimal", &Traffic::Listed(pairs.to_vec())), 1.0 / 1.5, 1e-12);
}

#[test]
fn the_worst_permutation_is_that_of_closed_forms() {
    let worst = |fabric: &Arc<Fabric>, rule| theta(fabric, rule, &Traffic::WorstCase);
    // A global cable carries all that a group sends: 1 / (a p).
    for h in [2, 4] {
        near(worst(&dragonfly(h, Arrangement::Palmtree), "minimal"), 1.0 / f64::from(2 * h * h), 1e-9);
    }
    // Up to the roots one cable leads to one node of each of the other 2p - 1 subtrees.
    for p in [2, 3, 4] {
        near(worst(&full_tree(p), "d-mod-k"), 1.0 / f64::from(2 * p - 1), 1e-9);
    }
}

#[test]
fn no_permutation_that_is_drawn_is_worse_than_the_worst() {
    for fabric in [dragonfly(2, Arrangement::Circulant), full_tree(3), slim_fly(5), two_planes()] {
        for rule in ["minimal", "ecmp", "spray"] {
            let worst = theta(&fabric, rule, &Traffic::WorstCase);
            let drawn = (1..50).map(|seed| {
                let router = RoutingSpec::parse_name(rule).unwrap().build(&fabric, 1).unwrap();
                throughput(&fabric, &*router, &Traffic::Permutation, [seed]).unwrap().throughput
            });
            let least = drawn.fold(f64::INFINITY, f64::min);
            assert!(worst <= least + 1e-9, "{} {rule}: {worst} and {least}", fabric.name());
        }
    }
}

#[test]
fn a_hot_group_takes_its_part_of_all_traffic() {
    // 8 of 72 nodes get a tenth of all traffic and their part of the rest: 72 * 0.1 / 8 + 0.9 = 1.8 of their bandwidth.
    let fabric = dragonfly(2, Arrangement::Absolute);
    near(theta(&fabric, "minimal", &Traffic::HotGroup(0.1)), 1.0 / 1.8, 1e-9);
    near(theta(&fabric, "minimal", &Traffic::HotGroup(0.0)), theta(&fabric, "minimal", &Traffic::Uniform), 1e-9);
}

#[test]
fn adversarial_traffic_of_a_group_to_itself_is_refused() {
    let fabric = dragonfly(2, Arrangement::Absolute);
    let router = RoutingSpec::parse_name("minimal").unwrap().build(&fabric, 1).unwrap();
    for k in [0, 9, 18] {
        let wrong = throughput(&fabric, &*router, &Traffic::Adversarial(k), [1]).unwrap_err();
        assert_eq!(wrong.message, format!("{k} on, of 9, every group sends to itself"));
    }
    let wrong = RoutingSpec::parse_name("ugal-l").unwrap().build(&fabric, 1).unwrap();
    assert_eq!(throughput(&fabric, &*wrong, &Traffic::WorstCase, [1]).unwrap_err().code, "adaptive-routing");
}

#[test]
fn a_file_without_traffic_is_refused() {
    let path = std::env::temp_dir().join(format!("hayase-no-traffic-{}.csv", std::process::id()));
    for text in ["src,dst,bytes\n", "src,dst,bytes\n0,0,5\n0,1,0\n"] {
        std::fs::write(&path, text).unwrap();
        let word = Located::from(path.display().to_string());
        let wrong = Traffic::parse(&word, false, 4, &mut Sources::default()).unwrap_err();
        assert_eq!(wrong[0].code, "no-traffic");
    }
    std::fs::remove_file(&path).unwrap();
}
