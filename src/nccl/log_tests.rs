//! Logs as NCCL prints them, made up and short.

use super::log::Log;
use super::*;
use crate::diagnostic::Diagnostic;

/// A log of 24 H100 on three nodes, of two ranks: the second has fewer channels.
fn log() -> String {
    let of = |gpu: u32, body: &str| format!("[1,0]<stdout>:n0:7:{}{gpu} [{gpu}] NCCL INFO {body}\n", 10 + gpu);
    let graphs = |gpu, channels| {
        [
            format!(
                "Pattern 4, crossNic 0, nChannels {channels}, bw 24.000000/24.000000, type NVL/PIX, sameChannels 1"
            ),
            " 0 : NET/0 GPU/0 GPU/1 NET/0".to_owned(),
            format!(
                "Pattern 3, crossNic 0, nChannels {channels}, bw 24.000000/24.000000, type NVL/PXN, sameChannels 1"
            ),
            format!("comm 0x{gpu} rank {gpu} nRanks 24 nNodes 3 localRanks 8 localRank {gpu} MNNVL 0"),
        ]
        .map(|body| of(gpu, &body))
        .concat()
    };
    let text = [
        "n0:7:7 [0] NCCL INFO NCCL version 2.22.3+cuda12.6\nsomething else\n".to_owned(),
        of(0, "CPU/0 (1/1/2)"),
        graphs(0, 16),
        graphs(1, 8),
        of(0, "16 coll channels, 16 collnet channels, 0 nvls channels, 32 p2p channels, 2 p2p channels per peer"),
        of(0, "  Algorithm   |                   Tree |                  Ring |"),
        of(0, "  Protocol    |      LL |   LL128 | Simple |      LL |   LL128 | Simple |"),
        of(0, "    AllReduce |  25.2/  5.2 |  42.1/ 20.0 | 92.4/ 22.0|    9.9/ 9.9 |  0.0/  0.0 |   0.0/  0.0 |"),
        "n0:7:7 [0] NCCL INFO AllReduce: 65536 Bytes -> Algo 0 proto 0 time 37.798233\n".repeat(3),
        of(0, "AllGather: 1024 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}"),
        of(0, "SendRecv: 1024 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}"),
    ];
    text.concat()
}

fn machine() -> System {
    let text = "{\"cc\": 90, \"channels\": 1, \"net_latency_us\": 0.0, \"graphs\": {\"ring\": {\"channels\": 1, \
                \"bw_intra\": 1.0, \"bw_inter\": 1.0}}}";
    System::from_json(text, 0, "").unwrap()
}

#[test]
fn a_log_gives_the_least_of_all_ranks_and_its_choices() {
    let log = Log::read(&log(), 0).unwrap();
    let system = log.system(machine()).unwrap();
    assert_eq!((log.ranks, log.nodes, *system.channels, system.ll128), (24, 3, 16, true));
    assert_eq!((system.version.as_deref().map(String::as_str), system.cpu), (Some("2.22.3"), Cpu::Intel));
    let (ring, tree) = (system.graphs.ring.clone().unwrap(), system.graphs.tree.clone().unwrap());
    assert_eq!((*ring.channels, *ring.bw_inter, *tree.channels, tree.pattern), (8, 24.0, 8, TreePattern::Tree));
    assert!(system.graphs.nvls.is_none() && !system.collnet);
    // The same system and time as in `validation/nccl/logged.csv`.
    let tuning = Tuning::new(&system, Operation::AllReduce, 24, 3).unwrap();
    let best = tuning.ranking(65536)[0];
    assert!((best.time_us / 37.798233 - 1.0).abs() < 1e-6, "{best:?}");
    // An all-gather is logged with the bytes of a block from 2.26 on; other operations have no algorithm.
    let choices: Vec<_> = log.choices.iter().map(|of| (of.operation, of.bytes)).collect();
    assert_eq!((choices.len(), choices[3]), (4, (Some(Operation::AllGather), 24 * 1024)));
    assert_eq!((log.entries.len(), log.entries[3].printed.as_str()), (6, "9.9/9.9"));
}

#[test]
fn ll128_needs_near_paths_and_hopper_reaches_farther() {
    let has = |cc: u32, paths: &str| {
        let mut machine = machine();
        machine.cc = cc.into();
        Log::read(&log().replace("NVL/PXN", paths), 0).unwrap().system(machine).unwrap().ll128
    };
    assert!(has(90, "NVL/PXN") && !has(80, "NVL/PXN") && has(80, "NVL/PXB"));
    assert!(!has(90, "NVL/PHB") && !has(90, "SYS/PIX"));
}

fn first(text: &str) -> Diagnostic {
    Log::read(text, 0).unwrap_err().remove(0)
}

#[test]
fn missing_lines_name_the_setting_that_prints_them() {
    for (line, setting) in [
        ("Pattern", "NCCL_DEBUG_SUBSYS=GRAPH"),
        ("nNodes", "NCCL_DEBUG_SUBSYS=INIT"),
        ("coll channels", "NCCL_DEBUG_SUBSYS=INIT"),
        ("NCCL INFO", "NCCL_DEBUG=INFO"),
    ] {
        let text: String = log().split_inclusive('\n').filter(|of| !of.contains(line)).collect();
        let mistake = first(&text);
        assert!(mistake.help.as_deref().unwrap_or_default().contains(setting), "{line}: {mistake:?}");
    }
    assert!(Log::read("", 0).is_err());
}

#[test]
fn broken_lines_are_told_at_their_place() {
    let mut sources = crate::diagnostic::Sources::default();
    for (good, bad, line) in [
        ("nChannels 16, bw", "nChannels x, bw", 4),
        ("type NVL/PXN", "type NVL/ABC", 6),
        ("nRanks 24", "nRanks 2x", 7),
        ("proto 0 time", "proto 9 time", 16),
        ("9.9/ 9.9", "9.9", 15),
        ("65536 Bytes", "6553x Bytes", 16),
    ] {
        let text = log().replacen(good, bad, 1);
        let base = sources.add("nccl.log", &*text);
        let mistake = Log::read(&text, base).unwrap_err().remove(0);
        let place = mistake.place(&sources).unwrap();
        assert_eq!(
            (place.line, mistake.message.as_str()),
            (line, "the line is cut off or mixed with another"),
            "{bad}"
        );
        assert!(mistake.help.unwrap().starts_with("expected `"));
    }
    let text = log().replace("bw 24.000000/24", "bw 24.000000/-4");
    let mistake = Log::read(&text, 0).unwrap().system(machine()).unwrap_err().remove(0);
    assert_eq!(mistake.message, "a channel of -4 GB/s");
}
