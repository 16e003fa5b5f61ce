//! Communication of a GPU in a step: collectives, messages and bytes by parallelism.
//!
//! Bytes are the number of operations times the size of one as NCCL counts it: the tensor that is reduced, gathered or
//! exchanged, not what crosses a link.

use super::layout::Layout;
use super::memory::parameters;
use super::model::{Model, Recompute};

/// Collectives of one parallelism.
#[report(Copy, Default, Eq)]
pub struct Collectives {
    /// Number of collectives.
    pub collectives: u128,
    /// Bytes of all of them \[B\].
    pub bytes: u128,
}

/// Messages of one parallelism.
#[report(Copy, Default, Eq)]
pub struct Sends {
    /// Number of messages.
    pub sends: u128,
    /// Bytes of all of them \[B\].
    pub bytes: u128,
}

/// Communication of a GPU in a step. Bytes are the number of operations times the size of one as NCCL counts it.
#[report(Copy, Default, Eq)]
pub struct Communication {
    /// Tensor parallelism.
    pub tp: Collectives,
    /// Messages of a middle stage, in both directions.
    pub pp: Sends,
    /// Gradients and weights.
    pub dp: Collectives,
    /// All-to-alls of experts.
    pub ep: Collectives,
    /// Keys and values of context parallelism.
    pub cp: Sends,
}

/// Collectives of tensor parallelism of a layer and micro-batch: forward, and backward with what is computed again.
///
/// An all-reduce counts once; with sequence parallelism an all-gather and a reduce-scatter take its place, and the
/// backward pass gathers twice more for the gradients of weights.
pub fn tensor_collectives(layout: &Layout) -> (u64, u64) {
    let again = u64::from(layout.recompute == Recompute::Full);
    match (layout.tp, layout.sequence_parallel) {
        (1, _) => (0, 0),
        (_, false) => (2, 2 + 2 * again),
        (_, true) => (4, 6 + 4 * again),
    }
}

/// Returns the bytes of the tensor that a layer passes on for one micro-batch: `2 b s h`, `s / c` for s.
pub fn layer_bytes(model: &Model, layout: &Layout) -> u128 {
    let [b, s, h] = [layout.micro, model.sequence / layout.cp, model.hidden].map(u128::from);
    2 * b * s * h
}

/// Returns the bytes of a message between stages.
pub fn stage_bytes(model: &Model, layout: &Layout) -> u128 {
    let divided = if layout.sequence_parallel { layout.tp } else { 1 };
    layer_bytes(model, layout).div_ceil(u128::from(divided))
}

/// Returns the bytes of an all-to-all of experts: `2 b s K h`.
pub fn expert_bytes(model: &Model, layout: &Layout) -> u128 {
    stage_bytes(model, layout) * u128::from(model.top_k)
}

/// Returns the bytes of a message of keys and values: `4 b (s / c) kv d / t`.
pub fn context_bytes(model: &Model, layout: &Layout) -> u128 {
    let [b, s, kv, d] =
        [layout.micro, model.sequence / layout.cp, model.kv_heads.div_ceil(layout.tp), model.head_size].map(u128::from);
    4 * b * s * kv * d
}

/// Returns the collectives on gradients and weights of a stage: bytes with gradients, and with weights.
///
/// Gradients are all-reduced. With ZeRO they are reduce-scattered and weights (2 B each) all-gathered: once after the
/// step, or from ZeRO-3 on before the forward and before the backward pass.
pub fn data_bytes(model: &Model, layout: &Layout, stage: u64) -> (u128, u128) {
    let of = parameters(model, layout, stage);
    let replicas = layout.dp * layout.cp;
    let common = if replicas > 1 { of.common } else { 0 };
    let experts = if replicas / layout.ep > 1 { of.experts } else { 0 };
    let gathers = match layout.zero {
        0 => 0,
        1 | 2 => 1,
        _ => 2,
    };
    (u128::from(layout.grad_bytes) * (common + experts), 2 * gathers * (common + experts))
}

/// Returns the communication of a GPU of the first stage; that of the pipeline is of a middle stage.
pub fn communication(model: &Model, layout: &Layout) -> Communication {
    let (dense, mixed) = layout.stage_layers(model, 0);
    let micro = u128::from(layout.micro_batches(model));
    let passes = micro * u128::from(dense + mixed);
    let (forward, backward) = tensor_collectives(layout);
    let sends = if layout.pp > 1 { 2 * micro * u128::from(layout.interleave) } else { 0 };
    let all_to_alls = if layout.ep > 1 { 4 * micro * u128::from(mixed) } else { 0 };
    let (gradients, weights) = data_bytes(model, layout, 0);
    let collectives = match (gradients, layout.zero) {
        (0, _) => 0,
        (_, 0) => 1,
        (_, 1 | 2) => 2,
        _ => 3,
    };
    let tensor = passes * u128::from(forward + backward);
    // Forward once round the ring, and twice the bytes backward.
    let ring = 3 * passes * u128::from(layout.cp - 1);
    Communication {
        tp: Collectives { collectives: tensor, bytes: tensor * layer_bytes(model, layout) },
        pp: Sends { sends, bytes: sends * stage_bytes(model, layout) },
        dp: Collectives { collectives, bytes: gradients + weights },
        ep: Collectives { collectives: all_to_alls, bytes: all_to_alls * expert_bytes(model, layout) },
        cp: Sends { sends: ring, bytes: ring * context_bytes(model, layout) },
    }
}
