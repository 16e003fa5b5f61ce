//! Traces of MPI programs and schedules of their messages: readers and writers, one file per format.
//!
//! | format | file | read | written |
//! |---|---|---|---|
//! | Hayase's own | [`calls`] (and the crate `hayase-trace`) | yes | yes |
//! | GOAL, text and binary | [`goal`] | yes | yes |
//! | SimGrid's time-independent traces | [`time_independent`] | yes | |
//! | Chakra execution traces | [`chakra`] | yes | yes |
//! | workload text of SimAI | [`simai`] | yes | |
//! | text traces of the NAS benchmarks | [`npb`] | yes | |
//! | DUMPI traces | `dumpi` | yes | |
//! | traces of Paraver | `paraver` | yes | |
//! | traces of Paje | `paje` | | yes |
//! | OTF2 archives | [`otf2`] | yes | yes |
//!
//! Readers of calls pass them to [`calls::Calls`], one call at a time. [`ToProgram`] makes a program of them,
//! [`ToTrace`] a trace of Hayase's own format, [`Tally`] and [`BySite`] summaries. [`Trace::open`] detects
//! the format of a file by its content.

mod by_site;
pub mod calls;
pub mod chakra;
mod dumpi;
mod expand;
mod fault;
pub mod goal;
mod integrity;
pub(crate) mod lines;
mod lives;
mod matched;
pub mod npb;
pub mod otf2;
mod paje;
mod paraver;
pub mod simai;
mod source;
mod tally;
pub mod time_independent;
mod to_program;
mod to_trace;

pub use by_site::{BySite, SiteCalls, SiteTally};
pub use calls::MOST_RANKS;
pub use expand::expanded;
pub use integrity::{Integrity, Moment};
pub use matched::{Unmatched, unmatched, unreceived};
pub use paje::ToPaje;
pub use source::{Format, Options, Trace};
pub use tally::{CallTally, Tally};
pub use to_program::ToProgram;
pub use to_trace::ToTrace;

#[cfg(test)]
mod tests;
