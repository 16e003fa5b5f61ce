//! Allowances: which links are certain not to be full, and need not be looked at.

use super::sweep::LOOSE;
use super::table::Crossing;
use super::{Groups, NONE};

/// Upper bounds of rates that fit on the links.
#[derive(Clone, Debug)]
pub(super) struct Allowances {
    /// By link: the sum of the allowances of its flows, and its capacity, in units.
    links: Vec<(u64, u64)>,
    /// By flow, in units.
    flows: Vec<u64>,
    /// A power of two, so that conversion is exact \[B/s\], and what one is divided by it.
    unit: f64,
    per: f64,
}

impl Allowances {
    /// None, on links of these capacities \[B/s\].
    pub fn new(capacities: &[f64]) -> Self {
        let widest = capacities.iter().copied().fold(0.0, f64::max);
        let mut unit = 1.0;
        while unit * FINEST < widest {
            unit *= 2.0;
        }
        while widest > 0.0 && unit * FINEST > 2.0 * widest {
            unit *= 0.5;
        }
        Self {
            links: capacities.iter().map(|&c| (0, (c / unit) as u64)).collect(),
            flows: Vec::new(),
            unit,
            per: 1.0 / unit,
        }
    }
    /// The allowance of a flow, in units.
    #[inline(always)]
    pub fn of(&self, flow: u32) -> u64 {
        self.flows[flow as usize]
    }
    /// The allowance of a flow \[B/s\].
    #[inline(always)]
    pub fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize] as f64 * self.unit
    }
    /// Sum of the allowances on a link, in units.
    #[cfg(test)]
    pub fn granted(&self, link: u32) -> u64 {
        self.links[link as usize].0
    }
    /// Whether the allowances on a link are no more than its capacity.
    pub fn fits(&self, link: u32) -> bool {
        let (granted, capacity) = self.links[link as usize];
        granted <= capacity & !UNBOUND
    }
    /// The capacity of a link, in units.
    #[cfg(test)]
    pub fn capacity(&self, link: u32) -> u64 {
        self.links[link as usize].1 & !UNBOUND
    }
    /// What is left on a link, in units; more than anyone asks for on an active one.
    #[inline(always)]
    pub fn room(&self, link: u32) -> u64 {
        let (granted, capacity) = self.links[link as usize];
        capacity.saturating_sub(granted)
    }

    /// By how much allowances are more than the capacity of a link, in units.
    pub fn excess(&self, link: u32) -> u64 {
        let (granted, capacity) = self.links[link as usize];
        granted.saturating_sub(capacity & !UNBOUND)
    }

    /// Whether sums of allowances are bounded by the capacity of a link, as they are while it is inactive.
    pub fn bound(&mut self, link: u32, is_bound: bool) {
        let (_, capacity) = &mut self.links[link as usize];
        *capacity = if is_bound { *capacity & !UNBOUND } else { *capacity | UNBOUND };
    }
    /// What is left on a link \[B/s\].
    #[inline(always)]
    pub fn slack(&self, link: u32) -> f64 {
        self.room(link) as f64 * self.unit
    }
    /// A rate in units, rounded down.
    #[inline(always)]
    fn units(&self, rate: f64) -> u64 {
        (rate * self.per) as u64
    }
}

/// Units in the largest capacity, at least: sums of 2^24 allowances fit in 64 bits.
const FINEST: f64 = (1u64 << 39) as f64;

/// Allowances that are just above the level are raised along with those that are below, so that a group that rises and
/// rises is not gone through each time.
const NEAR: f64 = 1.01;

/// What is added to the capacity of an active link: more than any sum of allowances.
const UNBOUND: u64 = 1 << 63;

/// A raise is at least and at most this much.
const LEAST: f64 = 1.02;
const MOST: f64 = 1.25;
/// A link that has less room than this part of its capacity becomes active.
const TIGHT: f64 = 0.01;

impl Groups {
    /// Gives a new flow an allowance, a little above the rate that is expected, as far as there is room.
    pub(super) fn first_allowance(&mut self, flow: u32, estimate: f64) {
        if self.allowances.flows.len() <= flow as usize {
            self.allowances.flows.resize(flow as usize + 1, 0);
        }
        let amount = self.allowances.units(estimate * MOST).min(self.room(flow));
        self.allowances.flows[flow as usize] = 0;
        self.change(flow, amount);
    }

    /// Takes the allowance of a flow away.
    pub(super) fn drop_allowance(&mut self, flow: u32) {
        self.change(flow, 0);
    }

    /// Changes an allowance, to so many units.
    #[inline]
    fn change(&mut self, flow: u32, new: u64) {
        let old = std::mem::replace(&mut self.allowances.flows[flow as usize], new);
        let by = new.wrapping_sub(old);
        for &id in self.flows.links(flow) {
            let granted = &mut self.allowances.links[id as usize].0;
            *granted = granted.wrapping_add(by);
        }
    }

    /// What the links of a flow have left, in units.
    #[inline(always)]
    fn room(&self, flow: u32) -> u64 {
        self.flows.links(flow).iter().map(|&id| self.allowances.room(id)).fold(u64::MAX, u64::min)
    }

    /// Raises the allowance of a flow to above this level, its rate.
    pub(super) fn raise(&mut self, flow: u32, level: f64) {
        let least = self.allowances.units(level * LEAST).max(self.allowances.of(flow)) + 1;
        if self.room(flow) + self.allowances.of(flow) < least {
            for hop in 0..self.flows.count(flow) {
                let id = self.flows.link(flow, hop);
                if self.allowances.room(id) + self.allowances.of(flow) < least {
                    self.make_room(id, flow, least);
                }
            }
        }
        // (To make room may have lowered its own allowance.)
        let (old, room) = (self.allowances.of(flow), self.room(flow));
        let most = self.allowances.units(level * MOST).max(least);
        let new = if room >= 2 * (most - old) { most } else { (old + room / 2).clamp(least, most) };
        self.change(flow, new);
    }

    /// Raises the allowances of the flows of a group that are below its level, or not far above.
    pub(super) fn raise_group(&mut self, group: u32, level: f64) {
        for i in 0..self.groups[group as usize].own.len() {
            let flow = self.groups[group as usize].own[i];
            if self.allowances.rate(flow) < level * NEAR {
                self.raise(flow, level);
            }
        }
        // (Afterwards: to make room for one may have lowered those of others.)
        let Self { allowances, groups, .. } = self;
        let it = &mut groups[group as usize];
        it.least = it.own.iter().map(|&flow| allowances.rate(flow)).fold(f64::INFINITY, f64::min);
    }

    /// Makes room for so large an allowance of a flow on an inactive link, by lowering those of others, or makes it active.
    fn make_room(&mut self, id: u32, flow: u32, allowance: u64) {
        let capacity = self.links[id as usize].capacity;
        let listed = &self.lists[id as usize];
        let load: f64 = listed.iter().map(|&(flow, _)| self.rate_of(flow)).sum();
        let slack = capacity - load;
        if slack > TIGHT * capacity {
            let needed = allowance - self.allowances.of(flow) - self.allowances.room(id);
            self.tighten(id, 0.6 * slack / listed.len() as f64, needed);
            if self.allowances.room(id) + self.allowances.of(flow) >= allowance {
                return;
            }
        }
        self.activate(id);
    }

    /// Lowers the allowances of the flows of a link to this much above their rates, where so much is needed.
    fn tighten(&mut self, id: u32, margin: f64, needed: u64) {
        // (What brings little is not worth the walk along the flow: all that is left out is an eighth.)
        let little = needed / (8 * self.lists[id as usize].len() as u64).max(1);
        for i in 0..self.lists[id as usize].len() {
            let (flow, _) = self.lists[id as usize][i];
            let new = self.allowances.units(self.rate_of(flow) + margin) + 1;
            if new + little >= self.allowances.of(flow) {
                continue;
            }
            self.change(flow, new);
            let group = self.flows.group[flow as usize];
            if group != NONE {
                let it = &mut self.groups[group as usize];
                it.least = it.least.min(self.allowances.rate(flow));
            }
        }
    }

    /// Looks at a link from now on.
    pub(super) fn activate(&mut self, id: u32) {
        self.active[id as usize] = true;
        self.allowances.bound(id, false);
        self.links[id as usize].load = 0.0;
        let (mut load, mut fastest) = (0.0, 0.0);
        for i in 0..self.lists[id as usize].len() {
            let (flow, _) = self.lists[id as usize][i];
            let group = self.flows.group[flow as usize];
            if group != NONE {
                self.tie(group, id, 1);
                let rate = self.levels[group as usize];
                load += rate;
                fastest = if rate > fastest { rate } else { fastest };
            }
        }
        self.load(id, load, fastest, 1);
    }

    /// Stops looking at an active link that has room, if that can be certified.
    pub(super) fn retire(&mut self, id: u32) {
        let link = &self.links[id as usize];
        let slack = link.capacity - link.load;
        if !self.active[id as usize] || link.group != NONE || slack < LOOSE * link.capacity {
            return;
        }
        if !self.allowances.fits(id) {
            let needed = self.allowances.excess(id);
            self.tighten(id, 0.6 * slack / f64::from(link.count.max(1)), needed);
            if !self.allowances.fits(id) {
                return;
            }
        }
        self.active[id as usize] = false;
        self.allowances.bound(id, true);
        let mut crossing = std::mem::take(&mut self.links[id as usize].crossing);
        while let Some(Crossing { other: group, twin, .. }) = crossing.pop() {
            self.drop_edge(group, twin);
        }
        self.links[id as usize].crossing = crossing;
    }
}
