//! Best possible times and schedules: search, bounds of trees, trees, packed slots, and the choice of an order.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use hayase::fabric::Fabric;
use hayase::ids::NodeId;
use hayase::optimum::FlowNetwork;
use hayase::optimum::slots::{Effort, Messages, pack};
use hayase::optimum::trees::{Graph, all_gather, bound};
use hayase::scenario::Loader;

/// Fabrics of the search for the optimum of a uniform demand, to 2 %.
const SEARCHES: [&str; 6] = [
    "fat-tree-3456",
    "torus:dims=[16,16],bandwidth=1GB/s",
    "torus:dims=[16,8,4],bandwidth=1GB/s",
    "dragonfly-1056",
    "slim-fly-200",
    "jellyfish-720",
];

/// Boxes of 8 GPUs on an inner switch, and one switch for all.
fn boxes(count: u32) -> Graph {
    let compute = 8 * count;
    let joined = |gpu: u32, switch: u32, bandwidth| [(gpu, switch, bandwidth), (switch, gpu, bandwidth)];
    let links = (0..compute)
        .flat_map(|gpu| joined(gpu, compute + gpu / 8, 450).into_iter().chain(joined(gpu, compute + count, 50)));
    Graph { compute, vertices: compute + count + 1, links: links.collect() }
}

fn fabric(topology: &str) -> std::sync::Arc<Fabric> {
    Loader::new().topology(topology).load_topology().expect("the fabric exists").fabric
}

pub fn optimum(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("optimum");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
    for topology in SEARCHES {
        let fabric = fabric(topology);
        let network = FlowNetwork::new(&fabric).expect("the fabric has cables");
        let mut volumes = network.volumes();
        let nodes = (0..fabric.nodes()).map(NodeId);
        nodes
            .clone()
            .for_each(|src| nodes.clone().filter(|&dst| dst != src).for_each(|dst| volumes.add(src, dst, 1.0)));
        group.bench_function(BenchmarkId::new("search", topology), |bencher| {
            bencher
                .iter(|| black_box(network.best_time(&volumes, 0.02, 1, &mut |_, _| true).map(|best| best.at_least_s)));
        });
    }
    for gpus in [128, 1024] {
        let graph = boxes(gpus / 8);
        group.bench_function(BenchmarkId::new("bound", format!("{gpus} GPUs")), |bencher| {
            bencher.iter(|| black_box(bound(&graph, &mut |_| true)));
        });
    }
    let graph = boxes(16);
    group.bench_function(BenchmarkId::new("trees", "128 GPUs"), |bencher| {
        bencher.iter(|| black_box(all_gather(&graph, &mut |_| true)));
    });
    for (topology, ranks) in [("fat-tree-432", 400), ("dragonfly-1056", 1056)] {
        let routed = Loader::new().topology(topology).load_topology().expect("the fabric exists");
        let mut messages = Messages::default();
        let mut route = Vec::new();
        for (src, dst) in
            (0..ranks).flat_map(|src| (0..ranks).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst)
        {
            route.clear();
            routed.router.route(NodeId(src), NodeId(dst), &mut route);
            let links: Vec<u32> = route.iter().map(|link| link.0).collect();
            messages.push(1, [links.as_slice()]);
        }
        let room = vec![1; routed.fabric.links().len()];
        group.bench_function(BenchmarkId::new("greedy", topology), |bencher| {
            bencher
                .iter(|| black_box(pack(&messages, &room, Effort::Greedy, 1, &mut |_| true).map(|slots| slots.slots)));
        });
    }
    group.bench_function(BenchmarkId::new("order", "fat-tree-3456"), |bencher| {
        let loader = Loader::new().topology("fat-tree-3456").pattern("all-to-all-simple-spread").placement("random");
        let loader = loader.set("bench", "workload.all-to-all.order=auto");
        bencher.iter(|| black_box(loader.clone().load_pattern().is_ok()));
    });
    group.finish();
}
