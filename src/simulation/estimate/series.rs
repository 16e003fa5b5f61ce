//! Series of step times: their warm-up, the law by which they settle, and the uncertainty of the steps to
//! come.
//!
//! Source: K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation heuristics
//! for simulation", Winter Simulation Conference 2000 (the marginal standard error rule on batches of five,
//! MSER-5); A. M. Law, "Simulation Modeling and Analysis", 5th ed., 9.5.3 (batch means); J. Geweke,
//! "Evaluating the accuracy of sampling-based approaches to the calculation of posterior moments", Bayesian
//! Statistics 4, 1992 (early against late).

use crate::base::portable::{exp, ln};
use crate::report::student;

/// Number of steps that are averaged before the end of the warm-up is searched.
const BATCH: usize = 5;

/// Numbers of batches whose variances are compared. Long batches capture long correlations; short ones are
/// numerous.
const BATCHES: [usize; 3] = [8, 16, 32];

/// Returns half of a 95 % interval in standard deviations, for a deviation estimated from the fewest batches.
pub(super) fn wide() -> f64 {
    student(BATCHES[0] - 1)
}

/// Returns `base^exponent`, 0 for a base that is not positive.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    if base > 0.0 { exp(exponent * ln(base)) } else { 0.0 }
}

/// Forecast of the time of the steps to come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StepForecast {
    /// Mean time of a step.
    pub mean: f64,
    /// Variance of that mean.
    pub variance: f64,
    /// Variance of a sum of n values divided by n, correlations included: `L s^2` of the means of batches of
    /// L values.
    pub noise: f64,
}

/// A straight line through the last part of a series: `x_j = level + slope u_j`.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Number of values at the beginning that are left out.
    warm_up: usize,
    /// Number of values that are left.
    values: f64,
    level: f64,
    slope: f64,
    /// Mean of u over these values, and the sum of squares about it.
    middle: f64,
    squares: f64,
}

impl Line {
    fn at(&self, u: f64) -> f64 {
        self.level + self.slope * u
    }

    /// Returns the variance of the line at u, relative to that of one value.
    fn variance_at(&self, u: f64) -> f64 {
        let off = u - self.middle;
        1.0 / self.values + if self.squares > 0.0 { off * off / self.squares } else { 0.0 }
    }
}

/// Law by which values settle: `x_j = m - b j^-a` from number `begun` on, with a between h and 2 h.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Law {
    /// Number of values before the law holds.
    pub begun: usize,
    /// Exponent by which ranks drift apart, `S_j ~ j^h`.
    pub h: f64,
}

/// Forecasts the mean of the next `steps` values. Returns `None` if there are too few values.
///
/// ```text
/// x_j = m - b j^-a + noise       fitted after the warm-up that leaves the answer the smallest standard error
/// ```
/// Without a law b is 0. With a law b is always fitted: dropping a b that hardly exceeds chance would miss it
/// where it matters. The answer lies midway between those of `a = h` and `a = 2 h`; half of their distance
/// counts as two standard deviations. `among(n)` is the variance of the mean of the values after the first n,
/// relative to its square, that follows from the differences between groups of ranks (0 if they do not
/// differ).
pub fn ahead(values: &[f64], law: Option<Law>, steps: f64, among: impl Fn(usize) -> f64) -> Option<StepForecast> {
    let Some(Law { begun, h }) = law else { return of_line(values, None, steps, &among) };
    let [slow, quick] = [1.0, 2.0].map(|times| of_line(values, Some(Law { begun, h: times * h }), steps, &among));
    let (slow, quick) = (slow?, quick?);
    let apart = (slow.mean - quick.mean) / 2.0;
    Some(StepForecast {
        mean: f64::midpoint(slow.mean, quick.mean),
        variance: f64::midpoint(slow.variance, quick.variance) + apart * apart / 4.0,
        noise: slow.noise.max(quick.noise),
    })
}

/// Forecasts by the line with a = h.
fn of_line(values: &[f64], law: Option<Law>, steps: f64, among: &impl Fn(usize) -> f64) -> Option<StepForecast> {
    let played = values.len() as f64;
    let coming = law.map_or(0.0, |law| mean_power(played, played + steps.max(1.0), law.h));
    let line = fitted(values, law, coming)?;
    let place = |i: usize| law.map_or(0.0, |law| power((line.warm_up + i + 1) as f64, -law.h));
    let rest: Vec<f64> = (values[line.warm_up..].iter().enumerate()).map(|(i, x)| x - line.at(place(i))).collect();
    let variances = BATCHES.iter().filter(|&&batches| rest.len() >= 2 * batches);
    let noise = variances.map(|&batches| batch_variance(&rest, batches)).fold(0.0, f64::max);
    let (early, late) = rest.split_at(rest.len() / 2);
    let drift = mean(late) - mean(early);
    // A drift that the line does not explain may continue, as far as it exceeds chance: by chance its square is 4 g /
    // n.
    let misfit = (drift * drift / 4.0 - noise / line.values).max(0.0);
    let (mean, steps) = (line.at(coming), steps.max(1.0));
    let in_time = noise * (line.variance_at(coming) + 1.0 / steps);
    let in_ranks = among(line.warm_up) * mean * mean * (1.0 + line.values / steps);
    Some(StepForecast { mean, variance: in_time.max(in_ranks) + misfit, noise })
}

/// Fits a line after a warm-up of at most half of the series and at least the values before the law. The
/// warm-up is the one with the smallest standard error at `coming`, as if values were independent.
fn fitted(values: &[f64], law: Option<Law>, coming: f64) -> Option<Line> {
    let batches = values.len() / BATCH;
    if values.len() < 4 * BATCHES[0] {
        return None;
    }
    let last = batches / 2;
    let first = law.map_or(0, |law| law.begun.div_ceil(BATCH).min(last));
    // Values are taken relative to one of them, so that small differences keep their precision.
    let about = values[values.len() - 1];
    let (mut n, mut x, mut xx, mut u, mut uu, mut xu) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    let mut best: Option<(f64, Line)> = None;
    for d in (0..batches).rev() {
        let at = d * BATCH;
        let dx = mean(&values[at..at + BATCH]) - about;
        let du = law.map_or(0.0, |law| mean_power(at as f64, (at + BATCH) as f64, law.h));
        (n, x, xx) = (n + 1.0, x + dx, xx + dx * dx);
        (u, uu, xu) = (u + du, uu + du * du, xu + dx * du);
        if d > last || d < first {
            continue;
        }
        let of_u = (uu - u * u / n).max(0.0);
        // If u is constant, no law can be fitted.
        let bends = of_u > 1e-12 * uu;
        let slope = if bends { (xu - x * u / n) / of_u } else { 0.0 };
        let line = Line {
            warm_up: at,
            values: n * BATCH as f64,
            level: about + (x - slope * u) / n,
            slope,
            middle: u / n,
            squares: if bends { of_u * BATCH as f64 } else { 0.0 },
        };
        let rest = (xx - x * x / n - slope * (xu - x * u / n)).max(0.0);
        let error = rest / n * line.variance_at(coming);
        // The earliest of several equally good lines is taken.
        if best.is_none_or(|(least, _)| error <= least) {
            best = Some((error, line));
        }
    }
    best.map(|(_, line)| line)
}

/// Returns the mean of `j^-h` over the steps `from < j <= to`.
fn mean_power(from: f64, to: f64, h: f64) -> f64 {
    // Integral from half a step before.
    let (from, to) = (from + 0.5, to + 0.5);
    let g = 1.0 - h;
    if g.abs() < 1e-6 { ln(to / from) / (to - from) } else { (power(to, g) - power(from, g)) / g / (to - from) }
}

/// Returns `L s^2` from the means of the last `batches` batches of L values each.
fn batch_variance(values: &[f64], batches: usize) -> f64 {
    let length = values.len() / batches;
    let used = &values[values.len() - batches * length..];
    let means: Vec<f64> = used.chunks_exact(length).map(mean).collect();
    let all = mean(&means);
    let squares: f64 = means.iter().map(|x| (x - all) * (x - all)).sum();
    length as f64 * squares / (batches - 1) as f64
}

/// Returns the mean.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Mix;

    /// Returns a nearly normal number: the sum of twelve uniform numbers, less six.
    fn normal(random: Mix, key: u64) -> f64 {
        (0..12).map(|part| random.two_unit(key, part)).sum::<f64>() - 6.0
    }

    /// Returns the series `x = 3 + y`, `y' = a y + e`. The variance of a long sum is `1 / (1 - a)^2` per
    /// value.
    fn correlated(seed: u64, a: f64, count: u64) -> Vec<f64> {
        let random = Mix::new(seed, "series");
        let mut y = 0.0;
        (0..count + 100)
            .map(|i| {
                y = a * y + normal(random, i);
                3.0 + y
            })
            .skip(100)
            .collect()
    }

    /// Forecasts the next steps of ranks that are apart from the twentieth step on and move like random
    /// walks.
    fn next(values: &[f64], steps: f64) -> StepForecast {
        ahead(values, Some(Law { begun: 20, h: 0.5 }), steps, |_| 0.0).unwrap()
    }

    #[test]
    fn a_constant_series_is_known_exactly() {
        assert_eq!(next(&[2.5; 40], 1e6), StepForecast { mean: 2.5, variance: 0.0, noise: 0.0 });
    }

    #[test]
    fn too_few_values_settle_at_nothing() {
        assert_eq!(ahead(&[1.0; 31], None, 10.0, |_| 0.0), None);
        assert_eq!(ahead(&[], None, 10.0, |_| 0.0), None);
    }

    #[test]
    fn warm_up_is_left_out_and_what_is_left_is_not() {
        let (mut left_out, mut mean) = (0, 0.0);
        for seed in 0..40 {
            let mut values = correlated(seed, 0.0, 300);
            for (i, value) in values.iter_mut().enumerate().take(60) {
                *value += 20.0 * (1.0 - i as f64 / 60.0);
            }
            let line = fitted(&values, None, 0.0).unwrap();
            assert!(line.warm_up >= 45, "{line:?}");
            left_out += line.warm_up;
            mean += line.level / 40.0;
        }
        // With the warm-up the mean would be 5: 20 / 2 * 60 / 300 above 3.
        assert!(left_out < 40 * 110 && (mean - 3.0_f64).abs() < 0.06, "{left_out} {mean}");
    }

    #[test]
    fn the_variance_of_sums_has_the_correlations_in_it() {
        // 1 / (1 - 0.8)^2 = 25; the largest of three variances is larger on average.
        let variances = (0..200).map(|seed| ahead(&correlated(seed, 0.8, 800), None, 10.0, |_| 0.0).unwrap().noise);
        let mean = variances.sum::<f64>() / 200.0;
        assert!((20.0..45.0).contains(&mean), "{mean}");
    }

    /// Returns the number of beginnings, out of 400 with 200 values each, whose interval contains the 2,000
    /// values to come. `add` is added to the noise.
    fn held(law: Option<Law>, add: impl Fn(usize) -> f64) -> u32 {
        let held = |seed| {
            let noise = correlated(seed, 0.6, 2200);
            let values: Vec<f64> = noise.iter().enumerate().map(|(i, x)| x + add(i + 1)).collect();
            let next = ahead(&values[..200], law, 2000.0, |_| 0.0).unwrap();
            u32::from((mean(&values[200..]) - next.mean).abs() <= wide() * next.variance.sqrt())
        };
        (0..400).map(held).sum()
    }

    #[test]
    fn the_interval_holds_what_comes_about_as_often_as_it_says() {
        // 95 % of 400 are 380; below 365 it is not 95 % (binomial, p < 0.001).
        let flat = held(None, |_| 0.0);
        assert!(flat >= 365, "{flat} of 400");
        // Drifts between j^-1/2 and j^-1, from one lost in the noise to a prominent one.
        let law = Some(Law { begun: 20, h: 0.5 });
        for b in [0.0, 8.0, 16.0, 32.0, 160.0] {
            let settling = held(law, |j| -b * power(j as f64, -0.75));
            assert!(settling >= 365, "{settling} of 400 with b = {b}");
        }
    }

    #[test]
    fn a_series_without_noise_is_followed_along_its_law() {
        let values: Vec<f64> = (0..2000).map(|j| 3.0 - mean_power(f64::from(j), f64::from(j + 1), 0.5)).collect();
        let slow = of_line(&values[..100], Some(Law { begun: 20, h: 0.5 }), 1900.0, &|_| 0.0).unwrap();
        let to_come = mean(&values[100..]);
        assert!((slow.mean - to_come).abs() < 1e-4 && slow.variance < 1e-9, "{slow:?}");
        // The interval allows for a faster law, and for no more than that.
        let next = next(&values[..100], 1900.0);
        let (off, half) = (to_come - next.mean, wide() * next.variance.sqrt());
        assert!(0.0 < off && off < half && half < 0.02, "{off} {half}");
    }
}
