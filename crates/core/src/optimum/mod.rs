//! Best possible time of communication on a fabric.
//!
//! * [`flow`]: the least time of a demand over all routings, with certificates;
//! * [`FlowNetwork`] and [`Volumes`]: a fabric and the bytes that its nodes exchange, in the form of `flow`.

mod best;
pub mod flow;
mod network;
pub mod trees;

pub use best::{BestTime, Proof};
pub use network::{FlowNetwork, Volumes};
