//! Tests of packets that choose their own paths: all of them arrive, at the right time, over valid paths.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::channel_tests::{FAMILIES, RULES};
use super::tests::{MODELS, Message, fabric, folded, loads, play, rule, spec, tree};
use super::*;
use crate::ids::VertexId;

#[test]
fn under_every_rule_on_every_family_all_packets_arrive_once_with_their_bytes() {
    // The model changes from combination to combination, in forms that could deadlock.
    let models = [
        "model = \"iq\"\nbuffer = 1",
        "model = \"oq\"",
        "model = \"iq\"\nbuffer = 2\nqueues = \"virtual-output\"\narbitration = \"oldest-first\"",
        "model = \"fq\"",
        "model = \"iq\"\nbuffer = 1\nhead-latency = \"50 ns\"",
    ];
    for (family, text) in FAMILIES.iter().enumerate() {
        let fabric = fabric(text);
        let nodes = fabric.nodes();
        // Each node sends to three others at once.
        let messages: Vec<Message> = (0..nodes)
            .flat_map(|src| [1, nodes / 2, nodes - 1].map(|far| (src, (src + far.max(1)) % nodes, 6_000, 0.0)))
            .collect();
        for (number, text) in RULES.iter().enumerate() {
            let Some(router) = rule(text, &fabric) else { continue };
            let mut model = models[(family + number) % models.len()].to_owned();
            if text.starts_with("dimension") {
                model = model.replace("buffer = 1", "buffer = 2");
            }
            let spec = spec(&model);
            let played = play(&fabric, &router, &spec, &messages);
            played.check_arrived(&format!("{text} on {fabric}: {model}"));
            if !played.packets.wants().to_ask {
                continue;
            }
            let mut hops = 0.0;
            for (&(src, dst, bytes, _), way) in messages.iter().zip(&played.ways) {
                check_way(&fabric, src, dst, way);
                hops += way.parts.iter().sum::<f64>() * bytes as f64 / 1500.0;
            }
            assert_eq!(played.packets.facts().packet_hops, Some(hops.round() as u64), "{text} on {fabric}");
            // A second run gives the same arrivals.
            assert_eq!(play(&fabric, &router, &spec, &messages).arrivals, played.arrivals, "{text} on {fabric}");
        }
    }
}

/// The ends of a line without switches have one link, which leads to another node: the packet's destination, or a
/// node at which it asks.
#[test]
fn packets_over_the_only_link_of_a_node_arrive_at_the_node_behind_it() {
    let fabric = fabric("mesh = { dims = [4], bandwidth = \"1 GB/s\", host-link = false }");
    let messages: Vec<Message> =
        (0..4).flat_map(|src| (1..4).map(move |far| (src, (src + far) % 4, 6_000, 0.0))).collect();
    for text in ["spray = {}", "valiant-switches = {}", "ugal-l = {}", "ugal-g = {}", "progressive = {}"] {
        let router = rule(text, &fabric).unwrap();
        for model in MODELS.into_iter().filter(|model| !model.contains("deadlock-avoidance")) {
            let spec = spec(model);
            let played = play(&fabric, &router, &spec, &messages);
            played.check_arrived(&format!("{text}: {model}"));
            for (&(src, dst, ..), way) in messages.iter().zip(&played.ways) {
                check_way(&fabric, src, dst, way);
            }
            let alone = play(&fabric, &router, &spec, &[(0, 1, 6_000, 0.0)]);
            assert_eq!(alone.arrivals, [Some(Time::from_ps(6e6))], "{text}: {model}");
        }
    }
}

/// The same loads deadlock without classes, so the test of classes means something.
#[test]
fn in_one_channel_packets_block_each_other_for_ever() {
    let bare = spec("model = \"iq\"\nbuffer = 1\ndeadlock-avoidance = \"none\"");
    let classes = spec("model = \"iq\"\nbuffer = 1");
    let mut deadlocked = std::collections::BTreeSet::new();
    for (family, text) in FAMILIES.iter().enumerate() {
        let fabric = fabric(text);
        let nodes = fabric.nodes();
        let messages: Vec<Message> = (0..nodes)
            .flat_map(|src| (1..nodes.min(6)).map(move |k| (src, (src + k * nodes / 6).max(1) % nodes, 15_000, 0.0)))
            .filter(|(src, dst, ..)| src != dst)
            .collect();
        for text in ["minimal = {}", "valiant-switches = {}", "ugal-g = {}"] {
            let router = rule(text, &fabric).unwrap();
            let played = play(&fabric, &router, &bare, &messages);
            if played.packets.gridlock().is_some_and(|gridlock| !gridlock.cycle.is_empty()) {
                deadlocked.insert((family, text));
                play(&fabric, &router, &classes, &messages).check_arrived(text);
            }
        }
    }
    // Dragonfly, slim fly, hyperx, torus; under detours all but a crossbar.
    let deadlocks = |family: usize| deadlocked.iter().any(|(known, _)| *known == family);
    assert!([0, 4, 7, 15].into_iter().all(deadlocks) && !deadlocks(20), "{deadlocked:?}");
    // Shortest paths on fat-trees form no circles.
    assert!([13, 14].iter().all(|&family| !deadlocked.contains(&(family, "minimal = {}"))), "{deadlocked:?}");
}

/// Asserts that everything that leaves the source comes to the destination, and nothing is lost on the way.
#[track_caller]
fn check_way(fabric: &Fabric, src: u32, dst: u32, way: &Path) {
    let mut balance: BTreeMap<VertexId, f64> = BTreeMap::from([(VertexId(src), -1.0), (VertexId(dst), 1.0)]);
    for (&link, &part) in way.links.iter().zip(&way.parts) {
        let (from, to) = fabric.link(link).ends.unwrap();
        *balance.entry(from).or_default() += part;
        *balance.entry(to).or_default() -= part;
    }
    assert!(balance.values().all(|left| left.abs() < 1e-9), "{src} to {dst} on {fabric}: {balance:?}");
}

/// One packet over h links takes `h s / c` stored and forwarded, `s / c + (h - 1) head` cut through.
#[test]
fn a_packet_alone_takes_the_time_of_its_own_way() {
    let fabric = fabric("dragonfly = { p = 2, a = 4, h = 2, bandwidth = \"1 GB/s\", latency = \"100 ns\" }");
    let mut lengths = std::collections::BTreeSet::new();
    for text in ["spray = {}", "valiant-groups = {}", "valiant-switches = {}", "ugal-l = {}", "progressive = {}"] {
        let router = rule(text, &fabric).unwrap();
        for (dst, model, head) in [
            (71, "model = \"oq\"", 1.5e6),
            (9, "model = \"fq\"", 1.5e6),
            (40, "model = \"iq\"", 1.5e6),
            (33, "model = \"iq\"\nhead-latency = \"50 ns\"", 5e4),
        ] {
            let played = play(&fabric, &router, &spec(model), &[(0, dst, 1500, 0.0)]);
            let links = played.ways[0].links.len() as f64;
            lengths.insert(links as u32);
            let expected = 1.5e6 + (links - 1.0) * head + links * 1e5;
            assert_eq!(played.arrivals, [Some(Time::from_ps(expected))], "{text}, {model}, {links} links");
        }
    }
    assert!(lengths.contains(&5) || lengths.contains(&4), "{lengths:?}");
    assert!(lengths.iter().any(|&length| length > 5), "{lengths:?}");
}

/// Between two leaves of a fat-tree there are four paths of four links. Packets of one message spread over
/// them and still leave their source one after another, so the message takes as long as over one path.
#[test]
fn a_message_alone_that_is_sprayed_takes_as_long_as_over_one_way() {
    let fabric = fabric("fat-tree = { down = [4, 4], up = [1, 4], bandwidth = \"1 GB/s\" }");
    let router = rule("spray = {}", &fabric).unwrap();
    for model in ["oq", "iq", "fq"] {
        let played = play(&fabric, &router, &spec(&format!("model = \"{model}\"")), &[(0, 15, 60_000, 0.0)]);
        assert_eq!(played.arrivals, [Some(Time::from_ps(60e6 + 3.0 * 1.5e6))], "{model}");
        assert_eq!(played.ways[0].links.len(), 2 + 4 + 4, "all four spines are used");
    }
}

/// Every node sends to the next group: the minimal path has one cable between two groups for eight nodes.
#[test]
fn ugal_beats_minimal_when_groups_send_to_the_next_group() {
    let fabric = fabric("dragonfly = { p = 2, a = 4, h = 2, bandwidth = \"1 GB/s\", arrangement = \"palmtree\" }");
    let messages: Vec<Message> = (0..72).map(|src| (src, (src + 8) % 72, 60_000, 0.0)).collect();
    for model in ["model = \"oq\"", "model = \"fq\"", "model = \"iq\"\nbuffer = 16"] {
        let end = |text: &str| {
            let played = play(&fabric, &rule(text, &fabric).unwrap(), &spec(model), &messages);
            played.arrivals.iter().map(|arrival| arrival.unwrap().ps()).fold(0.0, f64::max)
        };
        let minimal = end("minimal = {}");
        assert!(minimal >= 8.0 * 60e6, "eight messages share a cable: {minimal}");
        for text in ["ugal-l = {}", "ugal-g = {}", "progressive = {}", "valiant-groups = {}"] {
            let adaptive = end(text);
            assert!(adaptive < 0.6 * minimal, "{text}, {model}: {adaptive} against {minimal}");
        }
    }
}

/// With all messages at once and empty queues elsewhere, a large threshold makes the rule take shortest
/// paths.
#[test]
fn a_large_threshold_keeps_packets_on_shortest_ways() {
    let fabric = fabric("slim-fly = { q = 5, p = 2, bandwidth = \"1 GB/s\" }");
    let messages: Vec<Message> = (0..100).map(|src| (src, (src + 37) % 100, 30_000, 0.0)).collect();
    let router = rule("ugal-l = { factor = 2, threshold = 1e6 }", &fabric).unwrap();
    let played = play(&fabric, &router, &spec("model = \"oq\""), &messages);
    for way in &played.ways {
        assert!(way.parts.iter().sum::<f64>() <= 4.0 + 1e-9, "{way:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// On a tree there is one path, and packets that ask for it equal packets that do not, to the last tick.
    #[test]
    fn packets_that_ask_for_the_only_way_are_as_fast_as_others(
        parents in proptest::collection::vec(0u32..100, 1..6),
        latency in 0u32..2,
        model in 0..MODELS.len(),
        seed in loads(1000),
    ) {
        let fabric = tree(&parents, 2, Time::from_ps(f64::from(latency) * 333_000.0));
        let messages = folded(&seed, fabric.nodes());
        let spec = spec(MODELS[model]);
        let others = play(&fabric, &rule("minimal = {}", &fabric).unwrap(), &spec, &messages);
        let asking = play(&fabric, &rule("spray = {}", &fabric).unwrap(), &spec, &messages);
        asking.check_arrived("spray");
        prop_assert_eq!(others.arrivals, asking.arrivals);
        prop_assert_eq!(others.packets.facts().ports, asking.packets.facts().ports);
    }

    /// Channels that exist from the start give the same result as channels that are added when they are
    /// needed.
    #[test]
    fn channels_that_nobody_uses_change_nothing(
        family in 0..FAMILIES.len(),
        text in prop_oneof![Just("minimal = {}"), Just("valiant-switches = {}"), Just("progressive = {}")],
        queues in prop_oneof![Just("fifo"), Just("virtual-output")],
        seed in loads(1000),
    ) {
        let fabric = fabric(FAMILIES[family]);
        let messages = folded(&seed, fabric.nodes());
        let router = rule(text, &fabric).unwrap();
        let spec = spec(&format!("model = \"iq\"\nbuffer = 1\nqueues = \"{queues}\""));
        let grown = play(&fabric, &router, &spec, &messages);
        grown.check_arrived(text);
        let mut packets = Packets::new(&fabric, &router, &spec, false);
        match &mut packets.switches {
            Switches::Iq(model) => model.make_lanes(70),
            Switches::IqAsks(model) => model.make_lanes(70),
            _ => unreachable!("iq"),
        }
        let from_the_start = super::tests::play_on(packets, &fabric, &router, &spec, &messages);
        prop_assert_eq!(grown.arrivals, from_the_start.arrivals);
    }
}
