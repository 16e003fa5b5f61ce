use super::*;
use crate::diagnostic::Located;
use crate::fabric::{Grid, LinkRole, Tree};
use crate::topology::OneOrList;

fn tree() -> Arc<Fabric> {
    let tree = Tree { down: vec![4, 4], up: vec![1, 4], parallel: vec![1, 1] };
    Arc::new(tree.build("tree".to_owned(), |_| (Bandwidth::from_bytes_per_second(1e9), Time::ZERO)))
}

fn ring(nodes: u32) -> Arc<Fabric> {
    let grid = Grid::new(vec![nodes], vec![true], false);
    Arc::new(grid.build("ring".to_owned(), |_| (Bandwidth::from_bytes_per_second(1e9), Time::ZERO)))
}

fn one(text: &str) -> Option<Located<OneOrList<String>>> {
    Some(OneOrList::One(text.to_owned()).into())
}

fn list(names: &[&str]) -> Option<Located<OneOrList<String>>> {
    Some(OneOrList::List(names.iter().map(|name| (*name).to_owned().into()).collect()).into())
}

fn build(spec: &FaultsSpec, fabric: &Arc<Fabric>, seed: u64) -> Result<Faults, Vec<&'static str>> {
    let rule = RoutingSpec::default_for(fabric);
    let own = rule.build(fabric, seed).unwrap();
    let built = Faults::build(spec, fabric, (&rule, &own), seed);
    built.map_err(|mistakes| mistakes.into_iter().map(|mistake| mistake.code).collect())
}

#[test]
fn exactly_the_part_of_the_cables_between_switches_fails_and_more_of_them_keep_the_first() {
    // 16 cables between switches, 16 to nodes.
    let fabric = tree();
    let failed = |text: &str, node_links: bool, seed| {
        let spec = FaultsSpec { links: one(text), node_links: node_links.then(|| true.into()), ..Default::default() };
        build(&spec, &fabric, seed).unwrap().failed().to_vec()
    };
    for (text, cables) in [("0", 0), ("0 %", 0), ("3 %", 0), ("3.2 %", 1), ("10%", 2), ("25 %", 4), ("50 %", 8)] {
        assert_eq!(failed(text, false, 1).len(), 2 * cables, "{text}");
    }
    assert_eq!(failed("25 %", true, 1).len(), 16);
    let between = |id: &LinkId| matches!(fabric.link(*id).role, LinkRole::Network { .. });
    assert!(failed("100 %", false, 1).iter().all(between));
    let (few, many) = (failed("10 %", false, 5), failed("50 %", false, 5));
    assert!(few.iter().all(|link| many.contains(link)));
    assert_ne!(failed("50 %", false, 5), failed("50 %", false, 6));
}

#[test]
fn a_name_is_one_direction_and_a_cable_is_both() {
    let fabric = ring(5);
    let spec = |names: &[&str]| FaultsSpec { links: list(names), ..Default::default() };
    let failed = |names: &[&str]| build(&spec(names), &fabric, 1).map(|faults| faults.failed().len());
    assert_eq!(failed(&["node 1 -> node 2"]), Ok(1));
    assert_eq!(failed(&["node 1 <-> node 2"]), Ok(2));
    assert_eq!(failed(&["node 2 <-> node 1", "node 0 -> node 1"]), Ok(3));
    assert_eq!(failed(&["node 1 -> node 2", "node 1 <-> node 2"]), Err(vec!["fails-twice"]));
    assert_eq!(failed(&["node 1 -> node 3"]), Err(vec!["unknown-link"]));
    let all: Vec<String> = (0..5).map(|node| format!("node {node} <-> node {}", (node + 1) % 5)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(failed(&all), Err(vec!["all-failed"]));
    assert_eq!(
        build(&FaultsSpec { switches: one("50 %"), ..Default::default() }, &fabric, 1).err(),
        Some(vec!["unknown-switch"])
    );
}

#[test]
fn a_switch_takes_its_links_along_and_cuts_its_nodes_off() {
    let fabric = tree();
    let name = fabric.vertex_name(VertexId(16));
    let faults = build(&FaultsSpec { switches: one(&name), ..Default::default() }, &fabric, 1).unwrap();
    assert_eq!((faults.switches(), faults.failed().len()), (&[VertexId(16)][..], 16));
    // Its 4 nodes with the 12 other nodes, both ways, and the 4 with each other.
    assert_eq!(faults.cut_off().pairs, Some(2 * 4 * 12 + 4 * 3));
    assert!(faults.concern_runs() && !faults.has_events());
}

#[test]
fn degraded_links_carry_a_part() {
    let fabric = ring(6);
    let spec = FaultsSpec { links: one("50 %"), bandwidth: Some("25 %".to_owned().into()), ..Default::default() };
    let faults = build(&spec, &fabric, 1).unwrap();
    assert_eq!((faults.failed().len(), faults.degraded().len()), (0, 6));
    let rate = |link: &LinkId| faults.at_start().link(*link).capacity.bytes_per_second();
    assert!(faults.degraded().iter().all(|link| rate(link) == 0.25e9));
    assert!(!faults.concern_runs());
}

#[test]
fn every_set_of_links_that_is_ever_down_has_routes() {
    let fabric = ring(5);
    let event = |at: f64, link: &str, state| {
        EventSpec {
            at: Some(Time::from_ps(at).into()),
            link: Some(link.to_owned().into()),
            state: Some(state),
            ..Default::default()
        }
        .into()
    };
    let (a, b) = ("node 0 -> node 1", "node 2 -> node 3");
    // In disorder: sorted by time.
    let events = vec![event(5.0, a, StateSpec::Up), event(3.0, b, StateSpec::Down), event(1.0, a, StateSpec::Down)];
    let spec = FaultsSpec { event: events, ..Default::default() };
    let faults = build(&spec, &fabric, 1).unwrap();
    assert!(faults.has_events() && faults.failed().is_empty());
    let id = |name: &str| fabric.links().ids().find(|id| fabric.link_name(*id) == name).unwrap();
    let mut both = vec![id(a), id(b)];
    both.sort_unstable();
    for down in [vec![], vec![id(a)], both, vec![id(b)]] {
        assert!(faults.router_around(&down).is_some(), "{down:?}");
    }
    let wrong = |events| build(&FaultsSpec { event: events, ..Default::default() }, &fabric, 1).err();
    assert_eq!(wrong(vec![event(1.0, a, StateSpec::Up)]), Some(vec!["not-failed"]));
    let twice = vec![event(1.0, a, StateSpec::Down), event(2.0, a, StateSpec::Down)];
    assert_eq!(wrong(twice), Some(vec!["fails-twice"]));
}

#[test]
fn what_is_no_part_is_said_so() {
    assert_eq!(part("1 %"), Some(Ok(0.01)));
    assert_eq!((part("0"), part("100%")), (Some(Ok(0.0)), Some(Ok(1.0))));
    assert!(matches!(part("101 %"), Some(Err(_))) && matches!(part("-1 %"), Some(Err(_))));
    assert!(matches!(part("x %"), Some(Err(_))) && matches!(part("NaN %"), Some(Err(_))));
    assert_eq!(part("node 0 -> node 1"), None);
}
