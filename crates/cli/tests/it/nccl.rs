//! Transcripts of NCCL's choices.

use super::{Desk, Said};

const LOG: &str = "\
n0:7:10 [0] NCCL INFO NCCL version 2.27.3+cuda12.9
n0:7:10 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 12, bw 30.000000/30.000000, type NVL/PIX, sameChannels 0
n0:7:10 [0] NCCL INFO Pattern 1, crossNic 0, nChannels 12, bw 30.000000/30.000000, type NVL/PIX, sameChannels 0
n0:7:10 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0
n0:7:10 [0] NCCL INFO 24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels
n0:7:7 [0] NCCL INFO AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
n0:7:7 [0] NCCL INFO AllReduce: 805306368 Bytes -> Algo TREE proto SIMPLE channel{Lo..Hi}={0..23}
";

#[test]
fn a_log_takes_the_place_of_the_machine_and_its_choices_are_compared() {
    let desk = Desk::new().file("nccl.log", LOG);
    let text = desk.hayase("nccl --log nccl.log -m h100-8x400g").assert().success().stdout();
    for part in [
        "8 ranks on 1 node: nccl.log, h100-8x400g",
        "nccl.log: 2 choices and 0 latencies and bandwidths beside the model, 1 different",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("tree simple") && text.contains("ring simple"), "{text}");
    let report = desk.hayase("nccl --log nccl.log -m h100-8x400g --format json").assert().success().json();
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["log"]["differences"][0]["line"].as_u64(), Some(7));
    // The ring of 12 channels of 30 GB/s, as in a public log.
    assert!((report["rows"][1]["model_s"].as_f64().unwrap() / 3970.683594e-6 - 1.0).abs() < 1e-6);
}

#[test]
fn mistakes_of_logs_have_their_line_and_exit_with_2() {
    for (good, bad, expected) in [
        ("nChannels 12", "nChannels 1x", "nccl.log:2:1"),
        ("nNodes 1", "nNodes", "nccl.log:4:1"),
        ("Pattern", "Pat", "NCCL_DEBUG_SUBSYS=GRAPH"),
        ("bw 30.000000/", "bw -1/", "nccl.log:2:1"),
    ] {
        let desk = Desk::new().file("nccl.log", &LOG.replace(good, bad));
        let said = desk.hayase("nccl --log nccl.log -m h100-8x400g").assert().code(2).stdout_eq("").stderr();
        assert!(said.contains(expected), "{bad}: {said}");
    }
    let said = Desk::new().hayase("nccl --log nccl.log").assert().code(2).stderr();
    assert!(said.contains("--machine"), "{said}");
}

#[test]
fn ranks_that_do_not_fill_their_nodes_are_spread_over_them() {
    let desk = Desk::new();
    let one = "nccl --op all-gather --size 1GiB --algorithm ring --protocol simple -m h100-8x400g --format json";
    let bound = |of: &str| {
        let report = desk.hayase(&format!("{one} {of}")).assert().success().json();
        report["rows"][0]["bound_s"].as_f64().unwrap()
    };
    // Each GPU receives 7 of 8 blocks of 1 GiB: over NVLink in one node, over its card of 50 GB/s on eight.
    let received = 1024.0 * 1024.0 * 1024.0 * 7.0 / 8.0;
    assert!((bound("--ranks 8 --nodes 1") / (received / 360e9) - 1.0).abs() < 1e-3);
    assert!((bound("--ranks 8 --nodes 8") / (received / 50e9) - 1.0).abs() < 1e-3);
    let said = desk.hayase(&format!("{one} --ranks 9 --nodes 1")).assert().code(2).stdout_eq("").stderr();
    assert!(said.contains("9 ranks a node are more than its 8 GPUs"), "{said}");
}
