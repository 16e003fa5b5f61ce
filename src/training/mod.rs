//! Training steps of large language models: operations, memory, communication and time in closed form, and programs.
//!
//! A [`Model`] is a transformer with its batch, a [`Layout`] divides it among GPUs, and a [`Gpu`] is a machine's.
//! Parameters, operations and bytes are exact integers. A [`Schedule`] lists the passes of each stage, and a [`Step`]
//! the operations of each GPU, which [`StepRecord`] accounts for when they are played.

mod communication;
mod gpu;
mod layout;
mod memory;
mod model;
mod program;
mod record;
mod repetition;
mod schedule;
mod search;
mod spec;
mod step;
mod time;

pub use communication::{
    Collectives, Communication, Sends, communication, context_bytes, data_bytes, expert_bytes, layer_bytes,
    stage_bytes, tensor_collectives,
};
pub use gpu::{Gpu, Group};
pub use layout::{Layout, Mistake};
pub use memory::{GpuParameters, StageMemory, activations_of_layer, memory, parameters};
pub use model::{LayerWeights, Model, Recompute};
pub use record::{Exposed, Repetition, StepParts, StepRecord, Sums};
pub(crate) use repetition::EQUAL;
pub use schedule::{Schedule, ScheduleKind, Slot};
pub use search::{Candidate, Fixed, Parts, in_words, nearest, pareto, peak_memory, search, why_second};
pub use spec::{LlmSpec, Switch, Training};
pub use step::{GroupKind, Place, RankGraph, Step, Stream, Task};
pub use time::{Clock, Half, StepTime};

#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
