//! Tests of flows on several paths and with terms of their own, against plain flows.

use std::sync::Arc;

use super::played::arrivals;
use super::*;
use crate::diagnostic::Sources;
use crate::fabric::Fabric;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::rng::Stream;
use crate::routing::RoutingSpec;
use crate::sharing::EqualShareSpec;
use crate::topology::TopologySpec;
use crate::transport::{Entry, EntryOptions, Transport};
use crate::units::{Bytes, Time};

fn network(topology: &str) -> (Arc<Fabric>, Arc<dyn Router>) {
    let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
    let fabric = Arc::new(spec.build(&mut Sources::default()).unwrap());
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    (fabric, router)
}

/// Message: its start \[ps\], its route, and its bytes.
type Start = (f64, Vec<LinkId>, u64);

/// Plays messages; returns the arrival time of each \[ps\]. `start` starts one.
fn play<T: Transport>(by: &mut T, starts: &[Start], start: impl Fn(&mut T, FlowId, &[LinkId], u64)) -> Vec<f64> {
    arrivals(by, starts, |message| message.0, |by, flow, (_, route, bytes)| start(by, flow, route, *bytes))
}

fn random_starts(fabric: &Fabric, router: &dyn Router, count: u32) -> Vec<Start> {
    let mut random = Stream::new(u64::from(count), "starts");
    let nodes = u64::from(fabric.nodes());
    let mut now = 0.0;
    let mut starts = Vec::new();
    for _ in 0..count {
        now += if random.below(4) == 0 { 0.0 } else { random.unit() * 2e7 / nodes as f64 };
        let from = random.below(nodes);
        let to = (from + 1 + random.below(nodes - 1)) % nodes;
        let mut route = Vec::new();
        router.route(NodeId(from as u32), NodeId(to as u32), &mut route);
        starts.push((now, route, 1 + random.below(20_000)));
    }
    starts
}

const TREE: &str =
    "fat-tree = { down = [4, 4, 2], up = [1, 2, 2], bandwidth = [\"2 GB/s\", \"1 GB/s\", \"1.5 GB/s\"] }";
const TORUS: &str = "torus = { dims = [5, 4], bandwidth = [\"1 GB/s\", \"3 GB/s\"], host-bandwidth = \"1.3 GB/s\" }";

#[test]
fn one_path_and_terms_that_hold_nothing_back_are_plain_flows() {
    for sharing in [SharingSpec::default(), SharingSpec::EqualShare(EqualShareSpec {})] {
        for topology in [TREE, TORUS] {
            let (fabric, router) = network(topology);
            let starts = random_starts(&fabric, &*router, 600);
            let plain = play(&mut Flows::new(&fabric, &*router, &sharing, false), &starts, |by, flow, route, bytes| {
                by.start(&Entry::new(flow, route, bytes));
            });
            let mut by_parts = Flows::split(&fabric, &*router, &sharing, false).unwrap();
            let by_parts = play(&mut by_parts, &starts, |by, flow, route, bytes| {
                let parts = vec![1.0; route.len()];
                by.start(&Entry {
                    options: &EntryOptions { parts: &parts, ..EntryOptions::NONE },
                    ..Entry::new(flow, route, bytes)
                });
            });
            let spec = FlowSpec { window: Some(Bytes(1 << 50).into()), ..FlowSpec::default() };
            let mut on_terms = FlowsOnTerms::new(&fabric, &*router, &spec, &sharing).unwrap();
            let on_terms = play(&mut on_terms, &starts, |by, flow, route, bytes| {
                by.start(&Entry::new(flow, route, bytes));
            });
            for (message, expected) in plain.into_iter().enumerate() {
                for arrival in [by_parts[message], on_terms[message]] {
                    assert!((arrival - expected).abs() <= 1e-9 * expected, "{message}: {arrival}, {expected} ps");
                }
            }
        }
    }
}

#[test]
fn a_message_on_two_paths_meets_half_of_the_others() {
    let (fabric, router) = network(TREE);
    // Links 0 and 1 carry half of message 0 each, and link 1 all of message 1: 1/2 x + x = 2 GB/s, then 1/2 x = 2 GB/s.
    let route = |links: &[u32]| links.iter().map(|&link| LinkId(link)).collect::<Vec<_>>();
    let starts = [(0.0, route(&[0, 1]), 4_000_000), (0.0, route(&[1]), 4_000_000)];
    let mut flows = Flows::split(&fabric, &*router, &SharingSpec::default(), false).unwrap();
    let arrivals = play(&mut flows, &starts, |by, flow, links, bytes| {
        let parts = vec![1.0 / links.len() as f64; links.len()];
        by.start(&Entry {
            options: &EntryOptions { parts: &parts, ..EntryOptions::NONE },
            ..Entry::new(flow, links, bytes)
        });
    });
    let third = 4e6 / (4.0 / 3.0 * 1e9) * 1e12;
    assert!((arrivals[0] - third).abs() < 1e-9 * third && (arrivals[1] - third).abs() < 1e-9 * third, "{arrivals:?}");
}

#[test]
fn acknowledgements_take_their_part_on_the_way_back() {
    let (fabric, router) = network("crossbar = { nodes = 2, bandwidth = \"1 GB/s\" }");
    let spec = FlowSpec { cross_traffic: 0.25.into(), ..FlowSpec::default() };
    let mut flows = FlowsOnTerms::new(&fabric, &*router, &spec, &SharingSpec::default()).unwrap();
    let (mut there, mut back) = (Vec::new(), Vec::new());
    router.route(NodeId(0), NodeId(1), &mut there);
    router.route(NodeId(1), NodeId(0), &mut back);
    assert!(flows.wants().ways_back);
    let options = EntryOptions { way_back: &back, ..EntryOptions::NONE };
    flows.start(&Entry { options: &options, ..Entry::new(FlowId(0), &there, 1_000_000) });
    flows.settle(Time::ZERO);
    assert_eq!(flows.rate(FlowId(0)), 1e9);
    let options = EntryOptions { way_back: &there, ..EntryOptions::NONE };
    flows.start(&Entry { options: &options, ..Entry::new(FlowId(1), &back, 1_000_000) });
    flows.settle(Time::ZERO);
    // x + x / 4 = 1 GB/s on each link.
    assert!((flows.rate(FlowId(0)) - 8e8).abs() < 1e-3 && (flows.rate(FlowId(1)) - 8e8).abs() < 1e-3);
}
