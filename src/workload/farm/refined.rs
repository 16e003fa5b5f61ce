//! Executed tasks that are refined where it matters: a tree of cells instead of a product grid.
//!
//! The first cell is the whole grid. A cell is cut in the middle of every dimension in which there is one, where all
//! the points of the cut (corners, and middles of edges, faces and itself) have been executed; so the executed tasks
//! alone say what the tree is. In a cell that is not cut, times are the N-linear interpolation between its corners, as
//! in [`interpolate`](super::interpolate()). A task on the border of cells belongs to the one that begins there.

use rustc_hash::FxHashMap;

use super::grid::{Executed, TaskGrid, show_point, some};
use super::tasks::{Size, Sizes, Tasks};
use crate::diagnostic::Diagnostic;
use crate::units::Time;

/// Most dimensions: a cut has 3^N points.
pub const MOST_REFINED_DIMENSIONS: usize = 6;

/// A cell: its corners are all combinations of `lo` and `hi`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The smallest corner.
    pub lo: Vec<i64>,
    /// The largest corner.
    pub hi: Vec<i64>,
}

impl Cell {
    /// The coordinates of its middle; those of `hi` in dimensions too narrow to have one.
    fn middle(&self) -> Vec<i64> {
        self.lo.iter().zip(&self.hi).map(|(&lo, &hi)| if hi - lo >= 2 { lo + (hi - lo) / 2 } else { hi }).collect()
    }

    /// Whether there is a task between its corners.
    pub fn is_divisible(&self) -> bool {
        self.lo.iter().zip(&self.hi).any(|(lo, hi)| hi - lo >= 2)
    }

    /// All combinations of these coordinates of each dimension, without repetitions.
    fn combinations(choices: &[Vec<i64>]) -> Vec<Vec<i64>> {
        let mut points = vec![Vec::new()];
        for choice in choices {
            points = points
                .into_iter()
                .flat_map(|point| choice.iter().map(move |&at| point.iter().copied().chain([at]).collect()))
                .collect();
        }
        points
    }

    /// Its corners; the last dimension changes fastest.
    pub fn corners(&self) -> Vec<Vec<i64>> {
        let choices: Vec<Vec<i64>> =
            self.lo.iter().zip(&self.hi).map(|(&lo, &hi)| if lo == hi { vec![lo] } else { vec![lo, hi] }).collect();
        Self::combinations(&choices)
    }

    /// The points of its cut, its corners among them.
    pub fn cut(&self) -> Vec<Vec<i64>> {
        let choices: Vec<Vec<i64>> = self
            .lo
            .iter()
            .zip(self.middle())
            .zip(&self.hi)
            .map(|((&lo, middle), &hi)| {
                let mut choice = vec![lo, middle, hi];
                choice.dedup();
                choice
            })
            .collect();
        Self::combinations(&choices)
    }

    /// The cells it is cut into.
    pub fn parts(&self) -> Vec<Self> {
        let middle = self.middle();
        let mut parts = vec![Self { lo: Vec::new(), hi: Vec::new() }];
        for ((&lo, &middle), &hi) in self.lo.iter().zip(&middle).zip(&self.hi) {
            let ends: &[(i64, i64)] = if middle < hi { &[(lo, middle), (middle, hi)] } else { &[(lo, hi)] };
            parts = parts
                .into_iter()
                .flat_map(|part| {
                    ends.iter().map(move |&(from, to)| {
                        let mut part = part.clone();
                        part.lo.push(from);
                        part.hi.push(to);
                        part
                    })
                })
                .collect();
        }
        parts
    }

    /// By dimension the tasks it owns: from its smallest corner to before its largest, or to it at the end of the grid.
    fn owned(&self, grid: &TaskGrid) -> Vec<(i64, i64)> {
        let ends = self.lo.iter().zip(&self.hi).zip(grid.extents());
        ends.map(|((&lo, &hi), extent)| (lo, if hi == extent.last { hi } else { hi - 1 })).collect()
    }

    /// How many tasks it owns.
    pub fn tasks(&self, grid: &TaskGrid) -> f64 {
        self.owned(grid).iter().map(|(from, to)| (to - from + 1) as f64).product()
    }

    /// The sum of the interpolated times of the tasks it owns, from those of its corners \[ps\].
    ///
    /// The weights of the two ends of a dimension, summed over the tasks owned, multiply: no task is looked at.
    pub fn work(&self, grid: &TaskGrid, corners: &[f64]) -> f64 {
        let mut weights = vec![1.0];
        for (((&lo, &hi), (from, to)), _) in self.lo.iter().zip(&self.hi).zip(self.owned(grid)).zip(grid.extents()) {
            let count = (to - from + 1) as f64;
            let ends: Vec<f64> = if lo == hi {
                vec![count]
            } else {
                // The sum of (x - lo) / (hi - lo) for x = from..=to.
                let upper = count * ((from - lo) + (to - lo)) as f64 / 2.0 / (hi - lo) as f64;
                vec![count - upper, upper]
            };
            weights = weights.iter().flat_map(|weight| ends.iter().map(move |end| weight * end)).collect();
        }
        weights.iter().zip(corners).map(|(weight, corner)| weight * corner).sum()
    }
}

/// The tree of cells of executed tasks.
#[derive(Debug)]
pub struct Tree {
    /// All cells, a cell before its parts.
    pub cells: Vec<Node>,
}

/// A cell of a tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it is.
    pub cell: Cell,
    /// The times of its corners \[ps\].
    pub corners: Vec<f64>,
    /// The cells it is cut into, by number; none where it is not cut.
    pub parts: Vec<usize>,
}

/// Executed times by the number of the task.
pub type Times = FxHashMap<usize, usize>;

impl Tree {
    /// The tree that executed tasks make.
    ///
    /// # Errors
    /// Where tasks stand outside of the grid or twice, corners of the grid are missing, or tasks belong to no cut.
    pub fn new(executed: &Executed, grid: &TaskGrid) -> Result<Self, Diagnostic> {
        executed.check_inside(grid)?;
        if grid.extents().len() > MOST_REFINED_DIMENSIONS {
            let message = format!("grids of more than {MOST_REFINED_DIMENSIONS} dimensions are not refined");
            return Err(Diagnostic::new("wrong-dimensions", message).help("execute a product grid"));
        }
        let mut at: Times = Times::default();
        for i in 0..executed.len() {
            if at.insert(grid.index(executed.point(i)), i).is_some() {
                let message = format!("the executed task {} is listed twice", show_point(executed.point(i)));
                return Err(Diagnostic::new("task-twice", message).help("keep one time for each task"));
            }
        }
        let time = |point: &Vec<i64>| at.get(&grid.index(point)).copied();
        let whole = Cell {
            lo: grid.extents().iter().map(|extent| extent.first).collect(),
            hi: grid.extents().iter().map(|extent| extent.last).collect(),
        };
        let corners = whole.corners();
        let missing: Vec<&Vec<i64>> = corners.iter().filter(|corner| time(corner).is_none()).collect();
        if !missing.is_empty() {
            let list = some(missing.iter().map(|point| show_point(point)), missing.len());
            return Err(Diagnostic::new("missing-corners", format!("corners of the grid {grid} are missing: {list}"))
                .help("a refined set begins with the tasks that `hayase master-slave plan` proposes first"));
        }
        let mut used = vec![false; executed.len()];
        let mut cells = vec![Node { cell: whole, corners: Vec::new(), parts: Vec::new() }];
        let mut next = 0;
        while next < cells.len() {
            let cell = cells[next].cell.clone();
            let corners: Vec<usize> = cell.corners().iter().filter_map(time).collect();
            for &i in &corners {
                used[i] = true;
            }
            cells[next].corners = corners.iter().map(|&i| executed.times()[i].ps()).collect();
            if cell.is_divisible() && cell.cut().iter().all(|point| time(point).is_some()) {
                let first = cells.len();
                cells.extend(cell.parts().into_iter().map(|cell| Node {
                    cell,
                    corners: Vec::new(),
                    parts: Vec::new(),
                }));
                cells[next].parts = (first..cells.len()).collect();
            }
            next += 1;
        }
        let idle: Vec<usize> = (0..executed.len()).filter(|&i| !used[i]).collect();
        if !idle.is_empty() {
            let list = some(idle.iter().map(|&i| show_point(executed.point(i))), idle.len());
            let (count, verb) = (idle.len(), if idle.len() == 1 { "task belongs" } else { "tasks belong" });
            return Err(Diagnostic::new("stray-tasks", format!("{count} executed {verb} to no complete cut: {list}"))
                .help("execute all the tasks that `hayase master-slave plan` proposed before planning again"));
        }
        Ok(Self { cells })
    }

    /// The cells that are not cut.
    pub fn leaves(&self) -> impl Iterator<Item = &Node> {
        self.cells.iter().filter(|node| node.parts.is_empty())
    }
}

/// The times and sizes of all tasks of the grid from a refined set.
///
/// # Errors
/// As [`Tree::new`].
pub fn interpolate(executed: &Executed, grid: &TaskGrid) -> Result<Tasks, Diagnostic> {
    let tree = Tree::new(executed, grid)?;
    let mut times = vec![Time::ZERO; grid.tasks()];
    for node in tree.leaves() {
        fill(grid, &node.cell, &node.corners, &mut |index, time| times[index] = Time::from_ps(time));
    }
    let sizes = match executed.common_size() {
        Some(size) => Sizes::Same(size),
        None => {
            let mut at: Times = Times::default();
            for i in 0..executed.len() {
                at.insert(grid.index(executed.point(i)), i);
            }
            let mut sizes = vec![Size::default(); grid.tasks()];
            for node in tree.leaves() {
                let corners: Vec<Size> =
                    node.cell.corners().iter().map(|point| executed.size(at[&grid.index(point)])).collect();
                let input: Vec<f64> = corners.iter().map(|size| size.input as f64).collect();
                let output: Vec<f64> = corners.iter().map(|size| size.output as f64).collect();
                fill(grid, &node.cell, &input, &mut |index, bytes| sizes[index].input = bytes.round() as u64);
                fill(grid, &node.cell, &output, &mut |index, bytes| sizes[index].output = bytes.round() as u64);
            }
            Sizes::Each(sizes)
        }
    };
    Ok(Tasks::new(times, sizes))
}

/// Interpolates the values of the corners at every task that the cell owns.
fn fill(grid: &TaskGrid, cell: &Cell, corners: &[f64], set: &mut impl FnMut(usize, f64)) {
    fn along(
        grid: &TaskGrid,
        cell: &Cell,
        owned: &[(i64, i64)],
        dimension: usize,
        index: usize,
        corners: &[f64],
        set: &mut impl FnMut(usize, f64),
    ) {
        let Some(&(from, to)) = owned.get(dimension) else {
            set(index, corners[0]);
            return;
        };
        let extent = grid.extents()[dimension];
        let (lo, hi) = (cell.lo[dimension], cell.hi[dimension]);
        for x in from..=to {
            let index = index * extent.count() as usize + x.abs_diff(extent.first) as usize;
            if lo == hi {
                along(grid, cell, owned, dimension + 1, index, corners, set);
                continue;
            }
            let p = x.abs_diff(lo) as f64 / hi.abs_diff(lo) as f64;
            let (below, above) = corners.split_at(corners.len() / 2);
            let between: Vec<f64> = below.iter().zip(above).map(|(b, u)| (1.0 - p) * b + p * u).collect();
            along(grid, cell, owned, dimension + 1, index, &between, set);
        }
    }
    along(grid, cell, &cell.owned(grid), 0, 0, corners, set);
}
