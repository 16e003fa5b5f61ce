//! Search for improvements of an MPI program in a recorded run.
//!
//! A run is a folder of streams, which hold the calls of each rank ([`hayase_trace`]). If the program was
//! instrumented, it also holds the memory accesses between the calls ([`hayase_trace::memory`]).
//! [`search::search`] reads the run and returns [`model::Advice`]. Each finding has its places in the source,
//! its blockers, its certainty, and the change of the program's calls that follows from it. This crate knows
//! no simulator: a simulation of the changed program gives the gain.
//!
//! Each rank is read once as a sequence of [`stream::Step`]s, computation and then a call:
//! * [`accesses`], [`address`]: the accesses, and queries on them that expand no loops;
//! * [`calls`]: the memory that a call reads and writes, and the calls that it must stay behind;
//! * [`watch`], [`past`], [`overlap`]: the range over which each communication could be spread, by the buffers in use;
//! * [`merge`], [`rounds`]: calls that could be one, and messages that may be a pattern, as far as one rank can tell.
//!
//! Then all ranks are walked together ([`walk`]), to match sends with receives and to find waits and their
//! causes ([`waits`]). The rules combine the results of the ranks ([`mod@rules`], one file each, with the
//! text for users) and fold them by place ([`fold`]).
//!
//! `docs/concepts/advice.md` says what each rule finds and cannot see.

pub mod accesses;
pub mod address;
pub mod calls;
pub mod doubts;
pub mod fold;
pub mod lines;
pub mod merge;
pub mod model;
mod options;
pub mod overlap;
pub mod past;
pub mod rounds;
pub mod rules;
pub mod search;
pub mod stream;
pub mod unit;
pub mod waits;
pub mod walk;
pub mod watch;
pub mod within;
