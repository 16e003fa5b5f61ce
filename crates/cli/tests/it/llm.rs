//! Transcripts of training steps in closed form.

use super::{Desk, Said};

#[test]
fn a_step_has_the_figures_that_others_read() {
    let settings = "llm:layers=96,hidden=12288,heads=96,batch=64,tp=8,pp=8,interleave=3";
    let words = format!("llm {settings},sequence_parallel=1,recompute=selective -m a100-8x200g --format json");
    let assert = Desk::new().hayase(&words).assert().success().stderr_eq("");
    let report = assert.json();
    let llm = &report["llm"];
    assert_eq!(llm["parameters"].as_u64(), Some(174_615_822_336));
    assert_eq!(llm["first_stage"]["activation_B"].as_f64(), Some(12.3515625 * f64::from(1 << 30)));
    assert_eq!(llm["communication"]["tp"]["collectives"].as_u64(), Some(12 * 64 * 10));
    assert_eq!(llm["communication"]["pp"]["sends"].as_u64(), Some(64 * 3 * 2));
    assert!((llm["step_s"].as_f64().unwrap() / 13.75 - 1.0).abs() < 0.1);
    assert!(llm["mfu"].as_f64() < llm["hfu"].as_f64());
    // Operations are integers beyond 64 bits.
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(text.contains("\"model_flops\": 141"), "{text}");
}

#[test]
fn a_table_shows_memory_communication_and_time() {
    let text = Desk::new().hayase("llm gpt-3-175b -m a100-8x200g").assert().success().stdout();
    for part in ["174,615,822,336", "Memory of a GPU", "tensor", "pipeline bubble", "MFU", "fits"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = Desk::new().hayase("llm gpt-3-175b --pp 1 --interleave 1 -m a100-8x200g").assert().success().stdout();
    assert!(text.contains("does not fit") && text.contains("Nearest layouts that fit"), "{text}");
    let text = Desk::new().hayase("llm gpt-3-175b -m a100-8x200g --search --tp 8").assert().success().stdout();
    assert!(text.contains("Best in time and memory") && text.contains("slower than"), "{text}");
}

#[test]
fn mistakes_have_their_place_and_exit_with_2() {
    let desk = Desk::new().file("own.toml", "layers = 12\nhidden = 768\nheads = 12\ntp = 5\n");
    for (words, expected) in [
        ("llm ./own.toml", "own.toml:4:6"),
        ("llm gpt-3-175b --tp 7", "`tp` = 7 does not divide `hidden` = 12288"),
        ("llm llm:layers=2,hidden=x", "`hidden`"),
        ("llm gpt-5", "unknown model `gpt-5`"),
        ("llm gpt-3-175b -m myrinet", "has no [gpu] table"),
        ("llm gpt-3-175b --gpus 100", "does not divide `gpus` = 100"),
        ("llm megatron-1t --gpus 8 --pp 1 --tp 1 --search -m a100-8x200g", "no layout of this model fits"),
    ] {
        let said = desk.hayase(words).assert().code(2).stdout_eq("").stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}

/// Small step on eight GPUs.
const STEP: &str = "llm:layers=6,hidden=512,heads=8,sequence=256,tp=2,pp=2,dp=2,batch=8";

#[test]
fn a_step_is_played_on_a_fabric() {
    let desk = Desk::new();
    let on = "-t simai-spectrum-x -m h100-8x400g";
    let text = desk.hayase(&format!("run {on} -p {STEP}")).assert().success().stdout();
    for part in ["Training step: MFU", "pipeline bubble", "Memory of a GPU", "tensor communication"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = desk.hayase(&format!("run {on} -p {STEP} --format json")).assert().success().stdout();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let step = &report["llm"];
    let part = |value: &serde_json::Value| value.as_f64().unwrap();
    let exposed: f64 = ["tp", "pp", "dp", "cp", "ep"].iter().map(|kind| part(&step["exposed_s"][kind])).sum();
    let sum = part(&step["compute_s"]) + exposed + part(&step["bubble_s"]);
    assert!((sum / part(&step["step_s"]) - 1.0).abs() < 1e-9);
    assert_eq!(step["stages"].as_array().map(Vec::len), Some(2));
    // A report runs again, and a file has the keys with hyphens or underscores.
    let desk = desk.file("report.json", &json);
    let table = "tp = 2\npp = 2\ndp = 2\nbatch = 8\nkv_heads = 8\nsequence-parallel = false\n";
    let model = "layers = 6\nhidden = 512\nheads = 8\nsequence = 256\n";
    let desk =
        desk.file("model.toml", model).file("s.toml", &format!("[workload.llm]\nmodel = './model.toml'\n{table}"));
    for words in ["run report.json --format json".to_owned(), format!("run s.toml {on} --format json")] {
        let again: serde_json::Value = serde_json::from_str(&desk.hayase(&words).assert().success().stdout()).unwrap();
        assert_eq!(again["fingerprint"], report["fingerprint"], "{words}");
    }
}

#[test]
fn playing_one_gpu_of_each_class_gives_the_step_of_all() {
    let desk = Desk::new();
    let model = "layers=4,hidden=1024,heads=16";
    for (layout, classes) in [
        ("tp=8,pp=2,dp=4,batch=32,interleave=2", 2),
        ("tp=2,pp=1,dp=8,cp=2,batch=32,zero=3", 4),
        ("tp=2,pp=2,dp=8,ep=4,experts=8,top_k=2,batch=32", 8),
    ] {
        let run = |symmetry: &str| -> serde_json::Value {
            let words = format!("run -t simai-spectrum-x -p llm:{model},{layout} -m h100-8x400g --format json");
            let call = desk.hayase(&words).args(["--set", &format!("symmetry=\"{symmetry}\"")]);
            serde_json::from_str(&call.assert().success().stdout()).unwrap()
        };
        let (all, folded) = (run("off"), run("on"));
        for key in ["makespan_s", "llm", "messages", "bytes"] {
            assert_eq!(all[key], folded[key], "{layout}: {key}");
        }
        // Waits for a send and for a receive of the same instant may be told apart differently.
        let ends = |report: &serde_json::Value| {
            let of = |rank: &serde_json::Value| (rank["end_s"].clone(), rank["compute_s"].clone());
            report["ranks"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(ends(&all), ends(&folded), "{layout}");
        assert_eq!((all.get("classes"), folded["classes"].as_u64()), (None, Some(classes)), "{layout}");
    }
}

#[test]
fn layouts_of_one_model_are_ranked_against_each_other() {
    let model = "llm:layers=4,hidden=1024,heads=16,batch=32";
    let layouts = format!("-p {model},tp=8,pp=2,dp=2 -p {model},tp=4,pp=2,dp=4");
    let words = format!("compare -t simai-spectrum-x -m h100-8x400g {layouts}");
    let text = Desk::new().hayase(&words).assert().success().stdout();
    assert!(text.contains("is the fastest") && !text.contains("Not ranked"), "{text}");
}

#[test]
fn the_link_that_decides_between_two_layouts_is_named() {
    // The weights of a GPU are twice as large without a pipeline, and its network card carries their gradients.
    let layouts = [STEP.to_owned(), STEP.replace("pp=2,dp=2", "pp=1,dp=4")].map(|layout| format!("-p {layout}"));
    let fabric = "rails:servers=4,gpus=2,segment=4,spines=1,bandwidth=5GB/s,nvlink-bandwidth=300GB/s,latency=0.5us";
    let words = format!("compare -t {fabric} -m h100-8x400g {}", layouts.join(" "));
    let desk = Desk::new();
    let text = desk.hayase(&words).assert().success().stdout();
    for part in ["The difference is most in data communication", "Of links of kind `injection, 5 GB/s`", "-> seg0.leaf"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = desk.hayase(&format!("{words} --format json")).assert().success().json();
    let load = |row: usize| report["rows"][row]["links"][0]["load_s"].as_f64().unwrap();
    assert!(load(1) > 1.5 * load(0), "{report}");
}

#[test]
fn a_step_is_written_as_an_execution_trace() {
    let desk = Desk::new();
    desk.hayase(&format!("trace convert {STEP} -m h100-8x400g -o step.et")).assert().success();
    let run = |work: &str| {
        let words = format!("run -m h100-8x400g -p {work} --format json");
        let report = desk.hayase(&words).assert().success().json();
        ["makespan_s", "messages", "bytes"].map(|key| report[key].as_f64().unwrap())
    };
    let [written, played] = [run("step"), run(STEP)];
    assert_eq!(written[1..], played[1..]);
    assert!((written[0] / played[0] - 1.0).abs() < 0.02, "{written:?} {played:?}");
    for (words, expected) in [
        (format!("trace convert {STEP} -o step.et"), "needs a GPU"),
        (format!("trace convert {STEP} -m h100-8x400g -o step.hyt"), "holds no calls"),
        ("trace convert linear:ranks=x -o step.et".to_owned(), "linear:ranks=x"),
        ("trace convert step.0.et -m h100-8x400g -o step.goal".to_owned(), "a machine is for a training step"),
    ] {
        let said = desk.hayase(&words).assert().code(2).stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn layouts_of_a_search_are_ranked_by_simulation() {
    let words = "llm llm:layers=4,hidden=1024,heads=8,batch=8 --gpus 4 -m h100-8x400g --search -t simai-spectrum-x";
    let json = Desk::new().hayase(&format!("{words} --format json")).assert().success().stdout();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = report["search"]["fastest"].as_array().unwrap();
    let times: Vec<f64> = rows.iter().map(|row| row["simulated_s"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times.len() == 20);
    assert!(report["search"]["second"].is_string());
}

#[test]
fn a_step_needs_a_gpu_and_keys_that_fit() {
    for (words, expected) in [
        ("run -t simai-spectrum-x -p llm:gpt-3-175b", "a training step needs a GPU"),
        ("run -t simai-spectrum-x -p llm:gpt3-175b -m h100-8x400g", "did you mean `gpt-3-175b`?"),
        ("run -t simai-spectrum-x -p llm:layers=0,hidden=64 -m h100-8x400g", "`layers` is a whole number from 1"),
        ("run -t simai-spectrum-x -p llm:layers=4,hidden=64,dp=0 -m h100-8x400g", "`dp` is a whole number from 1"),
        (
            "run -t simai-spectrum-x -p llm:layers=4,hidden=64,dp=3,batch=8 -m h100-8x400g",
            "does not divide `batch` = 8",
        ),
        ("run -t simai-spectrum-x -p llm:layers=4,hidden=64,layer=3 -m h100-8x400g", "did you mean `layers`?"),
    ] {
        let said = Desk::new().hayase(words).assert().code(2).stdout_eq("").stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}
