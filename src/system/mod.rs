//! What work runs on.
//!
//! A [`Network`] is a fabric with ranks on its nodes and how messages move over it; it puts a simulation together for
//! any [`Workload`](crate::workload::Workload). A [`System`] is that with nodes that cost something, the algorithms of
//! collectives and a seed: all that a pattern, a program or a farm runs on.

mod network;
mod parts;
#[cfg(feature = "simulator")]
mod target;
#[cfg(all(test, feature = "simulator"))]
mod tests;
#[cfg(feature = "simulator")]
mod whole;

pub use network::Network;
pub use parts::NetworkParts;
#[cfg(feature = "simulator")]
pub(crate) use parts::{Part, of_moves};
#[cfg(feature = "simulator")]
pub use target::Target;
#[cfg(feature = "simulator")]
pub use whole::System;
#[cfg(feature = "simulator")]
pub(crate) use whole::{Written, network_of_its_own};
