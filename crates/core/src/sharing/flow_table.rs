//! Flows on links as the policies see them, whether flows take all of their rate on each link or parts of it.
//!
//! A policy is written once over a [`FlowTable`]. [`Incidence`](super::incidence::Incidence) holds flows that take all
//! of their rate on each link: their parts are [`WholePart`], which no list holds and which costs nothing.
//! [`Crossings`](super::crossings::Crossings) holds flows on several paths, with weights and limits.

use std::fmt::Debug;

use super::policy::Terms;

/// Bandwidth that a flow takes on a link at level 1: the part of its rate, times its weight.
pub trait Part: Copy + Debug {
    /// Sum of parts.
    type Sum: Copy + Default + Into<f64>;

    /// Flows of a link, as far as they are stored next to its state.
    type Around<'a>: Copy;

    /// Returns the bandwidth at this level \[B/s\].
    fn times(self, level: f64) -> f64;

    /// Adds the part to a sum.
    #[inline(always)]
    fn add_to(self, sum: &mut Self::Sum) {
        self.add_to_if(sum, true);
    }

    /// Adds the part to a sum if a condition holds, without a branch.
    fn add_to_if(self, sum: &mut Self::Sum, condition: bool);

    /// Returns the sum of the parts of all flows of a link.
    fn total(around: Self::Around<'_>) -> f64;
}

/// Part of a flow that takes all of its rate on each link and has the weight 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholePart;

impl Part for WholePart {
    type Sum = u32;
    /// Number of flows.
    type Around<'a> = u32;

    #[inline(always)]
    fn times(self, level: f64) -> f64 {
        level
    }

    #[inline(always)]
    fn add_to_if(self, sum: &mut u32, condition: bool) {
        *sum += u32::from(condition);
    }

    #[inline(always)]
    fn total(around: u32) -> f64 {
        f64::from(around)
    }
}

/// Flow to be added.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow<'a> {
    pub(super) flow: u32,
    pub(super) links: &'a [u32],
    /// Part of its rate on each link; empty for all of it.
    pub(super) parts: &'a [f64],
    /// Link that represents its own limit, with the part there.
    pub(super) own: Option<(u32, f64)>,
    pub(super) terms: Terms,
}

/// Flows on links, with a state for each link and a level, rate / weight, for each flow.
pub trait FlowTable: Debug {
    /// State of a link that the policy keeps.
    type State;

    /// Part that a flow takes of a link.
    type Part: Part;

    /// True if flows may have parts, weights and limits.
    const TAKES_TERMS: bool;

    /// Creates a table without flows; `state` gives the state of a link by its number.
    fn new(links: usize, state: impl Fn(usize) -> Self::State + Send + Sync) -> Self
    where
        Self::State: Send;

    /// Puts a flow at this level on its links, each at most once; `visit` is called with each link, its state
    /// and the flow's part.
    ///
    /// # Panics
    /// If one of the links does not exist.
    fn add(&mut self, coming: NewFlow<'_>, level: f64, visit: impl FnMut(u32, &mut Self::State, Self::Part));

    /// Adds a flow at level 0, for a policy that looks at the flows of a link when their number changes.
    ///
    /// `visit` is called with each link, its state and its number of flows including this one, and returns a
    /// test. Flows of the link whose level passes the test are appended. For links with many flows, `crowded`
    /// is called instead.
    fn add_picking<T: Fn(f64) -> bool>(
        &mut self,
        coming: NewFlow<'_>,
        picked: &mut Vec<u32>,
        visit: impl FnMut(u32, &mut Self::State, u32) -> T,
        crowded: impl FnMut(u32),
    );

    /// Takes a flow off its links; `visit` is called with each link, its state, the flow's part, and true if
    /// no flow is left there.
    fn remove(&mut self, flow: u32, visit: impl FnMut(u32, &mut Self::State, Self::Part, bool));

    /// Removes a flow and sets its level to 0, for a policy as in [`FlowTable::add_picking`]: `visit` is
    /// called with each link, its state and the number of its flows that are left.
    fn remove_picking<T: Fn(f64) -> bool>(
        &mut self,
        flow: u32,
        picked: &mut Vec<u32>,
        visit: impl FnMut(u32, &mut Self::State, u32) -> T,
        crowded: impl FnMut(u32),
    );

    /// Returns the link that represents a flow's own limit, behind all given links.
    fn own_link(&mut self, flow: u32, state: impl Fn() -> Self::State) -> u32 {
        let _ = state;
        unreachable!("flow {flow} has several paths or terms, which this policy does not take");
    }

    /// True if a link represents a flow's own limit.
    fn is_own(&self, link: u32) -> bool {
        let _ = link;
        false
    }

    /// Returns the links of a flow.
    fn links_of(&self, flow: u32) -> impl Iterator<Item = u32>;

    /// Calls `visit` with each link of a flow that is in a list of this table: its id, its state, the flow's
    /// part and the flows of the link.
    fn visit_links(
        &mut self,
        flow: u32,
        visit: impl FnMut(u32, &mut Self::State, Self::Part, <Self::Part as Part>::Around<'_>),
    );

    /// True if the state of one of the links of a flow, which is in a list of this table, passes the test.
    fn any_link(&self, flow: u32, test: impl FnMut(&Self::State) -> bool) -> bool;

    /// Returns the number of flows on a link.
    fn count(&self, link: u32) -> u32;

    /// Returns a flow on a link and its part, by its place in the list.
    fn flow_at(&self, link: u32, place: u32) -> (u32, Self::Part);

    /// Returns part and level of the flows on a link.
    fn parts(&self, link: u32) -> impl Iterator<Item = (Self::Part, f64)>;

    /// Appends the flows on a link whose level passes the test.
    fn pick(&self, link: u32, picked: &mut Vec<u32>, test: impl Fn(f64) -> bool);

    /// Returns the state of a link.
    fn state(&self, link: u32) -> &Self::State;

    /// Returns the state of a link and its flows.
    fn link_mut(&mut self, link: u32) -> (&mut Self::State, <Self::Part as Part>::Around<'_>);

    /// Returns the states of all links.
    fn states_mut(&mut self) -> impl Iterator<Item = &mut Self::State>;

    /// Returns the level of a flow that has been added at some time, or 0.
    fn level(&self, flow: u32) -> f64;

    /// Returns the level of a flow that is, or has been, in a list of this table.
    fn known_level(&self, flow: u32) -> f64 {
        self.level(flow)
    }

    /// Sets the level of a flow and returns the previous one.
    fn set_level(&mut self, flow: u32, level: f64) -> f64;

    /// Returns weight and limit of a flow.
    fn terms(&self, flow: u32) -> Terms;

    /// Returns the rate of a flow at this level \[B/s\].
    fn rate_at(&self, flow: u32, level: f64) -> f64 {
        self.terms(flow).rate(level)
    }

    /// True if it pays to prefetch links and flows.
    fn is_large(&self) -> bool {
        false
    }

    /// Prefetches data of a flow that will probably be removed after this number of others: the ids of its
    /// links, then the links.
    fn fetch(&self, flow: u32, after: usize) {
        match after {
            0 | 1 => self.fetch_links(flow),
            2.. => self.fetch_words(flow),
        }
    }

    /// Prefetches data of links on which a flow will come after this number of others: the links, then the flows
    /// on them.
    fn fetch_on(&self, links: &[u32], after: usize) {
        match after {
            0 => self.fetch_flows(links),
            1.. => self.fetch_lines(links),
        }
    }

    /// Prefetches the links of a flow.
    fn fetch_links(&self, _flow: u32) {}

    /// Prefetches these links.
    fn fetch_lines(&self, _links: &[u32]) {}

    /// Prefetches the words that hold the links of a flow.
    fn fetch_words(&self, _flow: u32) {}

    /// Prefetches the first flows on these links.
    fn fetch_flows(&self, _links: &[u32]) {}

    /// Prefetches the first flows on the links of a flow.
    fn fetch_beside(&self, _flow: u32) {}

    /// Prefetches the links of the first flows on these links.
    fn fetch_around(&self, _links: &[u32]) {}
}
