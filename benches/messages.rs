//! End to end: processor time per message, everything included, by fabric, placement and sharing policy.
//!
//! The loads are those of `hayase bench`, in short windows where they have one.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hayase_bench::{Length, loads};

const LOADS: [&str; 16] = [
    "fat-tree-54/random/max-min",
    "fat-tree-250/random/max-min",
    "fat-tree-1024/random/max-min",
    "fat-tree-3456/random/max-min",
    "fat-tree-54/random/equal-share",
    "fat-tree-250/random/equal-share",
    "fat-tree-1024/random/equal-share",
    "fat-tree-3456/random/equal-share",
    "fat-tree-250/regular/max-min",
    "fat-tree-250/regular/equal-share",
    "fat-tree-250/random/redistribute",
    "torus-16x16/random/max-min",
    "torus-32x32/random/max-min",
    "torus-64x64/random/max-min",
    "torus-16x16/random/equal-share",
    "fat-tree-432/regular/max-min/incast",
];

/// Number of messages of a window. The engine can be stopped every 1,024 instants.
const WINDOW: u64 = 4096;

fn messages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("message");
    group.sample_size(10).warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_millis(100));
    for name in LOADS {
        let load = loads().into_iter().find(|load| load.name() == name).expect("it is in the list");
        let (kind, rest) = name.split_once('/').unwrap_or((name, ""));
        group.bench_function(BenchmarkId::new(rest, kind), |bencher| {
            // One run gives the cost per message, whatever number of messages is asked for.
            bencher.iter_custom(|messages| {
                let run = load.measure(Length::Messages(WINDOW), None).ok().flatten().expect("nothing stops it");
                Duration::from_secs_f64(run.cpu_ns / run.messages as f64 * messages as f64 * 1e-9)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, messages);
criterion_main!(benches);
