//! What links can carry of what flows are to have: rates that are told.

use super::queues::take_out;
use crate::sharing::policy::Change;

/// Flows with the rates that a solver has for them, and rates of which no link carries more than it can.
///
/// With w(f) the rate that a flow is to have, W(l) the sum of those over link l, and c(l) its capacity \[B/s\]:
/// ```text
/// x(f) = w(f) min over its links l of min(1, c(l) / W(l))
/// ```
/// So the flows of a link get `c(l) / W(l)` of `w` each at most, and together c(l) at most, however far the solver is
/// from its fixed point, at which all of these factors are 1. No flow has more than its narrowest link carries,
/// whatever its source had before. The answer does not depend on the order of flows.
///
/// What comes free is given back at once; what is too much is taken away when rates are worked out again
/// ([`Feasible::tell`] with `tightens`). Until then buffers hold it, for which messages arrive later: a message that
/// comes a moment before another one has left is no reason to hold both back.
///
/// Cost: the flows of links that carry too much, or did; the links of flows whose w changes.
#[derive(Clone, Debug)]
pub(super) struct Feasible {
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// Links whose sum has changed.
    changed: Vec<u32>,
    /// Flows whose rate is to be worked out.
    due: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Link {
    /// \[B/s\].
    capacity: f64,
    /// W \[B/s\].
    wanted: f64,
    /// `min(1, c / W)`, as flows have it.
    factor: f64,
    flows: Vec<u32>,
    is_changed: bool,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    links: Vec<u32>,
    /// w, and x \[B/s\]; 0 for one that is gone.
    wanted: f64,
    rate: f64,
    is_due: bool,
}

impl Flow {
    /// The rate of this flow, whose number is told, is to be worked out.
    #[inline]
    fn fall_due(&mut self, flow: u32, due: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.is_due, true) {
            due.push(flow);
        }
    }
}

/// A sum within this part of what a link carries is added up anew: rounding would decide.
const CLOSE: f64 = 1e-6;

impl Feasible {
    /// No flows on links of these capacities \[B/s\].
    pub(super) fn new(capacities: &[f64]) -> Self {
        let link = |&capacity| Link { capacity, wanted: 0.0, factor: 1.0, flows: Vec::new(), is_changed: false };
        Self { links: capacities.iter().map(link).collect(), flows: Vec::new(), changed: Vec::new(), due: Vec::new() }
    }

    /// A flow comes, which is to have nothing yet.
    pub(super) fn add(&mut self, flow: u32, links: &[u32]) {
        if self.flows.len() <= flow as usize {
            self.flows.resize_with(flow as usize + 1, Flow::default);
        }
        let state = &mut self.flows[flow as usize];
        state.links.clear();
        state.links.extend_from_slice(links);
        for &link in links {
            self.links[link as usize].flows.push(flow);
        }
    }

    /// A flow goes.
    pub(super) fn remove(&mut self, flow: u32) {
        self.want(flow, 0.0);
        let state = &mut self.flows[flow as usize];
        state.rate = 0.0;
        for &link in &state.links {
            take_out(&mut self.links[link as usize].flows, flow);
        }
        self.flows[flow as usize].links.clear();
    }

    pub(super) fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.links[link as usize].capacity = capacity;
        self.note(link);
        let Self { links, flows, due, .. } = self;
        links[link as usize].flows.iter().for_each(|&flow| flows[flow as usize].fall_due(flow, due));
    }

    /// The links of a flow.
    pub(super) fn links(&self, flow: u32) -> &[u32] {
        &self.flows[flow as usize].links
    }

    /// w of a flow.
    pub(super) fn wanted(&self, flow: u32) -> f64 {
        self.flows[flow as usize].wanted
    }

    /// x of a flow, as it was told.
    pub(super) fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize].rate
    }

    /// From now on a flow is to have this rate, if that is off by more than this part of what it was to have; one that
    /// is gone has none.
    pub(super) fn follow(&mut self, flow: u32, rate: f64, tolerance: f64) {
        let old = self.wanted(flow);
        if rate > 0.0 && (rate - old).abs() > tolerance * old {
            self.want(flow, rate);
        }
    }

    /// From now on a flow is to have this rate.
    fn want(&mut self, flow: u32, rate: f64) {
        let state = &mut self.flows[flow as usize];
        let more = rate - std::mem::replace(&mut state.wanted, rate);
        state.fall_due(flow, &mut self.due);
        for hop in 0..self.flows[flow as usize].links.len() {
            let link = self.flows[flow as usize].links[hop];
            let state = &mut self.links[link as usize];
            state.wanted += more;
            if state.factor < 1.0 || state.wanted > state.capacity * (1.0 - CLOSE) {
                self.note(link);
            }
        }
    }

    fn note(&mut self, link: u32) {
        if !std::mem::replace(&mut self.links[link as usize].is_changed, true) {
            self.changed.push(link);
        }
    }

    /// Appends the rates that have changed; `tightens`: also where a link holds flows back more than before.
    pub(super) fn tell(&mut self, tightens: bool, changes: &mut Vec<Change>) {
        let Self { links, flows, changed, due } = self;
        changed.retain(|&link| {
            let state = &mut links[link as usize];
            state.wanted = state.flows.iter().map(|&flow| flows[flow as usize].wanted).sum();
            let factor = if state.wanted > state.capacity { state.capacity / state.wanted } else { 1.0 };
            if factor < state.factor && !tightens {
                return true;
            }
            state.is_changed = false;
            if factor != std::mem::replace(&mut state.factor, factor) {
                state.flows.iter().for_each(|&flow| flows[flow as usize].fall_due(flow, due));
            }
            false
        });
        for flow in due.drain(..) {
            let state = &mut flows[flow as usize];
            state.is_due = false;
            let of = || state.links.iter().map(|&link| &links[link as usize]);
            let factor = of().map(|link| link.factor).fold(1.0, f64::min);
            let narrowest = of().map(|link| link.capacity).fold(f64::INFINITY, f64::min);
            let (old, new) = (state.rate, (state.wanted * factor).min(narrowest));
            if new > 0.0 && new != old {
                state.rate = new;
                changes.push(Change { flow, old, new });
            }
        }
    }
}
