//! Data sets: the three parts that a prediction is put together from, each measured once and reused in any combination.
//!
//! | data set | file | what it is | comes from |
//! |---|---|---|---|
//! | [`program`] | `x.prog` | what every rank calls, in which order, loops folded; the same on every machine | any trace of the program |
//! | [`computation`] | `x.comp` | how long each block between two calls takes on a machine | a trace recorded on that machine |
//! | [`communication`] | `x.comm` | how long a message takes to be received, by its size | two processes on that network |
//!
//! Program data and computation data are two halves of one run: unfolding the one with the times of the other gives a
//! [`Program`](crate::program::Program) that every node model and every fabric can play. Ranks may take their
//! times from different machines, and loops may run longer than in the run that was recorded. [`assemble`](assemble())
//! puts them together as a scenario says.
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, sections 2.1 to 2.4.

pub mod assemble;
pub mod communication;
pub mod computation;
pub mod program;

pub use assemble::{Assembled, Origin, assemble};
