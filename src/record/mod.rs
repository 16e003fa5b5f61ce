//! Records: what observers keep of a run.

mod fingerprint;
mod recorder;

pub use fingerprint::Fingerprint;
pub use recorder::{LinkTime, LinkTimes, OnMessage, Recorder};
