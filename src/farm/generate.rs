//! Tasks by rule, for studies without measurements.

use super::grid::{Extent, TaskGrid};
use crate::base::portable::{exp, ln};
use crate::diagnostic::{Diagnostic, Located};
use crate::rng::Mix;
use crate::units::Time;

/// Largest number of tasks of a rule.
const MAX_TASKS: u64 = 1 << 31;

/// Tasks that all take the same time.
#[spec]
pub struct ConstantSpec {
    /// Number of tasks.
    pub count: Located<u64>,
    /// Time of each task.
    pub time: Located<Time>,
}

/// Tasks whose times are uniformly distributed.
#[spec]
pub struct UniformSpec {
    /// Number of tasks.
    pub count: Located<u64>,
    /// Shortest time.
    pub least: Located<Time>,
    /// Longest time.
    pub most: Located<Time>,
}

/// Tasks whose times are exponentially distributed: `-mean * ln(u)`.
#[spec]
pub struct ExponentialSpec {
    /// Number of tasks.
    pub count: Located<u64>,
    /// Mean time.
    pub mean: Located<Time>,
}

/// Tasks with a heavy tail (Pareto): `least * u^(-1/shape)`, where `least = mean * (shape - 1) / shape`.
#[spec]
pub struct HeavyTailSpec {
    /// Number of tasks.
    pub count: Located<u64>,
    /// Mean time of the distribution.
    pub mean: Located<Time>,
    /// Exponent of the tail, above 1. The smaller it is, the heavier is the tail; up to 2 the variance is
    /// infinite.
    #[serde(default = "usual_shape")]
    pub shape: Located<f64>,
}

fn usual_shape() -> Located<f64> {
    2.5.into()
}

/// Points of a square of the complex plane, each tested for membership in the Mandelbrot set.
///
/// Task (i, j) of `side x side` iterates `z -> z^2 + c` from 0 until `|z| > 2` or `iterations` times. Its
/// point is `c = (-2 + 2.5 (j - 1/2) / side) + (-1.25 + 2.5 (i - 1/2) / side) i`, and each iteration takes
/// `time`.
#[spec]
pub struct MandelbrotSpec {
    /// Number of points along each side.
    pub side: Located<u64>,
    /// Largest number of iterations.
    #[serde(default = "usual_iterations")]
    pub iterations: Located<u64>,
    /// Time of one iteration.
    pub time: Located<Time>,
}

fn usual_iterations() -> Located<u64> {
    1000.into()
}

/// Returns the number of iterations of one point of the Mandelbrot tasks, at least 1; `i` and `j` count from
/// 1.
pub fn mandelbrot_iterations(i: u64, j: u64, side: u64, most: u64) -> u64 {
    let at = |k: u64| (k as f64 - 0.5) / side as f64;
    let (x, y) = (-2.0 + 2.5 * at(j), -1.25 + 2.5 * at(i));
    let (mut re, mut im) = (0.0f64, 0.0f64);
    for n in 1..=most {
        let (square_re, square_im) = (re * re, im * im);
        if square_re + square_im > 4.0 {
            return n - 1;
        }
        im = 2.0 * re * im + y;
        re = square_re - square_im + x;
    }
    most
}

/// True if a point is known to be in the set without iterating: in the main cardioid or the disc of period 2.
fn is_inside(i: u64, j: u64, side: u64) -> bool {
    let at = |k: u64| (k as f64 - 0.5) / side as f64;
    let (x, y) = (-2.0 + 2.5 * at(j), -1.25 + 2.5 * at(i));
    let q = (x - 0.25) * (x - 0.25) + y * y;
    q * (q + (x - 0.25)) < 0.249 * y * y || (x + 1.0) * (x + 1.0) + y * y < 0.0624
}

/// Checks a number of tasks.
fn count(count: &Located<u64>) -> Result<u64, Diagnostic> {
    if (1..=MAX_TASKS).contains(&**count) {
        return Ok(**count);
    }
    Err(Diagnostic::new("out-of-range", format!("there cannot be {} tasks", **count))
        .at_value(count)
        .label(format!("from 1 to {MAX_TASKS}")))
}

impl ConstantSpec {
    /// Returns the times of the tasks.
    ///
    /// # Errors
    /// Too many or no tasks.
    pub fn times(&self) -> Result<Vec<Time>, Diagnostic> {
        Ok(vec![*self.time; count(&self.count)? as usize])
    }
}

impl UniformSpec {
    /// Returns the times of the tasks.
    ///
    /// # Errors
    /// Too many or no tasks, or a shortest time above the longest.
    pub fn times(&self, seed: u64) -> Result<Vec<Time>, Diagnostic> {
        if *self.least > *self.most {
            return Err(Diagnostic::new("out-of-range", format!("the least time exceeds the most, {}", *self.most))
                .at_value(&self.least));
        }
        let (least, range) = (self.least.ps(), self.most.ps() - self.least.ps());
        let random = Mix::new(seed, "uniform tasks");
        Ok((0..count(&self.count)?).map(|i| Time::from_ps(least + range * random.one_unit(i))).collect())
    }
}

/// Returns a uniform number in `(0, 1]`, whose logarithm is finite.
fn unit(random: Mix, i: u64) -> f64 {
    1.0 - random.one_unit(i)
}

impl ExponentialSpec {
    /// Returns the times of the tasks.
    ///
    /// # Errors
    /// Too many or no tasks.
    pub fn times(&self, seed: u64) -> Result<Vec<Time>, Diagnostic> {
        let random = Mix::new(seed, "exponential tasks");
        let time = |i| Time::from_ps(-self.mean.ps() * ln(unit(random, i)));
        Ok((0..count(&self.count)?).map(time).collect())
    }
}

impl HeavyTailSpec {
    /// Returns the times of the tasks.
    ///
    /// # Errors
    /// Too many or no tasks, or a shape without a mean.
    pub fn times(&self, seed: u64) -> Result<Vec<Time>, Diagnostic> {
        let shape = *self.shape;
        if !(shape > 1.0 && shape <= 1000.0) {
            return Err(Diagnostic::new("out-of-range", format!("a heavy tail of shape {shape} has no mean"))
                .at_value(&self.shape)
                .label("above 1, like 1.5"));
        }
        let least = self.mean.ps() * (shape - 1.0) / shape;
        let random = Mix::new(seed, "heavy-tail tasks");
        let time = |i| Time::from_ps(least * exp(-ln(unit(random, i)) / shape));
        Ok((0..count(&self.count)?).map(time).collect())
    }
}

impl MandelbrotSpec {
    /// Returns the grid of the tasks.
    ///
    /// # Errors
    /// Too many or no tasks.
    pub fn grid(&self) -> Result<TaskGrid, Diagnostic> {
        let last = i64::try_from(*self.side).unwrap_or(i64::MAX);
        let range = || Diagnostic::new("out-of-range", format!("there is no side of {} points", *self.side));
        if last < 1 || *self.iterations < 1 || last > 1 << 15 {
            return Err(range().at_value(&self.side).label("from 1 to 32768, and at least 1 iteration"));
        }
        let extent = Extent { first: 1, last };
        TaskGrid::new(vec![extent, extent]).map_err(|_| range().at_value(&self.side))
    }

    /// Returns the time of one task.
    pub fn time(&self, i: u64, j: u64) -> Time {
        let (side, most) = (*self.side, *self.iterations);
        let count = if is_inside(i, j, side) { most } else { mandelbrot_iterations(i, j, side, most) };
        Time::from_ps(count as f64 * self.time.ps())
    }

    /// Returns the times of the tasks, row by row.
    ///
    /// # Errors
    /// Too many or no tasks.
    pub fn times(&self) -> Result<Vec<Time>, Diagnostic> {
        self.grid()?;
        let side = *self.side;
        Ok((1..=side).flat_map(|i| (1..=side).map(move |j| self.time(i, j))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(times: &[Time]) -> f64 {
        times.iter().map(|time| time.ps()).sum::<f64>() / times.len() as f64
    }

    #[test]
    fn random_times_have_the_mean_they_should() {
        let (count, mean_time) = (200_000.into(), Time::from_ps(1e6));
        let exponential = ExponentialSpec { count, mean: mean_time.into() }.times(1).unwrap();
        // The mean of n exponential times differs from 1 by 1/sqrt(n).
        assert!((mean(&exponential) / 1e6 - 1.0).abs() < 4.0 / 447.0);
        let above = exponential.iter().filter(|time| time.ps() > 1e6).count() as f64;
        assert!((above / 200_000.0 - 0.367_879).abs() < 0.005, "e^-1 of them are above the mean");
        let heavy = HeavyTailSpec { count, mean: mean_time.into(), shape: 3.0.into() }.times(1).unwrap();
        assert!((mean(&heavy) / 1e6 - 1.0).abs() < 0.02);
        let least = heavy.iter().min().unwrap().ps();
        assert!((1e6 * 2.0 / 3.0..1e6 * 0.67).contains(&least));
        let uniform = UniformSpec { count, least: Time::ZERO.into(), most: mean_time.into() }.times(1).unwrap();
        assert!((mean(&uniform) / 1e6 - 0.5).abs() < 0.005);
    }

    #[test]
    fn points_known_to_be_in_the_set_take_all_iterations() {
        let side = 96;
        for i in 1..=side {
            for j in 1..=side {
                if is_inside(i, j, side) {
                    assert_eq!(mandelbrot_iterations(i, j, side, 3000), 3000, "{i} {j}");
                }
            }
        }
        // c = -2 - 1.25i leaves the circle of radius 2 at once.
        assert_eq!(mandelbrot_iterations(1, 1, 1024, 1000), 1);
    }
}
