//! Properties of every run, on random fabrics with unequal capacities, latencies, starts and sizes. Bytes are
//! conserved. No link carries more than its capacity. Under max-min every flow has a bottleneck: a full link
//! on which no flow is faster. All rates equal those of a solver from scratch.
//!
//! `PROPTEST_CASES=10000 PROPTEST_RNG_SEED=7 cargo test properties` tests more.

mod audit;
#[path = "../../../crates/core/src/sharing/oracle.rs"]
mod oracle;

use std::collections::BTreeSet;
use std::sync::Arc;

use hayase::diagnostic::Sources;
use hayase::engine::{Outcome, Simulation, Stop};
use hayase::fabric::{Fabric, FabricBuilder, Irregular, RouteTable};
use hayase::ids::{LinkId, NodeId};
use hayase::pattern::{Injection, PatternPlayer, PatternSpec};
use hayase::placement::Placement;
use hayase::routing::{Router, RoutingSpec};
use hayase::sharing::{EqualShareSpec, MaxMinSpec, RedistributeSpec, Sharing, SharingSpec};
use hayase::topology::TopologySpec;
use hayase::transport::Flows;
use hayase::units::{Bandwidth, Time};
use hayase::workload::Workload;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;

use audit::{Audit, Script, ScriptedMessage, THRESHOLD};
use oracle::Problem;

fn sharings() -> impl Strategy<Value = SharingSpec> {
    select(vec![
        SharingSpec::MaxMin(MaxMinSpec::default()),
        SharingSpec::EqualShare(EqualShareSpec {}),
        SharingSpec::Redistribute(RedistributeSpec { threshold: THRESHOLD.into() }),
    ])
}

/// Generates many different capacities, and few that repeat often \[B/s\].
fn capacities() -> impl Strategy<Value = f64> {
    prop_oneof![1e8..1e10, select(vec![1e9, 2e9, 3e9]), (0.0..4.0).prop_map(|x: f64| 1e9 * (1.0 + x.floor()))]
}

fn latencies() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..3e6]
}

fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1..100u64, Just(20_000), 1..2_000_000u64]
}

/// Messages by rank: (receiver, size, time after the previous one).
type Draft = Vec<Vec<(Index, u64, f64)>>;

fn drafts(ranks: usize) -> impl Strategy<Value = Draft> {
    let gap = prop_oneof![Just(0.0), 0.0..5e7];
    proptest::collection::vec(proptest::collection::vec((any::<Index>(), sizes(), gap), 0..6), ranks)
}

fn script(draft: &Draft) -> Vec<Vec<ScriptedMessage>> {
    let line = |(dst, bytes, gap): &(Index, u64, f64)| ScriptedMessage {
        dst: dst.index(draft.len()) as u32,
        bytes: *bytes,
        gap: *gap,
    };
    draft.iter().map(|lines| lines.iter().map(line).collect()).collect()
}

/// Generates links by capacity and latency, and a route of some of them for every pair of nodes.
fn tangles() -> impl Strategy<Value = (usize, Vec<(f64, f64)>, Vec<Vec<Index>>)> {
    (2usize..9).prop_flat_map(|nodes| {
        let links = proptest::collection::vec((capacities(), latencies()), 1..16);
        let routes = proptest::collection::vec(proptest::collection::vec(any::<Index>(), 1..7), nodes * nodes);
        (Just(nodes), links, routes)
    })
}

fn tangle(nodes: usize, links: &[(f64, f64)], routes: &[Vec<Index>]) -> Arc<Fabric> {
    let mut builder = FabricBuilder::new("tangle", nodes as u32, 0);
    for (capacity, latency) in links {
        builder.loose_link(Bandwidth::from_bytes_per_second(*capacity), Time::from_ps(*latency));
    }
    let mut table = RouteTable::default();
    for (pair, route) in routes.iter().enumerate() {
        let mut seen = BTreeSet::new();
        let route: Vec<LinkId> =
            route.iter().map(|i| i.index(links.len()) as u32).filter(|i| seen.insert(*i)).map(LinkId).collect();
        table.insert(NodeId((pair / nodes) as u32), NodeId((pair % nodes) as u32), &route);
    }
    builder.routes(table);
    Arc::new(builder.finish(Irregular))
}

/// Generates fabrics of the families, with a bandwidth for every level or dimension, and a routing rule for
/// each.
fn families() -> impl Strategy<Value = (String, &'static str)> {
    let list = |values: &[f64]| {
        let texts: Vec<String> = values.iter().map(|value| format!("\"{} B/s\"", value.round())).collect();
        format!("[{}]", texts.join(", "))
    };
    let latency = || latencies().prop_map(|ps| format!("\"{} ps\"", ps.round()));
    let three = proptest::collection::vec(capacities(), 3);
    let tree_rules = select(vec!["d-mod-k", "s-mod-k", "hashed", "shortest-path"]);
    let trees = ((1u32..4, 1u32..4, 1u32..4), (1u32..3, 1u32..3), 1u32..3, three, latency(), tree_rules).prop_map(
        move |((a, b, c), (up, top), parallel, bandwidths, latency, rule)| {
            let text = format!(
                "fat-tree = {{ down = [{a}, {b}, {c}], up = [1, {up}, {top}], parallel = [1, {parallel}, 1], \
                 bandwidth = {}, latency = {latency} }}",
                list(&bandwidths)
            );
            (text, rule)
        },
    );
    let two = proptest::collection::vec(capacities(), 2);
    let grid_rules = select(vec!["dimension-order", "shortest-path"]);
    let grids = ((1u32..5, 2u32..5), two, capacities(), latency(), any::<[bool; 3]>(), grid_rules).prop_map(
        move |((a, b), bandwidths, host, latency, [x, y, host_link], rule)| {
            let host = if host_link { format!(", host-bandwidth = \"{} B/s\"", host.round()) } else { String::new() };
            let text = format!(
                "torus = {{ dims = [{a}, {b}], bandwidth = {}, wrap = [{x}, {y}], latency = {latency}, \
                 host-link = {host_link}{host} }}",
                list(&bandwidths)
            );
            (text, rule)
        },
    );
    prop_oneof![trees, grids]
}

fn family(topology: &str, routing: &str) -> (Arc<Fabric>, Arc<dyn Router>) {
    let spec: TopologySpec = toml::from_str(topology).unwrap();
    let fabric = Arc::new(spec.build(&mut Sources::default()).unwrap_or_else(|m| panic!("{topology}: {m:?}")));
    let router = RoutingSpec::parse_name(routing).unwrap().build(&fabric, 1).unwrap();
    (fabric, router)
}

fn audited(
    fabric: &Fabric,
    router: &dyn Router,
    sharing: &SharingSpec,
    workload: &mut dyn Workload,
    one_at_a_time: bool,
) -> (Outcome, u32) {
    let flows = Flows::new(fabric, router, sharing, one_at_a_time);
    let mut transport = Audit::new(flows, fabric, sharing);
    let placement: Placement = fabric.node_ids().collect();
    let transport_dyn: &mut dyn hayase::transport::Transport = &mut transport;
    let simulation = Simulation {
        fabric,
        router,
        placement: &placement,
        workload,
        transport: transport_dyn,
        resolution: Time::ZERO,
    };
    let outcome = simulation.run(&mut (), None);
    (outcome, transport.arrivals)
}

/// Plays a script and checks the properties of its outcome.
fn plays(fabric: &Fabric, router: &dyn Router, sharing: &SharingSpec, draft: &Draft) {
    let lines = script(draft);
    let mut workload = Script::new(lines.clone());
    let (outcome, arrivals) = audited(fabric, router, sharing, &mut workload, false);
    assert_eq!(outcome.stop, Stop::Done);
    let all = || lines.iter().flatten();
    assert_eq!(outcome.bytes, all().map(|line| line.bytes).sum::<u64>(), "every byte sent arrives, once");
    assert_eq!(outcome.messages, all().count() as u64);
    let mut links = Vec::new();
    let mut moved = 0;
    let mut seen = BTreeSet::new();
    for (id, end) in &workload.delivered {
        assert!(seen.insert(*id), "{id} arrives once");
        let (src, lines) = (id.src.0, &lines[id.src.0 as usize]);
        let line = lines[id.index as usize];
        let start: f64 = lines[..=id.index as usize].iter().map(|line| line.gap).sum();
        let mut alone = 0.0;
        if line.dst != src {
            links.clear();
            router.route(NodeId(src), NodeId(line.dst), &mut links);
            alone = fabric.latency(&links).ps();
            if line.bytes > 0 {
                moved += 1;
                let narrowest = links.iter().map(|&link| fabric.link(link).capacity).min().unwrap();
                alone += narrowest.time_for(line.bytes as f64).ps();
            }
        }
        assert!(end.ps() >= (start + alone) * (1.0 - 1e-12), "{id} arrives no sooner than it would alone");
    }
    assert_eq!(arrivals, moved, "what has bytes and somewhere to go takes bandwidth");
}

/// Returns the seed: the same problems in every run, unless the user asks for others.
fn seed() -> RngSeed {
    match ProptestConfig::default().rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: seed(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_any_routes_bytes_are_conserved_and_rates_are_right(
        (nodes, links, routes) in tangles(),
        draft in (2usize..9).prop_flat_map(drafts),
        sharing in sharings(),
    ) {
        let fabric = tangle(nodes, &links, &routes);
        let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
        let draft: Draft = draft.into_iter().take(nodes).collect();
        plays(&fabric, &*router, &sharing, &draft);
    }

    #[test]
    fn on_trees_and_grids_bytes_are_conserved_and_rates_are_right(
        (topology, routing) in families(),
        draft in drafts(36),
        sharing in sharings(),
    ) {
        let (fabric, router) = family(&topology, routing);
        let draft: Draft = draft.into_iter().take(fabric.nodes() as usize).collect();
        plays(&fabric, &*router, &sharing, &draft);
    }

    #[test]
    fn patterns_under_every_injection_rule_keep_the_same_laws(
        (topology, routing) in families(),
        sharing in sharings(),
        injection in select(vec![
            Injection::Queue, Injection::SendRecv, Injection::Barrier, Injection::All, Injection::Window(2),
        ]),
        jitter in prop_oneof![Just(0.0), 1e5..5e7],
        size in sizes(),
    ) {
        let (fabric, router) = family(&topology, routing);
        let text = format!("all-to-all = {{ algorithm = \"simple-spread\", size = \"{size} B\" }}");
        let workload: PatternSpec = toml::from_str(&text).unwrap();
        let pattern = workload.build(&fabric.nodes(), 1, &mut Sources::default()).unwrap();
        let mut player = PatternPlayer::new(pattern, injection, Time::from_ps(jitter), 1);
        let one_at_a_time = player.load().one_at_a_time;
        let (outcome, arrivals) = audited(&fabric, &*router, &sharing, &mut player, one_at_a_time);
        let messages = u64::from(fabric.nodes()) * u64::from(fabric.nodes() - 1);
        prop_assert_eq!(outcome.stop, Stop::Done);
        prop_assert_eq!((outcome.messages, outcome.bytes), (messages, messages * size));
        prop_assert_eq!(u64::from(arrivals), if size > 0 { messages } else { 0 });
    }

    #[test]
    fn policies_keep_to_their_oracles_on_routes_and_capacities_far_apart(
        capacities in proptest::collection::vec(
            (select(vec![1e6, 1e7, 1e8, 1e9, 1e10, 1e11]), 1.0..10.0).prop_map(|(decade, x): (f64, f64)| decade * x),
            2..70,
        ),
        steps in proptest::collection::vec(
            proptest::collection::vec((0u32..50, proptest::collection::vec(any::<Index>(), 1..66)), 1..12),
            1..12,
        ),
        spec in sharings(),
    ) {
        let mut policy: Box<dyn Sharing> = spec.build(capacities.clone());
        let mut flows: Vec<Vec<u32>> = vec![Vec::new(); 50];
        for step in steps {
            let mut touched = BTreeSet::new();
            for (flow, links) in step {
                if !touched.insert(flow) {
                    continue;
                }
                let route = &mut flows[flow as usize];
                if route.is_empty() {
                    let mut seen = BTreeSet::new();
                    let links = links.iter().map(|i| i.index(capacities.len()) as u32);
                    *route = links.filter(|link| seen.insert(*link)).collect();
                    policy.add(flow, route);
                } else {
                    route.clear();
                    policy.remove(flow);
                }
            }
            policy.solve(&mut Vec::new());
            let active: Vec<usize> = (0..50).filter(|&f| !flows[f].is_empty()).collect();
            let problem = Problem {
                capacities: capacities.clone(),
                flows: active.iter().map(|&f| flows[f].clone()).collect(),
            };
            let expected = match spec {
                SharingSpec::MaxMin(_) => problem.max_min(),
                SharingSpec::EqualShare(_) => problem.equal_share(),
                SharingSpec::Redistribute(_) => problem.redistribute(THRESHOLD),
                SharingSpec::Blocking(_) => unreachable!("its rates are those of queues"),
            };
            for (&flow, expected) in active.iter().zip(expected) {
                let rate = policy.rate(flow as u32);
                prop_assert!((rate - expected).abs() <= 1e-9 * expected, "flow {}: {}, not {}", flow, rate, expected);
            }
        }
    }
}
