//! Hayase (早瀬, "swift current"): a discrete-event message-flow simulator for HPC interconnects and the parallel
//! programs that run on them.
//!
//! # What a simulation is made of
//!
//! A **fabric** ([`fabric::Fabric`]) is nodes, switches and directed links; [`topology`] has families of them.
//! **Routes** lead from node to node ([`routing`]), and a **placement** puts a rank on a node ([`placement`]). Together
//! with how messages move ([`transport`]) and how flows share links ([`sharing`]) they are a [`Network`].
//!
//! A **workload** ([`Workload`]) says which messages ranks send next: a pattern ([`pattern`]), a program on a
//! node model ([`player`], [`node`]), a master with its workers, or one of your own. [`Network::simulate`] runs it: the
//! **engine** ([`engine`]) moves the clock and asks workload and transport what happens next, and **observers**
//! ([`Observer`], [`record`]) see it.
//!
//! A network with nodes that cost something, algorithms of collectives and a seed is a [`System`]; what runs on it is
//! [`Work`]. [`simulate`] gives its outcome, with a **report** ([`mod@report`]), which is plain data.
//!
//! A **scenario** ([`Scenario`]) is a system and its work, also as text: a [`Loader`] collects files, names and
//! settings, checks them all at once, and builds what can be run. [`sweep`] runs many and compares them.
//!
//! ```
#![doc = include_str!("../tests/front.rs")]
//! ```
//!
//! More, each in a file of `examples/`: one run, an own topology, the sharing solver alone, a program built in code; in
//! `crates/output/examples` a comparison with its picture. How the parts fit together, and why: `docs/architecture.md`.
//!
//! # Features
//!
//! Without its default feature `simulator` the crate is the network alone, on one thread: from [`units`] to [`engine`],
//! with the patterns, and few dependencies.

#[cfg(feature = "simulator")]
#[macro_use]
extern crate hayase_forms;

#[cfg(feature = "simulator")]
pub mod columns;
#[cfg(feature = "simulator")]
pub mod farm;
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
pub use study::{plan, sweep};
#[cfg(feature = "simulator")]
pub use system::System;
