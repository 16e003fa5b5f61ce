//! Tests of flows under `blocking` on fabrics: renewal, latency, faults, and closed forms.

use std::sync::Arc;

use super::played::{Start, play};
use super::*;
use crate::diagnostic::Sources;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::rng::Stream;
use crate::routing::RoutingSpec;
use crate::sharing::{BlockingChannels, BlockingSpec};
use crate::topology::TopologySpec;
use crate::transport::{Entry, Transport};
use crate::units::{Bandwidth, Bytes, Time};

fn network(topology: &str) -> (Arc<Fabric>, Arc<dyn Router>) {
    let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
    let fabric = Arc::new(spec.build(&mut Sources::default()).unwrap());
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    (fabric, router)
}

fn route(router: &dyn Router, from: u32, to: u32) -> Vec<LinkId> {
    let mut route = Vec::new();
    router.route(NodeId(from), NodeId(to), &mut route);
    route
}

const TORUS: &str = "torus = { dims = [5, 4], bandwidth = '1 GB/s' }";
const DRAGONFLY: &str = "dragonfly = { p = 2, a = 4, h = 2, bandwidth = '1 GB/s' }";
const TREE: &str = "fat-tree = { down = [4, 4], up = [1, 2], bandwidth = '1 GB/s' }";

fn exact() -> BlockingSpec {
    BlockingSpec {
        tolerance: 1e-6.into(),
        renewal: 0.0.into(),
        packet_size: Bytes(0).into(),
        ..BlockingSpec::default()
    }
}

/// Returns the arrival times of messages between these pairs that start at once \[us\].
fn arrivals(topology: &str, spec: &BlockingSpec, pairs: &[(u32, u32, u64)]) -> Vec<f64> {
    let (fabric, router) = network(topology);
    let starts: Vec<Start> = pairs.iter().map(|&(from, to, bytes)| (0.0, from, to, bytes)).collect();
    let ends = play(&*router, &starts, &mut BlockingFlows::new(&fabric, &*router, spec));
    ends.into_iter().map(|end| end / 1e6).collect()
}

#[test]
fn a_message_alone_takes_its_bytes_over_its_narrowest_link_on_any_fabric() {
    for topology in [TORUS, DRAGONFLY, TREE] {
        for channels in
            [None, Some(BlockingChannels::Turn), Some(BlockingChannels::Bubble), Some(BlockingChannels::Voq)]
        {
            let nodes = network(topology).0.nodes();
            let spec = BlockingSpec { channels, ..exact() };
            let ends = arrivals(topology, &spec, &[(0, nodes - 1, 1_000_000)]);
            assert!((ends[0] - 1000.0).abs() < 1e-6, "{topology} {channels:?}: {ends:?}");
        }
    }
}

#[test]
fn an_incast_shares_the_last_link() {
    for channels in [None, Some(BlockingChannels::Voq)] {
        let spec = BlockingSpec { channels, ..exact() };
        let pairs: Vec<_> = (1..16).map(|from| (from, 0, 1_000_000)).collect();
        let ends = arrivals(TREE, &spec, &pairs);
        let last = ends.iter().copied().fold(0.0, f64::max);
        // Nothing is lost on the way: the link into the node is never idle.
        assert!((last - 15_000.0).abs() < 0.1, "{ends:?}");
        // Three neighbours and one input from the spine at the switch take turns: a quarter each, while they
        // last.
        assert!((ends[0] - 4000.0).abs() < 0.1, "{ends:?}");
    }
}

#[test]
fn a_packet_is_stored_and_forwarded_before_the_rest_follows() {
    let spec = BlockingSpec { packet_size: Bytes(1500).into(), ..exact() };
    let (fabric, router) = network(TORUS);
    let way = route(&*router, 0, 7);
    let expected = 20.0 + 1.5 * (way.len() - 1) as f64;
    let ends = arrivals(TORUS, &spec, &[(0, 7, 20_000)]);
    assert!((ends[0] - expected).abs() < 1e-6, "{ends:?}, not {expected}");
    let alone = BlockingFlows::new(&fabric, &*router, &spec).alone(&way, 20_000).unwrap();
    assert!((alone.ps() / 1e6 - expected).abs() < 1e-6);
}

/// Until rates are renewed, no message is faster than its narrowest link, and the bytes that have crossed a
/// link have taken at least their time at its capacity.
#[test]
fn no_message_arrives_before_its_links_can_have_carried_it() {
    const UNEQUAL: &str = "fat-tree = { down = [4, 4], up = [1, 1], bandwidth = ['10 GB/s', '1 GB/s'] }";
    let mut random = Stream::new(1, "messages");
    let mut later = 0;
    for topology in [TORUS, DRAGONFLY, TREE, UNEQUAL] {
        let (fabric, router) = network(topology);
        let capacities = fabric.shared_capacities();
        for channels in [BlockingChannels::Dateline, BlockingChannels::Bubble, BlockingChannels::Voq] {
            for renewal in [0.0, 0.2, 1.0, 10.0] {
                let spec =
                    BlockingSpec { channels: Some(channels), renewal: renewal.into(), ..BlockingSpec::default() };
                let mut at = 0.0;
                let starts: Vec<Start> = (0..200)
                    .map(|_| {
                        at += random.unit() * 1e8;
                        let from = random.below(u64::from(fabric.nodes())) as u32;
                        let to = (from + 1 + random.below(u64::from(fabric.nodes()) - 1) as u32) % fabric.nodes();
                        (at, from, to, [10_000, 1_000_000][random.below(2) as usize])
                    })
                    .collect();
                let ends = play(&*router, &starts, &mut BlockingFlows::new(&fabric, &*router, &spec));
                let mut over: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); capacities.len()];
                for (&(start, from, to, bytes), &end) in starts.iter().zip(&ends) {
                    let links = route(&*router, from, to);
                    let ps = |link: &LinkId| bytes as f64 / capacities[link.0 as usize] * 1e12;
                    let alone = links.iter().map(ps).fold(0.0, f64::max);
                    assert!(
                        end - start >= alone * (1.0 - 1e-9),
                        "{topology}, renewal {renewal}: {start} to {end}, {alone}"
                    );
                    later += u32::from(end - start > 1.01 * alone);
                    links.iter().for_each(|link| over[link.0 as usize].push((end, start, ps(link))));
                }
                for messages in &mut over {
                    messages.sort_by(|a, b| a.0.total_cmp(&b.0));
                    let first = messages.iter().map(|message| message.1).fold(f64::INFINITY, f64::min);
                    let mut carried = 0.0;
                    for &(end, _, time) in &*messages {
                        carried += time;
                        assert!(
                            end - first >= carried * (1.0 - 1e-9),
                            "{topology}, renewal {renewal}: {carried} by {end}"
                        );
                    }
                }
            }
        }
    }
    assert!(later > 1000, "{later} messages met others");
}

/// Messages of one node leave it one after the other, as they are posted: traffic that the second meets does
/// not hold up the first.
#[test]
fn messages_of_one_node_leave_in_the_order_in_which_they_are_posted() {
    const CROSSBAR: &str = "crossbar = { nodes = 7, bandwidth = '1 GB/s' }";
    let near = |found: &[f64], wanted: [f64; 3]| found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.1);
    for channels in [None, Some(BlockingChannels::Voq)] {
        let spec = BlockingSpec { channels, ..exact() };
        let ends = arrivals(TREE, &spec, &[(0, 5, 1_000_000), (0, 9, 500_000)]);
        assert!((ends[0] - 1000.0).abs() < 1e-3 && (ends[1] - 1500.0).abs() < 1e-3, "{ends:?}");
        // The target of the second is busy with three other messages, 30 ms of data each; then the target of
        // the first, too.
        let mut pairs = vec![(0, 1, 10_000_000), (0, 2, 10_000_000)];
        pairs.extend([3, 4, 5].map(|from| (from, 2, 30_000_000)));
        let [alone, behind_another] = [&[][..], &[(6, 1, 10_000_000)]].map(|more| {
            let ends = arrivals(CROSSBAR, &spec, &[&pairs, more].concat());
            let last = ends.iter().copied().fold(0.0, f64::max);
            [ends[0] / 1e3, ends[1] / 1e3, last / 1e3]
        });
        assert!(near(&alone, [10.0, 50.0, 100.0]), "{alone:?}");
        // With two queues the second does not wait for the first, and shares the link and its target meanwhile.
        let ends = arrivals(CROSSBAR, &BlockingSpec { source_queues: 2.into(), ..spec.clone() }, &pairs);
        assert!((10_000.0..14_000.0).contains(&ends[0]) && (39_000.0..45_000.0).contains(&ends[1]), "{ends:?}");
        assert!(near(&behind_another, [20.0, 60.0, 100.0]), "{behind_another:?}");
    }
}

#[test]
fn what_waits_at_its_source_can_be_cancelled() {
    let (fabric, router) = network(TREE);
    for cancelled in 0..3 {
        let mut flows = BlockingFlows::new(&fabric, &*router, &exact());
        (0..3).for_each(|flow| flows.start(&Entry::new(FlowId(flow), &route(&*router, 0, 5 + flow), 1_000_000)));
        flows.settle(Time::ZERO);
        let rates = [0, 1, 2].map(|flow| flows.rate(FlowId(flow)));
        assert!((rates[0] - 1e9).abs() < 1e4 && rates[1..] == [0.0, 0.0], "{rates:?}");
        let (mut now, mut gone, mut ends) = (Time::from_seconds(1e-4), Vec::new(), Vec::new());
        flows.cancel(FlowId(cancelled));
        loop {
            flows.settle(now);
            now = flows.next_arrival(Time::NEVER);
            if !now.is_finite() {
                break;
            }
            flows.arrived(now, &mut gone);
            ends.extend(gone.drain(..).map(|flow| (flow.0, (now.ps() / 1e6).round())));
        }
        let since = if cancelled == 0 { 100.0 } else { 0.0 };
        let others: Vec<u32> = (0..3).filter(|&flow| flow != cancelled).collect();
        assert_eq!(ends, [(others[0], since + 1000.0), (others[1], since + 2000.0)], "without {cancelled}");
    }
}

/// Delayed rates change arrival times, but no message is lost, and the delay does not depend on how often the
/// transport is asked.
#[test]
fn renewal_loses_nothing_and_does_not_depend_on_who_looks() {
    let (fabric, router) = network(TORUS);
    for channels in
        [BlockingChannels::Dateline, BlockingChannels::Turn, BlockingChannels::Bubble, BlockingChannels::Voq]
    {
        let spec = BlockingSpec { channels: Some(channels), ..BlockingSpec::default() };
        let play = |looks: bool| {
            let mut flows = BlockingFlows::new(&fabric, &*router, &spec);
            let mut random = Stream::new(7, "renewal");
            let (mut sent, mut under_way, mut now, mut ends, mut gone) = (0, 0, Time::ZERO, Vec::new(), Vec::new());
            while sent < 400 || under_way > 0 {
                while under_way < 30 && sent < 400 {
                    let from = random.below(20) as u32;
                    let to = (from + 1 + random.below(19) as u32) % 20;
                    flows.start(&Entry::new(FlowId(sent), &route(&*router, from, to), 1 + random.below(1_000_000)));
                    (sent, under_way) = (sent + 1, under_way + 1);
                }
                flows.settle(now);
                if looks {
                    // Events of the engine between two of the transport's own.
                    let next = flows.next_arrival(Time::NEVER);
                    let between = Time::from_ps(0.5 * (now.ps() + next.ps()));
                    flows.arrived(between, &mut gone);
                    assert!(gone.is_empty());
                    flows.settle(between);
                }
                now = flows.next_arrival(Time::NEVER);
                assert!(now.is_finite(), "{channels:?}: {under_way} messages never arrive");
                flows.arrived(now, &mut gone);
                under_way -= gone.len();
                gone.sort_unstable();
                ends.extend(gone.drain(..).map(|flow| (flow.0, now.ps().to_bits())));
            }
            assert_eq!(ends.len(), 400);
            ends
        };
        assert_eq!(play(false), play(true), "{channels:?}");
    }
}

#[test]
fn a_link_that_carries_less_holds_up_what_shares_a_queue_with_its_messages() {
    let (fabric, router) = network(TREE);
    let mut flows = BlockingFlows::new(&fabric, &*router, &exact());
    // Two messages of a leaf go up over one link, one of them to a link that will become slow.
    let ways = [(0, 6), (2, 8)].map(|(from, to)| route(&*router, from, to));
    assert_eq!(ways[0][1], ways[1][1], "they share the link up");
    ways.iter().zip(0..).for_each(|(way, flow)| flows.start(&Entry::new(FlowId(flow), way, 1_000_000)));
    flows.settle(Time::ZERO);
    assert!((flows.rate(FlowId(1)) - 0.5e9).abs() < 1e4);
    flows.set_capacity(ways[0][ways[0].len() - 1], Bandwidth::from_bytes_per_second(0.1e9));
    flows.settle(Time::from_seconds(1e-6));
    assert!((flows.rate(FlowId(0)) - 0.1e9).abs() < 1e4, "{}", flows.rate(FlowId(0)));
    assert!((flows.rate(FlowId(1)) - 0.1e9).abs() < 1e4, "both are in the queue behind that link");
    flows.cancel(FlowId(0));
    flows.settle(Time::from_seconds(2e-6));
    assert!((flows.rate(FlowId(1)) - 1e9).abs() < 1e4, "{}", flows.rate(FlowId(1)));
}

/// A solve may never converge if queues hold each other up in a circle. The rest is not tried again at every
/// picosecond, even if rates are computed at each event.
#[test]
fn time_goes_on_where_rates_do_not_settle() {
    const NODES: u32 = 64;
    const EACH: u32 = 30;
    let (fabric, router) = network("torus = { dims = [8, 8], bandwidth = '1 GB/s' }");
    let spec = BlockingSpec { tolerance: 0.01.into(), renewal: 0.0.into(), ..BlockingSpec::default() };
    let mut flows = BlockingFlows::new(&fabric, &*router, &spec);
    let (mut now, mut gone, mut arrived) = (Time::ZERO, Vec::new(), 0);
    // Pairwise exchange: message i of a node goes to the node whose number differs in the bits of i + 1.
    let start = |flows: &mut BlockingFlows, node: u32, message: u32| {
        let way = route(&*router, node, node ^ (message + 1));
        flows.start(&Entry::new(FlowId(message * NODES + node), &way, 20_000));
    };
    (0..NODES).for_each(|node| start(&mut flows, node, 0));
    let mut instants = 0;
    while arrived < NODES * EACH {
        flows.settle(now);
        now = flows.next_arrival(Time::NEVER);
        flows.arrived(now, &mut gone);
        arrived += gone.len() as u32;
        for FlowId(flow) in gone.drain(..) {
            let (message, node) = (flow / NODES, flow % NODES);
            if message + 1 < EACH {
                start(&mut flows, node, message + 1);
            }
        }
        instants += 1;
        assert!(instants <= 2 * NODES * EACH, "{arrived} messages have arrived after {} ps", now.ps());
    }
}
