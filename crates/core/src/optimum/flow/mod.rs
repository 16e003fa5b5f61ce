//! Least time in which a network can carry a demand, over all routings that may split traffic (the maximum
//! concurrent flow problem), with certificates.
//!
//! The optimum is `L = min over routings of max over links e of f_e / c_e` \[s\], with `f_e` the bytes of link `e` and
//! `c_e` its capacity. [`solve`] brackets it: `at_least <= L <= reached`. A [`Certificate`] proves the lower side, a
//! flow the upper side. [`free_bounds`] gives the lower side alone, without iterations, and [`paths`] turns the flow
//! of one source into weighted paths.
//!
//! Ports of nodes that pass nothing on are not links here. Their bound is exact, and the caller gives it as a floor.
mod bounds;
mod links;
mod load;
mod paths;
mod search;
mod solve;
#[cfg(test)]
mod tests;

pub use bounds::{Certificate, free_bounds};
pub use links::{Demand, Flow, Links};
pub use paths::{Path, paths};
pub use search::distances;
pub use solve::{FlowError, Optimum, Options, solve};
