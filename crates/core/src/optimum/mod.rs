//! Best possible time of communication on a fabric.
//!
//! * [`flow`]: the least time of a demand over all routings, with certificates;
//! * [`trees`]: packed spanning trees for operations that copy or add;
//! * [`slots`]: slots and routes of an all-to-all that sends one message at a time;
//! * [`FlowNetwork`] and [`Volumes`]: a fabric and the bytes that its nodes exchange, in the form of `flow`.

mod best;
pub mod flow;
mod network;
pub mod slots;
pub mod trees;

pub use best::{BestTime, Proof};
pub use network::{FlowNetwork, Volumes};
