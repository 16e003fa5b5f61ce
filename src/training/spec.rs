//! Table of a training step: `[workload.llm]` of a scenario, a file of `models/`, and `llm:layers=96,hidden=12288`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::diagnostic::{Diagnostic, Located, Span};

use super::gpu::Gpu;
use super::layout::Layout;
use super::model::{Model, Recompute};
use super::schedule::ScheduleKind;
use super::search::in_words;

/// `[workload.llm]`: a training step of a large language model.
#[spec]
pub struct LlmSpec {
    /// Named model or TOML file whose keys stand below these; "gpt-3-175b".
    pub model: Option<Located<String>>,
    /// Number of layers.
    pub layers: Located<u64>,
    /// Hidden size.
    pub hidden: Located<u64>,
    /// Number of attention heads (default: heads of 128).
    pub heads: Option<Located<u64>>,
    /// Number of heads of keys and values (default `heads`).
    pub kv_heads: Option<Located<u64>>,
    /// Size of a head (default `hidden` / `heads`).
    pub head_size: Option<Located<u64>>,
    /// Inner size of the MLP (default 4 `hidden`).
    pub ffn: Option<Located<u64>>,
    /// True if the MLP has a gate, a third matrix (default false).
    pub gated: Option<Located<Switch>>,
    /// True if layers have biases (default true).
    pub bias: Option<Located<Switch>>,
    /// Size of the vocabulary (default 51200).
    pub vocab: Option<Located<u64>>,
    /// True if input and output share one embedding (default true).
    pub tied: Option<Located<Switch>>,
    /// Number of learned positions; true for `sequence` of them (default), false for none.
    pub positions: Option<Located<Switch>>,
    /// Length of a sequence in tokens (default 2048).
    pub sequence: Option<Located<u64>>,
    /// Number of sequences of a step (default `dp` x `micro`).
    pub batch: Option<Located<u64>>,
    /// Number of experts of a layer (default 1: none).
    pub experts: Option<Located<u64>>,
    /// Number of experts that a token goes to (default 2).
    pub top_k: Option<Located<u64>>,
    /// Inner size of an expert (default `ffn`).
    pub expert_ffn: Option<Located<u64>>,
    /// Number of experts that every token goes to (default 0).
    pub shared_experts: Option<Located<u64>>,
    /// Number of first layers without experts (default 0).
    pub dense_layers: Option<Located<u64>>,
    /// Weights of the attention of a layer, if they do not follow from its heads.
    pub attention: Option<Located<u64>>,
    /// True if only the half of the scores that a causal mask leaves is counted (default false).
    pub causal: Option<Located<Switch>>,
    /// Degree of tensor parallelism (default 1).
    pub tp: Option<Located<u64>>,
    /// Number of pipeline stages (default 1).
    pub pp: Option<Located<u64>>,
    /// Degree of data parallelism (default 1).
    pub dp: Option<Located<u64>>,
    /// Degree of context parallelism (default 1).
    pub cp: Option<Located<u64>>,
    /// Degree of expert parallelism (default 1).
    pub ep: Option<Located<u64>>,
    /// Number of sequences of a micro-batch (default 1).
    pub micro: Option<Located<u64>>,
    /// Number of chunks of layers of a stage (default 1).
    pub interleave: Option<Located<u64>>,
    /// Order of forward and backward passes (default 1f1b).
    #[serde(default, skip_serializing_if = "ScheduleKind::is_default")]
    pub schedule: ScheduleKind,
    /// True if sequences are divided where tensors are not (default false).
    pub sequence_parallel: Option<Located<Switch>>,
    /// Part of the forward pass that the backward pass computes again (default none).
    #[serde(default, skip_serializing_if = "Recompute::is_default")]
    pub recompute: Recompute,
    /// Stage of ZeRO, 0 to 3 (default 0).
    pub zero: Option<Located<u64>>,
    /// Bytes of a gradient in collectives (default 4).
    pub grad_bytes: Option<Located<u64>>,
    /// True if embedding and output count as a layer each (default false).
    pub embedding_as_layer: Option<Located<Switch>>,
    /// True if one kernel computes attention without storing its scores (default: as the machine).
    pub flash: Option<Located<Switch>>,
    /// True if gradients and weights of data parallelism move by layer, beside computation (default false).
    pub overlap: Option<Located<Switch>>,
    /// Number of GPUs; data parallelism takes what the other degrees leave.
    pub gpus: Option<Located<u64>>,
    /// GPU and its node (default: those of the machine).
    pub gpu: Option<Gpu>,
    /// Speed of GPUs, relative to those of the machine (default 1).
    #[serde(default = "one", skip_serializing_if = "Located::is_one")]
    pub cpu_speed: Located<f64>,
}

fn one() -> Located<f64> {
    1.0.into()
}

/// True or false, also written 1 or 0; for positions also their number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switch(pub u64);

impl Serialize for Switch {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for Switch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl de::Visitor<'_> for Written {
            type Value = Switch;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true or false")
            }

            fn visit_bool<E: de::Error>(self, is_set: bool) -> Result<Switch, E> {
                Ok(Switch(is_set.into()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Switch, E> {
                Ok(Switch(number))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Switch, E> {
                u64::try_from(number).map(Switch).map_err(|_| E::custom("a number below 0"))
            }
        }
        deserializer.deserialize_any(Written)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Switch {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Switch".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "integer", "minimum": 0 }] })
    }
}

/// Number of a table with its name and its least and largest value.
type Range<'a> = (&'static str, Option<&'a Located<u64>>, u64, u64);

/// Model in a layout, as read from texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Training {
    /// Transformer and its batch.
    pub model: Model,
    /// Layout.
    pub layout: Layout,
    /// Number of GPUs; those of the layout if the texts name none.
    pub gpus: u64,
}

impl LlmSpec {
    /// Returns the same model in another layout.
    #[must_use]
    pub fn in_layout(&self, layout: &Layout) -> Self {
        let number = |value: u64| Some(Located::from(value));
        Self {
            tp: number(layout.tp),
            pp: number(layout.pp),
            dp: number(layout.dp),
            cp: number(layout.cp),
            ep: number(layout.ep),
            micro: number(layout.micro),
            interleave: number(layout.interleave),
            zero: number(layout.zero),
            sequence_parallel: Some(Switch(layout.sequence_parallel.into()).into()),
            recompute: layout.recompute,
            gpus: None,
            ..self.clone()
        }
    }

    /// Returns the name of the step: that of the model, and its layout.
    pub fn title(&self) -> String {
        let model = self.model.as_ref().map_or("llm", |model| &***model);
        format!("{model} {}", in_words(&self.degrees()))
    }

    /// Returns the GPU.
    ///
    /// # Errors
    /// There is none, or its values are out of range.
    pub fn gpu(&self) -> Result<&Gpu, Vec<Diagnostic>> {
        let Some(gpu) = &self.gpu else {
            let missing = Diagnostic::new("missing-key", "a training step needs a GPU, which gives its times");
            return Err(vec![
                missing.help("name a machine with one, such as -m h100-8x400g, or write [workload.llm.gpu]"),
            ]);
        };
        let mistakes: Vec<Diagnostic> = gpu.mistakes().into_iter().map(|(_, mistake)| mistake).collect();
        if mistakes.is_empty() { Ok(gpu) } else { Err(mistakes) }
    }

    /// Returns all whole numbers with their ranges. Products of the largest values fit into 128 bits.
    fn numbers(&self) -> [Range<'_>; 25] {
        [
            ("layers", Some(&self.layers), 1, 10_000),
            ("hidden", Some(&self.hidden), 1, 1_000_000),
            ("heads", self.heads.as_ref(), 1, 100_000),
            ("kv_heads", self.kv_heads.as_ref(), 1, 100_000),
            ("head_size", self.head_size.as_ref(), 1, 100_000),
            ("ffn", self.ffn.as_ref(), 1, 10_000_000),
            ("vocab", self.vocab.as_ref(), 0, 100_000_000),
            ("sequence", self.sequence.as_ref(), 1, 10_000_000),
            ("batch", self.batch.as_ref(), 1, 100_000_000),
            ("experts", self.experts.as_ref(), 1, 100_000),
            ("top_k", self.top_k.as_ref(), 1, 100_000),
            ("expert_ffn", self.expert_ffn.as_ref(), 1, 10_000_000),
            ("shared_experts", self.shared_experts.as_ref(), 0, 1_000),
            ("dense_layers", self.dense_layers.as_ref(), 0, 10_000),
            ("attention", self.attention.as_ref(), 1, 1_000_000_000_000),
            ("tp", self.tp.as_ref(), 1, 1_000_000),
            ("pp", self.pp.as_ref(), 1, 10_000),
            ("dp", self.dp.as_ref(), 1, 1_000_000),
            ("cp", self.cp.as_ref(), 1, 1_000_000),
            ("ep", self.ep.as_ref(), 1, 100_000),
            ("micro", self.micro.as_ref(), 1, 100_000_000),
            ("interleave", self.interleave.as_ref(), 1, 10_000),
            ("zero", self.zero.as_ref(), 0, 3),
            ("grad_bytes", self.grad_bytes.as_ref(), 1, 8),
            ("gpus", self.gpus.as_ref(), 1, 100_000_000),
        ]
    }

    /// Returns all switches with their largest values.
    fn switches(&self) -> [(&'static str, &Option<Located<Switch>>, u64); 9] {
        [
            ("gated", &self.gated, 1),
            ("bias", &self.bias, 1),
            ("tied", &self.tied, 1),
            ("causal", &self.causal, 1),
            ("sequence_parallel", &self.sequence_parallel, 1),
            ("embedding_as_layer", &self.embedding_as_layer, 1),
            ("flash", &self.flash, 1),
            ("overlap", &self.overlap, 1),
            ("positions", &self.positions, 100_000_000),
        ]
    }

    /// Returns the transformer; its batch is that of the table, or 1.
    fn transformer(&self) -> Model {
        let is = |switch: &Option<Located<Switch>>, default| switch.as_ref().map_or(default, |switch| switch.0 == 1);
        let or = |number: &Option<Located<u64>>, default| number.as_deref().copied().unwrap_or(default);
        let (hidden, sequence) = (*self.hidden, or(&self.sequence, 2048));
        let heads = or(&self.heads, if hidden.is_multiple_of(128) { hidden / 128 } else { 1 });
        let (ffn, experts) = (or(&self.ffn, 4 * hidden), or(&self.experts, 1));
        Model {
            layers: *self.layers,
            hidden,
            heads,
            kv_heads: or(&self.kv_heads, heads),
            head_size: or(&self.head_size, (hidden / heads).max(1)),
            ffn,
            gated: is(&self.gated, false),
            bias: is(&self.bias, true),
            vocab: or(&self.vocab, 51_200),
            tied: is(&self.tied, true),
            positions: self.positions.as_ref().map_or(sequence, |of| if of.0 == 1 { sequence } else { of.0 }),
            sequence,
            batch: or(&self.batch, or(&self.dp, 1).saturating_mul(or(&self.micro, 1))),
            experts,
            top_k: or(&self.top_k, experts.min(2)),
            expert_ffn: or(&self.expert_ffn, ffn),
            shared_experts: or(&self.shared_experts, 0),
            dense_layers: or(&self.dense_layers, 0),
            attention: self.attention.as_deref().copied(),
            causal: is(&self.causal, false),
        }
    }

    /// Returns the layout with the degrees of the table.
    fn degrees(&self) -> Layout {
        let is = |switch: &Option<Located<Switch>>| switch.as_ref().is_some_and(|switch| switch.0 == 1);
        let or = |number: &Option<Located<u64>>, default| number.as_deref().copied().unwrap_or(default);
        Layout {
            tp: or(&self.tp, 1),
            pp: or(&self.pp, 1),
            dp: or(&self.dp, 1),
            cp: or(&self.cp, 1),
            ep: or(&self.ep, 1),
            micro: or(&self.micro, 1),
            interleave: or(&self.interleave, 1),
            schedule: self.schedule,
            sequence_parallel: is(&self.sequence_parallel),
            recompute: self.recompute,
            zero: or(&self.zero, 0),
            grad_bytes: or(&self.grad_bytes, 4),
            embedding_as_layer: is(&self.embedding_as_layer),
            flash: self.flash.as_ref().map(|switch| switch.0 == 1),
            overlap: is(&self.overlap),
        }
    }

    /// Returns the model in its layout. Mistakes without a place of their own are at `span`.
    ///
    /// For a search only the model is checked: degrees are starting points.
    ///
    /// # Errors
    /// Values out of range, and degrees that do not divide what they must.
    pub fn training(&self, span: Option<Span>, is_search: bool) -> Result<Training, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        let mut wrong = |key: &str, message: String, help: &str| {
            let number = self.numbers().into_iter().find(|(name, ..)| *name == key).and_then(|(_, of, ..)| of?.span());
            let switch =
                self.switches().into_iter().find(|(name, ..)| *name == key).and_then(|of| of.1.as_ref()?.span());
            let mistake = Diagnostic::new("wrong-value", message).at(number.or(switch).or(span));
            mistakes.push(if help.is_empty() { mistake } else { mistake.help(help) });
        };
        let mut is_right = true;
        for (key, number, least, most) in self.numbers() {
            if let Some(number) = number.filter(|number| !(least..=most).contains(&***number)) {
                wrong(key, format!("`{key}` is a whole number from {least} to {most}, not {}", **number), "");
                is_right = false;
            }
        }
        for (key, switch, most) in self.switches() {
            if let Some(switch) = switch.as_ref().filter(|switch| switch.0 > most) {
                wrong(key, format!("`{key}` is true or false, not {}", switch.0), "1 and 0 stand for them");
                is_right = false;
            }
        }
        if !is_right {
            return Err(mistakes);
        }
        let (mut model, mut layout) = (self.transformer(), self.degrees());
        if self.head_size.is_none() && !model.hidden.is_multiple_of(model.heads) {
            let message = format!("`heads` = {} does not divide `hidden` = {}", model.heads, model.hidden);
            wrong("heads", message, "write a divisor, or give `head_size`");
        }
        let gpus = self.gpus.as_deref().copied();
        let others = layout.tp * layout.pp * layout.cp;
        match gpus.filter(|_| !is_search) {
            Some(gpus) if self.dp.is_some() && layout.gpus() != gpus => {
                let message = format!("`gpus` = {gpus}, and `tp` `cp` `dp` `pp` make {}", layout.gpus());
                wrong("gpus", message, "leave out `gpus` or `dp`");
            }
            Some(gpus) if !gpus.is_multiple_of(others) => {
                let message = format!("`tp` `cp` `pp` = {others} does not divide `gpus` = {gpus}");
                wrong("gpus", message, "data parallelism takes the rest of the GPUs");
            }
            Some(gpus) => layout.dp = gpus / others,
            None => {}
        }
        if self.batch.is_none() {
            model.batch = layout.dp.saturating_mul(layout.micro);
        }
        if !is_search {
            for mistake in layout.mistakes(&model) {
                wrong(mistake.key, mistake.message, &mistake.help);
            }
        }
        let gpus = gpus.unwrap_or(layout.gpus());
        if mistakes.is_empty() { Ok(Training { model, layout, gpus }) } else { Err(mistakes) }
    }
}
