//! What a series of step times settles at: warm-up, level, and how uncertain the level is.
//!
//! Source: K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation heuristics for
//! simulation", Winter Simulation Conference 2000 (the marginal standard error rule on batches of five, MSER-5);
//! A. M. Law, "Simulation Modeling and Analysis", 5th ed., 9.5.3 (batch means); J. Geweke, "Evaluating the accuracy of
//! sampling-based approaches to the calculation of posterior moments", Bayesian Statistics 4, 1992 (early against late).

use crate::report::student;

/// Steps that are averaged before the end of warm-up is looked for.
const TOGETHER: usize = 5;

/// Numbers of batches whose variances are set against each other: long batches see long correlations, short ones are
/// many.
const BATCHES: [usize; 3] = [8, 16, 32];

/// What a series has settled at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// Values at its beginning that are left out.
    pub warm_up: usize,
    /// Values that are left.
    pub values: usize,
    /// Their mean m.
    pub mean: f64,
    /// The variance of a sum of n values is this times n, correlations included: `L s^2` of means of batches of L values.
    pub variance: f64,
    /// The slope of the values over `1/sqrt(j)`, j being their number, and the sum of squares that it rests on.
    pub trend: (f64, f64),
    /// By how much the mean of the later half is above that of the earlier one.
    pub drift: f64,
}

impl Level {
    /// That of these values; nothing where there are too few of them.
    pub fn of(values: &[f64]) -> Option<Self> {
        let warm_up = warm_up(values);
        let left = &values[warm_up..];
        if left.len() < 2 * BATCHES[0] {
            return None;
        }
        let variances = BATCHES.iter().filter(|&&batches| left.len() >= 2 * batches);
        let variance = variances.map(|&batches| of_batches(left, batches)).fold(0.0, f64::max);
        let (early, late) = left.split_at(left.len() / 2);
        let begun = trend(&values[warm_up.max(TOGETHER)..], warm_up.max(TOGETHER));
        let drift = mean(late) - mean(early);
        // What of the drift is more than chance: its variance is 4 g / n.
        let by_chance = 4.0 * variance / left.len() as f64;
        let real = if drift == 0.0 { 0.0 } else { (1.0 - by_chance / (drift * drift)).max(0.0) };
        Some(Self { warm_up, values: left.len(), mean: mean(left) + real * drift / 2.0, variance, drift, trend: begun })
    }

    /// By how much the next `steps` values will be above the mean, if they go on to settle by `1/sqrt(j)` as they have so
    /// far; 0 as far as that is chance.
    pub fn ahead(&self, steps: f64) -> f64 {
        let (slope, squares) = self.trend;
        let so_far = (self.warm_up + self.values) as f64;
        // 1/sqrt(j) on average of those to come, less that of the later half, which the mean stands for.
        let (half, all) = (so_far - self.values as f64 / 2.0, so_far + steps);
        let mean_of = |from: f64, to: f64| 2.0 / (from.sqrt() + to.sqrt());
        let way = mean_of(so_far, all.max(so_far)) - mean_of(half, so_far);
        if squares <= 0.0 || slope == 0.0 {
            return 0.0;
        }
        slope * way * (1.0 - self.variance / squares / (slope * slope)).max(0.0)
    }

    /// Half of the 95 % interval of the sum of the next `steps` values: what they vary by themselves, the error of the
    /// mean, half of its drift, which may go on, and half of what is ahead.
    ///
    /// ```text
    /// sqrt(t^2 (g R (1 + R/n) + (R d/2)^2) + (R a/2)^2)      g: variance, n: values, d: drift, a: ahead
    ///                                                        t: Student's of the fewest batches
    /// ```
    pub fn half_of_sum(&self, steps: f64) -> f64 {
        let of_noise = self.variance * steps * (1.0 + steps / self.values as f64);
        let of_drift = steps * self.drift / 2.0;
        let of_trend = steps * self.ahead(steps) / 2.0;
        let noise = student(BATCHES[0] - 1) * (of_noise + of_drift * of_drift).sqrt();
        (noise * noise + of_trend * of_trend).sqrt()
    }
}

/// The slope of values over `1/sqrt(j)` by least squares, the first of them having the number `before + 1`, and the sum
/// of squares of `1/sqrt(j)` about its mean.
fn trend(values: &[f64], before: usize) -> (f64, f64) {
    let place = |i: usize| 1.0 / ((before + i + 1) as f64).sqrt();
    let middle = (0..values.len()).map(place).sum::<f64>() / values.len().max(1) as f64;
    let about = mean(values);
    let squares: f64 = (0..values.len()).map(|i| (place(i) - middle) * (place(i) - middle)).sum();
    let both: f64 = values.iter().enumerate().map(|(i, x)| (place(i) - middle) * (x - about)).sum();
    (if squares > 0.0 { both / squares } else { 0.0 }, squares)
}

/// Where the warm-up ends: the d that makes the standard error of what is left, `sum (x - mean)^2 / (n - d)^2`,
/// smallest, at most half of the series. In whole batches.
fn warm_up(values: &[f64]) -> usize {
    let batches: Vec<f64> = values.chunks_exact(TOGETHER).map(mean).collect();
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // About a value near all of them, so that nothing is lost where they hardly differ.
    let about = batches.last().copied().unwrap_or_default();
    for (d, &batch) in batches.iter().enumerate().rev() {
        sum += batch - about;
        squares += (batch - about) * (batch - about);
        count += 1.0;
        if d <= batches.len() / 2 {
            let error = (squares - sum * sum / count).max(0.0) / (count * count);
            // Of several that are as good the earliest.
            if error <= best.0 {
                best = (error, d);
            }
        }
    }
    best.1 * TOGETHER
}

/// `L s^2`: of the means of so many batches of L values each, the last ones.
fn of_batches(values: &[f64], batches: usize) -> f64 {
    let length = values.len() / batches;
    let used = &values[values.len() - batches * length..];
    let means: Vec<f64> = used.chunks_exact(length).map(mean).collect();
    let all = mean(&means);
    let squares: f64 = means.iter().map(|x| (x - all) * (x - all)).sum();
    length as f64 * squares / (batches - 1) as f64
}

/// The mean.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Mix;

    /// Nearly normal: the sum of twelve uniform numbers, less six.
    fn normal(random: Mix, key: u64) -> f64 {
        (0..12).map(|part| random.two_unit(key, part)).sum::<f64>() - 6.0
    }

    /// `x = 3 + y`, `y' = a y + e`: the variance of a long sum is `1 / (1 - a)^2` for each value.
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

    #[test]
    fn a_constant_series_is_known_exactly() {
        let level = Level::of(&[2.5; 40]).unwrap();
        assert_eq!((level.warm_up, level.mean, level.half_of_sum(1e6)), (0, 2.5, 0.0));
    }

    #[test]
    fn too_few_values_settle_at_nothing() {
        assert_eq!(Level::of(&[1.0; 15]), None);
        assert_eq!(Level::of(&[]), None);
    }

    #[test]
    fn warm_up_is_left_out_and_what_is_left_is_not() {
        let (mut left_out, mut mean) = (0, 0.0);
        for seed in 0..40 {
            let mut values = correlated(seed, 0.0, 300);
            for (i, value) in values.iter_mut().enumerate().take(60) {
                *value += 20.0 * (1.0 - i as f64 / 60.0);
            }
            let level = Level::of(&values).unwrap();
            assert!(level.warm_up >= 45, "{level:?}");
            left_out += level.warm_up;
            mean += level.mean / 40.0;
        }
        // With all of it the mean would be 5: 20 / 2 * 60 / 300 above 3.
        assert!(left_out < 40 * 110 && (mean - 3.0_f64).abs() < 0.06, "{left_out} {mean}");
    }

    #[test]
    fn the_variance_of_sums_has_the_correlations_in_it() {
        // 1 / (1 - 0.8)^2 = 25; the largest of three variances is above it on average.
        let variances = (0..200).map(|seed| Level::of(&correlated(seed, 0.8, 800)).unwrap().variance);
        let mean = variances.sum::<f64>() / 200.0;
        assert!((20.0..45.0).contains(&mean), "{mean}");
    }

    #[test]
    fn the_interval_of_a_sum_holds_it_about_as_often_as_it_says() {
        let mut held = 0;
        for seed in 0..400 {
            let values = correlated(seed, 0.6, 2200);
            let level = Level::of(&values[..200]).unwrap();
            let sum: f64 = values[200..].iter().sum();
            held += u32::from((sum - 2000.0 * level.mean).abs() <= level.half_of_sum(2000.0));
        }
        // 95 % of 400 are 380; below 365 it is not 95 % (binomial, p < 0.001).
        assert!(held >= 365, "{held} of 400");
    }
}
