//! Closed form of a training step, as plain data.

use crate::training::{Communication, Layout, StageMemory, StepTime};

/// Version of the JSON format of [`TrainingReport`].
pub const SCHEMA: &str = "hayase-llm-1";

/// Operations, memory, communication and time of a training step in closed form.
#[report(Default)]
pub struct TrainingReport {
    /// Version of the JSON format: `hayase-llm-1`.
    pub schema: &'static str,
    /// Model as it was asked for.
    pub model: String,
    /// Machine, if one was asked for.
    pub machine: Option<String>,
    /// Layout on the GPUs; of a search the fastest.
    pub layout: TrainingLayout,
    /// Figures of the step.
    pub llm: TrainingStep,
    /// Memory of a GPU of each stage.
    pub stages: Vec<StageMemory>,
    /// Parts of the time of a step, with a machine.
    pub time: Option<StepTime>,
    /// Largest part of the time, in words.
    pub bound: Option<String>,
    /// True if all stages fit into the memory of a GPU, with a machine.
    pub fits: Option<bool>,
    /// Memory of a GPU that a layout can use \[B\], with a machine.
    #[serde(rename = "usable_B")]
    pub usable_b: Option<u128>,
    /// Layouts that fit, nearest first, if this one does not.
    pub nearest: Option<Vec<LayoutRow>>,
    /// Result of a search.
    pub search: Option<LayoutSearch>,
}

/// Layout of a model on GPUs.
#[report(Default)]
pub struct TrainingLayout {
    /// Layout in words: `tp=8 pp=8 dp=16 micro=1 recompute=selective`.
    pub words: String,
    /// Number of GPUs.
    pub gpus: u64,
    /// Number of micro-batches of a step.
    pub micro_batches: u64,
    /// Degrees and choices.
    #[serde(flatten)]
    pub degrees: Layout,
}

/// Figures of a training step. Operations are those of all GPUs, bytes those of one GPU of the first stage.
#[report(Default)]
pub struct TrainingStep {
    /// Number of parameters.
    pub parameters: u128,
    /// Number of parameters that a token meets, with `top_k` experts of each layer.
    pub active_parameters: u128,
    /// Operations of the forward pass.
    pub forward_flops: u128,
    /// Operations that the step needs: three times the forward pass.
    pub model_flops: u128,
    /// Operations that the step executes, with those that are computed again.
    pub hardware_flops: u128,
    /// Memory of a GPU of the first stage.
    pub first_stage: FirstStage,
    /// Communication of a GPU of the first stage in a step.
    pub communication: Communication,
    /// Time of the step \[s\], with a machine.
    pub step_s: Option<f64>,
    /// Model operations over those of the GPUs' peak in the time of the step, with a machine.
    pub mfu: Option<f64>,
    /// Hardware operations over those of the GPUs' peak in the time of the step, with a machine.
    pub hfu: Option<f64>,
}

/// Memory of a GPU of the first stage.
#[report(Default)]
pub struct FirstStage {
    /// Number of parameters.
    pub parameters: u128,
    /// Weights, gradients and optimizer \[B\].
    #[serde(rename = "state_B")]
    pub state_b: u128,
    /// Activations of a layer and micro-batch \[B\].
    #[serde(rename = "activation_layer_B")]
    pub activation_layer_b: u128,
    /// Activations that are held at the peak \[B\].
    #[serde(rename = "activation_B")]
    pub activation_b: u128,
}

/// Layout that fits, with its time and memory.
#[report(Default)]
pub struct LayoutRow {
    /// Layout.
    pub layout: TrainingLayout,
    /// Time of a step \[s\].
    pub step_s: f64,
    /// Simulated time of a step, if a fabric was asked for \[s\].
    pub simulated_s: Option<f64>,
    /// Model operations over those of the GPUs' peak in the time of the step.
    pub mfu: f64,
    /// Largest memory of a GPU \[B\].
    #[serde(rename = "memory_B")]
    pub memory_b: u128,
}

/// Result of a search for layouts.
#[report(Default)]
pub struct LayoutSearch {
    /// Number of layouts that fit.
    pub fitting: u64,
    /// Fastest layouts, at most 20.
    pub fastest: Vec<LayoutRow>,
    /// Layouts to which no other is superior in time and memory, fastest first.
    pub pareto: Vec<LayoutRow>,
    /// Reason in words why the second layout is slower than the first.
    pub second: Option<String>,
}
