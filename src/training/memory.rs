//! Memory of a GPU: weights, gradients, optimizer and activations, as exact integers.
//!
//! Mixed precision with Adam has 18 B a parameter: 2 of the weight, 4 of the gradient, 12 of the optimizer. ZeRO
//! divides them over data-parallel GPUs. A layer stores `s b h (10 + 24/t + 5 a s / (h t))` bytes of a micro-batch.
//! Source: Korthikanti et al. (2022), equations 1 to 6; Rajbhandari et al., "ZeRO" (SC 2020).

use super::layout::Layout;
use super::model::{LayerWeights, Model, Recompute};

/// Memory of a GPU of one stage.
#[report(Copy, Default, Eq)]
pub struct StageMemory {
    /// Stage.
    pub stage: u64,
    /// Number of layers.
    pub layers: u64,
    /// Number of parameters.
    pub parameters: u128,
    /// Weights \[B\].
    #[serde(rename = "weights_B")]
    pub weights_b: u128,
    /// Gradients \[B\].
    #[serde(rename = "gradients_B")]
    pub gradients_b: u128,
    /// States of the optimizer \[B\].
    #[serde(rename = "optimizer_B")]
    pub optimizer_b: u128,
    /// Activations that are held at the peak \[B\].
    #[serde(rename = "activation_B")]
    pub activation_b: u128,
    /// Sum of all kinds \[B\].
    #[serde(rename = "memory_B")]
    pub memory_b: u128,
}

impl StageMemory {
    /// Returns the bytes of weights, gradients and optimizer.
    pub fn states(&self) -> u128 {
        self.weights_b + self.gradients_b + self.optimizer_b
    }
}

/// Parameters of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GpuParameters {
    /// Parameters that all data-parallel GPUs have.
    pub common: u128,
    /// Parameters of experts, which `dp cp / ep` GPUs have.
    pub experts: u128,
}

impl GpuParameters {
    /// Returns their sum.
    pub fn all(self) -> u128 {
        self.common + self.experts
    }
}

/// Returns the parameters of a GPU of this stage: layers and embedding over t, experts over e t.
pub fn parameters(model: &Model, layout: &Layout, stage: u64) -> GpuParameters {
    let (dense, mixed) = layout.stage_layers(model, stage);
    let (dense, mixed, t) = (u128::from(dense), u128::from(mixed), u128::from(layout.tp));
    let of_mixed = if mixed > 0 { model.layer(true) } else { LayerWeights::default() };
    let is_last = stage + 1 == layout.pp;
    let first = if stage == 0 { model.embedding() } else { 0 };
    // The last stage has a copy of a tied embedding if it is not the first stage, too.
    let last = match (is_last, model.tied) {
        (true, true) if layout.pp > 1 => u128::from(model.hidden) * u128::from(model.vocab),
        (true, false) => model.output(),
        _ => 0,
    };
    let common = dense * model.layer(false).common + mixed * of_mixed.common + first + last;
    let experts = mixed * of_mixed.expert * u128::from(model.experts / layout.ep);
    GpuParameters { common: common.div_ceil(t), experts: experts.div_ceil(t) }
}

/// Returns the bytes of activations that a layer stores of a micro-batch.
pub fn activations_of_layer(model: &Model, layout: &Layout, has_experts: bool) -> u128 {
    let [s, h, a, t, b] =
        [model.sequence / layout.cp, model.hidden, model.heads, layout.tp, layout.micro].map(u128::from);
    let tokens = s * b;
    let everywhere =
        |bytes: u128| if layout.sequence_parallel { (bytes * tokens * h).div_ceil(t) } else { bytes * tokens * h };
    if layout.recompute == Recompute::Full {
        return everywhere(2);
    }
    // Attention stores 8 s b h, an MLP 16 s b h for each expert of a token.
    let mlps = if has_experts { u128::from(model.top_k + model.shared_experts) } else { 1 };
    let divided = ((8 + 16 * mlps) * tokens * h).div_ceil(t);
    let scores = match layout.recompute == Recompute::None && !layout.stores_no_scores() {
        true => (5 * a * u128::from(model.sequence) * tokens).div_ceil(t),
        false => 0,
    };
    everywhere(10) + divided + scores
}

/// Returns the memory of a GPU of this stage.
pub fn memory(model: &Model, layout: &Layout, stage: u64) -> StageMemory {
    let parameters = parameters(model, layout, stage);
    let replicas = u128::from(layout.dp * layout.cp);
    let of_experts = (replicas / u128::from(layout.ep)).max(1);
    let sharded = |bytes: u128, from: u64| match layout.zero >= from {
        true => (bytes * parameters.common).div_ceil(replicas) + (bytes * parameters.experts).div_ceil(of_experts),
        false => bytes * parameters.all(),
    };
    let schedule = layout.schedule(model);
    let chunks: Vec<u128> = layout
        .chunks(model, stage)
        .map(|(first, layers)| {
            let with = model.expert_layers(first, layers);
            u128::from(layers - with) * activations_of_layer(model, layout, false)
                + u128::from(with) * activations_of_layer(model, layout, true)
        })
        .collect();
    let (dense, mixed) = layout.stage_layers(model, stage);
    let [weights_b, gradients_b, optimizer_b] = [sharded(2, 3), sharded(4, 2), sharded(12, 1)];
    let activation_b = held(&chunks, schedule.held(stage), layout.pp);
    StageMemory {
        stage,
        layers: dense + mixed,
        parameters: parameters.all(),
        weights_b,
        gradients_b,
        optimizer_b,
        activation_b,
        memory_b: weights_b + gradients_b + optimizer_b + activation_b,
    }
}

/// Returns the bytes of the chunks that are held together: chunks in turn, each for a group of p micro-batches.
fn held(chunks: &[u128], held: u64, stages: u64) -> u128 {
    if let [chunk] = chunks {
        return chunk * u128::from(held);
    }
    let round = stages * chunks.len() as u64;
    let whole: u128 = chunks.iter().sum::<u128>() * u128::from(held / round * stages);
    let rest = held % round;
    let part = |(at, chunk): (usize, &u128)| chunk * u128::from(rest.saturating_sub(at as u64 * stages).min(stages));
    whole + chunks.iter().enumerate().map(part).sum::<u128>()
}
