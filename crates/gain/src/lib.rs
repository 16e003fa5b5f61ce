//! What a program's author could change, and what that would bring on a given machine and network.
//!
//! The crate `hayase-advice` finds, in a recorded run, communication that could overlap with computation, be merged, or
//! become collective. Here each finding becomes a program or a machine that has the change, and the change is
//! simulated:
//!
//! ```text
//! findings ---- edit ----> changed programs -----\
//! run, machine, network -- rules ---> findings ---+--- gain (player) ---> ranked advice ---> text, JSON, page, SARIF
//! ```
//! * [`edit`](mod@edit) makes the change in the program: calls move, merge, become collective.
//! * [`bound`] says what a change could save at most, so that what cannot help is not simulated.
//! * [`gain`] plays each changed program on the same nodes and network; what it saves is the gain.
//! * [`together`] makes of the pieces that go together one program, and explains what that saves.
//! * [`rules`] finds what only a simulation shows: algorithms of collective operations, placements, messages that wait
//!   for their receivers, chains of small messages.
//! * [`page`](mod@page) and [`text`](mod@text) put it before people.
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
