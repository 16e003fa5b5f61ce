//! Published sizes to the last digit, schedules by their dependences, and closed forms of communication.

use super::*;
use crate::diagnostic::Diagnostic;
use crate::reading::whole::from_text;

pub(super) fn read(settings: &str) -> Result<Training, Vec<Diagnostic>> {
    let line = |setting: &str| {
        let (key, value) = setting.split_once('=').unwrap();
        let is_word = value.parse::<u64>().is_err() && !["true", "false"].contains(&value);
        let quote = if is_word { "'" } else { "" };
        format!("{} = {quote}{value}{quote}\n", key.replace('_', "-"))
    };
    let text: String = settings.split([' ', ',']).map(line).collect();
    from_text::<LlmSpec>(&text, 0)?.training(None, false)
}

pub(super) fn training(settings: &str) -> Training {
    read(settings).unwrap_or_else(|mistakes| panic!("{settings}: {mistakes:?}"))
}

fn mistake(settings: &str) -> String {
    read(settings).unwrap_err().iter().map(|mistake| mistake.message.clone()).collect::<Vec<_>>().join("; ")
}

const GIB: f64 = (1_u64 << 30) as f64;

#[test]
fn parameters_of_the_ten_models_of_megatron_are_the_published_ones() {
    let table = [
        (2304_u64, 24_u64, 1.7),
        (3072, 30, 3.6),
        (4096, 36, 7.5),
        (6144, 40, 18.4),
        (8192, 48, 39.1),
        (10240, 60, 76.1),
        (12288, 80, 145.6),
        (16384, 96, 310.1),
        (20480, 105, 529.6),
        (25600, 128, 1008.0),
    ];
    for (hidden, layers, billions) in table {
        let model = training(&format!("layers={layers} hidden={hidden}")).model;
        let exact = u128::from(layers * (12 * hidden * hidden + 13 * hidden) + (51_200 + 2048) * hidden);
        assert_eq!(model.parameters(), exact);
        assert_eq!((exact as f64 / 1e8).round() / 10.0, billions);
        assert_eq!(model.active_parameters(), exact);
    }
}

#[test]
fn operations_are_those_of_the_closed_forms() {
    let Training { model, .. } = training("layers=96 hidden=12288 heads=96 batch=64");
    let [b, s, l, h, v] = [64, 2048, 96, 12_288, 51_200_u128];
    let forward = b * (24 * l * s * h * h + 4 * l * s * s * h + 2 * s * h * v);
    assert_eq!(model.forward_flops(), forward);
    assert_eq!(model.model_flops(), 3 * forward);
    assert_eq!(model.hardware_flops(Recompute::None), 3 * forward);
    assert_eq!(model.hardware_flops(Recompute::Selective), 3 * forward + b * l * 4 * s * s * h);
    assert_eq!(model.hardware_flops(Recompute::Full), 4 * forward - b * 2 * s * h * v);
    // MFU of the step of 13.75 s on 64 A100 as published.
    assert!((model.model_flops() as f64 / (13.75 * 64.0 * 312e12) - 0.5139).abs() < 5e-5);
    let causal = training("layers=96 hidden=12288 heads=96 batch=64 causal=true").model;
    assert_eq!(causal.forward_flops(), forward - b * l * 2 * s * s * h);
}

#[test]
fn experts_count_once_in_parameters_and_by_token_in_operations() {
    let settings = "layers=2 hidden=1024 ffn=4096 gated=1 bias=0 positions=0 vocab=1000 experts=8 top_k=2";
    let model = training(settings).model;
    let (attention, expert, router, norms) = (4 * 1024 * 1024, 3 * 1024 * 4096, 8 * 1024, 2 * 1024);
    assert_eq!(model.parameters(), 2 * (attention + 8 * expert + router + norms) + 1_024_000);
    assert_eq!(model.active_parameters(), 2 * (attention + 2 * expert + router + norms) + 1_024_000);
    let s = 2048;
    let forward = 2 * (2 * s * (attention + 2 * expert + router) + 4 * s * s * 1024) + 2 * s * 1_024_000;
    assert_eq!(model.forward_flops(), forward);
}

#[test]
fn the_twelve_memory_sizes_of_korthikanti_are_exact() {
    let table = [
        ("layers=48 hidden=6144 heads=64 tp=8 batch=4 micro=4", 59.25, 9.5625, 45.5625),
        ("layers=96 hidden=12288 heads=96 tp=8 pp=8 interleave=3 batch=64", 66.84375, 12.3515625, 45.5625),
        ("layers=105 hidden=20480 heads=128 tp=8 pp=35 interleave=3 batch=280", 114.0234375, 23.076171875, 31.640625),
        ("layers=128 hidden=25600 heads=160 tp=8 pp=64 batch=512", 131.25, 26.5625, 32.958984375),
    ];
    for (settings, none, selective, states) in table {
        let Training { model, layout, .. } = training(settings);
        assert_eq!(memory(&model, &layout, 0).activation_b as f64 / GIB, none, "{settings}");
        let Training { model, layout, .. } = training(&format!("{settings} sequence_parallel=1 recompute=selective"));
        let first = memory(&model, &layout, 0);
        assert_eq!(first.activation_b as f64 / GIB, selective, "{settings}");
        assert_eq!(peak_memory(&model, &layout), first.memory_b);
        // The published states are those of the matrices of the layers alone.
        let matrices = 12 * u128::from(model.layers / layout.pp) * u128::from(model.hidden).pow(2) / 8;
        assert_eq!((18 * matrices) as f64 / GIB, states, "{settings}");
        let small = 13 * u128::from(model.layers / layout.pp * model.hidden) / 8 + model.embedding() / 8;
        assert_eq!(first.states(), 18 * (matrices + small));
    }
}

#[test]
fn zero_divides_states_over_data_parallel_gpus() {
    let states = |zero: u32| {
        let Training { model, layout, .. } = training(&format!("layers=4 hidden=1024 dp=4 cp=2 batch=4 zero={zero}"));
        let of = memory(&model, &layout, 0);
        (of.states(), of.parameters)
    };
    let (all, parameters) = states(0);
    assert_eq!(all, 18 * parameters);
    assert_eq!(states(1).0, 6 * parameters + 12 * parameters / 8);
    assert_eq!(states(2).0, 2 * parameters + 16 * parameters / 8);
    assert_eq!(states(3).0, 18 * parameters / 8);
}

#[test]
fn experts_are_divided_over_expert_and_tensor_groups() {
    let Training { model, layout, .. } =
        training("layers=2 hidden=1024 experts=8 bias=0 vocab=0 positions=0 dp=8 ep=4 tp=2 batch=8");
    let (expert, rest) = (2 * 1024 * 4096, 4 * 1024 * 1024 + 8 * 1024 + 2 * 1024);
    let of = parameters(&model, &layout, 0);
    assert_eq!((of.experts, of.common), (2 * 8 * expert / 8, 2 * rest / 2));
    let of = communication(&model, &layout);
    // 4 all-to-alls of 2 b s K h in both layers.
    assert_eq!(of.ep, Collectives { collectives: 8, bytes: 8 * 2 * 2048 * 2 * 1024 });
}

/// Plays the passes of all stages without transfers, and returns the end and the largest number of chunks held by
/// each stage. Forward passes take 1, backward passes 2.
fn play(schedule: Schedule) -> (f64, Vec<u64>) {
    let (p, v) = (schedule.stages, schedule.chunks);
    let mut done = std::collections::BTreeMap::new();
    let orders: Vec<Vec<Slot>> = (0..p).map(|stage| schedule.slots(stage).collect()).collect();
    let mut next = vec![0; orders.len()];
    let mut free = vec![0.0; orders.len()];
    let (mut held, mut peak) = (vec![0; orders.len()], vec![0; orders.len()]);
    while next.iter().zip(&orders).any(|(at, order)| *at < order.len()) {
        let mut has_moved = false;
        for stage in 0..orders.len() {
            let Some(slot) = orders[stage].get(next[stage]) else { continue };
            // A pass waits for the same micro-batch at the place before it, counted along the model and back.
            let place = slot.chunk * p + stage as u64;
            let place = if slot.is_backward { 2 * p * v - 1 - place } else { place };
            let ready = if place == 0 { Some(&0.0) } else { done.get(&(slot.micro_batch, place - 1)) };
            let Some(ready) = ready else { continue };
            let end = f64::max(free[stage], *ready) + if slot.is_backward { 2.0 } else { 1.0 };
            done.insert((slot.micro_batch, place), end);
            (free[stage], next[stage], has_moved) = (end, next[stage] + 1, true);
            if slot.is_backward {
                held[stage] -= 1;
            } else {
                held[stage] += 1;
                peak[stage] = peak[stage].max(held[stage]);
            }
        }
        assert!(has_moved, "{schedule:?} deadlocks");
    }
    (free.into_iter().fold(0.0, f64::max), peak)
}

#[test]
fn schedules_last_and_hold_what_their_closed_forms_say() {
    use ScheduleKind::{Gpipe, OneForwardOneBackward};
    for stages in 1..=6 {
        for micro_batches in [1, 2, 3, 4, 6, 12, 30, 60] {
            for chunks in 1..=4 {
                for kind in [Gpipe, OneForwardOneBackward] {
                    let odd = chunks > 1 && (micro_batches % stages > 0 || stages == 1);
                    if odd || chunks > 1 && kind == Gpipe {
                        continue;
                    }
                    let schedule = Schedule { kind, stages, chunks, micro_batches };
                    let (end, peak) = play(schedule);
                    assert_eq!(end, schedule.duration(1.0, 2.0), "{schedule:?}");
                    let held: Vec<u64> = (0..stages).map(|stage| schedule.held(stage)).collect();
                    assert_eq!(peak, held, "{schedule:?}");
                }
            }
        }
    }
}

#[test]
fn communication_has_the_bytes_of_the_closed_forms() {
    let of = |settings: &str| {
        let Training { model, layout, .. } = training(settings);
        communication(&model, &layout)
    };
    let base = "layers=8 hidden=1024 batch=16 tp=4 pp=2 dp=2";
    let tensor = 2 * 2048 * 1024;
    // Four layers and eight micro-batches; two all-reduces forward and two backward.
    assert_eq!(of(base).tp, Collectives { collectives: 4 * 8 * 4, bytes: 4 * 8 * 4 * tensor });
    assert_eq!(of(&format!("{base} recompute=full")).tp.collectives, 4 * 8 * 6);
    assert_eq!(of(&format!("{base} sequence_parallel=1")).tp.collectives, 4 * 8 * 10);
    assert_eq!(of(base).pp, Sends { sends: 16, bytes: 16 * tensor });
    assert_eq!(of(&format!("{base} interleave=2")).pp.sends, 32);
    assert_eq!(of(&format!("{base} sequence_parallel=1")).pp.bytes, 16 * tensor / 4);
    let parameters = (4 * (12 * 1024 * 1024 + 13 * 1024) + (51_200 + 2048) * 1024) / 4;
    for (zero, bytes) in [(0, 4), (1, 6), (2, 6), (3, 8)] {
        assert_eq!(of(&format!("{base} zero={zero}")).dp.bytes, bytes * parameters);
    }
    let ring = of("layers=8 hidden=1024 kv_heads=4 batch=16 tp=2 cp=4 dp=2").cp;
    assert_eq!(ring.bytes, 3 * 3 * 8 * 8 * 4 * 512 * 4 * 128 / 2);
    let none = of("layers=8 hidden=1024 batch=16");
    assert_eq!(none, Communication::default());
}

#[test]
fn degrees_that_do_not_divide_name_their_key() {
    let base = "layers=12,hidden=768,heads=12";
    for (settings, expected) in [
        ("tp=5", "`tp` = 5 does not divide `hidden` = 768"),
        ("tp=8", "`tp` = 8 does not divide `heads` = 12"),
        ("pp=5", "`pp` = 5 does not divide `layers` = 12"),
        ("pp=4,interleave=2,batch=4", "`interleave` = 2 does not divide `layers` / `pp` = 3"),
        ("pp=4,interleave=3,batch=6", "in groups of `pp` = 4, and there are 6"),
        ("dp=4,batch=6", "`dp` = 4 does not divide `batch` = 6"),
        ("dp=2,batch=6,micro=2", "`micro` = 2 does not divide `batch` / `dp` = 3"),
        ("experts=8,dp=4,ep=3,batch=4", "`ep` = 3 does not divide `experts` = 8"),
        ("experts=8,dp=4,ep=8,batch=4", "`ep` = 8 does not divide `dp` = 4"),
        ("gpus=7,tp=2", "`tp` `cp` `pp` = 2 does not divide `gpus` = 7"),
        ("gpus=8,dp=2,tp=2,batch=2", "`gpus` = 8, and `tp` `cp` `dp` `pp` make 4"),
        ("layer=3", "unknown key `layer`"),
        ("zero=4", "`zero` is a whole number from 0 to 3"),
        ("gated=2", "`gated` is true or false"),
        ("recompute=some", "unknown recompute `some`"),
        ("batch=two", "`batch`"),
    ] {
        let said = mistake(&format!("{base},{settings}"));
        assert!(said.contains(expected), "{settings}: {said}");
    }
    assert!(mistake("hidden=768").contains("missing key `layers`"));
}

#[test]
fn groups_that_cross_a_node_share_its_cards() {
    let gpu = Gpu::of_text(include_str!("../../machines/a100-4x200g.toml"), 0).unwrap().unwrap();
    let bandwidth = |size, stride| Group { size, stride }.bandwidth(&gpu) / 1e9;
    // Inside of a node; one ring through all GPUs; two rings; eight, with a GPU of each node.
    assert_eq!([bandwidth(8, 1), bandwidth(16, 1), bandwidth(32, 2), bandwidth(4, 8)], [230.0, 100.0, 50.0, 12.5]);
}

#[test]
fn without_transfers_and_output_a_step_is_its_closed_form() {
    let mut gpu = Gpu::of_text(include_str!("../../machines/a100-8x200g.toml"), 0).unwrap().unwrap();
    gpu.launch = crate::units::Time::ZERO;
    let infinite = crate::units::Bandwidth::from_bytes_per_second(1e30);
    (gpu.nvlink, gpu.card_bandwidth) = (infinite, infinite);
    for settings in ["pp=4 batch=16", "pp=4 interleave=2 batch=16", "tp=2 pp=8 batch=8 sequence_parallel=1"] {
        let Training { model, layout, .. } = training(&format!("layers=16 hidden=2048 vocab=0 {settings}"));
        let clock = Clock { model: &model, layout: &layout, gpu: &gpu };
        let (step, schedule) = (clock.step(), layout.schedule(&model));
        let chunk = clock.stage(0).total() / layout.interleave as f64;
        let expected = schedule.duration(chunk, 0.0);
        assert!(((step.total() - step.optimizer_s) / expected - 1.0).abs() < 1e-9, "{settings}");
    }
}

#[test]
fn a_search_finds_the_layout_that_is_fastest_and_fits() {
    let gpu = Gpu::of_text(include_str!("../../machines/a100-8x200g.toml"), 0).unwrap().unwrap();
    let Training { model, layout, .. } = training("layers=24 hidden=2304 heads=24 batch=64");
    let found = search(&model, &layout, &Fixed::default(), 16, &gpu);
    assert!(found.len() > 20 && found.iter().all(|one| one.layout.gpus() == 16 && one.memory <= gpu.usable()));
    assert!(found.is_sorted_by(|a, b| a.time.total() <= b.time.total()));
    let best = pareto(&found);
    assert_eq!(best[0].layout, found[0].layout);
    assert!(best.is_sorted_by(|a, b| a.memory > b.memory));
    let parts = [found[0].time.parts(), found[1].time.parts()];
    let why = why_second([(&found[0].layout, &parts[0]), (&found[1].layout, &parts[1])]);
    assert!(why.contains(" % slower than ") || why.contains("more memory"), "{why}");
    let kept = search(&model, &Layout { tp: 4, ..layout }, &Fixed::from(["tp".to_owned()]), 16, &gpu);
    assert!(!kept.is_empty() && kept.iter().all(|one| one.layout.tp == 4));
}
