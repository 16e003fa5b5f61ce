//! NCCL: the algorithm and protocol that it takes for a collective, and the time of its cost model.
//!
//! A [`System`] holds what NCCL found on a cluster: the channels and bandwidths of its graphs. It is read from JSON,
//! or from the table `[nccl]` of a machine. A [`Tuning`] computes latency and bandwidth of each algorithm
//! and protocol from it, and ranks them by time for a size. The model ranks; it leaves out
//! the launch and the network.
//!
//! ```
//! use hayase::nccl::{Operation, System, Tuning};
//!
//! let text = r#"{"node": {"cc": 90, "cpu": "intel", "channels": 24, "ll128": true, "graphs": {
//!     "ring": {"channels": 12, "bw_intra": 30.0, "bw_inter": 30.0},
//!     "tree": {"channels": 12, "bw_intra": 30.0, "bw_inter": 30.0, "pattern": "balanced"},
//!     "nvls": {"channels": 8, "bw_intra": 40.0, "bw_inter": 60.0}}}}"#;
//! let system = System::from_json(text, 0, "node").unwrap();
//! let tuning = Tuning::new(&system, Operation::AllReduce, 8, 1).unwrap();
//! let best = &tuning.ranking(2 << 20)[0];
//! assert_eq!((best.algorithm.name(), best.protocol.name()), ("nvls", "simple"));
//! ```
//!
//! Source: NCCL 2.30.7, `src/graph/tuning.cc`, `src/enqueue.cc`.

pub mod algorithms;
mod bandwidth;
mod constants;
mod kinds;
pub mod log;
mod system;
mod tuning;

#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod tests;

pub use bandwidth::bus_factor;
pub use kinds::{Algorithm, Architecture, Protocol};
pub use system::{Cpu, Graph, Graphs, Hop, System, TreePattern};
pub use tuning::{Choice, Entry, Operation, Tuning};
