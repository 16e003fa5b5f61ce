//! Tests of chosen paths: they are valid, have the right length, and follow the draws and the loads.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::test_fabrics::{Arrangement, dragonfly, dragonfly_plus, hyperx, of_cables, slim_fly, two_planes};
use super::*;
use crate::fabric::LinkRole;
use crate::ids::{IdVec, LinkId, MessageId, NodeId, RankId, VertexId};
use crate::rng::Stream;

fn rule(text: &str, fabric: &Arc<Fabric>) -> Arc<dyn Router> {
    let spec: RoutingSpec = crate::reading::from_toml(text).unwrap();
    spec.build(fabric, 1).unwrap()
}

fn start(src: u32, dst: u32, index: u32) -> StartingMessage {
    StartingMessage { src: NodeId(src), dst: NodeId(dst), message: MessageId { src: RankId(src), index } }
}

fn choose(router: &dyn Router, start: StartingMessage, under_way: &UnderWay) -> Path {
    let mut path = Path::default();
    router.choice().unwrap().choose(start, under_way, &mut path);
    path
}

fn idle(fabric: &Fabric) -> UnderWay {
    IdVec::filled(fabric.links().len(), 0)
}

/// Checks that links lead from source to destination, one after another.
#[track_caller]
fn check_walk(fabric: &Fabric, src: u32, dst: u32, links: &[LinkId]) {
    let mut here = VertexId(src);
    for (at, &link) in links.iter().enumerate() {
        let (from, to) = fabric.link(link).ends.unwrap();
        assert_eq!(from, here, "{src} to {dst} on {fabric}");
        assert!(to.0 >= fabric.nodes() || at + 1 == links.len(), "{src} to {dst} on {fabric} crosses a node");
        here = to;
    }
    assert_eq!(here, VertexId(dst), "{src} to {dst} on {fabric}");
}

/// Checks link by link that all of a message arrives and nothing is lost on the way.
#[track_caller]
fn check_split(fabric: &Fabric, src: u32, dst: u32, path: &Path) {
    let mut balance: BTreeMap<VertexId, f64> = BTreeMap::from([(VertexId(src), 1.0), (VertexId(dst), -1.0)]);
    let mut seen = std::collections::BTreeSet::new();
    for (&link, &part) in path.links.iter().zip(&path.parts) {
        assert!(part > 0.0 && part <= 1.0 + 1e-12 && seen.insert(link), "{link} of {src} to {dst} on {fabric}");
        let (from, to) = fabric.link(link).ends.unwrap();
        *balance.entry(from).or_default() -= part;
        *balance.entry(to).or_default() += part;
    }
    for (vertex, left) in balance {
        assert!(left.abs() < 1e-9, "{left} is left at {vertex}: {src} to {dst} on {fabric}");
    }
}

fn some_fabrics() -> Vec<Arc<Fabric>> {
    vec![
        dragonfly(2, Arrangement::Palmtree),
        dragonfly(2, Arrangement::Circulant),
        dragonfly_plus(2, 3, 2, 4, 4),
        slim_fly(5),
        hyperx(&[3, 4], 2),
        of_cables("two cables", 3, 2, [(0, 1), (0, 1), (1, 2), (1, 2), (1, 2)], None),
        of_cables("two groups", 2, 3, [(0, 1)], Some(vec![0, 1])),
        two_planes(),
        of_cables("one switch", 1, 3, [], Some(vec![0])),
    ]
}

const EACH: [&str; 12] = [
    "spray = {}",
    "valiant-groups = {}",
    "valiant-groups = { intermediates = 3 }",
    "valiant-groups = { all-intermediates = true }",
    "valiant-switches = {}",
    "valiant-switches = { intermediates = 2 }",
    "valiant-switches = { all-intermediates = true }",
    "ugal-l = {}",
    "ugal-g = { candidates = 2, factor = 2, threshold = 1 }",
    "ugal-g = { via = \"switches\" }",
    "progressive = {}",
    "minimal = {}",
];

#[test]
fn every_way_leads_from_source_to_destination() {
    for fabric in some_fabrics() {
        for text in EACH.into_iter().filter(|text| fabric.groups().is_some() || !text.starts_with("valiant-groups")) {
            let router = rule(text, &fabric);
            let mut draws = Stream::new(7, "test");
            let mut under_way = idle(&fabric);
            for link in fabric.links().ids() {
                under_way[link] = draws.below(5) as u32;
            }
            for index in 0..400 {
                let (src, dst) = (draws.below(fabric.nodes().into()) as u32, draws.below(fabric.nodes().into()) as u32);
                if src == dst {
                    continue;
                }
                if router.choice().is_none() {
                    let mut route = Vec::new();
                    router.route(NodeId(src), NodeId(dst), &mut route);
                    check_walk(&fabric, src, dst, &route);
                    continue;
                }
                let path = choose(&*router, start(src, dst, index), &under_way);
                if router.choice().unwrap().kind() == ChoiceKind::Split {
                    check_split(&fabric, src, dst, &path);
                } else {
                    assert!(path.parts.is_empty());
                    check_walk(&fabric, src, dst, &path.links);
                }
                assert_eq!(path, choose(&*router, start(src, dst, index), &under_way), "{text} on {fabric}");
            }
        }
    }
}

#[test]
fn a_minimal_route_of_a_dragonfly_takes_one_cable_between_groups() {
    let fabric = dragonfly(2, Arrangement::Relative);
    let router = rule("minimal = {}", &fabric);
    let global = |link: &&LinkId| fabric.link(**link).role == LinkRole::Network { tier: 1 };
    for (src, dst) in (0..72).flat_map(|src| (0..72).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
        let mut route = Vec::new();
        router.route(NodeId(src), NodeId(dst), &mut route);
        assert_eq!(route.iter().filter(global).count(), usize::from(src / 8 != dst / 8));
        assert!(route.len() <= 5);
    }
}

#[test]
fn a_detour_goes_through_another_group_and_every_group_is_drawn_as_often() {
    let fabric = dragonfly(2, Arrangement::Palmtree);
    let router = rule("valiant-groups = {}", &fabric);
    let mut through = [0; 9];
    for index in 0..7000 {
        let path = choose(&*router, start(0, 71, index), &idle(&fabric));
        let group = |link: &LinkId| (fabric.link(*link).ends.unwrap().1.0 - 72) / 4;
        let mut groups: Vec<u32> = path.links[..path.links.len() - 1].iter().map(group).collect();
        groups.dedup();
        assert!(groups.len() == 3 && groups[0] == 0 && groups[2] == 8, "{groups:?}");
        through[groups[1] as usize] += 1;
    }
    // 1,000 each, with a standard deviation of 29.
    assert!(through[1..8].iter().all(|&times| (850..1150).contains(&times)), "{through:?}");
    // Within a group there is no detour.
    assert_eq!(choose(&*router, start(0, 7, 1), &idle(&fabric)).links.len(), 3);
}

#[test]
fn all_intermediates_are_what_is_expected_of_drawn_ones() {
    let fabric = dragonfly(2, Arrangement::Palmtree);
    for kind in ["groups", "switches"] {
        let drawn = rule(&format!("valiant-{kind} = {{}}"), &fabric);
        let all = rule(&format!("valiant-{kind} = {{ all-intermediates = true }}"), &fabric);
        let mut parts = IdVec::filled(fabric.links().len(), 0.0);
        const DRAWS: u32 = 20_000;
        for index in 0..DRAWS {
            for link in choose(&*drawn, start(3, 40, index), &idle(&fabric)).links {
                parts[link] += 1.0 / f64::from(DRAWS);
            }
        }
        let expected = choose(&*all, start(3, 40, 0), &idle(&fabric));
        let sum: f64 = expected.parts.iter().sum();
        assert!((parts.iter().sum::<f64>() - sum).abs() < 0.05, "mean lengths differ");
        for (&link, part) in expected.links.iter().zip(&expected.parts) {
            assert!((parts[link] - part).abs() < 0.02, "{link}: {} {part}", parts[link]);
        }
    }
}

#[test]
fn the_latency_of_a_split_message_is_that_of_its_longest_path() {
    // Detours have up to 3 local and 2 global links, and 2 host links, of 1 ns each.
    let fabric = dragonfly(2, Arrangement::Palmtree);
    let path =
        choose(&*rule("valiant-groups = { all-intermediates = true }", &fabric), start(0, 40, 0), &idle(&fabric));
    assert_eq!(path.latency.ps(), 7000.0);
    let path = choose(&*rule("spray = {}", &slim_fly(5)), start(0, 199, 0), &IdVec::new());
    assert!([3000.0, 4000.0].contains(&path.latency.ps()));
}

#[test]
fn a_busy_first_link_sends_messages_on_a_detour() {
    let fabric = dragonfly(2, Arrangement::Palmtree);
    let router = rule("minimal = {}", &fabric);
    let route = |dst| {
        let mut route = Vec::new();
        router.route(NodeId(0), NodeId(dst), &mut route);
        route
    };
    // A host link, a local link, a cable, a local link, a host link.
    let dst = (8..72).find(|&dst| route(dst).len() == 5).unwrap();
    let minimal = route(dst);
    let with = |text: &str, link: LinkId, flows: u32| {
        let mut under_way = idle(&fabric);
        under_way[link] = flows;
        choose(&*rule(text, &fabric), start(0, dst, 0), &under_way).links == minimal
    };
    let (first, cable, last) = (minimal[1], minimal[2], minimal[3]);
    for text in ["ugal-l = { candidates = 8 }", "ugal-g = { candidates = 8 }", "progressive = { candidates = 8 }"] {
        assert!(with(text, first, 0), "{text}: an idle network is crossed by shortest ways");
        assert!(!with(text, first, 9), "{text}");
        assert_eq!(
            with(text, last, 9),
            !text.starts_with("ugal-g"),
            "{text}: only global knowledge sees the last link"
        );
    }
    // The second switch sees the cable itself.
    assert!(with("ugal-l = { candidates = 8 }", cable, 9));
    assert!(!with("progressive = { candidates = 8 }", cable, 9));
    // Three messages on a path of three links weigh 9, which the threshold allows.
    assert!(!with("ugal-l = { candidates = 8, threshold = 8 }", first, 3));
    assert!(with("ugal-l = { candidates = 8, threshold = 9 }", first, 3));
    assert!(!with("ugal-l = { candidates = 8, factor = 2, threshold = 2 }", first, 3));
    assert!(with("ugal-l = { candidates = 8, factor = 2, threshold = 3 }", first, 3));
}

#[test]
fn options_that_mean_nothing_are_told() {
    let fabric = dragonfly(2, Arrangement::Palmtree);
    let torn = slim_fly(5);
    let told = |text: &str, fabric: &Arc<Fabric>| {
        let spec: RoutingSpec = crate::reading::from_toml(text).unwrap();
        spec.build(fabric, 1).unwrap_err().remove(0).message
    };
    assert!(told("ugal-l = { candidates = 0 }", &fabric).contains("0 intermediates"));
    assert!(told("ugal-l = { threshold = -1.0 }", &fabric).contains("threshold of -1"));
    assert!(told("ugal-l = { factor = inf }", &fabric).contains("factor of inf"));
    assert!(told("valiant-switches = { intermediates = 2000 }", &fabric).contains("2000 intermediates"));
    for text in ["valiant-groups = {}", "ugal-g = { via = \"groups\" }", "fluid = { via = \"groups\" }"] {
        assert!(told(text, &torn).contains("slim fly has none"), "{text}");
    }
}

/// Returns a random connected graph of switches, some in groups.
fn random_fabric(seed: u64) -> Arc<Fabric> {
    let mut draws = Stream::new(seed, "test");
    let mut below = |bound| draws.below(bound) as u32;
    let switches = 1 + below(9);
    let mut cables: Vec<(u32, u32)> = (1..switches).map(|switch| (switch, below(switch.into()))).collect();
    for _ in 0..below(12) {
        let (a, b) = (below(switches.into()), below(switches.into()));
        if a != b {
            cables.push((a, b));
        }
    }
    let groups = (below(2) == 0).then(|| (0..switches).map(|_| below(3)).collect());
    of_cables("random", switches, 1 + below(3), cables, groups)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ways_on_random_graphs_lead_there(seed: u64, a: u32, b: u32) {
        let fabric = random_fabric(seed);
        let (src, dst) = (a % fabric.nodes(), b % fabric.nodes());
        prop_assume!(src != dst);
        for text in EACH.into_iter().filter(|text| fabric.groups().is_some() || !text.starts_with("valiant-groups")) {
            let router = rule(text, &fabric);
            match router.choice().map(Choice::kind) {
                None => {
                    let mut route = Vec::new();
                    router.route(NodeId(src), NodeId(dst), &mut route);
                    check_walk(&fabric, src, dst, &route);
                }
                Some(ChoiceKind::Split) => {
                    check_split(&fabric, src, dst, &choose(&*router, start(src, dst, 1), &idle(&fabric)));
                }
                Some(_) => check_walk(&fabric, src, dst, &choose(&*router, start(src, dst, 1), &idle(&fabric)).links),
            }
        }
    }
}

#[test]
fn a_message_that_is_asked_again_crosses_no_link_twice() {
    let ring = of_cables("ring", 9, 2, (0..9).map(|i| (i, (i + 1) % 9)), None);
    for fabric in [ring, slim_fly(5)] {
        let router = rule("[progressive]", &fabric);
        let mut random = Stream::new(3, "loads");
        let mut asked_again = 0;
        for index in 0..3000 {
            // Traffic is dense everywhere, so that detours are taken, also at the second switch.
            let under_way: UnderWay = fabric.links().ids().map(|_| random.below(4) as u32).collect();
            let [src, dst] = [(); 2].map(|()| random.below(fabric.nodes().into()) as u32);
            if src != dst {
                let path = choose(&*router, start(src, dst, index), &under_way);
                check_walk(&fabric, src, dst, &path.links);
                let mut links = path.links.clone();
                links.sort_unstable();
                links.dedup();
                assert_eq!(links.len(), path.links.len(), "{src} to {dst} on {fabric}: {:?}", path.links);
                let mut shortest = Vec::new();
                router.route(NodeId(src), NodeId(dst), &mut shortest);
                asked_again += u32::from(path.links.len() > shortest.len());
            }
        }
        assert!(asked_again > 100, "{asked_again} detours on {fabric}");
    }
}
