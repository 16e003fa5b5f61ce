//! Programs of training steps: closed forms without transfers, bytes, memory, and the account of their time.

use super::tests::training;
use super::*;
use crate::program::CollectiveCall as Call;
use crate::report::replay::ReplayReport;
use crate::scenario::Loader;
use crate::simulation::{Outcome, RunOptions};

/// Fabric of eight GPUs a server on which transfers take no time that counts.
const INFINITE: &str = "rails:servers=8,bandwidth=1e15 GB/s,nvlink-bandwidth=1e15 GB/s";
/// Fabric on which they contend.
const SLOW: &str = "rails:servers=8,gpus=2,bandwidth=10 GB/s,nvlink-bandwidth=40 GB/s,latency=1 us";
/// Fabric on which they take less time than computation.
const FAST: &str = "rails:servers=8,gpus=2,bandwidth=100 GB/s,nvlink-bandwidth=360 GB/s,latency=1 us";

fn report(fabric: &str, settings: &str) -> ReplayReport {
    played(fabric, settings, false)
}

/// Plays a step; `all` of its micro-batches, or only those that do not repeat.
fn played(fabric: &str, settings: &str, all: bool) -> ReplayReport {
    let loader = Loader::new().topology(fabric).pattern(&format!("llm:{}", settings.replace(' ', ",")));
    let loader = loader.machine("h100-8x400g").node("ideal").set("--set", "workload.llm.gpu.launch=0 s");
    let scenario = loader.load().unwrap_or_else(|invalid| panic!("{settings}: {invalid}"));
    let mut see = |_: &crate::player::Activity| {};
    let on_activity: Option<crate::player::OnActivity<'_>> = if all { Some(&mut see) } else { None };
    match scenario.run(RunOptions { on_activity, ..RunOptions::default() }) {
        Outcome::Program(outcome) => outcome.report,
        _ => panic!("no report of a program"),
    }
}

fn gpu() -> Gpu {
    let mut gpu = Gpu::of_text(include_str!("../../machines/h100-8x400g.toml"), 0).unwrap().unwrap();
    gpu.launch = crate::units::Time::ZERO;
    gpu
}

/// Layouts of the same small model.
const LAYOUTS: [&str; 9] = [
    "dp=2 batch=4 zero=2",
    "tp=4 pp=2 batch=6 overlap=1 dp=2",
    "tp=2 pp=4 batch=8 sequence_parallel=1",
    "tp=2 pp=2 interleave=4 batch=4 recompute=full",
    "pp=4 batch=8 schedule=gpipe",
    "tp=2 cp=4 dp=2 batch=2 kv_heads=4",
    "dp=4 ep=2 experts=4 batch=8 tp=2 overlap=1 cp=2",
    "tp=2 dp=4 zero=3 overlap=1 batch=8 recompute=selective",
    "tp=4 dp=2 zero=3 batch=4 sequence_parallel=1 recompute=full",
];
const MODEL: &str = "layers=8 hidden=512 heads=8 sequence=256 vocab=1024";
/// Model without its vocabulary, which may be 0.
const SMALL: &str = "layers=8 hidden=512 heads=8 sequence=256";

#[test]
fn without_transfers_a_step_is_its_closed_form() {
    for settings in [
        "pp=4 batch=16 schedule=gpipe",
        "pp=4 batch=16",
        "pp=3 batch=5",
        "pp=4 batch=2",
        "pp=4 batch=16 interleave=3",
        "pp=2 batch=6 interleave=6 tp=2 sequence_parallel=1",
        "tp=4 pp=3 batch=7 recompute=full",
    ] {
        let settings = format!("layers=12 hidden=512 heads=8 vocab=0 positions=0 {settings}");
        let Training { model, layout, .. } = training(&settings);
        let clock = Clock { model: &model, layout: &layout, gpu: &gpu() };
        let mut of_chunk = clock.stage(0);
        (of_chunk.tp_s, of_chunk.pp_s) = (0.0, 0.0);
        let passes = layout.schedule(&model).duration(of_chunk.total() / layout.interleave as f64, 0.0);
        let expected = passes + clock.optimizer(0);
        let played = report(INFINITE, &settings);
        assert!((played.head.makespan_s / expected - 1.0).abs() < 1e-9, "{settings}: {}", played.head.makespan_s);
        let step = played.llm.unwrap().parts;
        assert_eq!(step.step_s, played.head.makespan_s);
        let bubble = passes - layout.schedule(&model).passes() as f64 * of_chunk.total() / layout.interleave as f64;
        assert!((step.bubble_s - bubble).abs() < 1e-9 * expected, "{settings}: {step:?}");
    }
}

#[test]
fn the_parts_of_a_step_add_up() {
    for layout in LAYOUTS {
        let played = report(SLOW, &format!("{MODEL} {layout}"));
        let step = played.llm.unwrap().parts;
        let Exposed { tp, pp, dp, cp, ep } = step.exposed_s;
        let sum = step.compute_s + tp + pp + dp + cp + ep + step.bubble_s;
        assert!((sum / step.step_s - 1.0).abs() < 1e-9, "{layout}: {step:?}");
        assert_eq!(step.step_s, played.head.makespan_s, "{layout}");
        let has = |key: &str| layout.contains(key);
        assert_eq!(
            [tp, pp, dp, cp, ep].map(|part| part > 0.0),
            [has("tp"), has("pp"), has("dp") || has("cp"), has("cp"), has("ep="),],
            "{layout}: {step:?}"
        );
        assert!(step.bubble_s == 0.0 || has("pp"));
    }
}

#[test]
fn a_step_that_repeats_is_the_one_that_is_played_whole() {
    for (fabric, settings, repeats) in [
        // Two windows take turns.
        (SLOW, "pp=2 batch=100 micro=1 vocab=1024", true),
        (SLOW, "tp=2 pp=2 dp=4 batch=400 vocab=1024", true),
        (SLOW, "tp=2 pp=4 batch=132 sequence_parallel=1 recompute=full vocab=1024", true),
        (SLOW, "dp=8 batch=800 zero=1 vocab=1024", true),
        (SLOW, "tp=2 cp=2 pp=2 batch=75 kv_heads=4 vocab=1024", true),
        (SLOW, "dp=4 ep=4 experts=4 batch=300 pp=2 overlap=1 vocab=1024", true),
        (FAST, "pp=4 interleave=2 batch=200 vocab=1024", true),
        (FAST, "tp=2 pp=2 interleave=2 dp=2 batch=400 overlap=1 zero=3 vocab=0 positions=0", true),
        (FAST, "pp=4 schedule=gpipe dp=2 batch=180 vocab=0 positions=0", true),
        // The network is slower than the GPUs, and nothing repeats.
        (SLOW, "tp=4 pp=4 batch=240 vocab=1024", false),
        (SLOW, "pp=4 schedule=gpipe dp=2 batch=180 vocab=1024", false),
    ] {
        let settings = format!("{SMALL} {settings}");
        let [whole, short] = [true, false].map(|all| played(fabric, &settings, all));
        let (all, step) = (whole.llm.clone().unwrap(), short.llm.clone().unwrap());
        assert_eq!((all.played, step.played < step.micro_batches), (all.micro_batches, repeats), "{settings}");
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * all.parts.step_s;
        assert!(same(whole.head.makespan_s, short.head.makespan_s), "{settings}: {all:?} {step:?}");
        let of = |step: &crate::report::replay::PlayedStep| {
            let StepParts { step_s, compute_s, exposed_s: Exposed { tp, pp, dp, cp, ep }, bubble_s, .. } = step.parts;
            [step_s, compute_s, tp, pp, dp, cp, ep, bubble_s]
        };
        assert!(of(&all).into_iter().zip(of(&step)).all(|(a, b)| same(a, b)), "{settings}: {all:?} {step:?}");
        let counts = |report: &ReplayReport| (report.head.messages, report.head.bytes, report.operations);
        assert_eq!(counts(&whole), counts(&short), "{settings}");
        for (a, b) in whole.ranks.iter().zip(&short.ranks) {
            assert!(same(a.end_s, b.end_s) && same(a.compute_s, b.compute_s) && same(a.recv_wait_s, b.recv_wait_s));
        }
    }
}

#[test]
fn a_gpu_of_the_first_stage_sends_the_bytes_of_the_closed_form() {
    for settings in LAYOUTS {
        let Training { model, layout, .. } = training(&format!("{MODEL} {settings}"));
        let gpu = gpu();
        let step = Step::new(&model, &layout, &gpu);
        let mut of = Communication::default();
        let graph = step.rank(layout.gpus() / layout.pp - 1);
        for (stream, task) in &graph.ops {
            let (collectives, sends) = match stream {
                Stream::Tensor => (Some(&mut of.tp), None),
                Stream::Data => (Some(&mut of.dp), None),
                Stream::Expert => (Some(&mut of.ep), None),
                Stream::Context => (None, Some(&mut of.cp)),
                _ => (None, Some(&mut of.pp)),
            };
            match *task {
                Task::Collective { bytes, .. } => {
                    let all = collectives.unwrap();
                    (all.collectives, all.bytes) = (all.collectives + 1, all.bytes + u128::from(bytes));
                }
                Task::Send { bytes, .. } => {
                    let all = sends.unwrap();
                    (all.sends, all.bytes) = (all.sends + 1, all.bytes + u128::from(bytes));
                }
                _ => {}
            }
        }
        let expected = communication(&model, &layout);
        assert_eq!((of.tp, of.ep, of.cp), (expected.tp, expected.ep, expected.cp), "{settings}");
        assert_eq!(of.dp.bytes, expected.dp.bytes, "{settings}");
        if !layout.overlap && layout.ep == 1 {
            assert_eq!(of.dp, expected.dp, "{settings}");
        }
        // The first stage has neighbours on one side alone, unless its chunks lie between those of others.
        let schedule = layout.schedule(&model);
        let sends = if layout.pp > 1 { u128::from(schedule.passes() * 2 - schedule.micro_batches) } else { 0 };
        assert_eq!(of.pp.sends, sends, "{settings}");
    }
}

#[test]
fn every_message_and_collective_meets_its_other_ends() {
    for settings in LAYOUTS {
        let Training { model, layout, .. } = training(&format!("{MODEL} {settings}"));
        let gpu = gpu();
        let step = Step::new(&model, &layout, &gpu);
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        let mut calls = std::collections::BTreeMap::<_, Vec<Vec<(Call, u64)>>>::new();
        for rank in 0..layout.gpus() {
            let mut own = std::collections::BTreeMap::<_, Vec<(Call, u64)>>::new();
            for (_, task) in step.rank(rank).ops {
                match task {
                    Task::Send { to, tag, bytes } => sent.push((rank, to, tag, bytes)),
                    Task::Recv { from, tag, bytes } => received.push((from, rank, tag, bytes)),
                    Task::Collective { call, group, bytes } => {
                        let members = layout.group(group, rank);
                        assert_eq!(members.len() as u64, layout.group_size(group));
                        assert!(members.is_sorted() && members.contains(&rank));
                        own.entry((group, members[0])).or_default().push((call, bytes));
                    }
                    _ => {}
                }
            }
            own.into_iter().for_each(|(group, own)| calls.entry(group).or_default().push(own));
        }
        sent.sort_unstable();
        received.sort_unstable();
        assert_eq!(sent, received, "{settings}");
        for ((group, _), calls) in calls {
            assert_eq!(calls.len() as u64, layout.group_size(group), "{settings}");
            assert!(calls.iter().all(|own| *own == calls[0]), "{settings}: {group:?}");
        }
    }
}

#[test]
fn a_stage_holds_the_activations_of_the_closed_form() {
    for settings in LAYOUTS {
        let Training { model, layout, .. } = training(&format!("{MODEL} {settings}"));
        for stage in 0..layout.pp {
            let chunks: Vec<(u64, u64)> = layout.chunks(&model, stage).collect();
            let (mut held, mut peak) = (0, 0);
            for slot in layout.schedule(&model).slots(stage) {
                let (first, layers) = chunks[slot.chunk as usize];
                let bytes: u128 = (first..first + layers)
                    .map(|layer| activations_of_layer(&model, &layout, model.has_experts(layer)))
                    .sum();
                held = if slot.is_backward { held - bytes } else { held + bytes };
                peak = peak.max(held);
            }
            assert_eq!(peak, memory(&model, &layout, stage).activation_b, "{settings}, stage {stage}");
        }
    }
}

#[test]
fn places_of_ranks_come_back() {
    let Training { layout, .. } = training(&format!("{MODEL} tp=2 cp=2 dp=4 pp=2 ep=2 experts=2 batch=4"));
    for rank in 0..layout.gpus() {
        assert_eq!(layout.rank(layout.place(rank)), rank);
    }
    assert_eq!(layout.group(GroupKind::Tensor, 9), [8, 9]);
    assert_eq!(layout.group(GroupKind::Data, 17), [17, 19, 21, 23, 25, 27, 29, 31]);
    assert_eq!(layout.group(GroupKind::Expert, 12), [8, 12]);
    assert_eq!(layout.group(GroupKind::ExpertData, 12), [4, 6, 12, 14]);
}
