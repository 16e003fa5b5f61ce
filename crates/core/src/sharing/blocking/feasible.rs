//! Feasible rates: the solver's rates, reduced so that no link carries more than its capacity.

use super::queues::take_out;
use crate::sharing::policy::Change;

/// Flows with the rates that a solver wants for them, and with reported rates that fit on every link.
///
/// With w(f) the wanted rate of a flow, W(l) the sum of those over link l, and c(l) its capacity \[B/s\], the
/// reported rate is:
/// ```text
/// x(f) = w(f) min over its links l of min(1, c(l) / W(l))
/// ```
/// So the flows of a link get at most `c(l) / W(l)` of `w` each, and together at most c(l), however far the
/// solver is from its fixed point. At the fixed point all of these factors are 1. No flow is faster than the
/// capacity of its narrowest link, whatever its source had before. The result does not depend on the order of
/// flows.
///
/// Rates rise at once when a link becomes free. They fall only when rates are computed again
/// ([`Feasible::report`] with `tightens`). Until then buffers hold the excess, for which messages arrive later:
/// a message that comes a moment before another one leaves is no reason to slow both down.
///
/// Cost: the flows of links that carry too much, or did; the links of flows whose w changes.
#[derive(Clone, Debug)]
pub(super) struct Feasible {
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// Links whose sum has changed.
    changed: Vec<u32>,
    /// Flows whose rate has to be computed again.
    due: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Link {
    /// Capacity \[B/s\].
    capacity: f64,
    /// W, the sum of the wanted rates \[B/s\].
    wanted: f64,
    /// `min(1, c / W)` of the reported rates.
    factor: f64,
    flows: Vec<u32>,
    is_changed: bool,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    links: Vec<u32>,
    /// w and x, the wanted and the reported rate \[B/s\]; 0 for a flow that is gone.
    wanted: f64,
    rate: f64,
    is_due: bool,
}

impl Flow {
    /// Marks this flow, whose number is `flow`, for a new rate.
    #[inline]
    fn fall_due(&mut self, flow: u32, due: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.is_due, true) {
            due.push(flow);
        }
    }
}

/// Distance of a sum from its link's capacity, as a part of it, below which it is added up again: rounding
/// would decide.
const CLOSE: f64 = 1e-6;

impl Feasible {
    /// Creates links of these capacities \[B/s\] without flows.
    pub(super) fn new(capacities: &[f64]) -> Self {
        let link = |&capacity| Link { capacity, wanted: 0.0, factor: 1.0, flows: Vec::new(), is_changed: false };
        Self { links: capacities.iter().map(link).collect(), flows: Vec::new(), changed: Vec::new(), due: Vec::new() }
    }

    /// Adds a flow with a wanted rate of 0.
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

    /// Removes a flow.
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

    /// Returns the links of a flow.
    pub(super) fn links(&self, flow: u32) -> &[u32] {
        &self.flows[flow as usize].links
    }

    /// Returns w, the wanted rate of a flow.
    pub(super) fn wanted(&self, flow: u32) -> f64 {
        self.flows[flow as usize].wanted
    }

    /// Returns x, the reported rate of a flow.
    pub(super) fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize].rate
    }

    /// Sets the wanted rate of a flow to `rate` if it is off by more than `tolerance` of itself. A flow that
    /// is gone has no rate.
    pub(super) fn want_if_changed(&mut self, flow: u32, rate: f64, tolerance: f64) {
        let old = self.wanted(flow);
        if rate > 0.0 && (rate - old).abs() > tolerance * old {
            self.want(flow, rate);
        }
    }

    /// Sets the wanted rate of a flow.
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

    /// Appends the rates that have changed. Only with `tightens` does a link hold flows back more than
    /// before.
    pub(super) fn report(&mut self, tightens: bool, changes: &mut Vec<Change>) {
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
