//! Data sets: the three parts of a prediction, each measured once and reused in any combination.
//!
//! | data set | file | contents | source |
//! |---|---|---|---|
//! | [`program`] | `x.prog` | the calls of every rank in order, with loops folded | any trace of the program |
//! | [`computation`] | `x.comp` | the time of each block between two calls | a trace recorded on that machine |
//! | [`communication`] | `x.comm` | the time until a message is received, by size | two processes on that network |
//!
//! Program data is the same on every machine. It and computation data are two halves of one run: unfolding the
//! program data with the times of the computation data gives a [`Program`](crate::program::Program) that every
//! node model and every fabric can play. Ranks may take their times from different machines, and loops may run
//! longer than in the recorded run. [`assemble`](assemble()) assembles the data sets that a scenario names.
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, sections 2.1 to 2.4.

pub mod assemble;
pub mod communication;
pub mod computation;
pub mod program;

pub use assemble::{Assembled, Origin, assemble};
