//! The fit: robust weighted least squares without negative parameters, which also detects parameters that the
//! measurements do not determine.
//!
//! Every measurement is an equation, weighted so that relative residuals count. Huber's weights limit the
//! influence of outliers; they are updated until nothing changes. The normal matrix, with its columns scaled
//! to one, is decomposed into its eigenvectors. A combination of parameters is not identifiable if it has a
//! component in a direction whose eigenvalue is almost zero. Negative parameters are fixed at 0, the most
//! negative first.

use super::model::{self, COUNT, Setting};
use super::samples::Sample;
use crate::base::Arrange;
use crate::base::portable::student;

/// Fraction of the largest eigenvalue below which an eigenvalue counts as zero.
const ZERO_EIGENVALUE: f64 = 1e-10;
/// Residual at which Huber's weights begin to fall \[standard deviations\]: 95 % efficient for normal errors.
pub(super) const HUBER: f64 = 1.345;

type Matrix = [[f64; COUNT]; COUNT];

/// Result of a fit.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// Parameters \[ps, ps/B\]; for those not identifiable, the smallest values that fit.
    pub values: [f64; COUNT],
    /// Variance by which the inverse of the normal matrix is multiplied.
    variance: f64,
    /// Degrees of freedom of the variance.
    free: usize,
    solved: Solved,
    /// Set for each parameter that is fixed at 0.
    fixed: [bool; COUNT],
}

/// Eigenvectors of the scaled normal matrix.
#[derive(Clone, Debug)]
struct Solved {
    scale: [f64; COUNT],
    eigenvalues: [f64; COUNT],
    /// Eigenvectors, by column.
    vectors: Matrix,
}

impl Solved {
    fn largest(&self) -> f64 {
        self.eigenvalues.iter().fold(0.0, |largest, &value| f64::max(largest, value))
    }

    fn is_nothing(&self, direction: usize) -> bool {
        self.eigenvalues[direction] <= ZERO_EIGENVALUE * self.largest()
    }
}

impl Fit {
    /// Returns the sum of some parameters and its error; `None` if the measurements do not determine the sum.
    pub fn sum(&self, which: &[usize]) -> Option<(f64, f64)> {
        let solved = &self.solved;
        // A parameter in no equation is unknown.
        if which.iter().any(|&i| solved.scale[i] == 0.0) {
            return None;
        }
        let mut variance = 0.0;
        for direction in 0..COUNT {
            let part: f64 = which.iter().map(|&i| solved.vectors[i][direction] / solved.scale[i]).sum();
            let size: f64 = which.iter().map(|&i| (1.0 / solved.scale[i]).abs()).fold(0.0, f64::max);
            if solved.is_nothing(direction) {
                if part.abs() > 1e-6 * size {
                    return None;
                }
            } else {
                variance += part * part / solved.eigenvalues[direction];
            }
        }
        let value = which.iter().map(|&i| self.values[i]).sum();
        Some((value, student(self.free) * (self.variance * variance).sqrt()))
    }
}

/// Fits the measurements with these thresholds.
pub(super) fn fit(setting: &Setting, samples: &[Sample], rounds: usize) -> Fit {
    let mut exposed: Vec<bool> = samples.iter().map(|sample| guess(samples, sample)).collect();
    let mut result = robust(setting, samples, &exposed, rounds);
    for _ in 0..8 {
        let now: Vec<bool> = samples.iter().map(|sample| model::is_exposed(setting, sample, &result.values)).collect();
        if now == exposed {
            break;
        }
        exposed = now;
        result = robust(setting, samples, &exposed, rounds);
    }
    result
}

/// Guesses if a round trip waits for its message, before any parameter is known. The work that a round trip
/// can hide is between half and all of the time of a round trip without work.
fn guess(samples: &[Sample], sample: &Sample) -> bool {
    let idle = samples.iter().filter(|other| other.work.ps() == 0.0 && other.call == sample.call);
    let near = idle.min_by_key(|other| other.bytes.abs_diff(sample.bytes));
    near.is_none_or(|near| sample.work.ps() < 0.75 * near.time.ps())
}

fn robust(setting: &Setting, samples: &[Sample], exposed: &[bool], rounds: usize) -> Fit {
    // Equations are divided by the measured time, so that residuals are relative.
    let equations: Vec<([f64; COUNT], f64)> = samples
        .iter()
        .zip(exposed)
        .map(|(sample, &exposed)| {
            let (row, time) = (model::row(setting, sample, exposed), sample.time.ps());
            (row.factors.map(|factor| factor / time), (time - row.rest) / time)
        })
        .collect();
    let mut weights = vec![1.0; equations.len()];
    let mut fit = without_negatives(&equations, &weights);
    for _ in 0..rounds {
        let residuals = residuals(&equations, &fit.values);
        let limit = HUBER * spread(&residuals);
        for (weight, residual) in weights.iter_mut().zip(&residuals) {
            *weight = if residual.abs() <= limit || limit == 0.0 { 1.0 } else { limit / residual.abs() };
        }
        let next = without_negatives(&equations, &weights);
        let moved = next.values.iter().zip(&fit.values).any(|(a, b)| (a - b).abs() > 1e-9 * b.abs());
        fit = next;
        if !moved {
            break;
        }
    }
    let residuals = residuals(&equations, &fit.values);
    let weighted = residuals.iter().zip(&weights).map(|(residual, weight)| residual * weight);
    let squares: f64 = weighted.map(|psi| psi * psi).sum();
    let count = equations.len().max(1) as f64;
    fit.free = equations.len().saturating_sub(COUNT - fit.fixed.iter().filter(|&&fixed| fixed).count()).max(1);
    // Variance of Huber's estimate: K^2 sum(psi^2) / (n - p) / mean(psi')^2, with psi = weight * residual and
    // K = 1 + p / n (1 - mean(psi')) / mean(psi'); the normal matrix has the weights. Source: P. J. Huber, "Robust
    // Statistics" (1981), 7.6.
    let inside = (weights.iter().filter(|&&weight| weight == 1.0).count() as f64).max(1.0) / count;
    let factor = 1.0 + (1.0 - fit.free as f64 / count) * (1.0 - inside) / inside;
    let weight = weights.iter().sum::<f64>() / count;
    fit.variance = (factor / inside) * (factor / inside) * squares / fit.free as f64 * weight;
    fit
}

fn residuals(equations: &[([f64; COUNT], f64)], values: &[f64; COUNT]) -> Vec<f64> {
    let fitted = |factors: &[f64; COUNT]| factors.iter().zip(values).map(|(factor, value)| factor * value).sum::<f64>();
    equations.iter().map(|(factors, wanted)| fitted(factors) - wanted).collect()
}

/// Estimates the standard deviation of normal errors from the median size of the residuals.
pub(super) fn spread(residuals: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    sizes.arrange_by(f64::total_cmp);
    1.4826 * sizes.get(sizes.len() / 2).copied().unwrap_or(0.0)
}

fn without_negatives(equations: &[([f64; COUNT], f64)], weights: &[f64]) -> Fit {
    let mut fixed = [false; COUNT];
    let all = least_squares(equations, weights, fixed);
    let mut fit = all.clone();
    loop {
        // A negative value of a parameter that is not identifiable may belong to another parameter.
        let known = |i: usize| fit.sum(&[i]).is_some();
        let worst = (0..COUNT)
            .filter(|&i| !fixed[i] && fit.values[i] < 0.0 && known(i))
            .min_by(|&a, &b| (fit.values[a] * fit.solved.scale[a]).total_cmp(&(fit.values[b] * fit.solved.scale[b])));
        let Some(worst) = worst else {
            // Fixing a parameter does not reduce the errors.
            return Fit { solved: all.solved, ..fit };
        };
        fixed[worst] = true;
        fit = least_squares(equations, weights, fixed);
    }
}

fn least_squares(equations: &[([f64; COUNT], f64)], weights: &[f64], fixed: [bool; COUNT]) -> Fit {
    let mut normal: Matrix = [[0.0; COUNT]; COUNT];
    let mut right = [0.0; COUNT];
    for ((factors, wanted), weight) in equations.iter().zip(weights) {
        for i in 0..COUNT {
            for j in 0..COUNT {
                normal[i][j] += weight * factors[i] * factors[j];
            }
            right[i] += weight * factors[i] * wanted;
        }
    }
    let scale: [f64; COUNT] = std::array::from_fn(|i| normal[i][i].sqrt());
    let unit = |i: usize| if scale[i] == 0.0 || fixed[i] { 0.0 } else { 1.0 / scale[i] };
    let scaled: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| normal[i][j] * unit(i) * unit(j)));
    let (eigenvalues, vectors) = eigen(scaled);
    let solved = Solved { scale, eigenvalues, vectors };
    let mut values = [0.0; COUNT];
    for direction in (0..COUNT).filter(|&direction| !solved.is_nothing(direction)) {
        let along: f64 = (0..COUNT).map(|i| vectors[i][direction] * right[i] * unit(i)).sum();
        for (i, value) in values.iter_mut().enumerate() {
            *value += vectors[i][direction] * along / eigenvalues[direction] * unit(i);
        }
    }
    Fit { values, variance: 0.0, free: 1, solved, fixed }
}

/// Returns eigenvalues and eigenvectors (by column) of a symmetric matrix, by Jacobi's rotations.
fn eigen(mut a: Matrix) -> ([f64; COUNT], Matrix) {
    let mut vectors: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for _ in 0..60 {
        let off: f64 = (0..COUNT).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off < 1e-30 {
            break;
        }
        for p in 0..COUNT {
            for q in p + 1..COUNT {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
                for row in &mut vectors {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
            }
        }
    }
    (std::array::from_fn(|i| a[i][i]), vectors)
}
