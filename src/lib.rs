//! Hayase (早瀬, "swift current"): a discrete-event message-flow simulator for HPC interconnects and the parallel
//! programs that run on them.

pub mod advice;
pub mod bench;
#[cfg(all(feature = "capture", unix))]
pub mod capture;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
pub mod engine;
pub mod fabric;
pub mod ids;
pub mod measure;
pub mod memory;
pub mod node;
pub mod output;
pub mod placement;
pub mod player;
pub mod prediction;
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
pub mod validation;
pub mod workload;
