//! Tests of the whole: one binary, one module a concern.

mod collectives;
mod determinism;
mod documents;
mod faults;
mod interference;
mod jobs;
mod layers;
mod presets;
mod properties;
mod replay;
mod scenario;
mod scenario_fuzz;
mod scenario_layers;
