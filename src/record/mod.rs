//! Records: what observers keep of a run.

mod critical_path;
mod fingerprint;
mod history;
mod matrix;
mod recorder;
mod regions;

pub use critical_path::{PathKind, PathStep, critical_path};
pub use fingerprint::Fingerprint;
pub use history::History;
pub use matrix::Matrix;
pub use recorder::{LinkTime, LinkTimes, OnMessage, Recorder};
pub use regions::{PlayedRegion, Regions};
