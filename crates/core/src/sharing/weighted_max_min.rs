//! Exact max-min fairness of flows on several paths, with weights and limits, kept up to date by a sweep.

use super::crossings::{Crossings, Seat, checked};
use super::pending::Pending;
use super::policy::{Change, Sharing, Terms};

/// Levels closer than this, relatively, are the same level.
const EPS: f64 = 1e-12;

/// A sum that has fallen below this part of the largest it was is added up anew: what is left of a large sum keeps the
/// large one's rounding.
const WORN: f64 = 1.0 / 16.0;

/// Exact weighted max-min fairness: rates rise together in proportion to weights, until something holds them.
///
/// Flow f takes the part a(f,l) of its rate r(f) on link l, has the weight w(f) and may have a limit m(f). Its *level*
/// is r(f) / w(f). With `level(l)` the level at which link l holds its flows back (infinite if it has room to spare),
/// ```text
/// r(f) / w(f) = min of m(f) / w(f) and of level(l) over links l of f,     sum over f of a(f,l) r(f) <= c(l)
/// ```
/// and every flow below its limit crosses a link that is full and on which no other level is higher. One path a flow,
/// weights of 1 and no limits are plain [`MaxMin`](super::MaxMin). A limit is a link of the flow's own: the sweep knows
/// of no other holder.
///
/// A *pipe* holds its flows back where the largest of them takes all of it, instead of their sum: with P(s) the flows
/// of l whose levels are at least s,
/// ```text
/// level(l) = the least s with:  max over f in P(s) of a(f,l) w(f) s = c(l)
/// ```
///
/// Source: progressive filling, Bertsekas and Gallager, *Data Networks*, section 6.5.2; with weights and parts as in
/// SimGrid's solver (Velho et al., *On the validity of flow-level TCP network models for grid and cloud simulations*,
/// 2013), where 1 / w is a flow's penalty and a(f,l) its consumption; pipes are that solver's `FATPIPE` constraints.
///
/// # The sweep
///
/// That of [`MaxMin`](super::MaxMin), over levels instead of rates and with sums of parts a(f,l) w(f) where it has
/// numbers of flows. It is a solver of its own, so that flows of one path pay nothing for parts: there, a link's state
/// and list are one cache line, and whether all flows of a link rise together is a comparison of two whole numbers;
/// here lists have parts, and sums that shrink are added up again before their rounding shows.
///
/// The relative error of a level is about 1e-15 times c(l) over what its free flows take of l.
///
/// Cost of a solve: O(d (d + m h)) for d links that a change reaches, with m flows each and h links a flow.
#[derive(Clone, Debug)]
pub struct WeightedMaxMin {
    /// The level of a flow is infinite while it rises. Links from `links` on are limits, by flow.
    crossings: Crossings<LinkState>,
    /// Number of links that are given.
    links: u32,
    /// By flow.
    weights: Vec<f64>,
    sweep: Sweep,
    /// Flows whose level may have changed, with the old rate; each once.
    moved: Vec<(u32, f64)>,
}

/// The links that a change reaches, and which of them is next.
#[derive(Clone, Debug)]
struct Sweep {
    /// Number of the current solve; a link is dirty when it carries this number.
    epoch: u32,
    dirty: Vec<u32>,
    pending: Pending,
}

/// A sum that is kept by adding and subtracting.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: f64,
    /// The largest it was since it was added up.
    peak: f64,
}

impl Sum {
    #[inline]
    fn add(&mut self, summand: f64) {
        self.value += summand;
        self.peak = if self.value > self.peak { self.value } else { self.peak };
    }

    #[inline]
    fn is_worn(&self) -> bool {
        self.value < self.peak * WORN
    }

    fn fresh(value: f64) -> Self {
        Self { value, peak: value }
    }
}

/// What the sweep knows of a link.
#[derive(Clone, Debug)]
struct LinkState {
    /// \[B/s\].
    capacity: f64,
    /// The level at which it holds its flows back; infinite where it is not full.
    level: f64,
    /// What its fixed flows take \[B/s\].
    load: f64,
    /// Parts of its free flows.
    free: Sum,
    /// Parts of all of its flows.
    total: Sum,
    /// Number of its free flows.
    rising: u32,
    epoch: u32,
    /// Where its key is in the pending set, while it is dirty.
    place: u32,
    /// Whether the key is the exact level and not just a lower bound.
    is_exact: bool,
    is_done: bool,
    /// Set for a pipe.
    is_pipe: bool,
    /// Lower bound of the level at which a pipe is full.
    first: f64,
}

impl LinkState {
    fn new(capacity: f64) -> Self {
        Self {
            capacity,
            level: f64::INFINITY,
            load: 0.0,
            free: Sum::default(),
            total: Sum::default(),
            rising: 0,
            epoch: 0,
            place: 0,
            is_exact: false,
            is_done: false,
            is_pipe: false,
            first: f64::INFINITY,
        }
    }

    /// Adds up anew what is kept of its flows; returns the highest level of a fixed one.
    fn add_up(&mut self, seats: &[Seat], levels: &[f64]) -> f64 {
        let (mut load, mut free, mut total, mut highest) = (0.0, 0.0, 0.0, 0.0);
        let mut rising = 0;
        for &Seat { flow, part, .. } in seats {
            let level = levels[flow as usize];
            total += part;
            if level == f64::INFINITY {
                free += part;
                rising += 1;
            } else {
                load += part * level;
                highest = if level > highest { level } else { highest };
            }
        }
        debug_assert_eq!(rising, self.rising);
        (self.load, self.free, self.total) = (load, Sum::fresh(free), Sum::fresh(total));
        highest
    }

    /// Adds a flow that rises from now on.
    #[inline]
    fn rise(&mut self, part: f64) {
        self.free.add(part);
        self.rising += 1;
        if self.is_pipe {
            self.first = self.first.min(self.capacity / part);
        }
    }

    /// Works out at which level a pipe is full; infinite if no flow reaches its capacity.
    fn pipe_level(&mut self, seats: &[Seat], levels: &[f64]) -> f64 {
        let reach = |seat: &Seat| self.capacity / seat.part;
        let reaching = seats.iter().filter(|seat| levels[seat.flow as usize] >= reach(seat) * (1.0 - EPS));
        self.first = reaching.map(reach).fold(f64::INFINITY, f64::min);
        self.first
    }

    /// True if its flows, none of which rises, leave room.
    fn has_room(&self) -> bool {
        !self.is_pipe && self.rising == 0 && self.load < self.capacity * (1.0 - EPS)
    }

    /// A lower bound of the next level at which this link needs attention, before it is done.
    #[inline]
    fn key(&mut self, seats: &[Seat], levels: &[f64]) -> f64 {
        debug_assert!(!self.is_done, "nothing changes on a link that is done");
        if self.is_pipe {
            return self.level.min(self.first);
        }
        if self.rising == 0 {
            self.free = Sum::default();
            let (left, rounding) = (self.capacity - self.load, self.capacity * EPS);
            return match () {
                () if left > rounding => self.level, // room to spare: at the old level its flows are released
                () if left >= -rounding => f64::INFINITY, // exactly full: nothing to do
                () => self.bound(),
            };
        }
        // (The last: what is left is a small difference of large sums.)
        let is_small = (self.capacity - self.load).abs() < self.capacity * WORN * WORN;
        if self.free.is_worn() || self.total.is_worn() || is_small {
            self.add_up(seats, levels);
        }
        self.bound()
    }

    /// The larger of the level of all together, c / total, and of what is left for the free flows; the old level, if
    /// it comes first.
    #[inline]
    fn bound(&self) -> f64 {
        let left = self.capacity - self.load;
        let (free, total) = (self.free.value, self.total.value);
        let (upper, lower) = if left * total > self.capacity * free { (left, free) } else { (self.capacity, total) };
        if self.level * lower <= upper { self.level } else { upper / lower }
    }
}

impl Sweep {
    /// Makes a link dirty, if it is not; its key is worked out later.
    #[inline]
    fn soil(&mut self, link: u32, state: &mut LinkState) {
        if state.epoch != self.epoch {
            state.epoch = self.epoch;
            state.is_done = false;
            state.is_exact = false;
            self.dirty.push(link);
            state.place = self.pending.push(f64::INFINITY);
        }
    }

    /// Works out the key of a dirty link.
    #[inline]
    fn set_key(&mut self, state: &mut LinkState, seats: &[Seat], levels: &[f64]) {
        let key = state.key(seats, levels);
        state.is_exact = false;
        self.pending.set(state.place, key);
    }
}

impl WeightedMaxMin {
    /// No flows on links of these capacities \[B/s\].
    pub fn new(capacities: Vec<f64>) -> Self {
        Self {
            links: capacities.len() as u32,
            crossings: Crossings::new(capacities.into_iter().map(LinkState::new)),
            weights: Vec::new(),
            sweep: Sweep { epoch: 1, dirty: Vec::new(), pending: Pending::default() },
            moved: Vec::new(),
        }
    }

    /// The link that is a flow's own limit, of this level.
    fn limit_link(&mut self, flow: u32, level: f64) -> u32 {
        let link = self.links + flow;
        while self.crossings.links() <= link as usize {
            self.crossings.push_link(LinkState::new(f64::INFINITY));
        }
        self.crossings.link_mut(link).0.capacity = level;
        link
    }

    /// Works out anew at which level a link is full: the s with `sum over its flows of part * min(level, s) = c`, free
    /// flows counting as s; infinite if even their levels as they are do not fill it.
    fn full_level(&mut self, link: u32) -> f64 {
        let (state, seats, levels) = self.crossings.link_mut(link);
        let old = state.level;
        let kept = |level: f64| if old < f64::INFINITY && (level - old).abs() <= EPS * old { old } else { level };
        if state.is_pipe {
            return kept(state.pipe_level(seats, levels));
        }
        let highest = state.add_up(seats, levels);
        let LinkState { capacity, load, free, total, rising, .. } = *state;
        if state.has_room() {
            return f64::INFINITY;
        }
        let mut level = if rising > 0 { (capacity - load) / free.value } else { 0.0 };
        if level < highest {
            // Some fixed flows are above the level: those below it keep theirs, the rest share what they leave.
            level = capacity / total.value;
            loop {
                let (mut below, mut others) = (0.0, 0.0);
                for &Seat { flow, part, .. } in seats {
                    let at = levels[flow as usize];
                    if at < level {
                        below += part * at;
                    } else {
                        others += part;
                    }
                }
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
        kept(level)
    }

    /// The link no longer holds its flows back at its old level: those that no other link holds there are free.
    fn release(&mut self, link: u32) {
        let Self { crossings, sweep, moved, weights, .. } = self;
        let state = crossings.link_mut(link).0;
        let level = std::mem::replace(&mut state.level, f64::INFINITY);
        let threshold = level * (1.0 - EPS);
        // What changes on this link itself is added up: its key is worked out once.
        let (mut rising, mut load, mut free) = (0, 0.0, 0.0);
        for i in 0..crossings.seats(link).len() {
            let Seat { flow, part, .. } = crossings.seats(link)[i];
            let at = crossings.level(flow);
            if at < threshold || at == f64::INFINITY {
                continue;
            }
            let limit = at * (1.0 + EPS);
            if crossings.hops(flow).iter().any(|hop| crossings.state(hop.link).level <= limit) {
                continue;
            }
            moved.push((flow, at * weights[flow as usize]));
            crossings.set_level(flow, f64::INFINITY);
            rising += 1;
            load += part * at;
            free += part;
            crossings.visit_links(flow, |other, state, part, seats, levels| {
                if other != link {
                    state.load -= part * at;
                    state.rise(part);
                    sweep.soil(other, state);
                    sweep.set_key(state, seats, levels);
                }
            });
        }
        let (state, seats, levels) = crossings.link_mut(link);
        state.load -= load;
        state.free.add(free);
        state.rising += rising;
        state.first = 0.0;
        sweep.set_key(state, seats, levels);
    }

    /// The link is full at this level: flows that would be above it are fixed there.
    fn saturate(&mut self, link: u32, level: f64) {
        let Self { crossings, sweep, moved, weights, .. } = self;
        let state = crossings.link_mut(link).0;
        state.is_done = true;
        state.level = level;
        sweep.pending.set(state.place, f64::INFINITY);
        let threshold = level * (1.0 + EPS);
        for i in 0..crossings.seats(link).len() {
            let Seat { flow, .. } = crossings.seats(link)[i];
            let at = crossings.level(flow);
            if at <= threshold {
                continue;
            }
            crossings.set_level(flow, level);
            let was_free = at == f64::INFINITY;
            if !was_free {
                moved.push((flow, at * weights[flow as usize]));
            }
            crossings.visit_links(flow, |other, state, part, seats, levels| {
                if was_free {
                    state.load += part * level;
                    state.free.value -= part;
                    state.rising -= 1;
                } else {
                    state.load -= part * (at - level);
                }
                // A link that had room has more of it now: nothing will happen there.
                if other != link && (state.epoch == sweep.epoch || state.level < f64::INFINITY) {
                    sweep.soil(other, state);
                    sweep.set_key(state, seats, levels);
                }
            });
        }
    }

    /// Takes the link of the smallest key one step on; `false` when none needs attention any more.
    fn step(&mut self) -> bool {
        let Some((place, key)) = self.sweep.pending.smallest() else { return false };
        let link = self.sweep.dirty[place as usize];
        let state = self.crossings.state(link);
        if state.has_room() && key == state.level {
            self.release(link);
            return true;
        }
        let full = if state.is_exact { key } else { self.full_level(link) };
        let state = self.crossings.link_mut(link).0;
        let old_level = state.level;
        let next = if old_level < full { old_level } else { full };
        if next > key {
            // The key was a lower bound only. (Exact from now on, unless the old level comes first: then the link is
            // looked at again there.)
            state.is_exact = full <= old_level;
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
            self.crossings.states_mut().for_each(|state| state.epoch = 0);
            self.sweep.epoch = 0;
        }
        self.sweep.epoch += 1;
    }

    fn put(&mut self, flow: u32, weight: f64, crossed: impl Iterator<Item = (u32, f64)>) {
        if self.weights.len() <= flow as usize {
            self.weights.resize(flow as usize + 1, 1.0);
        }
        self.weights[flow as usize] = weight;
        let Self { crossings, sweep, moved, .. } = self;
        let crossed = crossed.map(|(link, part)| (link, part * weight));
        crossings.add(flow, f64::INFINITY, crossed, |link, state, part| {
            state.rise(part);
            state.total.add(part);
            sweep.soil(link, state);
        });
        moved.push((flow, 0.0));
    }
}

impl Sharing for WeightedMaxMin {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.put(flow, 1.0, links.iter().map(|&link| (link, 1.0)));
    }

    fn takes_terms(&self) -> bool {
        true
    }

    fn add_on_terms(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        let Terms { weight, limit } = terms.checked();
        // The limit is a link that the flow crosses with part 1 / weight: its level is limit / weight.
        let own = (limit < f64::INFINITY).then(|| (self.limit_link(flow, limit / weight), 1.0 / weight));
        self.put(flow, weight, checked(links, parts).chain(own));
    }

    fn remove(&mut self, flow: u32) {
        let Self { crossings, sweep, .. } = self;
        let level = crossings.level(flow);
        crossings.remove(flow, |link, state, part, is_empty| {
            state.total.value -= part;
            if level == f64::INFINITY {
                state.free.value -= part;
                state.rising -= 1;
            } else {
                state.load -= part * level;
            }
            // (A link that had room has more of it now: nothing will happen there.)
            if state.level < f64::INFINITY {
                sweep.soil(link, state);
            }
            if is_empty {
                (state.load, state.level) = (0.0, f64::INFINITY);
                (state.free, state.total) = (Sum::default(), Sum::default());
                state.first = f64::INFINITY;
            }
        });
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        let Self { crossings, sweep, .. } = self;
        let (state, seats, _) = crossings.link_mut(link);
        state.capacity = capacity;
        state.first = 0.0;
        if !seats.is_empty() {
            sweep.soil(link, state);
        }
    }

    fn make_pipe(&mut self, link: u32, capacity: f64) -> bool {
        let state = self.crossings.link_mut(link).0;
        (state.capacity, state.is_pipe) = (capacity, true);
        true
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        for index in 0..self.sweep.dirty.len() {
            let (state, seats, levels) = self.crossings.link_mut(self.sweep.dirty[index]);
            self.sweep.set_key(state, seats, levels);
        }
        while self.step() {}
        for (flow, old) in self.moved.drain(..) {
            let new = self.crossings.level(flow) * self.weights[flow as usize];
            // (0: it came and went since the last solve.)
            if new != old && new > 0.0 {
                changes.push(Change { flow, old, new });
            }
        }
        self.sweep.dirty.clear();
        self.sweep.pending.clear();
        self.next_epoch();
    }

    fn rate(&self, flow: u32) -> f64 {
        self.crossings.level(flow) * self.weights[flow as usize]
    }

    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let level = |link: u32| self.crossings.state(link).level;
        let links = self.crossings.hops(flow).iter().map(|hop| hop.link);
        let slowest = links.min_by(|&a, &b| level(a).total_cmp(&level(b)))?;
        (level(slowest) < f64::INFINITY && slowest < self.links).then_some(slowest)
    }

    fn gives_even_flows_even_shares(&self) -> bool {
        false
    }
}
