//! Tests of the whole: one binary, one module for each concern.

mod blocking;
mod chain;
mod chakra;
mod collectives;
mod determinism;
mod documents;
mod farms;
mod faults;
mod halves;
mod house;
mod interference;
mod job_weights;
mod jobs;
mod late;

mod layers;
mod least_cut;
mod link_delays;
mod message_columns;
mod nccl;
mod noise;
mod places;
mod presets;
mod properties;
mod prose;
mod replay;
mod scenario;
mod scenario_fuzz;
mod scenario_layers;
mod simai;
mod steady;
