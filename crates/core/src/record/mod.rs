//! Recorders: observers that keep data of a run.

#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod chain;
#[cfg(feature = "simulator")]
mod critical_path;
mod fingerprint;
#[cfg(all(test, feature = "simulator"))]
mod folded_tests;
#[cfg(feature = "simulator")]
mod history;
#[cfg(feature = "simulator")]
mod jobs;
#[cfg(feature = "simulator")]
mod late;
#[cfg(feature = "simulator")]
mod matrix;
mod over_time;
#[cfg(feature = "simulator")]
mod pattern_ranks;
mod recorder;
#[cfg(feature = "simulator")]
mod regions;
mod runs;
mod split;

#[cfg(feature = "simulator")]
pub use critical_path::{PathKind, PathStep, critical_path};
pub use fingerprint::Fingerprint;
#[cfg(feature = "simulator")]
pub use history::History;
#[cfg(feature = "simulator")]
pub use jobs::{JobRecord, JobsRecorder};
#[cfg(feature = "simulator")]
pub use late::{Late, Lateness, lateness};
#[cfg(feature = "simulator")]
pub use matrix::Matrix;
pub use over_time::{LinkMeasures, LinkSeries};
#[cfg(feature = "simulator")]
pub use pattern_ranks::PatternRanks;
pub use recorder::{LinkTime, LinkTimes, OnMessage, Recorder};
#[cfg(feature = "simulator")]
pub use regions::{PlayedRegion, Regions};
