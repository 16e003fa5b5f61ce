//! Routing: time of one route, by fabric and rule.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use hayase::ids::NodeId;
use hayase::rng::Stream;
use hayase::scenario::Loader;

const CASES: [(&str, &str); 8] = [
    ("fat-tree-3456", "d-mod-k"),
    ("fat-tree-3456", "s-mod-k"),
    ("fat-tree-3456", "hashed"),
    ("fat-tree-250", "shortest-path"),
    ("torus-16x16", "dimension-order"),
    ("torus-64x64", "dimension-order"),
    ("torus-16x16", "shortest-path"),
    ("hyper-crossbar-2176", "dimension-order"),
];

pub fn routing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("route");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(700));
    for (topology, rule) in CASES {
        let loader = Loader::new().topology(topology).pattern("all-to-all-simple-spread").routing(rule);
        let scenario = loader.load_pattern().expect("named things load");
        let network = scenario.network().expect("a pattern has a network");
        let nodes = u64::from(network.fabric.nodes());
        let mut random = Stream::new(1, "routing");
        let mut node = || NodeId(random.below(nodes) as u32);
        let pairs: Vec<(NodeId, NodeId)> = (0..65_536).map(|_| (node(), node())).collect();
        let mut pair = pairs.iter().cycle();
        let mut route = Vec::new();
        group.bench_function(BenchmarkId::new(rule, topology), |bencher| {
            bencher.iter(|| {
                let Some(&(src, dst)) = pair.next() else { return };
                route.clear();
                network.router.route(src, dst, &mut route);
                black_box(&route);
            });
        });
    }
    group.finish();
}
