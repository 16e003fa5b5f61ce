//! Mistakes as users see them: all at once, each with its file, line and column and the correct form.

use std::path::Path;

use hayase::scenario::Loader;
use insta::assert_snapshot;

const TREE: &str = "[topology.fat-tree]\np = 2\nbandwidth = \"1 GB/s\"\n";
const SPREAD: &str = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n";

fn told(loader: Loader) -> String {
    loader.load_pattern().expect_err("this is wrong").lines()
}

fn told_of(text: &str) -> String {
    told(Loader::new().text("s.toml", text))
}

fn base() -> Loader {
    Loader::new().text("s.toml", format!("{TREE}{SPREAD}"))
}

#[test]
fn a_scenario_without_topology_and_workload() {
    assert_snapshot!(told_of("seed = 1"), @r"
    there is no topology; name one with -t, or write a table like [topology.fat-tree]; `hayase topology list` shows all
    there is no workload; name a pattern with -p, or write a table like [workload.all-to-all]; `hayase pattern list` shows all
    ");
}

#[test]
fn toml_that_is_none() {
    let text =
        "seed = \n[topology.fat-tree\np == 3\nbandwidth = \"1 GB/s\nx = 1\n[workload.ring]\nsise = 1\n[a]\n[a]\n";
    assert_snapshot!(told_of(text), @r"
    s.toml:1:8: string values must be quoted (expected literal string)
    s.toml:2:19: unclosed table (expected `]`)
    s.toml:3:4: extra `=` (expected nothing)
    s.toml:7:1: unknown key `sise` in [workload.ring]; did you mean `size`?
    s.toml:9:2: duplicate key
    ");
}

#[test]
fn many_mistakes_of_one_file() {
    let text = "sede = 1\nseed = -1\nresolution = 5\n\n[topology.fat-tree]\np = \"2\"\nbandwith = \"1 GB/s\"\n\
                latency = \"1 sec\"\nhost-bandwidth = 3\n\n[workload.all-to-all]\nalgorithm = \"simple\"\nsize = \"20 KBs\"\n\n\
                [sharing.maxmin]\n\n[routing]\n\n[placement.regular]\nx = 1\n";
    assert_snapshot!(told_of(text), @r#"
    s.toml:1:1: unknown key `sede`; did you mean `seed`?
    s.toml:2:8: `seed` is the number -1 (a whole number, 0 or more, is expected); `seed`: seed of everything random
    s.toml:3:14: 5 has no unit; write a time like "1.5 us" or "250 ns"
    s.toml:6:5: `p` is the text "2" (a whole number from 0 to 4294967295 is expected); `p`: half the ports of a switch
    s.toml:7:1: unknown key `bandwith` in [topology.fat-tree]; did you mean `bandwidth`?
    s.toml:8:11: unknown time unit "sec"; write "1.5 us" or "250 ns"
    s.toml:9:18: 3 has no unit; write a bandwidth like "12.5 GB/s" or "100 Gbit/s"
    s.toml:12:13: unknown algorithm `simple`; there are: simple-spread, 2d-spread, nd-spread, pairwise, mpich, ring, bruck, random-order, linear
    s.toml:13:8: unknown size unit "KBs"; write "20 KB" or "64 KiB"
    s.toml:15:10: unknown sharing `maxmin`; did you mean `max-min`?
    s.toml:17:2: no routing is chosen (empty); write a table like [routing.d-mod-k]; there are: d-mod-k, s-mod-k, hashed, dimension-order, random-order, min-adaptive, doal, planes, family, shortest-path, table, minimal, ecmp, spray, valiant-groups, valiant-switches, ugal-l, ugal-g, progressive, fluid, min-hop, dfsssp, up-down, tables, paths
    s.toml:20:1: unknown key `x` in [placement.regular]; there are no keys here
    "#);
}

#[test]
fn keys_that_are_missing() {
    assert_snapshot!(told_of("[topology.torus]\n[workload.all-to-all]\n"), @r"
    s.toml:1:1: missing keys `dims`, `bandwidth`; `dims`: nodes along each dimension; `bandwidth`: bandwidth of a cable in each direction
    s.toml:2:1: missing keys `algorithm`, `size`; `algorithm`: algorithm that carries the blocks to their ranks; `size`: size of the block of each pair of ranks
    ");
    assert_snapshot!(told_of("topology.crossbar.nodes = 1\nworkload.file.path = 'x.csv'"), @r"s.toml:1:10: missing key `bandwidth`; `bandwidth`: bandwidth of each node's link, in each direction");
}

#[test]
fn values_of_the_wrong_kind() {
    let text = "topology = 5\nworkload = []\nplacement = true\nsharing = \"maxmin\"\nrouting = \"d-mod-q\"\n";
    assert_snapshot!(told_of(text), @r"
    s.toml:1:12: `topology` is a number (a table is expected); write a table like [topology.crossbar]; there are: crossbar, hyper-crossbar, fat-tree, torus, mesh, dragonfly, dragonfly-plus, hyperx, slim-fly, polarfly, jellyfish, rails, ring-of-rings, multi-plane, custom, graph, infragraph, simgrid
    s.toml:2:12: `workload` is a list (a table is expected); write a table like [workload.all-to-all]; there are: all-to-all, allgather, allreduce, broadcast, collective, halo, incast, permutation, ring, uniform-random, adv, group-permutation, hot-group, worst-case, file, trace, program, program-data, llm, master-slave
    s.toml:3:13: `placement` is a truth value (a table is expected); write a table like [placement.regular]; there are: regular, random, block, round-robin, by-leaf, by-group, file, nodes
    s.toml:4:11: unknown sharing `maxmin`; did you mean `max-min`?
    s.toml:5:11: unknown routing `d-mod-q`; did you mean `d-mod-k`?
    ");
    let text = "[topology.hyper-crossbar]\ndims = [4, \"4\", -3]\nbandwidth = [\"1 GB/s\", 3]\n";
    assert_snapshot!(told_of(&format!("{text}{SPREAD}")), @r#"
    s.toml:2:12: `dims` is the text "4" (a whole number from 0 to 4294967295 is expected); `dims`: nodes along each dimension
    s.toml:2:17: `dims` is the number -3 (a whole number from 0 to 4294967295 is expected); `dims`: nodes along each dimension
    s.toml:3:24: 3 has no unit; write a bandwidth like "12.5 GB/s" or "100 Gbit/s"
    "#);
}

#[test]
fn two_choices_where_one_can_be_used() {
    let text = format!("{TREE}[topology.torus]\ndims = [4, 4]\n{SPREAD}");
    assert_snapshot!(told_of(&text), @r"s.toml:4:11: more than one topology: `fat-tree` and `torus` (only one can be used); leave out the others");
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
    assert_snapshot!(told(flags), @r#"
    --injection:1:1: unknown injection rule "quee"; write "queue", "sendrecv", "barrier", "left", "all" or "window=4"
    --jitter:1:1: "5" has no unit; write a time like "1.5 us" or "250 ns"
    --sharing:1:1: unknown sharing `max`; there are: equal-share, redistribute, max-min, blocking
    --routing:1:1: unknown routing `d-mod-kay`; did you mean `d-mod-k`?
    --placement:1:1: unknown placement `randon`; did you mean `random`?
    --set:1:21: `p` is the text "two" (a whole number from 0 to 4294967295 is expected); `p`: half the ports of a switch
    --set:1:1: `topology.fat-tree` sets nothing (no `=`); write --set topology.fat-tree.p=4
    --set:1:1: `a b` is not a key; write names joined by dots, like topology.fat-tree.p
    --set:1:21: unknown key `sise` in [workload.all-to-all]; did you mean `size`?
    "#);
    let messages = Loader::new().text("s.toml", format!("{TREE}[workload.file]\npath = 'x.csv'\n"));
    assert_snapshot!(told(messages.size("20 KB")), @r"
    s.toml:5:8: there is no file `x.csv` (no such file); a path is relative to the file that names it, or to the current directory
    --size:1:1: the workload `file` has no `size`; leave out --size; `file` is a pattern and has path, ranks, injection, message-jitter, barrier-cost
    ");
}

#[test]
fn names_that_are_not_known() {
    assert_snapshot!(told(Loader::new().topology("no-such-fabric").pattern("npb-cg-W-15")), @r"
    --topology:1:1: unknown topology `no-such-fabric` (not built in, and no such file); `hayase topology list` shows all
    --pattern:1:1: unknown pattern `npb-cg-W-15` (not built in, and no such file); did you mean `npb-cg-W-16`? `hayase pattern list` shows all
    ");
    assert_snapshot!(told(Loader::new().file(Path::new("no-such.toml")).topology("no-such.xml.toml")), @r"
    --topology:1:1: there is no file `no-such.xml.toml` (no such file); a path is relative to the file that names it, or to the current directory
    there is no file `no-such.toml` (no such file); a path is relative to the file that names it, or to the current directory
    ");
}

#[test]
fn a_file_of_something_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pattern.toml");
    std::fs::write(&path, SPREAD).unwrap();
    let told = told(base().topology(path.to_str().unwrap()));
    assert_snapshot!(told.replace(directory.path().to_str().unwrap(), "DIR"), @r"--topology:1:1: `DIR/pattern.toml` has no [topology.*] table (used as a topology)");
    std::fs::write(&path, "{ \"makespan_s\": [1, }").unwrap();
    let told = self::told(Loader::new().file(&path));
    assert_snapshot!(told.replace(directory.path().to_str().unwrap(), "DIR"), @r"DIR/pattern.toml:1:21: expected value");
}

#[test]
fn parts_that_do_not_go_together() {
    let text = format!("{TREE}[workload.all-to-all]\nalgorithm = \"2d-spread\"\nsize = \"1 KB\"\nranks = 8\n");
    assert_snapshot!(told_of(&text), @r#"
    s.toml:5:13: 2d-spread is not defined for 8 ranks (needs a square number of ranks); take `all-to-all-nd-spread` (`algorithm = "nd-spread"` with `dims = [4, 2]`), or 4 ranks
    "#);
    assert_snapshot!(told(base().set("--set", "workload.all-to-all.ranks=17")), @r"s.toml:4:11: 17 ranks do not fit on the 16 nodes of `fat-tree p=2`; take a larger fabric or fewer ranks, or place more ranks on a node (`ranks-per-node`)");
    assert_snapshot!(told(base().routing("dimension-order")), @r"--routing:1:1: dimension-order finds routes on tori, meshes, hyper-crossbars and HyperX, but fat-tree p=2 is a tree; use `d-mod-k`, or leave the routing out");
    assert_snapshot!(told_of(&format!("{TREE}{SPREAD}[sharing.redistribute]\nthreshold = nan\n")), @r"s.toml:8:13: the threshold NaN is not a fraction of a rate (a number between 0 and 1 is expected); the published value is 0.01");
}

#[test]
fn messages_without_a_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("links.csv"), "id,from,to,bandwidth\na,0,1,1e9\nb,1,0,1e9\nc,0,2,1e9\n").unwrap();
    std::fs::write(path("s.toml"), format!("[topology.custom]\nnodes = 3\nlinks = \"links.csv\"\n{SPREAD}")).unwrap();
    let told = told(Loader::new().file(&path("s.toml")));
    assert_snapshot!(told.replace(directory.path().to_str().unwrap(), "DIR"), @r"DIR/s.toml:1:11: there is no route from node 2 to node 0 (and one pair more) (messages are sent between nodes without a route); add links or routes to the topology, or place the ranks elsewhere");
}

#[test]
fn paths_for_some_pairs_only() {
    let directory = tempfile::tempdir().unwrap();
    let paths = directory.path().join("paths.csv");
    std::fs::write(&paths, "src,dst,weight,path\n").unwrap();
    let of = |pattern: &str| {
        let routing = format!("paths:{}", paths.display());
        told(Loader::new().topology("torus-4x4").pattern(pattern).routing(&routing))
    };
    assert_snapshot!(of("all-to-all-pairwise"), @"--routing:1:1: there is no route from node 0 to node 1 (and 239 pairs more) (messages are sent between nodes without a route); add a path for this pair to the routing's file");
    assert_snapshot!(of("allreduce-ring"), @"--routing:1:1: there is no route from node 0 to node 1 (and 15 pairs more) (messages are sent between nodes without a route); add a path for this pair to the routing's file");
    std::fs::write(&paths, "src,dst,weight,path\n0,1,,\"node 0 -> (0,0) -> (1,0) -> node 1\"\n").unwrap();
    assert_snapshot!(of("all-to-all-pairwise"), @"--routing:1:1: there is no route from node 0 to node 2 (and 238 pairs more) (messages are sent between nodes without a route); add a path for this pair to the routing's file");
}

#[test]
fn numbers_that_are_too_large() {
    let text = format!(
        "seed = 99999999999999999999999\n[topology.fat-tree]\np = 4294967295\nbandwidth = \"1 GB/s\"\n{SPREAD}"
    );
    assert_snapshot!(told_of(&text), @r"
    s.toml:1:8: `seed` is the number 99999999999999999999999 (a whole number, 0 or more, is expected); `seed`: seed of everything random
    s.toml:3:5: this fabric has more parts than can be counted (at most 4194304 nodes and 33554432 links); choose smaller sizes
    ");
    assert_snapshot!(told(base().size("1e300 TB").jitter("1e308 h")), @r#"
    --size:1:1: "1e300 TB" is a larger size than can be reckoned with
    --jitter:1:1: "1e308 h" is a larger time than can be reckoned with
    "#);
}

/// The text of a scenario has no effect on parts that have been replaced since.
#[test]
fn what_is_replaced_is_no_longer_written() {
    let random = "seed = 3\ntopology = \"torus-4x4\"\nplacement = \"random\"\n[workload.ring]\nsize = \"1 KB\"\n";
    let scenario = Loader::new().text("r.toml", random).load().unwrap();
    let placed = scenario.with_nodes(&(0..16).rev().collect::<Vec<u32>>()).unwrap();
    assert!(scenario.to_json()["placement"].is_object() && placed.to_json()["placement"].is_null());
    // Another seed does not draw the placement again.
    let again = placed.with_seed(4).unwrap();
    assert_eq!(again.network().unwrap().placement, placed.network().unwrap().placement);
    assert!(!placed.depends_on_seed() && scenario.depends_on_seed());

    let program = "[workload.program]\nrule = \"linear:ranks=4\"\n";
    let scenario = Loader::new().text("p.toml", program).load().unwrap();
    let hayase::Work::Program(work) = scenario.work() else { panic!("no program") };
    let faster = hayase::simulation::ProgramWork { cpu_speed: 2.0, ..(**work).clone() };
    let faster = scenario.with_work(hayase::Work::Program(Box::new(faster))).unwrap();
    assert_eq!(faster.to_json()["workload"]["program"]["cpu-speed"].as_f64(), Some(2.0));

    let farm = "[workload.master-slave]\ntasks = \"constant:count=9,time=1ms\"\nworkers = [2, 3]\n";
    let farm = Loader::new().text("f.toml", farm).load_farm().unwrap();
    let (two, three) = (&farm.points[0], &farm.points[1]);
    assert_eq!((two.keys().len(), three.keys().len()), (1, 1));
    assert_eq!(two.with_system(three.system().clone()).unwrap().keys(), two.keys());
    assert!(two.with_work(three.work().clone()).unwrap().keys().is_empty());
}
