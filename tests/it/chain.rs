//! The bound by the longest chain of messages is the time that they take without contention.

use hayase::rng::Stream;
use hayase::{Loader, RunOptions};

/// Returns makespan and bound of a run, with the given network and without contention \[s\].
fn both(text: &str) -> [(f64, Option<f64>); 2] {
    ["", "[transport.contention-free]\n"].map(|transport| {
        let scenario = Loader::new().text("run.toml", format!("{text}{transport}")).load();
        let summary = scenario.unwrap_or_else(|invalid| panic!("{invalid}")).run(RunOptions::default()).summary();
        (summary.makespan_s, summary.bounds.path_s)
    })
}

#[test]
fn the_chain_of_messages_is_a_run_without_contention() {
    let fabrics = [
        "topology.fat-tree = { p = 2, bandwidth = [\"1 GB/s\", \"2 GB/s\", \"1 GB/s\"], latency = [\"30 ns\", \"500 ns\", \"2 us\"] }",
        "topology.torus = { dims = [4, 4], bandwidth = \"1 GB/s\", latency = \"700 ns\" }",
        "topology.fat-tree = { p = 2, bandwidth = \"3 GB/s\" }",
    ];
    let patterns = ["simple-spread", "pairwise", "ring", "bruck", "random-order"];
    let mut random = Stream::new(1, "chains");
    for fabric in fabrics {
        for pattern in patterns {
            for rule in ["queue", "sendrecv", "barrier", "all", "window=2"] {
                let size = [0, 1, 5_000, 20_000][random.below(4) as usize];
                let jitter = [0, 9][random.below(2) as usize];
                let sharing = ["max-min", "equal-share"][random.below(2) as usize];
                let text = format!(
                    "{fabric}\nplacement.random = {{}}\nsharing.{sharing} = {{}}\n[workload.all-to-all]\n\
                     algorithm = \"{pattern}\"\nsize = \"{size} B\"\ninjection = \"{rule}\"\n\
                     message-jitter = \"{jitter} us\"\n"
                );
                let [(makespan, path), (alone, _)] = both(&text);
                let Some(path) = path else {
                    assert!(!fabric.contains("latency") && jitter == 0, "{text}");
                    continue;
                };
                assert!((path - alone).abs() <= 1e-12 * alone, "{path}, but {alone} without contention:\n{text}");
                assert!(path <= makespan, "{path} of {makespan}:\n{text}");
            }
        }
    }
}
