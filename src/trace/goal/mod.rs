//! GOAL: schedules of sends, receives and calculations with their dependences, one block per rank.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! s: send 1024b to 1 tag 7
//! c: calc 1000
//! c requires s
//! }
//! rank 1 {
//! recv 1024b from 0 tag 7
//! }
//! ```
//! `a requires b`: a may start when b is done; `a irequires b`: when b has started. Ties between operations
//! without an order are broken by the order of the file. Calculations are in nanoseconds.
//!
//! Source: T. Hoefler, C. Siebert, A. Lumsdaine, Group Operation Assembly Language, ICPP 2009; text and
//! binary form as LogGOPSim reads and writes them.

mod binary;
mod labels;
mod text;
mod write;

pub use binary::{MAGIC, read_binary, write_binary};
pub use text::read_text;
pub use write::{NotGoal, write_text};
pub(in crate::trace) use write::{Schedule, schedule, span, tag};

#[cfg(test)]
mod loggopsim_tests;
#[cfg(test)]
mod tests;
