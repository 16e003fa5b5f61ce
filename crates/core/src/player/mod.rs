//! The player: runs a program's operations on a node model, over a simulated fabric or the model's own network.
//!
//! ```text
//!              Program (what ranks do)     node model (what it costs)
//!                        \                  /
//!                         Player --- messages ---> engine and transport   (on a fabric)
//!                           |   \--- messages ---> latency and gaps       (without one)
//!                       RankTimes: where each rank's time went
//! ```
//! [`Player`] plays every model whose costs follow from the length of a message ([`Costs`](crate::node::Costs)): ideal,
//! LogGP, LogGPS. It is a [`Workload`](crate::workload::Workload) for the engine, and [`Player::run`] plays it without
//! a fabric. [`loggopsim`] plays LogGOPSim's model, which is a network of its own, and [`rules`] those of MPIETE;
//! [`alone`] takes the one that a node model asks for.
//!
//! Calls of a *sequence* cost what the tables of LogGPS say: what a non-blocking call has started goes on in the
//! background, at no cost to the rank's computation, until a wait. Operations of a *graph* take the processor they are
//! on, one after the other in the order in which they become ready, and so do the overheads of messages: a long
//! calculation holds up the messages that arrive meanwhile. A chain of blocking operations takes the same time either
//! way.
//!
//! Threads of a rank are as many sequences with requests in common. Each pays for its own calls, as on a core of its
//! own.
//!
//! Inside, each does one thing and knows only what stands below it:
//!
//! | type | what it is | knows |
//! |---|---|---|
//! | `Player` | hands what happens to ranks and messages | all below |
//! | `Sequence`, `GraphRank` | a rank: the operation at hand, its requests, its waits | `Runtime` |
//! | `Runtime` | what ranks run on: clock, protocol, ledger | these three |
//! | `Protocol` | the way of a message: eager, rendezvous, what costs at which end | `Matching`, `Port`, `Shared`, `Clock` |
//! | `Matching` | which receive takes which message, in the order of sending | nothing |
//! | `Port` | what is handed to the engine, and asked of it | nothing |
//! | `Ledger` | where the time of ranks went, and who is told | nothing |
//! | `Clock` | simulated time, and what happens when | nothing |
//!
//! A step of a message never calls a rank: it returns what it asks of one (`Asks`), and the player passes it on.

mod activity;
mod alone;
mod background;
#[cfg(test)]
mod background_tests;
mod clock;
mod drive;
mod graph;
mod keys;
mod ledger;
pub mod loggopsim;
mod matching;
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
mod tests;
mod thread;
mod threads;
#[cfg(test)]
mod threads_tests;

pub use activity::{Activity, ActivityKind, Observers, OnActivity, OnMark, OnTransfer, RankTimes, Transfer};
pub use alone::alone;
pub use drive::Player;
pub use played::{Play, Played, Stuck};
