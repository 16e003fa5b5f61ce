//! Exact max-min fairness of flows on several paths, with weights and limits.

use super::crossings::{Crossings, OnLink};
use super::max_min::{LinkState, Sums, Taken, WaterFilling};

/// Part of its peak below which a sum is added up again: the rest of a large sum keeps the large sum's
/// rounding error.
const REFRESH_RATIO: f64 = 1.0 / 16.0;

/// Exact weighted max-min fairness: rates rise together in proportion to weights, until a link or a limit
/// stops them.
///
/// Flow f takes the part a(f,l) of its rate r(f) on link l, has the weight w(f) and may have a limit m(f).
/// Its *level* is r(f) / w(f). With `level(l)` the level at which link l holds its flows back (infinite if it
/// has room to spare):
/// ```text
/// r(f) / w(f) = min of m(f) / w(f) and of level(l) over links l of f,     sum over f of a(f,l) r(f) <= c(l)
/// ```
/// Every flow below its limit crosses a link that is full and on which no other level is higher. One path a
/// flow, weights of 1 and no limits give plain [`MaxMin`](super::MaxMin). A limit is a link of the flow's
/// own, so that for the sweep only links hold flows back.
///
/// A *pipe* holds its flows back where the largest of them takes all of it, instead of their sum. With P(s)
/// the flows of l whose levels are at least s:
/// ```text
/// level(l) = the least s with:  max over f in P(s) of a(f,l) w(f) s = c(l)
/// ```
///
/// Source: progressive filling, Bertsekas and Gallager, *Data Networks*, section 6.5.2. Weights and parts are
/// those of SimGrid's solver (Velho et al., *On the validity of flow-level TCP network models for grid and
/// cloud simulations*, 2013): 1 / w is a flow's penalty and a(f,l) its consumption. Pipes are that solver's
/// `FATPIPE` constraints.
///
/// The sweep is that of [`WaterFilling`], with sums of parts a(f,l) w(f) that are added up again before their
/// rounding shows. The relative error of a level is about 1e-15 times c(l) over the bandwidth of its free
/// flows on l.
pub type WeightedMaxMin = WaterFilling<Parted>;

/// Sums of the parts of a link's flows.
#[derive(Clone, Debug, Default)]
pub struct Parted {
    free: Sum,
    total: Sum,
    /// For a pipe, a lower bound of the level at which it is full.
    pipe: Option<f64>,
}

/// Sum that is kept by adding and subtracting.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: f64,
    /// Largest value since it was last added up.
    peak: f64,
}

impl Sum {
    #[inline]
    fn add(&mut self, summand: f64) {
        self.value += summand;
        self.peak = if self.value > self.peak { self.value } else { self.peak };
    }

    #[inline]
    fn needs_refresh(&self) -> bool {
        self.value < self.peak * REFRESH_RATIO
    }

    fn fresh(value: f64) -> Self {
        Self { value, peak: value }
    }
}

impl Sums for Parted {
    type Part = f64;
    type Table = Crossings<LinkState<Self>>;

    #[inline]
    fn free_and_total(state: &mut LinkState<Self>, around: OnLink<'_>) -> (f64, f64) {
        if state.free == 0 {
            return (0.0, state.sums.total.value);
        }
        // (`is_small`: the rest is a small difference of large sums.)
        let is_small = (state.capacity - state.load).abs() < state.capacity * REFRESH_RATIO * REFRESH_RATIO;
        if state.sums.free.needs_refresh() || state.sums.total.needs_refresh() || is_small {
            let Taken { load, free, total, .. } = Taken::by(around.parts());
            state.load = load;
            state.sums.renew(free, total);
        }
        (state.sums.free.value, state.sums.total.value)
    }

    #[inline]
    fn shift(&mut self, capacity: f64, free: f64, total: f64) {
        self.free.add(free);
        self.total.add(total);
        if let Some(level) = &mut self.pipe
            && free > 0.0
        {
            *level = level.min(capacity / free);
        }
    }

    fn none_free(&mut self) {
        self.free = Sum::default();
    }

    fn renew(&mut self, free: f64, total: f64) {
        (self.free, self.total) = (Sum::fresh(free), Sum::fresh(total));
    }

    #[inline]
    fn pipe(&self) -> Option<f64> {
        self.pipe
    }

    fn set_pipe(&mut self, level: f64) -> bool {
        self.pipe = Some(level);
        true
    }
}
