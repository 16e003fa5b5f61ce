//! Approximate maximum concurrent flow by source-wise descent on a soft maximum.
use super::bounds::{Bound, Certificate, Cuts, free_bounds, weight};
use super::load::Load;
use super::paths::Walk;
use super::search::Search;
use super::{Demand, Flow, Links};
use crate::rng::Stream;

/// Number of sweeps after which the solver returns the bounds that it has.
const SWEEPS: usize = 3000;
/// Number of sweeps beyond the gap that may bring the time of the links below the floor.
const EXTRA_SWEEPS: usize = 16;
/// Number of sweeps path by path between two changes of the softness.
const FINE_SWEEPS: usize = 8;
/// Number of link visits between two calls of the caller's function (about 20 ms).
const VISITS: usize = 1 << 20;
/// Largest number of entries of all flows, of 12 bytes each. A copy of the best flows counts too.
const STORED: usize = 1 << 24;

/// Settings of the solver.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Relative gap between the bounds at which the solver stops.
    pub gap: f64,
    /// Time \[s\] that no routing can undercut, such as that of the nodes' ports; 0 if there is none.
    pub floor: f64,
    /// Seed of the order in which sources take turns.
    pub seed: u64,
}

/// Bounds of the least time of the links, with their proofs.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// Lower bound of the time of the links \[s\].
    pub at_least: f64,
    /// Time of the busiest link under `flows` \[s\], an upper bound.
    pub reached: f64,
    /// True if both bounds, raised to the floor, agree to 1e-9.
    pub is_exact: bool,
    /// Proof of the lower bound.
    pub certificate: Certificate,
    /// Bytes on each link \[B\].
    pub total: Vec<f64>,
    /// Bytes of each source on each link, in the order of [`Demand::sources`]. Empty where the equal split over
    /// fewest hops needs more than 2^24 entries; `reached` and `total` are then those of this split.
    pub flows: Vec<Flow>,
}

/// Reason for which there is no optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowError {
    /// No path leads from a source to a destination of its bytes.
    Disconnected {
        /// Source vertex.
        from: u32,
        /// Destination vertex.
        to: u32,
    },
    /// Bytes of this source were lost by rounding, since amounts or capacities differ by too many orders.
    Rounding {
        /// Source vertex.
        from: u32,
    },
}

/// Brackets the least possible time of the busiest link over all routings of the demand.
///
/// Stops as soon as `max(floor, reached) <= (1 + gap) max(floor, at_least)`, when `go_on(at_least, reached)` returns
/// false, or after 3,000 sweeps. Up to 16 more sweeps follow where they may prove the floor exact. `go_on` is called
/// after each 2^20 visits of links, about 20 ms.
///
/// Sources take turns to move part of their flow to the paths that are shortest under the lengths
/// `l_e = exp(eta (f_e / c_e - max f/c)) / c_e`, by a line search on `ln sum exp(eta f_e / c_e)`. The softness
/// `1 / eta` starts large and falls with the gap. Averaged lengths give the lower bound. Where this is stuck, each
/// path of the flows takes such a turn.
///
/// Cost: about `sources * links * ln(vertices)` a sweep, 5 to 60 sweeps to 2 % as a rule; at most 200 MB of flows.
///
/// # Errors
/// A pair of the demand is disconnected, or bytes are lost by rounding.
///
/// Source: Shahrokhi and Matula, The maximum concurrent flow problem, J. ACM 37 (1990), for lengths that are
/// exponential in the load; Bienstock, Potential function methods for approximately solving linear programming
/// problems (2002), for the descent by blocks.
pub fn solve(
    links: &Links,
    demand: &Demand,
    options: &Options,
    go_on: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Optimum, FlowError> {
    let (mut search, mut bytes) = (Search::new(links.vertices()), vec![0.0; links.ends().len()]);
    let (mut flows, mut total) = (Vec::new(), vec![0.0; bytes.len()]);
    let mut stored = 0;
    for &source in demand.sources() {
        let row = demand.of(source);
        search.by_hops(links, source);
        if let Some(to) = search.unreached(row) {
            return Err(FlowError::Disconnected { from: source, to });
        }
        bytes.fill(0.0);
        search.route(links, None, row, &mut bytes);
        total.iter_mut().zip(&bytes).for_each(|(total, bytes)| *total += bytes);
        if stored <= STORED {
            let flow = Flow::new(bytes.iter().copied());
            stored += flow.len();
            flows.push(flow);
        }
    }
    if stored > STORED {
        flows.clear();
    }
    let (at_least, certificate) = free_bounds(links, demand);
    let mut solver = Solver {
        links,
        demand,
        options,
        go_on,
        cuts: Cuts::new(links, demand),
        search,
        stream: Stream::new(options.seed, "optimum"),
        visits: 0,
        bound: Bound { at_least, certificate },
        reached: links.busiest(&total),
        best: Vec::new(),
        mean: vec![0.0; total.len()],
        estimate: 0.0,
        flows,
        load: Load::new(links, total),
    };
    if stored <= STORED {
        solver.improve();
    }
    solver.finish()
}

/// Returns the bytes on each link.
fn sum_of(links: &Links, flows: &[Flow]) -> Vec<f64> {
    let mut total = vec![0.0; links.ends().len()];
    flows.iter().flat_map(Flow::iter).for_each(|(link, bytes)| total[link as usize] += bytes);
    total
}

struct Solver<'a> {
    links: &'a Links,
    demand: &'a Demand,
    options: &'a Options,
    go_on: &'a mut dyn FnMut(f64, f64) -> bool,
    cuts: Cuts<'a>,
    search: Search,
    stream: Stream,
    /// Visits of links since the last call of `go_on`.
    visits: usize,
    bound: Bound,
    /// Least time of the busiest link so far \[s\].
    reached: f64,
    /// Flows that reached it before the last sweep; empty if they take too much memory.
    best: Vec<Flow>,
    /// Bytes of each source on each link.
    flows: Vec<Flow>,
    /// Sum of the flows, and lengths.
    load: Load<'a>,
    /// About the lower bound \[s\] that the lengths of the last sweep prove.
    estimate: f64,
    /// Lengths averaged over the sweeps, normalised to `sum c_e l_e = 1`.
    mean: Vec<f64>,
}

impl Solver<'_> {
    fn gap(&self) -> f64 {
        let floor = self.options.floor;
        if self.reached <= floor { 0.0 } else { self.reached.max(floor) / self.bound.at_least.max(floor) - 1.0 }
    }

    /// Adds the work of one search; returns false if the caller wants to stop.
    fn goes_on(&mut self, visits: usize) -> bool {
        self.visits += visits;
        if self.visits < VISITS {
            return true;
        }
        self.visits = 0;
        (self.go_on)(self.bound.at_least, self.reached)
    }

    /// Alternates sweeps and lower bounds, and adapts the softness to the progress of the gap.
    fn improve(&mut self) {
        let Options { gap: target, floor, .. } = *self.options;
        let (mut softness, mut shrink, mut last, mut extra) = (4.0, 0.8_f64, f64::INFINITY, EXTRA_SWEEPS);
        // Sources move all their bytes together until that is stuck, and path by path from then on.
        let mut fine = false;
        for sweep in 1..=SWEEPS {
            let gap = self.gap();
            if gap <= target {
                // The answer is exact below the floor, which a few more sweeps may reach.
                if extra == 0 || self.reached <= floor || self.bound.at_least * (1.0 + target) >= floor {
                    return;
                }
                extra -= 1;
            }
            if !self.sweep(softness, fine) {
                return;
            }
            if sweep % if fine { FINE_SWEEPS } else { 2 } != 0 {
                continue;
            }
            let promising = self.estimate * (1.0 + gap) > self.bound.at_least;
            if promising && !self.raise_bound() {
                return;
            }
            let gap = self.gap();
            if softness > 3.0 * gap {
                softness *= 0.5;
            } else if last - gap < gap / 5.0 {
                softness = (softness * shrink).max(0.3 * target.max(1e-6));
            }
            if last - gap < 0.03 * gap && softness < gap.min(1.0) / 2.0 {
                fine = true;
                softness = (10.0 * gap).min(4.0);
                shrink = shrink.sqrt().min(0.95);
            }
            last = gap;
        }
    }

    /// Gives each source one turn; returns false if the caller wants to stop.
    fn sweep(&mut self, softness: f64, fine: bool) -> bool {
        let count = self.mean.len();
        if self.links.busiest(&self.load.total) <= self.reached {
            self.best.clear();
            if self.flows.iter().map(Flow::len).sum::<usize>() <= STORED / 2 {
                self.best.clone_from(&self.flows);
            }
        }
        self.load.soften(softness);
        let mut mean = vec![0.0; count];
        let mut turns: Vec<usize> = (0..self.flows.len()).collect();
        self.stream.shuffle(&mut turns);
        self.estimate = 0.0;
        for turn in turns {
            let source = self.demand.sources()[turn];
            self.search.by_length(self.links, &self.load.lengths, source);
            self.estimate += self.search.cost(self.demand.of(source)) / self.load.weight;
            let turn_of = if fine { Self::move_paths } else { Self::move_source };
            turn_of(self, turn);
            let scale = 1.0 / self.load.weight;
            mean.iter_mut().zip(&self.load.lengths).for_each(|(mean, l)| *mean += l * scale);
            if !self.goes_on(if fine { 16 } else { 2 } * count) {
                return false;
            }
        }
        let scale = 1.0 / weight(self.links, &mean);
        let keep = if self.mean[0] > 0.0 { 0.5 } else { 0.0 };
        self.mean.iter_mut().zip(&mean).for_each(|(old, new)| *old = keep * *old + (1.0 - keep) * scale * new);
        self.load.total = sum_of(self.links, &self.flows);
        let now = self.links.busiest(&self.load.total);
        self.reached = if self.best.is_empty() { now } else { now.min(self.reached) };
        self.flows.iter().map(Flow::len).sum::<usize>() <= STORED
    }

    /// Moves the same part of all bytes of a source to the shortest paths of the last search.
    fn move_source(&mut self, turn: usize) {
        let count = self.mean.len();
        let row = self.demand.of(self.demand.sources()[turn]);
        let (mut old, mut step) = (vec![0.0; count], vec![0.0; count]);
        self.search.route(self.links, Some(&self.load.lengths), row, &mut step);
        for (link, bytes) in self.flows[turn].iter() {
            old[link as usize] = bytes;
            step[link as usize] -= bytes;
        }
        let changed: Vec<usize> = (0..count).filter(|&e| step[e] != 0.0).collect();
        let part = self.load.descend(&step, &changed);
        if part > 0.0 {
            self.flows[turn] = Flow::new(old.iter().zip(&step).map(|(old, step)| old + part * step));
        }
    }

    /// Moves a part of the bytes of each path of a source to the shortest path of the last search.
    fn move_paths(&mut self, turn: usize) {
        let count = self.mean.len();
        let source = self.demand.sources()[turn];
        let mut walk = Walk::new(self.links, &self.flows[turn]);
        let (mut bytes, mut step, mut changed) = (vec![0.0; count], vec![0.0; count], Vec::new());
        for &(to, mut due) in self.demand.of(source) {
            let shortest = self.search.path(self.links, to);
            while due > 0.0 {
                let (part, path) = walk.take(source, to, due).unwrap_or_else(|| (due, shortest.clone()));
                due -= part;
                changed.clear();
                changed.extend(shortest.iter().chain(&path).map(|&link| link as usize));
                shortest.iter().for_each(|&link| step[link as usize] += part);
                for &link in &path {
                    step[link as usize] -= part;
                    bytes[link as usize] += part;
                }
                // A link of both paths is listed twice and does not change.
                changed.retain(|&e| step[e] != 0.0);
                let moved = self.load.descend(&step, &changed);
                for &e in &changed {
                    bytes[e] += moved * std::mem::take(&mut step[e]);
                }
            }
        }
        self.flows[turn] = Flow::new(bytes.into_iter());
    }

    /// Evaluates the averaged lengths and the cuts of their search orders; returns false if the caller wants to stop.
    fn raise_bound(&mut self) -> bool {
        let mut sources = self.demand.sources().to_vec();
        self.stream.shuffle(&mut sources);
        let mut cost = 0.0;
        for (i, &source) in sources.iter().enumerate() {
            self.search.by_length(self.links, &self.mean, source);
            cost += self.search.cost(self.demand.of(source));
            if i < self.cuts.searches() {
                self.cuts.prefixes(&mut self.bound, &self.search.order);
            }
            if !self.goes_on(self.mean.len()) {
                return false;
            }
        }
        self.bound.offer(cost / weight(self.links, &self.mean), || Certificate::Lengths(self.mean.clone()));
        true
    }

    /// Recomputes both bounds from the flows and the certificate.
    fn finish(self) -> Result<Optimum, FlowError> {
        let Self { links, demand, bound, mut flows, best, reached, options, load: Load { mut total, .. }, .. } = self;
        if !flows.is_empty() {
            total = sum_of(links, &flows);
            if links.busiest(&total) > reached && !best.is_empty() {
                (total, flows) = (sum_of(links, &best), best);
            }
        }
        for (flow, &from) in flows.iter().zip(demand.sources()) {
            if !conserves(links, flow, from, demand.of(from)) {
                return Err(FlowError::Rounding { from });
            }
        }
        let reached = links.busiest(&total);
        let at_least = bound.certificate.value(links, demand).min(reached);
        let is_exact = reached.max(options.floor) <= at_least.max(options.floor) * (1.0 + 1e-9);
        Ok(Optimum { at_least, reached, is_exact, certificate: bound.certificate, total, flows })
    }
}

/// Returns true if the flow brings all bytes to their destinations, to 1e-9 of the bytes of the source.
fn conserves(links: &Links, flow: &Flow, source: u32, row: &[(u32, f64)]) -> bool {
    let mut left = vec![0.0; links.vertices()];
    let sent: f64 = row.iter().map(|&(_, bytes)| bytes).sum();
    left[source as usize] = sent;
    row.iter().for_each(|&(to, bytes)| left[to as usize] -= bytes);
    for (link, bytes) in flow.iter() {
        let (from, to) = links.ends()[link as usize];
        left[from as usize] -= bytes;
        left[to as usize] += bytes;
    }
    left.iter().all(|left: &f64| left.abs() <= 1e-9 * sent)
}
