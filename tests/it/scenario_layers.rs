//! Combination of several texts, and its preservation in a report.

use std::path::Path;

use hayase::pattern::{Injection, PatternSpec};
use hayase::scenario::library::Shelf;
use hayase::scenario::{Loader, Scenario, init, init_defaults, schema};
use hayase::simulation::PatternWork;
use hayase::system::WorkloadSpec;
use hayase::units::{Bytes, Time};

const TREE: &str = "[topology.fat-tree]\np = 2\nbandwidth = \"1 GB/s\"\n";
const SPREAD: &str = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n";

fn base() -> Loader {
    Loader::new().text("s.toml", format!("{TREE}{SPREAD}"))
}

fn load(loader: Loader) -> Scenario<PatternWork> {
    loader.load_pattern().unwrap_or_else(|invalid| panic!("{invalid}"))
}

fn errors(loader: Loader) -> String {
    loader.load_pattern().expect_err("this is wrong").lines()
}

fn size(scenario: &Scenario<PatternWork>) -> Bytes {
    match scenario.work().spec.as_ref().unwrap() {
        WorkloadSpec::Pattern(PatternSpec::AllToAll(spec)) => *spec.size,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_scenario_has_a_rank_for_each_node_and_a_default_for_all_else() {
    let scenario = load(base());
    assert_eq!((scenario.network().unwrap().fabric.nodes(), scenario.work().pattern.ranks()), (16, 16));
    assert_eq!((scenario.seed(), scenario.work().injection, scenario.work().jitter), (1, Injection::Queue, Time::ZERO));
    let json = scenario.to_json();
    let choice = |key: &str| json[key].as_object().unwrap().keys().next().unwrap().clone();
    let chosen = ["topology", "routing", "placement", "sharing", "workload"].map(choice);
    assert_eq!(chosen, ["fat-tree", "d-mod-k", "regular", "max-min", "all-to-all"]);
}

#[test]
fn a_later_text_overrides_key_by_key() {
    let scenario = load(base().set("--set", "topology.fat-tree.p=3"));
    assert_eq!((scenario.network().unwrap().fabric.nodes(), size(&scenario)), (54, Bytes(20_000)));
}

#[test]
fn another_choice_replaces_the_whole_table() {
    let torus = "[topology.torus]\ndims = [3, 4]\nbandwidth = \"1 GB/s\"\n";
    let scenario = load(base().text("t.toml", torus));
    assert_eq!(scenario.network().unwrap().fabric.nodes(), 12);
    let lacking = errors(base().set("--set", "topology.torus.dims=[3, 4]"));
    assert!(lacking.starts_with("--set:1:10: missing key `bandwidth`"), "{lacking}");
}

#[test]
fn what_a_name_stands_for_is_whole() {
    let text = "[topology.torus]\ndims = [4, 4]\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"0.5 GB/s\"\n\
                [workload.all-to-all]\nalgorithm = \"linear\"\nsize = \"1 MB\"\ninjection = \"all\"\n";
    let (named, plain) = ("torus-8x8", "all-to-all-simple-spread");
    let expected = load(Loader::new().topology(named).pattern(plain)).to_json();
    assert_eq!(load(Loader::new().text("s.toml", text).topology(named).pattern(plain)).to_json(), expected);
    let set = |key: &str, name: &str| format!("{key}=\"{name}\"");
    let loader = Loader::new().text("s.toml", text).set("--set", &set("topology", named));
    assert_eq!(load(loader.set("--set", &set("workload", plain))).to_json(), expected);
    let under = Loader::new().preset("mfs").text("s.toml", "workload = \"all-to-all-simple-spread\"\n");
    assert_eq!(load(under).work().injection, Injection::SendRecv);
    // A named text overrides its preset; the text itself overrides the texts that it names.
    let over = "preset = \"mfs\"\ntopology = \"torus-8x8\"\nworkload = \"all-to-all-linear\"\n";
    let scenario = load(Loader::new().text("s.toml", over));
    assert_eq!((scenario.work().injection, size(&scenario)), (Injection::All, Bytes(20_000)));
}

#[test]
fn flags_override_files_wherever_they_stand() {
    let flags = Loader::new()
        .size("1 KiB")
        .seed(7)
        .jitter("5 us")
        .injection("window=3")
        .text("s.toml", TREE.to_owned() + SPREAD);
    let scenario = load(flags.sharing("equal-share").placement("random").routing("hashed"));
    assert_eq!((size(&scenario), scenario.seed()), (Bytes(1024), 7));
    assert_eq!((scenario.work().jitter, scenario.work().injection), (Time::from_ps(5e6), Injection::Window(3)));
    assert_eq!(scenario.network().unwrap().sharing.name(), "equal-share");
    assert!(scenario.depends_on_seed());
}

#[test]
fn a_value_that_is_no_toml_is_a_text() {
    let scenario = load(base().set("--set", "workload.all-to-all.size = 64 KiB").set("--set", "sharing=equal-share"));
    assert_eq!((size(&scenario), scenario.network().unwrap().sharing.name()), (Bytes(65_536), "equal-share"));
    let quoted = load(base().set("--set", "workload.all-to-all.injection=\"barrier\""));
    assert_eq!(quoted.work().injection, Injection::Barrier);
}

#[test]
fn a_text_may_name_another() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("tree.toml"), TREE).unwrap();
    std::fs::write(path("messages.csv"), "src,dst,bytes\n0,1,100\n1,0,50\n").unwrap();
    std::fs::write(
        path("s.toml"),
        "topology = \"tree.toml\"\nworkload = \"messages.csv\"\nsharing = \"equal-share\"\n",
    )
    .unwrap();
    let scenario = load(Loader::new().file(&path("s.toml")));
    assert_eq!((scenario.network().unwrap().fabric.nodes(), scenario.work().pattern.ranks()), (16, 2));
    // From a complete scenario -t takes only the topology.
    let other = load(base().topology(path("s.toml").to_str().unwrap()));
    assert_eq!(other.work().pattern.ranks(), 16);
    std::fs::write(path("self.toml"), "topology = \"self.toml\"").unwrap();
    let endless = errors(Loader::new().file(&path("self.toml")).pattern("npb-cg-W-16"));
    assert!(endless.ends_with("self.toml:1:12: `self.toml` is named by a text that it names itself"), "{endless}");
}

#[test]
fn every_named_thing_loads() {
    for named in Shelf::Topologies.all() {
        let network =
            Loader::new().topology(named.name).load_topology().unwrap_or_else(|e| panic!("{}: {e}", named.name));
        assert!(network.fabric.nodes() > 0);
    }
    let grouped = Loader::new().topology("dragonfly-72").load_topology().unwrap();
    for named in Shelf::Patterns.all() {
        // Both a square and a power of two. Some patterns use the fabric's groups or routes.
        let loader = Loader::new().pattern(named.name);
        let work = match named.name {
            "adv" | "group-permutation" | "hot-group" | "worst-case" => loader.load_workload(&grouped.ground()),
            _ => loader.load_workload(&16),
        };
        let work = work.unwrap_or_else(|e| panic!("{}: {e}", named.name));
        assert!(work.pattern.messages() > 0, "{}", named.name);
    }
}

/// Reads the scenario of a report again from the file it was written to.
fn through_a_report(scenario: &Scenario<PatternWork>, directory: &Path) -> Scenario<PatternWork> {
    let report = serde_json::json!({ "schema": "hayase-report-1", "scenario": scenario.to_json(), "makespan_s": 1.0 });
    let path = directory.join("report.json");
    std::fs::write(&path, serde_json::to_string_pretty(&report).unwrap()).unwrap();
    load(Loader::new().file(&path))
}

#[test]
fn a_report_holds_the_whole_scenario() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!(
        "seed = 18446744073709551615\nresolution = \"0.1 ns\"\n{TREE}{SPREAD}[sharing.redistribute]\nthreshold = 0.003\n"
    );
    let random = load(Loader::new().text("s.toml", text).placement("random").jitter("1 us"));
    let again = through_a_report(&random, directory.path());
    assert_eq!(again.to_json(), random.to_json());
    assert_eq!(again.network().unwrap().placement, random.network().unwrap().placement);
}

#[test]
fn a_report_names_files_so_that_they_are_found_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join("sub").join(name);
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    std::fs::write(path("links.csv"), "id,from,to,bandwidth\na,0,1,1e9\nb,1,0,1e9\n").unwrap();
    std::fs::write(path("nodes.csv"), "rank,node\n0,1\n1,0\n").unwrap();
    std::fs::write(path("messages.csv"), "src,dst,bytes\n0,1,100\n").unwrap();
    let text =
        "placement = \"nodes.csv\"\nworkload = \"messages.csv\"\n[topology.custom]\nnodes = 2\nlinks = \"links.csv\"\n";
    std::fs::write(path("s.toml"), text).unwrap();
    let scenario = load(Loader::new().file(&path("s.toml")));
    let again = through_a_report(&scenario, directory.path());
    assert_eq!(
        (again.network().unwrap().placement.clone(), again.network().unwrap().fabric.links().len()),
        (scenario.network().unwrap().placement.clone(), 2)
    );
    let built_in = load(base().pattern("npb-cg-W-16"));
    assert_eq!(through_a_report(&built_in, directory.path()).work().pattern.messages(), 47_104);
}

#[test]
fn another_seed_draws_again_what_is_random_and_shares_the_rest() {
    let one = load(base().placement("random"));
    let two = one.with_seed(2).unwrap();
    assert!(
        std::sync::Arc::ptr_eq(&one.network().unwrap().fabric, &two.network().unwrap().fabric)
            && std::sync::Arc::ptr_eq(&one.work().pattern, &two.work().pattern)
    );
    assert_ne!(one.network().unwrap().placement, two.network().unwrap().placement);
    assert_eq!(two.network().unwrap().placement, load(base().placement("random").seed(2)).network().unwrap().placement);
    assert_eq!(two.seed(), 2);
    assert!(!load(base()).depends_on_seed());
}

#[test]
fn a_first_scenario_can_be_run_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree.toml");
    std::fs::write(&tree, TREE).unwrap();
    let tree = tree.to_str().unwrap();
    let (topology, pattern) = init_defaults();
    let topology = Shelf::Topologies.get(topology).map_or(tree, |named| named.name);
    let mut pairs = vec![(topology, pattern), (tree, "halo-2d"), (tree, "npb-cg-W-16")];
    pairs.extend(Shelf::Topologies.names().map(|name| (name, "ring")));
    for (topology, pattern) in pairs {
        let text = init(topology, pattern).unwrap();
        let loaded = Loader::new().text("first.toml", text.as_str()).load_pattern();
        let named = load(Loader::new().topology(topology).pattern(pattern));
        match loaded {
            Ok(scenario) => assert_eq!(scenario.to_json(), named.to_json()),
            Err(invalid) => panic!("{invalid}\n{text}"),
        }
    }
}

#[test]
fn the_schema_knows_every_table_and_the_names() {
    let text = schema();
    let schema: serde_json::Value = serde_json::from_str(text).unwrap();
    for word in ["fat-tree", "max-min", "all-to-all", "resolution", "title", "d-mod-k", "window"] {
        assert!(text.contains(word), "{word}");
    }
    let kinds = schema["properties"]["topology"]["anyOf"].as_array().unwrap();
    assert!(kinds.iter().any(|kind| kind["type"] == "string"));
}
