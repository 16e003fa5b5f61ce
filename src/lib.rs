//! Hayase (早瀬, "swift current"): a discrete-event message-flow simulator for HPC interconnects and the parallel
//! programs that run on them.

pub mod atomic_file;
pub mod data_set;
pub mod diagnostic;
pub mod engine;
pub mod fabric;
pub mod ids;
pub mod memory;
pub mod node;
pub mod placement;
pub mod player;
pub mod reading;
pub mod record;
pub mod report;
pub mod rng;
pub mod routing;
pub mod scenario;
pub mod sharing;
pub mod sweep;
pub mod system;
pub mod topology;
pub mod transport;
pub mod units;
pub mod workload;
