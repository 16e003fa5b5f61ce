//! The sweep: links in ascending order of levels, each released or saturated at most once.
use super::table::{Link, Phase};
use super::{EPS, FLOW, Groups, NONE};

impl Link {
    /// A lower bound of the next level at which this link needs attention, before it is done, and whether it is exact: what
    /// comes first of its own state and the least allowance of its own flows while they are free.
    #[inline(always)]
    fn key(&self) -> (f64, bool) {
        let (key, exact) = self.plain_key();
        if self.level == f64::INFINITY && self.least < key { (self.least, false) } else { (key, exact) }
    }
    /// The same without allowances, as in the sweep over flows.
    #[inline(always)]
    fn plain_key(&self) -> (f64, bool) {
        let left = self.capacity - self.load;
        if self.free == 0 {
            let rounding = self.capacity * EPS;
            if left > rounding {
                return (self.level, false);
            }
            if left >= -rounding {
                return (f64::INFINITY, false);
            }
        }
        let (count, free) = (f64::from(self.count), f64::from(self.free));
        let (upper, lower) = if left * count > self.capacity * free { (left, free) } else { (self.capacity, count) };
        if self.level * lower <= upper {
            (self.level, false)
        } else if count == free {
            (self.capacity / count, true)
        } else {
            (upper / lower, false)
        }
    }
}

impl Groups {
    /// Makes a link dirty, if it is not; its key is worked out later.
    #[inline(always)]
    pub(super) fn soil(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        if link.epoch != self.epoch {
            link.epoch = self.epoch;
            link.before = link.level;
            link.phase = Phase::Old;
            self.dirty.push(id);
            self.waiting.push(id);
            link.place = self.pending.push(f64::INFINITY);
        }
    }

    /// Works out the key of a dirty link; one that is done keeps its infinite key.
    #[inline(always)]
    pub(super) fn rekey(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        if link.phase == Phase::Done {
            return;
        }
        let (key, exact) = link.key();
        link.is_exact = exact;
        self.pending.set(link.place, key);
    }

    /// Fixed flows on a link are slower from now on, all together by so much.
    #[inline(always)]
    fn slowed(&mut self, id: u32, by: f64) {
        let link = &mut self.links[id as usize];
        link.load -= by;
        if link.epoch == self.epoch || link.level < f64::INFINITY {
            self.soil(id);
            self.rekey(id);
        }
    }

    /// Works out anew at which level a link is full: the s with `sum over its flows of min(rate, s) = c`, free flows
    /// counting as s; infinite if even their rates as they are do not fill it.
    fn full_level(&mut self, id: u32) -> f64 {
        let link = &self.links[id as usize];
        let foreign = &self.lists[id as usize].foreign;
        let rates = &mut self.rates;
        rates.clear();
        let (mut load, mut fastest, mut free) = (0.0, 0.0, 0u32);
        for &(flow, _) in foreign {
            let group = self.flows.group[flow as usize];
            let rate = if group == NONE { f64::INFINITY } else { self.levels[group as usize] };
            if rate == f64::INFINITY {
                free += 1;
            } else {
                rates.push(rate);
                load += rate;
                fastest = if rate > fastest { rate } else { fastest };
            }
        }
        let own = f64::from(link.own);
        if link.own > 0 {
            if link.level == f64::INFINITY {
                free += link.own;
            } else {
                load += own * link.level;
                fastest = if link.level > fastest { link.level } else { fastest };
            }
        }
        debug_assert_eq!(free, link.free);
        let (capacity, old, count) = (link.capacity, link.level, f64::from(link.count));
        let mut level;
        if free == 0 && load < capacity * (1.0 - EPS) {
            level = f64::INFINITY;
        } else {
            level = if free > 0 { (capacity - load) / f64::from(free) } else { 0.0 };
            if level < fastest {
                let even = capacity / count;
                let next = |level: f64| {
                    let (mut below, mut slower) = (0.0, 0.0);
                    if old < level {
                        below += own * old;
                        slower += own;
                    }
                    for &rate in rates.iter() {
                        let is_slower = rate < level;
                        below += if is_slower { rate } else { 0.0 };
                        slower += if is_slower { 1.0 } else { 0.0 };
                    }
                    (capacity - below, count - slower)
                };
                // From anywhere the first step leads to at most the level, and each further one up to it.
                level = if link.before < f64::INFINITY { link.before } else { fastest };
                let (left, others) = next(level);
                level = if left > even * others { left / others } else { even };
                loop {
                    let (left, others) = next(level);
                    // (None at all: only by rounding, when all are just below the level.)
                    let next = if others > 0.0 { left / others } else { level };
                    if next <= level {
                        break;
                    }
                    level = next;
                }
            }
        }
        self.links[id as usize].load = load;
        if old < f64::INFINITY && (level - old).abs() <= EPS * old { old } else { level }
    }

    /// Makes a flow of another group, or of none, a link's own, at the link's level.
    fn transfer(&mut self, flow: u32, to: u32, level: f64) {
        let from = self.flows.group[flow as usize];
        let old = if from == NONE {
            self.pending.set(self.flows.own_place[flow as usize], f64::INFINITY);
            f64::INFINITY
        } else {
            let old = self.links[from as usize].level;
            self.take_own(flow, from);
            old
        };
        for hop in 0..self.flows.count(flow) {
            let id = self.flows.link(flow, hop);
            if !self.active[id as usize] {
                continue;
            }
            let link = &mut self.links[id as usize];
            let free = old == f64::INFINITY;
            if free {
                link.free -= 1;
                link.load += level;
            } else {
                link.load -= old - level;
            }
            let matters = link.epoch == self.epoch || link.level < f64::INFINITY;
            if id == from {
                self.put_foreign(id, flow, hop);
            } else if from != NONE {
                self.cut(from, id);
            }
            if id == to {
                self.take_foreign(id, flow, hop);
                self.flows.group[flow as usize] = to;
                continue;
            }
            self.tie(to, id);
            if matters && old != level {
                self.soil(id);
                self.rekey(id);
            }
        }
        self.put_own(flow, to);
        self.moved.push(flow);
    }

    /// The link no longer holds its own flows back at its old level: they are free, unless another link holds them there.
    fn release(&mut self, id: u32) {
        let level = self.links[id as usize].level;
        let limit = level * (1.0 + EPS);
        // Flows that another link holds as well at this level stay there.
        let mut e = 0;
        while e < self.lists[id as usize].edges.len() {
            let (other, _) = self.lists[id as usize].edges[e];
            let held = self.levels[other as usize];
            if held > limit {
                e += 1;
                continue;
            }
            let mut i = 0;
            while i < self.lists[other as usize].foreign.len() {
                let (flow, _) = self.lists[other as usize].foreign[i];
                if self.flows.group[flow as usize] == id {
                    self.transfer(flow, other, held);
                } else {
                    i += 1;
                }
            }
            // (The edge is gone, and perhaps others: from the start.)
            e = 0;
        }
        let own = self.links[id as usize].own;
        let link = &mut self.links[id as usize];
        link.level = f64::INFINITY;
        self.levels[id as usize] = f64::INFINITY;
        link.phase = Phase::Released;
        link.load -= f64::from(own) * level;
        link.free += own;
        for e in 0..self.lists[id as usize].edges.len() {
            let (other, flows) = self.lists[id as usize].edges[e];
            let link = &mut self.links[other as usize];
            link.load -= f64::from(flows) * level;
            link.free += flows;
            self.soil(other);
            self.rekey(other);
        }
        self.rekey(id);
    }

    /// The link is full at this level: its own flows are fixed there, and those that would be faster become its own.
    fn saturate(&mut self, id: u32, level: f64) {
        let link = &mut self.links[id as usize];
        let old = std::mem::replace(&mut link.level, level);
        self.levels[id as usize] = level;
        link.phase = Phase::Done;
        self.pending.set(link.place, f64::INFINITY);
        let own = link.own;
        if own > 0 && old != level {
            let is_free = old == f64::INFINITY;
            if is_free {
                link.free -= own;
                link.load += f64::from(own) * level;
            } else {
                link.load -= f64::from(own) * (old - level);
            }
            for e in 0..self.lists[id as usize].edges.len() {
                let (other, flows) = self.lists[id as usize].edges[e];
                if is_free {
                    let link = &mut self.links[other as usize];
                    link.load += f64::from(flows) * level;
                    link.free -= flows;
                    self.rekey(other);
                } else {
                    self.slowed(other, f64::from(flows) * (old - level));
                }
            }
        }
        let threshold = level * (1.0 + EPS);
        let mut i = 0;
        while i < self.lists[id as usize].foreign.len() {
            let (flow, _) = self.lists[id as usize].foreign[i];
            let group = self.flows.group[flow as usize];
            if group == NONE || self.levels[group as usize] > threshold {
                self.transfer(flow, id, level);
            } else {
                i += 1;
            }
        }
    }

    /// A free group with flows on this link whose own link is full at the same level: saturated first, it keeps its flows.
    ///
    /// Links in a row with the same flows are full at the same time; without this, their flows would move to and fro.
    fn incumbent(&mut self, id: u32, level: f64) -> Option<(u32, f64)> {
        let limit = level * (1.0 + EPS);
        let mut last = NONE;
        for i in 0..self.lists[id as usize].foreign.len() {
            let (flow, _) = self.lists[id as usize].foreign[i];
            let group = self.flows.group[flow as usize];
            if group == NONE || group == last {
                continue;
            }
            last = group;
            let link = &self.links[group as usize];
            if link.level < f64::INFINITY || link.key().0 > limit {
                continue;
            }
            let full = self.full_level(group);
            if full <= limit && self.links[group as usize].least >= full {
                return Some((group, full));
            }
        }
        None
    }

    /// Takes what has the smallest key one step on; `false` when nothing needs attention any more.
    pub(super) fn step(&mut self) -> bool {
        let Some((place, key)) = self.pending.smallest() else { return false };
        let id = self.waiting[place as usize];
        if id & FLOW != 0 {
            self.raise_alone(id & !FLOW, key);
            return true;
        }
        let link = &self.links[id as usize];
        let is_free = link.level == f64::INFINITY;
        if is_free && key == link.least && link.own > 0 {
            self.raise_group(id, key);
            return true;
        }
        let has_room = link.free == 0 && link.load < link.capacity * (1.0 - EPS);
        if has_room && key == link.level {
            self.release(id);
            return true;
        }
        let full = if link.is_exact { key } else { self.full_level(id) };
        let link = &mut self.links[id as usize];
        let old = if is_free && link.own > 0 { link.least } else { link.level };
        let next = if old < full { old } else { full };
        if next > key {
            if full <= old {
                link.is_exact = true;
            }
            self.pending.set(place, next);
        } else if link.level < full {
            self.release(id);
        } else if is_free && old < full {
            self.raise_group(id, key);
        } else {
            match self.incumbent(id, full) {
                Some((group, level)) => self.saturate(group, level),
                None => self.saturate(id, full),
            }
        }
        true
    }
}
