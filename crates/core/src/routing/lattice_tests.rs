//! Tests of rules on lattices: minimal lengths, use of all orders, loads as the mean over orders.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Located, Sources};
use crate::fabric::{CrossbarGrid, Grid, LinkRole};
use crate::ids::{IdVec, LinkId, MessageId, NodeId, RankId, VertexId};
use crate::steady::{Throughput, Traffic, throughput};
use crate::topology::TopologySpec;
use crate::units::{Bandwidth, Time};

fn unit(_: LinkRole) -> (Bandwidth, Time) {
    (Bandwidth::from_bytes_per_second(1e9), Time::from_ps(1000.0))
}

fn grid(dims: &[u32], wrap: bool, host_link: bool) -> Arc<Fabric> {
    Arc::new(Grid::new(dims.to_vec(), vec![wrap; dims.len()], host_link).build("grid".to_owned(), unit))
}

fn hyperx(shape: &[u32], nodes: u32, links: &[u32]) -> Arc<Fabric> {
    let text = format!(
        "[hyperx]\nshape = {shape:?}\nnodes = {nodes}\nlinks = {links:?}\nbandwidth = \"1 GB/s\"\nlatency = \"1 ns\""
    );
    let spec: TopologySpec = crate::reading::from_toml(&text).unwrap();
    Arc::new(spec.build(&mut Sources::default()).unwrap())
}

fn rule(text: &str, fabric: &Arc<Fabric>) -> Arc<dyn Router> {
    let spec: RoutingSpec = crate::reading::from_toml(text).unwrap();
    spec.build(fabric, 1).unwrap()
}

fn idle(fabric: &Fabric) -> UnderWay {
    IdVec::filled(fabric.links().len(), 0)
}

fn choose(router: &dyn Router, (src, dst): (u32, u32), index: u32, under_way: &UnderWay) -> Path {
    let message = MessageId { src: RankId(src), index };
    let mut path = Path::default();
    match router.choice() {
        Some(choice) => {
            choice.choose(StartingMessage { src: NodeId(src), dst: NodeId(dst), message }, under_way, &mut path)
        }
        None => router.route(NodeId(src), NodeId(dst), &mut path.links),
    }
    path
}

/// Checks that links lead from source to destination, one after another.
#[track_caller]
fn check_walk(fabric: &Fabric, (src, dst): (u32, u32), links: &[LinkId]) {
    let mut here = VertexId(src);
    for &link in links {
        let (from, to) = fabric.link(link).ends.unwrap();
        assert_eq!(from, here, "{src} to {dst} on {fabric}");
        here = to;
    }
    assert_eq!(here, VertexId(dst), "{src} to {dst} on {fabric}");
}

/// Returns the dimensions that a path crosses, in order.
fn order(fabric: &Fabric, links: &[LinkId]) -> Vec<u8> {
    let tier = |&link: &LinkId| match fabric.link(link).role {
        LinkRole::Network { tier } => Some(tier),
        _ => None,
    };
    let mut order: Vec<u8> = links.iter().filter_map(tier).collect();
    order.dedup();
    order
}

fn lattices() -> Vec<Arc<Fabric>> {
    vec![
        grid(&[4, 3], true, true),
        grid(&[5, 1, 2], true, false),
        grid(&[3, 4], false, true),
        grid(&[1], true, true),
        Arc::new(CrossbarGrid { dims: vec![3, 4, 2], host_link: true }.build("crossbars".to_owned(), unit)),
        hyperx(&[3, 4], 2, &[1, 1]),
        hyperx(&[2, 3, 4], 1, &[2, 1, 3]),
        hyperx(&[1], 3, &[1]),
    ]
}

#[test]
fn ways_of_every_order_are_shortest_ways() {
    for fabric in lattices() {
        let shortest = rule("shortest-path = {}", &fabric);
        for text in ["dimension-order = {}", "random-order = {}", "min-adaptive = {}"] {
            let router = rule(text, &fabric);
            let mut busy = idle(&fabric);
            for (index, src) in (0..fabric.nodes()).enumerate() {
                for dst in (0..fabric.nodes()).filter(|&dst| dst != src) {
                    let path = choose(&*router, (src, dst), index as u32, &busy);
                    check_walk(&fabric, (src, dst), &path.links);
                    let mut least = Vec::new();
                    shortest.route(NodeId(src), NodeId(dst), &mut least);
                    assert_eq!(path.links.len(), least.len(), "{text}: {src} to {dst} on {fabric}");
                    // The number of messages under way grows, so that paths change.
                    path.links.iter().for_each(|&link| busy[link] += 1);
                    let mut one = Vec::new();
                    router.route(NodeId(src), NodeId(dst), &mut one);
                    check_walk(&fabric, (src, dst), &one);
                }
            }
        }
    }
}

#[test]
fn each_order_is_drawn_as_often() {
    for fabric in [grid(&[3, 3, 3], true, true), hyperx(&[3, 3, 3], 1, &[2, 2, 2])] {
        let router = rule("random-order = {}", &fabric);
        let mut seen = std::collections::BTreeMap::<Vec<u8>, u32>::new();
        for index in 0..6000 {
            let path = choose(&*router, (0, 26), index, &idle(&fabric));
            *seen.entry(order(&fabric, &path.links)).or_default() += 1;
        }
        // 1,000 each, with a standard deviation of 29.
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert!(seen.values().all(|times| (860..1140).contains(times)), "{seen:?}");
    }
}

#[test]
fn all_orders_are_what_is_expected_of_drawn_ones() {
    for (fabric, ends) in [
        (grid(&[4, 3, 5], true, true), (0, 59)),
        (grid(&[4, 4], true, true), (0, 10)),
        (hyperx(&[3, 4], 2, &[2, 3]), (0, 23)),
    ] {
        let drawn = rule("random-order = {}", &fabric);
        let all = choose(&*rule("random-order = { all-orders = true }", &fabric), ends, 0, &idle(&fabric));
        let mut parts = IdVec::filled(fabric.links().len(), 0.0);
        const DRAWS: u32 = 20_000;
        let mut longest = 0.0;
        for index in 0..DRAWS {
            let path = choose(&*drawn, ends, index, &idle(&fabric));
            longest = f64::max(longest, fabric.latency(&path.links).ps());
            path.links.iter().for_each(|&link| parts[link] += 1.0 / f64::from(DRAWS));
        }
        assert_eq!(all.latency.ps(), longest);
        let used: BTreeSet<LinkId> = all.links.iter().copied().collect();
        assert_eq!(used.len(), all.links.len(), "each link once");
        for (link, &part) in parts.iter_ids() {
            let expected = all.links.iter().position(|&other| other == link).map_or(0.0, |at| all.parts[at]);
            assert!((part - expected).abs() < 0.015, "{link}: {part} {expected} on {fabric}");
        }
    }
}

fn counted(fabric: &Arc<Fabric>, text: &str, traffic: &Traffic) -> Throughput {
    throughput(fabric, &*rule(text, fabric), traffic, [7]).unwrap()
}

/// The load is T^2 times the other sizes over (N - 1), divided by K on each of K cables.
#[test]
fn uniform_traffic_on_a_hyperx_loads_dimensions_as_the_closed_form_says() {
    let cases: [(&[u32], u32, &[u32]); 6] = [
        (&[8, 8], 8, &[1, 1]),
        (&[12, 8], 7, &[1, 1]),
        (&[12, 8], 7, &[2, 3]),
        (&[5, 3, 2], 3, &[1, 4, 2]),
        (&[7], 1, &[1]),
        (&[1, 11], 2, &[3, 2]),
    ];
    for (shape, nodes, links) in cases {
        let fabric = hyperx(shape, nodes, links);
        let reversed: Vec<usize> = (0..shape.len()).rev().collect();
        let rules = [
            "dimension-order = {}".to_owned(),
            format!("dimension-order = {{ order = {reversed:?} }}"),
            "random-order = {}".to_owned(),
        ];
        for text in rules {
            let counted = counted(&fabric, &text, &Traffic::Uniform);
            let switches: u32 = shape.iter().product();
            for (dim, (&size, &parallel)) in shape.iter().zip(links).enumerate().filter(|(_, (size, _))| **size > 1) {
                let others = f64::from(switches / size);
                let expected =
                    f64::from(nodes * nodes) * others / f64::from(switches * nodes - 1) / f64::from(parallel);
                let load = counted.largest_load[&format!("dimension {dim}")];
                assert!((load - expected).abs() < 1e-9, "{text} on {fabric}: {load} {expected}");
            }
        }
    }
    let loads = counted(&hyperx(&[12, 8], 7, &[1, 1]), "dimension-order = {}", &Traffic::Uniform).largest_load;
    assert!((loads["dimension 0"] - 0.5842).abs() < 1e-4 && (loads["dimension 1"] - 0.8763).abs() < 1e-4);
    let loads = counted(&hyperx(&[8, 8], 8, &[1, 1]), "dimension-order = {}", &Traffic::Uniform).largest_load;
    assert!((loads["dimension 0"] - 1.0020).abs() < 1e-4);
}

#[test]
fn a_hyperx_in_dimension_order_takes_the_routes_of_its_family() {
    for fabric in [hyperx(&[3, 4, 2], 2, &[1, 1, 1]), hyperx(&[5], 1, &[1])] {
        let (ours, family) = (rule("dimension-order = {}", &fabric), rule("family = {}", &fabric));
        assert!(ours.choice().is_none(), "one cable: nothing to draw");
        for (src, dst) in (0..fabric.nodes()).flat_map(|src| (0..fabric.nodes()).map(move |dst| (src, dst))) {
            let [mut a, mut b] = [Vec::new(), Vec::new()];
            ours.route(NodeId(src), NodeId(dst), &mut a);
            family.route(NodeId(src), NodeId(dst), &mut b);
            assert_eq!(a, b);
        }
    }
    // Parallel cables are drawn equally often.
    let fabric = hyperx(&[2], 1, &[4]);
    let router = rule("dimension-order = {}", &fabric);
    let mut times = [0; 4];
    for index in 0..4000 {
        let path = choose(&*router, (0, 1), index, &IdVec::new());
        times[(path.links[1].0 as usize - 4) / 2] += 1;
    }
    assert!(times.iter().all(|times| (880..1120).contains(times)), "{times:?}");
}

/// Returns all orders of `count` dimensions.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let put = |at: usize| shorter.iter().map(move |order| [&order[..at], &[count - 1], &order[at..]].concat());
    (0..count).flat_map(put).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn loads_of_random_order_are_the_mean_over_orders(
        shape in prop::collection::vec(1u32..5, 1..4), nodes in 1u32..3, kind in 0u8..4, adversarial: bool,
    ) {
        let fabric = match kind {
            0 => hyperx(&shape, nodes, &vec![1 + nodes; shape.len()]),
            // Odd rings have no ties, which dimension order would break in one direction.
            1 => grid(&shape.iter().map(|size| size | 1).collect::<Vec<_>>(), true, true),
            2 => grid(&shape, false, false),
            _ => Arc::new(CrossbarGrid { dims: shape.clone(), host_link: true }.build("crossbars".to_owned(), unit)),
        };
        prop_assume!(fabric.nodes() > 1);
        let traffic = if adversarial { Traffic::Permutation } else { Traffic::Uniform };
        let demand = traffic.demand(&fabric, &*rule("shortest-path = {}", &fabric), 3).unwrap();
        let loads = |text: &str| {
            let mut loads = IdVec::filled(fabric.links().len(), 0.0);
            rule(text, &fabric).loads(&demand, &mut loads).unwrap();
            loads
        };
        let random = loads("random-order = {}");
        let orders = orders(shape.len());
        let mut mean = IdVec::<LinkId, f64>::filled(fabric.links().len(), 0.0);
        for order in &orders {
            let one = loads(&format!("dimension-order = {{ order = {order:?} }}"));
            one.iter_ids().for_each(|(link, load)| mean[link] += load / orders.len() as f64);
        }
        for (link, load) in random.iter_ids() {
            prop_assert!((load - mean[link]).abs() <= 1e-12 * mean[link], "{} {} of {}", load, mean[link], fabric);
        }
    }

    #[test]
    fn a_detour_leads_to_its_end_and_is_the_only_one_in_its_dimension(
        shape in prop::collection::vec(1u32..6, 1..4), seed: u64, src: u32, dst: u32,
    ) {
        let fabric = hyperx(&shape, 1, &vec![2; shape.len()]);
        let (src, dst) = (src % fabric.nodes(), dst % fabric.nodes());
        prop_assume!(src != dst);
        let mut stream = crate::rng::Stream::new(seed, "test");
        let mut busy = idle(&fabric);
        (0..busy.len()).for_each(|link| busy[LinkId(link as u32)] = stream.below(4) as u32);
        let path = choose(&*rule("doal = {}", &fabric), (src, dst), 0, &busy);
        check_walk(&fabric, (src, dst), &path.links);
        for tier in 0..shape.len() as u8 {
            let links = path.links.iter().filter(|&&link| fabric.link(link).role == LinkRole::Network { tier }).count();
            prop_assert!(links <= 2);
        }
        let tiers = order(&fabric, &path.links);
        prop_assert!(tiers.is_sorted(), "{tiers:?}");
    }
}

#[test]
fn minimal_adaptive_takes_the_dimension_with_less_under_way_and_the_free_cable() {
    let fabric = hyperx(&[3, 3], 1, &[2, 2]);
    let router = rule("min-adaptive = {}", &fabric);
    let straight = choose(&*rule("dimension-order = {}", &fabric), (0, 8), 0, &idle(&fabric)).links;
    let first = |busy: &UnderWay| choose(&*router, (0, 8), 5, busy).links[1];
    // Both cables along x are busy: along y first. Then one cable along y is busy, too: over the other one.
    let mut busy = idle(&fabric);
    let along_x = (0..fabric.links().len() as u32)
        .map(LinkId)
        .filter(|&link| fabric.link(link).ends == fabric.link(straight[1]).ends);
    along_x.for_each(|link| busy[link] = 1);
    let chosen = first(&busy);
    assert_eq!(fabric.link(chosen).role, LinkRole::Network { tier: 1 });
    busy[chosen] = 1;
    let other = first(&busy);
    assert!(other != chosen && fabric.link(other).ends == fabric.link(chosen).ends);
    // Half-way round a ring: the direction with fewer messages under way.
    let ring = grid(&[6], true, true);
    let router = rule("min-adaptive = {}", &ring);
    let [up, down] = [1, 5].map(|neighbour| choose(&*router, (0, neighbour), 0, &idle(&ring)).links[1]);
    let mut busy = idle(&ring);
    busy[up] = 1;
    assert_eq!(choose(&*router, (0, 3), 0, &busy).links[1], down);
    busy[down] = 2;
    assert_eq!(choose(&*router, (0, 3), 0, &busy).links[1], up);
}

#[test]
fn doal_goes_straight_until_that_weighs_more_than_a_detour() {
    let fabric = hyperx(&[4], 1, &[1]);
    let direct = choose(&*rule("dimension-order = {}", &fabric), (0, 3), 0, &idle(&fabric)).links;
    let straight = |text: &str, here: u32, elsewhere: u32| {
        let mut busy = idle(&fabric);
        (0..busy.len() as u32).for_each(|link| busy[LinkId(link)] = elsewhere);
        busy[direct[1]] = here;
        choose(&*rule(text, &fabric), (0, 3), 0, &busy).links == direct
    };
    assert!(straight("doal = {}", 0, 0));
    assert!(!straight("doal = {}", 1, 0));
    assert!(straight("doal = {}", 6, 3) && !straight("doal = {}", 7, 3));
    assert!(straight("doal = { threshold = 1.0 }", 7, 3) && !straight("doal = { threshold = 1.0 }", 8, 3));
}

#[test]
fn rules_of_lattices_say_where_they_do_not_fit() {
    let told = |text: &str, fabric: &Arc<Fabric>| {
        let spec: RoutingSpec = crate::reading::from_toml(text).unwrap();
        spec.build(fabric, 1).unwrap_err().remove(0).message
    };
    let slim = super::test_fabrics::slim_fly(5);
    for text in ["dimension-order = {}", "random-order = {}", "min-adaptive = {}", "doal = {}"] {
        assert!(told(text, &slim).contains("tori, meshes, hyper-crossbars and HyperX"), "{text}");
    }
    assert!(told("doal = {}", &grid(&[3, 3], true, true)).contains("not a HyperX"));
    assert!(told("doal = { threshold = -1.0 }", &hyperx(&[3], 1, &[1])).contains("threshold of -1"));
    let cube = hyperx(&[2; 13], 1, &[1; 13]);
    assert!(told("random-order = { all-orders = true }", &cube).contains("13 dimensions"));
    let mut loads = IdVec::filled(cube.links().len(), 0.0);
    let demand = Traffic::Permutation.demand(&cube, &*rule("random-order = {}", &cube), 1).unwrap();
    assert!(rule("random-order = {}", &cube).loads(&demand, &mut loads).unwrap_err().message.contains("13"));
    assert!(rule("min-adaptive = {}", &cube).loads(&demand, &mut loads).is_err());
    let wrong = Located::from(vec![Located::from(0), Located::from(0)]);
    let spec = DimensionOrderSpec { order: Some(wrong), ties: None };
    let mistakes = RoutingSpec::DimensionOrder(spec).build(&hyperx(&[3, 3], 1, &[1, 1]), 1).unwrap_err();
    assert!(mistakes[0].message.contains("named twice"));
}
