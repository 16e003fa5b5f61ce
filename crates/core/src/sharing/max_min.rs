//! Exact max-min fairness, kept up to date by a sweep over the links around each change.

use super::incidence::Incidence;
use super::pending::Pending;
use super::policy::{Change, Sharing};

/// Dirty links up to which all that is around them is asked for at once; of more, what comes soon.
const FETCHED: usize = 1 << 10;

/// How many links that come later are asked for.
const AHEAD: usize = 16;

/// Levels closer than this, relatively, are the same level.
const EPS: f64 = 1e-12;

/// Exact max-min fairness: no flow can be made faster without making one slower that is not faster than it.
///
/// Equivalently, every flow has a *bottleneck*: a link that is full and on which no flow is faster. With
/// `level(l)` the rate at which link l holds its flows back (infinite if it has room to spare),
/// ```text
/// rate(f) = min over links l of f of level(l),     sum over flows f on l of rate(f) <= c(l)
/// ```
/// Source: Bertsekas and Gallager, *Data Networks*, section 6.5.2; the limit of mode N of MFS.
///
/// # The sweep
///
/// *Water-filling* finds the rates from nothing: raise all rates together; when a link is full, its flows stop
/// there, at its level; the others go on. When a flow comes or goes, the course of the water-filling below the
/// lowest level that is affected stays what it was. So the sweep replays the water-filling, in ascending order of
/// levels, only on *dirty* links (those whose flows came, went or changed rate), and takes the old rates as the truth
/// for all others. At any moment a flow is either *fixed* (its rate is known) or *free* (it rises with the water;
/// rate = infinity in the table), and a dirty link is
///
/// 1. *old*: the water is below its old level, and so far it holds its flows back as before;
/// 2. *released*: it does not hold anything back at its old level any more: flows that it alone held back are free;
/// 3. *done*: it is full, at its new level.
///
/// Each dirty link has a *key*, a lower bound of the next level at which something happens on it: its old level, if
/// it turns out not to be full there (then it is released), or the level at which it will be full (then it
/// saturates: its free flows are fixed at that level, and so are the flows whose old rate is above it). The link of
/// the smallest key is looked at; if its exact level is higher, it goes back with that key. Each link saturates at
/// most once, so there is no iteration. Changes spread only through flows whose rate really changes.
///
/// Sums of rates are added up again whenever a level is worked out exactly, so rounding errors do not pile up, and a
/// level within 1e-12 of the old one *is* the old one, so that they do not spread either.
///
/// Cost of a solve: O(d·(d + m·h)) for d dirty links with m flows each and h links a flow; on a 3,456-node fat-tree
/// under a random all-to-all d is about 15 and m about 2.
#[derive(Clone, Debug)]
pub struct MaxMin {
    /// The rate of a flow \[B/s\] is infinite while it is free.
    incidence: Incidence<LinkState>,
    sweep: Sweep,
    /// Flows whose rate may have changed, with the old one; each once.
    moved: Vec<(u32, f64)>,
}

/// The dirty links, and which of them is next.
#[derive(Clone, Debug)]
struct Sweep {
    /// Number of the current solve; a link is dirty when it carries this number.
    epoch: u32,
    dirty: Vec<u32>,
    pending: Pending,
}

/// What the sweep knows of a link: 40 bytes, so that it shares a cache line with the list of flows.
#[derive(Clone, Debug)]
#[repr(C)]
struct LinkState {
    /// \[B/s\].
    capacity: f64,
    /// The rate at which it holds its flows back \[B/s\]; infinite where it is not full.
    level: f64,
    /// Sum of the rates of its fixed flows \[B/s\].
    load: f64,
    epoch: u32,
    /// Number of its flows that are free.
    free: u32,
    /// Where its key is in the pending set; valid while it is dirty.
    place: u32,
    /// Whether the key is the exact level and not just a lower bound; valid while it is dirty.
    is_exact: bool,
}

const _: () = assert!(size_of::<LinkState>() <= 40, "a link and its first flows fit in a cache line");

impl LinkState {
    /// A lower bound of the next level at which this link, with `count` flows, needs attention, before it is done; and
    /// whether it is exact.
    ///
    /// `level` is its old level here, the level at which it holds its flows back unless something happens below it:
    /// infinite once it is released.
    #[inline(always)]
    fn key(&self, count: u32) -> (f64, bool) {
        let left = self.capacity - self.load;
        if self.free == 0 {
            let rounding = self.capacity * EPS;
            if left > rounding {
                return (self.level, false); // room to spare: at the old level its flows are released
            }
            if left >= -rounding {
                return (f64::INFINITY, false); // exactly full: nothing to do
            }
        }
        // The larger of the even share c / n and of what is left for the free flows, (c - load) / free; compared by
        // multiplication, so that a single division is left, and none where the old level comes first.
        let (count, free) = (f64::from(count), f64::from(self.free));
        let (upper, lower) = if left * count > self.capacity * free { (left, free) } else { (self.capacity, count) };
        if self.level * lower <= upper {
            (self.level, false)
        } else if count == free {
            (self.capacity / count, true) // all rise together
        } else {
            (upper / lower, false)
        }
    }
}

impl Sweep {
    /// Makes a link dirty, if it is not; its key is worked out later.
    #[inline(always)]
    fn soil(&mut self, link: u32, state: &mut LinkState) {
        if state.epoch != self.epoch {
            state.epoch = self.epoch;
            self.dirty.push(link);
            state.place = self.pending.join();
        }
    }

    /// Works out the key of a dirty link.
    #[inline(always)]
    fn set_key(&mut self, state: &mut LinkState, count: u32) {
        let (key, is_exact) = state.key(count);
        state.is_exact = is_exact;
        self.pending.set(state.place, key);
    }

    /// A flow on this link is free from now on; it was this fast.
    #[inline(always)]
    fn freed(&mut self, link: u32, state: &mut LinkState, count: u32, rate: f64) {
        state.load -= rate;
        state.free += 1;
        self.soil(link, state);
        self.set_key(state, count);
    }

    /// A free flow on this link is fixed at a level; the link is dirty since it became free.
    #[inline(always)]
    fn fixed(&mut self, state: &mut LinkState, count: u32, level: f64) {
        debug_assert_eq!(state.epoch, self.epoch);
        state.load += level;
        state.free -= 1;
        self.set_key(state, count);
    }

    /// A fixed flow on this link is slower from now on.
    #[inline(always)]
    fn slowed(&mut self, link: u32, state: &mut LinkState, count: u32, by: f64) {
        state.load -= by;
        // A link that had room has more of it now: nothing will happen there.
        if state.epoch == self.epoch || state.level < f64::INFINITY {
            self.soil(link, state);
            self.set_key(state, count);
        }
    }
}

impl MaxMin {
    /// No flows on links of these capacities \[B/s\].
    pub fn new(capacities: Vec<f64>) -> Self {
        let level = f64::INFINITY;
        let state = |link| LinkState {
            capacity: capacities[link],
            level,
            load: 0.0,
            epoch: 0,
            free: 0,
            place: 0,
            is_exact: false,
        };
        Self {
            incidence: Incidence::new(capacities.len(), state),
            sweep: Sweep { epoch: 1, dirty: Vec::new(), pending: Pending::default() },
            moved: Vec::new(),
        }
    }

    /// Works out anew at which level a link is full: the s with `sum over its flows of min(rate, s) = c`, free
    /// flows counting as s; infinite if even their rates as they are do not fill it.
    fn full_level(&mut self, link: u32) -> f64 {
        let incidence = &self.incidence;
        let (state, flows) = incidence.state_and_flows(link);
        let (capacity, old) = (state.capacity, state.level);
        let (mut load, mut fastest, mut free) = (0.0, 0.0, 0u32);
        for &flow in flows {
            let rate = incidence.known_rate(flow);
            if rate == f64::INFINITY {
                free += 1;
            } else {
                load += rate;
                fastest = if rate > fastest { rate } else { fastest };
            }
        }
        debug_assert_eq!(free, state.free);
        let has_room = free == 0 && load < capacity * (1.0 - EPS);
        let mut level = if free > 0 { (capacity - load) / f64::from(free) } else { 0.0 };
        if level < fastest && !has_room {
            // Some fixed flows are above the level: those below it keep their rates, the rest share what they leave.
            level = capacity / flows.len() as f64;
            loop {
                let (mut below, mut others) = (0.0, 0u32);
                for &flow in flows {
                    let rate = incidence.known_rate(flow);
                    if rate < level {
                        below += rate;
                    } else {
                        others += 1;
                    }
                }
                if others == 0 {
                    break; // only by rounding: all flows are (just) below the level
                }
                let next = (capacity - below) / f64::from(others);
                if next <= level {
                    break;
                }
                level = next;
            }
        }
        self.incidence.state_mut(link).0.load = load;
        if has_room {
            f64::INFINITY
        } else if old < f64::INFINITY && (level - old).abs() <= EPS * old {
            old
        } else {
            level
        }
    }

    /// The link no longer holds its flows back at its old level: those that no other link holds there are free.
    fn release(&mut self, link: u32) {
        let Self { incidence, sweep, moved } = self;
        let (state, count) = incidence.state_mut(link);
        let level = std::mem::replace(&mut state.level, f64::INFINITY);
        let threshold = level * (1.0 - EPS);
        // What changes on this link itself is added up: its key is worked out once.
        let (mut freed, mut freed_load) = (0, 0.0);
        for place in 0..count {
            let flow = incidence.flow_at(link, place);
            let rate = incidence.known_rate(flow);
            if rate < threshold || rate == f64::INFINITY {
                continue;
            }
            let limit = rate * (1.0 + EPS);
            if incidence.any_link(flow, |state| state.level <= limit) {
                continue;
            }
            moved.push((flow, rate));
            incidence.set_rate(flow, f64::INFINITY);
            freed += 1;
            freed_load += rate;
            incidence.visit_links(flow, |other, state, count| {
                if other != link {
                    sweep.freed(other, state, count, rate);
                }
            });
        }
        let (state, count) = incidence.state_mut(link);
        state.load -= freed_load;
        state.free += freed;
        sweep.set_key(state, count);
    }

    /// The link is full at this level: flows that would be faster are fixed there.
    fn saturate(&mut self, link: u32, level: f64) {
        let Self { incidence, sweep, moved } = self;
        let (state, count) = incidence.state_mut(link);
        state.level = level;
        sweep.pending.set(state.place, f64::INFINITY);
        let threshold = level * (1.0 + EPS);
        let (mut fixed, mut added_load) = (0, 0.0);
        for place in 0..count {
            let flow = incidence.flow_at(link, place);
            let rate = incidence.known_rate(flow);
            if rate <= threshold {
                continue;
            }
            incidence.set_rate(flow, level);
            if rate == f64::INFINITY {
                fixed += 1;
                added_load += level;
                incidence.visit_links(flow, |other, state, count| {
                    if other != link {
                        sweep.fixed(state, count, level);
                    }
                });
            } else {
                moved.push((flow, rate));
                added_load += level - rate;
                incidence.visit_links(flow, |other, state, count| {
                    if other != link {
                        sweep.slowed(other, state, count, rate - level);
                    }
                });
            }
        }
        let (state, _) = incidence.state_mut(link);
        state.load += added_load;
        state.free -= fixed;
    }

    /// Asks for links that became dirty after this one, and for what is on them. Where thousands are dirty at once, most are
    /// alike (messages that start together), and of equal keys the first comes first.
    #[inline]
    fn fetch_after(&self, place: usize) {
        let Self { incidence, sweep: Sweep { dirty, .. }, .. } = self;
        if let (Some(&next), Some(&soon), Some(later)) =
            (dirty.get(place + AHEAD / 4), dirty.get(place + AHEAD / 2), dirty.get(place + AHEAD..=place + AHEAD))
        {
            incidence.fetch_around(&[next]);
            incidence.fetch_flows(&[soon]);
            incidence.fetch_lines(later);
        }
    }

    /// Takes the link of the smallest key one step on; `false` when none needs attention any more.
    fn step(&mut self) -> bool {
        let Some((place, key)) = self.sweep.pending.smallest() else { return false };
        if self.sweep.dirty.len() > FETCHED {
            self.fetch_after(place as usize);
        }
        let link = self.sweep.dirty[place as usize];
        let state = self.incidence.state(link);
        let has_room = state.free == 0 && state.load < state.capacity * (1.0 - EPS);
        if has_room && key == state.level {
            self.release(link);
            return true;
        }
        let full = if state.is_exact { key } else { self.full_level(link) };
        let (state, _) = self.incidence.state_mut(link);
        let old_level = state.level;
        let next = if old_level < full { old_level } else { full };
        if next > key {
            // The key was a lower bound only. (Exact from now on, unless the old level comes first: then the link is
            // looked at again there.)
            state.is_exact |= full <= old_level;
            self.sweep.pending.set(place, next);
        } else if old_level < full {
            self.release(link);
        } else {
            self.saturate(link, full);
        }
        true
    }

    /// Starts the numbering of solves again before it overflows.
    fn next_epoch(&mut self) {
        if self.sweep.epoch == u32::MAX {
            self.incidence.states_mut().for_each(|state| state.epoch = 0);
            self.sweep.epoch = 0;
        }
        self.sweep.epoch += 1;
    }
}

impl Sharing for MaxMin {
    fn add(&mut self, flow: u32, links: &[u32]) {
        let Self { incidence, sweep, moved } = self;
        incidence.add(flow, links, |link, state, _| {
            sweep.soil(link, state);
            state.free += 1;
        });
        incidence.set_rate(flow, f64::INFINITY);
        moved.push((flow, 0.0));
        if incidence.is_large() {
            incidence.fetch_flows(links);
        }
    }

    fn remove(&mut self, flow: u32) {
        let Self { incidence, sweep, .. } = self;
        if incidence.is_large() {
            incidence.fetch_flows(incidence.links(flow));
        }
        let rate = incidence.set_rate(flow, 0.0);
        incidence.remove(flow, |link, state, count| {
            if rate == f64::INFINITY {
                state.free -= 1;
            } else {
                state.load -= rate;
            }
            // (A link that had room has more of it now: nothing will happen there.)
            if state.level < f64::INFINITY {
                sweep.soil(link, state);
            }
            if count == 0 {
                state.load = 0.0;
                state.level = f64::INFINITY;
            }
        });
    }

    fn expect(&self, next: u32, later: u32) {
        self.incidence.fetch_links(next);
        self.incidence.fetch_words(later);
    }

    fn expect_on(&self, links: &[u32]) {
        self.incidence.fetch_lines(links);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        let Self { incidence, sweep, .. } = self;
        let (state, count) = incidence.state_mut(link);
        state.capacity = capacity;
        if count > 0 {
            sweep.soil(link, state);
        }
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        if self.incidence.is_large() && self.sweep.dirty.len() <= FETCHED {
            // What the sweep is most likely to look at: the links of all flows on dirty links.
            self.incidence.fetch_around(&self.sweep.dirty);
        }
        for index in 0..self.sweep.dirty.len() {
            if let Some(later) = self.sweep.dirty.get(index + AHEAD..=index + AHEAD) {
                self.incidence.fetch_lines(later);
            }
            let (state, count) = self.incidence.state_mut(self.sweep.dirty[index]);
            self.sweep.set_key(state, count);
        }
        while self.step() {}
        for &(flow, old) in &self.moved {
            let new = self.incidence.rate(flow);
            // (0: it came and went since the last solve.)
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
        self.incidence.rate(flow)
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let level = |link: u32| self.incidence.state(link).level;
        let slowest = self.incidence.links(flow).iter().copied().min_by(|&a, &b| level(a).total_cmp(&level(b)))?;
        (level(slowest) < f64::INFINITY).then_some(slowest)
    }

    #[inline]
    fn holds_back(&self, flow: u32, link: u32) -> bool {
        self.incidence.state(link).level == self.incidence.rate(flow)
    }
}
