//! Which tasks to execute next, and how sure the prediction is.
//!
//! The tasks executed so far form a tree of cells ([`refined`](super::refined)). How wrong the interpolated work of a
//! cell may be is learned from cells that have been cut already: for each of those both is known, what its own corners
//! had said and what its parts say now. Their difference D grows with the spread r of the times at the corners (the
//! standard deviation) and with the number n of tasks; where the corners agree, something may still hide between them.
//! So, with R the spread of all executed times,
//! ```text
//! e^2 = n^2 * (k1^2 * r^2 + k0^2 * R^2)
//! k0^2 = mean (D / (n R))^2     over the cells cut last whose corners agree (r < R / 100)
//! k1^2 = mean (D / (n r))^2     over the others cut last
//! ```
//! is the expected square of the error of a cell that is not cut. Errors of different cells are taken as independent,
//! and a part that all have in common (curvature) as a third of what the last cuts changed in sum, which is what is
//! left of an error that falls to a quarter with each halving: the work is `A +- sqrt((2 sqrt(sum e^2))^2 + (|sum D| /
//! 3)^2)`.
//!
//! The cells to cut next are those with the largest e for each task to be executed, until the interval would be as
//! small as wanted or the number of executed tasks has grown by half. This closes a question the paper leaves open: how
//! many tasks to execute for a wanted accuracy.

use std::collections::BTreeSet;

use super::grid::{Executed, TaskGrid};
use super::refined::{MOST_REFINED_DIMENSIONS, Node, Tree};
use super::tasks::Size;
use crate::diagnostic::Diagnostic;
use crate::units::Time;

/// Points along each dimension of the first set, at most.
const FIRST_CUTS: u32 = 4;
/// Tasks of the first set, about.
const FIRST_TASKS: usize = 300;
/// Part of the squared error that is left after a cut: that of halving the cells on a line through a plane.
const LEFT_AFTER_CUT: f64 = 0.25;

/// What is known, and what to execute next.
#[derive(Clone, PartialEq, Debug)]
pub struct SamplingPlan {
    /// Tasks executed so far.
    pub executed: usize,
    /// Tasks of the grid.
    pub tasks: usize,
    /// The estimated work of all tasks.
    pub work: Time,
    /// Half the width of the interval of the work; [`Time::NEVER`] where nothing is known yet.
    pub half_width: Time,
    /// Tasks to execute next, in order of their coordinates; none when it is accurate enough.
    pub next: Vec<Vec<i64>>,
}

impl SamplingPlan {
    /// Half the width of the interval of the work, relative to the work.
    pub fn relative(&self) -> f64 {
        if self.work > Time::ZERO { self.half_width.ps() / self.work.ps() } else { f64::INFINITY }
    }
}

/// A cell with the error it may have.
struct Uncertain<'a> {
    node: &'a Node,
    error: f64,
}

/// Looks at what has been executed and says what to execute next, for the work to be known to this part of itself.
///
/// # Errors
/// Where the executed tasks are not those of a plan (see [`Tree::new`]), or the grid has too many dimensions.
pub fn plan(executed: &Executed, grid: &TaskGrid, accuracy: f64) -> Result<SamplingPlan, Diagnostic> {
    let tasks = grid.tasks();
    if executed.is_empty() {
        let next = first(grid)?;
        return Ok(SamplingPlan { executed: 0, tasks, work: Time::ZERO, half_width: Time::NEVER, next });
    }
    let tree = Tree::new(executed, grid)?;
    let n = tree.cells.len();
    // What each cell says itself, and what the cells below it say.
    let own: Vec<f64> = tree.cells.iter().map(|node| node.cell.work(grid, &node.corners)).collect();
    let mut below = own.clone();
    for i in (0..n).rev() {
        if !tree.cells[i].parts.is_empty() {
            below[i] = tree.cells[i].parts.iter().map(|&part| below[part]).sum();
        }
    }
    let work = below[0];
    let all = spread(executed.times().iter().map(|time| time.ps()));
    let cut = |i: &usize| !tree.cells[*i].parts.is_empty();
    let last_cut = |i: &usize| cut(i) && tree.cells[*i].parts.iter().all(|&part| tree.cells[part].parts.is_empty());
    let common: f64 = (0..n).filter(last_cut).map(|i| below[i] - own[i]).sum::<f64>().abs() / 3.0;
    let (mut flat, mut rough) = ((0.0, 0.0), (0.0, 0.0));
    for i in (0..n).filter(last_cut) {
        let node = &tree.cells[i];
        let (count, r) = (node.cell.tasks(grid), spread(node.corners.iter().copied()));
        let (sums, scale) = if r < all / 100.0 { (&mut flat, all) } else { (&mut rough, r) };
        if scale > 0.0 {
            let relative = (below[i] - own[i]) / (count * scale);
            sums.0 += relative * relative;
            sums.1 += 1.0;
        }
    }
    // Where nothing has been learned, an error as large as the spread is expected.
    let mean = |(sum, count): (f64, f64), unknown: f64| if count > 0.0 { sum / count } else { unknown };
    let (k0, k1) = (mean(flat, 0.0), mean(rough, 1.0));
    let mut cells: Vec<Uncertain<'_>> = tree
        .leaves()
        .filter(|node| node.cell.is_divisible())
        .map(|node| {
            let r = spread(node.corners.iter().copied());
            let count = node.cell.tasks(grid);
            Uncertain { node, error: count * (k1 * r * r + k0 * all * all).sqrt() }
        })
        .collect();
    let squares: f64 = cells.iter().map(|cell| cell.error * cell.error).sum();
    // Before anything was cut nothing is known of what hides between the corners.
    let half_width = if n == 1 && !cells.is_empty() { f64::INFINITY } else { (4.0 * squares + common * common).sqrt() };
    let wanted = accuracy * work;
    let mut next = BTreeSet::new();
    if half_width > wanted {
        let known: BTreeSet<&[i64]> = (0..executed.len()).map(|i| executed.point(i)).collect();
        // The most error for each task; of equal ones the first in the tree.
        let new_tasks = |node: &Node| node.cell.cut().iter().filter(|point| !known.contains(&point[..])).count().max(1);
        let mut order: Vec<(f64, usize)> =
            cells.iter().enumerate().map(|(i, cell)| (cell.error / new_tasks(cell.node) as f64, i)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let most = (executed.len() / 2).max(16);
        let mut left = squares;
        for (_, i) in order {
            let cell = &mut cells[i];
            next.extend(cell.node.cell.cut().into_iter().filter(|point| !known.contains(&point[..])));
            left -= cell.error * cell.error * (1.0 - LEFT_AFTER_CUT);
            if next.len() >= most || 4.0 * left + common * common * LEFT_AFTER_CUT <= wanted * wanted {
                break;
            }
        }
    }
    Ok(SamplingPlan {
        executed: executed.len(),
        tasks,
        work: Time::from_ps(work),
        half_width: Time::from_ps(half_width),
        next: next.into_iter().collect(),
    })
}

/// The tasks to begin with: all cells cut a few times.
fn first(grid: &TaskGrid) -> Result<Vec<Vec<i64>>, Diagnostic> {
    if grid.extents().len() > MOST_REFINED_DIMENSIONS {
        let message = format!("there are no plans for grids of more than {MOST_REFINED_DIMENSIONS} dimensions");
        return Err(Diagnostic::new("wrong-dimensions", message).help("execute a product grid"));
    }
    let ends = |end: fn(&super::grid::Extent) -> i64| grid.extents().iter().map(end).collect();
    let mut cells = vec![super::refined::Cell { lo: ends(|extent| extent.first), hi: ends(|extent| extent.last) }];
    let mut points: BTreeSet<Vec<i64>> = cells[0].corners().into_iter().collect();
    for _ in 0..FIRST_CUTS {
        if points.len() >= FIRST_TASKS {
            break;
        }
        let divisible: Vec<_> = cells.iter().filter(|cell| cell.is_divisible()).collect();
        points.extend(divisible.iter().flat_map(|cell| cell.cut()));
        cells = divisible.iter().flat_map(|cell| cell.parts()).collect();
    }
    Ok(points.into_iter().collect())
}

/// Plans and executes in turn until the work is known to this part of itself: for studies and tests.
///
/// # Errors
/// As [`plan`].
pub fn execute_until(
    grid: &TaskGrid,
    accuracy: f64,
    mut execute: impl FnMut(&[i64]) -> Time,
) -> Result<(Executed, SamplingPlan), Diagnostic> {
    let mut executed = Executed::new(grid.extents().len());
    loop {
        let plan = plan(&executed, grid, accuracy)?;
        if plan.next.is_empty() {
            return Ok((executed, plan));
        }
        for point in &plan.next {
            executed.push(point, execute(point), Size::default());
        }
    }
}

/// Standard deviation.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / count).sqrt()
}
