//! Exact max-min fairness, kept up to date by a sweep over groups: a full link with all the flows that it
//! holds back.

mod allowance;
#[cfg(test)]
mod check;
mod grants;
mod members;
mod sweep;
mod table;
mod waiting;

use super::policy::{Change, Sharing};
use allowance::Allowances;
use table::{EPS, Flows, Group, Link, NONE};
use waiting::Waiting;

/// Exact max-min fairness by groups. The rates equal those of [`MaxMin`](super::MaxMin) within 1e-12.
///
/// A *group* is a full link with the flows that it holds back, its *own* flows; the other flows on the link
/// are *foreign*. The rate of a flow is the level of its group and is stored only there. So when thousands of
/// flows share one link (an incast), a flow that comes or goes changes one number. Links and groups have
/// separate names, so that a group passes from one link to the next by changing two numbers.
///
/// # Solutions
///
/// Rates are max-min fair exactly if every link is in one of two states (Source: Bertsekas and Gallager,
/// *Data Networks*, section 6.5.2): it carries no more than its capacity and holds nothing back; or it is
/// full, and none of its flows is faster than its own. So any way to a solution is as good as another. A new
/// flow joins the group of the link that seems to be its narrowest. From then on links that are in neither
/// state *wait*. Each has a *key*, a lower bound of the level at which it will be full. The sweep ends when
/// no link waits.
///
/// # Sweep
///
/// The sweep takes the link with the smallest key and computes the level s with `sum over its flows of
/// min(rate, s) = c`, its own flows counting as s. Faster flows become its own, and its group is given that
/// level. The effect on another link follows from the *edge* of the group to it, the number of own flows that
/// cross it.
///
/// 1. An overloaded link waits for the *water*, the smallest key of all, to reach that level: until then more flows may
///    come.
/// 2. A link has room at the level of its group. Nothing below this level will change any more, so foreign flows cannot
///    become slower. Its group rises to the new level at once, although the water is lower and other links may catch
///    some of its flows on the way. Those links are overloaded then, and take these flows when the water reaches them;
///    the bandwidth that such flows leave is room again. Flows that another link holds at the old level stay there, in
///    its group.
///
/// The sweep ends: a link that takes flows when the water is at its level does not change any more. A group
/// that has risen is looked at again only when some of its link's flows have been taken.
///
/// # Links that cannot be full
///
/// Only *active* links have edges and take part. Each flow has an *allowance*, which is at least its rate.
/// While the allowances of its flows add up to no more than its capacity, a link cannot be full and is
/// inactive. When the level of a group is set above the least allowance of its flows, the allowances that it
/// reaches are raised by 2 % to 25 %. Where a link has no room for that, the allowances of its other flows
/// are lowered to little above their rates. If that is not enough, the link becomes active. An active link
/// that is 5 % below its capacity after a solve becomes inactive. Allowances are whole multiples of a unit
/// (2^-40 of the largest capacity), so their sums are exact.
///
/// Cost of a solve: O(e + l) for each level that changes, for a group with e edges and a link crossed by l
/// groups. Each flow of h links that leaves the rest of its group, or has its allowance raised, costs O(h).
/// An incast of n flows costs O(1) an event on average, since all allowances are raised only after the level
/// has grown by a few percent.
#[derive(Clone, Debug)]
pub struct Groups {
    links: Vec<Link>,
    /// By link: set if it is active.
    active: Vec<bool>,
    /// By link: its flows, each with the index of this link among the flow's links.
    lists: Vec<Vec<(u32, u32)>>,
    groups: Vec<Group>,
    /// By group: its level, which is the rate of each of its flows \[B/s\].
    levels: Vec<f64>,
    /// Groups that are not in use.
    vacant: Vec<u32>,
    flows: Flows,
    allowances: Allowances,
    /// Number of the current solve.
    epoch: u32,
    waiting: Waiting,
    /// Groups whose level has been set since the last solve.
    touched: Vec<u32>,
    /// Flows that may have changed group since the last solve, perhaps more than once.
    moved: Vec<u32>,
    /// Links that may become inactive.
    idle: Vec<u32>,
    /// Working memory of the sweep.
    scratch: Vec<u32>,
    faster: Vec<(u32, u32)>,
    /// By flow: the rate last reported, where changes are reported by flow.
    reported: Vec<f64>,
}

impl Groups {
    /// Creates links of these capacities \[B/s\] without flows.
    pub fn new(capacities: Vec<f64>) -> Self {
        let widest = capacities.iter().copied().fold(0.0, f64::max);
        Self {
            allowances: Allowances::new(&capacities),
            active: vec![false; capacities.len()],
            lists: vec![Vec::new(); capacities.len()],
            links: capacities.into_iter().map(Link::new).collect(),
            groups: vec![Group { link: NONE, epoch: 0, least: f64::INFINITY, own: Vec::new(), edges: Vec::new() }],
            levels: vec![0.0],
            vacant: Vec::new(),
            flows: Flows::default(),
            epoch: 1,
            waiting: Waiting::new(widest),
            touched: Vec::new(),
            moved: Vec::new(),
            idle: Vec::new(),
            scratch: Vec::new(),
            faster: Vec::new(),
            reported: Vec::new(),
        }
    }

    /// Adds a flow. It joins the group of the link that seems to be its narrowest, at the level expected
    /// there.
    pub fn add_flow(&mut self, flow: u32, links: &[u32]) {
        self.flows.reserve(flow, links);
        self.flows.group[flow as usize] = NONE;
        let (mut narrowest, mut estimate) = (NONE, f64::INFINITY);
        for (hop, &id) in links.iter().enumerate() {
            self.links[id as usize].count += 1;
            self.put_listed(id, flow, hop);
            let level = self.estimated_level(id);
            if level < estimate {
                (narrowest, estimate) = (id, level);
            }
        }
        self.first_allowance(flow, estimate);
        if narrowest == NONE {
            return;
        }
        if !self.active[narrowest as usize] {
            self.activate(narrowest);
            estimate = self.estimated_level(narrowest);
        }
        let mut group = self.links[narrowest as usize].group;
        if group == NONE {
            group = self.create_group(narrowest, estimate);
        } else if estimate < self.levels[group as usize] * (1.0 - EPS) {
            self.set_level(group, estimate);
        }
        // (There may be faster flows.)
        self.links[narrowest as usize].is_suspect = true;
        let level = self.levels[group as usize];
        // (This comes before it joins, so that the least allowance of the group is unchanged.)
        if self.allowances.rate(flow) < level {
            self.raise(flow, level);
        }
        self.put_own(flow, group);
        for &id in links {
            if self.active[id as usize] {
                self.add_crossings(group, id, 1);
                self.load(id, level, level, 1);
            }
        }
    }

    /// Estimates the level at which a link would hold back a new flow \[B/s\].
    fn estimated_level(&self, id: u32) -> f64 {
        let link = &self.links[id as usize];
        let left = if link.group != NONE {
            let own = self.groups[link.group as usize].own.len() as f64;
            (link.capacity - link.load + own * self.levels[link.group as usize]) / (own + 1.0)
        } else if self.active[id as usize] {
            link.capacity - link.load
        } else {
            self.allowances.slack(id)
        };
        left.max(link.capacity / f64::from(link.count))
    }

    /// Removes a flow.
    pub fn remove_flow(&mut self, flow: u32) {
        let group = self.flows.group[flow as usize];
        self.drop_allowance(flow);
        let mut level = 0.0;
        if group != NONE {
            level = self.levels[group as usize];
            self.take_own(flow, group);
            if self.groups[group as usize].own.is_empty() {
                let link = self.groups[group as usize].link;
                self.links[link as usize].group = NONE;
            }
        }
        for hop in 0..self.flows.count(flow) {
            let id = self.flows.link(flow, hop);
            self.take_listed(id, flow, hop);
            let link = &mut self.links[id as usize];
            link.count -= 1;
            if self.active[id as usize] {
                self.remove_crossing(group, id);
                // (An empty link keeps no rounding error.)
                let link = &self.links[id as usize];
                let by = if link.count == 0 { -link.load } else { -level };
                self.load(id, by, level, 1);
            }
        }
        if group != NONE && self.groups[group as usize].own.is_empty() {
            self.disband(group);
        }
        self.flows.clear(flow);
    }

    /// Computes the levels. The changes can be read until [`Groups::end_solve`].
    pub fn solve_groups(&mut self) {
        while self.step() {}
        for index in 0..self.idle.len() {
            let link = self.idle[index];
            self.links[link as usize].is_idle = false;
            self.retire(link);
        }
        self.idle.clear();
    }

    /// Returns a bound above the name of every group so far; names are used again.
    pub fn group_bound(&self) -> usize {
        self.groups.len()
    }

    /// Returns the groups whose level may have changed, each once.
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Returns the flows that may have come, gone or changed group, perhaps more than once.
    pub fn moved(&self) -> &[u32] {
        &self.moved
    }

    /// Returns the group of a flow; `None` if there is no such flow.
    pub fn group(&self, flow: u32) -> Option<u32> {
        self.flows.group.get(flow as usize).copied().filter(|&group| group != NONE)
    }

    /// Returns the level of a group \[B/s\].
    pub fn level(&self, group: u32) -> f64 {
        self.levels[group as usize]
    }

    /// Clears the lists of changes.
    pub fn end_solve(&mut self) {
        self.moved.clear();
        self.touched.clear();
        if self.epoch == u32::MAX {
            self.groups.iter_mut().for_each(|group| group.epoch = 0);
            self.epoch = 0;
        }
        self.epoch += 1;
    }

    /// Returns the rate of a flow \[B/s\]; 0 if there is no such flow.
    #[inline(always)]
    fn rate_of(&self, flow: u32) -> f64 {
        let group = self.flows.group[flow as usize];
        if group == NONE { 0.0 } else { self.levels[group as usize] }
    }
}

/// Rates by flow: cheap by groups, but this interface takes time for each flow.
impl Sharing for Groups {
    fn add(&mut self, flow: u32, links: &[u32]) {
        if self.reported.len() <= flow as usize {
            self.reported.resize(flow as usize + 1, 0.0);
        }
        self.add_flow(flow, links);
    }

    fn remove(&mut self, flow: u32) {
        self.reported[flow as usize] = 0.0;
        self.remove_flow(flow);
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        self.solve_groups();
        let Self { groups, levels, flows, touched, moved, reported, .. } = self;
        let mut tell = |flow: u32, new: f64| {
            let old = std::mem::replace(&mut reported[flow as usize], new);
            if old != new {
                changes.push(Change { flow, old, new });
            }
        };
        for &group in &*touched {
            groups[group as usize].own.iter().for_each(|&flow| tell(flow, levels[group as usize]));
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
        self.group(flow).map(|group| self.groups[group as usize].link)
    }
}
