//! Hayase (早瀬, "swift current"): a discrete-event message-flow simulator for HPC interconnects and the parallel
//! programs that run on them.

pub mod atomic_file;
#[cfg(feature = "simulator")]
pub mod data_set;
pub mod diagnostic;
pub mod engine;
pub mod fabric;
pub mod ids;
pub mod memory;
#[cfg(feature = "simulator")]
pub mod node;
pub mod placement;
#[cfg(feature = "simulator")]
pub mod player;
pub mod reading;
pub mod record;
#[cfg(feature = "simulator")]
pub mod report;
pub mod rng;
pub mod routing;
#[cfg(feature = "simulator")]
pub mod scenario;
pub mod sharing;
#[cfg(feature = "simulator")]
pub mod sweep;
pub mod system;
pub mod threads;
pub mod topology;
pub mod transport;
pub mod units;
pub mod workload;
