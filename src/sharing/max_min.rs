//! Exact max-min fairness, kept up to date by a sweep over the links around each change.

use super::incidence::Incidence;
use super::pending::Pending;
use super::{Change, Sharing};

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
/// 1. `Old`: the water is below its old level, and so far it holds its flows back as before;
/// 2. `Released`: it does not hold anything back at its old level any more: flows that it alone held back are free;
/// 3. `Done`: it is full, at its new level.
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
    incidence: Incidence,
    sweep: Sweep,
    /// By flow [B/s]; infinite while the flow is free.
    rates: Vec<f64>,
    /// Flows whose rate may have changed, with the old one; each once.
    moved: Vec<(u32, f64)>,
}

/// What the sweep knows of a link: one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct LinkState {
    /// [B/s].
    capacity: f64,
    /// The rate at which it holds its flows back [B/s]; infinite where it is not full.
    level: f64,
    /// Sum of the rates of its fixed flows [B/s].
    load: f64,
    epoch: u64,
    /// Where its key is in the pending set; valid while it is dirty.
    place: u32,
    /// Number of its flows that are free.
    free: u32,
    /// Number of its flows.
    count: u32,
    phase: Phase,
    /// Whether the key is the exact level and not just a lower bound.
    exact: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Old,
    Released,
    Done,
}

impl LinkState {
    /// A lower bound of the next level at which this link needs attention.
    #[inline]
    fn key(&self) -> f64 {
        let old_level = if self.phase == Phase::Old { self.level } else { f64::INFINITY };
        if self.phase == Phase::Done {
            return f64::INFINITY;
        }
        if self.free == 0 {
            if self.load < self.capacity * (1.0 - EPS) {
                return old_level; // room to spare: at the old level its flows are released
            }
            if self.load <= self.capacity * (1.0 + EPS) {
                return f64::INFINITY; // exactly full: nothing to do
            }
        }
        let even = self.capacity / f64::from(self.count);
        let fill = if self.free > 0 { (self.capacity - self.load) / f64::from(self.free) } else { 0.0 };
        let full = if fill > even { fill } else { even };
        if old_level < full { old_level } else { full }
    }
}

/// The dirty links, and which of them is next: apart from the rest of the solver, so that lists of flows and links can
/// be walked while links change.
#[derive(Clone, Debug)]
struct Sweep {
    links: Vec<LinkState>,
    /// Number of the current solve; a link is dirty when it carries this number.
    epoch: u64,
    dirty: Vec<u32>,
    pending: Pending,
}

impl Sweep {
    /// Makes a link dirty, if it is not.
    #[inline(always)]
    fn soil(&mut self, link: u32) -> &mut LinkState {
        let state = &mut self.links[link as usize];
        if state.epoch != self.epoch {
            state.epoch = self.epoch;
            state.phase = Phase::Old;
            state.exact = false;
            self.dirty.push(link);
            state.place = self.pending.push(f64::INFINITY);
        }
        state
    }

    /// A flow's rate on this link goes by `by` (and it is free no more, or is free now): the link is dirty, and its key
    /// is worked out again.
    #[inline(always)]
    fn shift(&mut self, link: u32, by: f64, free: i32) {
        let state = self.soil(link);
        state.load += by;
        state.free = state.free.wrapping_add_signed(free);
        state.exact = false;
        let (place, key) = (state.place, state.key());
        self.pending.set(place, key);
    }

    /// Whether a link holds back flows that are as fast as `limit`.
    #[inline]
    fn holds(&self, link: u32, limit: f64) -> bool {
        let state = &self.links[link as usize];
        state.level <= limit && !(state.epoch == self.epoch && state.phase == Phase::Released)
    }
}

impl MaxMin {
    /// No flows on links of these capacities [B/s].
    pub fn new(capacities: Vec<f64>) -> Self {
        let state = |capacity: f64| LinkState {
            capacity,
            level: f64::INFINITY,
            load: 0.0,
            epoch: 0,
            place: 0,
            free: 0,
            count: 0,
            phase: Phase::Old,
            exact: false,
        };
        Self {
            incidence: Incidence::new(capacities.len()),
            sweep: Sweep {
                links: capacities.into_iter().map(state).collect(),
                epoch: 1,
                dirty: Vec::new(),
                pending: Pending::default(),
            },
            rates: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// Works out anew at which level a link is full: the s with `sum over its flows of min(rate, s) = c`, free
    /// flows counting as s; infinite if even their rates as they are do not fill it.
    fn full_level(&mut self, link: u32) -> f64 {
        let flows = self.incidence.flows_on(link);
        let (mut load, mut fastest, mut free) = (0.0, 0.0, 0u32);
        for &flow in flows {
            let rate = self.rates[flow as usize];
            if rate == f64::INFINITY {
                free += 1;
            } else {
                load += rate;
                fastest = if rate > fastest { rate } else { fastest };
            }
        }
        let state = &mut self.sweep.links[link as usize];
        debug_assert_eq!(free, state.free);
        state.load = load;
        if free == 0 && load < state.capacity * (1.0 - EPS) {
            return f64::INFINITY;
        }
        let mut level = if free > 0 { (state.capacity - load) / f64::from(free) } else { 0.0 };
        if level < fastest {
            // Some fixed flows are above the level: those below it keep their rates, the rest share what they leave.
            level = state.capacity / flows.len() as f64;
            loop {
                let (mut below, mut others) = (0.0, 0u32);
                for &flow in flows {
                    let rate = self.rates[flow as usize];
                    if rate < level {
                        below += rate;
                    } else {
                        others += 1;
                    }
                }
                if others == 0 {
                    break; // only by rounding: all flows are (just) below the level
                }
                let next = (state.capacity - below) / f64::from(others);
                if next <= level {
                    break;
                }
                level = next;
            }
        }
        let old = state.level;
        if old < f64::INFINITY && (level - old).abs() <= EPS * old { old } else { level }
    }

    /// The link no longer holds its flows back at its old level: those that no other link holds there are free.
    fn release(&mut self, link: u32) {
        let Self { incidence, sweep, rates, moved } = self;
        let state = &mut sweep.links[link as usize];
        let level = std::mem::replace(&mut state.level, f64::INFINITY);
        state.phase = Phase::Released;
        let threshold = level * (1.0 - EPS);
        for &flow in incidence.flows_on(link) {
            let rate = rates[flow as usize];
            if rate < threshold || rate == f64::INFINITY {
                continue;
            }
            let limit = rate * (1.0 + EPS);
            let links = incidence.links(flow);
            if links.iter().any(|&other| sweep.holds(other, limit)) {
                continue;
            }
            moved.push((flow, rate));
            rates[flow as usize] = f64::INFINITY;
            for &other in links {
                sweep.shift(other, -rate, 1);
            }
        }
        sweep.shift(link, 0.0, 0);
    }

    /// The link is full at this level: flows that would be faster are fixed there.
    fn saturate(&mut self, link: u32, level: f64) {
        let Self { incidence, sweep, rates, moved } = self;
        let state = &mut sweep.links[link as usize];
        state.phase = Phase::Done;
        state.level = level;
        let threshold = level * (1.0 + EPS);
        for &flow in incidence.flows_on(link) {
            let rate = rates[flow as usize];
            if rate <= threshold {
                continue;
            }
            let (by, free) = if rate == f64::INFINITY {
                (level, -1)
            } else {
                moved.push((flow, rate));
                (level - rate, 0)
            };
            rates[flow as usize] = level;
            for &other in incidence.links(flow) {
                sweep.shift(other, by, free);
            }
        }
        let place = sweep.links[link as usize].place;
        sweep.pending.set(place, f64::INFINITY);
    }
}

impl Sharing for MaxMin {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.incidence.add(flow, links);
        if self.rates.len() < self.incidence.flows() {
            self.rates.resize(self.incidence.flows(), 0.0);
        }
        self.rates[flow as usize] = f64::INFINITY;
        self.moved.push((flow, 0.0));
        for &link in links {
            let state = self.sweep.soil(link);
            state.count += 1;
            state.free += 1;
        }
    }

    fn remove(&mut self, flow: u32) {
        let rate = std::mem::replace(&mut self.rates[flow as usize], 0.0);
        for &link in self.incidence.links(flow) {
            let state = self.sweep.soil(link);
            state.count -= 1;
            if rate == f64::INFINITY {
                state.free -= 1;
            } else {
                state.load -= rate;
            }
            if state.count == 0 {
                state.load = 0.0;
                state.level = f64::INFINITY;
            }
        }
        self.incidence.remove(flow);
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        for &link in &self.sweep.dirty {
            let state = &self.sweep.links[link as usize];
            self.sweep.pending.set(state.place, state.key());
        }
        while let Some((place, key)) = self.sweep.pending.smallest() {
            let link = self.sweep.dirty[place as usize];
            let state = &self.sweep.links[link as usize];
            let spare = state.free == 0 && state.load < state.capacity * (1.0 - EPS);
            if spare && state.phase == Phase::Old && key == state.level {
                self.release(link);
                continue;
            }
            let full = if state.exact { key } else { self.full_level(link) };
            let state = &mut self.sweep.links[link as usize];
            let old_level = if state.phase == Phase::Old { state.level } else { f64::INFINITY };
            let next = if old_level < full { old_level } else { full };
            if next > key {
                // The key was a lower bound only. (Exact from now on, unless the old level comes first: then the
                // link is looked at again there.)
                state.exact = full <= old_level;
                self.sweep.pending.set(place, next);
            } else if old_level < full {
                self.release(link);
            } else {
                self.saturate(link, full);
            }
        }
        for (flow, old) in self.moved.drain(..) {
            let new = self.rates[flow as usize];
            if new != old && new > 0.0 {
                // (0: it came and went since the last solve.)
                changes.push(Change { flow, old, new });
            }
        }
        self.sweep.dirty.clear();
        self.sweep.pending.clear();
        self.sweep.epoch += 1;
    }

    fn rate(&self, flow: u32) -> f64 {
        self.rates[flow as usize]
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let level = |link: u32| self.sweep.links[link as usize].level;
        let slowest = self.incidence.links(flow).iter().copied().min_by(|&a, &b| level(a).total_cmp(&level(b)))?;
        (level(slowest) < f64::INFINITY).then_some(slowest)
    }
}
