//! Sharing: how fast each flow is, given which flows are under way on which links.
//!
//! A policy is told of flows that come and go and, when asked, works out which rates have changed: only around the
//! change, since one message that ends moves few others. The policies know nothing of networks or time: links are
//! numbers with a capacity, flows are numbers with a set of links.
//!
//! | policy | rates | published as |
//! |---|---|---|
//! | [`EqualShare`] | `min over its links of c/n` | MFS, mode F |
//! | [`Redistribute`] | the same plus rounds of redistribution | MFS, mode N |
//! | [`RedistributeGrowing`] | the same, to flows that can still grow alone | MFS, mode N, read in another way |
//! | [`MaxMin`], [`Groups`] | exact max-min fairness, by flows and by groups of flows | the limit of mode N |

mod equal_share;
mod groups;
mod incidence;
mod max_min;
#[cfg(test)]
pub(crate) mod oracle;
mod pending;
mod redistribute;
mod redistribute_growing;
mod spec;
#[cfg(test)]
mod tests;

pub use equal_share::EqualShare;
pub use groups::Groups;
pub use max_min::MaxMin;
pub use redistribute::{Redistribute, Rounds};
pub use redistribute_growing::RedistributeGrowing;
pub use spec::{Among, EqualShareSpec, MaxMinSpec, RedistributeSpec, SharingSpec, Solver};

/// A rate that has changed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// The flow.
    pub flow: u32,
    /// Its rate before \[B/s\]; 0 for a flow that was added since.
    pub old: f64,
    /// Its rate now \[B/s\].
    pub new: f64,
}

/// A sharing policy at work on one set of links.
///
/// Flow ids are chosen by the caller, dense, and may be used again. Every flow crosses at least one link and none
/// twice.
pub trait Sharing: std::fmt::Debug {
    /// A flow comes.
    fn add(&mut self, flow: u32, links: &[u32]);

    /// A flow goes.
    fn remove(&mut self, flow: u32);

    /// Appends the rates that differ from those of the last call, each flow once.
    fn solve(&mut self, changes: &mut Vec<Change>);

    /// The rate of a flow at the last call of [`Sharing::solve`] \[B/s\].
    fn rate(&self, flow: u32) -> f64;

    /// The link that holds this flow back.
    fn bottleneck(&self, flow: u32) -> Option<u32>;

    /// Whether a link can be left out whose flows all cross another link of no larger capacity.
    fn may_leave_out_dominated_links(&self) -> bool {
        true
    }

    /// Whether flows that all have the same least share c / n along their routes get just that, and nothing else need be
    /// noted of them.
    fn gives_even_flows_even_shares(&self) -> bool {
        true
    }

    /// Rounds of redistribution so far, for the policy that has them.
    fn rounds(&self) -> Option<Rounds> {
        None
    }
}
