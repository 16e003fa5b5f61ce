//! One all-to-all, simple spread, 20 KB: time a message by fabric, placement and sharing policy.
//!
//! `cargo bench` runs them; divide by `messages` for the cost of one.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hayase::scenario::{Loader, RunOptions};

fn all_to_all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("all-to-all");
    group.sample_size(10);
    for topology in ["fat-tree-250", "fat-tree-1024", "torus-16x16"] {
        for placement in ["regular", "random"] {
            for sharing in ["equal-share", "max-min"] {
                let loader = Loader::new().topology(topology).pattern("all-to-all-simple-spread");
                let scenario = loader.placement(placement).sharing(sharing).load().expect("named things load");
                group.throughput(Throughput::Elements(scenario.pattern.messages()));
                let id = BenchmarkId::new(topology, format!("{placement}, {sharing}"));
                group.bench_function(id, |bencher| {
                    bencher.iter(|| scenario.run(RunOptions::default()).report.makespan_s)
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, all_to_all);
criterion_main!(benches);
