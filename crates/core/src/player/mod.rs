//! The player: runs a program's operations on a node model, over a simulated fabric or the model's own
//! network.
//!
//! ```text
//!         Program (operations of ranks)     node model (their costs)
//!                        \                  /
//!                         Player --- messages ---> engine and transport   (on a fabric)
//!                           |   \--- messages ---> latency and gaps       (without one)
//!                       RankTimes: time of each rank by kind of activity
//! ```
//! [`Player`] plays every model whose costs follow from the length of a message
//! ([`Costs`](crate::node::Costs)): ideal, LogGP, LogGPS. It is a [`Workload`](crate::workload::Workload) for
//! the engine, and [`Player::run`] plays it without a fabric. [`loggopsim`] plays LogGOPSim's model, which
//! has its own network, and [`rules`] those of MPIETE; [`alone`] selects the one that a node model requires.
//!
//! Calls of a *sequence* cost what the tables of LogGPS define. An operation that a non-blocking call has
//! started continues in the background until a wait, at no cost to the rank's computation. Operations of a
//! *graph* occupy their processor one after the other in the order in which they become ready, and so do the
//! overheads of messages: a long calculation delays the messages that arrive meanwhile. A chain of blocking
//! operations takes the same time either way.
//!
//! Threads of a rank are sequences that share their requests. Each pays for its own calls, as on its own
//! core.
//!
//! Inside, each type does one thing and knows only the types below it:
//!
//! | type | task | knows |
//! |---|---|---|
//! | `Player` | passes events to ranks and messages | all below |
//! | `Sequence`, `GraphRank` | a rank: the current operation, its requests, its waits | `Runtime` |
//! | `Runtime` | environment of ranks: clock, protocol, ledger | these three |
//! | `Protocol` | steps of a message: eager, rendezvous, costs | `Matching`, `Port`, `SharedBandwidth`, `Clock` |
//! | `Matching` | matches receives and messages, in the order of sending | nothing |
//! | `Port` | hands messages and wakes to the engine | nothing |
//! | `Ledger` | accounts for the time of ranks, tells observers | nothing |
//! | `Clock` | simulated time and the event queue | nothing |
//!
//! A step of a message never calls a rank: it returns a request to one (`RankRequest`), and the player passes it on.

mod activity;
mod alone;
mod background;
#[cfg(test)]
mod background_tests;
mod clock;
mod drive;
mod folding;
mod graph;
mod graph_collectives;
#[cfg(test)]
mod graph_collectives_tests;
mod keys;
mod ledger;
pub mod loggopsim;
mod matching;
mod names;
#[cfg(test)]
mod network_tests;
mod played;
mod port;
mod protocol;
#[cfg(test)]
mod protocol_tests;
mod rank;
#[cfg(test)]
mod reference_tests;
pub mod rules;
mod runtime;
mod sequence;
mod sharing;
mod slab;
mod strand;
mod stuck;
#[cfg(test)]
mod tabulated_tests;
#[cfg(test)]
mod tests;
mod thread;
mod threads;
#[cfg(test)]
mod threads_tests;

pub use activity::{Activity, ActivityKind, Observers, OnActivity, OnDone, OnMark, OnTransfer, RankTimes, Transfer};
pub use alone::alone;
pub use drive::Player;
pub use folding::exchanges_of;
pub use played::{Play, Played, Stuck};
