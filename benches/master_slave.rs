//! A million tasks: the loop of the paper with both event queues, by the number of workers.
//!
//! `cargo bench -p hayase-benches --bench master_slave`. The results are the reason why there are two queues.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hayase::farm::{Arrivals, Chunking, Costs, Dealer, ExponentialSpec, Keyed, Sizes, Tasks, Tournament, paper};
use hayase::units::Time;

const TASKS: u64 = 1 << 20;

fn run<Q: Arrivals>(tasks: &Tasks, workers: u32) -> Time {
    let costs = Costs::log_gp(Time::from_ps(5e6), Time::from_ps(1e5), Time::ZERO, 100.0);
    let dealer = Dealer::new(tasks, Chunking::Fixed(1), workers);
    let factors = vec![1.0; workers as usize];
    paper::run::<Q>(dealer, &factors, &costs, costs.overhead, &mut ()).time
}

fn master_slave(criterion: &mut Criterion) {
    let rule = ExponentialSpec { count: TASKS.into(), mean: Time::from_ps(1e9).into() };
    let tasks = Tasks::new(rule.times(1).expect("a rule of many tasks"), Sizes::default());
    let mut group = criterion.benchmark_group("master-slave, 2^20 tasks");
    group.sample_size(10).throughput(Throughput::Elements(TASKS));
    for workers in [16, 128, 1024, 8192] {
        group.bench_function(BenchmarkId::new("tournament", workers), |bencher| {
            bencher.iter(|| run::<Tournament>(&tasks, workers))
        });
        group.bench_function(BenchmarkId::new("keyed", workers), |bencher| {
            bencher.iter(|| run::<Keyed>(&tasks, workers))
        });
    }
    group.finish();
}

criterion_group!(benches, master_slave);
criterion_main!(benches);
