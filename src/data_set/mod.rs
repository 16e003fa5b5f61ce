//! Data sets: the parts that a prediction is put together from, each measured once and reused in any combination.
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, sections 2.1 to 2.4.

pub mod communication;
