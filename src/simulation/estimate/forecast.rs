//! Extrapolation from the beginning of a pattern, played to its own end, to the makespan of the whole
//! pattern.
//!
//! ```text
//! S(k)   spread of the ranks' progress (messages)    K   messages of each rank
//! x_j    time of step j                              k   messages of each rank that were played
//! t_J    when J n messages had arrived               E   when the last rank ends that has k messages
//!
//! makespan = t_J + (K - J) x(J..K) + T(k) (K/k)^h        T(k) = E - t_J - (k - J) x(J..k)
//! ```
//! Each rank advances by random steps of its own, so the spread grows like a random walk, `S(k) ~ k^h` with h
//! = 1/2. The exponent h is measured, and 1/2 is used where the measurement agrees with it within its error.
//! The end of a run looks the same at every scale: ranks that lag by a multiple of S catch up while the
//! network empties. That takes c S, and c does not depend on S. So the end of the whole pattern is the end
//! that was played, scaled. `docs/concepts/estimates.md`.

use crate::base::portable::ln;
use crate::report::student;

use super::series::{Law, StepForecast, ahead, mean, power, wide};

/// Number of groups of consecutive ranks whose progress is recorded.
pub const PARTS: usize = 32;

/// Smallest number of groups that are compared. More are used, up to `PARTS`, as long as each has
/// [`RANKS_IN_PART`] ranks. (Neighbouring ranks are correlated over a distance of about a hundred.)
const FEWEST_PARTS: usize = 8;
const RANKS_IN_PART: usize = 128;

/// State of a run after one more step: its time and the spread of the ranks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Time \[ps\].
    pub time: f64,
    /// Mean number of delivered messages per rank.
    pub progress: f64,
    /// Variance of that number over ranks.
    pub variance: f64,
    /// Mean number of delivered messages per rank in each group of ranks.
    pub parts: [f64; PARTS],
}

/// Facts about the whole pattern that a forecast needs beside the samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PatternSize {
    /// Number of ranks.
    pub ranks: u32,
    /// Messages of each rank.
    pub messages: u32,
    /// True if the messages of one step go to different ranks. Then they meet more often the further ranks
    /// drift apart.
    pub meet: bool,
}

/// End of the beginning that was played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct End {
    /// Messages of each rank in the beginning.
    pub messages: u32,
    /// Expected arrival time of the last of these messages \[ps\].
    pub time: f64,
    /// Mean time by which the last ranks end after the rank before them \[ps\].
    pub excess: f64,
    /// Number of last ranks.
    pub last: u32,
}

impl End {
    /// Estimates the end from the times at which ranks ended.
    ///
    /// ```text
    /// E = u + s (1 + 1/2 + ... + 1/r)        r = sqrt(n) last ranks end s after u on average, u the one before them
    /// ```
    /// This is the mean of the largest of r values above u that are exponentially distributed, as the tail of
    /// most distributions nearly is. Source: S. Coles, "An Introduction to Statistical Modeling of Extreme
    /// Values", 2001, 4.
    pub fn of(messages: u32, mut ends: Vec<f64>) -> Self {
        ends.sort_unstable_by(|a, b| b.total_cmp(a));
        let last = last_ranks(ends.len());
        let threshold = ends.get(last).or(ends.last()).copied().unwrap_or_default();
        let excess = mean(&ends[..last.min(ends.len())]) - threshold;
        let excess = excess.max(0.0);
        Self { messages, time: threshold + excess * harmonic(last), excess, last: last as u32 }
    }

    /// Returns how far above E the last rank of a similar run ends in 97.5 % of all cases, in units of the
    /// excess. The distance below E is smaller.
    ///
    /// ```text
    /// q - (1 + 1/2 + ... + 1/r)        P(largest of r < q) = (1 - exp(-q))^r = 0.975
    /// ```
    pub(super) fn reach(self) -> f64 {
        let last = self.last.max(1);
        -ln(1.0 - power(0.975, 1.0 / f64::from(last))) - harmonic(last as usize)
    }

    /// Returns the variance of E from the measurement of the excess and u, relative to the square of the
    /// excess.
    fn variance(self) -> f64 {
        (square(harmonic(self.last as usize)) + 1.0) / f64::from(self.last.max(1))
    }
}

/// Returns the number of ranks that count as the last of `ranks`.
fn last_ranks(ranks: usize) -> usize {
    let root = (ranks as f64).sqrt() as usize;
    root.max(4).min(ranks / 2).max(1)
}

/// Returns `1 + 1/2 + ... + 1/r`.
fn harmonic(r: usize) -> f64 {
    (1..=r).map(|i| 1.0 / i as f64).sum()
}

/// Forecast of the makespan.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    /// Makespan \[ps\].
    pub makespan: f64,
    /// Half of the 95 % interval of the makespan \[ps\].
    pub half: f64,
}

/// State of knowledge at one moment of a run.
#[derive(Clone, Debug)]
pub struct Fit<'a> {
    samples: &'a [Sample],
    /// Time of each step.
    steps: Vec<f64>,
    /// Exponent h of the growth of the spread, and its error.
    growth: (f64, f64),
    last: Sample,
    whole: PatternSize,
}

/// Length of the end and excess of the last ranks, both relative to the spread in time, assumed before an end
/// has been played.
const USUAL_END: f64 = 1.5;
const USUAL_EXCESS: f64 = 0.25;

/// Spread of the ranks (messages) from which on the law holds by which step times settle.
const SETTLED_SPREAD: f64 = 2.0;

impl<'a> Fit<'a> {
    /// Fits the samples, one for each step. Returns `None` if there are too few.
    pub fn of(samples: &'a [Sample], whole: PatternSize) -> Option<Self> {
        let mut before = (0.0, 0.0);
        let mut steps = Vec::with_capacity(samples.len());
        for sample in samples {
            steps.push((sample.time - before.0) / (sample.progress - before.1));
            before = (sample.time, sample.progress);
        }
        let known = Self { samples, steps, growth: growth(samples, whole.ranks), last: *samples.last()?, whole };
        known.ahead(1.0).map(|_| known)
    }

    /// Predicts the forecast that will be possible once a beginning of `messages` messages per rank has been
    /// played to its end: the half interval and the approximate makespan.
    pub fn outlook(&self, messages: u32) -> Option<Forecast> {
        let left = f64::from(messages) - self.last.progress;
        let step = self.ahead(left)?.mean;
        let spread = self.last.variance.sqrt() * power(f64::from(messages) / self.last.progress, self.growth.0) * step;
        let time = self.last.time + left * step + USUAL_END * spread;
        let last = last_ranks(self.whole.ranks as usize) as u32;
        self.forecast(End { messages, time, excess: USUAL_EXCESS * spread, last })
    }

    /// Forecasts the makespan of the whole pattern from the end of its beginning.
    pub fn forecast(&self, end: End) -> Option<Forecast> {
        let (played, all) = (f64::from(end.messages), f64::from(self.whole.messages));
        let (h, error) = self.growth;
        let factor = power(all / played, h);
        let (near, far) = (played - self.last.progress, all - self.last.progress);
        let (of_near, of_far) = (self.ahead(near)?, self.ahead(far)?);
        let tail = factor * (end.time - self.last.time - near * of_near.mean);
        let makespan = self.last.time + far * of_far.mean + tail;
        let excess = factor * end.excess;
        let of_line = of_near.noise * near.max(0.0) * square(factor);
        let of_growth = square(tail * error * ln(all / played));
        let mean_load = square(wide() * far) * of_far.variance;
        let sure = student(2 * end.last.max(1) as usize);
        let measured = square(sure) * (end.variance() * square(excess) + of_line + of_growth);
        // Even if all steps were equal to the last digit, a step still to come may differ.
        let least = if played < all { of_far.mean } else { 0.0 };
        Some(Forecast { makespan, half: (mean_load + measured + square(end.reach() * excess)).sqrt().max(least) })
    }

    /// Forecasts the mean time of the next `steps` steps.
    fn ahead(&self, steps: f64) -> Option<StepForecast> {
        // The law does not apply to ranks that are held together, which drift no further apart, nor to random
        // destinations, whose messages meet from the start.
        let law = (self.whole.meet && self.growth.0 >= WALK_EXPONENT).then(|| {
            let begun =
                self.samples.iter().take_while(|sample| sample.variance < SETTLED_SPREAD * SETTLED_SPREAD).count();
            Law { begun, h: self.growth.0 }
        });
        ahead(&self.steps, law, steps, |warm_up| self.among(warm_up))
    }

    /// Returns the variance of the mean progress of all ranks after `warm_up` samples, derived from the
    /// differences between groups of ranks, relative to the square of the progress. Where ranks have speeds
    /// of their own (h above 1/2), only the changes of these speeds count.
    fn among(&self, warm_up: usize) -> f64 {
        let ranks = self.whole.ranks as usize;
        if ranks < PARTS {
            return 0.0;
        }
        let mut parts = PARTS;
        while parts > FEWEST_PARTS && ranks / parts < RANKS_IN_PART {
            parts /= 2;
        }
        let at = |i: usize| if i == 0 { [0.0; PARTS] } else { self.samples[i - 1].parts };
        let all = self.samples.len();
        let (first, middle, last) = (at(warm_up), at(usize::midpoint(warm_up, all)), at(all));
        let is_own = self.growth.0 > WALK_EXPONENT;
        let done: Vec<f64> = (0..PARTS)
            .map(|i| if is_own { last[i] - 2.0 * middle[i] + first[i] } else { last[i] - first[i] })
            .collect();
        let done: Vec<f64> = done.chunks_exact(PARTS / parts).map(mean).collect();
        let progress = self.last.progress - if warm_up == 0 { 0.0 } else { self.samples[warm_up - 1].progress };
        let about = mean(&done);
        let squares: f64 = done.iter().map(|done| square(done - about)).sum();
        // More groups make their variance more certain.
        let sure = square(student(parts - 1) / wide());
        sure * squares / ((parts - 1) * parts) as f64 / square(progress)
    }
}

/// Number of moments at which the spread is sampled, and the factor between the last and the first of them.
const GROWTH_SAMPLES: usize = 12;
const GROWTH_SPAN: f64 = 8.0;

/// Returns the exponent h of `S ~ k^h` by least squares, and its error. h is 1/2 if it agrees with that
/// within twice the error.
fn growth(samples: &[Sample], ranks: u32) -> (f64, f64) {
    let last = samples.len().saturating_sub(1);
    let look = |i: usize| (last as f64 / power(GROWTH_SPAN, i as f64 / (GROWTH_SAMPLES - 1) as f64)) as usize;
    let seen = (0..GROWTH_SAMPLES).filter_map(|i| samples.get(look(i)));
    let points: Vec<(f64, f64)> = seen
        .filter(|sample| sample.variance > 0.0 && sample.progress > 0.0)
        .map(|sample| (ln(sample.progress), ln(sample.variance) / 2.0))
        .collect();
    if points.len() < GROWTH_SAMPLES {
        return (WALK_EXPONENT, 0.0);
    }
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let xx: f64 = points.iter().map(|p| square(p.0 - x)).sum();
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    if xx <= 0.0 {
        return (WALK_EXPONENT, 0.0);
    }
    let h = xy / xx;
    let rest: f64 = points.iter().map(|p| square(p.1 - y - h * (p.0 - x))).sum();
    // Neighbouring moments are strongly correlated, so only a few count as independent. The standard deviation of n
    // independent values is known to 1/sqrt(2 n); ranks are not quite independent.
    let of_ranks = 1.0 / f64::from(ranks.max(2)) + SPREAD_NOISE * SPREAD_NOISE;
    let error = ((rest / (n - 2.0)).max(of_ranks) / (xx / n * INDEPENDENT_SAMPLES)).sqrt();
    let h = h.clamp(0.0, 1.0);
    if (h - WALK_EXPONENT).abs() <= 2.0 * error {
        (WALK_EXPONENT, error.max((h - WALK_EXPONENT).abs() / 2.0))
    } else {
        (h, error)
    }
}

/// Relative deviation of the spread of many ranks from its law, measured in full runs.
const SPREAD_NOISE: f64 = 0.1;

/// Exponent of a random walk.
const WALK_EXPONENT: f64 = 0.5;

/// Number of sampled moments that count as independent.
const INDEPENDENT_SAMPLES: f64 = 4.0;

fn square(x: f64) -> f64 {
    x * x
}
