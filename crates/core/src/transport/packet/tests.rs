//! Tests with random loads on random fabrics: every packet arrives once, buffers are empty again, models
//! agree where they must.

use proptest::prelude::*;

use super::*;
use crate::diagnostic::Sources;
use crate::fabric::{FabricBuilder, Grid, Irregular, LinkRole};
use crate::ids::{MessageId, NodeId, RankId, VertexId};
use crate::routing::{RoutingSpec, StartingMessage};
use crate::topology::TopologySpec;
use crate::transport::{Channel, EntryOptions};
use crate::units::{Bandwidth, Bytes};

/// Source, destination, bytes, start [ps].
pub(super) type Message = (u32, u32, u64, f64);

pub(super) fn fabric(topology: &str) -> Arc<Fabric> {
    let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
    Arc::new(spec.build(&mut Sources::default()).unwrap())
}

/// Returns the rule, if it fits the fabric.
pub(super) fn rule(text: &str, fabric: &Arc<Fabric>) -> Option<Arc<dyn Router>> {
    let spec: RoutingSpec = crate::reading::from_toml(text).unwrap();
    spec.build(fabric, 1).ok()
}

/// Creates nodes on the switches of a random tree: the k-th switch hangs on one of those before it.
pub(super) fn tree(parents: &[u32], nodes_each: u32, latency: Time) -> Arc<Fabric> {
    let switches = parents.len() as u32 + 1;
    let nodes = switches * nodes_each;
    let mut builder = FabricBuilder::new("tree", nodes, switches);
    let mut cable = |a: VertexId, b: VertexId, capacity: f64| {
        for (from, to) in [(a, b), (b, a)] {
            let capacity = Bandwidth::from_bytes_per_second(capacity);
            builder.link(from, to, capacity, latency, LinkRole::Network { tier: 0 });
        }
    };
    for node in 0..nodes {
        cable(VertexId(node), VertexId(nodes + node / nodes_each), 1e9);
    }
    for (i, &parent) in parents.iter().enumerate() {
        let (below, above) = (i as u32 + 1, parent % (i as u32 + 1));
        // These capacities do not divide each other.
        cable(VertexId(nodes + below), VertexId(nodes + above), [1e9, 3e9, 7e8][i % 3]);
    }
    Arc::new(builder.finish(Irregular))
}

fn usual_routes(fabric: &Arc<Fabric>) -> Arc<dyn Router> {
    RoutingSpec::default_for(fabric).build(fabric, 1).unwrap()
}

pub(super) fn spec(text: &str) -> PacketSpec {
    let spec: PacketSpec = crate::reading::from_toml(text).unwrap();
    assert!(spec.check().is_empty(), "{text}");
    spec
}

/// Result of a played load.
pub(super) struct Played {
    /// By message: its arrival time.
    pub(super) arrivals: Vec<Option<Time>>,
    /// By message: the time that it would have taken alone.
    alone: Vec<Time>,
    /// Packets times links.
    hops: u64,
    pub(super) packets: Packets,
    /// By message, if packets ask: the links that they crossed.
    pub(super) ways: Vec<Path>,
}

/// Plays messages in order of their starts; no message goes to its own node.
pub(super) fn play(fabric: &Fabric, router: &Arc<dyn Router>, spec: &PacketSpec, messages: &[Message]) -> Played {
    play_on(Packets::new(fabric, router, spec, false), fabric, router, spec, messages)
}

/// Plays messages on an existing network.
pub(super) fn play_on(
    mut packets: Packets,
    fabric: &Fabric,
    router: &Arc<dyn Router>,
    spec: &PacketSpec,
    messages: &[Message],
) -> Played {
    assert!(fabric.nodes() > 0);
    let mut arrivals = vec![None; messages.len()];
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by(|&a, &b| messages[a].3.total_cmp(&messages[b].3));
    let mut waiting = order.into_iter().peekable();
    let (mut alone, mut hops) = (vec![Time::ZERO; messages.len()], 0);
    let mut ways = vec![Path::default(); messages.len()];
    let mut found = Vec::new();
    loop {
        let horizon = waiting.peek().map_or(Time::NEVER, |&i| Time::from_ps(messages[i].3));
        let next = packets.next_arrival(horizon);
        if next < Time::NEVER {
            packets.arrived(next, &mut found);
            for flow in found.drain(..) {
                let before = arrivals[flow.0 as usize].replace(next);
                assert_eq!(before, None, "message {flow} arrives twice");
                packets.way(flow, messages[flow.0 as usize].2, &mut ways[flow.0 as usize]);
            }
            continue;
        }
        let Some(i) = waiting.next() else { break };
        let (src, dst, bytes, _) = messages[i];
        let mut route = Vec::new();
        router.route(NodeId(src), NodeId(dst), &mut route);
        alone[i] = packets.alone(&route, bytes).unwrap();
        hops += bytes.div_ceil(spec.packet_size.0) * route.len() as u64;
        let message = MessageId { src: RankId(src), index: i as u32 };
        let asks = packets.wants().to_ask.then_some(StartingMessage { src: NodeId(src), dst: NodeId(dst), message });
        if asks.is_some() {
            route.clear();
        }
        packets.start(&Entry {
            options: &EntryOptions { asks, ..EntryOptions::NONE },
            ..Entry::new(FlowId(i as u32), &route, bytes)
        });
        packets.settle(horizon);
    }
    Played { arrivals, alone, hops, packets, ways }
}

impl Played {
    /// Asserts that every message has arrived, and nothing is left.
    pub(super) fn check_arrived(&self, what: &str) {
        assert_eq!(self.packets.gridlock(), None, "{what}");
        assert!(self.arrivals.iter().all(Option::is_some), "{what}");
        match &self.packets.switches {
            Switches::Iq(model) => model.assert_empty(),
            Switches::IqAsks(model) => model.assert_empty(),
            _ => {}
        }
        if let Some(asking) = &self.packets.net.asking {
            asking.assert_idle();
        }
    }

    /// Asserts that every packet has crossed every link of its route once, no message was faster than alone,
    /// and nothing is left.
    fn check(&self, messages: &[Message], fabric: &Fabric) {
        assert_eq!(self.packets.gridlock(), None);
        for (i, arrival) in self.arrivals.iter().enumerate() {
            let took = arrival.expect("every message arrives").ps() - messages[i].3;
            assert!(
                took >= self.alone[i].ps() * (1.0 - 1e-12) - 1.0,
                "message {i}: {took} ps, alone {}",
                self.alone[i].ps()
            );
        }
        assert_eq!(self.packets.facts().packet_hops, Some(self.hops));
        self.check_arrived("");
        let ports = self.packets.facts().ports.unwrap();
        assert_eq!(ports.len(), fabric.links().len());
        let end = self.arrivals.iter().flatten().max().unwrap();
        for port in ports.iter() {
            assert!(port.busy + port.blocked <= *end + Time::from_ps(1.0), "{port:?}");
            assert!(port.queue_time <= f64::from(port.peak_queue) * end.ps() * (1.0 + 1e-12), "{port:?}");
        }
    }
}

/// Generates messages among `nodes` nodes, each to another node.
pub(super) fn loads(nodes: u32) -> impl Strategy<Value = Vec<Message>> {
    let message = (0..nodes, 1..nodes, 1u64..9_000, 0u32..6_000_000);
    proptest::collection::vec(message, 1..60).prop_map(move |list| {
        let one = |(src, far, bytes, start): (u32, u32, u64, u32)| {
            // Some messages start together, some at odd times.
            let start = if start % 3 == 0 { 0.0 } else { f64::from(start) + 0.25 };
            (src, (src + far) % nodes, bytes, start)
        };
        list.into_iter().map(one).collect()
    })
}

/// All models, and all forms of the input-queued one that cannot deadlock on a torus.
pub(super) const MODELS: [&str; 13] = [
    "model = \"oq\"",
    "model = \"fq\"",
    "model = \"fq\"\nbuffer = 1\npacket-size = \"400 B\"",
    "model = \"fq\"\nbuffer = \"unlimited\"",
    "model = \"iq\"",
    "model = \"iq\"\nbuffer = 2",
    "model = \"iq\"\nbuffer = 1\ndeadlock-avoidance = \"dateline\"",
    "model = \"iq\"\nbuffer = 1\ndeadlock-avoidance = \"turn\"",
    "model = \"iq\"\nbuffer = 3\narbitration = \"arrival-order\"\nqueues = \"virtual-output\"",
    "model = \"iq\"\nbuffer = 3\narbitration = \"oldest-first\"\ndeadlock-avoidance = \"dateline\"",
    "model = \"iq\"\nbuffer = 2\nhead-latency = \"50 ns\"\npacket-size = \"256 B\"",
    "model = \"iq\"\nbuffer = 2\nhead-latency = \"5 us\"\ndeadlock-avoidance = \"dateline\"\nqueues = \"virtual-output\"",
    "model = \"iq\"\nbuffer = \"unlimited\"\ndeadlock-avoidance = \"none\"",
];

const TORI: [&str; 5] = [
    "torus = { dims = [4, 3], bandwidth = \"1 GB/s\" }",
    "torus = { dims = [5], bandwidth = \"1 GB/s\", host-link = false }",
    "torus = { dims = [3, 2, 3], bandwidth = [\"1 GB/s\", \"3 GB/s\", \"0.7 GB/s\"], latency = \"130 ns\" }",
    "torus = { dims = [6, 4], bandwidth = \"1 GB/s\", host-link = false, latency = \"2.1 us\" }",
    "mesh = { dims = [4, 4], bandwidth = \"1 GB/s\", host-bandwidth = \"2 GB/s\" }",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn on_tori_every_packet_arrives_once_and_buffers_are_empty_again(
        torus in 0..TORI.len(),
        model in 0..MODELS.len(),
        seed in loads(1000),
    ) {
        let fabric = fabric(TORI[torus]);
        let messages = folded(&seed, fabric.nodes());
        let spec = spec(MODELS[model]);
        let played = play(&fabric, &usual_routes(&fabric), &spec, &messages);
        played.check(&messages, &fabric);
    }

    #[test]
    fn on_trees_nothing_ever_deadlocks(
        parents in proptest::collection::vec(0u32..100, 1..6),
        latency in 0u32..2,
        model in 0..MODELS.len(),
        seed in loads(1000),
    ) {
        let fabric = tree(&parents, 2, Time::from_ps(f64::from(latency) * 333_000.0));
        let messages = folded(&seed, fabric.nodes());
        let spec = spec(MODELS[model]);
        let played = play(&fabric, &usual_routes(&fabric), &spec, &messages);
        played.check(&messages, &fabric);
    }

    #[test]
    fn unlimited_virtual_output_queues_served_by_arrival_are_output_queues(
        torus in 0..TORI.len(),
        seed in loads(1000),
    ) {
        let fabric = fabric(TORI[torus]);
        let router = usual_routes(&fabric);
        let messages = folded(&seed, fabric.nodes());
        let output = play(&fabric, &router, &spec("model = \"oq\""), &messages);
        let text = "model = \"iq\"\nbuffer = \"unlimited\"\nqueues = \"virtual-output\"\narbitration = \"arrival-order\"";
        let input = play(&fabric, &router, &spec(text), &messages);
        prop_assert_eq!(output.arrivals, input.arrivals);
    }

    #[test]
    fn a_message_alone_takes_what_the_closed_form_says(
        parents in proptest::collection::vec(0u32..100, 1..6),
        latency in 0u32..2,
        (from, far, bytes) in (0u32..100, 1u32..100, 1u64..20_000),
        model in 0..MODELS.len(),
    ) {
        let fabric = tree(&parents, 1, Time::from_ps(f64::from(latency) * 333_000.0));
        let nodes = fabric.nodes();
        let src = from % nodes;
        let messages = [(src, (src + 1 + far % (nodes - 1)) % nodes, bytes, 0.0)];
        let spec = spec(MODELS[model]);
        let played = play(&fabric, &usual_routes(&fabric), &spec, &messages);
        let (took, alone) = (played.arrivals[0].unwrap(), played.alone[0]);
        // If few packets fit in a buffer, those of one message may wait for each other's room.
        if matches!(spec.buffer(), Buffer::Packets(1..=3)) {
            prop_assert!(took >= alone);
        } else {
            prop_assert_eq!(took, alone);
        }
    }
}

/// Folds a load onto fewer nodes; messages to their own node are left out.
pub(super) fn folded(messages: &[Message], nodes: u32) -> Vec<Message> {
    let fold = |&(src, dst, bytes, start): &Message| (src % nodes, dst % nodes, bytes, start);
    let mut list: Vec<Message> = messages.iter().map(fold).filter(|(src, dst, ..)| src != dst).collect();
    if list.is_empty() {
        list.push((0, 1, 1, 0.0));
    }
    list
}

/// All nodes of a ring send three hops on at once. With one buffer each and no avoidance, all buffers are
/// full of packets that wait for the next one.
#[test]
fn a_ring_without_bubble_or_dateline_deadlocks_and_names_the_circle() {
    let fabric = fabric("torus = { dims = [7], bandwidth = \"1 GB/s\", host-link = false }");
    let messages: Vec<Message> = (0..7).map(|src| (src, (src + 3) % 7, 30_000, 0.0)).collect();
    let bare = spec("model = \"iq\"\nbuffer = 1\ndeadlock-avoidance = \"none\"");
    let played = play(&fabric, &usual_routes(&fabric), &bare, &messages);
    assert!(played.arrivals.iter().all(Option::is_none));
    let gridlock = played.packets.gridlock().expect("a deadlock");
    assert_eq!(gridlock.packets, 14, "seven packets in buffers and seven messages at their sources");
    let mut links: Vec<u32> = gridlock.cycle.iter().map(|channel| channel.link.0).collect();
    links.sort_unstable();
    let mut ring: Vec<u32> = (0..7).map(|x| fabric.family_as::<Grid>().unwrap().step(x, 0, false).unwrap().0).collect();
    ring.sort_unstable();
    assert_eq!(links, ring, "the circle is the ring");
    assert!(gridlock.cycle.iter().all(|Channel { lane, .. }| *lane == 0));

    for avoidance in ["buffer = 2", "buffer = 1\ndeadlock-avoidance = \"dateline\""] {
        let text = format!("model = \"iq\"\n{avoidance}");
        let spec = spec(&text);
        play(&fabric, &usual_routes(&fabric), &spec, &messages).check(&messages, &fabric);
    }
}

/// 13 packets of 1,500 B and one of 500 B over h links, including host links, take `20 + 1.5 (h - 1)` us.
#[test]
fn a_message_alone_is_stored_and_forwarded() {
    let fabric = fabric("torus = { dims = [8, 8], bandwidth = \"1 GB/s\" }");
    let router = usual_routes(&fabric);
    for (dst, hops) in [(1, 3), (2, 4), (9, 4), (36, 10)] {
        for model in ["oq", "iq", "fq"] {
            let spec = spec(&format!("model = \"{model}\""));
            let played = play(&fabric, &router, &spec, &[(0, dst, 20_000, 0.0)]);
            let expected = Time::from_ps(20e6 + 1.5e6 * f64::from(hops - 1));
            assert_eq!(played.arrivals, [Some(expected)], "{model}, {hops} links");
        }
    }
}

/// A packet of 1,500 B, cut through with a head of 50 ns, takes `1.5 + 0.05 (h - 1)` us.
#[test]
fn cut_through_saves_the_packet_time_at_each_hop() {
    let fabric = fabric("torus = { dims = [8, 8], bandwidth = \"1 GB/s\" }");
    let spec = spec("model = \"iq\"\nhead-latency = \"50 ns\"");
    let played = play(&fabric, &usual_routes(&fabric), &spec, &[(0, 36, 1500, 0.0)]);
    assert_eq!(played.arrivals, [Some(Time::from_ps(1.95e6))]);
}

#[test]
fn two_messages_that_share_a_link_take_turns_in_fair_queues_and_not_in_output_queues() {
    // Nodes 0 and 1 send to node 2 of a crossbar; the second starts when half of the first is through.
    let fabric = fabric("crossbar = { nodes = 3, bandwidth = \"1 GB/s\" }");
    let messages = [(0, 2, 30_000, 0.0), (1, 2, 15_000, 15e6)];
    let end = |model: &str| -> Vec<f64> {
        let played = play(&fabric, &usual_routes(&fabric), &spec(&format!("model = \"{model}\"")), &messages);
        played.arrivals.iter().map(|arrival| arrival.unwrap().ps() / 1e6).collect()
    };
    // The last packet of either message leaves at 46.5 us: 1.5 us behind the first, then 45,000 B.
    for model in ["oq", "fq"] {
        assert_eq!(end(model).into_iter().fold(0.0, f64::max), 46.5, "{model}");
    }
    let fair = end("fq");
    assert!((fair[0] - fair[1]).abs() <= 1.5, "both have half of the link from 16.5 us on: {fair:?}");
}

/// A link of one byte a second takes more than 64 bits of its ticks.
#[test]
fn times_that_cannot_be_counted_end_a_run_and_are_no_circle() {
    let fabric = fabric("crossbar = { nodes = 2, bandwidth = \"1 B/s\" }");
    let messages = [(0, 1, 100_000_000_000, 0.0)];
    let spec = PacketSpec { packet_size: Bytes(1 << 24).into(), ..PacketSpec::default() };
    let played = play(&fabric, &usual_routes(&fabric), &spec, &messages);
    assert_eq!(played.arrivals, [None]);
    let gridlock = played.packets.gridlock().expect("it does not arrive");
    assert!(gridlock.packets > 0 && gridlock.cycle.is_empty(), "{gridlock:?}");
}

#[test]
fn packets_of_a_gigabyte_and_of_a_byte_are_counted_right() {
    let fabric = fabric("crossbar = { nodes = 2, bandwidth = \"1 GB/s\" }");
    let router = usual_routes(&fabric);
    for (size, bytes, hops) in [(1u64 << 30, 5_000_000_000u64, 10), (1, 7, 14)] {
        let spec = PacketSpec { packet_size: Bytes(size).into(), ..PacketSpec::default() };
        assert!(spec.check().is_empty());
        let played = play(&fabric, &router, &spec, &[(0, 1, bytes, 0.0)]);
        assert_eq!(played.packets.facts().packet_hops, Some(hops));
        assert_eq!(played.arrivals, [Some(played.alone[0])]);
    }
}

/// With whole packets, buffers in packets and no latency, messages and packets k times as large take k times as long.
#[test]
fn messages_and_packets_that_are_larger_take_as_much_longer() {
    let fabric = fabric("torus = { dims = [4, 4], bandwidth = \"1 GB/s\" }");
    let routes = usual_routes(&fabric);
    for avoidance in ["dateline", "turn", "local-bubble"] {
        let times = |factor: u64| {
            let size = 1000 * factor;
            let text =
                format!("model = \"iq\"\nbuffer = 2\ndeadlock-avoidance = \"{avoidance}\"\npacket-size = \"{size} B\"");
            let message = |i: u32| (i % 16, (i * 5 + 3) % 16, 7500 * factor, 0.0);
            let messages: Vec<Message> = (0..48).map(message).filter(|(src, dst, ..)| src != dst).collect();
            let ends = play(&fabric, &routes, &spec(&text), &messages).arrivals;
            ends.into_iter().map(|end| end.unwrap().ps() / factor as f64).collect::<Vec<_>>()
        };
        assert_eq!(times(1), times(40), "{avoidance}");
    }
}

#[test]
fn packets_per_message_are_of_the_mean_message_and_buffers_hold_few() {
    let known = |text: &str, mean| {
        let spec = spec(text).for_messages_of(mean);
        (spec.packet_size.0, spec.buffer())
    };
    let iq = "model = \"iq\"\npackets-per-message = 7";
    assert_eq!(known(iq, 1_000_000), (142_858, Buffer::Packets(2)));
    assert_eq!(known(&format!("{iq}\ndeadlock-avoidance = \"local-bubble\""), 700), (100, Buffer::Packets(4)));
    assert_eq!(known(&format!("{iq}\ndeadlock-avoidance = \"turn\""), 700), (100, Buffer::Packets(2)));
    assert_eq!(known(&format!("{iq}\nbuffer = 9"), 3), (1, Buffer::Packets(9)));
    // A packet has a largest size, and an unknown mean leaves it unchanged.
    assert_eq!(known(iq, u64::MAX).0, 1 << 30);
    assert_eq!(known(iq, 0), (1500, Buffer::Packets(8)));
    assert_eq!(known("model = \"oq\"\npackets-per-message = 4", 4000), (1000, Buffer::Unlimited));
    for (text, wanted) in [
        ("packets-per-message = 0", "no packets"),
        ("packets-per-message = 7\npacket-size = \"4 KiB\"", "both"),
        ("packets-per-message = 7\npacket-size = \"1500 B\"", "both"),
        ("model = \"iq\"\npackets-per-message = 7\nhead-latency = \"1 us\"", "go on before"),
    ] {
        let mistakes = crate::reading::from_toml::<PacketSpec>(text).unwrap().check();
        assert!(mistakes.len() == 1 && mistakes[0].message.contains(wanted), "{text}: {mistakes:?}");
    }
}
