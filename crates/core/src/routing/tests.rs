//! Tests of routes on regular fabrics: they are valid, and each rule keeps its promises.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::Located;
use crate::fabric::{CrossbarGrid, Grid, LinkRole, Tree};
use crate::ids::{Id, IdVec, LinkId, NodeId, VertexId};
use crate::units::{Bandwidth, Time};

fn unit(_: LinkRole) -> (Bandwidth, Time) {
    (Bandwidth::from_bytes_per_second(1.0), Time::ZERO)
}

fn tree(down: &[u32], up: &[u32], parallel: &[u32]) -> Arc<Fabric> {
    let tree = Tree { down: down.to_vec(), up: up.to_vec(), parallel: parallel.to_vec() };
    Arc::new(tree.build("tree".to_owned(), unit))
}

fn full(p: u32) -> Arc<Fabric> {
    tree(&[p, p, 2 * p], &[1, p, p], &[1, 1, 1])
}

fn grid(dims: &[u32], wrap: &[bool], host_link: bool) -> Arc<Fabric> {
    Arc::new(Grid::new(dims.to_vec(), wrap.to_vec(), host_link).build("grid".to_owned(), unit))
}

fn crossbars(dims: &[u32], host_link: bool) -> Arc<Fabric> {
    Arc::new(CrossbarGrid { dims: dims.to_vec(), host_link }.build("hyper-crossbar".to_owned(), unit))
}

fn rule(name: &str, fabric: &Arc<Fabric>) -> Arc<dyn Router> {
    RoutingSpec::parse_name(name).unwrap().build(fabric, 1).unwrap()
}

fn with_ties(ties: Ties, fabric: &Arc<Fabric>) -> Arc<dyn Router> {
    let spec = DimensionOrderSpec { order: None, ties: Some(ties) };
    RoutingSpec::DimensionOrder(spec).build(fabric, 1).unwrap()
}

fn route(router: &dyn Router, src: u32, dst: u32) -> Vec<LinkId> {
    let mut route = Vec::new();
    router.route(NodeId(src), NodeId(dst), &mut route);
    route
}

fn pairs(fabric: &Fabric) -> impl Iterator<Item = (u32, u32)> + use<> {
    let nodes = fabric.nodes();
    (0..nodes).flat_map(move |src| (0..nodes).map(move |dst| (src, dst)))
}

/// Checks that every route leads from its source to its destination without crossing a link twice.
fn check_routes(fabric: &Fabric, router: &dyn Router) {
    for (src, dst) in pairs(fabric) {
        let route = route(router, src, dst);
        let mut here = VertexId(src);
        for (i, &link) in route.iter().enumerate() {
            let (from, to) = fabric.link(link).ends.unwrap();
            assert_eq!(from, here, "link {i} of the route from {src} to {dst} on {fabric}");
            assert!(!route[..i].contains(&link), "{src} to {dst} crosses {link} twice");
            here = to;
        }
        assert_eq!(here, VertexId(dst), "the route from {src} to {dst} on {fabric} ends elsewhere");
    }
}

/// Returns the number of messages over each link if every node sends one to every other.
fn all_to_all(fabric: &Fabric, router: &dyn Router) -> Vec<u32> {
    let mut load = vec![0; fabric.links().len()];
    for (src, dst) in pairs(fabric) {
        route(router, src, dst).iter().for_each(|link| load[link.index()] += 1);
    }
    load
}

fn trees() -> Vec<Arc<Fabric>> {
    vec![
        full(1),
        full(2),
        full(3),
        tree(&[7], &[1], &[1]),
        tree(&[1], &[1], &[1]),
        tree(&[4], &[1], &[3]),
        tree(&[4, 6], &[1, 2], &[1, 2]),
        tree(&[4, 6], &[1, 2], &[2, 1]),
        tree(&[6, 4], &[1, 3], &[1, 1]),
        tree(&[4, 4, 3], &[1, 2, 2], &[1, 1, 1]),
        tree(&[4, 3, 2], &[1, 2, 2], &[1, 2, 4]),
        tree(&[2, 3, 4], &[2, 3, 1], &[1, 2, 3]),
        tree(&[3, 1, 4], &[1, 2, 3], &[1, 3, 1]),
        tree(&[1, 5, 2], &[1, 7, 3], &[1, 1, 1]),
        tree(&[2, 2, 2, 2, 3], &[1, 2, 2, 2, 2], &[1, 1, 1, 1, 1]),
        tree(&[3, 5], &[1, 16], &[1, 1]),
        tree(&[5, 3], &[2, 2], &[3, 1]),
    ]
}

#[test]
fn every_rule_leads_from_source_to_destination_on_every_tree() {
    for fabric in trees() {
        for name in ["d-mod-k", "s-mod-k", "hashed"] {
            check_routes(&fabric, &*rule(name, &fabric));
        }
    }
}

#[test]
fn dimension_order_leads_from_source_to_destination_by_a_shortest_way() {
    let shapes: [(&[u32], &[bool]); 9] = [
        (&[4, 4], &[true, true]),
        (&[5, 3], &[true, true]),
        (&[5, 4], &[false, false]),
        (&[1, 6], &[true, true]),
        (&[2, 2, 2], &[true, true, true]),
        (&[2, 7], &[true, false]),
        (&[3, 4, 5], &[false, false, true]),
        (&[1], &[true]),
        (&[9], &[true]),
    ];
    for (dims, wrap) in shapes {
        for host_link in [false, true] {
            let fabric = grid(dims, wrap, host_link);
            for ties in [Ties::Positive, Ties::Balanced, Ties::Random, Ties::Simgrid] {
                let router = with_ties(ties, &fabric);
                check_routes(&fabric, &*router);
                let grid = fabric.family_as::<Grid>().unwrap();
                for (src, dst) in pairs(&fabric).filter(|(src, dst)| src != dst) {
                    let (from, to) = (grid.coordinates(src), grid.coordinates(dst));
                    let distance = |dim: usize| {
                        let straight = from[dim].abs_diff(to[dim]);
                        if grid.wrap[dim] { straight.min(dims[dim] - straight) } else { straight }
                    };
                    let hops = (0..dims.len()).map(distance).sum::<u32>() + if host_link { 2 } else { 0 };
                    assert_eq!(route(&*router, src, dst).len() as u32, hops, "{src} to {dst} on {dims:?}");
                }
            }
        }
    }
}

#[test]
fn dimension_order_crosses_one_crossbar_for_each_coordinate_that_differs() {
    for dims in [&[4, 3][..], &[1, 5], &[2, 2, 2], &[3, 1, 4], &[6]] {
        for host_link in [false, true] {
            let fabric = crossbars(dims, host_link);
            let router = rule("dimension-order", &fabric);
            check_routes(&fabric, &*router);
            let grid = fabric.family_as::<CrossbarGrid>().unwrap();
            for (src, dst) in pairs(&fabric).filter(|(src, dst)| src != dst) {
                let (from, to) = (grid.coordinates(src), grid.coordinates(dst));
                let differing = from.iter().zip(&to).filter(|(a, b)| a != b).count() + usize::from(host_link);
                assert_eq!(route(&*router, src, dst).len(), 2 * differing);
            }
        }
    }
}

#[test]
fn dimensions_are_crossed_in_the_order_that_is_asked_for() {
    let fabric = grid(&[4, 4], &[true, true], false);
    let order = |order: Vec<u32>| {
        let order = order.into_iter().map(Located::from).collect::<Vec<_>>();
        let spec = DimensionOrderSpec { order: Some(order.into()), ties: None };
        RoutingSpec::DimensionOrder(spec).build(&fabric, 1)
    };
    let tiers = |router: Arc<dyn Router>| -> Vec<LinkRole> {
        route(&*router, 0, 5).iter().map(|&link| fabric.link(link).role).collect()
    };
    let [x, y] = [0, 1].map(|tier| LinkRole::Network { tier });
    assert_eq!(tiers(order(vec![0, 1]).unwrap()), [x, y]);
    assert_eq!(tiers(order(vec![1, 0]).unwrap()), [y, x]);
    for wrong in [vec![0], vec![0, 0], vec![0, 2], vec![0, 1, 1]] {
        assert_eq!(order(wrong).unwrap_err()[0].code, "dimension-order");
    }
}

#[test]
fn a_route_to_itself_is_empty() {
    let fabrics = [full(2), grid(&[3, 3], &[true, true], true), crossbars(&[3, 3], true)];
    for fabric in fabrics {
        let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
        assert_eq!(route(&*router, 4, 4), []);
    }
}

#[test]
fn shifts_on_a_full_bisection_tree_share_no_link() {
    for p in [2, 3, 4, 5] {
        let fabric = full(p);
        for name in ["d-mod-k", "s-mod-k"] {
            let router = rule(name, &fabric);
            for shift in 1..fabric.nodes() {
                let mut used = vec![false; fabric.links().len()];
                for src in 0..fabric.nodes() {
                    for link in route(&*router, src, (src + shift) % fabric.nodes()) {
                        assert!(!std::mem::replace(&mut used[link.index()], true), "p={p}, {name}, shift {shift}");
                    }
                }
            }
        }
    }
}

#[test]
fn s_mod_k_mirrors_d_mod_k() {
    for fabric in trees() {
        let tree = fabric.family_as::<Tree>().unwrap();
        let (forth, back) = (rule("d-mod-k", &fabric), rule("s-mod-k", &fabric));
        for (src, dst) in pairs(&fabric) {
            let turned = |link: &LinkId| {
                let at = tree.link(*link);
                if at.down {
                    tree.up_link(at.level, at.child, at.port)
                } else {
                    tree.down_link(at.level, at.child, at.port)
                }
            };
            let mirrored: Vec<_> = route(&*back, dst, src).iter().rev().map(turned).collect();
            assert_eq!(route(&*forth, src, dst), mirrored);
        }
    }
}

#[test]
fn hashed_ways_depend_on_the_seed_and_use_all_links() {
    let fabric = full(3);
    let spec = |seed| RoutingSpec::Hashed(HashedSpec { seed });
    let [one, two] = [None, Some(2)].map(|seed| spec(seed).build(&fabric, 1).unwrap());
    assert!(pairs(&fabric).any(|(src, dst)| route(&*one, src, dst) != route(&*two, src, dst)));
    let load = all_to_all(&fabric, &*one);
    assert!(load.iter().all(|&load| load > 0));
}

/// Parses a file of `testdata`: link numbers by source and destination.
fn simgrid(text: &str) -> Vec<Vec<Vec<u32>>> {
    let links = |field: &str| field.split_whitespace().map(|link| link.parse().unwrap()).collect();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(';').map(links).collect()).collect()
}

#[test]
fn routes_are_those_of_simgrid_but_for_the_names_of_links() {
    let torus = |n: u32| grid(&[n, n], &[true, true], false);
    let cases = [
        (full(2), include_str!("testdata/fat-tree-2.txt")),
        (full(3), include_str!("testdata/fat-tree-3.txt")),
        (torus(3), include_str!("testdata/torus-3.txt")),
        (torus(4), include_str!("testdata/torus-4.txt")),
        (torus(5), include_str!("testdata/torus-5.txt")),
    ];
    for (fabric, text) in cases {
        let theirs = simgrid(text);
        let router = match fabric.family_as::<Grid>() {
            Some(_) => with_ties(Ties::Simgrid, &fabric),
            None => rule("d-mod-k", &fabric),
        };
        assert_eq!(theirs.len(), fabric.nodes() as usize);
        let (mut ours_of, mut theirs_of) = (BTreeMap::new(), BTreeMap::new());
        for (src, dst) in pairs(&fabric) {
            let (ours, theirs) = (route(&*router, src, dst), &theirs[src as usize][dst as usize]);
            assert_eq!(ours.len(), theirs.len());
            for (&ours, &theirs) in ours.iter().zip(theirs) {
                assert_eq!(*ours_of.entry(theirs).or_insert(ours), ours, "{src} to {dst} on {fabric}");
                assert_eq!(*theirs_of.entry(ours).or_insert(theirs), theirs, "{src} to {dst} on {fabric}");
            }
        }
        assert!(!ours_of.is_empty());
    }
}

#[test]
fn balanced_ties_reach_the_bound_of_an_all_to_all_on_a_torus() {
    for n in [4, 6, 8, 10, 14] {
        let fabric = grid(&[n, n], &[true, true], true);
        let busiest = |ties| {
            let load = all_to_all(&fabric, &*with_ties(ties, &fabric));
            load[2 * fabric.nodes() as usize..].iter().copied().max().unwrap()
        };
        assert_eq!(busiest(Ties::Balanced), n * n * n / 8, "n = {n}");
        assert_eq!(busiest(Ties::Positive), n * n * (n + 2) / 8, "n = {n}");
        assert!(busiest(Ties::Random) < busiest(Ties::Positive));
    }
    for n in [3, 5, 9, 15] {
        let fabric = grid(&[n, n], &[true, true], false);
        let load = all_to_all(&fabric, &*with_ties(Ties::Positive, &fabric));
        assert!(load.iter().all(|&load| load == n * (n * n - 1) / 8), "n = {n}");
    }
}

/// Checks, by listing all routes, that every route over a link also crosses its dominator. Returns for each
/// link the nodes that it serves (destinations with D-mod-k, sources with S-mod-k).
fn check_dominators(fabric: &Fabric, router: &dyn Router, by_source: bool) -> Vec<Vec<u32>> {
    let mut served = vec![Vec::new(); fabric.links().len()];
    for (src, dst) in pairs(fabric) {
        let route = route(router, src, dst);
        for link in &route {
            served[link.index()].push(if by_source { src } else { dst });
            if let Some(dominator) = router.dominator(*link) {
                assert!(route.contains(&dominator), "{src} to {dst} crosses {link} but not {dominator} on {fabric}");
            }
        }
    }
    for link in fabric.links().ids() {
        let chain = std::iter::successors(Some(link), |&link| router.dominator(link));
        assert!(chain.take(100).count() < 100, "the dominators of {link} do not end");
    }
    for nodes in &mut served {
        nodes.sort_unstable();
        nodes.dedup();
    }
    served
}

#[test]
fn a_dominator_is_on_every_route_over_the_link_and_every_single_destination_has_one() {
    for fabric in trees() {
        let tree = fabric.family_as::<Tree>().unwrap();
        for (name, down) in [("d-mod-k", true), ("s-mod-k", false)] {
            let router = rule(name, &fabric);
            let served = check_dominators(&fabric, &*router, !down);
            for link in fabric.links().ids() {
                let at = tree.link(link);
                if at.level > 1 && at.down == down && served[link.index()].len() == 1 {
                    assert!(router.dominator(link).is_some(), "{name} on {fabric}: {}", fabric.link_name(link));
                }
            }
        }
        let hashed = rule("hashed", &fabric);
        check_dominators(&fabric, &*hashed, false);
    }
}

#[test]
fn all_links_down_above_the_hosts_are_dominated_on_full_bisection_trees() {
    for p in [2, 3, 4] {
        let fabric = full(p);
        let tree = fabric.family_as::<Tree>().unwrap();
        let router = rule("d-mod-k", &fabric);
        for link in fabric.links().ids() {
            let at = tree.link(link);
            let end = std::iter::successors(Some(link), |&link| router.dominator(link)).last().unwrap();
            if at.down {
                assert_eq!(tree.link(end).level, 1);
            } else {
                assert_eq!(end, link);
            }
        }
    }
}

#[test]
fn a_rule_that_does_not_fit_says_which_one_does() {
    let torus = grid(&[4, 4], &[true, true], true);
    for name in ["d-mod-k", "s-mod-k", "hashed"] {
        let mistake = &RoutingSpec::parse_name(name).unwrap().build(&torus, 1).unwrap_err()[0];
        assert_eq!(mistake.code, "routing-misfit");
        assert!(mistake.help.as_ref().unwrap().contains("dimension-order"));
    }
    let mistake = &rule_error("dimension-order", &full(2));
    assert!(mistake.help.as_ref().unwrap().contains("d-mod-k"));
}

fn rule_error(name: &str, fabric: &Arc<Fabric>) -> Diagnostic {
    RoutingSpec::parse_name(name).unwrap().build(fabric, 1).unwrap_err().remove(0)
}

#[test]
fn rules_are_known_by_their_names() {
    for name in RoutingSpec::names() {
        let rule = RoutingSpec::parse_name(name).unwrap();
        assert_eq!(rule.name(), name);
        let written: BTreeMap<String, RoutingSpec> = BTreeMap::from([("routing".to_owned(), rule)]);
        assert!(toml::to_string(&written).unwrap().contains(&format!("[routing.{name}]")));
    }
    let mistake = RoutingSpec::parse_name("dmodk").unwrap_err();
    assert_eq!(mistake.help.as_deref(), Some("did you mean `d-mod-k`?"));
    assert!(RoutingSpec::parse_name("valiant").unwrap_err().help.unwrap().contains("write one of"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn routes_and_dominators_hold_on_random_trees(
        levels in prop::collection::vec((1..5u32, 1..4u32, 1..3u32), 1..5),
        first in 1..3u32,
    ) {
        let (down, rest): (Vec<u32>, Vec<(u32, u32)>) = levels.into_iter().map(|(m, w, c)| (m, (w, c))).unzip();
        let (mut up, parallel): (Vec<u32>, Vec<u32>) = rest.into_iter().unzip();
        up[0] = first;
        let fabric = tree(&down, &up, &parallel);
        prop_assume!(fabric.nodes() <= 80);
        for name in ["d-mod-k", "s-mod-k", "hashed"] {
            let router = rule(name, &fabric);
            check_routes(&fabric, &*router);
            check_dominators(&fabric, &*router, false);
        }
    }

    #[test]
    fn routes_hold_on_random_grids(
        dims in prop::collection::vec((1..6u32, any::<bool>()), 1..4),
        host_link: bool,
        seed: u64,
    ) {
        let (dims, wrap): (Vec<u32>, Vec<bool>) = dims.into_iter().unzip();
        let fabric = grid(&dims, &wrap, host_link);
        for ties in [Ties::Positive, Ties::Balanced, Ties::Random, Ties::Simgrid] {
            let spec = RoutingSpec::DimensionOrder(DimensionOrderSpec { order: None, ties: Some(ties) });
            check_routes(&fabric, &*spec.build(&fabric, seed).unwrap());
        }
        let fabric = crossbars(&dims, host_link);
        check_routes(&fabric, &*rule("dimension-order", &fabric));
    }
}

#[test]
fn links_are_counted_as_often_as_routes_cross_them() {
    let trees =
        [tree(&[6], &[1], &[1]), tree(&[3, 4], &[1, 2], &[1, 2]), full(3), tree(&[2, 2, 2, 3], &[1, 2, 1, 2], &[1; 4])];
    for fabric in &trees {
        for name in ["d-mod-k", "s-mod-k", "hashed", "minimal", "ecmp"] {
            let router = rule(name, fabric);
            // Each pair once, and one pair so often that a byte overflows.
            let mut ends: Vec<_> = pairs(fabric).map(|(src, dst)| (NodeId(src), NodeId(dst))).collect();
            ends.extend([(NodeId(0), NodeId(fabric.nodes() - 1)); 300]);
            let mut walked = vec![0u32; fabric.links().len()];
            for &(src, dst) in &ends {
                route(&*router, src.0, dst.0).iter().for_each(|link| walked[link.index()] += 1);
            }
            let (mut counts, mut few) = (IdVec::filled(walked.len(), 0), IdVec::filled(walked.len(), 0));
            router.count(&ends, &mut counts);
            let crossings = router.count_few(&ends, &mut few);
            assert_eq!(counts.as_slice(), walked, "{name}");
            assert_eq!(crossings, walked.iter().map(|&count| u64::from(count)).sum::<u64>(), "{name}");
            assert!(few.iter().zip(&walked).all(|(&few, &count)| u32::from(few) == count % 256), "{name}");
            assert!(walked.iter().any(|&count| count > 255));
        }
    }
}
