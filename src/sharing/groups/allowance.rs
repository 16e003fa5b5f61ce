//! Allowances: which links are certain not to be full, and need not be looked at.

use super::table::Phase;
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
        granted <= capacity
    }
    /// The capacity of a link, in units.
    #[cfg(test)]
    pub fn capacity(&self, link: u32) -> u64 {
        self.links[link as usize].1
    }
    /// What is left on a link, in units.
    #[inline(always)]
    pub fn room(&self, link: u32) -> u64 {
        let (granted, capacity) = self.links[link as usize];
        capacity.saturating_sub(granted)
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

/// A raise is at least and at most this much.
const LEAST: f64 = 1.02;
const MOST: f64 = 1.25;
/// A link that has less room than this part of its capacity becomes active.
const TIGHT: f64 = 0.03;
/// One that has more than this becomes inactive.
const LOOSE: f64 = 0.07;

impl Groups {
    /// Gives a new flow an allowance, a little above the rate that is expected, if there is room; returns it \[B/s\].
    pub(super) fn first_allowance(&mut self, flow: u32, estimate: f64) -> f64 {
        if self.allowances.flows.len() <= flow as usize {
            self.allowances.flows.resize(flow as usize + 1, 0);
        }
        let mut amount = self.allowances.units(estimate * MOST);
        for &id in self.flows.links(flow) {
            if !self.active[id as usize] {
                amount = amount.min(self.allowances.room(id));
            }
        }
        self.allowances.flows[flow as usize] = 0;
        self.change(flow, amount);
        self.allowances.rate(flow)
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

    /// The water has reached the allowance of a free flow: raises it to above this level.
    pub(super) fn raise(&mut self, flow: u32, level: f64) {
        let old = self.allowances.of(flow);
        let mut need = level;
        if old == 0 {
            // No level is below the even share.
            let floor = self
                .flows
                .links(flow)
                .iter()
                .map(|&id| {
                    let l = &self.links[id as usize];
                    l.capacity / f64::from(l.count)
                })
                .fold(f64::INFINITY, f64::min);
            need = need.max(0.99 * floor);
        }
        let least = self.allowances.units(need * LEAST).max(old) + 1;
        let most = self.allowances.units(need * MOST).max(old) + 1;
        let mut room = u64::MAX;
        for hop in 0..self.flows.count(flow) {
            let id = self.flows.link(flow, hop);
            if self.active[id as usize] {
                continue;
            }
            if old + self.allowances.room(id) < least {
                self.make_room(id, need, least - old);
            }
            if !self.active[id as usize] {
                room = room.min(self.allowances.room(id));
            }
        }
        let new = if room >= 2 * (most - old) { most } else { (old + room / 2).clamp(least, most) };
        self.change(flow, new);
    }

    /// Raises the allowances of the own flows of a free group that are reached.
    pub(super) fn raise_group(&mut self, id: u32, level: f64) {
        let limit = level * 1.005;
        let mut own = std::mem::take(&mut self.scratch);
        own.clear();
        own.extend_from_slice(&self.lists[id as usize].own);
        for &flow in &own {
            if self.allowances.rate(flow) <= limit {
                self.raise(flow, level);
            }
        }
        let least = own.iter().map(|&flow| self.allowances.rate(flow)).fold(f64::INFINITY, f64::min);
        self.scratch = own;
        self.links[id as usize].least = least;
        self.rekey(id);
    }

    /// Makes this much room on an inactive link, by lowering allowances, or makes it active.
    fn make_room(&mut self, id: u32, level: f64, needed: u64) {
        let link = &self.links[id as usize];
        let capacity = link.capacity;
        let mut load = 0.0;
        for &(flow, _) in &self.lists[id as usize].foreign {
            load += self.rate_or(flow, level);
        }
        let slack = capacity - load;
        if slack > TIGHT * capacity {
            self.tighten(id, level, 0.6 * slack / self.lists[id as usize].foreign.len() as f64);
            if self.allowances.room(id) >= needed {
                return;
            }
        }
        self.activate(id);
    }

    /// The rate of a flow, or the level of the water if it is free \[B/s\].
    #[inline]
    fn rate_or(&self, flow: u32, level: f64) -> f64 {
        let group = self.flows.group[flow as usize];
        let rate = self.group_rate(group);
        if rate == f64::INFINITY { level } else { rate }
    }

    /// Lowers the allowances of the flows of a link to this much above their rates.
    fn tighten(&mut self, id: u32, level: f64, margin: f64) {
        for i in 0..self.lists[id as usize].foreign.len() {
            let (flow, _) = self.lists[id as usize].foreign[i];
            let new = self.allowances.units(self.rate_or(flow, level) + margin) + 1;
            if new >= self.allowances.of(flow) {
                continue;
            }
            self.change(flow, new);
            let group = self.flows.group[flow as usize];
            let new = self.allowances.rate(flow);
            if group == NONE {
                self.pending.set(self.flows.own_place[flow as usize], new);
                continue;
            }
            let link = &mut self.links[group as usize];
            if new < link.least {
                link.least = new;
                if link.level == f64::INFINITY {
                    self.rekey(group);
                }
            }
        }
    }

    /// Looks at a link from now on.
    fn activate(&mut self, id: u32) {
        let (mut load, mut free) = (0.0, 0);
        for i in 0..self.lists[id as usize].foreign.len() {
            let (flow, _) = self.lists[id as usize].foreign[i];
            let group = self.flows.group[flow as usize];
            if group != NONE {
                self.tie(group, id);
            }
            let rate = self.group_rate(group);
            if rate == f64::INFINITY { free += 1 } else { load += rate }
        }
        let link = &mut self.links[id as usize];
        link.load = load;
        link.free = free;
        link.level = f64::INFINITY;
        self.levels[id as usize] = f64::INFINITY;
        self.active[id as usize] = true;
        link.least = f64::INFINITY;
        debug_assert_eq!(link.own, 0);
        self.soil(id);
        self.links[id as usize].phase = Phase::Released;
        self.rekey(id);
    }

    /// Stops looking at an active link that has room, if that can be certified.
    pub(super) fn retire(&mut self, id: u32) {
        debug_assert_eq!(self.links[id as usize].own, 0);
        let link = &self.links[id as usize];
        let slack = link.capacity - link.load;
        if slack < LOOSE * link.capacity {
            return;
        }
        if !self.allowances.fits(id) {
            self.tighten(id, 0.0, 0.6 * slack / f64::from(link.count.max(1)));
            if !self.allowances.fits(id) {
                return;
            }
        }
        self.active[id as usize] = false;
        for i in 0..self.lists[id as usize].foreign.len() {
            let (flow, _) = self.lists[id as usize].foreign[i];
            let group = self.flows.group[flow as usize];
            self.cut(group, id);
        }
    }

    /// Raises the allowance of a flow that is free by itself.
    pub(super) fn raise_alone(&mut self, flow: u32, level: f64) {
        self.raise(flow, level);
        self.pending.set(self.flows.own_place[flow as usize], self.allowances.rate(flow));
    }
}
