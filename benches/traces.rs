//! Benchmark of reading: a Chakra execution trace of a million nodes in a chain, some 43 bytes each.
//!
//! `cargo bench -p hayase-benches --bench traces` prints bytes per second; the target is 50 MB/s. Before it, the peak
//! memory of reading ten million nodes from a file is compared with the size of the file (target: 1.5).

use std::io::{BufWriter, Write};
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hayase::base::memory;
use hayase::diagnostic::Sources;
use hayase::trace::{Options, Trace};

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Writes a trace of calculations, each of which depends on the one before, and returns its size \[B\].
fn write(path: &Path, nodes: u64) -> u64 {
    let mut file = BufWriter::new(std::fs::File::create(path).expect("a temporary file"));
    let (mut node, mut frame, mut size) = (Vec::new(), b"\x07\x0a\x050.0.4".to_vec(), 0);
    for id in 0..nodes {
        node.clear();
        node.push(0x08);
        varint(id, &mut node);
        node.extend_from_slice(b"\x12\x09COMP_NODE\x18\x04\x2a");
        let mut before = Vec::new();
        varint(id.saturating_sub(1), &mut before);
        node.push(before.len() as u8);
        node.extend_from_slice(&before);
        node.extend_from_slice(b"\x38\x0a\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00");
        varint(node.len() as u64, &mut frame);
        frame.extend_from_slice(&node);
        file.write_all(&frame).expect("room for a temporary file");
        size += frame.len() as u64;
        frame.clear();
    }
    size
}

fn operations(path: &Path) -> u64 {
    let sources = Sources::default();
    let trace = Trace::open(&sources, &path.display().to_string().into()).expect("the trace exists");
    trace.program(Options::default()).expect("the trace is valid").operations()
}

fn reading(criterion: &mut Criterion) {
    let path = std::env::temp_dir().join(format!("hayase-bench-{}.0.et", std::process::id()));
    let (before, size) = (memory::peak().unwrap_or(0), write(&path, 10_000_000));
    assert_eq!(operations(&path), 10_000_000);
    let used = memory::peak().unwrap_or(0).saturating_sub(before);
    println!("10,000,000 nodes: {size} B of file, {used} B of memory, {:.2} times the file", used as f64 / size as f64);
    let size = write(&path, 1_000_000);
    let mut group = criterion.benchmark_group("traces");
    group.throughput(Throughput::Bytes(size)).sample_size(10);
    group.bench_function("chakra", |bencher| bencher.iter(|| operations(&path)));
    group.finish();
    // The system removes what is left of temporary files.
    std::fs::remove_file(&path).ok();
}

criterion_group!(benches, reading);
criterion_main!(benches);
