//! Core of the simulator [Hayase](https://docs.rs/hayase): the network, and the work that is played on it
//! message by message. It is compiled for speed; `hayase` re-exports all of it.

#[macro_use]
extern crate hayase_forms;
#[cfg(all(feature = "simulator", target_family = "wasm"))]
extern crate hayase_zstd as zstd;

pub mod atomic_file;
#[doc(hidden)]
pub mod base;
pub mod collective;
pub mod diagnostic;
pub mod engine;
pub mod fabric;
pub mod faults;
pub mod ids;
pub mod network;
#[cfg(feature = "simulator")]
pub mod node;
pub mod noise;
pub mod optimum;
pub mod pattern;
pub mod placement;
#[cfg(feature = "simulator")]
pub mod player;
#[cfg(feature = "simulator")]
pub mod program;
pub mod reading;
pub mod record;
pub mod rng;
pub mod routing;
pub mod sharing;
#[cfg(feature = "simulator")]
pub mod steady;
#[cfg(feature = "simulator")]
pub mod symmetry;
pub mod topology;
pub mod transport;
pub mod units;
pub mod workload;

#[cfg(not(feature = "schema"))]
use hayase_forms::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub use diagnostic::Invalid;
pub use engine::Observer;
pub use fabric::Fabric;
pub use network::{Network, NetworkParts};
pub use units::{Bytes, Time};
pub use workload::Workload;
