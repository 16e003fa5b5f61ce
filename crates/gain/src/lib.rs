//! Changes that would improve an MPI program, and their gains on a given machine and network.
//!
//! The crate `hayase-advice` finds, in a recorded run, communication that could overlap with computation, be
//! merged, or become collective. Here each finding becomes a program or a machine with the change, and the
//! change is simulated:
//!
//! ```text
//! findings ---- edit ----> changed programs -----\
//! run, machine, network -- rules ---> findings ---+--- gain (player) ---> ranked advice ---> text, JSON, page, SARIF
//! ```
//! * [`edit`](mod@edit) makes the change in the program: calls move, merge, become collective.
//! * [`bound`] gives an upper bound on the gain of a change, so that useless changes are not simulated.
//! * [`gain`] plays each changed program on the same nodes and network; the time saved is the gain.
//! * [`together`] combines compatible pieces in one program, and explains their gain.
//! * [`rules`] finds problems that only a simulation shows: algorithms of collective operations, placements, messages
//!   that wait for their receivers, chains of small messages.
//! * [`page`](mod@page) and [`text`](mod@text) present the advice.
//!
//! Source: Gordini, section 4 (the dependences) and section 6 (the gain is left open there).

pub mod bound;
pub mod edit;
pub mod gain;
pub mod page;
pub mod rules;
pub mod text;
pub mod together;

pub use gain::{Judge, Judged, Ranked, Simulated};
pub use together::Together;
