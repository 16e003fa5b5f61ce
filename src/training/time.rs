//! Closed form of the time of a step.
//!
//! An operation takes the longer of `flops / (peak x efficiency)` and `bytes / memory bandwidth`. Stages work
//! `m max + (sum - max) / v`, with the times of the stages for a micro-batch; without transfers and with equal stages
//! that is `(m v + p - 1)(forward + backward of a chunk)`. Groups that cross a node share its network cards.
//! Source of bytes outside of matrix products: Korthikanti et al. (2022), section 4, tensor by tensor.

use super::communication::{context_bytes, data_bytes, expert_bytes, layer_bytes, stage_bytes, tensor_collectives};
use super::gpu::{Gpu, Group};
use super::layout::Layout;
use super::memory::parameters;
use super::model::{Model, Recompute};

/// Bytes of elements of h that a layer reads and writes for a token: two norms (8) and two sums with dropout (14).
const ELEMENTS: f64 = 22.0;
/// Bytes of a score that attention reads and writes: product, softmax, dropout with its mask, product.
const SCORE: f64 = 13.0;
/// Bytes of a logit that the loss reads and writes in double width.
const LOGIT: f64 = 20.0;
/// Bytes of a parameter that the optimizer reads (gradient, weight, two moments) and writes.
const OPTIMIZER: f64 = 30.0;
/// Operations of the backward pass of fused attention over those of its forward pass.
const FUSED_BACKWARD: f64 = 2.5;
/// Part of a tensor collective that stays exposed with overlap: the first of four pieces.
const FIRST_PIECE: f64 = 0.25;

/// Parts of the time of a step along the slowest stage; their sum is the time of the step.
#[report(Copy, Default)]
pub struct StepTime {
    /// Matrix products of layers \[s\].
    pub matrices_s: f64,
    /// Attention scores \[s\].
    pub attention_s: f64,
    /// Norms, activation functions and sums, which memory bounds \[s\].
    pub elementwise_s: f64,
    /// Output layer and loss \[s\].
    pub output_s: f64,
    /// Exposed tensor communication \[s\].
    pub tp_s: f64,
    /// Exposed messages between stages \[s\].
    pub pp_s: f64,
    /// Wait for the pipeline to fill and drain \[s\].
    pub bubble_s: f64,
    /// Exposed collectives on gradients and weights \[s\].
    pub dp_s: f64,
    /// All-to-alls of experts \[s\].
    pub ep_s: f64,
    /// Exposed messages of keys and values \[s\].
    pub cp_s: f64,
    /// Optimizer \[s\].
    pub optimizer_s: f64,
}

impl StepTime {
    /// Returns all parts with their names.
    pub fn parts(&self) -> [(&'static str, f64); 11] {
        [
            ("matrix products", self.matrices_s),
            ("attention scores", self.attention_s),
            ("elementwise operations", self.elementwise_s),
            ("output layer", self.output_s),
            ("tensor communication", self.tp_s),
            ("pipeline messages", self.pp_s),
            ("pipeline bubble", self.bubble_s),
            ("data communication", self.dp_s),
            ("expert communication", self.ep_s),
            ("context communication", self.cp_s),
            ("optimizer", self.optimizer_s),
        ]
    }

    /// Returns the time of the step \[s\].
    pub fn total(&self) -> f64 {
        self.parts().iter().map(|(_, time)| time).sum()
    }

    /// Returns the largest part.
    pub fn bound(&self) -> (&'static str, f64) {
        self.parts().into_iter().fold(("", f64::MIN), |a, b| if b.1 > a.1 { b } else { a })
    }

    /// Adds `times` times the parts of another time.
    fn add(&mut self, other: &Self, times: f64) {
        self.matrices_s += times * other.matrices_s;
        self.attention_s += times * other.attention_s;
        self.elementwise_s += times * other.elementwise_s;
        self.output_s += times * other.output_s;
        self.tp_s += times * other.tp_s;
        self.pp_s += times * other.pp_s;
        self.ep_s += times * other.ep_s;
        self.cp_s += times * other.cp_s;
    }
}

/// Forward pass of attention or MLP of a layer for a micro-batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Half {
    /// Matrix products; the backward pass takes them once for gradients of inputs, and once for those of weights \[s\].
    pub product_s: f64,
    /// Attention scores \[s\].
    pub scores_s: f64,
    /// Norms, activation functions and sums, which the backward pass takes twice \[s\].
    pub elements_s: f64,
}

impl Half {
    /// Returns the time of the forward pass \[s\].
    pub fn forward(&self) -> f64 {
        self.product_s + self.scores_s + self.elements_s
    }
}

/// Times of a model in a layout on GPUs.
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    /// Transformer.
    pub model: &'a Model,
    /// Layout.
    pub layout: &'a Layout,
    /// GPU.
    pub gpu: &'a Gpu,
}

impl Clock<'_> {
    /// Returns true if attention is one fused kernel.
    fn is_fused(&self) -> bool {
        self.layout.flash.unwrap_or(self.gpu.flash)
    }

    /// Returns the number of tokens of a micro-batch on a GPU.
    fn tokens(&self) -> f64 {
        (self.layout.micro * (self.model.sequence / self.layout.cp)) as f64
    }

    /// Returns operations a second of matrix products, whose width tensor parallelism divides.
    fn speed(&self) -> f64 {
        let width = self.model.hidden as f64 / self.layout.tp as f64;
        self.gpu.peak_flops() * self.gpu.efficiency_at(width)
    }

    /// Returns the time of these operations and bytes, which run beside each other \[s\].
    fn operation(&self, flops: f64, bytes: f64) -> f64 {
        (flops / self.speed()).max(bytes / self.gpu.memory_bandwidth.bytes_per_second())
    }

    /// Returns the group of tensor parallelism.
    pub fn tensor_group(&self) -> Group {
        Group { size: self.layout.tp, stride: 1 }
    }

    /// Returns the group of context parallelism.
    pub fn context_group(&self) -> Group {
        Group { size: self.layout.cp, stride: self.layout.tp }
    }

    /// Returns the group on which gradients are added: data and context.
    pub fn data_group(&self) -> Group {
        Group { size: self.layout.dp * self.layout.cp, stride: self.layout.tp }
    }

    /// Returns the group of experts.
    pub fn expert_group(&self) -> Group {
        Group { size: self.layout.ep, stride: self.layout.tp * self.layout.cp }
    }

    /// Returns the group of stages.
    pub fn pipeline_group(&self) -> Group {
        Group { size: self.layout.pp, stride: self.layout.tp * self.layout.cp * self.layout.dp }
    }

    /// Returns the forward passes of attention and MLP of a layer for a micro-batch.
    pub fn halves(&self, has_experts: bool) -> [Half; 2] {
        let (model, layout, gpu) = (self.model, self.layout, self.gpu);
        let (t, tokens) = (layout.tp as f64, self.tokens());
        let memory = gpu.memory_bandwidth.bytes_per_second();
        // Weights are read and results are written once a product.
        let product = |weights: u128| self.operation(2.0 * tokens * weights as f64 / t, 2.0 * weights as f64 / t);
        let share = layout.micro as f64 / (t * layout.cp as f64);
        let scores = model.heads as f64 * model.sequence as f64 * model.sequence as f64 * share;
        let flops = model.score_flops() as f64 * share;
        let scores_s = match self.is_fused() {
            true => flops / (self.speed() * gpu.attention_efficiency),
            false => self.operation(flops, 0.0) + SCORE * scores / memory,
        };
        let divided = if layout.sequence_parallel { t } else { 1.0 };
        let mlps = if has_experts { (model.top_k + model.shared_experts) as f64 } else { 1.0 };
        let ffn = if has_experts { model.expert_ffn } else { model.ffn } as f64;
        let activation = if model.gated { 6.0 } else { 4.0 } * ffn * mlps;
        let heads = 4.0 * (model.heads * model.head_size) as f64;
        let elements = |inner: f64| tokens * (0.5 * ELEMENTS * model.hidden as f64 / divided + inner / t) / memory;
        let attention = model.attention_weights();
        [
            Half { product_s: product(attention), scores_s, elements_s: elements(heads) },
            Half {
                product_s: product(model.mlp_weights(has_experts)),
                scores_s: 0.0,
                elements_s: elements(activation),
            },
        ]
    }

    /// Returns the time of the scores in the backward pass over that in the forward pass, and the part of them that
    /// selective recomputation adds.
    pub fn scores_back(&self) -> (f64, f64) {
        let again = self.layout.recompute == Recompute::Selective && !self.is_fused();
        (if self.is_fused() { FUSED_BACKWARD } else { 2.0 }, if again { 1.0 } else { 0.0 })
    }

    /// Returns the times of forward and backward pass of a layer for a micro-batch.
    pub fn layer(&self, has_experts: bool) -> StepTime {
        let (model, layout, gpu) = (self.model, self.layout, self.gpu);
        let [attention, mlp] = self.halves(has_experts);
        let again = if layout.recompute == Recompute::Full { 1.0 } else { 0.0 };
        let (back, scores_again) = self.scores_back();
        let mut time = StepTime {
            matrices_s: (3.0 + again) * (attention.product_s + mlp.product_s),
            attention_s: (1.0 + back + scores_again + again) * attention.scores_s,
            elementwise_s: (3.0 + again) * (attention.elements_s + mlp.elements_s),
            tp_s: self.tensor_of_layer(),
            cp_s: self.context_of_layer((1.0 + back) * attention.scores_s),
            ..StepTime::default()
        };
        if layout.overlap {
            time.tp_s = (time.tp_s - time.matrices_s).max(FIRST_PIECE * time.tp_s);
        }
        if has_experts {
            time.ep_s = 4.0 * self.expert_group().all_to_all(gpu, expert_bytes(model, layout) as f64);
        }
        time
    }

    /// Returns the time of the tensor collectives of a layer for a micro-batch \[s\].
    fn tensor_of_layer(&self) -> f64 {
        let (forward, backward) = tensor_collectives(self.layout);
        // Half of the gathers for gradients of weights run beside the products for those of inputs.
        let hidden = if self.layout.sequence_parallel && self.layout.tp > 1 { 1.0 } else { 0.0 };
        let rounds = if self.layout.sequence_parallel { 1.0 } else { 2.0 };
        let bytes = layer_bytes(self.model, self.layout) as f64;
        ((forward + backward) as f64 - hidden) * self.tensor_group().ring(self.gpu, bytes, rounds)
    }

    /// Returns the time of the ring of keys and values that exceeds attention, beside which it runs \[s\].
    fn context_of_layer(&self, attention: f64) -> f64 {
        let steps = (self.layout.cp - 1) as f64;
        let step = self.context_group().shift(self.gpu, context_bytes(self.model, self.layout) as f64);
        (3.0 * steps * step - attention).max(0.0)
    }

    /// Returns the time of a message between stages \[s\]. Without sequence parallelism each tensor-parallel GPU sends
    /// its part of the tensor, which the next stage gathers.
    pub fn message(&self) -> f64 {
        let (model, layout, gpu) = (self.model, self.layout, self.gpu);
        if layout.pp == 1 {
            return 0.0;
        }
        let bytes = stage_bytes(model, layout) as f64;
        if layout.sequence_parallel || layout.tp == 1 {
            return self.pipeline_group().shift(gpu, bytes);
        }
        let part = bytes / layout.tp as f64;
        self.pipeline_group().shift(gpu, part) + (bytes - part) / self.tensor_group().bandwidth(gpu)
    }

    /// Returns the time of a stage for a micro-batch.
    pub fn stage(&self, stage: u64) -> StepTime {
        self.stage_of(stage, &[self.layer(false), self.layer(true)])
    }

    /// Returns the time of a stage with these times of layers without and with experts.
    fn stage_of(&self, stage: u64, layers: &[StepTime; 2]) -> StepTime {
        let (model, layout) = (self.model, self.layout);
        let (dense, mixed) = layout.stage_layers(model, stage);
        let mut time = StepTime::default();
        time.add(&layers[0], dense as f64);
        time.add(&layers[1], mixed as f64);
        let is_hidden = layout.overlap && layout.interleave > 1;
        time.pp_s = if is_hidden { 0.0 } else { 2.0 * layout.interleave as f64 * self.message() };
        if stage + 1 == layout.pp {
            let (forward, backward) = self.output();
            time.output_s = forward + backward;
        }
        time
    }

    /// Returns the times of output layer and loss for a micro-batch, forward and backward \[s\].
    pub fn output(&self) -> (f64, f64) {
        let logits = self.tokens() * self.model.vocab as f64 / self.layout.tp as f64;
        let loss = LOGIT * logits / self.gpu.memory_bandwidth.bytes_per_second();
        let product = self.operation(2.0 * logits * self.model.hidden as f64, 0.0);
        (product + loss, 2.0 * product)
    }

    /// Returns the time of the collectives on gradients and weights of a stage \[s\].
    fn data(&self, stage: u64) -> f64 {
        let (gradients, weights) = data_bytes(self.model, self.layout, stage);
        let group = self.data_group();
        let rounds = if self.layout.zero == 0 { 2.0 } else { 1.0 };
        group.ring(self.gpu, gradients as f64, rounds) + group.ring(self.gpu, weights as f64, 1.0)
    }

    /// Returns the time of the optimizer of a stage \[s\].
    pub fn optimizer(&self, stage: u64) -> f64 {
        let shards = if self.layout.zero > 0 { self.layout.dp * self.layout.cp } else { 1 };
        let parameters = parameters(self.model, self.layout, stage).all() as f64;
        OPTIMIZER * parameters / shards as f64 / self.gpu.memory_bandwidth.bytes_per_second()
    }

    /// Returns the time of a step.
    pub fn step(&self) -> StepTime {
        let layout = self.layout;
        let layers = [self.layer(false), self.layer(true)];
        let stages: Vec<StepTime> = (0..layout.pp).map(|stage| self.stage_of(stage, &layers)).collect();
        let totals: Vec<f64> = stages.iter().map(StepTime::total).collect();
        let slowest = (0..stages.len()).fold(0, |best, at| if totals[at] >= totals[best] { at } else { best });
        let mut time = StepTime::default();
        time.add(&stages[slowest], layout.micro_batches(self.model) as f64);
        let others: f64 = totals.iter().sum::<f64>() - totals[slowest];
        time.bubble_s = others.max(0.0) / layout.interleave as f64;
        time.dp_s = self.data(0);
        if layout.overlap {
            let beside = totals[0];
            let layers = (self.model.layers / layout.pp).max(1) as f64;
            time.dp_s = (time.dp_s - beside).max(time.dp_s / layers);
        }
        time.optimizer_s = self.optimizer(0);
        time
    }
}
