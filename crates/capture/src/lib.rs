//! Recorder.
pub use hayase_trace::Call;
