//! Equal share: each link is divided evenly among its flows.

use super::incidence::Incidence;
use super::policy::{Change, Sharing};

/// Equal share: `rate(f) = min over the links l of f of c(l) / n(l)`, with n(l) flows on a link of capacity c(l).
///
/// What a flow throttled elsewhere leaves unused on a link is lost. Source: MFS, steps 3 and 4 of its cycle ("mode
/// F").
///
/// Rates are worked out again only for flows that a changed share can touch: those on the link that were faster than
/// its new share, and those whose rate *was* its old share. They take the least share of their route anew. A rate is
/// always a copy of some share, so comparing them for equality is exact, and the rates do not depend on the order of
/// events.
///
/// A link's share changes with each flow that comes or goes, and the flows that this can touch are noted at once, while
/// the link is at hand; rates stay what they are until the next solve. That is exact, however often a link changes in
/// between. Let r be a flow's rate. If a link of it ends with a share below r, then the change that first took it below r
/// noted the flow. If all of its links that were at r end above it, then the first change of such a link noted it,
/// whether up (it *was* the link's share) or down (it is faster than the new one). Links with more flows than
/// fit in a cache line are noted instead, and their flows looked at once a solve: thousands may come to one at once.
///
/// Cost: O(h·m) for a flow that comes or goes, with h links of m flows each, and O(t·h) for a solve with t flows noted.
#[derive(Clone, Debug)]
pub struct EqualShare {
    /// The rate of a flow that came since the last solve is 0.
    incidence: Incidence<LinkState>,
    /// Links whose share is to be worked out anew, each once.
    changed: Vec<u32>,
    /// Flows that take the least share of their route anew, some of them several times.
    touched: Vec<u32>,
}

/// What is kept of a link.
#[derive(Clone, Debug)]
struct LinkState {
    /// c / n \[B/s\]; infinite for a link without flows.
    share: f64,
    /// \[B/s\].
    capacity: f64,
    /// Whether its share is to be worked out anew.
    is_changed: bool,
}

impl EqualShare {
    /// No flows on links of these capacities \[B/s\].
    pub fn new(capacities: Vec<f64>) -> Self {
        let state = |link| LinkState { share: f64::INFINITY, capacity: capacities[link], is_changed: false };
        Self { incidence: Incidence::new(capacities.len(), state), changed: Vec::new(), touched: Vec::new() }
    }

    /// The flows on a link.
    pub(super) fn flows_on(&self, link: u32) -> &[u32] {
        self.incidence.flows_on(link)
    }

    /// The links of a flow.
    pub(super) fn links(&self, flow: u32) -> &[u32] {
        self.incidence.links(flow)
    }

    /// Number of flow places there have ever been: flow ids are below it.
    pub(super) fn flows(&self) -> usize {
        self.incidence.flows()
    }

    #[inline(always)]
    fn mark(changed: &mut Vec<u32>, link: u32, state: &mut LinkState) {
        if !std::mem::replace(&mut state.is_changed, true) {
            changed.push(link);
        }
    }
}

impl Sharing for EqualShare {
    fn add(&mut self, flow: u32, links: &[u32]) {
        let Self { incidence, changed, touched } = self;
        let fewer_for_each = |state: &mut LinkState, count: u32| {
            state.share = state.capacity / f64::from(count);
            let new = state.share;
            move |rate: f64| rate > new
        };
        incidence.add_picking(flow, links, touched, fewer_for_each, |link, state| Self::mark(changed, link, state));
        touched.push(flow);
        if incidence.is_large() {
            incidence.fetch_flows(links);
        }
    }

    fn remove(&mut self, flow: u32) {
        let Self { incidence, changed, touched } = self;
        if incidence.is_large() {
            incidence.fetch_flows(incidence.links(flow));
        }
        let more_for_each = |state: &mut LinkState, count: u32| {
            // (Infinite without flows.)
            let old = std::mem::replace(&mut state.share, state.capacity / f64::from(count)).to_bits();
            // (Both are above 0: equal if their bits are, which is quicker to see.)
            move |rate: f64| rate.to_bits() == old
        };
        incidence.remove_picking(flow, touched, more_for_each, |link, state| Self::mark(changed, link, state));
    }

    fn expect(&self, next: u32, later: u32) {
        self.incidence.fetch_links(next);
        self.incidence.fetch_words(later);
    }

    fn expect_on(&self, links: &[u32]) {
        self.incidence.fetch_lines(links);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        let Self { incidence, touched, .. } = self;
        let (state, count) = incidence.state_mut(link);
        state.capacity = capacity;
        let new = capacity / f64::from(count);
        let old = std::mem::replace(&mut state.share, new);
        incidence.pick(link, touched, |rate| (rate > new) | (rate == old));
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        let Self { incidence, changed, touched } = self;
        for &link in &*changed {
            let (state, count) = incidence.state_mut(link);
            state.is_changed = false;
            let new = state.capacity / f64::from(count); // infinite without flows
            let old = std::mem::replace(&mut state.share, new);
            if new != old {
                incidence.pick(link, touched, |rate| (rate > new) | (rate == old));
            }
        }
        changed.clear();
        if incidence.is_large() {
            touched.iter().for_each(|&flow| incidence.fetch_links(flow));
        }
        for &flow in &*touched {
            let mut least = f64::INFINITY;
            incidence.visit_links(flow, |_, state, _| least = if least < state.share { least } else { state.share });
            let old = incidence.known_rate(flow);
            // (Infinite: it came and went since the last solve. Equal: it was touched twice.)
            if least != old && least < f64::INFINITY {
                incidence.set_rate(flow, least);
                changes.push(Change { flow, old, new: least });
            }
        }
        touched.clear();
    }

    fn rate(&self, flow: u32) -> f64 {
        self.incidence.rate(flow)
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let rate = self.incidence.rate(flow);
        self.incidence.links(flow).iter().copied().find(|&link| self.incidence.state(link).share == rate)
    }

    #[inline]
    fn holds_back(&self, flow: u32, link: u32) -> bool {
        self.incidence.state(link).share == self.incidence.rate(flow)
    }
}
