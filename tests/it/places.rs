//! Places of jobs: whole leaf switches and groups, spread over groups, and places of all jobs in one file.

use std::fmt::Write;

use hayase::Loader;
use hayase::scenario::Scenario;

/// Returns a scenario of several jobs on a fabric: name, ranks and placement of each.
fn text(topology: &str, jobs: &[(&str, u32, &str)]) -> String {
    let mut text = format!("topology = \"{topology}\"\n");
    for (name, ranks, placement) in jobs {
        let job =
            format!("[[job]]\nname = \"{name}\"\nranks = {ranks}\nplacement = \"{placement}\"\nworkload = \"ring\"\n");
        text += &job;
    }
    text
}

fn scenario(loader: Loader) -> Scenario {
    match loader.load() {
        Ok(scenario) => scenario,
        Err(invalid) => panic!("{invalid}"),
    }
}

/// Returns the nodes of each job.
fn nodes(topology: &str, jobs: &[(&str, u32, &str)]) -> Vec<Vec<u32>> {
    of_each(&scenario(Loader::new().text("jobs.toml", text(topology, jobs))), jobs)
}

fn of_each(scenario: &Scenario, jobs: &[(&str, u32, &str)]) -> Vec<Vec<u32>> {
    let mut all = scenario.system().network().unwrap().placement.iter().map(|node| node.0);
    jobs.iter().map(|(_, ranks, _)| all.by_ref().take(*ranks as usize).collect()).collect()
}

/// Returns the mistakes reported for jobs that have no place.
fn mistakes(topology: &str, jobs: &[(&str, u32, &str)]) -> String {
    Loader::new().text("jobs.toml", text(topology, jobs)).load().unwrap_err().lines()
}

fn sorted(mut nodes: Vec<u32>) -> Vec<u32> {
    nodes.sort_unstable();
    nodes
}

#[test]
fn jobs_by_leaf_have_leaf_switches_of_their_own() {
    // fat-tree-54 has three nodes on a leaf switch. A job of four has two leaf switches, and the second has
    // room for two more.
    let jobs = [("a", 4, "by-leaf"), ("b", 1, "by-leaf"), ("c", 3, "block"), ("d", 2, "by-leaf")];
    let expected = [vec![0, 1, 2, 3], vec![6], vec![4, 5, 7], vec![9, 10]];
    assert_eq!(nodes("fat-tree-54", &jobs), expected);
    // Random places are whole leaf switches, too, and differ between jobs.
    let placed = nodes("fat-tree-54", &[("a", 6, "by-leaf:random"), ("b", 6, "by-leaf:random"), ("c", 42, "regular")]);
    for job in &placed[..2] {
        for leaf in job.chunks(3) {
            assert!(leaf[0] % 3 == 0 && leaf == [leaf[0], leaf[0] + 1, leaf[0] + 2], "{job:?}");
        }
    }
    assert_ne!(sorted(placed[0].clone()), sorted(placed[1].clone()));
    assert_eq!(sorted(placed.concat()), (0..54).collect::<Vec<u32>>());
}

#[test]
fn jobs_by_group_have_groups_of_their_own() {
    // A group of a tree is the part connected below the top switches: nine nodes.
    let jobs = [("a", 10, "by-group"), ("b", 3, "by-leaf"), ("c", 9, "by-group")];
    assert_eq!(nodes("fat-tree-54", &jobs), [(0..10).collect(), vec![12, 13, 14], (18..27).collect::<Vec<u32>>()]);
    // The groups of a dragonfly are those of its switches: 72 nodes in nine groups.
    let placed = nodes("dragonfly-72", &[("a", 9, "by-group:random"), ("b", 8, "by-group")]);
    let groups = |nodes: &[u32]| sorted(nodes.iter().map(|node| node / 8).collect());
    let (a, b) = (groups(&placed[0]), groups(&placed[1]));
    assert!(b.iter().all(|group| *group == b[0] && !a.contains(group)), "{placed:?}");
    assert_eq!(a.iter().collect::<std::collections::BTreeSet<_>>().len(), 2);
    // Spread over groups: consecutive ranks in consecutive ones.
    let spread = nodes("dragonfly-72", &[("a", 18, "round-robin:group")]);
    assert_eq!(spread[0][..10], [0, 8, 16, 24, 32, 40, 48, 56, 64, 1]);
    // Two planes of a tree have the tree's groups.
    let planes = Loader::new()
        .text(
            "fabric.toml",
            "[topology.multi-plane]\nplanes = 2\n[topology.multi-plane.of.fat-tree]\np = 3\nbandwidth = \"1 GB/s\"\n",
        )
        .pattern("ring:ranks=12")
        .placement("by-group");
    assert_eq!(scenario(planes).system().network().unwrap().placement[hayase::ids::RankId(11)].0, 11);
}

#[test]
fn one_work_alone_is_placed_by_the_same_rules() {
    let placed = |placement: &str| -> Vec<u32> {
        let loader = Loader::new().topology("fat-tree-54").pattern("ring:ranks=12").placement(placement);
        scenario(loader).system().network().unwrap().placement.iter().map(|node| node.0).collect()
    };
    assert_eq!(placed("by-group"), (0..12).collect::<Vec<u32>>());
    assert_eq!(placed("round-robin:group")[..4], [0, 9, 18, 27]);
    let random = placed("by-group:random");
    assert_eq!((random[0] % 9, random[8] - random[0]), (0, 8));
    // Another seed draws other places, and that is known.
    let loader = Loader::new().topology("fat-tree-54").pattern("ring:ranks=12").placement("by-leaf:random");
    let first = scenario(loader);
    assert!(first.depends_on_seed());
    let of = |scenario: &Scenario| scenario.system().network().unwrap().placement.clone();
    assert_ne!(of(&first.with_seed(2).unwrap()), of(&first));
}

#[test]
fn what_is_no_longer_whole_is_said() {
    let said = mistakes("fat-tree-54", &[("a", 20, "random"), ("b", 30, "by-leaf")]);
    assert!(said.contains("30 ranks do not fit on the leaf switches of which all nodes are free"), "{said}");
    assert!(said.contains("of 18 are, with") && said.starts_with("jobs.toml:10:13:"), "{said}");
    let said = mistakes("fat-tree-54", &[("a", 46, "regular"), ("b", 1, "by-group")]);
    assert!(said.contains("1 rank does not fit on the groups") && said.contains("0 of 6 are, with 0 nodes"), "{said}");
    for fabric in ["torus-4x4", "crossbar-64"] {
        let said = mistakes(fabric, &[("a", 2, "by-group")]);
        assert!(said.contains("has no groups") && said.starts_with("jobs.toml:5:"), "{said}");
    }
    let said = mistakes("fat-tree-54", &[("a", 2, "by-leaf:sideways")]);
    assert!(said.contains("sideways") && said.contains("ascending"), "{said}");
    let said = mistakes("fat-tree-54", &[("a", 2, "by-loaf")]);
    assert!(said.contains("unknown placement `by-loaf`") && said.contains("by-leaf"), "{said}");
}

#[test]
fn one_file_places_all_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.csv").display().to_string().replace('\\', "/");
    let write = |rows: &[(&str, u32, u32)]| {
        let mut text = "job,rank,node\n".to_owned();
        for (job, rank, node) in rows {
            let _ = writeln!(text, "{job},{rank},{node}");
        }
        std::fs::write(&path, text).unwrap();
    };
    let jobs = [("a", 2, "regular"), ("b", 3, "regular")];
    let load = || Loader::new().text("jobs.toml", text("fat-tree-54", &jobs)).placement(&path).load();
    write(&[("b", 2, 50), ("a", 1, 7), ("b", 0, 3), ("a", 0, 9), ("b", 1, 4)]);
    let placed = load().unwrap();
    assert_eq!(of_each(&placed, &jobs), [vec![9, 7], vec![3, 4, 50]]);
    // A report holds the place of each job, and can be run again.
    let report = folder.path().join("again.json");
    std::fs::write(&report, placed.to_json().to_string()).unwrap();
    assert_eq!(of_each(&scenario(Loader::new().file(&report)), &jobs), of_each(&placed, &jobs));
    let says = |rows: &[(&str, u32, u32)], said: &str| {
        write(rows);
        let mistakes = load().unwrap_err().lines();
        assert!(mistakes.contains(said), "{mistakes}");
    };
    says(&[("a", 0, 9), ("a", 1, 7), ("b", 0, 3), ("b", 1, 4)], "gives rank 2 of job `b` no node");
    says(&[("a", 0, 9), ("a", 1, 7), ("b", 0, 3), ("b", 1, 4), ("b", 2, 7)], "node 7 is given to job `b`, and job `a`");
    says(&[("a", 0, 9), ("x", 1, 7)], "there is no job `x`");
    says(&[("a", 0, 9), ("a", 2, 7)], "there is no rank 2");
    write(&[("a", 0, 9)]);
    let alone = Loader::new().topology("fat-tree-54").pattern("ring:ranks=2").placement(&path).load();
    assert!(alone.unwrap_err().lines().contains("leave out the column `job`"));
}
