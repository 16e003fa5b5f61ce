//! Interference: time that the messages of one party lose to those of other parties, kept while rates change.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::ids::{FlowId, Id, RankId};
use crate::sharing::{Change, Terms};
use crate::transport::Parties;
use crate::units::Time;

/// Observes flows while their rates change. `()` observes nothing and costs nothing.
pub trait Meter: std::fmt::Debug {
    /// True if it observes anything.
    const IS_ON: bool;

    /// Announces the sender of the next flow with this number.
    fn sender(&mut self, flow: FlowId, src: RankId) {
        let _ = (flow, src);
    }

    /// Adds a flow that takes `parts[i]` of its rate on `links[i]`; without parts, all of it.
    fn start(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        let _ = (flow, links, parts, terms);
    }

    /// Removes a flow at the time of the next [`Meter::settle`].
    fn leave(&mut self, flow: u32) {
        let _ = flow;
    }

    /// Changes the capacity of a link from the next [`Meter::settle`] on \[B/s\].
    fn set_capacity(&mut self, link: u32, capacity: f64) {
        let _ = (link, capacity);
    }

    /// Takes the rates that hold from now on. `bottleneck(flow, last)` returns the link that gives a flow its
    /// rate; of several links it prefers `last`, a link of its route.
    fn settle(&mut self, now: Time, changes: &[Change], bottleneck: impl Fn(u32, u32) -> Option<u32>) {
        let _ = (now, changes, bottleneck);
    }

    /// True if a flow on these links would be faster alone than this rate \[B/s\].
    fn is_slowed(&self, links: &[u32], rate: f64) -> bool {
        let alone = links.iter().fold(f64::INFINITY, |least, &link| self.capacity(link).min(least));
        rate < alone * (1.0 - ROUNDING)
    }

    /// Returns the capacity of a link \[B/s\]; 0 if nothing is observed.
    fn capacity(&self, link: u32) -> f64 {
        let _ = link;
        0.0
    }

    /// Returns the time that messages have lost on each link \[s\], by its number.
    fn delays(&self) -> Option<Vec<f64>> {
        None
    }

    /// Returns the time that the messages of each party have lost to those of each other, row after row
    /// \[s\].
    fn lost(&self) -> Option<Vec<f64>> {
        None
    }
}

impl Meter for () {
    const IS_ON: bool = false;
}

/// Relative difference below which rates, and the load and capacity of a link, count as equal.
const TIGHT: f64 = 1e-9;

/// Relative difference from its rate alone below which a flow loses nothing.
pub(super) const ROUNDING: f64 = 1e-12;

/// Time that messages lose to those of other parties.
///
/// Let a message under way have rate r, and alone the rate r1, the least c / a of its links or its own limit.
/// It loses `1 - r / r1` of each moment. It loses this on its *bottleneck* l to the other flows there, in
/// proportion to the bandwidth that each takes of the link:
/// ```text
/// d lost(f to g) / dt = (1 - r_f / r1_f) x_g / (sum over the flows h on l except f of x_h)
/// x_f = a(f,l) r_f     under max-min: the rate that it has
/// x_f = a(f,l) w_f     under equal share: the share that is reserved for it
/// ```
/// Under max-min the bottleneck is a link that is full and on which no flow has a higher level r / w. Under
/// equal share it is a link whose share is the level of the flow. If there are several, one that only the
/// flow's own party uses comes first, since without the other links the flow would be no faster. Otherwise
/// each of k links has 1 / k of the loss.
///
/// Between two changes all of this is constant, so three values are kept for a link: the time of the last
/// change, the bandwidth that each party takes, and by victim the sum over its flows of `(1 - r / r1) / (x of
/// all others)`. When a flow comes, goes or changes its rate, the time since then is accounted for on its
/// links, and their sums are computed again.
///
/// Cost of a change: O(k h m) for k flows whose rates change, h links each, m flows a link.
#[derive(Debug)]
pub struct Interference {
    parties: Arc<Parties>,
    /// Set under equal share: the share reserved for a flow counts on a link, not the rate that it has.
    is_equal_share: bool,
    links: Vec<LinkState>,
    flows: Vec<FlowState>,
    /// Links by flow.
    hops: Vec<Vec<Hop>>,
    /// Links whose sums have to be computed again, each once.
    touched: Vec<u32>,
    /// Flows whose bottleneck has to be found again.
    again: Vec<u32>,
    /// Lost time by victim and culprit \[s\].
    lost: Vec<f64>,
}

/// State of a link.
#[derive(Clone, Debug, Default)]
struct LinkState {
    /// Capacity \[B/s\].
    capacity: f64,
    /// Level from which on flows are held back here; infinite if none is.
    threshold: f64,
    /// Time since which the sums hold \[s\].
    since: f64,
    parts: Vec<FlowPart>,
    /// Sums of each party with a flow here, if any party loses time to another.
    shares: Vec<Share>,
    /// Number of flows whose bottleneck it is.
    charges: u32,
    is_touched: bool,
    /// Set if only one party is on it, now and before.
    is_own: bool,
    was_own: bool,
    /// Set if a party loses time here to another.
    costs: bool,
}

/// Flow on a link.
#[derive(Clone, Copy, Debug)]
struct FlowPart {
    flow: u32,
    part: f64,
}

/// Party on a link.
#[derive(Clone, Copy, Debug)]
struct Share {
    party: u32,
    /// Sum of x over its flows.
    takes: f64,
    /// Sum over its flows that are held back here of their loss, divided by the bandwidth that all other
    /// flows take.
    loses: f64,
    /// Sum as in `loses`, each term times the bandwidth that other flows of the party take.
    own: f64,
}

/// Link of a flow.
#[derive(Clone, Copy, Debug)]
struct Hop {
    link: u32,
    /// Place among the parts of the link.
    place: u32,
}

/// State of a flow.
#[derive(Clone, Debug)]
struct FlowState {
    /// Rate \[B/s\].
    rate: f64,
    weight: f64,
    /// `rate / weight`.
    level: f64,
    /// Level of a flow that is slower than alone; 0 for any other flow, so that no link holds it back.
    held_from: f64,
    /// Rate with the network to itself \[B/s\].
    alone: f64,
    /// Limit of its rate \[B/s\].
    limit: f64,
    party: u32,
    /// Its bottlenecks.
    held_by: Bottlenecks,
}

/// Links that hold a flow back equally.
type Bottlenecks = SmallVec<[u32; 2]>;

impl FlowState {
    /// Returns the state of a flow that does not exist.
    fn nothing() -> Self {
        Self {
            rate: 0.0,
            weight: 1.0,
            level: 0.0,
            held_from: 0.0,
            alone: 0.0,
            limit: f64::INFINITY,
            party: 0,
            held_by: Bottlenecks::new(),
        }
    }

    /// Returns x, the bandwidth that it takes of a link on which it has this part of its rate.
    fn takes(&self, part: f64, is_equal_share: bool) -> f64 {
        part * if is_equal_share { self.weight } else { self.rate }
    }

    /// Sets the rate, or updates the state after a change of the rate alone.
    fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
        self.level = rate / self.weight;
        self.held_from = if rate < self.alone * (1.0 - ROUNDING) { self.level } else { 0.0 };
    }

    /// Returns the part of each moment that it loses on each of its bottlenecks.
    fn loses(&self) -> f64 {
        (1.0 - self.rate / self.alone) / self.held_by.len() as f64
    }
}

impl Interference {
    /// Creates a meter on links of these capacities \[B/s\], with nothing under way. `is_equal_share`: links are
    /// divided as if no flow were held back elsewhere (equal share).
    pub fn new(capacities: &[f64], is_equal_share: bool, parties: Arc<Parties>) -> Self {
        let link = |&capacity| LinkState {
            capacity,
            threshold: f64::INFINITY,
            is_own: true,
            was_own: true,
            ..LinkState::default()
        };
        let count = parties.count as usize;
        Self {
            parties,
            is_equal_share,
            links: capacities.iter().map(link).collect(),
            flows: Vec::new(),
            hops: Vec::new(),
            touched: Vec::new(),
            again: Vec::new(),
            lost: vec![0.0; count * count],
        }
    }

    fn touch(links: &mut [LinkState], touched: &mut Vec<u32>, link: u32) {
        if !std::mem::replace(&mut links[link as usize].is_touched, true) {
            touched.push(link);
        }
    }

    fn touch_links_of(&mut self, flow: u32) {
        for hop in &self.hops[flow as usize] {
            Self::touch(&mut self.links, &mut self.touched, hop.link);
        }
    }

    /// Accounts for the time since the last change on a link.
    #[inline]
    fn account(&mut self, link: u32, now: f64) {
        let since = std::mem::replace(&mut self.links[link as usize].since, now);
        if self.links[link as usize].costs && now > since {
            self.account_for(link, now - since);
        }
    }

    fn account_for(&mut self, link: u32, passed: f64) {
        let shares = &self.links[link as usize].shares;
        let count = self.parties.count as usize;
        for victim in shares.iter().filter(|share| share.loses > 0.0) {
            let row = &mut self.lost[victim.party as usize * count..][..count];
            row[victim.party as usize] += passed * victim.own;
            for culprit in shares.iter().filter(|share| share.party != victim.party) {
                row[culprit.party as usize] += passed * victim.loses * culprit.takes;
            }
        }
    }

    /// Adds up the bandwidth taken of a link, and finds the level from which on it holds flows back.
    fn add_up(&mut self, link: u32) {
        let Self { links, flows, is_equal_share, .. } = self;
        let LinkState { capacity, threshold, parts, is_own, was_own, .. } = &mut links[link as usize];
        let (mut total, mut highest, mut parties) = (0.0, 0.0, None);
        *was_own = std::mem::replace(is_own, true);
        for part in &*parts {
            let flow = &flows[part.flow as usize];
            total += flow.takes(part.part, *is_equal_share);
            highest = if flow.level > highest { flow.level } else { highest };
            *is_own &= *parties.get_or_insert(flow.party) == flow.party;
        }
        *threshold = match *is_equal_share {
            true => *capacity / total * (1.0 - TIGHT),
            false if total >= *capacity * (1.0 - TIGHT) => highest * (1.0 - TIGHT),
            false => f64::INFINITY,
        };
    }

    /// Returns the links that hold a flow back.
    fn bottlenecks(&self, flow: u32) -> Bottlenecks {
        let held_from = self.flows[flow as usize].held_from;
        let mut found = Bottlenecks::new();
        for hop in &self.hops[flow as usize] {
            let link = &self.links[hop.link as usize];
            if held_from >= link.threshold {
                if link.is_own {
                    return Bottlenecks::from_slice(&[hop.link]);
                }
                found.push(hop.link);
            }
        }
        found
    }

    /// Finds the bottlenecks of a flow again. Links that this affects are accounted for up to now and marked
    /// as touched.
    fn find_bottlenecks(&mut self, flow: u32, now: f64) {
        let new = self.bottlenecks(flow);
        if new == self.flows[flow as usize].held_by {
            return;
        }
        let old = std::mem::replace(&mut self.flows[flow as usize].held_by, new.clone());
        for (link, more) in old.into_iter().map(|link| (link, false)).chain(new.into_iter().map(|link| (link, true))) {
            if !self.links[link as usize].is_touched {
                self.account(link, now);
                Self::touch(&mut self.links, &mut self.touched, link);
            }
            let charges = &mut self.links[link as usize].charges;
            *charges = if more { *charges + 1 } else { *charges - 1 };
        }
    }

    /// Adds up the losses of the flows that a link holds back.
    fn charge(&mut self, link: u32) {
        let Self { links, flows, is_equal_share, parties, .. } = self;
        let id = link;
        let link = &mut links[id as usize];
        link.is_touched = false;
        link.costs = link.charges > 0 && (parties.counts_own || !link.is_own);
        if !link.costs {
            return;
        }
        link.shares.clear();
        let mut total = 0.0;
        for part in &link.parts {
            let flow = &flows[part.flow as usize];
            let takes = flow.takes(part.part, *is_equal_share);
            total += takes;
            match link.shares.iter_mut().find(|share| share.party == flow.party) {
                Some(share) => share.takes += takes,
                None => link.shares.push(Share { party: flow.party, takes, loses: 0.0, own: 0.0 }),
            }
        }
        for part in &link.parts {
            let flow = &flows[part.flow as usize];
            let takes = flow.takes(part.part, *is_equal_share);
            let others = total - takes;
            if flow.held_by.contains(&id)
                && others > 0.0
                && let Some(share) = link.shares.iter_mut().find(|share| share.party == flow.party)
            {
                share.loses += flow.loses() / others;
                share.own += flow.loses() / others * (share.takes - takes);
            }
        }
    }
}

impl Meter for Interference {
    const IS_ON: bool = true;

    fn sender(&mut self, flow: FlowId, src: RankId) {
        if self.flows.len() <= flow.index() {
            self.flows.resize(flow.index() + 1, FlowState::nothing());
            self.hops.resize(flow.index() + 1, Vec::new());
        }
        self.flows[flow.index()].party = self.parties.of.get(src.index()).copied().unwrap_or_default();
    }

    fn start(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        let hops = &mut self.hops[flow as usize];
        hops.clear();
        let mut alone = terms.limit;
        for (index, &link) in links.iter().enumerate() {
            let part = parts.get(index).copied().unwrap_or(1.0);
            let state = &mut self.links[link as usize];
            hops.push(Hop { link, place: state.parts.len() as u32 });
            state.parts.push(FlowPart { flow, part });
            alone = alone.min(state.capacity / part);
            Self::touch(&mut self.links, &mut self.touched, link);
        }
        let state = &mut self.flows[flow as usize];
        let Terms { weight, limit } = terms;
        *state = FlowState { alone, weight, limit, party: state.party, ..FlowState::nothing() };
    }

    fn leave(&mut self, flow: u32) {
        let hops = std::mem::take(&mut self.hops[flow as usize]);
        for &Hop { link, place } in &hops {
            let parts = &mut self.links[link as usize].parts;
            parts.swap_remove(place as usize);
            if let Some(moved) = parts.get(place as usize)
                && let Some(hop) = self.hops[moved.flow as usize].iter_mut().find(|hop| hop.link == link)
            {
                hop.place = place;
            }
            Self::touch(&mut self.links, &mut self.touched, link);
        }
        self.hops[flow as usize] = hops;
        self.hops[flow as usize].clear();
        for link in std::mem::take(&mut self.flows[flow as usize].held_by) {
            self.links[link as usize].charges -= 1;
        }
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.links[link as usize].capacity = capacity;
        for index in 0..self.links[link as usize].parts.len() {
            let flow = self.links[link as usize].parts[index].flow;
            let state = &mut self.flows[flow as usize];
            let rates = self.hops[flow as usize].iter().map(|hop| {
                let link = &self.links[hop.link as usize];
                link.capacity / link.parts[hop.place as usize].part
            });
            state.alone = rates.fold(state.limit, f64::min);
            state.set_rate(state.rate);
            self.touch_links_of(flow);
        }
    }

    fn settle(&mut self, now: Time, changes: &[Change], _: impl Fn(u32, u32) -> Option<u32>) {
        let now = now.seconds();
        for change in changes {
            let state = &mut self.flows[change.flow as usize];
            state.set_rate(change.new);
            // (The links of a new flow are touched already.)
            if change.old != 0.0 {
                self.touch_links_of(change.flow);
            }
        }
        let touched = self.touched.len();
        for index in 0..touched {
            self.account(self.touched[index], now);
            self.add_up(self.touched[index]);
        }
        for change in changes {
            self.find_bottlenecks(change.flow, now);
        }
        let mut again = std::mem::take(&mut self.again);
        for index in 0..touched {
            let id = self.touched[index];
            let link = &self.links[id as usize];
            if link.charges == 0 && link.threshold == f64::INFINITY {
                continue;
            }
            let differs = link.was_own != link.is_own;
            for part in &link.parts {
                let state = &self.flows[part.flow as usize];
                let holds = state.held_from >= link.threshold;
                if holds != state.held_by.contains(&id) || (holds && differs) {
                    again.push(part.flow);
                }
            }
            again.drain(..).for_each(|flow| self.find_bottlenecks(flow, now));
        }
        self.again = again;
        for index in 0..self.touched.len() {
            self.charge(self.touched[index]);
        }
        self.touched.clear();
    }

    fn capacity(&self, link: u32) -> f64 {
        self.links[link as usize].capacity
    }

    fn lost(&self) -> Option<Vec<f64>> {
        Some(self.lost.clone())
    }
}
