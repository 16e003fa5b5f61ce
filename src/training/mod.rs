//! Training steps of large language models in closed form: operations, memory, communication and time.
//!
//! A [`Model`] is a transformer with its batch, a [`Layout`] divides it among GPUs, and a [`Gpu`] is a machine's.
//! Parameters, operations and bytes are exact integers. A [`Schedule`] lists the passes of each stage.

mod communication;
mod gpu;
mod layout;
mod memory;
mod model;
mod reading;
mod schedule;
mod search;
mod time;

pub use communication::{
    Collectives, Communication, Sends, communication, context_bytes, data_bytes, expert_bytes, layer_bytes,
    stage_bytes, tensor_collectives,
};
pub use gpu::{Gpu, Group};
pub use layout::{Layout, Mistake};
pub use memory::{GpuParameters, StageMemory, activations_of_layer, memory, parameters};
pub use model::{LayerWeights, Model, Recompute};
pub use reading::{Training, keys, short_form, toml_form};
pub use schedule::{Schedule, ScheduleKind, Slot};
pub use search::{Candidate, Fixed, in_words, nearest, pareto, peak_memory, search, why_second};
pub use time::{Clock, StepTime};

#[cfg(test)]
mod tests;
