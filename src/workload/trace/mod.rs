//! Traces of MPI programs and schedules of their messages: readers and writers, one file a format.

pub mod calls;
pub mod goal;
mod lines;
pub mod npb;
mod to_program;

pub use to_program::ToProgram;

/// Most ranks of a trace: tables by rank are made before it is known how many of them there are.
pub const MOST_RANKS: u32 = 1 << 24;
