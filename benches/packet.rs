//! Packet models and flows under the same load: one all-to-all (simple spread, 20 KB messages, 1,500-byte
//! packets) on the 16 x 16 torus, 9.17 million packet-hops. Starts are jittered, so that ties do not help the
//! flows.
//!
//! `cargo bench -p hayase-benches --bench packet`. All rates are in packet-hops of the packet models.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hayase::scenario::Loader;
use hayase::simulation::RunOptions;

fn packet(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("torus-16x16");
    group.sample_size(10);
    group.throughput(Throughput::Elements(9_167_872));
    for transport in ["packet:oq", "packet:fq", "packet:iq", "flow:equal-share", "flow:max-min"] {
        let loader = Loader::new().topology("torus-16x16").pattern("all-to-all-simple-spread");
        let scenario = loader.transport(transport).jitter("1.5 us").load_pattern().expect("named things load");
        group.bench_function(transport, |bencher| {
            bencher.iter(|| scenario.run(RunOptions::default()).report.head.makespan_s)
        });
    }
    group.finish();
}

criterion_group!(benches, packet);
criterion_main!(benches);
