//! Program of a training step: the operations of each GPU as a graph, a pure function of its rank.
//!
//! A GPU has a stream for computation and one for each kind of communication. Passes follow the schedule of its stage;
//! each layer is attention and MLP, with the collectives of tensor and expert parallelism around them. Backward, the
//! gradients of weights are computed beside the collective on those of inputs. Context parallelism moves keys and
//! values round a ring beside the blocks of attention. Messages between stages hold up no computation but the one that
//! needs them; a receive is posted when the pass two before it has ended.
//!
//! With `overlap` gradients move by layer as the last micro-batch's backward pass reaches them, and weights of ZeRO-3
//! layer by layer; otherwise all at once, before and behind the passes. The optimizer follows the gradients.

use std::collections::BTreeMap;

use super::communication::{context_bytes, expert_bytes, layer_bytes, stage_bytes};
use super::gpu::Gpu;
use super::layout::Layout;
use super::memory::{GpuParameters, parameters};
use super::model::{Model, Recompute};
use super::schedule::Slot;
use super::time::{Clock, Half};
use crate::program::CollectiveCall as Call;
use crate::units::Time;

/// Stream of a GPU: its processor in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Computation.
    Compute,
    /// Tensor parallelism.
    Tensor,
    /// Messages between stages.
    Pipeline,
    /// Gradients and weights.
    Data,
    /// Ring of keys and values.
    Context,
    /// All-to-alls of experts.
    Expert,
}

impl Stream {
    /// All streams, by the number of their processor.
    pub const ALL: [Self; 6] = [Self::Compute, Self::Tensor, Self::Pipeline, Self::Data, Self::Context, Self::Expert];
}

/// Kind of a group of GPUs whose members call collectives together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum GroupKind {
    /// GPUs that share layers.
    Tensor,
    /// GPUs with the same weights: data and context parallelism.
    Data,
    /// GPUs that share the experts of a layer.
    Expert,
    /// GPUs with the same experts.
    ExpertData,
}

/// Place of a rank in a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Number within the tensor group.
    pub tensor: u64,
    /// Number within the context group.
    pub context: u64,
    /// Number among the data-parallel copies.
    pub data: u64,
    /// Pipeline stage.
    pub stage: u64,
}

impl Layout {
    /// Returns the place of a rank: tensor varies fastest, then context, data and pipeline.
    pub fn place(&self, rank: u64) -> Place {
        let (others, tensor) = (rank / self.tp, rank % self.tp);
        let (copies, context) = (others / self.cp, others % self.cp);
        Place { tensor, context, data: copies % self.dp, stage: copies / self.dp }
    }

    /// Returns the rank at a place.
    pub fn rank(&self, place: Place) -> u64 {
        ((place.stage * self.dp + place.data) * self.cp + place.context) * self.tp + place.tensor
    }

    /// Returns the number of ranks of a group.
    pub fn group_size(&self, kind: GroupKind) -> u64 {
        match kind {
            GroupKind::Tensor => self.tp,
            GroupKind::Data => self.dp * self.cp,
            GroupKind::Expert => self.ep,
            GroupKind::ExpertData => self.dp / self.ep * self.cp,
        }
    }

    /// Returns the ranks of the group of this kind that a rank is in, ascending.
    pub fn group(&self, kind: GroupKind, rank: u64) -> Vec<u64> {
        let own = self.place(rank);
        let first = own.data - own.data % self.ep;
        let all = |data: Vec<u64>| {
            let contexts = move |data| (0..self.cp).map(move |context| self.rank(Place { data, context, ..own }));
            data.into_iter().flat_map(contexts).collect()
        };
        match kind {
            GroupKind::Tensor => (0..self.tp).map(|tensor| self.rank(Place { tensor, ..own })).collect(),
            GroupKind::Data => all((0..self.dp).collect()),
            GroupKind::Expert => (first..first + self.ep).map(|data| self.rank(Place { data, ..own })).collect(),
            GroupKind::ExpertData => all((own.data % self.ep..self.dp).step_by(self.ep as usize).collect()),
        }
    }
}

/// Work of an operation of a GPU.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Task {
    /// Computation, or on another stream the start of a collective.
    Work(Time),
    /// Start of a message.
    Launch {
        /// Time.
        time: Time,
        /// Receiver.
        to: u64,
        /// Tag of the message.
        tag: u32,
    },
    /// Collective.
    Collective {
        /// Kind of the collective.
        call: Call,
        /// Group whose members call it.
        group: GroupKind,
        /// Bytes of the tensor that is reduced, gathered or exchanged \[B\].
        bytes: u64,
    },
    /// Message to a rank.
    Send {
        /// Receiver.
        to: u64,
        /// Tag.
        tag: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Message from a rank.
    Recv {
        /// Sender.
        from: u64,
        /// Tag.
        tag: u32,
        /// Size \[B\].
        bytes: u64,
    },
}

/// Operations of a rank in an order in which they can run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RankGraph {
    /// Operations, each with its stream.
    pub ops: Vec<(Stream, Task)>,
    /// Dependences: the required operation and the one that requires it.
    pub edges: Vec<(u32, u32)>,
    /// First operation of each pass, in the order of the schedule.
    pub passes: Vec<u32>,
}

/// Training step of a model in a layout on GPUs.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Transformer.
    pub model: &'a Model,
    /// Layout.
    pub layout: &'a Layout,
    /// GPU.
    pub gpu: &'a Gpu,
    /// Attention and MLP of layers without and with experts.
    halves: [[Half; 2]; 2],
}

/// Operations that another one requires, each once.
type Before = [Option<u32>; 5];

/// Returns the operations of both lists; there are at most five.
fn both(mut one: Before, other: Before) -> Before {
    for op in other.into_iter().filter(Option::is_some) {
        if let Some(place) = one.iter_mut().find(|place| place.is_none() || **place == op) {
            *place = op;
        }
    }
    one
}

/// Returns a list of one operation, or of none.
fn just(op: Option<u32>) -> Before {
    [op, None, None, None, None]
}

impl<'a> Step<'a> {
    /// Creates the step.
    pub fn new(model: &'a Model, layout: &'a Layout, gpu: &'a Gpu) -> Self {
        let clock = Clock { model, layout, gpu };
        Self { model, layout, gpu, halves: [false, true].map(|has_experts| clock.halves(has_experts)) }
    }

    fn clock(&self) -> Clock<'a> {
        Clock { model: self.model, layout: self.layout, gpu: self.gpu }
    }

    /// Returns an upper bound of the number of operations of a rank, for a look at the memory.
    pub fn operations(&self) -> u64 {
        let layers = self.model.layers.div_ceil(self.layout.pp) + self.layout.interleave;
        let of_layer = 32 + 12 * self.layout.cp;
        self.layout.micro_batches(self.model).saturating_mul(layers.saturating_mul(of_layer))
    }

    /// Returns the operations of a rank.
    pub fn rank(&self, rank: u64) -> RankGraph {
        let place = self.layout.place(rank);
        let left = parameters(self.model, self.layout, place.stage);
        let (back, scores_again) = self.clock().scores_back();
        let scores_back = back + scores_again;
        let mut writer = Writer {
            step: self,
            place,
            graph: RankGraph::default(),
            last: [None; 6],
            tag: 0,
            left,
            gathered: BTreeMap::new(),
            scores_back,
            output: self.clock().output(),
        };
        writer.step();
        writer.graph
    }
}

/// Writer of the operations of a rank.
struct Writer<'s, 'a> {
    step: &'s Step<'a>,
    place: Place,
    graph: RankGraph,
    /// Last collective of each stream, whose collectives run one after the other.
    last: [Option<u32>; 6],
    /// Tag of the next message of context parallelism.
    tag: u32,
    /// Parameters whose gradients have not been reduced.
    left: GpuParameters,
    /// Gather of the weights of a layer that no pass has waited for.
    gathered: BTreeMap<u64, u32>,
    /// Time of the scores in the backward pass over that in the forward pass.
    scores_back: f64,
    /// Times of the output layer, forward and backward \[s\].
    output: (f64, f64),
}

impl Writer<'_, '_> {
    fn push(&mut self, stream: Stream, task: Task, before: Before) -> Before {
        let at = self.graph.ops.len() as u32;
        self.graph.ops.push((stream, task));
        self.graph.edges.extend(before.into_iter().flatten().map(|before| (before, at)));
        just(Some(at))
    }

    /// Adds a computation, in 1024ths of picoseconds so that times of up to seconds add up without rounding.
    fn compute(&mut self, seconds: f64, before: Before) -> Before {
        self.push(Stream::Compute, Task::Work(Time::from_ps((seconds * 1.024e15).round() / 1024.0)), before)
    }

    /// Adds a collective behind the last one of its stream; nothing in a group of one.
    fn collective(&mut self, stream: Stream, call: Call, group: GroupKind, bytes: u128, before: Before) -> Before {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if self.step.layout.group_size(group) == 1 || bytes == 0 {
            return before;
        }
        let mut before = both(before, just(self.last[stream as usize]));
        if self.step.gpu.launch > Time::ZERO {
            before = self.push(stream, Task::Work(self.step.gpu.launch), before);
        }
        let done = self.push(stream, Task::Collective { call, group, bytes }, before);
        self.last[stream as usize] = done[0];
        done
    }

    fn tensor(&mut self, call: Call, before: Before) -> Before {
        let bytes = layer_bytes(self.step.model, self.step.layout);
        self.collective(Stream::Tensor, call, GroupKind::Tensor, bytes, before)
    }

    fn all_to_all(&mut self, before: Before) -> Before {
        let bytes = expert_bytes(self.step.model, self.step.layout);
        self.collective(Stream::Expert, Call::Alltoall, GroupKind::Expert, bytes, before)
    }

    fn send(&mut self, stream: Stream, (to, tag, bytes): (u64, u32, u64), mut before: Before) {
        let time = self.step.gpu.launch;
        if time > Time::ZERO {
            before = self.push(stream, Task::Launch { time, to, tag }, before);
        }
        self.push(stream, Task::Send { to, tag, bytes }, before);
    }

    /// Adds the collectives that end the forward pass of attention or MLP, or the gradients of its inputs.
    fn reduce(&mut self, before: Before) -> Before {
        let call = if self.step.layout.sequence_parallel { Call::ReduceScatter } else { Call::Allreduce };
        self.tensor(call, before)
    }

    /// Adds blocks of attention beside a ring of keys and values, with `messages` to the next rank for each block.
    fn ring(&mut self, [head, scores, tail]: [f64; 3], messages: usize, before: Before) -> Before {
        let layout = self.step.layout;
        let bytes = context_bytes(self.step.model, layout) as u64;
        let beside = |by: u64| layout.rank(Place { context: (self.place.context + by) % layout.cp, ..self.place });
        let (next, previous) = (beside(1), beside(layout.cp - 1));
        let first = self.compute(head, before);
        let (mut at, mut ready) = (first, first);
        for _ in 1..layout.cp {
            let mut got: Before = [None; 5];
            for place in &mut got[..messages] {
                let tag = self.tag;
                self.tag = (tag + 1) % (1 << 30);
                self.send(Stream::Context, (next, tag, bytes), ready);
                *place = self.push(Stream::Context, Task::Recv { from: previous, tag, bytes }, first)[0];
            }
            at = both(self.compute(scores / layout.cp as f64, at), got);
            ready = got;
        }
        self.compute(scores / layout.cp as f64 + tail, at)
    }

    /// Adds the forward pass of attention (0) or MLP (1) of a layer, or its repetition without messages of keys and
    /// tokens.
    fn forward(&mut self, layer: u64, half: usize, is_again: bool, mut at: Before) -> Before {
        let has_experts = self.step.model.has_experts(layer);
        let of = self.step.halves[usize::from(has_experts)][half];
        let exchanges = half == 1 && has_experts && !is_again;
        if exchanges {
            at = self.all_to_all(at);
        }
        if self.step.layout.sequence_parallel {
            at = self.tensor(Call::Allgather, at);
        }
        let around = 0.5 * (of.product_s + of.elements_s);
        at = match half == 0 && self.step.layout.cp > 1 && !is_again {
            true => self.ring([around, of.scores_s, around], 1, at),
            false => self.compute(of.forward(), at),
        };
        at = self.reduce(at);
        if exchanges { self.all_to_all(at) } else { at }
    }

    /// Adds the backward pass of attention (0) or MLP (1) of a layer.
    fn backward(&mut self, layer: u64, half: usize, mut at: Before) -> Before {
        let layout = self.step.layout;
        let has_experts = self.step.model.has_experts(layer);
        let of = self.step.halves[usize::from(has_experts)][half];
        let exchanges = half == 1 && has_experts;
        if exchanges {
            at = self.all_to_all(at);
        }
        let divided = layout.sequence_parallel && layout.tp > 1;
        if divided {
            at = self.tensor(Call::Allgather, at);
        }
        // The inputs are gathered again for the gradients of weights.
        let gathered = if divided { self.tensor(Call::Allgather, at) } else { [None; 5] };
        let (weights, scores) = (of.product_s, self.scores_back * of.scores_s);
        let with = if layout.tp == 1 { weights } else { 0.0 };
        let inputs = of.product_s + 2.0 * of.elements_s;
        let computed = match half == 0 && layout.cp > 1 {
            true => self.ring([0.5 * inputs, scores, 0.5 * inputs + with], 2, at),
            false => self.compute(inputs + scores + with, at),
        };
        at = self.reduce(computed);
        if layout.tp > 1 {
            at = both(at, self.compute(weights, both(computed, gathered)));
        }
        if exchanges { self.all_to_all(at) } else { at }
    }

    /// Returns the parameters of a layer on this GPU.
    fn parameters(&self, layer: u64) -> GpuParameters {
        let Step { model, layout, .. } = self.step;
        let of = model.layer(model.has_experts(layer));
        let experts = of.expert * u128::from(model.experts / layout.ep);
        GpuParameters { common: of.common / u128::from(layout.tp), experts: experts / u128::from(layout.tp) }
    }

    /// Adds a collective on these parameters, with this number of bytes for each.
    fn data(&mut self, call: Call, of: GpuParameters, bytes: u64, before: Before) -> Before {
        let bytes = u128::from(bytes);
        let at = self.collective(Stream::Data, call, GroupKind::Data, bytes * of.common, before);
        self.collective(Stream::Data, call, GroupKind::ExpertData, bytes * of.experts, at)
    }

    /// Adds the collectives on the gradients of these parameters.
    fn reduce_gradients(&mut self, of: GpuParameters, before: Before) -> Before {
        self.left.common -= of.common;
        self.left.experts -= of.experts;
        let call = if self.step.layout.zero == 0 { Call::Allreduce } else { Call::ReduceScatter };
        self.data(call, of, self.step.layout.grad_bytes, before)
    }

    /// Adds the gathers of the weights of ZeRO-3; returns the operations that all passes wait for.
    fn gather_weights(&mut self, before: Before) -> Before {
        let Step { model, layout, .. } = self.step;
        let mut rest = parameters(model, layout, self.place.stage);
        if !layout.overlap {
            return self.data(Call::Allgather, rest, 2, before);
        }
        for (first, count) in layout.chunks(model, self.place.stage) {
            for layer in first..first + count {
                let of = self.parameters(layer);
                rest.common -= of.common;
                rest.experts -= of.experts;
                if let [Some(gathered), ..] = self.data(Call::Allgather, of, 2, before) {
                    self.gathered.insert(layer, gathered);
                }
            }
        }
        self.data(Call::Allgather, rest, 2, before);
        before
    }

    /// Waits for the weights of a layer.
    fn weights(&mut self, layer: u64, at: Before) -> Before {
        both(at, just(self.gathered.remove(&layer)))
    }

    /// Adds the pass of a micro-batch through a chunk.
    fn pass(&mut self, slot: Slot, (first, layers): (u64, u64), is_last: bool, mut at: Before) -> Before {
        let layout = self.step.layout;
        if layers == 0 {
            at = self.compute(0.0, at);
        }
        if !slot.is_backward {
            for layer in first..first + layers {
                at = self.weights(layer, at);
                at = self.forward(layer, 0, false, at);
                at = self.forward(layer, 1, false, at);
            }
            return if is_last { self.compute(self.output.0, at) } else { at };
        }
        if is_last {
            at = self.compute(self.output.1, at);
        }
        let reduces = layout.overlap && slot.micro_batch + 1 == layout.micro_batches(self.step.model);
        for layer in (first..first + layers).rev() {
            at = self.weights(layer, at);
            if layout.recompute == Recompute::Full {
                at = self.forward(layer, 0, true, at);
                at = self.forward(layer, 1, true, at);
            }
            at = self.backward(layer, 1, at);
            at = self.backward(layer, 0, at);
            if reduces {
                self.reduce_gradients(self.parameters(layer), at);
            }
        }
        at
    }

    /// Returns the rank and the tag of the message that brings the input of a pass, or takes its output.
    fn message(&self, slot: Slot, is_output: bool) -> Option<(u64, u32)> {
        let layout = self.step.layout;
        let (stages, all) = (layout.pp, layout.pp * layout.interleave);
        let here = slot.chunk * stages + self.place.stage;
        let there = match slot.is_backward == is_output {
            true => here.checked_sub(1)?,
            false => Some(here + 1).filter(|there| *there < all)?,
        };
        // A message is named by the place that sends it.
        let from = if is_output { here } else { there };
        let tag = ((slot.micro_batch * all + from) * 2 + u64::from(slot.is_backward)) % (1 << 30);
        Some((layout.rank(Place { stage: there % stages, ..self.place }), tag as u32))
    }

    /// Adds the whole step.
    fn step(&mut self) {
        let Step { model, layout, .. } = self.step;
        let (schedule, stage) = (layout.schedule(model), self.place.stage);
        let chunks: Vec<(u64, u64)> = layout.chunks(model, stage).collect();
        let bytes = u64::try_from(stage_bytes(model, layout)).unwrap_or(u64::MAX);
        let (mut before, mut ended) = ([None; 5], [None; 2]);
        let mut gathers = if layout.zero == 3 { 2 } else { 0 };
        for slot in schedule.slots(stage) {
            if gathers == 2 || gathers == 1 && slot.is_backward {
                before = self.gather_weights(before);
                gathers -= 1;
            }
            self.graph.passes.push(self.graph.ops.len() as u32);
            if let Some((from, tag)) = self.message(slot, false) {
                let posted = just(ended[0]);
                before = both(before, self.push(Stream::Pipeline, Task::Recv { from, tag, bytes }, posted));
            }
            let is_last = stage + 1 == layout.pp && slot.chunk + 1 == layout.interleave;
            before = self.pass(slot, chunks[slot.chunk as usize], is_last, before);
            if let Some((to, tag)) = self.message(slot, true) {
                self.send(Stream::Pipeline, (to, tag, bytes), before);
            }
            ended = [ended[1], before[0]];
        }
        let reduced = self.reduce_gradients(self.left, before);
        let seconds = self.step.clock().optimizer(stage);
        let updated = self.compute(seconds, both(before, reduced));
        if layout.zero == 1 || layout.zero == 2 {
            let all = parameters(model, layout, stage);
            self.data(Call::Allgather, all, 2, updated);
        }
    }
}
