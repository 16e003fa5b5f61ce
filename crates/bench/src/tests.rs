//! The loads match their names, and windows are in their places.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::loads::Work;
use super::*;

fn load(name: &str) -> Load {
    loads().into_iter().find(|load| load.name() == name).unwrap_or_else(|| panic!("no load is called {name}"))
}

#[test]
fn names_are_unique_and_no_load_but_the_large_ones_has_mistakes() {
    let mut names = BTreeSet::new();
    for load in loads() {
        assert!(names.insert(load.name().to_owned()), "{} twice", load.name());
        if load.work == Work::Text && load.tier() < Tier::Large {
            let scenario = load.scenario().unwrap_or_else(|invalid| panic!("{}: {invalid}", load.name()));
            let parts: Vec<&str> = load.name().split('/').collect();
            let network = scenario.system().network().unwrap();
            let model = match network.transport.is_flow() {
                true => network.sharing.name().to_owned(),
                false => network.transport.name(),
            };
            assert_eq!(model, parts[2], "{}", load.name());
            assert_eq!(scenario.system().placement().unwrap().name(), parts[1], "{}", load.name());
            let nodes = parts[0].rsplit_once('-').unwrap().1;
            let nodes: u32 = nodes.split('x').map(|n| n.parse::<u32>().unwrap()).product();
            assert_eq!(network.fabric.nodes(), nodes, "{}", load.name());
        }
    }
}

#[test]
fn every_line_of_the_list_is_a_load() {
    let lines = include_str!("loads.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(loads().len(), lines.count());
}

#[test]
fn a_load_without_a_window_is_run_to_its_end() {
    let run = load("fat-tree-54/random/equal-share").measure(Length::Usual, None).unwrap().unwrap();
    assert_eq!((run.nodes, run.messages), (54, 54 * 53));
    assert!(run.cpu_ns > 0.0 && run.wall_ns > 0.0);
}

#[test]
fn a_window_has_the_messages_asked_for_and_few_more() {
    let load = load("torus-32x32/random/equal-share");
    let run = load.measure(Length::Messages(5000), None).unwrap().unwrap();
    // 1,024 instants, each of a few messages at most once the nodes are out of step.
    assert!((5000..20_000).contains(&run.messages), "{}", run.messages);
}

#[test]
fn what_is_stopped_gives_no_figure() {
    let stop = AtomicBool::new(true);
    assert_eq!(load("torus-32x32/random/equal-share").measure(Length::Usual, Some(&stop)).unwrap(), None);
}

#[test]
fn routes_are_counted_of_rules_that_choose_and_of_others() {
    for name in ["dragonfly-1056/route/family", "dragonfly-1056/route/ugal-g"] {
        let run = load(name).measure(Length::Usual, None).unwrap().unwrap();
        assert_eq!((run.nodes, run.messages % (1 << 16)), (1056, 0), "{name}");
        assert!(run.messages > 0 && run.cpu_ns >= 1e8, "{name}");
    }
}

#[test]
fn a_load_by_rule_is_on_its_fabric_under_its_rule() {
    let rules: Vec<Load> = loads().into_iter().filter(|load| matches!(load.work, Work::Uniform { .. })).collect();
    assert_eq!(rules.len(), 4);
    for load in rules {
        let scenario = load.scenario().unwrap();
        let network = scenario.system().network().unwrap();
        let (fabric, rule) = load.name().split_once("/uniform/").unwrap();
        assert!(fabric.ends_with(&format!("-{}", network.fabric.nodes())), "{fabric}");
        assert_eq!(network.router.choice().is_some(), rule.starts_with("ugal"), "{rule}");
    }
}

#[test]
fn events_of_a_program_are_its_operations_and_messages_and_second_tries() {
    // Three for each message. The stencil has 9 operations and 4 messages a rank and iteration, and 3
    // repeated tries: four messages leave one after another.
    let stencil = 1024 * 20 * (9 + 4 + 3);
    for (name, ranks, events) in
        [("pairwise-64", 64, 12_096), ("broadcast-1024", 1024, 3_069), ("stencil-32x32", 1024, stencil)]
    {
        let run = load(&format!("{name}/loggopsim/events")).measure(Length::Usual, None).unwrap().unwrap();
        assert_eq!((run.nodes, run.messages), (ranks, events), "{name}");
    }
}
