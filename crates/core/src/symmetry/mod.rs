//! Symmetry: ranks that do the same at the same time are played once.
//!
//! ```text
//! RankShape of each rank ──> Exchanges ──> with_routes ──> Classes::coarsest ──> Folded ──> FoldedRoutes
//!   (program up to names)    (channels)    (links)         (colour refinement)   (names)    (parts on links)
//! ```
//! Let a *channel* p of a rank be all its messages to one peer on one communicator, numbered by first use. A
//! partition of ranks and links into classes is *equitable* if
//! ```text
//! ranks i, i' of a class C   have the same program up to the names of peers and communicators
//! channel p of i             leads to channel q of a rank of class D, and so does channel p of i', with the same q
//! their routes               cross links of the same classes, hop by hop
//! links l, l' of a class L   have the same capacity and latency, and carry equally many of the channels (C, p)
//!                            at each hop
//! ```
//! By induction over instants all ranks of a class then have the same state. The rates of an instant are unique and
//! a permutation of messages that keeps all constraints keeps the rates, so messages of one channel class arrive
//! together. One rank of each class is played. Each of the |C| messages of a channel class crosses one link of L at a
//! hop, so its representative takes the part
//! ```text
//! m(C, L) = |C| / |L|        summed over the hops of its route in L
//! ```
//! of its rate on the representative of L: an integer. The bytes on that link are those of the full run.
//!
//! Source: colour refinement, Paige and Tarjan, *Three partition refinement algorithms*, SIAM J. Comput. 16(6), 1987;
//! fractional automorphisms, Grohe, Kersting, Mladenov and Selman, *Dimension reduction via colour refinement*, 2014.

mod check;
mod exchanges;
mod fold;
mod hash;
mod refine;
mod routes;
#[cfg(test)]
mod tests;

pub use exchanges::{Channel, Exchanges, RankShape};
pub use fold::{Folded, fold};
pub use hash::mix;
pub use refine::Classes;
pub use routes::FoldedRoutes;
