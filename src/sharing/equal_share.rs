//! Equal share: each link is divided evenly among its flows.

use super::incidence::Incidence;
use super::{Change, Sharing};

/// Equal share: `rate(f) = min over the links l of f of c(l) / n(l)`, with n(l) flows on a link of capacity c(l).
///
/// What a flow throttled elsewhere leaves unused on a link is lost. Source: MFS, steps 3 and 4 of its cycle ("mode
/// F").
///
/// Rates are worked out again only for flows that a changed share can touch. When the share of a link falls, each flow
/// on it that was faster gets the new share; when it rises, each flow whose rate *was* that share takes the least share
/// of its route anew. A rate is always a copy of some share, so comparing them for equality is exact, and the rates do
/// not depend on the order of events.
///
/// Cost of a solve: O(m + t·h) for m flows on the changed links, t of them held back by a share that rises, h links each.
#[derive(Clone, Debug)]
pub struct EqualShare {
    /// The rate of a flow that came since the last solve is 0.
    incidence: Incidence<LinkState>,
    /// Links whose number of flows has changed, each once.
    changed: Vec<u32>,
    /// Flows whose rate may have changed, each once, with the old one.
    moved: Vec<(u32, f64)>,
    /// By flow: whether it is among those.
    is_moved: Vec<bool>,
    /// Flows that take the least share of their route anew.
    raised: Vec<u32>,
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
        let state = |capacity| LinkState { share: f64::INFINITY, capacity, is_changed: false };
        Self {
            incidence: Incidence::new(capacities.into_iter().map(state)),
            changed: Vec::new(),
            moved: Vec::new(),
            is_moved: Vec::new(),
            raised: Vec::new(),
        }
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

    #[inline(always)]
    fn note(moved: &mut Vec<(u32, f64)>, is_moved: &mut [bool], flow: u32, old: f64) {
        if !std::mem::replace(&mut is_moved[flow as usize], true) {
            moved.push((flow, old));
        }
    }
}

impl Sharing for EqualShare {
    fn add(&mut self, flow: u32, links: &[u32]) {
        let Self { incidence, changed, moved, is_moved, raised } = self;
        incidence.add(flow, links, |link, state, _| Self::mark(changed, link, state));
        if is_moved.len() < incidence.flows() {
            is_moved.resize(incidence.flows(), false);
        }
        incidence.set_rate(flow, 0.0);
        Self::note(moved, is_moved, flow, 0.0);
        raised.push(flow);
    }

    fn remove(&mut self, flow: u32) {
        let Self { incidence, changed, .. } = self;
        incidence.remove(flow, |link, state, _| Self::mark(changed, link, state));
        incidence.set_rate(flow, 0.0);
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        let Self { incidence, changed, moved, is_moved, raised } = self;
        for link in changed.drain(..) {
            let (state, count) = incidence.state_mut(link);
            state.is_changed = false;
            let new = if count == 0 { f64::INFINITY } else { state.capacity / f64::from(count) };
            let old = std::mem::replace(&mut state.share, new);
            if new == old {
                continue;
            }
            let list = incidence.list(link);
            for index in 0..list.count {
                let flow = incidence.listed(&list, index);
                let rate = incidence.known_rate(flow);
                if rate > new {
                    Self::note(moved, is_moved, flow, rate);
                    incidence.set_rate(flow, new);
                } else if rate == old {
                    raised.push(flow);
                    Self::note(moved, is_moved, flow, rate);
                }
            }
        }
        for flow in raised.drain(..) {
            let mut least = f64::INFINITY;
            incidence.visit_links(flow, |_, state, _| least = if state.share < least { state.share } else { least });
            incidence.set_rate(flow, least);
        }
        for (flow, old) in moved.drain(..) {
            is_moved[flow as usize] = false;
            let new = incidence.rate(flow);
            // (Infinite: it came and went since the last solve.)
            if new != old && new < f64::INFINITY {
                changes.push(Change { flow, old, new });
            }
        }
    }

    fn rate(&self, flow: u32) -> f64 {
        self.incidence.rate(flow)
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let rate = self.incidence.rate(flow);
        self.incidence.links(flow).iter().copied().find(|&link| self.incidence.state(link).share == rate)
    }
}
