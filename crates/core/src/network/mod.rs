//! A fabric with ranks on its nodes and a way to move messages over it. It puts a simulation together for any
//! [`Workload`](crate::workload::Workload).

#[cfg(feature = "simulator")]
mod folding;
mod message_paths;
mod parts;
#[cfg(all(test, feature = "simulator"))]
mod tests;
mod whole;

pub use parts::NetworkParts;
#[doc(hidden)]
pub use parts::{Part, transport_mistakes};
pub use whole::Network;
