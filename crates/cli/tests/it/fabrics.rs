//! Comparisons of fabrics, and unused links.

use super::{Desk, Said};

#[test]
fn fabrics_of_different_size_are_compared_on_as_many_ranks() {
    let desk = Desk::new();
    let words = "compare -t torus-4x4,fat-tree-54 -p all-to-all-simple-spread,ring --ranks 12 -q --format json";
    let assert = desk.hayase(words).assert().success().stderr_eq("");
    let comparison: serde_json::Value = assert.json();
    let rows = comparison["rows"].as_array().unwrap();
    assert!(rows.len() == 4 && rows.iter().all(|row| row["job"].as_str().unwrap().ends_with("among 12 ranks")));
    desk.hayase("run -t torus-4x4 -p ring --ranks 0").assert().code(2);
}

#[test]
fn a_comparison_says_where_links_of_fabrics_differ() {
    let desk = Desk::new();
    let said = |words: &str| {
        let assert = desk.hayase(&format!("compare -t fat-tree-54,dragonfly-72 -p ring --ranks 54 {words}")).assert();
        assert.success().stderr()
    };
    let differ =
        "links of nodes differ: 1 GB/s on fat-tree-54, 12.5 GB/s on dragonfly-72; `--link-bandwidth \"12.5 GB/s\"`";
    assert!(said("").contains(differ), "{}", said(""));
    assert!(!said("--set link.bandwidth=2GB/s").contains("differ"));
    assert!(!said("--link-bandwidth 2GB/s").contains("differ"));
}

/// Two switches of one node, and a narrow and a wide cable between them.
#[test]
fn a_run_says_that_a_wide_parallel_cable_is_idle() {
    let link = |from: &str, to: &str, width: u32| {
        format!("{{\"source\": \"{from}\", \"target\": \"{to}\", \"bandwidth\": \"{width} GB/s\"}}")
    };
    let graph = |wide: u32| {
        let links = [link("a", "A", 20), link("b", "B", 20), link("A", "B", 1), link("A", "B", wide)].join(", ");
        let nodes = [("a", "node"), ("b", "node"), ("A", "switch"), ("B", "switch")]
            .map(|(id, kind)| format!("{{\"id\": \"{id}\", \"kind\": \"{kind}\"}}"))
            .join(", ");
        format!("{{\"directed\": false, \"multigraph\": true, \"nodes\": [{nodes}], \"links\": [{links}]}}")
    };
    let desk = Desk::new().file("two.json", &graph(10)).file("alike.json", &graph(1));
    let said = |words: &str| desk.hayase(&format!("run -p ring {words}")).assert().success().stderr();
    let idle = "2 parallel links lead from A to B, and `shortest-path` uses the first alone (1 GB/s; idle: 10 GB/s)";
    assert!(said("-t ./two.json").contains(idle), "{}", said("-t ./two.json"));
    assert!(!said("-t ./two.json --routing ecmp").contains("parallel links"));
    assert!(!said("-t ./alike.json").contains("parallel links"));
}
