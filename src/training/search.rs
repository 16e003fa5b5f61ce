//! Search for layouts: all that fit, ranked by the closed form of their step.

use std::collections::BTreeSet;

use super::gpu::Gpu;
use super::layout::Layout;
use super::memory::memory;
use super::model::{Model, Recompute};
use super::time::{Clock, StepTime};

/// Keys of settings that a search keeps as they are: `tp`, `pp`, `dp`, `cp`, `ep`, `micro`, `interleave`,
/// `sequence_parallel`, `recompute`, `zero`.
pub type Fixed = BTreeSet<String>;

/// Layout with its time and memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Layout.
    pub layout: Layout,
    /// Time of a step.
    pub time: StepTime,
    /// Largest memory of a stage \[B\].
    pub memory: u128,
    /// Number of settings in which it differs from the given layout.
    pub changes: u32,
}

/// Returns the largest memory of a stage \[B\]: stages hold less the later they are, but the last may have an
/// embedding.
pub fn peak_memory(model: &Model, layout: &Layout) -> u128 {
    // Between the first stage with experts and the last, memory falls.
    let stages = layout.pp.min(64);
    let kept = (0..stages).chain([layout.pp - 1]);
    kept.map(|stage| memory(model, layout, stage).memory_b).max().unwrap_or(0)
}

/// Returns the numbers up to `most` that divide this one.
fn divisors(number: u64, most: u64) -> Vec<u64> {
    (1..=number.min(most)).filter(|by| number.is_multiple_of(*by)).collect()
}

/// Returns one value or all values.
fn values<T: Copy>(is_fixed: bool, value: T, all: Vec<T>) -> Vec<T> {
    if is_fixed { vec![value] } else { all }
}

/// Returns all layouts on this number of GPUs that fit, fastest first.
///
/// Degrees that are not fixed take all values that divide what they must: t up to 16 GPUs, c up to 64, b and v up to
/// 16. Cost: a closed form for each of some thousand layouts.
pub fn search(model: &Model, start: &Layout, fixed: &Fixed, gpus: u64, gpu: &Gpu) -> Vec<Candidate> {
    let mut found = Vec::new();
    let long = model.sequence >= 32_768;
    for tp in values(fixed.contains("tp"), start.tp, divisors(gpus, 16)) {
        for cp in values(fixed.contains("cp"), start.cp, if long { divisors(gpus, 64) } else { vec![1] }) {
            for pp in values(fixed.contains("pp"), start.pp, divisors(gpus, model.layers + 2)) {
                let Some(dp) = gpus.checked_div(tp * cp * pp).filter(|dp| dp * tp * cp * pp == gpus) else {
                    continue;
                };
                if dp == 0 || fixed.contains("dp") && dp != start.dp {
                    continue;
                }
                let degrees = Layout { tp, cp, pp, dp, ..start.clone() };
                of_degrees(model, &degrees, start, fixed, gpu, &mut found);
            }
        }
    }
    found.sort_by(|a: &Candidate, b| a.time.total().total_cmp(&b.time.total()).then(a.memory.cmp(&b.memory)));
    found
}

/// Adds the layouts with these degrees of tensor, context, pipeline and data parallelism.
fn of_degrees(model: &Model, degrees: &Layout, start: &Layout, fixed: &Fixed, gpu: &Gpu, found: &mut Vec<Candidate>) {
    let of_stage = model.layers / degrees.pp.max(1);
    let chunks = if degrees.pp > 1 { divisors(of_stage.max(1), 16) } else { vec![1] };
    for ep in values(fixed.contains("ep"), start.ep, divisors(degrees.dp, model.experts)) {
        for micro in values(fixed.contains("micro"), start.micro, divisors(model.batch / degrees.dp.max(1), 16)) {
            for &interleave in &values(fixed.contains("interleave"), start.interleave, chunks.clone()) {
                let sequence =
                    values(fixed.contains("sequence_parallel"), start.sequence_parallel, vec![degrees.tp > 1]);
                let recompute = Recompute::ALL.to_vec();
                let recompute = values(fixed.contains("recompute"), start.recompute, recompute);
                let zero = values(
                    fixed.contains("zero"),
                    start.zero,
                    if degrees.dp * degrees.cp > 1 { vec![0, 1] } else { vec![0] },
                );
                for (&recompute, &zero) in recompute.iter().flat_map(|part| zero.iter().map(move |zero| (part, zero))) {
                    let sequence_parallel = sequence[0];
                    let more = Layout { ep, micro, interleave, sequence_parallel, recompute, zero, ..degrees.clone() };
                    found.extend(candidate(model, more, start, gpu));
                }
            }
        }
    }
}

/// Returns a layout with its time and memory if it can run and fits.
fn candidate(model: &Model, layout: Layout, start: &Layout, gpu: &Gpu) -> Option<Candidate> {
    if !layout.mistakes(model).is_empty() {
        return None;
    }
    let memory = peak_memory(model, &layout);
    if memory > gpu.usable() {
        return None;
    }
    let time = Clock { model, layout: &layout, gpu }.step();
    let changes = changes(&layout, start);
    Some(Candidate { layout, time, memory, changes })
}

/// Returns the number of settings in which two layouts differ.
fn changes(a: &Layout, b: &Layout) -> u32 {
    let differs = [
        a.tp != b.tp,
        a.pp != b.pp,
        a.cp != b.cp,
        a.ep != b.ep,
        a.micro != b.micro,
        a.interleave != b.interleave,
        a.sequence_parallel != b.sequence_parallel,
        a.recompute != b.recompute,
        a.zero != b.zero,
    ];
    differs.iter().map(|differs| u32::from(*differs)).sum()
}

/// Returns the candidates to which no other is superior in time and memory, fastest first.
pub fn pareto(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut least = u128::MAX;
    let keeps = |candidate: &&Candidate| {
        let is_less = candidate.memory < least;
        least = least.min(candidate.memory);
        is_less
    };
    candidates.iter().filter(keeps).collect()
}

/// Returns the candidates nearest to the given layout: fewest changes, then fastest.
pub fn nearest(candidates: &[Candidate], most: usize) -> Vec<&Candidate> {
    let mut nearest: Vec<&Candidate> = candidates.iter().collect();
    nearest.sort_by_key(|candidate| candidate.changes);
    nearest.truncate(most);
    nearest
}

/// Returns a layout in words: `tp=8 pp=4 dp=2 micro=1 recompute=selective`.
pub fn in_words(layout: &Layout) -> String {
    let mut words = format!("tp={} pp={} dp={}", layout.tp, layout.pp, layout.dp);
    let degrees = [("cp", layout.cp), ("ep", layout.ep), ("interleave", layout.interleave)];
    for (name, degree) in degrees.into_iter().filter(|(_, degree)| *degree > 1) {
        words += &format!(" {name}={degree}");
    }
    words += &format!(" micro={} recompute={}", layout.micro, layout.recompute.name());
    if layout.zero > 0 {
        words += &format!(" zero={}", layout.zero);
    }
    if layout.sequence_parallel { words + " sequence_parallel" } else { words }
}

/// Layout with the parts of the time of its step \[s\], by name.
pub type Parts<'a> = (&'a Layout, &'a [(&'static str, f64)]);

/// Returns a sentence on why the second layout is slower than the first: the part of its step that grows most.
pub fn why_second([first, second]: [Parts<'_>; 2]) -> String {
    let [best, slower] = [first, second].map(|(_, parts)| parts.iter().map(|(_, time)| time).sum::<f64>());
    let grown = second.1.iter().zip(first.1);
    let (name, more) = grown
        .map(|((name, time), (_, of_best))| (*name, time - of_best))
        .fold(("", f64::MIN), |a, b| if b.1 > a.1 { b } else { a });
    let loss = 100.0 * (slower / best - 1.0);
    let [first, second] = [first, second].map(|(layout, _)| in_words(layout));
    match more > 0.0 {
        true => format!("{second} is {loss:.2} % slower than {first}, since its {name} takes {more:.3} s more"),
        false => format!("{second} is as fast and takes more memory"),
    }
}
