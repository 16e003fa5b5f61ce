//! Collectives: the sends, receives and reductions of each rank of a communicator in a broadcast, an
//! allreduce ...
//!
//! A [`Call`] names the operation, its ranks and the amount of data. An [`Algorithm`] performs it; the user
//! names one, or the [rules] of an MPI library choose one. Together they make an [`Expansion`], which gives
//! each rank its [`Step`]s one after the other: send, receive, both at once, start and wait, reduce. Steps
//! are computed on demand, from rank and position alone. So the memory of an expansion does not grow with the
//! ranks, and a barrier of 65,536 ranks is sixteen steps a rank.
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
//! The same expansion is the source of a program's collective, step by step, and of a
//! [pattern](super::pattern), message by message: its [`Schedule`] gives the n-th message of a rank and its
//! round by a formula.
//!
//! Inside, a family of algorithms is a `Phase`: a function from rank and index to an action. Actions name
//! messages by the data they hold (`Data`), not by their size; sizes follow from that. So the symbolic
//! execution of the tests (which rank holds which bytes, which contributions were reduced, in what order)
//! checks the messages and the sizes with them. Tests also compare the rounds (`Rounds`) with the order of
//! actions.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
//! IJHPCA 19(1), 2005; Chan, Heimlich, Purkayastha, van de Geijn, "Collective communication: theory,
//! practice, and experience", Concurrency and Computation 19(13), 2007; Bruck et al., "Efficient algorithms
//! for all-to-all communications in multiport message-passing systems", IEEE TPDS 8(11), 1997.

mod algorithm;
mod allgather;
mod alltoall;
mod barrier;
mod butterfly;
mod call;
mod combine;
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
pub use combine::{CombineRate, CombineRates, WorkRates};
pub use expansion::{Cursor, Expansion, Step};
pub use layout::Blocks;
pub(crate) use options::unknown_algorithm;
pub use options::{CollectivesSpec, Like};
pub use schedule::{Ring, Schedule, Scheduled};

#[cfg(test)]
pub(super) use data::ReceivedUse;
