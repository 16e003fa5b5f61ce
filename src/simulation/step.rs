//! Account of a training step that was played, and the micro-batches that repeat.

use rustc_hash::FxHashMap;

use crate::ids::RankId;
use crate::player::{ActivityKind, Played};
use crate::program::collectives::Expander;
use crate::program::{Expand, OpKind, Program};
use crate::report::replay::PlayedStep;
use crate::training::{Clock, Gpu, Repetition, StepParts, Training, memory};
use crate::units::Time;

/// Returns the report of a training step that was played.
pub(super) fn played_step((training, gpu): &(Training, Gpu), parts: StepParts, played: u64) -> PlayedStep {
    let Training { model, layout, .. } = training;
    let peak = layout.gpus() as f64 * gpu.peak_flops() * parts.step_s;
    PlayedStep {
        mfu: model.model_flops() as f64 / peak,
        hfu: model.hardware_flops(layout.recompute) as f64 / peak,
        closed_form_s: Clock { model, layout, gpu }.step().total(),
        stages: (0..layout.pp).map(|stage| memory(model, layout, stage)).collect(),
        micro_batches: layout.micro_batches(model),
        played,
        parts,
    }
}

/// Adds the windows of a training step that were not played.
pub(super) fn repeat(played: &mut Played, repetition: &Repetition, program: &Program, expand: &Expander) {
    for (rank, sums) in played.ranks.iter_mut().zip(&repetition.sums) {
        let end = rank.end + Time::from_ps(repetition.time);
        for kind in ActivityKind::ALL {
            rank.spend(kind, Time::from_ps(sums.kinds[kind as usize]));
        }
        rank.end = end;
    }
    played.last += Time::from_ps(repetition.time);
    let mut known = FxHashMap::default();
    for (rank, ops, windows) in &repetition.operations {
        for op in &program.rank(*rank).ops[ops.start as usize..ops.end as usize] {
            let (messages, bytes) = match op.kind {
                OpKind::Send => (1, op.size),
                OpKind::Collective => {
                    *known.entry((rank.0, op.arg)).or_insert_with(|| sent(program, expand, *rank, op.arg))
                }
                _ => (0, 0),
            };
            played.messages += windows * messages;
            played.bytes += windows * bytes;
        }
    }
}

/// Returns the number of messages that a rank sends in a collective, and their bytes.
fn sent(program: &Program, expand: &Expander, rank: RankId, collective: u32) -> (u64, u64) {
    let collective = &program.collectives[collective as usize];
    let group = &program.communicators[collective.comm as usize];
    let mut steps = Vec::new();
    if let Some(me) = group.rank_of(rank) {
        expand.steps(collective, group, me, &mut steps);
    }
    let sends = steps.iter().filter(|op| matches!(op.kind, OpKind::Send | OpKind::Isend));
    sends.fold((0, 0), |(messages, bytes), op| (messages + 1, bytes + op.size))
}
