//! Exact max-min fairness, kept up to date by a sweep over groups: a full link with all that it holds back.

mod allowance;
#[cfg(test)]
mod check;
mod sweep;
mod table;

use super::pending::Pending;
use super::{Change, Sharing};
use allowance::Allowances;
use table::{Flows, Link, Lists};

/// Levels closer than this, relatively, are the same level.
const EPS: f64 = 1e-12;

/// No group: the flow is free by itself.
const NONE: u32 = u32::MAX;

/// In the list of what waits: a flow that is free by itself, not a link.
const FLOW: u32 = 1 << 31;

/// Exact max-min fairness by groups: the same rates as those of [`MaxMin`](super::MaxMin), within 1e-12, in another way.
///
/// A *group* is a full link with the flows that it holds back, its *own* flows; the other flows on the link are
/// *foreign*. The rate of a flow is the level of its group, and nothing else is kept of it: when thousands of flows share
/// one link (an incast), one that comes or goes changes one number.
///
/// # The sweep
///
/// That of [`MaxMin`](super::MaxMin), with groups for flows: dirty links are taken in ascending order of levels; a link
/// that is not full at its old level is released, which makes all of its own flows free at once; a link that is full
/// saturates: its own flows are fixed by setting its level, and foreign ones that would be faster become its own. What
/// that changes on another link is known from the *edge* of the group to it, the number of own flows that cross it. Flows
/// whose group is released and that a second link holds back at the same level become that link's own at once.
///
/// # Links that cannot be full
///
/// Only *active* links have edges and take part. Each flow has an *allowance*, which is at least its rate; as long as the
/// allowances of its flows add up to no more than its capacity, a link cannot be full and is inactive. When the water
/// reaches the least allowance of a free group, those that it reaches are raised by 2 % to 25 %; where a link has no room
/// for that, the allowances of the others on it are lowered to little above their rates; where that is not enough, the
/// link becomes active. An active link that is 7 % below its capacity after a solve becomes inactive. Allowances are
/// whole multiples of a unit (2^-40 of the largest capacity), so their sums are exact.
///
/// Cost of a solve: O(e + l) a level that changes, for a group with e edges and a link with l foreign flows, and O(h) for
/// each flow of h links that changes its group or has its allowance raised. An incast of n is O(1) an event on average,
/// since allowances of all are raised only after the level has grown by a few percent.
#[derive(Clone, Debug)]
pub struct Groups {
    links: Vec<Link>,
    /// By link: its level once more, close together.
    levels: Vec<f64>,
    /// By link: whether it is active.
    active: Vec<bool>,
    lists: Vec<Lists>,
    flows: Flows,
    allowances: Allowances,
    /// Number of the current solve; a link is dirty when it carries this number.
    epoch: u32,
    dirty: Vec<u32>,
    pending: Pending,
    /// By place in the pending set: a link, or a flow that is free by itself (with the bit [`FLOW`]).
    waiting: Vec<u32>,
    /// Flows that may have changed group since the last solve, perhaps more than once.
    moved: Vec<u32>,
    /// Own flows and rates that are being looked at.
    scratch: Vec<u32>,
    rates: Vec<f64>,
    /// By flow: the rate last told, where changes are asked for by flow.
    told: Vec<f64>,
}

impl Groups {
    /// No flows on links of these capacities \[B/s\].
    pub fn new(capacities: Vec<f64>) -> Self {
        Self {
            allowances: Allowances::new(&capacities),
            levels: vec![f64::INFINITY; capacities.len()],
            active: vec![false; capacities.len()],
            lists: vec![Lists::default(); capacities.len()],
            links: capacities.into_iter().map(Link::new).collect(),
            flows: Flows::default(),
            epoch: 1,
            dirty: Vec::new(),
            pending: Pending::default(),
            waiting: Vec::new(),
            moved: Vec::new(),
            scratch: Vec::new(),
            rates: Vec::new(),
            told: Vec::new(),
        }
    }

    /// A flow comes; it has no group until the next [`Groups::solve_groups`].
    pub fn add_flow(&mut self, flow: u32, links: &[u32]) {
        self.flows.reserve(flow, links);
        let mut estimate = f64::INFINITY;
        for (hop, &id) in links.iter().enumerate() {
            let is_active = self.active[id as usize];
            let link = &mut self.links[id as usize];
            link.count += 1;
            let even = link.capacity / f64::from(link.count);
            let hope = if !is_active {
                even.max(self.allowances.slack(id))
            } else if link.level < f64::INFINITY {
                link.level
            } else {
                even.max(link.capacity - link.load)
            };
            estimate = estimate.min(hope);
            self.put_foreign(id, flow, hop);
            if is_active {
                self.soil(id);
                self.links[id as usize].free += 1;
            }
        }
        let allowance = self.first_allowance(flow, estimate);
        self.flows.group[flow as usize] = NONE;
        self.flows.own_place[flow as usize] = self.pending.push(allowance);
        self.waiting.push(flow | FLOW);
        self.moved.push(flow);
    }

    /// A flow goes.
    pub fn remove_flow(&mut self, flow: u32) {
        let group = self.flows.group[flow as usize];
        let rate = self.group_rate(group);
        if group == NONE {
            self.pending.set(self.flows.own_place[flow as usize], f64::INFINITY);
        }
        self.drop_allowance(flow);
        for hop in 0..self.flows.count(flow) {
            let id = self.flows.link(flow, hop);
            let link = &mut self.links[id as usize];
            link.count -= 1;
            let count = link.count;
            if self.active[id as usize] {
                if rate == f64::INFINITY {
                    link.free -= 1;
                } else {
                    link.load -= rate;
                }
                if link.level < f64::INFINITY {
                    self.soil(id);
                }
                if group != NONE && group != id {
                    self.cut(group, id);
                }
            }
            if id == group {
                self.take_own(flow, id);
            } else {
                self.take_foreign(id, flow, hop);
            }
            if count == 0 {
                let link = &mut self.links[id as usize];
                link.load = 0.0;
                link.level = f64::INFINITY;
                self.levels[id as usize] = f64::INFINITY;
                self.active[id as usize] = false;
            }
        }
        self.flows.clear(flow);
    }

    /// Works out the levels; what has changed can be asked for until [`Groups::end_solve`].
    pub fn solve_groups(&mut self) {
        for index in 0..self.dirty.len() {
            self.rekey(self.dirty[index]);
        }
        while self.step() {}
        for index in 0..self.dirty.len() {
            let link = self.dirty[index];
            if self.active[link as usize] && self.levels[link as usize] == f64::INFINITY {
                self.retire(link);
            }
        }
    }

    /// The groups whose level may have changed, each once; a group is named by its link.
    pub fn touched(&self) -> &[u32] {
        &self.dirty
    }

    /// The flows that may have come, gone or changed group, perhaps more than once.
    pub fn moved(&self) -> &[u32] {
        &self.moved
    }

    /// The group of a flow that is there.
    pub fn group(&self, flow: u32) -> Option<u32> {
        self.flows.group.get(flow as usize).copied().filter(|&group| group != NONE)
    }

    /// The level of a group \[B/s\]; infinite where the link is not full.
    pub fn level(&self, group: u32) -> f64 {
        self.levels[group as usize]
    }

    /// Forgets what has changed.
    pub fn end_solve(&mut self) {
        self.moved.clear();
        self.dirty.clear();
        self.waiting.clear();
        self.pending.clear();
        if self.epoch == u32::MAX {
            self.links.iter_mut().for_each(|link| link.epoch = 0);
            self.epoch = 0;
        }
        self.epoch += 1;
    }

    /// The rate of the flows of a group \[B/s\], infinite while they are free.
    #[inline(always)]
    fn group_rate(&self, group: u32) -> f64 {
        if group == NONE { f64::INFINITY } else { self.levels[group as usize] }
    }
}

/// Rates by flow, for whoever wants them: what is cheap by groups takes time for each flow here.
impl Sharing for Groups {
    fn add(&mut self, flow: u32, links: &[u32]) {
        if self.told.len() <= flow as usize {
            self.told.resize(flow as usize + 1, 0.0);
        }
        self.add_flow(flow, links);
    }

    fn remove(&mut self, flow: u32) {
        self.told[flow as usize] = 0.0;
        self.remove_flow(flow);
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        self.solve_groups();
        let Self { dirty, lists, levels, flows, moved, told, .. } = self;
        let mut tell = |flow: u32, new: f64| {
            let old = std::mem::replace(&mut told[flow as usize], new);
            if old != new {
                changes.push(Change { flow, old, new });
            }
        };
        for &id in &*dirty {
            lists[id as usize].own.iter().for_each(|&flow| tell(flow, levels[id as usize]));
        }
        for &flow in &*moved {
            let group = flows.group[flow as usize];
            // (None: it came and went since the last solve.)
            if group != NONE {
                tell(flow, levels[group as usize]);
            }
        }
        self.end_solve();
        #[cfg(test)]
        self.check();
    }

    fn rate(&self, flow: u32) -> f64 {
        self.group(flow).map_or(0.0, |group| self.level(group))
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        self.group(flow)
    }
}
