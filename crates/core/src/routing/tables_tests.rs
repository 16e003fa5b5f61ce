//! Tests of rules that are forwarding tables, and of their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::test_fabrics::{Arrangement, dragonfly, dragonfly_plus, hyperx, of_cables, slim_fly, two_planes};
use super::up_down::ranks;
use super::*;
use crate::diagnostic::Invalid;
use crate::fabric::{FabricBuilder, Grid, Irregular, LinkRole, Tree};
use crate::ids::{IdVec, LinkId, NodeId, VertexId};

use crate::units::{Bandwidth, Time};

const RULES: [&str; 3] = ["min-hop", "dfsssp", "up-down"];

fn unit(_: LinkRole) -> (Bandwidth, Time) {
    (Bandwidth::from_bytes_per_second(1e9), Time::from_ps(1e5))
}

fn tree(down: &[u32], up: &[u32], parallel: &[u32]) -> Arc<Fabric> {
    let tree = Tree { down: down.to_vec(), up: up.to_vec(), parallel: parallel.to_vec() };
    Arc::new(tree.build("tree".to_owned(), unit))
}

fn grid(dims: &[u32], host_link: bool) -> Arc<Fabric> {
    Arc::new(Grid::new(dims.to_vec(), vec![true; dims.len()], host_link).build("grid".to_owned(), unit))
}

/// Returns small members of all families, including irregular ones.
fn fabrics() -> Vec<Arc<Fabric>> {
    vec![
        tree(&[4, 6], &[1, 2], &[1, 2]),
        tree(&[4, 4, 3], &[1, 2, 2], &[1, 1, 1]),
        tree(&[2, 2, 4], &[1, 2, 2], &[1, 1, 1]),
        tree(&[1], &[1], &[1]),
        grid(&[4, 4], true),
        grid(&[5, 3], false),
        grid(&[7], true),
        grid(&[2], false),
        dragonfly(2, Arrangement::Palmtree),
        dragonfly_plus(2, 2, 2, 2, 5),
        slim_fly(5),
        hyperx(&[3, 4], 2),
        two_planes(),
        of_cables(
            "petersen",
            10,
            2,
            (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]),
            None,
        ),
        of_cables("parallel", 2, 3, [(0, 1), (0, 1), (0, 1)], None),
        of_cables("apart", 4, 2, [(0, 1), (2, 3)], None),
    ]
}

fn rule(name: &str, fabric: &Arc<Fabric>) -> Arc<dyn Router> {
    RoutingSpec::parse_name(name).unwrap().build(fabric, 1).unwrap()
}

fn route(router: &dyn Router, src: NodeId, dst: NodeId) -> Vec<LinkId> {
    let mut route = Vec::new();
    router.route(src, dst, &mut route);
    route
}

fn pairs(fabric: &Fabric) -> impl Iterator<Item = (NodeId, NodeId)> {
    let nodes = fabric.nodes();
    (0..nodes).flat_map(move |src| (0..nodes).map(move |dst| (NodeId(src), NodeId(dst)))).filter(|(a, b)| a != b)
}

fn check_routes(fabric: &Fabric, router: &dyn Router, shortest: Option<&dyn Router>) {
    for (src, dst) in pairs(fabric) {
        let way = route(router, src, dst);
        let by_search = shortest.map(|shortest| route(shortest, src, dst));
        assert_eq!(router.reaches(src, dst), shortest.is_none_or(|shortest| shortest.reaches(src, dst)));
        if let Some(by_search) = by_search {
            assert_eq!(way.len(), by_search.len(), "{src} to {dst} on {fabric}");
        }
        let mut at = VertexId::from(src);
        for &link in &way {
            let (from, to) = fabric.link(link).ends.unwrap();
            assert_eq!(from, at, "{src} to {dst} on {fabric}");
            at = to;
        }
        assert!(at == VertexId::from(dst) || !router.reaches(src, dst), "{src} to {dst} on {fabric}");
    }
}

#[test]
fn tables_lead_everywhere_by_shortest_ways() {
    for fabric in fabrics() {
        let shortest = rule("shortest-path", &fabric);
        for name in ["min-hop", "dfsssp"] {
            check_routes(&fabric, &*rule(name, &fabric), Some(&*shortest));
        }
    }
}

/// Returns true if no links wait for each other in a cycle: a message that holds a link waits for the next of
/// its route.
fn is_acyclic(fabric: &Fabric, router: &dyn Router) -> bool {
    let mut next: BTreeMap<LinkId, Vec<LinkId>> = BTreeMap::new();
    for (src, dst) in pairs(fabric) {
        for pair in route(router, src, dst).windows(2) {
            next.entry(pair[0]).or_default().push(pair[1]);
        }
    }
    let mut waits: IdVec<LinkId, u32> = IdVec::filled(fabric.links().len(), 0);
    for links in next.values_mut() {
        links.sort_unstable();
        links.dedup();
        links.iter().for_each(|&link| waits[link] += 1);
    }
    let mut free: Vec<LinkId> = fabric.links().ids().filter(|&link| waits[link] == 0).collect();
    let mut done = 0;
    while let Some(link) = free.pop() {
        done += 1;
        for &link in next.get(&link).into_iter().flatten() {
            waits[link] -= 1;
            if waits[link] == 0 {
                free.push(link);
            }
        }
    }
    done == fabric.links().len()
}

#[test]
fn up_down_reaches_everywhere_never_goes_up_after_down_and_needs_no_virtual_lanes() {
    for fabric in fabrics() {
        let router = rule("up-down", &fabric);
        check_routes(&fabric, &*router, None.or(fabric.name().contains("apart").then_some(&*rule("min-hop", &fabric))));
        assert!(is_acyclic(&fabric, &*router), "{fabric}");
        // With any root: the ranks show that a link down is never followed by one up.
        for root in 0..fabric.switches().min(12) {
            let name = fabric.vertex_name(VertexId(fabric.nodes() + root));
            let spec = UpDownSpec { roots: vec![name.into()], ..UpDownSpec::default() };
            let router = RoutingSpec::UpDown(spec).build(&fabric, 1).unwrap();
            assert!(is_acyclic(&fabric, &*router), "{fabric}");
            let graph = super::graph::Graph::new(&fabric).unwrap();
            let place = |vertex| graph.place_of(vertex).filter(|&place| graph.is_open(place));
            let ranks = ranks(&graph, &[place(VertexId(fabric.nodes() + root)).unwrap()]);
            for (src, dst) in pairs(&fabric) {
                let mut down = false;
                assert!(router.reaches(src, dst) || fabric.name().contains("apart"), "{src} to {dst} on {fabric}");
                for link in route(&*router, src, dst) {
                    let (from, to) = fabric.link(link).ends.unwrap();
                    let (Some(from), Some(to)) = (place(from), place(to)) else { continue };
                    let up = ranks[to as usize] < ranks[from as usize];
                    assert!(!(up && down), "{src} to {dst} on {fabric} goes up after down");
                    down |= !up;
                }
            }
        }
    }
    // Shortest paths round a ring wait for each other, so the check can fail.
    let ring = grid(&[7], true);
    assert!(!is_acyclic(&ring, &*rule("min-hop", &ring)));
}

#[test]
fn up_down_on_a_tree_uses_all_switches_of_the_top() {
    let fabric = tree(&[4, 4, 4], &[1, 4, 4], &[1, 1, 1]);
    let (up_down, shortest) = (rule("up-down", &fabric), rule("shortest-path", &fabric));
    check_routes(&fabric, &*up_down, Some(&*shortest));
    assert_eq!(most_routes(&fabric, &*up_down), most_routes(&fabric, &*rule("d-mod-k", &fabric)));
}

/// Returns the largest number of routes on one link inside the network if every node sends to every other.
fn most_routes(fabric: &Fabric, router: &dyn Router) -> u32 {
    let mut counts = IdVec::filled(fabric.links().len(), 0);
    router.count(&pairs(fabric).collect::<Vec<_>>(), &mut counts);
    let links = fabric.links().iter_ids().filter(|(_, link)| matches!(link.role, LinkRole::Network { .. }));
    links.map(|(id, _)| counts[id]).max().unwrap_or(0)
}

#[test]
fn balance_is_that_of_d_mod_k_on_full_trees_and_even_over_parallel_cables() {
    for fabric in [tree(&[4, 8], &[1, 4], &[1, 1]), tree(&[3, 3, 6], &[1, 3, 3], &[1, 1, 1])] {
        let d_mod_k = most_routes(&fabric, &*rule("d-mod-k", &fabric));
        for name in ["dfsssp", "up-down"] {
            assert_eq!(most_routes(&fabric, &*rule(name, &fabric)), d_mod_k, "{name} on {fabric}");
        }
    }
    // Counters of destinations are equally good on two levels. On three levels, the counters of a switch of the second
    // level send all messages that come up to it out by one port: up to three times as many routes.
    let (two, three) = (tree(&[4, 8], &[1, 4], &[1, 1]), tree(&[3, 3, 6], &[1, 3, 3], &[1, 1, 1]));
    let ratio = |fabric: &Arc<Fabric>| {
        let most = |name| f64::from(most_routes(fabric, &*rule(name, fabric)));
        most("min-hop") / most("d-mod-k")
    };
    assert_eq!(ratio(&two), 1.0);
    assert!((2.0..=3.0).contains(&ratio(&three)), "{}", ratio(&three));
    // Nine pairs each way over three cables.
    let parallel = of_cables("parallel", 2, 3, [(0, 1), (0, 1), (0, 1)], None);
    for name in RULES {
        assert_eq!(most_routes(&parallel, &*rule(name, &parallel)), 3, "{name}");
    }
    // A ring of four switches with a node each: opposite switches have two paths, one route each way. The routes have
    // 4 x (1 + 1 + 2) = 16 links on 8 directed links: two routes on each at best.
    let ring = grid(&[4], true);
    assert_eq!(most_routes(&ring, &*rule("dfsssp", &ring)), 2);
}

#[test]
fn loads_by_trees_are_those_of_all_routes() {
    for fabric in fabrics() {
        let nodes = fabric.nodes();
        let demands = [
            Demand::Blocks(Blocks::new(vec![0; nodes as usize], vec![1e9; nodes as usize], vec![0])),
            Demand::Blocks(Blocks::new(
                (0..nodes).map(|node| node % 3).collect(),
                vec![1e9; nodes as usize],
                vec![1, 2, 2],
            )),
            Demand::Pairs(
                (0..nodes)
                    .map(|node| (NodeId(node), NodeId((node * 7 + 1) % nodes), 5e8))
                    .filter(|(a, b, _)| a != b)
                    .collect(),
            ),
        ];
        for name in RULES {
            let router = rule(name, &fabric);
            for demand in &demands {
                let mut loads = IdVec::filled(fabric.links().len(), 0.0);
                router.loads(demand, &mut loads).unwrap();
                let mut expected: IdVec<LinkId, f64> = IdVec::filled(fabric.links().len(), 0.0);
                for src in (0..demand.sources()).map(NodeId) {
                    demand.from(src, |dst, much| {
                        let both = router.reaches(src, dst);
                        route(&*router, src, dst).iter().filter(|_| both).for_each(|&link| expected[link] += much);
                    });
                }
                for ((link, load), expected) in loads.iter_ids().zip(expected.iter()) {
                    // Ends are counted for pairs without a path, too.
                    let inside =
                        matches!(fabric.link(link).role, LinkRole::Network { .. }) && !fabric.name().contains("apart");
                    assert!(!inside || (load - expected).abs() <= 1e-6 * 1e9, "{name} on {fabric}: {load} {expected}");
                }
            }
        }
    }
}

#[test]
fn roots_and_orders_are_options() {
    let ring = grid(&[8], true);
    let wrong = UpDownSpec { roots: vec!["swich 1".to_owned().into()], ..UpDownSpec::default() };
    assert_eq!(RoutingSpec::UpDown(wrong).build(&ring, 1).unwrap_err()[0].code, "unknown-switch");
    for order in [Order::Switches, Order::RoundRobin, Order::Random] {
        let fabric = tree(&[3, 6], &[1, 3], &[1, 1]);
        let router = RoutingSpec::Dfsssp(DfssspSpec { order }).build(&fabric, 7).unwrap();
        check_routes(&fabric, &*router, Some(&*rule("shortest-path", &fabric)));
    }
    assert!(RoutingSpec::MinHop(MinHopSpec { order: Order::Random }).depends_on_seed());
}

fn written(fabric: &Arc<Fabric>, router: &dyn Router) -> Result<String, Vec<Diagnostic>> {
    let mut text = Vec::new();
    Forwarding::of(router, fabric)?.write(&mut text).unwrap();
    Ok(String::from_utf8(text).unwrap())
}

/// Builds the rule of a file; removes its directory from messages.
fn read(fabric: &Arc<Fabric>, text: &str) -> Result<Arc<dyn Router>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.csv");
    std::fs::write(&file, text).unwrap();
    let spec = RoutingSpec::Tables(TablesSpec { file: file.display().to_string().into() });
    let mut sources = Sources::default();
    spec.build_from(fabric, 1, &mut sources).map_err(|diagnostics| {
        let folder = format!("{}/", folder.path().display());
        Invalid { diagnostics, sources }.lines().replace(&folder, "")
    })
}

#[test]
fn tables_written_and_read_again_are_the_same_routes() {
    for fabric in fabrics() {
        for name in ["min-hop", "dfsssp", "up-down", "shortest-path"] {
            let router = rule(name, &fabric);
            let text = written(&fabric, &*router).unwrap();
            let again = read(&fabric, &text).unwrap_or_else(|error| panic!("{name} on {fabric}: {error}"));
            for (src, dst) in pairs(&fabric) {
                assert_eq!(route(&*router, src, dst), route(&*again, src, dst), "{name}, {src} to {dst} on {fabric}");
            }
            assert_eq!(written(&fabric, &*again).unwrap(), text);
        }
    }
    let fabric = tree(&[4, 6], &[1, 2], &[1, 2]);
    let d_mod_k = rule("d-mod-k", &fabric);
    let again = read(&fabric, &written(&fabric, &*d_mod_k).unwrap()).unwrap();
    assert!(pairs(&fabric).all(|(src, dst)| route(&*d_mod_k, src, dst) == route(&*again, src, dst)));
}

#[test]
fn a_rule_that_looks_at_more_than_the_destination_has_no_tables() {
    let fabric = tree(&[4, 4], &[1, 4], &[1, 1]);
    let mistake = written(&fabric, &*rule("s-mod-k", &fabric)).unwrap_err().remove(0);
    assert!(mistake.message.contains("by where they come from"), "{}", mistake.message);
    let mistake = written(&fabric, &*rule("valiant-switches", &fabric)).unwrap_err().remove(0);
    assert!(mistake.message.contains("chooses"), "{}", mistake.message);
    // The next link of dimension order depends only on the position and the destination of a message, unless ties are
    // broken by the positions of both ends.
    let torus = grid(&[4, 4], true);
    assert!(written(&torus, &*rule("dimension-order", &torus)).is_ok());
}

/// Returns a chain of three switches with a node each and two cables between the first ones.
fn chain() -> Arc<Fabric> {
    let mut builder = FabricBuilder::new("chain", 3, 3);
    let (speed, latency) = unit(LinkRole::Injection);
    for node in 0..3 {
        builder.link(VertexId(node), VertexId(3 + node), speed, latency, LinkRole::Injection);
        builder.link(VertexId(3 + node), VertexId(node), speed, latency, LinkRole::Ejection);
    }
    for (a, b) in [(3, 4), (3, 4), (4, 5)] {
        builder.link(VertexId(a), VertexId(b), speed, latency, LinkRole::Network { tier: 0 });
        builder.link(VertexId(b), VertexId(a), speed, latency, LinkRole::Network { tier: 0 });
    }
    Arc::new(builder.finish(Irregular))
}

#[test]
fn what_is_wrong_with_tables_has_its_place() {
    let good = written(&chain(), &*rule("min-hop", &chain())).unwrap();
    insta::assert_snapshot!(good, @r#"
    switch,link,destinations
    switch 0,"switch 0 -> switch 1 #1",1
    switch 0,"switch 0 -> switch 1 #2",2
    switch 0,switch 0 -> node 0,0
    switch 1,"switch 1 -> switch 0 #1",0
    switch 1,switch 1 -> switch 2,2
    switch 1,switch 1 -> node 1,1
    switch 2,switch 2 -> switch 1,0-1
    switch 2,switch 2 -> node 2,2
    "#);
    let with = |from: &str, to: &str| {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        read(&chain(), &text).unwrap_err()
    };
    let mistakes = [
        with("switch 2,switch 2 -> switch 1,0-1", "switch 2,switch 2 -> switch 1,0"),
        with("switch 1,switch 1 -> switch 2,2", "switch 1,\"switch 1 -> switch 0 #2\",2"),
        with("switch 1,switch 1 -> switch 2,2\n", ""),
        with("switch 1,switch 1 -> node 1,1\n", ""),
        with("#1\",1", "#1\",1-2"),
        with(" #1\",1", "\",1"),
        with("#1\",1", "#3\",1"),
        with("switch 2,switch 2 -> node", "switch 9,switch 2 -> node"),
        with("switch 2 -> node 2,2", "switch 2 -> node 2,1"),
        with("0-1", "1-0 x 7"),
        with("switch 1 -> switch 2,2", "switch 1 -> switch 2,1 2"),
        read(&chain(), "switch,link\n").unwrap_err(),
        read(&chain(), "switch,link,destinations\n").unwrap_err(),
    ];
    insta::assert_snapshot!(mistakes.join("\n\n"), @r#"
    t.csv:8:1: `switch 2` has no entry for node 1 (links would lead there)

    t.csv:3:36: what is for node 2 goes in a circle: switch 0 -> switch 1 -> switch 0 (one of the entries of the circle)

    t.csv:3:36: `switch 1` has no entry for node 2, and this link leads there

    t.csv:5:1: `switch 1` has no entry for node 1, which is on it

    t.csv:3:36: there are two entries for node 2 at `switch 0` (each destination has one link at each switch)

    t.csv:2:11: no link `switch 0 -> switch 1` leaves `switch 0` (there are several); write `switch 0 -> switch 1 #1` for the first of them

    t.csv:2:11: no link `switch 0 -> switch 1 #3` leaves `switch 0`; did you mean `switch 0 -> switch 1 #1`?

    t.csv:9:1: there is no switch `switch 9`; did you mean `switch 0`?

    t.csv:9:29: this link ends at another node than 1 (nothing else is behind it)

    t.csv:8:31: the range 1-0 is empty; write 0-1
    t.csv:8:35: "x" is not the number of a node (a number, or a range like 3-8)
    t.csv:8:37: there is no node 7 (nodes are numbered from 0 to 2)

    t.csv:6:31: node 1 is on `switch 1`, and this link leads away from it; write `switch 1 -> node 1`

    t.csv:1:1: there is no column `destinations` (the columns are switch,link,destinations)

    t.csv:1:1: `switch 0` has no entry for node 0, which is on it
    t.csv:1:1: `switch 1` has no entry for node 0 (links would lead there)
    t.csv:1:1: `switch 2` has no entry for node 0 (links would lead there)
    t.csv:1:1: `switch 1` has no entry for node 1, which is on it
    t.csv:1:1: `switch 0` has no entry for node 1 (links would lead there)
    t.csv:1:1: `switch 2` has no entry for node 1 (links would lead there)
    t.csv:1:1: `switch 2` has no entry for node 2, which is on it
    t.csv:1:1: `switch 0` has no entry for node 2 (links would lead there)
    t.csv:1:1: `switch 1` has no entry for node 2 (links would lead there)
    "#);
    let missing = TablesSpec { file: String::new().into() };
    assert_eq!(RoutingSpec::Tables(missing).build(&chain(), 1).unwrap_err()[0].code, "no-file");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_graph_has_tables(
        switches in 1..12u32,
        per_switch in 1..3u32,
        cables in prop::collection::vec((0..12u32, 0..12u32), 0..24),
        order in prop::sample::select(vec![Order::Switches, Order::RoundRobin, Order::Random]),
    ) {
        let cables = cables.into_iter().filter(|(a, b)| a != b && *a < switches && *b < switches);
        let fabric = of_cables("any", switches, per_switch, cables, None);
        let shortest = rule("shortest-path", &fabric);
        for spec in [RoutingSpec::MinHop(MinHopSpec { order }), RoutingSpec::Dfsssp(DfssspSpec { order })] {
            let router = spec.build(&fabric, 3).unwrap();
            check_routes(&fabric, &*router, Some(&*shortest));
        }
        let up_down = RoutingSpec::UpDown(UpDownSpec { order, ..UpDownSpec::default() }).build(&fabric, 3).unwrap();
        prop_assert!(is_acyclic(&fabric, &*up_down));
        for (src, dst) in pairs(&fabric) {
            prop_assert_eq!(up_down.reaches(src, dst), shortest.reaches(src, dst));
        }
        let again = read(&fabric, &written(&fabric, &*up_down).unwrap()).unwrap();
        for (src, dst) in pairs(&fabric) {
            prop_assert_eq!(route(&*up_down, src, dst), route(&*again, src, dst));
        }
    }

    #[test]
    fn no_file_of_tables_panics(text in "switch,link,destinations\n((switch|node) [0-3],(switch [0-3] -> (switch|node) [0-3]( #[12])?)?,[0-3 -]{0,5}\n){0,8}") {
        let _ = read(&chain(), &text);
    }
}
