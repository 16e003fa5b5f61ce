//! Cost model beside values that NCCL printed itself, in public logs.

use super::*;

const SYSTEMS: &str = include_str!("../../validation/nccl/systems.json");
const WITNESS: &str = include_str!("../../validation/nccl/logged.csv");

fn system(name: &str) -> System {
    System::from_json(SYSTEMS, 0, name).unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}"))
}

fn operation(name: &str) -> Operation {
    *Operation::ALL.iter().find(|operation| operation.name() == name).unwrap()
}

fn entry_of<'t>(tuning: &'t Tuning<'_>, algorithm: &str, protocol: &str) -> &'t Entry {
    let is_it = |entry: &&Entry| (entry.algorithm.name(), entry.protocol.name()) == (algorithm, protocol);
    tuning.entries().iter().find(is_it).unwrap_or_else(|| panic!("no {algorithm} with {protocol}"))
}

#[test]
fn entries_choices_and_times_are_those_that_nccl_printed() {
    let mut counts = [0; 3];
    for line in WITNESS.lines().filter(|line| !line.starts_with(['#', 'k'])) {
        let cells: Vec<&str> = line.split(',').collect();
        let [kind, name, op, ranks, nodes, bytes, algorithm, protocol, time, latency, bandwidth] = cells[..] else {
            panic!("{line}")
        };
        let system = system(name);
        let tuning = Tuning::new(&system, operation(op), ranks.parse().unwrap(), nodes.parse().unwrap()).unwrap();
        if kind == "entry" {
            counts[0] += 1;
            let entry = entry_of(&tuning, algorithm, protocol);
            let printed = (format!("{:.1}", entry.latency_us), format!("{:.1}", entry.bandwidth_gbps));
            assert_eq!(printed, (latency.to_owned(), bandwidth.to_owned()), "{line}");
            continue;
        }
        counts[1] += 1;
        let best = tuning.ranking(bytes.parse().unwrap())[0];
        assert_eq!((best.algorithm.name(), best.protocol.name()), (algorithm, protocol), "{line}");
        if let Ok(time) = time.parse::<f64>() {
            counts[2] += 1;
            assert!((best.time_us / time - 1.0).abs() < 1e-6, "{line}: {}", best.time_us);
        }
    }
    assert_eq!(counts, [12, 17, 5]);
}

#[test]
fn every_system_ranks_every_operation() {
    let names = ["h100-ndr", "h100-sharp", "a100-hdr", "b200-xdr", "pcie-4", "roce-slow"];
    for (system, operation) in names.into_iter().flat_map(|name| Operation::ALL.map(|of| (system(name), of))) {
        for (ranks, nodes) in [(8, 1), (16, 2), (64, 8), (8, 8)] {
            let tuning = Tuning::new(&system, operation, ranks, nodes).unwrap();
            for shift in 0..34 {
                let ranking = tuning.ranking(1 << shift);
                assert!(ranking.iter().all(|choice| choice.time_us > 0.0 && choice.time_us.is_finite()));
                assert!(ranking.is_sorted_by(|a, b| a.time_us <= b.time_us));
            }
        }
    }
}

#[test]
fn reduction_in_the_network_needs_a_network_that_reduces() {
    let has = |name: &str, algorithm| {
        let system = system(name);
        let tuning = Tuning::new(&system, Operation::AllReduce, 32, 4).unwrap();
        tuning.entry(algorithm, Protocol::Simple).is_some()
    };
    for algorithm in [Algorithm::CollnetDirect, Algorithm::CollnetChain, Algorithm::Nvls] {
        assert!(has("h100-sharp", algorithm) && !has("h100-ndr", algorithm));
    }
    assert!(has("h100-ndr", Algorithm::NvlsTree) && !has("a100-hdr", Algorithm::NvlsTree));
}

#[test]
fn older_versions_have_a_shorter_hop_of_nvls_tree() {
    let latency = |version: &str| {
        let mut system = system("h100-ndr");
        system.version = Some(version.to_owned().into());
        let tuning = Tuning::new(&system, Operation::AllReduce, 32, 4).unwrap();
        tuning.entry(Algorithm::NvlsTree, Protocol::Simple).unwrap().latency_us
    };
    // H + 2 floor(log2 m) I with H = 25.
    assert_eq!((latency("2.28.8"), latency("2.28.9")), (25.0 + 4.0 * 14.0, 25.0 + 4.0 * 20.9));
}

#[test]
fn mistakes_of_a_system_are_told_at_their_place() {
    let told = |text: &str| {
        let mistakes = System::from_json(text, 0, "x").unwrap_err();
        let mut sources = crate::diagnostic::Sources::default();
        sources.add("s.json", text);
        let told = mistakes.iter().map(|mistake| {
            let place = mistake.place(&sources).unwrap();
            format!("{}:{} {}", place.line, place.column, mistake.message)
        });
        told.collect::<Vec<_>>()
    };
    let good = "{\"x\": {\"cc\": 90,\n\"channels\": 8,\n\"graphs\": {\"ring\": {\"channels\": 2,\n\"bw_intra\": 1.0, \
                \"bw_inter\": 2.0}}}}";
    assert!(System::from_json(good, 0, "x").is_ok());
    assert_eq!(told(&good.replace("bw_intra\": 1.0", "bw_intra\": -1.0")), ["4:13 a channel of -1 GB/s"]);
    assert_eq!(told(&good.replace("\"channels\": 8", "\"channels\": 0")), ["2:13 0 is no number of channels or GPUs"]);
    assert_eq!(told(&good.replace("bw_inter", "bw_iner"))[0], "4:18 unknown key `bw_iner` in [x.graphs.ring]");
    assert_eq!(told(&good.replace("\"x\"", "\"y\"")), ["1:1 there is no system `x`"]);
    assert_eq!(told("{\"x\": "), ["1:6 this is no JSON: the text ends too early; it may be cut off"]);
}

#[test]
fn ranks_that_nodes_do_not_divide_are_refused() {
    let system = system("h100-ndr");
    for (ranks, nodes) in [(1, 1), (8, 0), (9, 2), (2, 4), (0, 1)] {
        assert!(Tuning::new(&system, Operation::AllReduce, ranks, nodes).is_err(), "{ranks} on {nodes}");
    }
}

#[test]
fn the_bus_bandwidth_counts_what_a_ring_moves() {
    assert_eq!(bus_factor(Operation::AllReduce, 8), 1.75);
    assert_eq!(bus_factor(Operation::AllGather, 8), 0.875);
    assert_eq!(bus_factor(Operation::Broadcast, 8), 1.0);
}
