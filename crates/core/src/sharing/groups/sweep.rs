//! Sweep over links in ascending order of levels, which gives each the level at which it is full.

use super::Groups;
use super::table::{Crossing, EPS, NOBODY, NONE};
use std::hint::select_unpredictable;

/// Part of its capacity that an active link must have left to become inactive.
pub(super) const LOOSE: f64 = 0.05;

impl Groups {
    /// Adds the change of a group that crosses an active link to the link's load, and computes its key.
    ///
    /// The key is a lower bound of the next level at which the link needs attention. If the link has room, it
    /// is the link's level (then its group rises). If it is overloaded, its own flows have to give way, and
    /// those of the group if they are faster: the key is the level that is left for these flows alone. It is
    /// infinite if the link is just full, or has room and holds nothing back.
    #[inline(always)]
    pub(super) fn load(&mut self, id: u32, by: f64, level: f64, flows: u32) {
        let link = &mut self.links[id as usize];
        link.load += by;
        link.is_exact = false;
        let left = link.capacity - link.load;
        let is_over = left < -EPS * link.capacity;
        let (mut own, mut owners) = (0.0, 0.0);
        if link.group != NONE {
            own = self.levels[link.group as usize];
            link.is_suspect |= level > own * (1.0 + EPS);
            if !is_over {
                let has_room = left > EPS * link.capacity;
                let key = if has_room || link.is_suspect { own } else { f64::INFINITY };
                self.waiting.set(id, link, key);
                return;
            }
            owners = self.groups[link.group as usize].own.len() as f64;
        } else if !is_over {
            if left > LOOSE * link.capacity && !link.is_idle {
                link.is_idle = true;
                self.idle.push(id);
            }
            if link.key < f64::INFINITY {
                self.waiting.set(id, link, f64::INFINITY);
            }
            return;
        }
        let key = if own >= level {
            own + left / owners
        } else if by < 0.0 && link.key < f64::INFINITY {
            // (The key is still a lower bound.)
            return;
        } else {
            let flows = f64::from(flows);
            (left + owners * own + flows * level) / (owners + flows)
        };
        self.waiting.set(id, link, key);
    }

    /// Computes the level at which a link is full: the s with `sum over its flows of min(rate, s) = c`, its
    /// own flows counting as s. The level is infinite if the present rates do not fill the link and it holds
    /// nothing back. Also returns true if foreign flows are faster.
    fn full_level(&mut self, id: u32) -> (f64, bool) {
        let link = &mut self.links[id as usize];
        let (capacity, count) = (link.capacity, f64::from(link.count));
        let even = capacity / count;
        // This start value is at most the level.
        let mut level = if link.key < f64::INFINITY && link.key > even { link.key } else { even };
        let (levels, host) = (self.levels.as_slice(), link.group);
        // Rate and number of the foreign flows of a group; 0 for its own. (Which group is its own, and which are
        // slower than a level, is unpredictable.)
        let foreign_part = |crossing: &Crossing| {
            let is_own = crossing.other == host;
            let rate = levels[select_unpredictable(is_own, NOBODY, crossing.other) as usize];
            (rate, select_unpredictable(is_own, 0, crossing.flows))
        };
        // Sums over the foreign flows that are slower than a level, and the slowest rate of the rest.
        let sums_below = |level: f64, (below, slower, next): (f64, f64, u64), (rate, flows): (f64, u32)| {
            let is_slower = rate < level;
            let flows = f64::from(select_unpredictable(is_slower, flows, 0));
            let next = next.min(select_unpredictable(is_slower, f64::INFINITY.to_bits(), rate.to_bits()));
            (below + flows * rate, slower + flows, next)
        };
        const NONE_BELOW: (f64, f64, u64) = (0.0, 0.0, f64::INFINITY.to_bits());
        let own = if host == NONE { 0.0 } else { self.groups[host as usize].own.len() as f64 };
        // Load of the foreign flows, and fastest of them.
        let (mut foreign, mut fastest, mut sums) = (0.0, 0.0, NONE_BELOW);
        for crossing in &link.crossing {
            let (rate, flows) = foreign_part(crossing);
            foreign += f64::from(flows) * rate;
            fastest = if rate > fastest { rate } else { fastest };
            sums = sums_below(level, sums, (rate, flows));
        }
        let mut old = f64::INFINITY;
        link.load = foreign;
        if own > 0.0 {
            old = self.levels[link.group as usize];
            link.load += own * old;
        } else if foreign <= capacity * (1.0 + EPS) {
            return (f64::INFINITY, false);
        }
        if own > 0.0 && capacity - foreign >= fastest * own {
            level = (capacity - foreign) / own;
        } else {
            // The sum is concave in s: each step leads up to the level, never above it.
            loop {
                let (below, slower, next_rate) = sums;
                // (No flow is left only by rounding, when all are just below the level.)
                let next = if count > slower { (capacity - below) / (count - slower) } else { level };
                if next <= level {
                    break;
                }
                level = next;
                if level <= f64::from_bits(next_rate) {
                    break;
                }
                sums = NONE_BELOW;
                for crossing in &link.crossing {
                    sums = sums_below(level, sums, foreign_part(crossing));
                }
            }
        }
        let level = if old < f64::INFINITY && (level - old).abs() <= EPS * old { old } else { level };
        (level, fastest > level * (1.0 + EPS))
    }

    /// Sets the level of a group, and raises the allowances of its flows if necessary.
    pub(super) fn set_level(&mut self, group: u32, level: f64) {
        let old = std::mem::replace(&mut self.levels[group as usize], level);
        if old == level {
            return;
        }
        self.mark_touched(group);
        let edges = std::mem::take(&mut self.groups[group as usize].edges);
        for &Crossing { other: id, flows, .. } in &edges {
            self.load(id, f64::from(flows) * (level - old), level, flows);
        }
        self.groups[group as usize].edges = edges;
        if level > self.groups[group as usize].least {
            self.raise_group(group, level);
        }
    }

    /// Passes a whole group to another link: only its name on the two links changes.
    fn pass(&mut self, group: u32, id: u32) {
        let old = std::mem::replace(&mut self.groups[group as usize].link, id);
        if old == id {
            return;
        }
        self.links[old as usize].group = NONE;
        self.links[id as usize].group = group;
        // (The old link may have waited because its group could rise.)
        self.load(old, 0.0, self.levels[group as usize], 1);
    }

    /// Moves all flows of a group to another one.
    fn merge(&mut self, from: u32, to: u32) {
        let level = self.levels[to as usize];
        let by = level - self.levels[from as usize];
        let mut own = std::mem::take(&mut self.groups[from as usize].own);
        own.drain(..).for_each(|flow| self.put_own(flow, to));
        self.groups[from as usize].own = own;
        let mut edges = std::mem::take(&mut self.groups[from as usize].edges);
        // (This comes first, so that no key depends on its level any more.)
        let link = self.groups[from as usize].link;
        if self.links[link as usize].group == from {
            self.links[link as usize].group = NONE;
        }
        // (Edges are taken from the end, so that the places that their twins hold stay valid.)
        while let Some(Crossing { other: id, flows, twin }) = edges.pop() {
            self.drop_crossing(id, twin);
            self.add_crossings(to, id, flows);
            self.load(id, f64::from(flows) * by, level, flows);
        }
        self.groups[from as usize].edges = edges;
        self.disband(from);
        if level > self.groups[to as usize].least {
            self.raise_group(to, level);
        }
    }

    /// Moves the flows of a group that cross a link to another group, where not all of its flows do.
    fn move_crossing_flows(&mut self, from: u32, id: u32, to: u32) {
        let mut flows = std::mem::take(&mut self.scratch);
        flows.clear();
        let (own, listed) = (&self.groups[from as usize].own, &self.lists[id as usize]);
        if listed.len() < 8 * own.len() {
            flows.extend(listed.iter().map(|listed| listed.0).filter(|&flow| self.flows.group[flow as usize] == from));
        } else {
            flows.extend(own.iter().copied().filter(|&flow| self.flows.links(flow).contains(&id)));
        }
        for &flow in &flows {
            self.transfer(flow, to);
        }
        self.scratch = flows;
        let level = self.levels[to as usize];
        if level > self.groups[to as usize].least {
            self.raise_group(to, level);
        }
    }

    /// Moves one of several flows of a group to another group.
    fn transfer(&mut self, flow: u32, to: u32) {
        let from = self.flows.group[flow as usize];
        let level = self.levels[to as usize];
        let by = level - self.levels[from as usize];
        self.take_own(flow, from);
        self.put_own(flow, to);
        for hop in 0..self.flows.count(flow) {
            let id = self.flows.link(flow, hop);
            if self.active[id as usize] {
                self.move_crossing(from, to, id);
                self.load(id, by, level, 1);
            }
        }
    }

    /// Gives a link the level at which it is full: its own flows take this level, and faster flows, if any,
    /// become its own.
    fn set_full_level(&mut self, id: u32, level: f64, is_met: bool) {
        let host = self.links[id as usize].group;
        if is_met {
            self.take_faster(id, level);
        } else if host != NONE {
            self.set_level(host, level);
        }
        let link = &mut self.links[id as usize];
        link.is_suspect = false;
        self.waiting.set(id, link, f64::INFINITY);
    }

    /// Makes flows that are faster than a level a link's own, at that level.
    ///
    /// Whole groups pass as they are, or join another one by their lists. Flows are searched one by one only
    /// where some flows of a group do not cross this link. The largest of the groups that become one keeps
    /// its identity.
    fn take_faster(&mut self, id: u32, level: f64) {
        let limit = level * (1.0 + EPS);
        let host = self.links[id as usize].group;
        let (mut heir, mut size) = (host, if host == NONE { 0 } else { self.groups[host as usize].own.len() });
        let mut faster = std::mem::take(&mut self.faster);
        for &Crossing { other: group, flows, .. } in &self.links[id as usize].crossing {
            if group != host && self.levels[group as usize] > limit {
                faster.push((group, flows));
                let own = self.groups[group as usize].own.len();
                if flows as usize == own && own > size {
                    (heir, size) = (group, own);
                }
            }
        }
        if heir == NONE && !faster.is_empty() {
            heir = self.create_group(id, level);
        }
        if heir != NONE {
            self.pass(heir, id);
            self.set_level(heir, level);
        }
        if heir != host && host != NONE {
            self.merge(host, heir);
        }
        for (group, flows) in faster.drain(..) {
            if group == heir {
                continue;
            }
            if flows as usize == self.groups[group as usize].own.len() {
                self.merge(group, heir);
            } else {
                self.move_crossing_flows(group, id, heir);
            }
        }
        self.faster = faster;
    }

    /// Leaves flows that another link holds at the group's level there, in that link's group, before the
    /// group of a link with room rises. Returns true if there are any.
    fn hand_over(&mut self, id: u32) -> bool {
        let group = self.links[id as usize].group;
        let limit = self.levels[group as usize] * (1.0 + EPS);
        let (mut e, mut any) = (0, false);
        while e < self.groups[group as usize].edges.len() {
            let Crossing { other, flows, .. } = self.groups[group as usize].edges[e];
            let holder = self.links[other as usize].group;
            if other == id || holder == NONE || self.levels[holder as usize] > limit {
                e += 1;
                continue;
            }
            any = true;
            if flows as usize == self.groups[group as usize].own.len() {
                self.merge(group, holder);
                break;
            }
            self.move_crossing_flows(group, other, holder);
            // (The edge is gone, and perhaps others: start again.)
            e = 0;
        }
        any
    }

    /// Processes the link with the smallest key; returns false if no link needs attention any more.
    pub(super) fn step(&mut self) -> bool {
        let Some(id) = self.waiting.smallest(&mut self.links) else { return false };
        let link = &self.links[id as usize];
        let key = link.key;
        if link.is_exact {
            self.set_full_level(id, key, true);
            return true;
        }
        let (mut level, mut is_met) = self.full_level(id);
        let link = &mut self.links[id as usize];
        let old = if link.group == NONE { f64::INFINITY } else { self.levels[link.group as usize] };
        let is_rounding = !is_met && (level == old || link.group == NONE);
        if is_rounding {
            link.is_suspect = false;
        }
        let mut next = if is_rounding { f64::INFINITY } else { level };
        if !is_rounding && (level <= key || level > old && !is_met) {
            // (A group with room rises at once, however far the water still has to rise.)
            if level > old && self.hand_over(id) {
                (level, is_met) = self.full_level(id);
                next = level;
            }
            if self.links[id as usize].group != NONE || level <= key {
                self.set_full_level(id, level, is_met);
                return true;
            }
        }
        let link = &mut self.links[id as usize];
        link.is_exact = true;
        self.waiting.set(id, link, next);
        true
    }
}
