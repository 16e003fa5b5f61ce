//! Exact max-min fairness, kept up to date by a sweep over the links around each change.

use super::alignment::{Aligned, WholeLine};
use super::flow_table::{FlowTable, NewFlow, Part, WholePart};
use super::incidence::Incidence;
use super::pending::Pending;
use super::policy::{Change, Sharing, Terms};
use std::hint::select_unpredictable;

/// Largest number of dirty links around which everything is prefetched at once. With more, only data needed
/// soon is.
const FETCHED: usize = 1 << 10;

/// Prefetch distance, in links.
const PREFETCH_DISTANCE: usize = 16;

/// Levels closer than this, relatively, are the same level.
pub(super) const EPS: f64 = 1e-12;

/// Exact max-min fairness: no flow can be made faster without making one slower that is not faster than it.
///
/// Equivalently, every flow has a *bottleneck*: a link that is full and on which no flow is faster. With
/// `level(l)` the rate at which link l holds its flows back (infinite if it has room to spare):
/// ```text
/// rate(f) = min over links l of f of level(l),     sum over flows f on l of rate(f) <= c(l)
/// ```
/// Source: Bertsekas and Gallager, *Data Networks*, section 6.5.2; the limit of mode N of MFS.
///
/// # Sweep
///
/// *Water-filling* finds the rates from nothing: raise all rates together; when a link is full, its flows
/// stop there, at its level; all other flows continue. When a flow comes or goes, the water-filling below the
/// lowest affected level is unchanged. So the sweep replays the water-filling, in ascending order of levels,
/// only on *dirty* links (those whose flows came, went or changed rate), and keeps the old rates on all other
/// links. At any moment a flow is either *fixed* (its rate is known) or *free* (it rises with the water; rate
/// = infinity in the table), and a dirty link is
///
/// 1. *old*: the water is below its old level, and so far it holds its flows back as before;
/// 2. *released*: it no longer holds anything back at its old level: flows that it alone held back are free;
/// 3. *done*: it is full, at its new level.
///
/// Each dirty link has a *key*, a lower bound of the next level at which something happens on it. At its old
/// level it may turn out not to be full, and is released. At the level at which it is full it saturates: its
/// free flows are fixed at that level, and so are the flows whose old rate is above it. The sweep takes the
/// link with the smallest key; if its exact level is higher, it goes back with that key. Each link saturates
/// at most once, so there is no iteration. Changes spread only through flows whose rate really changes.
///
/// Sums of rates are added up again whenever a level is computed exactly, so rounding errors do not pile up.
/// A level within 1e-12 of the old one *is* the old one, so that they do not spread either.
///
/// # Parts and weights
///
/// The sweep works on levels, `rate / weight`, and on bandwidth at level 1. So flows on several paths and
/// with weights take the same sweep; `K` is the kind of flows. For flows on one path with weights of 1
/// (`WholePart`) levels are rates, sums of parts are numbers of flows, and nothing is stored or multiplied.
///
/// Cost of a solve: O(d·(d + m·h)) for d dirty links with m flows each and h links a flow; on a 3,456-node
/// fat-tree under a random all-to-all d is about 15 and m about 2.
#[derive(Clone, Debug)]
pub struct WaterFilling<K: Sums> {
    /// Flows on links. The level of a flow is infinite while it is free.
    table: K::Table,
    sweep: Sweep,
    /// Flows whose level may have changed, each once, with the old rate.
    moved: Vec<(u32, f64)>,
}

/// Exact max-min fairness of flows on one path each, without weights or limits; see [`WaterFilling`].
pub type MaxMin = WaterFilling<WholePart>;

/// Sums of the parts of a link's flows, for flows with parts and weights, and the state of a link that is a
/// pipe.
pub trait Sums: Clone + std::fmt::Debug + Default + Send {
    /// Part of a flow.
    type Part: Part;

    /// Table of flows on links.
    type Table: FlowTable<State = LinkState<Self>, Part = Self::Part> + Clone;

    /// True if sums are numbers of flows: exact in any order of summation.
    const ARE_COUNTS: bool = false;

    /// Returns the sum over the free flows of a link, and over all of its flows.
    fn free_and_total(state: &mut LinkState<Self>, around: <Self::Part as Part>::Around<'_>) -> (f64, f64);

    /// Returns one of the sums of [`Sums::free_and_total`].
    #[inline(always)]
    fn free_or_total(
        _state: &LinkState<Self>,
        _around: <Self::Part as Part>::Around<'_>,
        is_free: bool,
        (free, total): (f64, f64),
    ) -> f64 {
        if is_free { free } else { total }
    }

    /// Adds to the sums over the free flows and over all flows of a link of this capacity.
    fn shift(&mut self, _capacity: f64, _free: f64, _total: f64) {}

    /// Sets the sum over the free flows to 0, if there are none.
    fn none_free(&mut self) {}

    /// Replaces the sums by newly computed ones.
    fn renew(&mut self, _free: f64, _total: f64) {}

    /// Returns a lower bound of the level at which the link is full, if it is a pipe.
    fn pipe(&self) -> Option<f64> {
        None
    }

    /// Makes the link a pipe that is full at this level or above; returns false where there are no pipes.
    fn set_pipe(&mut self, _level: f64) -> bool {
        false
    }
}

impl Sums for WholePart {
    type Part = Self;
    type Table = Incidence<LinkState<Self>>;

    const ARE_COUNTS: bool = true;

    #[inline(always)]
    fn free_and_total(state: &mut LinkState<Self>, around: u32) -> (f64, f64) {
        (f64::from(state.free), f64::from(around))
    }

    #[inline(always)]
    fn free_or_total(state: &LinkState<Self>, around: u32, is_free: bool, _: (f64, f64)) -> f64 {
        f64::from(select_unpredictable(is_free, state.free, around))
    }
}

/// Dirty links, in order of attention.
#[derive(Clone, Debug)]
struct Sweep {
    /// Number of the current solve; a link with this number is dirty.
    epoch: u32,
    dirty: Vec<u32>,
    pending: Pending,
}

/// State of a link in the sweep: 40 bytes for whole flows, so that it shares a cache line with the list of
/// flows.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LinkState<K> {
    /// Capacity \[B/s\].
    pub(super) capacity: f64,
    /// Level at which it holds its flows back; infinite if it is not full.
    level: f64,
    /// Bandwidth that its fixed flows take \[B/s\].
    pub(super) load: f64,
    epoch: u32,
    /// Number of its free flows.
    pub(super) free: u32,
    /// Place of its key in the pending set; valid while it is dirty.
    place: u32,
    /// Set if the key is the exact level, not just a lower bound; valid while it is dirty.
    is_exact: bool,
    pub(super) sums: K,
}

impl<K: std::fmt::Debug> Aligned for LinkState<K> {
    type Alignment = WholeLine;
}

const _: () = assert!(size_of::<LinkState<WholePart>>() <= 40, "a link and its first flows fit in a cache line");

/// Sums over the flows of a link.
#[derive(Default)]
pub(super) struct Taken<S> {
    /// Bandwidth of the fixed flows \[B/s\].
    pub(super) load: f64,
    /// Highest level of a fixed flow.
    highest: f64,
    /// Bandwidth of the free flows at level 1.
    pub(super) free: S,
    /// Bandwidth of all flows at level 1.
    pub(super) total: S,
}

impl<S: Default> Taken<S> {
    #[inline(always)]
    pub(super) fn by<P: Part<Sum = S>>(flows: impl Iterator<Item = (P, f64)>) -> Self {
        let mut taken = Self::default();
        for (part, level) in flows {
            part.add_to(&mut taken.total);
            if level == f64::INFINITY {
                part.add_to(&mut taken.free);
            } else {
                taken.load += part.times(level);
                taken.highest = if level > taken.highest { level } else { taken.highest };
            }
        }
        taken
    }
}

impl<K: Sums> LinkState<K> {
    /// Creates a link without flows.
    fn new(capacity: f64) -> Self {
        let level = f64::INFINITY;
        Self { capacity, level, load: 0.0, epoch: 0, free: 0, place: 0, is_exact: false, sums: K::default() }
    }

    /// Adds to the sums over the free flows and over all flows, when a flow comes, goes, or becomes free or
    /// fixed.
    #[inline(always)]
    fn shift(&mut self, free: f64, total: f64) {
        self.sums.shift(self.capacity, free, total);
    }

    /// Sets the lower bound of the level at which the link is full, if it is a pipe.
    #[inline(always)]
    fn bound_pipe(&mut self, level: f64) {
        if self.sums.pipe().is_some() {
            self.sums.set_pipe(level);
        }
    }

    /// True if no flow is free and its flows leave room.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.free == 0 && self.load < self.capacity * (1.0 - EPS) && self.sums.pipe().is_none()
    }

    /// Returns a lower bound of the next level at which this link needs attention before it is done, and true
    /// if the bound is exact.
    ///
    /// Here `level` is its old level, at which it holds its flows back unless something happens below it;
    /// infinite once it is released.
    #[inline(always)]
    fn key(&mut self, around: <K::Part as Part>::Around<'_>) -> (f64, bool) {
        if let Some(first) = self.sums.pipe() {
            return (self.level.min(first), false);
        }
        if self.free == 0 {
            self.sums.none_free();
            let (left, rounding) = (self.capacity - self.load, self.capacity * EPS);
            if left > rounding {
                return (self.level, false); // room to spare: at the old level its flows are released
            }
            if left >= -rounding {
                return (f64::INFINITY, false); // exactly full: nothing to do
            }
        }
        let (free, total) = K::free_and_total(self, around);
        let left = self.capacity - self.load;
        // The larger of the even share c / total and the rest for the free flows, (c - load) / free. They are
        // compared by multiplication, which leaves one division, and none where the old level comes first.
        let by_rest = left * total > self.capacity * free;
        let upper = if by_rest { left } else { self.capacity };
        let lower = K::free_or_total(self, around, by_rest, (free, total));
        if self.level * lower <= upper {
            (self.level, false)
        } else if K::ARE_COUNTS && total == free {
            (self.capacity / total, true) // all rise together
        } else {
            (upper / lower, false)
        }
    }
}

impl Sweep {
    /// Makes a link dirty, if it is not; its key is computed later.
    #[inline(always)]
    fn mark_dirty<K>(&mut self, link: u32, state: &mut LinkState<K>) {
        if state.epoch != self.epoch {
            state.epoch = self.epoch;
            self.dirty.push(link);
            state.place = self.pending.join();
        }
    }

    /// Computes the key of a dirty link.
    #[inline(always)]
    fn set_key<K: Sums>(&mut self, state: &mut LinkState<K>, around: <K::Part as Part>::Around<'_>) {
        let (key, is_exact) = state.key(around);
        state.is_exact = is_exact;
        self.pending.set(state.place, key);
    }
}

impl<K: Sums> WaterFilling<K> {
    /// Creates links of these capacities \[B/s\] without flows.
    pub fn new(capacities: Vec<f64>) -> Self {
        Self {
            table: FlowTable::new(capacities.len(), |link| LinkState::new(capacities[link])),
            sweep: Sweep { epoch: 1, dirty: Vec::new(), pending: Pending::default() },
            moved: Vec::new(),
        }
    }

    /// Computes the level at which a link is full: the s with `sum over its flows of part * min(level, s) =
    /// c`, free flows counting as s. The level is infinite if even the present levels do not fill the link.
    fn full_level(&mut self, link: u32) -> f64 {
        let table = &self.table;
        let state = table.state(link);
        let (capacity, old) = (state.capacity, state.level);
        let kept = |level: f64| if old < f64::INFINITY && (level - old).abs() <= EPS * old { old } else { level };
        if state.sums.pipe().is_some() {
            let reaches = table.parts(link).map(|(part, level)| (capacity / part.times(1.0), level));
            let reached = reaches.filter(|&(reach, level)| level >= reach * (1.0 - EPS));
            let full = reached.map(|(reach, _)| reach).fold(f64::INFINITY, f64::min);
            self.table.link_mut(link).0.sums.set_pipe(full);
            return kept(full);
        }
        let Taken { load, highest, free, total } = Taken::by(table.parts(link));
        let (free, total): (f64, f64) = (free.into(), total.into());
        let state = self.table.link_mut(link).0;
        state.load = load;
        state.sums.renew(free, total);
        let has_room = free == 0.0 && load < capacity * (1.0 - EPS);
        let mut level = if free > 0.0 { (capacity - load) / free } else { 0.0 };
        if level < highest && !has_room {
            // Some fixed flows are above the level: those below it keep their levels, the rest share what
            // these leave.
            level = capacity / total;
            loop {
                let (mut below, mut others) = (0.0, <K::Part as Part>::Sum::default());
                for (part, at) in self.table.parts(link) {
                    below += part.times(if at < level { at } else { 0.0 });
                    part.add_to_if(&mut others, at >= level);
                }
                let others: f64 = others.into();
                if others == 0.0 {
                    break; // only by rounding: all flows are (just) below the level
                }
                let next = (capacity - below) / others;
                if next <= level {
                    break;
                }
                level = next;
            }
        }
        if has_room { f64::INFINITY } else { kept(level) }
    }

    /// Releases a link, which no longer holds its flows back at its old level: flows that no other link holds
    /// there become free.
    fn release(&mut self, link: u32) {
        let Self { table, sweep, moved } = self;
        let level = std::mem::replace(&mut table.link_mut(link).0.level, f64::INFINITY);
        let threshold = level * (1.0 - EPS);
        // Changes on this link itself are added up: its key is computed once.
        let (mut freed, mut freed_load, mut freed_parts) = (0, 0.0, 0.0);
        for place in 0..table.count(link) {
            let (flow, part) = table.flow_at(link, place);
            let at = table.known_level(flow);
            if at < threshold || at == f64::INFINITY {
                continue;
            }
            let limit = at * (1.0 + EPS);
            if table.any_link(flow, |state| state.level <= limit) {
                continue;
            }
            moved.push((flow, table.rate_at(flow, at)));
            table.set_level(flow, f64::INFINITY);
            freed += 1;
            freed_load += part.times(at);
            freed_parts += part.times(1.0);
            table.visit_links(flow, |other, state, part, around| {
                if other != link {
                    state.load -= part.times(at);
                    state.free += 1;
                    state.shift(part.times(1.0), 0.0);
                    sweep.mark_dirty(other, state);
                    sweep.set_key(state, around);
                }
            });
        }
        let (state, around) = table.link_mut(link);
        state.load -= freed_load;
        state.free += freed;
        state.shift(freed_parts, 0.0);
        state.bound_pipe(0.0);
        sweep.set_key(state, around);
    }

    /// Saturates a link, which is full at this level: flows that would be above it are fixed there.
    fn saturate(&mut self, link: u32, level: f64) {
        let Self { table, sweep, moved } = self;
        let (state, _) = table.link_mut(link);
        state.level = level;
        sweep.pending.set(state.place, f64::INFINITY);
        let threshold = level * (1.0 + EPS);
        // With numbers of flows, changes on this link itself are added up.
        let (mut fixed, mut added_load) = (0, 0.0);
        for place in 0..table.count(link) {
            let (flow, part) = table.flow_at(link, place);
            let at = table.known_level(flow);
            if at <= threshold {
                continue;
            }
            table.set_level(flow, level);
            if at == f64::INFINITY {
                fixed += 1;
                added_load += part.times(level);
                table.visit_links(flow, |other, state, part, around| {
                    if K::ARE_COUNTS && other == link {
                        return;
                    }
                    // (The link is dirty since the flow became free.)
                    debug_assert_eq!(state.epoch, sweep.epoch);
                    state.load += part.times(level);
                    state.free -= 1;
                    state.shift(-part.times(1.0), 0.0);
                    if other != link {
                        sweep.set_key(state, around);
                    }
                });
            } else {
                moved.push((flow, table.rate_at(flow, at)));
                added_load += part.times(level - at);
                table.visit_links(flow, |other, state, part, around| {
                    if K::ARE_COUNTS && other == link {
                        return;
                    }
                    state.load -= part.times(at - level);
                    // A link that had room has more of it now: nothing will happen there.
                    if other != link && (state.epoch == sweep.epoch || state.level < f64::INFINITY) {
                        sweep.mark_dirty(other, state);
                        sweep.set_key(state, around);
                    }
                });
            }
        }
        if K::ARE_COUNTS {
            let (state, _) = table.link_mut(link);
            state.load += added_load;
            state.free -= fixed;
        }
    }

    /// Prefetches links that became dirty after this one, and their flows. Where thousands are dirty at once,
    /// most are alike (messages that start together), and of equal keys the first comes first.
    #[inline]
    fn fetch_after(&self, place: usize) {
        let Self { table, sweep: Sweep { dirty, .. }, .. } = self;
        if let (Some(&next), Some(&soon), Some(later)) = (
            dirty.get(place + PREFETCH_DISTANCE / 4),
            dirty.get(place + PREFETCH_DISTANCE / 2),
            dirty.get(place + PREFETCH_DISTANCE..=place + PREFETCH_DISTANCE),
        ) {
            table.fetch_around(&[next]);
            table.fetch_flows(&[soon]);
            table.fetch_lines(later);
        }
    }

    /// Processes the link of the smallest key; returns false if no link needs attention any more.
    fn step(&mut self) -> bool {
        let Some((place, key)) = self.sweep.pending.smallest() else { return false };
        if self.sweep.dirty.len() > FETCHED {
            self.fetch_after(place as usize);
        }
        let link = self.sweep.dirty[place as usize];
        let state = self.table.state(link);
        if state.has_room() && key == state.level {
            self.release(link);
            return true;
        }
        let full = if state.is_exact { key } else { self.full_level(link) };
        let (state, _) = self.table.link_mut(link);
        let old_level = state.level;
        let next = if old_level < full { old_level } else { full };
        if next > key {
            // The key was only a lower bound. (It is exact from now on, unless the old level comes first:
            // then the link is looked at again there.)
            state.is_exact |= full <= old_level;
            self.sweep.pending.set(place, next);
        } else if old_level < full {
            self.release(link);
        } else {
            self.saturate(link, full);
        }
        true
    }

    /// Adds a flow.
    #[inline(always)]
    fn put(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        let Self { table, sweep, moved } = self;
        let Terms { weight, limit } = terms.checked();
        // The limit is a link that the flow crosses with part 1 / weight; the link's capacity is limit /
        // weight.
        let own = (limit < f64::INFINITY).then(|| {
            let link = table.own_link(flow, || LinkState::new(f64::INFINITY));
            table.link_mut(link).0.capacity = limit / weight;
            (link, 1.0 / weight)
        });
        let terms = Terms { weight, ..Terms::default() };
        table.add(NewFlow { flow, links, parts, own, terms }, f64::INFINITY, |link, state, part| {
            sweep.mark_dirty(link, state);
            state.free += 1;
            state.shift(part.times(1.0), part.times(1.0));
        });
        moved.push((flow, 0.0));
        if table.is_large() {
            table.fetch_flows(links);
        }
    }

    /// Starts the numbering of solves again before it overflows.
    fn next_epoch(&mut self) {
        if self.sweep.epoch == u32::MAX {
            self.table.states_mut().for_each(|state| state.epoch = 0);
            self.sweep.epoch = 0;
        }
        self.sweep.epoch += 1;
    }
}

impl<K: Sums> Sharing for WaterFilling<K> {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.put(flow, links, &[], Terms::default());
    }

    fn takes_terms(&self) -> bool {
        K::Table::TAKES_TERMS
    }

    fn add_on_terms(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        assert!(K::Table::TAKES_TERMS, "whole flows have neither parts nor weights");
        self.put(flow, links, parts, terms);
    }

    fn remove(&mut self, flow: u32) {
        let Self { table, sweep, .. } = self;
        if table.is_large() {
            table.fetch_beside(flow);
        }
        let level = table.set_level(flow, 0.0);
        table.remove(flow, |link, state, part, is_empty| {
            let part_free = if level == f64::INFINITY { part.times(1.0) } else { 0.0 };
            if level == f64::INFINITY {
                state.free -= 1;
            } else {
                state.load -= part.times(level);
            }
            state.shift(-part_free, -part.times(1.0));
            // (A link that had room has more of it now: nothing will happen there.)
            if state.level < f64::INFINITY {
                sweep.mark_dirty(link, state);
            }
            if is_empty {
                state.load = 0.0;
                state.level = f64::INFINITY;
                state.sums.renew(0.0, 0.0);
                state.bound_pipe(f64::INFINITY);
            }
        });
    }

    fn expect(&self, flow: u32, after: usize) {
        self.table.fetch(flow, after);
    }

    fn expect_on(&self, links: &[u32], after: usize) {
        self.table.fetch_on(links, after);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        let Self { table, sweep, .. } = self;
        let count = table.count(link);
        let (state, _) = table.link_mut(link);
        state.capacity = capacity;
        state.bound_pipe(0.0);
        if count > 0 {
            sweep.mark_dirty(link, state);
        }
    }

    fn make_pipe(&mut self, link: u32, capacity: f64) -> bool {
        let (state, _) = self.table.link_mut(link);
        let is_pipe = state.sums.set_pipe(f64::INFINITY);
        if is_pipe {
            state.capacity = capacity;
        }
        is_pipe
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        if self.table.is_large() && self.sweep.dirty.len() <= FETCHED {
            // The sweep will most likely look at the links of all flows on dirty links.
            self.table.fetch_around(&self.sweep.dirty);
        }
        for index in 0..self.sweep.dirty.len() {
            if let Some(later) = self.sweep.dirty.get(index + PREFETCH_DISTANCE..=index + PREFETCH_DISTANCE) {
                self.table.fetch_lines(later);
            }
            let (state, around) = self.table.link_mut(self.sweep.dirty[index]);
            self.sweep.set_key(state, around);
        }
        while self.step() {}
        for &(flow, old) in &self.moved {
            let new = self.rate(flow);
            // (0: the flow came and went since the last solve.)
            if new != old && new > 0.0 {
                changes.push(Change { flow, old, new });
            }
        }
        self.moved.clear();
        self.sweep.dirty.clear();
        self.sweep.pending.clear();
        self.next_epoch();
    }

    fn rate(&self, flow: u32) -> f64 {
        self.table.rate_at(flow, self.table.level(flow))
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let level = |link: u32| self.table.state(link).level;
        let slowest = self.table.links_of(flow).min_by(|&a, &b| level(a).total_cmp(&level(b)))?;
        (level(slowest) < f64::INFINITY && !self.table.is_own(slowest)).then_some(slowest)
    }

    #[inline]
    fn holds_back(&self, flow: u32, link: u32) -> bool {
        !K::Table::TAKES_TERMS && self.table.state(link).level == self.table.level(flow)
    }

    fn gives_even_flows_even_shares(&self) -> bool {
        !K::Table::TAKES_TERMS
    }
}
