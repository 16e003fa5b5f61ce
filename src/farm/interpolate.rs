//! Interpolation of the times of all tasks from those of the executed ones.
//!
//! ```text
//! T_k(x) = (1 - p) * T_(k-1)(b) + p * T_(k-1)(u)        p = (x_j - B) / (U - B), 0 where B = U        j = N - k + 1
//! ```
//! Here b and u are x with its coordinate j replaced by the nearest executed one below (B) and above (U), and
//! `T_0` is a measured time. The last dimension is interpolated first. (The paper prints `p - 1` for `1 -
//! p`.)
//!
//! Source: Mizutani et al., section 3.2, equation (1).

use super::grid::{Executed, ProductGrid, TaskGrid};
use super::tasks::{Size, Sizes, Tasks};
use crate::diagnostic::Diagnostic;
use crate::units::Time;

/// Treatment of tasks beyond the executed ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outside {
    /// Report an error.
    #[default]
    Refuse,
    /// Use the time of the nearest task in the executed range.
    Clamp,
}

/// Position of a coordinate between executed ones.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Neighbours {
    below: usize,
    above: usize,
    p: f64,
}

/// Returns the times and sizes of all tasks of the grid.
///
/// Cost: proportional to the number of tasks. Each dimension is interpolated in one pass over the result of
/// the dimensions after it.
///
/// # Errors
/// Executed tasks that form no product grid, lie outside of the grid, or do not reach its ends (unless
/// clamped).
pub fn interpolate(executed: &Executed, grid: &TaskGrid, outside: Outside) -> Result<Tasks, Diagnostic> {
    executed.check_inside(grid)?;
    if executed.is_empty() {
        return Err(Diagnostic::new("no-tasks", "no executed task to interpolate between"));
    }
    let product = ProductGrid::new(executed)?;
    if outside == Outside::Refuse {
        check_reach(&product, grid)?;
    }
    let weights = weights(&product, grid);
    let counts: Vec<usize> = product.axes.iter().map(Vec::len).collect();
    let expand = |values: Vec<f64>| expand(values, &counts, &weights);
    let sizes = match executed.common_size() {
        Some(size) => Sizes::Same(size),
        None => {
            let input = expand(product.sizes.iter().map(|size| size.input as f64).collect());
            let output = expand(product.sizes.iter().map(|size| size.output as f64).collect());
            let size =
                |(input, output): (f64, f64)| Size { input: input.round() as u64, output: output.round() as u64 };
            Sizes::Each(input.into_iter().zip(output).map(size).collect())
        }
    };
    let times = expand(product.times).into_iter().map(Time::from_ps).collect();
    Ok(Tasks::new(times, sizes))
}

/// Checks that the executed tasks reach the ends of every dimension.
fn check_reach(product: &ProductGrid, grid: &TaskGrid) -> Result<(), Diagnostic> {
    for (i, (axis, extent)) in product.axes.iter().zip(grid.extents()).enumerate() {
        let (first, last) = (axis[0], axis[axis.len() - 1]);
        if first > extent.first || last < extent.last {
            let message = format!(
                "in dimension {} tasks were executed from {first} to {last} only, the grid goes from {} to {}",
                i + 1,
                extent.first,
                extent.last
            );
            return Err(Diagnostic::new("outside-executed", message).help(
                "execute the tasks at the ends too, or have those beyond take as long as the nearest (--clamp)",
            ));
        }
    }
    Ok(())
}

/// Returns the position of each coordinate between its executed neighbours, by dimension.
fn weights(product: &ProductGrid, grid: &TaskGrid) -> Vec<Vec<Neighbours>> {
    let of_axis = |axis: &[i64], first: i64, last: i64| {
        let mut above = 0;
        let mut weights = Vec::with_capacity(last.abs_diff(first) as usize + 1);
        for x in first..=last {
            while above < axis.len() && axis[above] < x {
                above += 1;
            }
            let end = axis.len() - 1;
            weights.push(if above > end {
                Neighbours { below: end, above: end, p: 0.0 }
            } else if axis[above] == x || above == 0 {
                Neighbours { below: above, above, p: 0.0 }
            } else {
                let (b, u) = (axis[above - 1], axis[above]);
                Neighbours { below: above - 1, above, p: x.abs_diff(b) as f64 / u.abs_diff(b) as f64 }
            });
        }
        weights
    };
    product.axes.iter().zip(grid.extents()).map(|(axis, extent)| of_axis(axis, extent.first, extent.last)).collect()
}

/// Interpolates all values from the executed ones, the last dimension first, as in the recursion.
fn expand(mut values: Vec<f64>, counts: &[usize], weights: &[Vec<Neighbours>]) -> Vec<f64> {
    // All later dimensions have been expanded, to `inner` values for each coordinate of this one.
    let mut inner = 1;
    for (dimension, weights) in weights.iter().enumerate().rev() {
        let outer: usize = counts[..dimension].iter().product();
        let block = counts[dimension] * inner;
        let mut expanded = Vec::with_capacity(outer * weights.len() * inner);
        for i in 0..outer {
            let block = &values[i * block..][..block];
            for &Neighbours { below, above, p } in weights {
                let (b, u) = (&block[below * inner..][..inner], &block[above * inner..][..inner]);
                if p == 0.0 {
                    expanded.extend_from_slice(b);
                } else {
                    expanded.extend(b.iter().zip(u).map(|(b, u)| (1.0 - p) * b + p * u));
                }
            }
        }
        values = expanded;
        inner *= weights.len();
    }
    values
}
