//! Orders of all-to-alls that follow the nodes of the ranks: turns, refusals, and the time of rounds.

use std::sync::Arc;

use super::{PatternFile, messages, spec};
use crate::diagnostic::{At, Diagnostic, Sources};
use crate::engine::Simulation;
use crate::fabric::Fabric;
use crate::ids::{NodeId, RankId};
use crate::pattern::all_to_all::Order;
use crate::pattern::{FabricInfo, Pattern, PatternPlayer};
use crate::placement::{Placement, PlacementSpec};
use crate::rng::Stream;
use crate::routing::{Router, RoutingSpec};
use crate::sharing::SharingSpec;
use crate::steady::OnFabric;
use crate::topology::TopologySpec;
use crate::transport::Flows;
use crate::units::Time;

const TREE: &str = "fat-tree = { p = 3, bandwidth = '1 GB/s' }";
const TORUS: &str = "torus = { dims = [4, 4], bandwidth = '1 GB/s' }";
const MESH: &str = "mesh = { dims = [5, 2, 3], bandwidth = '1 GB/s' }";
const RING: &str = "torus = { dims = [7], bandwidth = '1 GB/s' }";
const HYPERX: &str = "hyperx = { shape = [3, 2], nodes = 3, bandwidth = '1 GB/s' }";
const CROSSBAR: &str = "crossbar = { nodes = 11, bandwidth = '1 GB/s' }";

/// Orders that follow coordinates.
const BY_COORDINATES: [Order; 3] = [Order::Sign, Order::Digit, Order::Reflect];

fn routed(topology: &str) -> (Arc<Fabric>, Arc<dyn Router>) {
    let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
    let fabric = Arc::new(spec.build(&mut Sources::default()).unwrap());
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    (fabric, router)
}

/// Returns all nodes in random order.
fn shuffled(fabric: &Fabric, seed: u64) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> = fabric.node_ids().collect();
    Stream::new(seed, "test").shuffle(&mut nodes);
    nodes
}

/// Builds an all-to-all of `ranks` ranks with blocks of 1 kB.
fn try_build(lines: &str, ranks: u32, on: &dyn FabricInfo) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
    let lines = format!("size = '1 KB'; ranks = {ranks}; {lines}");
    spec("all-to-all", &lines).build(on, 5, &mut Sources::default())
}

/// Builds an all-to-all of ranks on these nodes of a fabric.
fn build(lines: &str, nodes: &[NodeId], (fabric, router): &(Arc<Fabric>, Arc<dyn Router>)) -> Arc<dyn Pattern> {
    let on = OnFabric { fabric, router: &**router, places: Some(nodes), per_node: 1 };
    try_build(lines, nodes.len() as u32, &on).unwrap_or_else(|wrong| panic!("{lines} on {fabric}: {wrong:?}"))
}

fn ordered(order: &str) -> String {
    format!("algorithm = 'simple-spread'; order = '{order}'")
}

/// Checks that each ordered pair of ranks has one message, and that the pattern counts its messages rightly.
fn assert_all_to_all(pattern: &dyn Pattern, ranks: u32, name: &str) {
    assert_eq!(pattern.ranks(), ranks);
    let mut pairs = vec![0; (ranks * ranks) as usize];
    let mut steps = vec![None; ranks as usize];
    let mut received = vec![0; (ranks * pattern.steps()) as usize];
    for (src, _, message) in messages(pattern) {
        let before = steps[src.0 as usize].replace(message.step);
        assert!(before < Some(message.step), "{name}: {src} has steps {before:?} and {}", message.step);
        pairs[(src.0 * ranks + message.dst.0) as usize] += 1;
        received[(message.step * ranks + message.dst.0) as usize] += 1;
    }
    for (pair, count) in (0..).zip(pairs) {
        assert_eq!(count, u32::from(pair / ranks != pair % ranks), "{name}: pair {pair} of {ranks} ranks");
    }
    let last = steps.into_iter().flatten().max();
    assert_eq!(pattern.steps(), last.map_or(0, |step| step + 1), "{name}: {ranks} ranks");
    for (at, count) in (0..).zip(received) {
        assert_eq!(pattern.receives(RankId(at % ranks), at / ranks), count, "{name}: {ranks} ranks");
    }
    assert_eq!(pattern.receives(RankId(0), pattern.steps()), 0);
    let Some(work) = pattern.lockstep() else { return };
    assert_eq!(work.steps, pattern.steps());
    for step in 0..work.steps {
        let mut destinations = Vec::new();
        (work.destinations)(step, &mut destinations);
        assert!((0..ranks).map(|rank| pattern.message(RankId(rank), step).dst).eq(destinations), "{name}");
    }
}

#[test]
fn in_each_order_a_rank_sends_each_other_one_message_and_one_a_step() {
    for topology in [TREE, TORUS, MESH, RING, HYPERX, CROSSBAR] {
        let on = routed(topology);
        let all = shuffled(&on.0, 1);
        let count = all.len();
        let twice: Vec<NodeId> = all.iter().chain(all.iter().rev().skip(1)).copied().collect();
        let mut placements: Vec<&[NodeId]> =
            [1, 2, 3, 5, 7, 13, count - 1].map(|ranks| &all[..ranks.min(count)]).into();
        let regular: Vec<NodeId> = on.0.node_ids().collect();
        placements.extend([&all[..], &regular, &twice, &twice[count - 2..]]);
        for order in Order::ALL.iter().filter(|order| **order != Order::Auto) {
            if BY_COORDINATES.contains(order) && on.0.family().lattice().is_none() {
                continue;
            }
            for nodes in &placements {
                let pattern = build(&ordered(order.name()), nodes, &on);
                assert_all_to_all(&*pattern, nodes.len() as u32, &format!("{order} on {topology}"));
            }
        }
    }
}

#[test]
fn only_holes_and_reflection_leave_turns_empty() {
    let on = routed(TORUS);
    let all = shuffled(&on.0, 2);
    for order in Order::ALL.iter().filter(|order| !matches!(order, Order::Auto | Order::Reflect)) {
        let pattern = build(&ordered(order.name()), &all, &on);
        assert!(pattern.steps() == 15 && pattern.lockstep().is_some(), "{order}");
    }
    assert!(build(&ordered("reflect"), &all, &on).lockstep().is_none());
    for (order, has_holes) in [("slot", true), ("digit", true), ("sign", true), ("node", false), ("stride", false)] {
        let pattern = build(&ordered(order), &all[..11], &on);
        assert_eq!(pattern.lockstep().is_none(), has_holes, "{order}");
        assert_eq!(pattern.steps() > 10, has_holes, "{order}");
    }
}

#[test]
fn in_reflected_order_partners_exchange() {
    let on = routed(MESH);
    let pattern = build(&ordered("reflect"), &shuffled(&on.0, 3), &on);
    for (src, _, message) in messages(&*pattern) {
        let mut back = (0..pattern.sends(message.dst)).map(|index| pattern.message(message.dst, index));
        assert!(back.any(|back| (back.dst, back.step) == (src, message.step)));
    }
}

#[test]
fn rounds_follow_the_nodes_and_not_the_numbers_of_the_ranks() {
    let on = routed(TORUS);
    let nodes = shuffled(&on.0, 4);
    let by_place = |lines: &str, to: &dyn Fn(u32, u32) -> u32| {
        let pattern = build(lines, &nodes, &on);
        for (src, _, message) in messages(&*pattern) {
            let [from, reached] = [src, message.dst].map(|rank| nodes[rank.0 as usize].0);
            assert_eq!(reached, to(from, message.step + 1), "{lines}");
        }
    };
    by_place(&ordered("node"), &|from, round| (from + round) % 16);
    by_place(&ordered("slot"), &|from, round| (from + round) % 16);
    // The step is the next above 0.618 * 16 that is coprime to 16.
    by_place(&ordered("stride"), &|from, round| (from + 11 * round) % 16);
    let square = |from, round| (from % 4 + round % 4) % 4 + (from / 4 + round / 4) % 4 * 4;
    by_place(&ordered("digit"), &square);
    by_place("algorithm = '2d-spread'; order = 'node'", &square);
    by_place("algorithm = 'nd-spread'; dims = [4, 4]; order = 'node'", &square);
    for algorithm in ["pairwise", "mpich"] {
        by_place(&format!("algorithm = '{algorithm}'; order = 'node'"), &|from, round| from ^ round);
    }
    // Without holes the positions of a part of the nodes count.
    let mut part = nodes[..9].to_vec();
    let pattern = build("algorithm = 'mpich'; order = 'node'", &part, &on);
    part.sort();
    let position = |rank: RankId| part.iter().position(|&node| node == nodes[rank.0 as usize]).unwrap() as u32;
    for (src, _, message) in messages(&*pattern) {
        assert_eq!(position(message.dst), (position(src) + message.step + 1) % 9);
    }
}

#[test]
fn the_order_of_ranks_is_that_without_an_order() {
    let on = routed(TORUS);
    let nodes = shuffled(&on.0, 5);
    for algorithm in ["simple-spread", "2d-spread", "nd-spread", "pairwise", "mpich", "ring", "bruck", "linear"] {
        let lines = format!("algorithm = '{algorithm}'");
        let (plain, by_rank) = (build(&lines, &nodes, &on), build(&format!("{lines}; order = 'rank'"), &nodes, &on));
        assert!(messages(&*plain).eq(messages(&*by_rank)), "{algorithm}");
    }
}

#[test]
fn the_best_order_on_a_full_tree_sends_at_full_bandwidth() {
    let on = routed(TREE);
    let all = shuffled(&on.0, 6);
    let chosen = |nodes: &[NodeId]| {
        let pattern = build(&ordered("auto"), nodes, &on);
        let choice = pattern.order().unwrap().clone();
        let least = choice.tried.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        assert!(choice.tried.contains(&(choice.name, least)), "{choice:?}");
        let same = build(&ordered(choice.name), nodes, &on);
        assert!(messages(&*pattern).eq(messages(&*same)));
        (choice, least)
    };
    let (choice, least) = chosen(&all);
    assert_eq!(choice.name, "node");
    assert!((least - 53.0 * 1e-6).abs() < 1e-15, "{least}");
    let names: Vec<&str> = choice.tried.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["rank", "node", "slot", "stride", "random"]);
    assert!(choice.tried[0].1 > 2.0 * least, "random nodes collide in the order of ranks: {choice:?}");
    // Where nodes are missing, empty turns keep the others apart.
    let (choice, least) = chosen(&all[..50]);
    assert_eq!(choice.name, "slot");
    assert!((least - 53.0 * 1e-6).abs() < 1e-15, "{least}");
    let (choice, least) = chosen(&all[..1]);
    assert_eq!((choice.name, least), ("rank", 0.0));
}

#[test]
fn the_best_order_suits_ranks_on_the_first_nodes() {
    let (fabric, router) = routed(TORUS);
    let on = OnFabric { fabric: &fabric, router: &*router, places: None, per_node: 1 };
    for ranks in [1, 5, 16] {
        let pattern = try_build(&ordered("auto"), ranks, &on).unwrap();
        assert_eq!(pattern.order().unwrap().tried.len(), 8);
        assert_all_to_all(&*pattern, ranks, "auto");
    }
}

#[test]
fn several_messages_a_pair_keep_the_order() {
    let on = routed(TREE);
    let all = shuffled(&on.0, 7);
    let once = build(&ordered("node"), &all, &on);
    let twice = build(&format!("{}; messages = 2", ordered("node")), &all, &on);
    assert_eq!(twice.order().unwrap().name, "node");
    for (src, index, message) in messages(&*twice) {
        assert_eq!(message.dst, once.message(src, index / 2).dst);
    }
    let [once, twice] = ["", "; messages = 2"].map(|messages| {
        let pattern = build(&format!("{}{messages}", ordered("auto")), &all[..50], &on);
        pattern.order().unwrap().clone()
    });
    assert_eq!((once.name, twice.name), ("slot", "node"));
    assert!(twice.tried.iter().all(|(name, _)| *name != "slot"));
    assert_eq!(twice.tried[0].1, 2.0 * once.tried[0].1);
    let on = OnFabric { fabric: &on.0, router: &*on.1, places: Some(&all[..20]), per_node: 1 };
    let mistakes = try_build(&format!("{}; messages = 2", ordered("slot")), 20, &on).unwrap_err();
    assert_eq!(mistakes.len(), 1);
    assert_eq!(mistakes[0].message, "order \"slot\" has empty turns here, and so one message a pair");
}

/// Returns the mistakes of a table, each as `marked text: message`.
fn mistakes(lines: &str, on: &dyn FabricInfo) -> Vec<String> {
    let text = format!("[workload.all-to-all]\nsize = '1 KB'\n{}", lines.replace("; ", "\n"));
    let file = crate::reading::from_toml::<PatternFile>(&text).unwrap();
    let wrong = file.workload.build(on, 1, &mut Sources::default()).err().unwrap_or_default();
    let show = |wrong: Diagnostic| match wrong.at {
        At::Span(span) => format!("{}: {}", &text[span.start..span.end], wrong.message),
        _ => wrong.message,
    };
    wrong.into_iter().map(show).collect()
}

#[test]
fn orders_that_have_no_meaning_are_refused() {
    let (fabric, router) = routed(TREE);
    let tree = OnFabric { fabric: &fabric, router: &*router, places: None, per_node: 1 };
    for order in BY_COORDINATES {
        let told = format!("'{order}': order \"{order}\" follows coordinates, and this fabric has none");
        for on in [&tree as &dyn FabricInfo, &64] {
            assert_eq!(mistakes(&ordered(order.name()), on), [&*told]);
        }
    }
    for algorithm in ["ring", "bruck", "random-order", "linear"] {
        for order in ["node", "auto"] {
            let told = format!("'{order}': `order` has no meaning for algorithm \"{algorithm}\"");
            assert_eq!(mistakes(&format!("algorithm = '{algorithm}'; order = '{order}'"), &tree), [told]);
        }
    }
    for algorithm in ["2d-spread", "nd-spread", "pairwise", "mpich"] {
        let told = format!("'{algorithm}': `algorithm` has no meaning for order \"slot\"");
        assert_eq!(mistakes(&format!("algorithm = '{algorithm}'; order = 'slot'"), &64), [told]);
    }
    let told = "'pairwise': pairwise exchange is not defined for 54 ranks";
    assert_eq!(mistakes("algorithm = 'pairwise'; order = 'node'", &tree), [told]);
    let told = "'auto': the best order is unknown: loads follow from routes, and none are known before the run";
    assert_eq!(mistakes(&ordered("auto"), &64), [told]);
}

#[test]
fn barriers_without_a_barrier_cost_nothing() {
    let told = "'1 us': `barrier-cost` has no meaning for the injection rule \"queue\"";
    let lines = ordered("node");
    assert_eq!(mistakes(&format!("{lines}; barrier-cost = '1 us'"), &16), [told]);
    assert_eq!(mistakes(&format!("{lines}; barrier-cost = '1 us'; injection = 'sendrecv'"), &16).len(), 1);
    assert!(mistakes(&format!("{lines}; barrier-cost = '1 us'; injection = 'barrier'"), &16).is_empty());
    assert!(mistakes(&format!("{lines}; barrier-cost = '0 s'"), &16).is_empty());
}

#[test]
fn each_barrier_between_two_rounds_takes_its_cost() {
    let (fabric, router) = routed(TREE);
    for (order, ranks) in [("node", 54), ("slot", 54), ("slot", 50)] {
        let placed = PlacementSpec::parse("random").build((ranks, 1), &fabric, 1, &mut Sources::default());
        let placement: Placement = placed.unwrap();
        let on = OnFabric { fabric: &fabric, router: &*router, places: Some(placement.as_slice()), per_node: 1 };
        let lines = format!("size = '1 KB'; ranks = {ranks}; {}; injection = 'barrier'", ordered(order));
        let spec = spec("all-to-all", &lines);
        let run = |cost: Time| {
            let pattern = spec.build(&on, 1, &mut Sources::default()).unwrap();
            let mut player =
                PatternPlayer::new(pattern, *spec.traffic().injection, Time::ZERO, 1).with_barrier_cost(cost);
            let mut transport = Flows::new(&fabric, &*router, &SharingSpec::default(), true);
            let (fabric, router, placement) = (&fabric, &*router, &placement);
            let (workload, transport, resolution) = (&mut player, &mut transport, Time::ZERO);
            Simulation { fabric, router, placement, workload, transport, resolution }.run(&mut (), None).makespan.ps()
        };
        // 53 rounds, also with empty turns.
        let (free, dear) = (run(Time::ZERO), run(Time::from_ps(2e6)));
        assert!((free - 53e6).abs() < 1.0, "{order} of {ranks}: {free}");
        assert!((dear - free - 52.0 * 2e6).abs() < 1.0, "{order} of {ranks}: {dear}");
    }
}
