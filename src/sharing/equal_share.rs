//! Equal share: each link is divided evenly among its flows.

use super::incidence::Incidence;
use super::{Change, Sharing};

/// Equal share: `rate(f) = min over the links l of f of c(l) / n(l)`, with n(l) flows on a link of capacity c(l).
///
/// What a flow throttled elsewhere leaves unused on a link is lost. Source: MFS, steps 3 and 4 of its cycle ("mode
/// F").
///
/// Rates are worked out again only for flows that a changed share can touch. When the share of a link falls, that
/// is each flow on it that was faster; when it rises, each flow whose rate *was* that share. A rate is always a copy
/// of some share, so comparing them for equality is exact, and the rates do not depend on the order of events.
///
/// Cost of a solve: O(m + t·h) for m flows on the changed links, t of them touched, h links each.
#[derive(Clone, Debug)]
pub struct EqualShare {
    /// The state of a link is its share c / n, infinite for a link without flows; the rate of a flow that came since the
    /// last solve is 0.
    incidence: Incidence<f64>,
    capacities: Vec<f64>,
    /// Links whose number of flows has changed, each once.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// Flows to work out again, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl EqualShare {
    /// No flows on links of these capacities \[B/s\].
    pub fn new(capacities: Vec<f64>) -> Self {
        let links = capacities.len();
        Self {
            incidence: Incidence::new(std::iter::repeat_n(f64::INFINITY, links)),
            capacities,
            changed: Vec::new(),
            is_changed: vec![false; links],
            touched: Vec::new(),
            is_touched: Vec::new(),
        }
    }

    pub(super) fn incidence(&self) -> &Incidence<f64> {
        &self.incidence
    }

    pub(super) fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Links whose number of flows has changed since the last solve.
    pub(super) fn changed_links(&self) -> &[u32] {
        &self.changed
    }

    #[inline(always)]
    fn mark(changed: &mut Vec<u32>, is_changed: &mut [bool], link: u32) {
        if !std::mem::replace(&mut is_changed[link as usize], true) {
            changed.push(link);
        }
    }

    fn touch(touched: &mut Vec<u32>, is_touched: &mut [bool], flow: u32) {
        if !std::mem::replace(&mut is_touched[flow as usize], true) {
            touched.push(flow);
        }
    }
}

impl Sharing for EqualShare {
    fn add(&mut self, flow: u32, links: &[u32]) {
        let Self { incidence, is_changed, changed, .. } = self;
        incidence.add(flow, links, |link, _, _| Self::mark(changed, is_changed, link));
        if self.is_touched.len() < self.incidence.flows() {
            self.is_touched.resize(self.incidence.flows(), false);
        }
        self.incidence.set_rate(flow, 0.0);
        Self::touch(&mut self.touched, &mut self.is_touched, flow);
    }

    fn remove(&mut self, flow: u32) {
        let Self { incidence, is_changed, changed, .. } = self;
        incidence.remove(flow, |link, _, _| Self::mark(changed, is_changed, link));
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        for &link in &self.changed {
            self.is_changed[link as usize] = false;
            let new = match self.incidence.count(link) {
                0 => f64::INFINITY,
                n => self.capacities[link as usize] / f64::from(n),
            };
            let old = std::mem::replace(self.incidence.state_mut(link).0, new);
            let flows = self.incidence.flows_on(link);
            if new < old {
                for &flow in flows {
                    if self.incidence.known_rate(flow) > new {
                        Self::touch(&mut self.touched, &mut self.is_touched, flow);
                    }
                }
            } else if new > old {
                for &flow in flows {
                    if self.incidence.known_rate(flow) == old {
                        Self::touch(&mut self.touched, &mut self.is_touched, flow);
                    }
                }
            }
        }
        self.changed.clear();
        for flow in self.touched.drain(..) {
            self.is_touched[flow as usize] = false;
            let links = self.incidence.links(flow);
            if links.is_empty() {
                continue; // came and went since the last solve
            }
            let new = links.iter().map(|&link| *self.incidence.state(link)).fold(f64::INFINITY, f64::min);
            let old = self.incidence.set_rate(flow, new);
            if new != old {
                changes.push(Change { flow, old, new });
            }
        }
    }

    fn rate(&self, flow: u32) -> f64 {
        self.incidence.rate(flow)
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let rate = self.incidence.rate(flow);
        self.incidence.links(flow).iter().copied().find(|&link| *self.incidence.state(link) == rate)
    }
}
