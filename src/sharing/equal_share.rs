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
/// Cost of a solve: O(m + t·h) for m flows on the changed links, t of them touched, h links each.
#[derive(Clone, Debug)]
pub struct EqualShare {
    /// The rate of a flow that came since the last solve is 0.
    incidence: Incidence<LinkState>,
    /// Links whose number of flows has changed, each once.
    changed: Vec<u32>,
    /// Flows that take the least share of their route anew, some of them twice.
    touched: Vec<u32>,
}

/// What is kept of a link.
#[derive(Clone, Debug)]
struct LinkState {
    /// c / n \[B/s\]; infinite for a link without flows.
    share: f64,
    /// \[B/s\].
    capacity: f64,
    /// Whether its number of flows has changed since the last solve.
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

    /// Links whose number of flows has changed since the last solve.
    pub(super) fn changed_links(&self) -> &[u32] {
        &self.changed
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
        incidence.add(flow, links, |link, state, _| Self::mark(changed, link, state));
        incidence.set_rate(flow, 0.0);
        touched.push(flow);
        if incidence.is_large() {
            incidence.fetch_flows(links);
        }
    }

    fn remove(&mut self, flow: u32) {
        let Self { incidence, changed, .. } = self;
        if incidence.is_large() {
            incidence.fetch_flows(incidence.links(flow));
        }
        incidence.remove(flow, |link, state, _| Self::mark(changed, link, state));
        incidence.set_rate(flow, 0.0);
    }

    fn expect(&self, next: u32, later: u32) {
        self.incidence.fetch_links(next);
        self.incidence.fetch_words(later);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        let (state, _) = self.incidence.state_mut(link);
        state.capacity = capacity;
        Self::mark(&mut self.changed, link, state);
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
            incidence.visit_links(flow, |_, state, _| least = if state.share < least { state.share } else { least });
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
}
