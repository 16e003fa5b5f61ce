//! Tests of planes: the plane of a message, routes that stay within it, and steady traffic over all of them.

use std::sync::Arc;

use super::*;
use crate::diagnostic::Sources;
use crate::ids::{IdVec, LinkId, MessageId, NodeId, RankId, VertexId};
use crate::steady::{Throughput, Traffic, throughput};
use crate::topology::TopologySpec;

fn fabric(text: &str) -> Arc<Fabric> {
    let spec: TopologySpec = crate::reading::from_toml(text).unwrap();
    Arc::new(spec.build(&mut Sources::default()).unwrap())
}

const DRAGONFLY: &str = "of.dragonfly = { p = 2, bandwidth = \"1 GB/s\", latency = \"1 us\" }";

fn of_dragonflies(planes: u32, nics: u32) -> Arc<Fabric> {
    fabric(&format!("[multi-plane]\nplanes = {planes}\nnics = {nics}\n{DRAGONFLY}"))
}

fn rails(planes: u32) -> Arc<Fabric> {
    fabric(&format!(
        "[rails]\nservers = 4\ngpus = 2\nspines = 2\nplanes = {planes}\nbandwidth = \"1 GB/s\"\nnvlink-bandwidth = \"9 GB/s\""
    ))
}

fn rule(text: &str, fabric: &Arc<Fabric>) -> Arc<dyn Router> {
    let spec: RoutingSpec = crate::reading::from_toml(text).unwrap();
    spec.build(fabric, 1).unwrap_or_else(|mistakes| panic!("{text}: {}", mistakes[0].message))
}

fn idle(fabric: &Fabric) -> UnderWay {
    IdVec::filled(fabric.links().len(), 0)
}

fn way(router: &dyn Router, (src, dst): (u32, u32), index: u32, under_way: &UnderWay) -> Vec<LinkId> {
    let mut path = Path::default();
    let message = MessageId { src: RankId(src), index };
    match router.choice() {
        Some(choice) => {
            choice.choose(StartingMessage { src: NodeId(src), dst: NodeId(dst), message }, under_way, &mut path)
        }
        None => router.route(NodeId(src), NodeId(dst), &mut path.links),
    }
    path.links
}

#[track_caller]
fn check_walk(fabric: &Fabric, (src, dst): (u32, u32), links: &[LinkId]) {
    let mut here = VertexId(src);
    for (at, &link) in links.iter().enumerate() {
        let (from, to) = fabric.link(link).ends.unwrap();
        assert_eq!(from, here, "{src} to {dst} on {fabric}");
        assert!(to.0 >= fabric.nodes() || at + 1 == links.len(), "{src} to {dst} on {fabric} crosses a node");
        here = to;
    }
    assert_eq!(here, VertexId(dst), "{src} to {dst} on {fabric}");
}

const SELECT: [&str; 4] = ["hash", "fixed", "round-robin", "least-loaded"];

#[test]
fn ways_lead_to_their_end_within_one_plane() {
    for fabric in [of_dragonflies(2, 1), of_dragonflies(1, 2), of_dragonflies(3, 4), rails(2)] {
        let nodes = fabric.nodes();
        let planes = fabric.family().planes().unwrap();
        for select in SELECT {
            for inner in ["", ", rule.valiant-groups = {}", ", rule.ugal-g = {}"] {
                if !inner.is_empty() && planes.within().is_none() {
                    continue;
                }
                let router = rule(&format!("planes = {{ select = \"{select}\"{inner} }}"), &fabric);
                for (src, dst) in (0..nodes).step_by(5).flat_map(|src| (0..nodes).map(move |dst| (src, dst))) {
                    if src != dst {
                        check_walk(&fabric, (src, dst), &way(&*router, (src, dst), 3, &idle(&fabric)));
                        let mut route = Vec::new();
                        router.route(NodeId(src), NodeId(dst), &mut route);
                        check_walk(&fabric, (src, dst), &route);
                    }
                }
            }
        }
    }
}

#[test]
fn a_plane_is_chosen_by_node_pair_turn_or_load() {
    for fabric in [of_dragonflies(2, 1), of_dragonflies(1, 2), rails(2)] {
        let last = fabric.nodes() - 1;
        let planes = fabric.family().planes().unwrap();
        let ports: Vec<LinkId> = (0..2).map(|plane| planes.port(plane, NodeId(0))).collect();
        let first = |select: &str, dst, index, busy: &UnderWay| {
            let router = rule(&format!("planes = {{ select = \"{select}\" }}"), &fabric);
            let first = way(&*router, (0, dst), index, busy)[0];
            ports.iter().position(|&port| port == first).unwrap()
        };
        let idle = idle(&fabric);
        for index in 0..4 {
            assert_eq!(first("fixed", last, index, &idle), 0);
            assert_eq!(first("round-robin", last, index, &idle), index as usize % 2);
            assert_eq!(first("least-loaded", last, index, &idle), index as usize % 2, "in turn where all are free");
            assert_eq!(first("hash", last, index, &idle), first("hash", last, 0, &idle));
            let mut busy = idle.clone();
            busy[ports[0]] = 1;
            assert_eq!(first("least-loaded", last, index, &busy), 1);
        }
        let hashed: Vec<usize> = (2..last).map(|dst| first("hash", dst, 0, &idle)).collect();
        assert!(hashed.contains(&0) && hashed.contains(&1), "{hashed:?}");
    }
}

fn counted(fabric: &Arc<Fabric>, text: &str, traffic: &Traffic) -> Throughput {
    throughput(fabric, &*rule(text, fabric), traffic, [1]).unwrap()
}

/// With round robin all planes carry the same load, so P of them have the throughput of one with P times the
/// bandwidth.
#[test]
fn planes_in_turn_have_the_throughput_of_one() {
    let one = fabric(&format!("[dragonfly]{}", "\np = 2\nbandwidth = \"1 GB/s\""));
    for (inner, traffic) in [
        ("family = {}", Traffic::Uniform),
        ("minimal = {}", Traffic::Adversarial(1)),
        ("valiant-groups = {}", Traffic::Adversarial(1)),
    ] {
        let alone = counted(&one, inner, &traffic);
        for planes in [2, 3] {
            let all = counted(
                &of_dragonflies(planes, 1),
                &format!("planes = {{ select = \"round-robin\", rule.{inner} }}"),
                &traffic,
            );
            // Other planes have groups of their own, so ADV+k of planes uses the groups of the first plane.
            if traffic == Traffic::Uniform {
                assert!((all.throughput - alone.throughput).abs() < 1e-9, "{inner}: {all:?}");
            }
        }
    }
    // Planes drawn and planes given by the node count the same links by pair: nothing is lost.
    for select in ["hash", "fixed", "round-robin"] {
        let fabric = of_dragonflies(2, 1);
        let demand = Traffic::Uniform.demand(&fabric, &*rule("planes = {}", &fabric), 1).unwrap();
        let mut loads = IdVec::filled(fabric.links().len(), 0.0);
        rule(&format!("planes = {{ select = \"{select}\" }}"), &fabric).loads(&demand, &mut loads).unwrap();
        let planes = fabric.family().planes().unwrap();
        let sent: f64 = fabric
            .node_ids()
            .flat_map(|node| [planes.port(0, node), planes.port(1, node)])
            .map(|port| loads[port])
            .sum();
        assert!((sent - 72.0 * 2e9).abs() < 1.0, "{select}: {sent}");
        let largest =
            counted(&fabric, &format!("planes = {{ select = \"{select}\" }}"), &Traffic::Uniform).largest_load;
        let node = largest["node"];
        match select {
            // One of two cards of each node is idle.
            "fixed" => assert!((node - 2.0).abs() < 1e-9, "{node}"),
            "hash" => assert!(node > 1.1, "{node}"),
            _ => assert!((node - 1.0).abs() < 1e-9, "{node}"),
        }
    }
}

/// Every node sends its bandwidth B into the network; of N - 1 destinations, 2 - 1 are in its server.
#[test]
fn throughput_of_rails_is_relative_to_the_network_cards() {
    for planes in [1, 2] {
        let counted = counted(&rails(planes), "planes = { select = \"round-robin\" }", &Traffic::Uniform);
        let outside = 6.0 / 7.0;
        assert!((counted.largest_load["node"] - outside).abs() < 1e-9, "{counted:?}");
    }
    let family = counted(&rails(1), "family = {}", &Traffic::Uniform);
    assert!((family.largest_load["node"] - 6.0 / 7.0).abs() < 1e-9, "{family:?}");
}

#[test]
fn a_fabric_of_planes_has_all_their_parts() {
    let one = fabric("[dragonfly]\np = 2\nbandwidth = \"1 GB/s\"");
    let two = of_dragonflies(2, 1);
    assert_eq!((two.nodes(), two.switches(), two.links().len()), (72, 72, 2 * one.links().len()));
    assert_eq!(two.groups().unwrap().iter().max(), Some(&17));
    assert_eq!(two.diameter(), one.diameter());
    let cards = of_dragonflies(1, 4);
    assert_eq!((cards.nodes(), cards.switches(), cards.links().len()), (18, 36, one.links().len()));
    assert!(two.vertex_name(VertexId(72 + 36)).starts_with("plane1 "));
    assert_eq!(RoutingSpec::default_for(&two).name(), "planes");
    let wrong = |text: &str| {
        let spec: TopologySpec = crate::reading::from_toml(text).unwrap();
        spec.build(&mut Sources::default()).unwrap_err().remove(0).message
    };
    assert!(wrong(&format!("[multi-plane]\nnics = 5\n{DRAGONFLY}")).contains("not a whole number"));
    assert!(wrong(&format!("[multi-plane]\nplanes = 0\n{DRAGONFLY}")).contains("size of 0"));
    assert!(wrong(&format!("[multi-plane]\nplanes = 1000\n{DRAGONFLY}")).contains("too many"));
    let bare = "[multi-plane]\nplanes = 2\nof.torus = { dims = [3, 3], host-link = false, bandwidth = \"1 GB/s\" }";
    assert!(wrong(bare).contains("no link of its own"));
    let told = |text: &str, fabric: &Arc<Fabric>| {
        let spec: RoutingSpec = crate::reading::from_toml(text).unwrap();
        spec.build(fabric, 1).unwrap_err().remove(0).message
    };
    assert!(told("planes = {}", &one).contains("fabrics of planes"));
    assert!(told("planes = { rule.minimal = {} }", &rails(2)).contains("within a plane"));
    assert!(told("planes = { select = \"least-loaded\", rule.spray = {} }", &two).contains("split"));
    let mut loads = IdVec::filled(two.links().len(), 0.0);
    let demand = Traffic::Uniform.demand(&two, &*rule("planes = {}", &two), 1).unwrap();
    assert!(rule("planes = { select = \"least-loaded\" }", &two).loads(&demand, &mut loads).is_err());
}
