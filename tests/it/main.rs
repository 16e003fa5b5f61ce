//! Tests of the whole: one binary, one module a concern.

mod cli;
mod collectives;
mod combined;
mod determinism;
mod documents;
mod layers;
mod packet;
mod presets;
mod properties;
mod replay;
mod scenario;
mod scenario_fuzz;
mod scenario_layers;
