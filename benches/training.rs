//! Benchmark of training steps: the closed form, steps of few and of many micro-batches, and a step on 8,192 GPUs.
//!
//! `cargo bench -p hayase-benches --bench training`. Targets: the closed form in 1 ms, 32,768 micro-batches in twice
//! the time of 64, and the step on 8,192 GPUs in 60 s.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use hayase::report::Status;
use hayase::scenario::Loader;
use hayase::study::training::{Request, training};

/// Fabric of 1,024 servers of eight GPUs.
const RAILS: &str =
    "rails:servers=1024,gpus=8,segment=64,spines=64,bandwidth=50GB/s,nvlink-bandwidth=360GB/s,latency=0.5us";

/// Plays a step and returns its time \[s\].
fn play(layout: &str) -> f64 {
    let loader = Loader::new().topology(RAILS).machine("h100-8x400g").pattern(layout);
    let scenario = loader.load().expect("the step fits the fabric");
    let summary = scenario.measured(None, false);
    assert_eq!(summary.status, Status::Complete);
    summary.makespan_s
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("training");
    group.sample_size(10);
    let request =
        Request { model: "gpt-3-175b".to_owned(), machine: Some("h100-8x400g".to_owned()), ..Request::default() };
    group.bench_function("closed form", |bencher| bencher.iter(|| training(black_box(&request)).is_ok()));
    for micro_batches in [64, 32_768] {
        let layout = format!("llm:gpt-3-175b,tp=8,pp=8,dp=1,batch={micro_batches}");
        group.bench_function(format!("{micro_batches} micro-batches"), |bencher| bencher.iter(|| play(&layout)));
    }
    group.bench_function("8,192 GPUs", |bencher| {
        bencher.iter(|| play("llm:gpt-3-175b,tp=8,pp=8,dp=128,batch=2048"));
    });
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
