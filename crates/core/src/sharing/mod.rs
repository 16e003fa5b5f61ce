//! Sharing: the rate of each flow, given the flows under way on each link.
//!
//! A policy learns which flows come and go. When asked, it computes the rates that have changed, only around
//! the change, since one message that ends affects few others. The policies know neither networks nor time:
//! links are numbers with a capacity, flows are numbers with a set of links.
//!
//! | policy | rates | published as |
//! |---|---|---|
//! | [`EqualShare`] | `min over its links of c/n` | MFS, mode F |
//! | [`Redistribute`] | the same plus rounds of redistribution | MFS, mode N |
//! | [`WeightedMaxMin`] | max-min fairness of flows on several paths, with weights and limits | |
//! | [`WeightedEqualShare`] | equal share of the same flows | |
//! | [`Blocking`], [`VirtualOutput`] | rates that input queues let through | node models with spillback |
//! | [`MaxMin`], [`Groups`] | exact max-min fairness, by flows and by groups of flows | the limit of mode N |

mod alignment;
mod blocking;
mod crossings;
mod equal_share;
mod flow_table;
mod groups;
mod incidence;
mod max_min;
#[cfg(test)]
pub(crate) mod oracle;
mod pending;
mod policy;
mod redistribute;
mod spec;
#[cfg(test)]
mod tests;
mod weighted_max_min;
#[cfg(test)]
pub(crate) mod weighted_oracle;
#[cfg(test)]
mod weighted_tests;

pub use blocking::{Blocking, ChannelRule, Channels, RenewedSharing, VirtualOutput};
pub use equal_share::{EqualShare, EvenDivision, WeightedEqualShare};
pub use groups::Groups;
pub use max_min::{MaxMin, WaterFilling};
pub use policy::{Change, Rounds, Sharing, Terms};
pub use redistribute::Redistribute;
pub use spec::{BlockingChannels, BlockingSpec, EqualShareSpec, MaxMinSpec, RedistributeSpec, SharingSpec, Solver};
pub use weighted_max_min::WeightedMaxMin;
