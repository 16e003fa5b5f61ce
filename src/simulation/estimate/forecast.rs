//! From the beginning of a pattern, played to its own end, to when all of it will have ended.
//!
//! ```text
//! S(k)   spread of the ranks' progress (messages)    K   messages of each rank
//! x_j    the time of step j                          k   of which this many were played
//! t_J    when J n messages had arrived               E   when the last rank ends that has k messages
//!
//! makespan = t_J + (K - J) x(J..K) + T(k) (K/k)^h        T(k) = E - t_J - (k - J) x(J..k)
//! ```
//! Ranks go on by random steps of their own, so their spread grows as a random walk does, `S(k) ~ k^h` with h = 1/2;
//! h is measured, and 1/2 is taken where it is that within its error. The end of a run is the same at every scale: the
//! ranks that are behind by so many S catch up while the network empties, which takes c S for a c that the spread has
//! no part in. So the end that was played is the end to come, but for its size. `docs/models.md`, 5.3.

use crate::base::portable::ln;
use crate::report::student;

use super::series::{Ahead, Law, ahead, mean, power, wide};

/// Parts of the ranks, by number, whose progress is kept.
pub const PARTS: usize = 32;

/// The fewest parts that are set against each other: eighths, or as many more as leave so many ranks in each. (What
/// ranks have in common with their neighbours is gone after about a hundred.)
const FEWEST_PARTS: usize = 8;
const RANKS_IN_PART: usize = 128;

/// When so many steps were done, and how far apart ranks were then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// The time \[ps\].
    pub time: f64,
    /// Messages a rank that had been delivered by then, on average.
    pub progress: f64,
    /// The variance of that over ranks.
    pub variance: f64,
    /// The same average of each part of the ranks.
    pub parts: [f64; PARTS],
}

/// What has to be known beside the samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Whole {
    /// Number of ranks.
    pub ranks: u32,
    /// Messages of each.
    pub messages: u32,
    /// Whether messages of one step go to different ranks, so that they meet the more the further ranks come apart.
    pub meet: bool,
}

/// How the beginning that was played ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct End {
    /// Messages of each rank in it.
    pub messages: u32,
    /// When the last of them arrives, on average over what might have been \[ps\].
    pub time: f64,
    /// By how much the last ranks end later than the last but those, on average \[ps\].
    pub excess: f64,
    /// How many the last ranks are.
    pub last: u32,
}

impl End {
    /// That of ranks that ended at these times.
    ///
    /// ```text
    /// E = u + s (1 + 1/2 + ... + 1/r)        r = sqrt(n) last ranks end s after u on average, u the one before them
    /// ```
    /// which is the mean of the largest of r values above u that are exponentially distributed, as the tail of most
    /// distributions nearly is. Source: S. Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, 4.
    pub fn of(messages: u32, mut ends: Vec<f64>) -> Self {
        ends.sort_unstable_by(|a, b| b.total_cmp(a));
        let last = last_ranks(ends.len());
        let threshold = ends.get(last).or(ends.last()).copied().unwrap_or_default();
        let excess = mean(&ends[..last.min(ends.len())]) - threshold;
        let excess = excess.max(0.0);
        Self { messages, time: threshold + excess * harmonic(last), excess, last: last as u32 }
    }

    /// How far above E the last of other ranks ends that come apart as these do, but for 2.5 % of all cases, over the
    /// excess; below E it is less far.
    ///
    /// ```text
    /// q - (1 + 1/2 + ... + 1/r)        P(largest of r < q) = (1 - exp(-q))^r = 0.975
    /// ```
    pub(super) fn reach(self) -> f64 {
        let last = self.last.max(1);
        -ln(1.0 - power(0.975, 1.0 / f64::from(last))) - harmonic(last as usize)
    }

    /// The variance of E, of which the excess and u are measured, over the square of the excess.
    fn variance(self) -> f64 {
        (square(harmonic(self.last as usize)) + 1.0) / f64::from(self.last.max(1))
    }
}

/// How many of so many ranks are the last.
fn last_ranks(ranks: usize) -> usize {
    let root = (ranks as f64).sqrt() as usize;
    root.max(4).min(ranks / 2).max(1)
}

/// `1 + 1/2 + ... + 1/r`.
fn harmonic(r: usize) -> f64 {
    (1..=r).map(|i| 1.0 / i as f64).sum()
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
pub struct Known<'a> {
    samples: &'a [Sample],
    /// The time of each step.
    steps: Vec<f64>,
    /// The exponent h of the spread's growth, and its error.
    growth: (f64, f64),
    last: Sample,
    whole: Whole,
}

/// The length of the end, and the excess of the last ranks, over the spread in time, where it has not been played yet.
const USUAL_END: f64 = 1.5;
const USUAL_EXCESS: f64 = 0.25;

/// The law by which steps settle is about ranks this far apart (messages).
const APART: f64 = 2.0;

impl<'a> Known<'a> {
    /// What these samples say, one for each step; nothing where they are too few.
    pub fn of(samples: &'a [Sample], whole: Whole) -> Option<Self> {
        let mut before = (0.0, 0.0);
        let mut steps = Vec::with_capacity(samples.len());
        for sample in samples {
            steps.push((sample.time - before.0) / (sample.progress - before.1));
            before = (sample.time, sample.progress);
        }
        let known = Self { samples, steps, growth: growth(samples, whole.ranks), last: *samples.last()?, whole };
        known.ahead(1.0).map(|_| known)
    }

    /// What will be known when a beginning of so many messages a rank has been played to its end: half of the interval
    /// and the makespan that it is about.
    pub fn outlook(&self, messages: u32) -> Option<Forecast> {
        let left = f64::from(messages) - self.last.progress;
        let step = self.ahead(left)?.mean;
        let spread = self.last.variance.sqrt() * power(f64::from(messages) / self.last.progress, self.growth.0) * step;
        let time = self.last.time + left * step + USUAL_END * spread;
        let last = last_ranks(self.whole.ranks as usize) as u32;
        self.forecast(End { messages, time, excess: USUAL_EXCESS * spread, last })
    }

    /// When all will have ended.
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
        let of_steps = square(wide() * far) * of_far.variance;
        let sure = student(2 * end.last.max(1) as usize);
        let measured = square(sure) * (end.variance() * square(excess) + of_line + of_growth);
        // Where steps repeat themselves to the last digit, one that was not played may still be another.
        let least = if played < all { of_far.mean } else { 0.0 };
        Some(Forecast { makespan, half: (of_steps + measured + square(end.reach() * excess)).sqrt().max(least) })
    }

    /// The time of a step, of this many to come.
    fn ahead(&self, steps: f64) -> Option<Ahead> {
        // Ranks that are held together come apart no further, and destinations that are drawn meet from the start on.
        let law = (self.whole.meet && self.growth.0 >= WALK).then(|| {
            let begun = self.samples.iter().take_while(|sample| sample.variance < APART * APART).count();
            Law { begun, h: self.growth.0 }
        });
        ahead(&self.steps, law, steps, |warm_up| self.among(warm_up))
    }

    /// The variance of the mean progress of all ranks after this many samples, as far as parts of them differ, relative
    /// to its square. Where ranks have speeds of their own (h above 1/2), how these change.
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
        let is_own = self.growth.0 > WALK;
        let done: Vec<f64> = (0..PARTS)
            .map(|i| if is_own { last[i] - 2.0 * middle[i] + first[i] } else { last[i] - first[i] })
            .collect();
        let done: Vec<f64> = done.chunks_exact(PARTS / parts).map(mean).collect();
        let progress = self.last.progress - if warm_up == 0 { 0.0 } else { self.samples[warm_up - 1].progress };
        let about = mean(&done);
        let squares: f64 = done.iter().map(|done| square(done - about)).sum();
        // The more parts the surer is their variance.
        let sure = square(student(parts - 1) / wide());
        sure * squares / ((parts - 1) * parts) as f64 / square(progress)
    }
}

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
    // Neighbours see nearly the same: a few of the moments are independent. A standard deviation of n values is known
    // to 1/sqrt(2 n), if they are independent; ranks are not quite.
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

fn square(x: f64) -> f64 {
    x * x
}
