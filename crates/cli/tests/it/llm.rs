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
        ("llm llm:layers=2,hidden=x", "`hidden` is a whole number"),
        ("llm gpt-5", "unknown model `gpt-5`"),
        ("llm gpt-3-175b -m myrinet", "has no [gpu] table"),
        ("llm gpt-3-175b --gpus 100", "does not divide `gpus` = 100"),
        ("llm megatron-1t --gpus 8 --pp 1 --tp 1 --search -m a100-8x200g", "no layout of this model fits"),
    ] {
        let said = desk.hayase(words).assert().code(2).stdout_eq("").stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}
