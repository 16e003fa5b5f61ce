//! Collectives: what each rank of a communicator sends, receives and reduces in a broadcast, an allreduce ...
//!
//! A [`Call`] says which operation is meant, on how many ranks and how much data; an [`Algorithm`] says how it is done
//! (named by the user, or chosen by the [rules] of an MPI library). The two make an [`Expansion`], which gives
//! each rank its [`Step`]s one after the other: send, receive, both at once, start and wait, reduce so many bytes.
//! Steps are worked out when they are asked for, from rank and position alone: an expansion takes no memory that grows
//! with the ranks, and a barrier of 65,536 ranks is sixteen steps a rank.
//!
//! ```
//! # use hayase_core as hayase;
//! use hayase::collective::{Algorithm, Call, Operation, Cursor, Expansion, Step};
//!
//! let call = Call::equal(Operation::Allreduce, 4, 800).of_elements(8);
//! let ring = Expansion::new(&call, Algorithm::Ring);
//! let mut cursor = Cursor::default();
//! let first = ring.next(1, &mut cursor);
//! assert_eq!(first, Some(Step::Exchange { to: 2, send_bytes: 200, from: 0, receive_bytes: 200 }));
//! assert_eq!(ring.next(1, &mut cursor), Some(Step::Reduce { bytes: 200 }));
//! ```
//!
//! The same expansion is the source of a program's collective, step by step, and of a [pattern](super::pattern),
//! message by message: its [`Schedule`] says what the n-th message of a rank is and in which round, by a formula.
//!
//! Inside, a family of algorithms is a `Phase`: a function from rank and index to an action, in which
//! messages are named by the data they hold (`Data`), not by their size. Sizes follow from that, so
//! that the symbolic execution of the tests (who holds which bytes, which contributions were reduced, in what order)
//! checks what is sent, and the sizes with it. The rounds (`Rounds`) are held against the order of actions.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
//! 2005; Chan, Heimlich, Purkayastha, van de Geijn, "Collective communication: theory, practice, and experience",
//! Concurrency and Computation 19(13), 2007; Bruck et al., "Efficient algorithms for all-to-all communications in
//! multiport message-passing systems", IEEE TPDS 8(11), 1997.

mod algorithm;
mod allgather;
mod alltoall;
mod barrier;
mod butterfly;
mod call;
mod compose;
mod data;
mod expansion;
mod fold;
mod gather;
mod layout;
mod options;
mod phase;
mod reduce_scatter;
mod rounds;
pub mod rules;
mod scan;
mod schedule;
mod tree;
mod tree_phase;

#[cfg(test)]
pub(crate) mod tests;

pub use algorithm::{Algorithm, Plan};
pub use call::{Call, Operation, Sizes};
pub use expansion::{Cursor, Expansion, Step};
pub use layout::Blocks;
pub(crate) use options::unknown_algorithm;
pub use options::{CollectivesSpec, Like};
pub use schedule::{Ring, Schedule, Scheduled};

#[cfg(test)]
pub(super) use data::Then;
