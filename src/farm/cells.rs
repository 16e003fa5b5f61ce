//! Cells: boxes of the grid of tasks, in each of which two tasks are drawn at random.
//!
//! The grid is halved repeatedly. Each step halves the cell with the most expected uncertainty: the number m
//! of its tasks that are not executed, times the expected standard deviation of their times. The deviation
//! comes from the executed tasks of the cell. The variance v of the parent cell counts as two more executed
//! tasks, which matters where there are few. A part of the variance V of all tasks is added, so that no cell
//! stays large because its few executed tasks are alike:
//! ```text
//! v' = (sum (t - mean)^2 + 2 v) / (n - 1 + 2)        expected: m sqrt(v' + V / 25)
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;

use super::grid::{Executed, Extent, TaskGrid};
use crate::base::Arrange;
use crate::rng::Stream;

/// Number of tasks drawn in a cell, the smallest that shows how much times scatter.
const TASKS_PER_CELL: usize = 2;
/// Number of executed tasks that the variance of the parent cell counts for.
const PARENT_WEIGHT: f64 = 2.0;
/// Part of the variance of all tasks that is expected in each cell.
const BACKGROUND_PART: f64 = 0.04;

/// A box of tasks.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// Tasks of the cell.
    pub grid: TaskGrid,
    /// Indices of the executed tasks in the cell.
    pub executed: Vec<usize>,
    /// Expected variance of the times in the cell \[ps^2\].
    pub variance: f64,
    /// Choices of halves that lead to the cell, from the highest bit on.
    path: u64,
    /// Number of halvings that lead to the cell.
    depth: u32,
}

impl Cell {
    /// Returns the number of tasks that are not executed.
    pub fn left(&self) -> usize {
        self.grid.tasks() - self.executed.len()
    }

    /// Returns the number of tasks to draw.
    fn drawn(&self) -> usize {
        self.left().min(TASKS_PER_CELL)
    }

    /// Halves the cell along the dimension in which it spans the largest part of the grid; `None` for a
    /// single task.
    fn halves(&self, executed: &Executed, grid: &TaskGrid) -> Option<[Self; 2]> {
        let part = |i: &usize| self.grid.extents()[*i].count() as f64 / grid.extents()[*i].count() as f64;
        let wide = (0..grid.extents().len()).filter(|&i| self.grid.extents()[i].count() > 1);
        let dimension = wide.min_by_key(|i| Reverse(OrderedFloat(part(i))))?;
        let Extent { first, last } = self.grid.extents()[dimension];
        let middle = first + (last - first) / 2;
        let (below, above) = self.executed.iter().partition(|&&i| executed.point(i)[dimension] <= middle);
        let half = |extent: Extent, tasks: Vec<usize>, bit: u64| {
            let mut extents = self.grid.extents().to_vec();
            extents[dimension] = extent;
            let (n, squares) = squares(executed, &tasks);
            let variance = (squares + PARENT_WEIGHT * self.variance) / ((n - 1.0).max(0.0) + PARENT_WEIGHT);
            let path = self.path | bit << (63 - self.depth);
            Some(Self { grid: TaskGrid::new(extents).ok()?, executed: tasks, variance, path, depth: self.depth + 1 })
        };
        let lower = half(Extent { first, last: middle }, below, 0)?;
        Some([lower, half(Extent { first: middle + 1, last }, above, 1)?])
    }

    /// Draws tasks that are not executed and returns their indices in the grid.
    pub fn draw(&self, executed: &Executed, grid: &TaskGrid, random: &mut Stream) -> Vec<usize> {
        let mut taken: Vec<usize> = self.executed.iter().map(|&i| self.grid.index(executed.point(i))).collect();
        taken.sort_unstable();
        let mut draw = |left: usize| {
            // Position of the n-th task that is not taken.
            let nth = random.below(left as u64) as usize;
            let place = taken.iter().fold(nth, |place, &other| place + usize::from(other <= place));
            taken.insert(taken.partition_point(|&other| other < place), place);
            grid.index(&self.grid.point(place))
        };
        (0..self.drawn()).map(|i| draw(self.left() - i)).collect()
    }
}

/// Returns the number of tasks and the sum of the squared deviations of their times from their mean \[ps^2\].
pub(super) fn squares(executed: &Executed, tasks: &[usize]) -> (f64, f64) {
    let times = tasks.iter().map(|&i| executed.times()[i].ps());
    let mean = times.clone().sum::<f64>() / tasks.len().max(1) as f64;
    (tasks.len() as f64, times.map(|time| (time - mean) * (time - mean)).sum())
}

/// Divides the grid into cells in which at least `fresh` tasks are drawn together, as far as there are
/// enough. Neighbours in the list are neighbours in the grid. `known` are the executed tasks to consider.
pub(super) fn divide(executed: &Executed, known: &[usize], grid: &TaskGrid, fresh: usize) -> Vec<Cell> {
    let (n, squares) = squares(executed, known);
    let all = squares / (n - 1.0).max(1.0);
    let whole = Cell { grid: grid.clone(), executed: known.to_vec(), variance: all, path: 0, depth: 0 };
    let key = |cell: &Cell, i: usize| {
        let left = cell.left() as f64;
        (OrderedFloat(left * (cell.variance + BACKGROUND_PART * all).sqrt()), OrderedFloat(left), Reverse(i))
    };
    let mut drawn = whole.drawn();
    let mut heap = BinaryHeap::from([key(&whole, 0)]);
    let mut cells = vec![whole];
    while drawn < fresh
        && let Some((_, _, Reverse(i))) = heap.pop()
    {
        let Some([lower, upper]) = cells[i].halves(executed, grid) else { continue };
        drawn = drawn + lower.drawn() + upper.drawn() - cells[i].drawn();
        for (cell, at) in [(&lower, i), (&upper, cells.len())] {
            if cell.left() > TASKS_PER_CELL {
                heap.push(key(cell, at));
            }
        }
        cells[i] = lower;
        cells.push(upper);
    }
    cells.arrange_by_key(|cell| cell.path);
    cells
}
