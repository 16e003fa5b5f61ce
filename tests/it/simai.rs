//! Workloads of SimAI: closed forms, warnings, and mistakes with their places.

use hayase::diagnostic::{Invalid, Sources};
use hayase::program::Program;
use hayase::reading::Input;
use hayase::scenario::{Loaded, Loader};
use hayase::simulation::{ProgramOutcome, RunOptions};
use hayase::trace::simai::read;

const HEAD: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 \
                    checkpoints: 0 checkpoint_initiates: 0";

fn program(text: &str) -> Result<Program, String> {
    let mistakes = |diagnostics| Invalid { diagnostics, sources: Sources::default() }.lines();
    read(Input::from_bytes("w.txt", text.into()), None).map_err(mistakes)
}

/// Plays a workload with messages of 1 us at 10 GB/s.
fn played(text: &str) -> ProgramOutcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("w.txt");
    std::fs::write(&file, text).unwrap();
    let fabric = "[topology.crossbar]\nnodes = 8\nbandwidth = '10 GB/s'\nlatency = '500 ns'\n";
    let loader = Loader::new().text("fabric.toml", fabric).pattern(file.to_str().unwrap());
    match loader.load_all() {
        Ok(Loaded::Program(scenario)) => scenario.run(RunOptions::default()),
        Ok(_) => panic!("not a program"),
        Err(invalid) => panic!("{invalid}"),
    }
}

fn us(text: &str) -> f64 {
    let outcome = played(text);
    assert_eq!(outcome.stuck, []);
    outcome.report.head.makespan_s * 1e6
}

#[test]
fn layers_go_forward_then_backward_with_the_collectives_of_their_groups() {
    // Forward 10 us and a ring of two: 2 x (50 + 1) us. Backward: 20 us, then 30 us beside a ring like it. Then the
    // gradients over four ranks, 6 x (25 + 1) us, and an update of 5 us.
    let text = format!(
        "{HEAD}\n1\nattention -1 10000 ALLREDUCE 1000000 20000 ALLREDUCE 1000000 30000 ALLREDUCE 1000000 5000\n"
    );
    assert!((us(&text) - (10.0 + 102.0 + 20.0 + (30.0 + 156.0_f64).max(102.0) + 5.0)).abs() < 110.0);
    let alone = format!("{HEAD}\n1\na -1 10000 NONE 0 20000 NONE 0 30000 ALLREDUCE 1000000 5000\n");
    assert!((us(&alone) - (60.0 + 156.0 + 5.0)).abs() < 1e-6);
    let tensor = format!("{HEAD}\n1\na\t-1\t10000\tALLREDUCE\t1000000\t20000\tNONE\t0\t30000\tNONE\t0\t0\n");
    assert!((us(&tensor) - (60.0 + 102.0)).abs() < 1e-6);
}

#[test]
fn groups_of_experts_divide_those_of_data() {
    let time = |collective: &str| us(&format!("{HEAD}\n1\na -1 0 NONE 0 0 NONE 0 0 {collective} 1000000 0\n"));
    // Four ranks of data, two of experts, two of the data of an expert.
    assert!((time("ALLREDUCE") - 6.0 * 26.0).abs() < 1e-6);
    assert!((time("ALLREDUCE_EP") - 2.0 * 51.0).abs() < 1e-6);
    assert!((time("ALLREDUCE_DP_EP") - 2.0 * 51.0).abs() < 1e-6);
    assert!((time("ALLGATHER") - 3.0 * 26.0).abs() < 1e-6);
    assert!((time("REDUCESCATTER") - 3.0 * 26.0).abs() < 1e-6);
    assert!((time("ALLTOALL_EP") - 51.0).abs() < 1e-6);
    assert!(time("BROADCAST") > 100.0);
}

#[test]
fn groups_of_the_same_ranks_share_the_order_of_their_calls() {
    // Without experts the data group of an expert is the data group.
    let head = HEAD.replace("ep: 2", "ep: 1");
    let text = format!("{head}\n1\na -1 0 ALLREDUCE_DP_EP 1000 0 ALLGATHER_DP_EP 8000 0 ALLREDUCE 1000000 0\n");
    assert!(us(&text) > 6.0 * 26.0);
}

#[test]
fn a_wrong_number_of_layers_is_a_warning() {
    let outcome = played(&format!("{HEAD}\n839\na -1 1000 NONE 0 0 NONE 0 0 NONE 0 0\n"));
    assert_eq!(outcome.report.caveats.ignored, ["ignored: the number of layers, 839, since the file has 1"]);
}

#[test]
fn mistakes_name_line_and_column() {
    let wrong = |text: String| program(&text).err().unwrap();
    let layer = "a -1 1000 NONE 0 0 NONE 0 0 NONE 0 0";
    for (text, parts) in [
        (format!("{HEAD}\n1\n{layer} 7\n"), ["w.txt:3:1", "a layer of 13 columns"]),
        (
            format!("{HEAD}\n1\n{}\n", layer.replace("NONE", "ALLREDUSE")),
            ["w.txt:3:11", "`ALLREDUSE` is no collective"],
        ),
        (format!("{HEAD}\n1\n{}\n", layer.replace("1000", "x")), ["w.txt:3:6", "`x` is not a time in ns"]),
        (format!("{HEAD}\nx\n{layer}\n"), ["w.txt:2:1", "`x` is not a number of layers"]),
        (format!("{HEAD}\n1\n"), ["w.txt: the workload has no layers", ""]),
        (format!("{}\n1\n{layer}\n", HEAD.replace("all_gpus: 8", "all_gpus: 6")), ["6 ranks are no multiple of 2", ""]),
        (format!("MICRO\n1\n{layer}\n"), ["the number of ranks is not known", "all_gpus"]),
    ] {
        let found = wrong(text);
        assert!(parts.iter().all(|part| found.contains(part)), "{parts:?} not in {found}");
    }
}
