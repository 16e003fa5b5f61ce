//! Changes of allowances, and of the active links that follow from them.

use super::Groups;
use super::sweep::LOOSE;
use super::table::{Crossing, NONE};

/// Allowances up to this multiple of the level are raised along with those below it, so that a group whose
/// level keeps rising is not gone through each time.
const NEAR: f64 = 1.01;

/// Smallest and largest allowance after a raise, as multiples of the level.
const LEAST: f64 = 1.02;
const MOST: f64 = 1.25;
/// Part of its capacity that an inactive link must have left; with less it becomes active.
const TIGHT: f64 = 0.01;

impl Groups {
    /// Gives a new flow an allowance a little above its expected rate, as far as there is room.
    pub(super) fn first_allowance(&mut self, flow: u32, estimate: f64) {
        if self.allowances.flows.len() <= flow as usize {
            self.allowances.flows.resize(flow as usize + 1, 0);
        }
        let amount = self.allowances.units(estimate * MOST).min(self.room(flow));
        self.allowances.flows[flow as usize] = 0;
        self.change(flow, amount);
    }

    /// Sets the allowance of a flow to 0.
    pub(super) fn drop_allowance(&mut self, flow: u32) {
        self.change(flow, 0);
    }

    /// Changes an allowance to `new` units.
    #[inline]
    fn change(&mut self, flow: u32, new: u64) {
        let old = std::mem::replace(&mut self.allowances.flows[flow as usize], new);
        let by = new.wrapping_sub(old);
        for &id in self.flows.links(flow) {
            let granted = &mut self.allowances.links[id as usize].0;
            *granted = granted.wrapping_add(by);
        }
    }

    /// Returns the smallest room for allowances on the links of a flow, in units.
    #[inline(always)]
    fn room(&self, flow: u32) -> u64 {
        self.flows.links(flow).iter().map(|&id| self.allowances.room(id)).fold(u64::MAX, u64::min)
    }

    /// Raises the allowance of a flow to above this level, its rate.
    pub(super) fn raise(&mut self, flow: u32, level: f64) {
        let least = self.allowances.units(level * LEAST).max(self.allowances.of(flow)) + 1;
        let (mut old, mut room) = (self.allowances.of(flow), self.room(flow));
        if room + old < least {
            for hop in 0..self.flows.count(flow) {
                let id = self.flows.link(flow, hop);
                if self.allowances.room(id) + self.allowances.of(flow) < least {
                    self.make_room(id, flow, least);
                }
            }
            // (Making room may have lowered its own allowance.)
            (old, room) = (self.allowances.of(flow), self.room(flow));
        }
        let most = self.allowances.units(level * MOST).max(least);
        let new = if room >= 2 * (most - old) { most } else { (old + room / 2).clamp(least, most) };
        self.change(flow, new);
    }

    /// Raises the allowances of a group's flows that are below its level, or not far above.
    pub(super) fn raise_group(&mut self, group: u32, level: f64) {
        for i in 0..self.groups[group as usize].own.len() {
            let flow = self.groups[group as usize].own[i];
            if self.allowances.rate(flow) < level * NEAR {
                self.raise(flow, level);
            }
        }
        // (This comes last: making room for one flow may have lowered the allowances of others.)
        let Self { allowances, groups, .. } = self;
        let it = &mut groups[group as usize];
        it.least = it.own.iter().map(|&flow| allowances.rate(flow)).fold(f64::INFINITY, f64::min);
    }

    /// Makes room for an allowance of a flow on an inactive link, by lowering those of other flows, or
    /// activates the link.
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

    /// Lowers the allowances of the flows of a link to `margin` above their rates, as `needed` units have to
    /// become free.
    fn tighten(&mut self, id: u32, margin: f64, needed: u64) {
        // (A small gain is not worth the walk along the flow; the gains left out add up to an eighth.)
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

    /// Activates a link: the sweep looks at it from now on.
    pub(super) fn activate(&mut self, id: u32) {
        self.active[id as usize] = true;
        self.allowances.bound(id, false);
        self.links[id as usize].load = 0.0;
        let (mut load, mut fastest) = (0.0, 0.0);
        for i in 0..self.lists[id as usize].len() {
            let (flow, _) = self.lists[id as usize][i];
            let group = self.flows.group[flow as usize];
            if group != NONE {
                self.add_crossings(group, id, 1);
                let rate = self.levels[group as usize];
                load += rate;
                fastest = if rate > fastest { rate } else { fastest };
            }
        }
        self.load(id, load, fastest, 1);
    }

    /// Deactivates an active link that has room, if allowances show that it cannot be full.
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
