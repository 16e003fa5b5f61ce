//! Equal share: each link is divided evenly among its flows.

use super::alignment::{Aligned, HalfLine};
use super::crossings::Crossings;
use super::flow_table::{FlowTable, NewFlow, Part};
use super::incidence::{INLINE, Incidence};
use super::policy::{Change, Sharing, Terms};
use crate::ids::{LinkId, UniformOrEach};

/// Equal share of flows on one path each, without weights or limits; see [`EvenDivision`].
pub type EqualShare = EvenDivision<Incidence<LinkShare>>;

/// Equal share of flows on several paths, with weights and limits; see [`EvenDivision`].
pub type WeightedEqualShare = EvenDivision<Crossings<LinkShare>>;

/// Equal share: `rate(f) = min over the links l of f of c(l) / n(l)`, with n(l) flows on a link of capacity
/// c(l).
///
/// Bandwidth that a flow throttled elsewhere leaves unused on a link is lost. Source: MFS, steps 3 and 4 of
/// its cycle ("mode F").
///
/// Rates are computed again only for flows that a changed share can affect: those on the link that were
/// faster than its new share, and those whose rate *was* its old share. They take the least share of their
/// route anew. A rate is always a copy of some share, so comparing them for equality is exact, and the rates
/// do not depend on the order of events.
///
/// A link's share changes with each flow that comes or goes. The affected flows are recorded at once, while
/// the link is at hand; rates stay the same until the next solve. That is exact, however often a link changes
/// in between. Let r be a flow's rate. If a link of it ends with a share below r, then the change that first
/// took it below r recorded the flow. If all of its links that were at r end above it, then the first change
/// of such a link recorded it. (Up: r *was* the link's share. Down: r was above the new share.) Links
/// with more flows than fit in a cache line are recorded themselves, and their flows are looked at once a
/// solve: thousands may come to such a link at once.
///
/// # Parts and weights
///
/// A flow may take the part a(f,l) of its rate on link l, have the weight w(f) and a limit m(f):
/// ```text
/// share(l) = c(l) / (sum over flows f on l of a(f,l) w(f))
/// r(f) = min of m(f) and of w(f) share(l) over links l of f
/// ```
/// So the flows of a link have rates in proportion to their weights there, and fill it if it is the slowest
/// link of each. Then all links are recorded and looked at once a solve, and all statements about rates hold
/// for levels, `rate / weight`.
///
/// Cost: O(h·m) for a flow that comes or goes, with h links of m flows each, and O(t·h) for a solve with t
/// flows recorded.
#[derive(Clone, Debug)]
pub struct EvenDivision<T> {
    /// Flows on links. The level of a flow added since the last solve is 0.
    table: T,
    /// Capacity by link \[B/s\].
    capacities: UniformOrEach<LinkId, f64>,
    /// Links whose share has to be computed again, each once: adding up its flows may take long.
    changed: Vec<u32>,
    /// By link: true if it is in `changed`.
    is_changed: Vec<bool>,
    /// Flows that take the least share of their route again; some occur several times.
    touched: Vec<u32>,
}

/// State of a link: the level of its flows, c / n; infinite for a link without flows.
#[derive(Clone, Debug)]
pub struct LinkShare(f64);

impl Aligned for LinkShare {
    type Alignment = HalfLine;
}

impl EqualShare {
    /// Returns the flows on a link.
    pub(super) fn flows_on(&self, link: u32) -> &[u32] {
        self.table.flows_on(link)
    }

    /// Returns the places of a link's list, in use or not, and the number of its flows, unless there are many.
    #[inline(always)]
    pub(super) fn places(&self, link: u32) -> Option<(&[u32; INLINE], usize)> {
        self.table.places(link)
    }

    /// Returns the links of a flow.
    pub(super) fn links(&self, flow: u32) -> &[u32] {
        self.table.links(flow)
    }

    /// Returns the number of flow ids that have ever been in use; all ids are below it.
    pub(super) fn flows(&self) -> usize {
        self.table.flows()
    }
}

impl<T: FlowTable<State = LinkShare>> EvenDivision<T> {
    /// Creates links of these capacities \[B/s\] without flows.
    pub fn new(capacities: Vec<f64>) -> Self {
        Self {
            table: T::new(capacities.len(), |_| LinkShare(f64::INFINITY)),
            capacities: UniformOrEach::new(capacities.len(), |link: LinkId| capacities[link.0 as usize]),
            changed: Vec::new(),
            is_changed: vec![false; capacities.len()],
            touched: Vec::new(),
        }
    }

    #[inline(always)]
    fn mark(link: u32, changed: &mut Vec<u32>, is_changed: &mut [bool]) {
        if !std::mem::replace(&mut is_changed[link as usize], true) {
            changed.push(link);
        }
    }

    /// Adds a flow.
    #[inline(always)]
    fn put(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        let Self { table, capacities, changed, is_changed, touched } = self;
        let fewer_for_each = |link, LinkShare(share): &mut LinkShare, count| {
            *share = capacities.get(LinkId(link)) / f64::from(count);
            let new = *share;
            move |rate: f64| rate > new
        };
        let coming = NewFlow { flow, links, parts, own: None, terms: terms.checked() };
        table.add_picking(coming, touched, fewer_for_each, |link| Self::mark(link, changed, is_changed));
        touched.push(flow);
        if table.is_large() {
            table.fetch_around(links);
        }
    }

    /// Computes the share of a link, and records the flows that this affects.
    #[inline]
    fn divide(table: &mut T, link: u32, capacity: f64, touched: &mut Vec<u32>) {
        let (LinkShare(share), around) = table.link_mut(link);
        let new = capacity / T::Part::total(around); // infinite without flows
        let old = std::mem::replace(share, new);
        if new != old {
            table.pick(link, touched, |level| (level > new) | (level == old));
        }
    }
}

impl<T: FlowTable<State = LinkShare>> Sharing for EvenDivision<T> {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.put(flow, links, &[], Terms::default());
    }

    fn takes_terms(&self) -> bool {
        T::TAKES_TERMS
    }

    fn add_on_terms(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        assert!(T::TAKES_TERMS, "whole flows have neither parts nor weights");
        self.put(flow, links, parts, terms);
    }

    fn remove(&mut self, flow: u32) {
        let Self { table, capacities, changed, is_changed, touched } = self;
        if table.is_large() {
            table.fetch_beside(flow);
        }
        let more_for_each = |link, LinkShare(share): &mut LinkShare, count| {
            // (Infinite without flows.)
            let old = std::mem::replace(share, capacities.get(LinkId(link)) / f64::from(count)).to_bits();
            // (Both are above 0, so they are equal if their bits are, which is quicker to compare.)
            move |rate: f64| rate.to_bits() == old
        };
        table.remove_picking(flow, touched, more_for_each, |link| Self::mark(link, changed, is_changed));
    }

    fn expect(&self, flow: u32, after: usize) {
        self.table.fetch(flow, after);
    }

    fn expect_on(&self, links: &[u32], after: usize) {
        self.table.fetch_on(links, after);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.capacities.set(LinkId(link), capacity);
        Self::divide(&mut self.table, link, capacity, &mut self.touched);
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        let Self { table, capacities, changed, is_changed, touched } = self;
        for link in changed.drain(..) {
            is_changed[link as usize] = false;
            Self::divide(table, link, capacities.get(LinkId(link)), touched);
        }
        if table.is_large() {
            touched.iter().for_each(|&flow| table.fetch_links(flow));
        }
        for &flow in &*touched {
            let mut least = f64::INFINITY;
            table.visit_links(flow, |_, &mut LinkShare(share), _, _| least = if least < share { least } else { share });
            let old = table.known_level(flow);
            // (Infinite: the flow came and went since the last solve. Equal: it was recorded twice.)
            if least != old && least < f64::INFINITY {
                table.set_level(flow, least);
                let [old, new] = [old, least].map(|level| table.rate_at(flow, level));
                // (Equal: it is at its limit.)
                if new != old {
                    changes.push(Change { flow, old, new });
                }
            }
        }
        touched.clear();
    }

    fn rate(&self, flow: u32) -> f64 {
        self.table.rate_at(flow, self.table.level(flow))
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let (level, Terms { weight, limit }) = (self.table.level(flow), self.table.terms(flow));
        self.table.links_of(flow).find(|&link| self.table.state(link).0 == level && level * weight <= limit)
    }

    #[inline]
    fn holds_back(&self, flow: u32, link: u32) -> bool {
        !T::TAKES_TERMS && self.table.state(link).0 == self.table.level(flow)
    }

    fn gives_even_flows_even_shares(&self) -> bool {
        !T::TAKES_TERMS
    }
}
