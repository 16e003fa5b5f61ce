//! Hayase (早瀬, "swift current"): a discrete-event message-flow simulator for HPC interconnects and the parallel
//! programs that run on them.
//!
//! # What a simulation is made of
//!
//! A **fabric** ([`fabric::Fabric`]) consists of nodes, switches and directed links; [`topology`] has families of
//! fabrics. **Routes** lead from node to node ([`routing`]), and a **placement** puts ranks on nodes ([`placement`]).
//! Together with the models of moving messages ([`transport`]) and of sharing links ([`sharing`]) they form a
//! [`Network`].
//!
//! A **workload** ([`Workload`]) decides which messages ranks send next. It is a pattern ([`pattern`]), a program on a
//! node model ([`player`], [`node`]), a master with its workers, or your own. [`Network::simulate`] runs it: the
//! **engine** ([`engine`]) moves the clock and asks workload and transport for the next events, and **observers**
//! ([`Observer`], [`record`]) see them.
//!
//! A network with nodes that cost something, algorithms of collectives and a seed is a [`System`], and [`Work`] runs on
//! it. [`simulate`] returns the outcome, with a **report** ([`mod@report`]), which is plain data.
//!
//! A **scenario** ([`Scenario`]) is a system and its work, also as text. A [`Loader`] collects files, names and
//! settings, checks them all at once, and builds a scenario that can be run. [`sweep`] runs many scenarios and compares
//! them.
//!
//! ```
#![doc = include_str!("../tests/front.rs")]
//! ```
//!
//! `examples/` has more, one file each: one run, a custom topology, the sharing solver alone, a program built in code.
//! `crates/output/examples` has a comparison with its picture. `docs/internals/architecture.md` explains how the
//! parts fit together, and why.
//!
//! # Features
//!
//! Without its default feature `simulator` the crate is the network alone, on one thread: the modules from [`units`] to
//! [`engine`] with the patterns, and few dependencies.

#[cfg(feature = "simulator")]
#[macro_use]
extern crate hayase_forms;
#[cfg(all(feature = "simulator", target_family = "wasm"))]
extern crate hayase_zstd as zstd;

#[cfg(feature = "simulator")]
pub mod columns;
#[cfg(feature = "simulator")]
pub mod farm;
#[cfg(feature = "simulator")]
pub mod nccl;
#[cfg(feature = "simulator")]
pub mod parquet;
#[cfg(feature = "simulator")]
pub mod prediction;
#[cfg(feature = "simulator")]
pub mod report;
#[cfg(feature = "simulator")]
pub mod scenario;
#[cfg(feature = "simulator")]
pub mod simulation;
#[cfg(feature = "simulator")]
pub mod study;
#[cfg(feature = "simulator")]
pub mod system;
#[cfg(feature = "simulator")]
pub mod trace;
#[cfg(feature = "simulator")]
pub mod training;

pub use hayase_core::*;
#[cfg(all(feature = "simulator", not(test)))]
use hayase_forms::JsonSchema;
#[cfg(test)]
use schemars::JsonSchema;

#[cfg(feature = "simulator")]
pub use report::Report;
#[cfg(feature = "simulator")]
pub use scenario::{Loader, Scenario};
#[cfg(feature = "simulator")]
pub use simulation::{RunOptions, Work, simulate};
#[cfg(feature = "simulator")]
pub use study::sweep::Sweep;
#[cfg(feature = "simulator")]
pub use study::{measured, plan, sweep};
#[cfg(feature = "simulator")]
pub use system::System;
