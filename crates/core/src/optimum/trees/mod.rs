//! Best possible all-gather, reduce-scatter, broadcast and all-reduce of a fabric, by packing spanning trees.
//!
//! Data flow along trees, many at a time. Compute nodes copy and forward; switches forward and do not copy. With M
//! bytes on N compute nodes, no all-gather takes less than
//!
//! `T = M/N * max over S of |S and compute nodes| / (bandwidth out of S)`,
//!
//! where S is any set of vertices without some compute node. There are trees that reach it:
//!
//! 1. [`bound`] finds the worst cut S by maximum flows, as an exact fraction;
//! 2. switches are removed one by one: pairs of links become one link between the neighbours, such that no cut gets
//!    too small;
//! 3. trees are grown in what is left, again without making any cut too small;
//! 4. each tree is mapped back to links of the fabric: a [`Forest`].
//!
//! Regular fabrics have closed forms ([`groups`], [`translated`]). A reduce-scatter takes the same trees with all links
//! reversed, and an all-reduce is a reduce-scatter and then an all-gather.
//!
//! Source: L. Zhao et al., "ForestColl", arXiv 2402.06787.

mod bound;
mod closed;
mod demand;
mod forest;
mod graph;
mod max_flow;
mod messages;
mod packing;
mod ratio;
mod schedule;
mod shares;
mod splitting;
#[cfg(test)]
mod tests;

pub use bound::{Bound, bound, broadcast_bound, ingress_bound};
pub use closed::{groups, torus_steps, translated};
pub use forest::{Edge, Forest, Tree};
pub use graph::{Error, Graph, Progress};
pub use messages::{Message, messages, usual_chunks};
pub use ratio::Ratio;
pub use schedule::{all_gather, broadcast, with_trees};
pub use shares::free_bandwidth;
