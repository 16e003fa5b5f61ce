//! Routing: time of one route, by fabric and rule.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use hayase::ids::{IdVec, MessageId, NodeId, RankId};
use hayase::rng::Stream;
use hayase::routing::{Path, StartingMessage, UnderWay};
use hayase::scenario::Loader;

const CASES: [(&str, &str); 22] = [
    ("fat-tree-3456", "d-mod-k"),
    ("fat-tree-3456", "s-mod-k"),
    ("fat-tree-3456", "hashed"),
    ("fat-tree-250", "shortest-path"),
    ("torus-16x16", "dimension-order"),
    ("torus-64x64", "dimension-order"),
    ("torus-16x16", "shortest-path"),
    ("hyper-crossbar-2176", "dimension-order"),
    ("dragonfly-1056", "family"),
    ("dragonfly-1056", "minimal"),
    ("frontier", "family"),
    ("frontier", "minimal"),
    ("frontier", "min-hop"),
    ("slim-fly-10830", "minimal"),
    ("t2hx", "family"),
    ("simai-hpn", "family"),
    // Rules that choose, with four intermediates.
    ("dragonfly-1056", "valiant-groups"),
    ("dragonfly-1056", "ugal-l"),
    ("dragonfly-1056", "ugal-g"),
    ("slim-fly-10830", "ugal-g"),
    ("frontier", "ugal-l"),
    ("frontier", "ugal-g"),
];

pub fn routing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("route");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(700));
    for (topology, rule) in CASES {
        let network = Loader::new().topology(topology).routing(rule).load_topology().expect("named things load");
        let nodes = u64::from(network.fabric.nodes());
        let mut random = Stream::new(1, "routing");
        let mut node = || NodeId(random.below(nodes) as u32);
        let pairs: Vec<(NodeId, NodeId)> = (0..65_536).map(|_| (node(), node())).collect();
        let mut pair = pairs.iter().cycle();
        let (mut route, mut path, mut index) = (Vec::new(), Path::default(), 0u32);
        let under_way: UnderWay = IdVec::filled(network.fabric.links().len(), 0);
        group.bench_function(BenchmarkId::new(rule, topology), |bencher| {
            bencher.iter(|| {
                let Some(&(src, dst)) = pair.next() else { return };
                match network.router.choice() {
                    None => {
                        route.clear();
                        network.router.route(src, dst, &mut route);
                        black_box(&route);
                    }
                    Some(choice) if src != dst => {
                        path.clear();
                        index = index.wrapping_add(1);
                        let message = MessageId { src: RankId(src.0), index };
                        choice.choose(StartingMessage { src, dst, message }, &under_way, &mut path);
                        black_box(&path);
                    }
                    Some(_) => {}
                }
            });
        });
    }
    group.finish();
}
