//! Approximate maximum concurrent flow by source-wise descent on a soft maximum.
use super::bounds::{Bound, Certificate, Cuts, free_bounds, weight};
use super::search::Search;
use super::{Demand, Flow, Links};
use crate::base::portable::ln;
use crate::rng::Stream;

/// Number of sweeps after which the solver returns the bounds that it has.
const SWEEPS: usize = 3000;
/// Number of sweeps beyond the gap that may bring the time of the links below the floor.
const FAR: f64 = 3.0;
const EXTRA_SWEEPS: usize = 16;
/// Number of link visits between two calls of the caller's function (about 20 ms).
const VISITS: usize = 1 << 20;
/// Smallest and largest exponent of a length.
const FLATTEST: f64 = -28.0;
const STEEPEST: f64 = 200.0;

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
    /// Bytes of each source of the demand on each link, in the order of [`Demand::sources`].
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
/// false, or after 3,000 sweeps. `go_on` is called after each 2^20 visits of links.
///
/// Sources take turns to move part of their flow to the paths that are shortest under the lengths
/// `l_e = exp(eta (f_e / c_e - max f/c)) / c_e`, by a line search on `ln sum exp(eta f_e / c_e)`. The softness
/// `1 / eta` starts large and falls with the gap. Averaged lengths give the lower bound.
///
/// Cost: about `sources * links * ln(vertices)` a sweep, 5 to 40 sweeps to 2 % as a rule.
///
/// # Errors
/// A pair of the demand is disconnected, or bytes are lost by rounding.
///
/// Source: Shahrokhi and Matula, The maximum concurrent flow problem, J. ACM 37 (1990), for lengths that are
/// exponential in the load; Bienstock, Potential function methods for approximately solving linear programming
/// problems (2002), section 2, for the descent by blocks.
pub fn solve(
    links: &Links,
    demand: &Demand,
    options: &Options,
    go_on: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Optimum, FlowError> {
    let (mut search, mut bytes) = (Search::new(links.vertices()), vec![0.0; links.ends().len()]);
    let mut flows = vec![Flow::default(); demand.sources().len()];
    for (flow, &source) in flows.iter_mut().zip(demand.sources()) {
        let row = demand.of(source);
        search.by_hops(links, source);
        if let Some(to) = search.unreached(row) {
            return Err(FlowError::Disconnected { from: source, to });
        }
        bytes.fill(0.0);
        search.route(links, None, row, &mut bytes);
        flow.refill(bytes.iter().copied());
    }
    let total = sum_of(links, &flows);
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
        times: links.capacity().iter().map(|c| 1.0 / c).collect(),
        lengths: Lengths { values: vec![0.0; total.len()], eta: 0.0, peak: 0.0 },
        mean: vec![0.0; total.len()],
        flows,
        total,
    };
    solver.improve();
    solver.finish()
}

/// Returns the bytes on each link.
fn sum_of(links: &Links, flows: &[Flow]) -> Vec<f64> {
    let mut total = vec![0.0; links.ends().len()];
    flows.iter().flat_map(Flow::iter).for_each(|(link, bytes)| total[link as usize] += bytes);
    total
}

/// Lengths of links that grow exponentially with their load.
struct Lengths {
    values: Vec<f64>,
    /// Steepness \[1/s\].
    eta: f64,
    /// Load at which the length is `1 / c_e` \[s\].
    peak: f64,
}

impl Lengths {
    /// Returns the length of a link with these bytes; `time` is the reciprocal of its capacity \[s/B\].
    #[inline]
    fn at(&self, bytes: f64, time: f64) -> f64 {
        grow((self.eta * (bytes * time - self.peak)).clamp(FLATTEST, STEEPEST)) * time
    }
}

/// Returns `e^x` for `|x| <= 700` to about 1e-7. Any lengths serve, so this need not be more exact, but fast.
#[inline]
fn grow(x: f64) -> f64 {
    // e^x = 2^k e^r with |r| <= ln 2 / 2; the large number rounds to the nearest integer.
    const ROUND: f64 = (3_u64 << 51) as f64;
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let r = x - (shifted - ROUND) * std::f64::consts::LN_2;
    let series = 1.0 + r * (1.0 + r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0)))));
    series * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
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
    /// Flows that reached it, if `flows` has changed since.
    best: Vec<Flow>,
    /// Bytes of each source on each link.
    flows: Vec<Flow>,
    /// Sum of the flows.
    total: Vec<f64>,
    /// Reciprocal of each capacity \[s/B\].
    times: Vec<f64>,
    lengths: Lengths,
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
        let target = self.options.gap.max(1e-6);
        let (mut softness, mut shrink, mut last) = (4.0_f64, 0.8_f64, f64::INFINITY);
        let mut extra = EXTRA_SWEEPS;
        for sweep in 1..=SWEEPS {
            if self.gap() <= self.options.gap {
                // Below the floor the answer is exact, so it is worth a few more sweeps where the floor is the larger.
                let may_be_exact = self.bound.at_least * (1.0 + self.options.gap) < self.options.floor;
                if !may_be_exact || extra == 0 || self.reached <= self.options.floor {
                    return;
                }
                extra -= 1;
            }
            if !self.sweep(softness) {
                return;
            }
            if sweep % 2 == 1 {
                continue;
            }
            if !self.raise_bound() {
                return;
            }
            let gap = self.gap();
            if std::env::var("TRACE").is_ok() {
                println!(
                    "{sweep} soft {softness:.4} gap {gap:.4} lb {:.3} ub {:.3} now {:.3}",
                    self.bound.at_least,
                    self.reached,
                    self.links.busiest(&self.total)
                );
            }
            if softness > FAR * gap {
                softness *= std::env::var("FAST").map_or(0.5, |x| x.parse().unwrap());
            } else if last - gap < gap / 5.0 || softness > 3.0 * gap {
                softness = (softness * shrink).max(0.3 * target);
            }
            if last - gap < 0.03 * gap && softness < gap / 2.0 {
                softness = 10.0 * gap;
                shrink = shrink.sqrt().min(0.95);
            }
            last = gap;
        }
    }

    /// Gives each source one turn; returns false if the caller wants to stop.
    fn sweep(&mut self, softness: f64) -> bool {
        let count = self.total.len();
        self.lengths.peak = self.links.busiest(&self.total);
        self.lengths.eta = ln(count.max(2) as f64) / (softness * self.lengths.peak);
        for e in 0..count {
            self.lengths.values[e] = self.lengths.at(self.total[e], self.times[e]);
        }
        if self.lengths.peak <= self.reached {
            self.best.clone_from(&self.flows);
        }
        let mut mean = vec![0.0; count];
        let (mut old, mut step, mut changed) = (vec![0.0; count], vec![0.0; count], Vec::with_capacity(count));
        let mut sum = weight(self.links, &self.lengths.values);
        let mut turns: Vec<usize> = (0..self.flows.len()).collect();
        self.stream.shuffle(&mut turns);
        for turn in turns {
            let source = self.demand.sources()[turn];
            self.search.by_length(self.links, &self.lengths.values, source);
            step.fill(0.0);
            self.search.route(self.links, Some(&self.lengths.values), self.demand.of(source), &mut step);
            old.fill(0.0);
            for (link, bytes) in self.flows[turn].iter() {
                old[link as usize] = bytes;
                step[link as usize] -= bytes;
            }
            changed.clear();
            changed.extend((0..count).filter(|&e| step[e] != 0.0));
            let part = self.line_search(&step, &changed);
            if part > 0.0 {
                self.flows[turn].refill(old.iter().zip(&step).map(|(old, step)| old + part * step));
                for &e in &changed {
                    self.total[e] += part * step[e];
                    let length = self.lengths.at(self.total[e], self.times[e]);
                    sum += (length - self.lengths.values[e]) * self.links.capacity()[e];
                    self.lengths.values[e] = length;
                }
            }
            let scale = 1.0 / sum;
            mean.iter_mut().zip(&self.lengths.values).for_each(|(mean, l)| *mean += l * scale);
            if !self.goes_on(2 * count) {
                return false;
            }
        }
        let scale = 1.0 / weight(self.links, &mean);
        let keep = if self.mean[0] > 0.0 { 0.5 } else { 0.0 };
        self.mean.iter_mut().zip(&mean).for_each(|(old, new)| *old = keep * *old + (1.0 - keep) * scale * new);
        self.total = sum_of(self.links, &self.flows);
        self.reached = self.reached.min(self.links.busiest(&self.total));
        true
    }

    /// Returns the part of the step, 0 to 1, that about minimises `ln sum exp(eta f_e / c_e)`.
    ///
    /// The first guess is Newton's; its slope then corrects it by chords.
    fn line_search(&self, step: &[f64], changed: &[usize]) -> f64 {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for &e in changed {
            let growth = self.lengths.values[e] * step[e];
            slope += growth;
            curvature += growth * step[e] * self.times[e];
        }
        if slope >= 0.0 {
            return 0.0;
        }
        let mut part = (-slope / (self.lengths.eta * curvature)).min(1.0);
        for _ in 0..3 {
            let slope_at = |&e: &usize| step[e] * self.lengths.at(self.total[e] + part * step[e], self.times[e]);
            let there: f64 = changed.iter().map(slope_at).sum();
            if there.abs() < 0.1 * slope.abs() || (there < 0.0 && part == 1.0) || there <= slope {
                break;
            }
            part = (part * slope / (slope - there)).min(1.0);
        }
        part
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
            if !self.goes_on(self.total.len()) {
                return false;
            }
        }
        if std::env::var("TRACE").is_ok() {
            print!("dual {:.3} ", cost / weight(self.links, &self.mean));
        }
        self.bound.offer(cost / weight(self.links, &self.mean), || Certificate::Lengths(self.mean.clone()));
        true
    }

    /// Recomputes both bounds from the flows and the certificate.
    fn finish(self) -> Result<Optimum, FlowError> {
        let Self { links, demand, bound, mut flows, best, reached, options, .. } = self;
        if links.busiest(&sum_of(links, &flows)) > reached {
            flows = best;
        }
        let total = sum_of(links, &flows);
        for (flow, &from) in flows.iter().zip(demand.sources()) {
            if !conserves(links, flow, from, demand.of(from)) {
                return Err(FlowError::Rounding { from });
            }
        }
        let (at_least, reached) = (bound.certificate.value(links, demand), links.busiest(&total));
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
