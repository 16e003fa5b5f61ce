//! The system on which work runs: a [`Network`](crate::network::Network) with nodes that cost something, the
//! algorithms of collectives and a seed.

mod spec;
mod symmetry;
mod target;
mod whole;

pub use spec::{
    ALONE, BlockTimes, Factors, ProgramDataSpec, ProgramSpec, ReadProgram, RuleSpec, TraceSpec, WorkloadSpec,
};
pub use symmetry::Symmetry;
pub use target::Target;
pub use whole::System;
pub(crate) use whole::{Specifications, network_of_its_own};
