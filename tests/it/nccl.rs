//! Collectives of NCCL on a fabric: the closed form of rings, and bounds that no algorithm undercuts.

use hayase::nccl::{Algorithm, Operation, Protocol, System, Tuning};
use hayase::report::NcclRow;
use hayase::scenario::Loader;
use hayase::study::nccl::{Request, nccl};
use hayase::sweep::Control;
use hayase::units::Time;

const SYSTEMS: &str = include_str!("../../validation/nccl/systems.json");

/// Plays an operation, and returns its row without the latency of the model.
fn played(
    system: &str,
    operation: Operation,
    (ranks, nodes): (u32, u32),
    bytes: u64,
    algorithm: Algorithm,
    fabric: &str,
) -> NcclRow {
    let system = System::from_json(SYSTEMS, 0, system).unwrap();
    let tuning = Tuning::new(&system, operation, ranks, nodes).unwrap();
    let latency_s = tuning.entry(algorithm, Protocol::Simple).unwrap().latency_us * 1e-6;
    let request = Request {
        name: String::new(),
        tuning,
        sizes: vec![bytes],
        algorithm: Some(algorithm),
        protocol: Some(Protocol::Simple),
        launch: Time::ZERO,
        fabric: Some(Loader::new().text("fabric", fabric)),
        log: None,
    };
    let mut row = nccl(&request, Control::default()).unwrap().rows.remove(0);
    row.simulated_s = row.simulated_s.map(|time| time - latency_s);
    row
}

const CROSSBAR: &str = "[topology.crossbar]\nnodes = 16\nbandwidth = '10 GB/s'\nlatency = '1 us'\n";
const NODES: &str = "[topology.fat-tree]\ndown = [4, 4]\nup = [1, 4]\nbandwidth = '10 GB/s'\nlatency = '1 us'\n";

/// One ring of n ranks, one a node: each step is two latencies and an n-th of the data.
#[test]
fn a_ring_lasts_as_long_as_its_steps() {
    for ranks in [2, 3, 8, 16] {
        let n = f64::from(ranks);
        for (operation, steps) in [
            (Operation::AllReduce, 2.0 * (n - 1.0)),
            (Operation::AllGather, n - 1.0),
            (Operation::ReduceScatter, n - 1.0),
        ] {
            let bytes = 48 << 20;
            let row = played("h100-ndr", operation, (ranks, ranks), bytes, Algorithm::Ring, CROSSBAR);
            let expected = steps * (2e-6 + bytes as f64 / n / 10e9);
            let time = row.simulated_s.unwrap();
            assert!((time / expected - 1.0).abs() < 1e-6, "{operation:?} of {ranks}: {time} {expected}");
        }
    }
}

#[test]
fn no_algorithm_undercuts_what_its_operation_needs() {
    let bytes = 16_u64 << 20;
    for (algorithm, operation, shape) in [
        (Algorithm::Ring, Operation::AllReduce, (16, 4)),
        (Algorithm::Tree, Operation::AllReduce, (16, 4)),
        (Algorithm::NvlsTree, Operation::AllReduce, (16, 4)),
        (Algorithm::Nvls, Operation::AllGather, (4, 1)),
        (Algorithm::CollnetDirect, Operation::AllReduce, (16, 4)),
        (Algorithm::CollnetDirect, Operation::AllGather, (16, 4)),
        (Algorithm::CollnetDirect, Operation::ReduceScatter, (16, 4)),
        (Algorithm::CollnetChain, Operation::AllReduce, (16, 4)),
        (Algorithm::Pat, Operation::AllGather, (16, 16)),
        (Algorithm::Pat, Operation::ReduceScatter, (13, 13)),
        (Algorithm::Ring, Operation::Broadcast, (16, 4)),
        (Algorithm::Ring, Operation::Reduce, (16, 4)),
    ] {
        let fabric = if shape.0 == shape.1 { CROSSBAR } else { NODES };
        let row = played("h100-sharp", operation, shape, bytes, algorithm, fabric);
        let (time, bound) = (row.simulated_s.unwrap(), row.bound_s.unwrap());
        // Floating-point sums differ in their last digits.
        assert!(time >= bound * (1.0 - 1e-9), "{algorithm:?} {operation:?}: {time} under {bound}");
        // Each rank receives at least what it lacks; a reducing network hands on sums.
        let n = f64::from(shape.0);
        let part = match operation {
            Operation::AllReduce | Operation::Broadcast | Operation::Reduce => 1.0 / n,
            Operation::AllGather | Operation::ReduceScatter => (n - 1.0) / n,
        };
        assert!(time >= part * bytes as f64 / 10e9, "{algorithm:?} {operation:?}: {time}");
        assert!(time < 40.0 * bytes as f64 / 10e9, "{algorithm:?} {operation:?}: {time}");
    }
}

/// Ranks send a block at each time, whatever the number of trees that are under way.
#[test]
fn pat_of_large_blocks_ends_when_all_blocks_have_passed_a_link() {
    let bytes = 160_u64 << 20;
    for operation in [Operation::AllGather, Operation::ReduceScatter] {
        let row = played("h100-ndr", operation, (16, 16), bytes, Algorithm::Pat, CROSSBAR);
        let blocks = 15.0 / 16.0 * bytes as f64 / 10e9;
        let time = row.simulated_s.unwrap();
        assert!(time >= blocks && time < 1.1 * blocks, "{operation:?}: {time} {blocks}");
    }
}
