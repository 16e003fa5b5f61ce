//! Layouts: the degrees of parallelism of a training step, and the checks that a model and GPUs can carry them.
//!
//! Ranks: tensor varies fastest, then context, data and pipeline. So a tensor group consists of neighbours, a context
//! group has the stride t, a data group t c and a pipeline group t c D. Expert groups are parts of data groups.

use super::model::{Model, Recompute};
use super::schedule::{Schedule, ScheduleKind};

/// Layout of a model on GPUs.
#[report(Eq, Default)]
pub struct Layout {
    /// Degree of tensor parallelism t.
    pub tp: u64,
    /// Number of pipeline stages p.
    pub pp: u64,
    /// Degree of data parallelism D.
    pub dp: u64,
    /// Degree of context parallelism c.
    pub cp: u64,
    /// Degree of expert parallelism e.
    pub ep: u64,
    /// Number of sequences of a micro-batch b.
    pub micro: u64,
    /// Number of chunks of layers of a stage v.
    pub interleave: u64,
    /// Order of forward and backward passes.
    pub schedule: ScheduleKind,
    /// True if sequences are divided where tensors are not.
    pub sequence_parallel: bool,
    /// Recomputed part of the forward pass.
    pub recompute: Recompute,
    /// Stage of ZeRO, 0 to 3.
    pub zero: u64,
    /// Bytes of a gradient in collectives \[B\].
    pub grad_bytes: u64,
    /// True if embedding and output count as a layer each, so that first and last stage have one layer fewer.
    pub embedding_as_layer: bool,
    /// True if one kernel computes attention without storing its scores.
    pub flash: Option<bool>,
    /// True if tensor, pipeline and data communication run beside computation.
    pub overlap: bool,
}

/// Mistake of a layout or a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Key that is wrong.
    pub key: &'static str,
    /// Message that names the key.
    pub message: String,
    /// Advice.
    pub help: String,
}

impl Mistake {
    /// Creates the mistake of a value that does not divide another.
    fn indivisible(key: &'static str, divisor: u64, of: &str, number: u64, help: impl Into<String>) -> Self {
        let message = format!("`{key}` = {divisor} does not divide {of} = {number}");
        Self { key, message, help: help.into() }
    }

    /// Creates the mistake of a value that another key forbids.
    fn forbidden(key: &'static str, message: String, help: impl Into<String>) -> Self {
        Self { key, message, help: help.into() }
    }
}

/// Returns the divisors of a number, for messages.
fn divisors_in_words(number: u64) -> String {
    let all: Vec<String> =
        (1..=number.min(4096)).filter(|by| number.is_multiple_of(*by)).map(|d| d.to_string()).collect();
    format!("write one of {}", all.join(", "))
}

impl Layout {
    /// Returns the number of GPUs: `t c D p`.
    pub fn gpus(&self) -> u64 {
        self.tp * self.cp * self.dp * self.pp
    }

    /// Returns the number of micro-batches of a step: `B / (D b)`.
    pub fn micro_batches(&self, model: &Model) -> u64 {
        model.batch / (self.dp * self.micro)
    }

    /// Returns the schedule of the stages.
    pub fn schedule(&self, model: &Model) -> Schedule {
        let [stages, chunks] = [self.pp, self.interleave];
        Schedule { kind: self.schedule, stages, chunks, micro_batches: self.micro_batches(model) }
    }

    /// Returns the number of layers that are divided evenly: all, or with embedding and output.
    fn divided_layers(&self, model: &Model) -> u64 {
        model.layers + if self.embedding_as_layer { 2 } else { 0 }
    }

    /// Returns the first layer and the number of layers of each chunk of a stage.
    pub fn chunks(&self, model: &Model, stage: u64) -> impl Iterator<Item = (u64, u64)> {
        let places = self.divided_layers(model) / (self.pp * self.interleave);
        let shift = u64::from(self.embedding_as_layer);
        let (pp, layers) = (self.pp, model.layers);
        (0..self.interleave).map(move |chunk| {
            let from = ((chunk * pp + stage) * places).saturating_sub(shift).min(layers);
            let to = ((chunk * pp + stage + 1) * places).saturating_sub(shift).min(layers);
            (from, to - from)
        })
    }

    /// Returns the number of layers without and with experts of a stage.
    pub fn stage_layers(&self, model: &Model, stage: u64) -> (u64, u64) {
        self.chunks(model, stage).fold((0, 0), |(dense, mixed), (first, layers)| {
            let with = model.expert_layers(first, layers);
            (dense + layers - with, mixed + with)
        })
    }

    /// Returns true if attention stores no scores: a fused kernel, or scores that are computed again.
    pub fn stores_no_scores(&self) -> bool {
        self.flash == Some(true)
    }

    /// Returns the mistakes of the layout on this model; none if it can run.
    pub fn mistakes(&self, model: &Model) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut divides = |key, divisor: u64, of: &str, number: u64| {
            if !number.is_multiple_of(divisor) {
                mistakes.push(Mistake::indivisible(key, divisor, of, number, divisors_in_words(number)));
            }
        };
        divides("tp", self.tp, "`hidden`", model.hidden);
        divides("tp", self.tp, "`heads`", model.heads);
        divides("tp", self.tp, "`ffn`", model.ffn);
        if model.experts > 1 {
            divides("tp", self.tp, "`expert_ffn`", model.expert_ffn);
        }
        if self.tp > model.kv_heads {
            divides("kv_heads", model.kv_heads, "`tp`", self.tp);
        } else {
            divides("tp", self.tp, "`kv_heads`", model.kv_heads);
        }
        divides("kv_heads", model.kv_heads, "`heads`", model.heads);
        divides("cp", self.cp, "`sequence`", model.sequence);
        if self.sequence_parallel {
            divides("tp", self.tp, "`sequence` / `cp`", model.sequence / self.cp.max(1));
        }
        divides("ep", self.ep, "`experts`", model.experts);
        divides("ep", self.ep, "`dp`", self.dp);
        divides("dp", self.dp, "`batch`", model.batch);
        if model.batch.is_multiple_of(self.dp) {
            divides("micro", self.micro, "`batch` / `dp`", model.batch / self.dp);
        }
        let layers = if self.embedding_as_layer { "`layers` + 2" } else { "`layers`" };
        divides("pp", self.pp, layers, self.divided_layers(model));
        if self.divided_layers(model).is_multiple_of(self.pp) {
            divides("interleave", self.interleave, &format!("{layers} / `pp`"), self.divided_layers(model) / self.pp);
        }
        let mut forbid = |wrong: bool, key, message: String, help: &str| {
            if wrong {
                mistakes.push(Mistake::forbidden(key, message, help));
            }
        };
        let v = self.interleave;
        forbid(v > 1 && self.pp == 1, "interleave", format!("`interleave` = {v} needs stages"), "set `pp` above 1");
        forbid(
            v > 1 && self.schedule == ScheduleKind::Gpipe,
            "interleave",
            format!("`interleave` = {v} and the schedule gpipe exclude each other"),
            "leave one of them out",
        );
        let m = self.micro_batches(model);
        forbid(
            v > 1 && !m.is_multiple_of(self.pp) && self.pp > 1,
            "interleave",
            format!("`interleave` = {v} takes micro-batches in groups of `pp` = {}, and there are {m}", self.pp),
            "change `batch`, `dp` or `micro`, or set `interleave` to 1",
        );
        forbid(
            model.top_k > model.experts,
            "top_k",
            format!("`top_k` = {} is more than `experts` = {}", model.top_k, model.experts),
            "a token goes to at most all experts",
        );
        forbid(
            model.dense_layers > model.layers,
            "dense_layers",
            format!("`dense_layers` = {} is more than `layers` = {}", model.dense_layers, model.layers),
            "at most all layers are dense",
        );
        forbid(self.zero > 3, "zero", format!("`zero` = {} is no stage of ZeRO", self.zero), "write 0, 1, 2 or 3");
        mistakes
    }
}
