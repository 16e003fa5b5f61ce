//! From the beginning of a pattern, played to its own end, to when all of it will have ended.
//!
//! ```text
//! m      time a step, settled                        K   messages of each rank
//! S(k)   spread of the ranks' progress (messages)    k   of which this many were played
//! T(k)   what the end takes longer than k m says     E   when the last of those arrived
//!
//! makespan = E + (K - k) m + T(k) (S(K) / S(k) - 1)
//! ```
//! Ranks go on by random steps of their own, so their spread grows as a random walk does, `S(k) ~ k^h` with h = 1/2;
//! h is measured, and 1/2 is taken where it is that within its error. The end of a run is the same at every scale: the
//! ranks that are behind by so many S catch up while the network empties, which takes c S m for a c that the spread has
//! no part in. So the end that was played is the end to come, but for its size. `docs/models.md`, 5.3.

use crate::portable::{exp, ln};

use super::series::Level;

/// When so many steps were done, and how far apart ranks were then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// The time \[ps\].
    pub time: f64,
    /// Messages a rank that had been delivered by then, on average.
    pub progress: f64,
    /// The variance of that over ranks.
    pub variance: f64,
}

/// What has to be known beside the samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Whole {
    /// Number of ranks.
    pub ranks: u32,
    /// Messages of each.
    pub messages: u32,
}

/// How the beginning that was played ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct End {
    /// Messages of each rank in it.
    pub messages: u32,
    /// When the last of them arrived \[ps\].
    pub time: f64,
}

/// When all will have ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    /// The makespan \[ps\].
    pub makespan: f64,
    /// Half of its 95 % interval \[ps\].
    pub half: f64,
}

/// What is known at some moment of a run.
#[derive(Clone, Debug)]
pub struct Known {
    level: Level,
    /// The exponent h of the spread's growth, and its error.
    growth: (f64, f64),
    last: Sample,
    whole: Whole,
}

/// The length of the end over the spread in time, where it has not been played yet.
const USUAL_END: f64 = 1.5;

impl Known {
    /// What these samples say, one for each step; nothing where they are too few.
    pub fn of(samples: &[Sample], whole: Whole) -> Option<Self> {
        let mut before = (0.0, 0.0);
        let mut steps = Vec::with_capacity(samples.len());
        for sample in samples {
            let (time, progress) = (sample.time - before.0, sample.progress - before.1);
            if progress > 0.0 {
                steps.push(time / progress);
            }
            before = (sample.time, sample.progress);
        }
        let level = Level::of(&steps)?;
        Some(Self { level, growth: growth(samples, whole.ranks), last: *samples.last()?, whole })
    }

    /// What will be known when a beginning of so many messages a rank has been played to its end: half of the interval
    /// and the makespan that it is about.
    pub fn outlook(&self, messages: u32) -> Forecast {
        let spread = self.spread(f64::from(messages));
        let time = self.reached(f64::from(messages)) + USUAL_END * spread * self.level.mean;
        self.forecast(End { messages, time })
    }

    /// When all will have ended.
    pub fn forecast(&self, end: End) -> Forecast {
        let (played, all) = (f64::from(end.messages), f64::from(self.whole.messages));
        let left = all - played;
        let (h, error) = self.growth;
        let factor = power(all / played, h);
        let tail = end.time - self.reached(played);
        let makespan = end.time + left * (self.level.mean + self.level.ahead(left) / 2.0) + tail * (factor - 1.0);
        let spread = self.spread(all) * self.level.mean;
        let z = (2.0 * ln(f64::from(self.whole.ranks.max(3)))).sqrt();
        // Of the end that was played, and of the one to come: the largest of n normal deviates is z on average, with this
        // standard deviation. That late ranks catch up takes from it, by how much is not known.
        let of_ends = 2.0 * square(PI / 6_f64.sqrt() / z * spread);
        let of_growth = square(tail * factor * error * ln(all / played));
        let of_steps = self.level.half_of_sum(left);
        Forecast { makespan, half: (square(of_steps) + square(NORMAL) * (of_ends + of_growth)).sqrt() }
    }

    /// When ranks have done so many messages on average, if none ran out of them.
    fn reached(&self, messages: f64) -> f64 {
        self.last.time + (messages - self.last.progress) * self.level.mean
    }

    /// The spread at that time.
    fn spread(&self, messages: f64) -> f64 {
        self.last.variance.sqrt() * power(messages / self.last.progress, self.growth.0)
    }
}

/// What a normal deviate exceeds on one side or the other in 5 % of all cases.
const NORMAL: f64 = 1.96;

const PI: f64 = std::f64::consts::PI;

/// Moments at which the spread is looked at, and over which factor of the steps.
const LOOKS: usize = 12;
const OVER: f64 = 8.0;

/// The exponent h of `S ~ k^h` by least squares, and its error: 1/2 where it is that within twice the error.
fn growth(samples: &[Sample], ranks: u32) -> (f64, f64) {
    let last = samples.len().saturating_sub(1);
    let look = |i: usize| (last as f64 / power(OVER, i as f64 / (LOOKS - 1) as f64)) as usize;
    let seen = (0..LOOKS).filter_map(|i| samples.get(look(i)));
    let points: Vec<(f64, f64)> = seen
        .filter(|sample| sample.variance > 0.0 && sample.progress > 0.0)
        .map(|sample| (ln(sample.progress), ln(sample.variance) / 2.0))
        .collect();
    if points.len() < LOOKS {
        return (WALK, 0.0);
    }
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let xx: f64 = points.iter().map(|p| square(p.0 - x)).sum();
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    if xx <= 0.0 {
        return (WALK, 0.0);
    }
    let h = xy / xx;
    let rest: f64 = points.iter().map(|p| square(p.1 - y - h * (p.0 - x))).sum();
    // Neighbours see nearly the same: a few of the moments are independent. A standard deviation of n values is known to
    // 1/sqrt(2 n), if they are independent; ranks are not quite.
    let of_ranks = 1.0 / f64::from(ranks.max(2)) + WANDERS * WANDERS;
    let error = ((rest / (n - 2.0)).max(of_ranks) / (xx / n * INDEPENDENT)).sqrt();
    let h = h.clamp(0.0, 1.0);
    if (h - WALK).abs() <= 2.0 * error { (WALK, error.max((h - WALK).abs() / 2.0)) } else { (h, error) }
}

/// By how much the spread of many ranks wanders about its law, as a part of it: measured in full runs.
const WANDERS: f64 = 0.1;

/// The exponent of a random walk.
const WALK: f64 = 0.5;

/// Moments of those looked at that count as independent.
const INDEPENDENT: f64 = 4.0;

/// `base^exponent`.
fn power(base: f64, exponent: f64) -> f64 {
    if base > 0.0 { exp(exponent * ln(base)) } else { 0.0 }
}

fn square(x: f64) -> f64 {
    x * x
}
