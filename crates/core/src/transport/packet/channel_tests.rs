//! Tests of virtual channels: no packets can wait for each other in a circle, on any family under any rule.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use petgraph::graph::DiGraph;

use super::lanes::Lanes;
use super::net::Net;
use super::tests::{fabric, rule, spec};
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{IdVec, LinkId, MessageId, NodeId, RankId};
use crate::rng::Stream;
use crate::routing::{Path, Router, StartingMessage, Steps};

/// Link and class.
type Channel = (u32, u32);

/// Members of each family, small enough for all pairs.
pub(super) const FAMILIES: [&str; 21] = [
    "dragonfly = { p = 2, a = 4, h = 2, bandwidth = \"1 GB/s\" }",
    "dragonfly = { p = 1, a = 3, h = 2, g = 4, bandwidth = \"1 GB/s\", arrangement = \"random\" }",
    "dragonfly = { p = 1, rows = 2, columns = 3, h = 1, g = 4, bandwidth = \"1 GB/s\" }",
    "dragonfly-plus = { nodes = 2, leaves = 2, spines = 2, global-ports = 2, groups = 3, bandwidth = \"1 GB/s\" }",
    "slim-fly = { q = 5, p = 1, bandwidth = \"1 GB/s\" }",
    "slim-fly = { q = 4, p = 1, bandwidth = \"1 GB/s\" }",
    "polarfly = { q = 3, p = 1, bandwidth = \"1 GB/s\" }",
    "hyperx = { shape = [4, 3], nodes = 2, bandwidth = \"1 GB/s\" }",
    "hyperx = { shape = [3, 2, 3], links = [1, 2, 1], nodes = 1, bandwidth = \"1 GB/s\" }",
    "jellyfish = { switches = 12, radix = 5, degree = 4, seed = 3, bandwidth = \"1 GB/s\" }",
    "rails = { servers = 6, gpus = 2, segment = 2, spines = 2, bandwidth = \"1 GB/s\", nvlink-bandwidth = \"4 GB/s\" }",
    "rails = { servers = 4, gpus = 2, planes = 2, bandwidth = \"1 GB/s\", nvlink-bandwidth = \"4 GB/s\" }",
    "ring-of-rings = { rings = 4, switches = 5, nodes = 1, bandwidth = \"1 GB/s\" }",
    "fat-tree = { p = 2, bandwidth = \"1 GB/s\" }",
    "fat-tree = { down = [4, 2], up = [1, 2], parallel = [1, 2], bandwidth = \"1 GB/s\" }",
    "torus = { dims = [5, 4], bandwidth = \"1 GB/s\" }",
    "torus = { dims = [7], bandwidth = \"1 GB/s\", host-link = false }",
    "torus = { dims = [3, 3, 3], bandwidth = \"1 GB/s\" }",
    "mesh = { dims = [4, 4], bandwidth = \"1 GB/s\" }",
    "hyper-crossbar = { dims = [3, 3], bandwidth = \"1 GB/s\" }",
    "crossbar = { nodes = 6, bandwidth = \"1 GB/s\" }",
];

/// Rules that packets can follow; some do not fit some families.
pub(super) const RULES: [&str; 20] = [
    "family = {}",
    "d-mod-k = {}",
    "s-mod-k = {}",
    "hashed = {}",
    "shortest-path = {}",
    "minimal = {}",
    "ecmp = {}",
    "spray = {}",
    "valiant-groups = {}",
    "valiant-switches = {}",
    "valiant-switches = { intermediates = 3 }",
    "valiant-switches = { all-intermediates = true }",
    "ugal-l = {}",
    "ugal-g = { factor = 2, threshold = 3 }",
    "ugal-l = { via = \"switches\" }",
    "progressive = {}",
    "progressive = { via = \"switches\", factor = 2 }",
    "dimension-order = {}",
    "random-order = {}",
    "min-adaptive = {}",
];

/// Returns each fabric with each rule that fits it.
pub(super) fn combinations() -> impl Iterator<Item = (Arc<Fabric>, &'static str, Arc<dyn Router>)> {
    FAMILIES.into_iter().flat_map(|family| {
        let fabric = fabric(family);
        RULES.into_iter().filter_map(move |text| Some((Arc::clone(&fabric), text, rule(text, &fabric)?)))
    })
}

/// Returns all steps of packets from channel to channel, and the number of classes; without classes all are
/// the first.
fn steps(fabric: &Fabric, router: &dyn Router, with_classes: bool) -> (BTreeSet<(Channel, Channel)>, u32) {
    let mut edges = BTreeSet::new();
    let ranks = Steps::ranks(router, fabric);
    let needed = Steps::of(router, fabric, &ranks, &mut |from, classes, to, descends| {
        for class in (0..128).filter(|class| classes >> class & 1 == 1) {
            let (class, next) = if with_classes { (class, class + u32::from(descends)) } else { (0, 0) };
            edges.insert(((from.0, class), (to.0, next)));
        }
    });
    (edges, needed)
}

/// True if channels wait for each other in a circle.
fn has_circle(edges: &BTreeSet<(Channel, Channel)>) -> bool {
    let mut graph = DiGraph::<(), ()>::new();
    let mut numbers = BTreeMap::new();
    for &(from, to) in edges {
        let [from, to] = [from, to].map(|channel| *numbers.entry(channel).or_insert_with(|| graph.add_node(())));
        graph.add_edge(from, to, ());
    }
    petgraph::algo::is_cyclic_directed(&graph)
}

#[test]
fn channels_never_wait_in_a_circle_whatever_the_rule_and_the_family() {
    let mut seen = 0;
    for (fabric, text, router) in combinations() {
        // On the rings of a torus, packets in dimension order leave bubbles instead.
        if text.starts_with("dimension") && !fabric.family().rings().is_empty() {
            continue;
        }
        let (edges, needed) = steps(&fabric, &*router, true);
        assert!(needed > 0 && !has_circle(&edges), "{text} on {fabric}");
        seen += 1;
    }
    assert!(seen > 200, "{seen}");
}

/// A ring of four or more links has circles in one class, and so have two-hop routes on a slim fly.
#[test]
fn the_search_for_circles_finds_them_where_there_is_one_class() {
    let one_class = |family: &str, text: &str| {
        let fabric = fabric(family);
        has_circle(&steps(&fabric, &*rule(text, &fabric).unwrap(), false).0)
    };
    assert!(one_class("torus = { dims = [5], bandwidth = \"1 GB/s\" }", "dimension-order = {}"));
    assert!(one_class("slim-fly = { q = 5, p = 1, bandwidth = \"1 GB/s\" }", "minimal = {}"));
    assert!(one_class("dragonfly = { p = 2, a = 4, h = 2, bandwidth = \"1 GB/s\" }", "family = {}"));
    assert!(one_class("hyperx = { shape = [4, 4], nodes = 1, bandwidth = \"1 GB/s\" }", "valiant-switches = {}"));
    assert!(!one_class("fat-tree = { p = 2, bandwidth = \"1 GB/s\" }", "d-mod-k = {}"));
    assert!(!one_class("mesh = { dims = [5, 5], bandwidth = \"1 GB/s\" }", "dimension-order = {}"));
}

/// Trees and dimension order ascend all the way. A route of a dragonfly descends once for each further group,
/// other routes once for each further link.
#[test]
fn as_many_classes_are_needed_as_routes_descend() {
    let needed = |family: usize, text: &str| {
        let fabric = fabric(FAMILIES[family]);
        steps(&fabric, &*rule(text, &fabric).unwrap(), true).1
    };
    for (family, text, classes) in [
        (0, "family = {}", 2),
        (0, "minimal = {}", 2),
        // Local, global, local, global, local.
        (0, "valiant-groups = {}", 3),
        // One more local link to the intermediate switch, in a class of its own.
        (0, "valiant-switches = {}", 4),
        // Two local links at the source.
        (0, "progressive = {}", 4),
        (3, "family = {}", 1),
        (3, "valiant-groups = {}", 2),
        (3, "progressive = {}", 3),
        (4, "minimal = {}", 2),
        (4, "valiant-switches = {}", 4),
        (4, "ugal-l = {}", 4),
        (7, "family = {}", 1),
        (7, "minimal = {}", 2),
        (10, "family = {}", 1),
        (11, "family = {}", 1),
        (13, "d-mod-k = {}", 1),
        (13, "spray = {}", 1),
        (14, "hashed = {}", 1),
        (18, "dimension-order = {}", 1),
        (19, "dimension-order = {}", 1),
        (20, "minimal = {}", 1),
    ] {
        assert_eq!(needed(family, text), classes, "{text} on {}", FAMILIES[family]);
    }
}

/// Real paths of packets, under any state of the queues, are among the steps that are free of circles.
#[test]
fn every_way_of_a_packet_is_among_the_steps() {
    let mut stream = Stream::new(7, "loads");
    for (fabric, text, router) in combinations() {
        let Some(choice) = router.choice() else { continue };
        let (edges, needed) = steps(&fabric, &*router, true);
        let lanes = Lanes::new(&fabric, &*router, &spec("model = \"iq\""));
        let net = Net::new(&fabric, &router, &spec("model = \"iq\""), false);
        for index in 0..300 {
            let nodes = u64::from(fabric.nodes());
            let (src, dst) = (stream.below(nodes) as u32, stream.below(nodes) as u32);
            if src == dst {
                continue;
            }
            let known = IdVec::from_iter((0..fabric.links().len()).map(|_| stream.below(9) as u32));
            let mut at: Option<(u32, u32)> = None;
            let mut crossed = 0;
            loop {
                let start = StartingMessage {
                    src: NodeId(src),
                    dst: NodeId(dst),
                    message: MessageId { src: RankId(src), index },
                };
                let mut path = Path::default();
                let again = choice.choose_for_packet(start, at.map(|(link, _)| LinkId(link)), &known, &mut path);
                if !path.parts.is_empty() {
                    break;
                }
                let links = if again { &path.links[..1] } else { &path.links[..] };
                for &LinkId(link) in links {
                    let from = at.map_or(u32::MAX, |(link, _)| link);
                    let lane = lanes.next(&net, 0, from, at.map_or(0, |(_, lane)| lane), link);
                    let network = |link: u32| matches!(fabric.link(LinkId(link)).role, LinkRole::Network { .. });
                    if let Some(before) = at.filter(|(before, _)| network(*before) && network(link)) {
                        assert!(edges.contains(&(before, (link, lane))), "{text} on {fabric}: {before:?} to {link}");
                        assert!(lane < needed, "{text} on {fabric}");
                    }
                    at = Some((link, lane));
                    crossed += 1;
                }
                assert!(crossed < 100, "{text} on {fabric}: from {src} to {dst}");
                if !again {
                    break;
                }
            }
            let end = at.and_then(|(link, _)| fabric.link(LinkId(link)).ends).unwrap().1;
            assert_eq!(end.0, dst, "{text} on {fabric}");
        }
    }
}

#[test]
fn too_few_channels_are_refused_with_how_many_are_needed() {
    let fabric = fabric(FAMILIES[4]);
    let refused = |text: &str, channels: u32| {
        let spec = spec(&format!("model = \"iq\"\nchannels = {channels}"));
        spec.check_on(&fabric, &*rule(text, &fabric).unwrap())
    };
    for (text, needed) in [("minimal = {}", 2), ("ugal-l = {}", 4)] {
        let mistakes = refused(text, needed - 1);
        assert_eq!(mistakes.len(), 1);
        assert!(format!("{:?}", mistakes[0]).contains(&format!("{needed} are needed")), "{:?}", mistakes[0]);
        assert!(refused(text, needed).is_empty() && refused(text, needed + 5).is_empty());
    }
    assert_eq!(refused("minimal = {}", 0).len(), 1);
}
