//! Studies: many runs side by side, as points with one row each.
//!
//! A [`sweep`] holds its points in memory: comparisons, seeds, what-if, farms with many points, accuracy. A
//! [`plan`] numbers its points and keeps their rows in a folder. One loop (`runs`) plays all of them. Its
//! results do not depend on the number of threads. All studies vary one kind of value ([`Amount`]).

mod amount;
pub mod measured;
mod mistakes;
pub mod nccl;
pub mod plan;
mod runs;
pub mod schedule;
pub mod sweep;
pub mod training;

pub use amount::{Amount, Unit};
