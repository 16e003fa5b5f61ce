//! Tests of shortest paths against their definition, on random graphs: nodes on one switch, on several, and
//! nodes that messages cross; links one way only; groups.

use std::sync::Arc;

use super::field::Width;
use super::graph::{BETWEEN_GROUPS, Graph, NONE, Target};
use super::test_fabrics::{finished, two_planes};
use crate::fabric::{Fabric, FabricBuilder, LinkRole};
use crate::ids::VertexId;
use crate::rng::Stream;
use crate::units::{Bandwidth, Time};

/// Returns a random graph of up to 7 nodes and 7 switches.
fn random(seed: u64) -> Arc<Fabric> {
    let mut random = Stream::new(seed, "graphs");
    let mut below = |bound: u32| random.below(bound.into()) as u32;
    let (nodes, switches) = (1 + below(7), 1 + below(7));
    let mut builder = FabricBuilder::new("random", nodes, switches);
    let mut link = |from: u32, to: u32, role: LinkRole| {
        builder.link(VertexId(from), VertexId(to), Bandwidth::from_bytes_per_second(1e9), Time::ZERO, role);
    };
    for node in 0..nodes {
        for _ in 0..1 + below(3) {
            let switch = nodes + below(switches);
            link(node, switch, LinkRole::Injection);
            if below(8) > 0 {
                link(switch, node, LinkRole::Ejection);
            }
        }
        if below(6) == 0 {
            link(node, nodes + below(switches), LinkRole::Network { tier: 0 });
        }
    }
    for _ in 0..below(3 * switches + 1) {
        link(nodes + below(switches), nodes + below(switches), LinkRole::Network { tier: 0 });
    }
    let groups = (below(2) == 0).then(|| (0..switches).map(|_| below(3)).collect());
    finished(builder, groups)
}

/// Returns the distance from each place to the nearest of `ends`. Paths do not cross closed places.
fn by_definition(graph: &Graph, ends: &[bool]) -> Vec<u32> {
    let mut left: Vec<u32> = ends.iter().map(|&is_end| if is_end { 0 } else { NONE }).collect();
    for _ in 0..=left.len() {
        for from in 0..graph.places() {
            for way in graph.links_out_of(from) {
                let there = left[way.place as usize];
                if there != NONE && (there == 0 || graph.is_open(way.place)) {
                    let crosses = matches!(
                        (graph.group(from), graph.group(way.place)), (Some(from), Some(to)) if from != to);
                    let over = there + 1 + if crosses { BETWEEN_GROUPS } else { 0 };
                    left[from as usize] = left[from as usize].min(over);
                }
            }
        }
    }
    left
}

fn targets(graph: &Graph) -> Vec<(Target, Vec<bool>)> {
    let places = (0..graph.places()).map(|target| (Target::Place(target), vec![target]));
    let groups = (0..graph.group_count()).map(|group| {
        let inside = (0..graph.places()).filter(|&place| graph.group(place) == Some(group));
        (Target::Group(group), inside.collect())
    });
    let ends = |inside: Vec<u32>| (0..graph.places()).map(|place| inside.contains(&place)).collect();
    places.chain(groups).map(|(target, inside)| (target, ends(inside))).collect()
}

#[test]
fn what_is_left_is_the_fewest_groups_and_links_that_cross_no_closed_place() {
    let (mut closed, mut grouped) = (0, 0);
    for seed in 0..400 {
        let graph = Graph::new(&random(seed)).unwrap();
        closed += (0..graph.places()).filter(|&place| !graph.is_open(place)).count();
        grouped += graph.group_count();
        for (target, ends) in targets(&graph) {
            let expected = by_definition(&graph, &ends);
            let ahead = graph.ahead(target);
            for place in 0..graph.places() {
                let left = expected[place as usize];
                assert_eq!(graph.distance(&ahead, place), left, "{target:?} from {place}, seed {seed}");
                let leads = graph.closer(place, &ahead).map(|way| way.link);
                let by_definition = graph.links_out_of(place).iter().filter(|way| {
                    let there = expected[way.place as usize];
                    left != NONE
                        && there != NONE
                        && (there == 0 || graph.is_open(way.place))
                        && there + way.cost() == left
                });
                assert!(leads.eq(by_definition.map(|way| way.link)), "{target:?} from {place}, seed {seed}");
            }
        }
    }
    assert!(closed > 200 && grouped > 200, "{closed} closed places, {grouped} groups");
}

#[test]
fn sets_of_links_lead_where_looking_at_each_link_does() {
    for seed in 0..200 {
        let fabric = random(seed);
        let (with, mut without) = (Graph::new(&fabric).unwrap(), Graph::new(&fabric).unwrap());
        assert_eq!(with.width, Width::Narrow);
        without.width = Width::None;
        for (target, _) in targets(&with) {
            // The second time sets are stored.
            for (from, pick) in (0..with.places()).flat_map(|from| [(from, 0), (from, 1), (from, 1)]) {
                let walk = |graph: &Graph| {
                    let (mut links, mut choices) = (Vec::new(), Vec::new());
                    let draw = |of: u32| {
                        choices.push(of);
                        pick.min(of - 1)
                    };
                    let end = graph.walk(from, target, draw, |link| links.push(link));
                    (end, links, choices)
                };
                assert_eq!(walk(&with), walk(&without), "{target:?} from {from}, seed {seed}");
            }
        }
    }
}

#[test]
fn nothing_is_kept_for_or_by_nodes_that_no_message_crosses() {
    let fabric = two_planes();
    let graph = Graph::new(&fabric).unwrap();
    let closed: Vec<u32> = (0..graph.places()).filter(|&place| !graph.is_open(place)).collect();
    assert_eq!(closed.len() as u32, fabric.nodes());
    for &target in &closed {
        for &from in &closed {
            graph.walk(from, Target::Place(target), |_| 0, |_| {}).unwrap();
        }
    }
    assert!(closed.iter().all(|&place| graph.to_place[place as usize].get().is_none()));
    let kept = graph.to_place.iter().filter_map(|field| field.get());
    assert!(kept.clone().count() > 0);
    assert!(kept.into_iter().all(|field| field.distances.len() as u32 == fabric.switches()));
}
