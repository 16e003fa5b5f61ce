//! What a user is told: all mistakes at once, each with its file, line and column and what to write instead.

use std::path::Path;

use hayase::scenario::Loader;
use insta::assert_snapshot;

const TREE: &str = "[topology.fat-tree]\np = 2\nbandwidth = \"1 GB/s\"\n";
const SPREAD: &str = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n";

fn told(loader: Loader) -> String {
    loader.load().expect_err("this is wrong").to_string()
}

fn told_of(text: &str) -> String {
    told(Loader::new().text("s.toml", text))
}

fn base() -> Loader {
    Loader::new().text("s.toml", format!("{TREE}{SPREAD}"))
}

#[test]
fn a_scenario_without_topology_and_workload() {
    assert_snapshot!(told_of("seed = 1"), @"X");
}

#[test]
fn toml_that_is_none() {
    let text =
        "seed = \n[topology.fat-tree\np == 3\nbandwidth = \"1 GB/s\nx = 1\n[workload.ring]\nsise = 1\n[a]\n[a]\n";
    assert_snapshot!(told_of(text), @"X");
}

#[test]
fn many_mistakes_of_one_file() {
    let text = "sede = 1\nseed = -1\nresolution = 5\n\n[topology.fat-tree]\np = \"2\"\nbandwith = \"1 GB/s\"\n\
                latency = \"1 sec\"\nhost-bandwidth = 3\n\n[workload.all-to-all]\nalgorithm = \"simple\"\nsize = \"20 KBs\"\n\n\
                [sharing.maxmin]\n\n[routing]\n\n[placement.regular]\nx = 1\n";
    assert_snapshot!(told_of(text), @"X");
}

#[test]
fn keys_that_are_missing() {
    assert_snapshot!(told_of("[topology.torus]\n[workload.all-to-all]\n"), @"X");
    assert_snapshot!(told_of("topology.crossbar.nodes = 1\nworkload.file.path = 'x.csv'"), @"X");
}

#[test]
fn values_of_the_wrong_kind() {
    let text = "topology = 5\nworkload = []\nplacement = true\nsharing = \"maxmin\"\nrouting = \"d-mod-q\"\n";
    assert_snapshot!(told_of(text), @"X");
    let text = "[topology.hyper-crossbar]\ndims = [4, \"4\", -3]\nbandwidth = [\"1 GB/s\", 3]\n";
    assert_snapshot!(told_of(&format!("{text}{SPREAD}")), @"X");
}

#[test]
fn two_choices_where_one_can_be_used() {
    let text = format!("{TREE}[topology.torus]\ndims = [4, 4]\n{SPREAD}");
    assert_snapshot!(told_of(&text), @"X");
}

#[test]
fn flags_are_marked_like_files() {
    let flags = base()
        .set("--set", "topology.fat-tree.p=two")
        .set("--set", "topology.fat-tree")
        .set("--set", "a b=3")
        .set("--set", "workload.all-to-all.sise=1 KB")
        .injection("quee")
        .jitter("5")
        .sharing("max")
        .routing("d-mod-kay")
        .placement("randon");
    assert_snapshot!(told(flags), @"X");
    let messages = Loader::new().text("s.toml", format!("{TREE}[workload.file]\npath = 'x.csv'\n"));
    assert_snapshot!(told(messages.size("20 KB")), @"X");
}

#[test]
fn names_that_are_not_known() {
    assert_snapshot!(told(Loader::new().topology("no-such-fabric").pattern("npb-cg-W-15")), @"X");
    assert_snapshot!(told(Loader::new().file(Path::new("no-such.toml")).topology("no-such.xml.toml")), @"X");
}

#[test]
fn a_file_of_something_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pattern.toml");
    std::fs::write(&path, SPREAD).unwrap();
    let told = told(base().topology(path.to_str().unwrap()));
    assert_snapshot!(told.replace(directory.path().to_str().unwrap(), "DIR"), @"X");
    std::fs::write(&path, "{ \"makespan_s\": [1, }").unwrap();
    let told = self::told(Loader::new().file(&path));
    assert_snapshot!(told.replace(directory.path().to_str().unwrap(), "DIR"), @"X");
}

#[test]
fn parts_that_do_not_go_together() {
    let text = format!("{TREE}[workload.all-to-all]\nalgorithm = \"2d-spread\"\nsize = \"1 KB\"\nranks = 8\n");
    assert_snapshot!(told_of(&text), @"X");
    assert_snapshot!(told(base().set("--set", "workload.all-to-all.ranks=17")), @"X");
    assert_snapshot!(told(base().routing("dimension-order")), @"X");
    assert_snapshot!(told_of(&format!("{TREE}{SPREAD}[sharing.redistribute]\nthreshold = nan\n")), @"X");
}

#[test]
fn messages_without_a_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("links.csv"), "id,from,to,bandwidth\na,0,1,1e9\nb,1,0,1e9\nc,0,2,1e9\n").unwrap();
    std::fs::write(path("s.toml"), format!("[topology.custom]\nnodes = 3\nlinks = \"links.csv\"\n{SPREAD}")).unwrap();
    let told = told(Loader::new().file(&path("s.toml")));
    assert_snapshot!(told.replace(directory.path().to_str().unwrap(), "DIR"), @"X");
}

#[test]
fn numbers_that_are_too_large() {
    let text = format!(
        "seed = 99999999999999999999999\n[topology.fat-tree]\np = 4294967295\nbandwidth = \"1 GB/s\"\n{SPREAD}"
    );
    assert_snapshot!(told_of(&text), @"X");
    assert_snapshot!(told(base().size("1e300 TB").jitter("1e308 h")), @"X");
}
