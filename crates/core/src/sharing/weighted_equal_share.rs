//! Equal share of flows on several paths, with weights and limits.

use super::crossings::{Crossings, Seat, checked};
use super::policy::{Change, Sharing, Terms};

/// Equal share by parts: every link is divided as if nothing held its flows back elsewhere.
///
/// Flow f takes the part a(f,l) of its rate on link l, has the weight w(f) and may have a limit m(f):
/// ```text
/// share(l) = c(l) / (sum over flows f on l of a(f,l) w(f))
/// r(f) = min of m(f) and of w(f) share(l) over links l of f
/// ```
/// So the flows of a link have rates in proportion to their weights there, and fill it if it is the slowest link of
/// each. One path a flow, weights of 1 and no limits are plain [`EqualShare`](super::EqualShare): c / n.
///
/// Cost of a solve: O(m + t h) for m flows on the changed links, t of them touched, h links each.
#[derive(Clone, Debug)]
pub struct WeightedEqualShare {
    /// The level of a flow that came since the last solve is 0.
    crossings: Crossings<LinkState>,
    /// By flow.
    terms: Vec<Terms>,
    /// Links whose flows have changed, each once.
    changed: Vec<u32>,
    /// Flows that take the least share of their links anew, some of them twice.
    touched: Vec<u32>,
}

/// What is kept of a link.
#[derive(Clone, Debug)]
struct LinkState {
    /// \[B/s\].
    capacity: f64,
    /// Level of its flows; infinite for a link without flows.
    share: f64,
    /// Whether its flows have changed since the last solve.
    is_changed: bool,
}

impl WeightedEqualShare {
    /// No flows on links of these capacities \[B/s\].
    pub fn new(capacities: Vec<f64>) -> Self {
        let state = |capacity| LinkState { capacity, share: f64::INFINITY, is_changed: false };
        Self {
            crossings: Crossings::new(capacities.into_iter().map(state)),
            terms: Vec::new(),
            changed: Vec::new(),
            touched: Vec::new(),
        }
    }

    fn mark(changed: &mut Vec<u32>, link: u32, state: &mut LinkState) {
        if !std::mem::replace(&mut state.is_changed, true) {
            changed.push(link);
        }
    }

    fn put(&mut self, flow: u32, terms: Terms, crossed: impl Iterator<Item = (u32, f64)>) {
        if self.terms.len() <= flow as usize {
            self.terms.resize(flow as usize + 1, Terms::default());
        }
        self.terms[flow as usize] = terms;
        let Self { crossings, changed, touched, .. } = self;
        let crossed = crossed.map(|(link, part)| (link, part * terms.weight));
        crossings.add(flow, 0.0, crossed, |link, state, _| Self::mark(changed, link, state));
        touched.push(flow);
    }
}

impl Sharing for WeightedEqualShare {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.put(flow, Terms::default(), links.iter().map(|&link| (link, 1.0)));
    }

    fn takes_terms(&self) -> bool {
        true
    }

    fn add_on_terms(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        self.put(flow, terms.checked(), checked(links, parts));
    }

    fn remove(&mut self, flow: u32) {
        let Self { crossings, changed, .. } = self;
        crossings.remove(flow, |link, state, _, _| Self::mark(changed, link, state));
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        let (state, ..) = self.crossings.link_mut(link);
        state.capacity = capacity;
        Self::mark(&mut self.changed, link, state);
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        let Self { crossings, terms, changed, touched } = self;
        for link in changed.drain(..) {
            let (state, seats, levels) = crossings.link_mut(link);
            state.is_changed = false;
            let new = state.capacity / total(seats);
            let old = std::mem::replace(&mut state.share, new);
            if new != old {
                let at = |seat: &&Seat| levels[seat.flow as usize];
                touched.extend(seats.iter().filter(|seat| (at(seat) > new) | (at(seat) == old)).map(|seat| seat.flow));
            }
        }
        for flow in touched.drain(..) {
            let hops = crossings.hops(flow);
            let least = hops.iter().map(|hop| crossings.state(hop.link).share).fold(f64::INFINITY, f64::min);
            let old = crossings.level(flow);
            // (Infinite: it came and went since the last solve. Equal: it was touched twice.)
            if least != old && least < f64::INFINITY {
                crossings.set_level(flow, least);
                let [old, new] = [old, least].map(|level| terms[flow as usize].rate(level));
                if old != new {
                    changes.push(Change { flow, old, new });
                }
            }
        }
    }

    fn rate(&self, flow: u32) -> f64 {
        self.terms[flow as usize].rate(self.crossings.level(flow))
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let level = self.crossings.level(flow);
        let Terms { weight, limit } = self.terms[flow as usize];
        let holds = |link: &u32| self.crossings.state(*link).share == level && level * weight <= limit;
        self.crossings.hops(flow).iter().map(|hop| hop.link).find(holds)
    }

    fn gives_even_flows_even_shares(&self) -> bool {
        false
    }
}

/// Sum of the parts of these flows.
fn total(seats: &[Seat]) -> f64 {
    let sum: f64 = seats.iter().map(|seat| seat.part).sum();
    // (0 - 0 is -0, and nothing shares an empty link.)
    if seats.is_empty() { 0.0 } else { sum }
}
