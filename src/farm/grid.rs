//! Grid of tasks, and the tasks of it that were executed.

use std::fmt;
use std::str::FromStr;

use super::tasks::{Size, Sizes, Tasks};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Time;

/// Largest number of dimensions of a grid, which is also the largest number of coordinate columns in a table
/// of executed tasks.
pub const MOST_DIMENSIONS: usize = 12;
/// Largest number of tasks of a grid.
pub const MOST_TASKS: u64 = 1 << 31;

/// Range of coordinates in one dimension: `first, first + 1, ..., last`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Smallest coordinate.
    pub first: i64,
    /// Largest coordinate.
    pub last: i64,
}

impl Extent {
    /// Number of coordinates.
    pub fn count(self) -> u64 {
        self.last.abs_diff(self.first) + 1
    }

    /// True if a coordinate lies in the range.
    pub fn contains(self, coordinate: i64) -> bool {
        (self.first..=self.last).contains(&coordinate)
    }
}

/// An N-dimensional grid of tasks: `I = {1..c1} x ... x {1..cN}`, or with other first coordinates.
///
/// Tasks are listed with the last coordinate running fastest.
///
/// Source: Mizutani et al., section 3.1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskGrid(Vec<Extent>);

impl TaskGrid {
    /// Creates a grid of these extents.
    ///
    /// # Errors
    /// A message if there is no dimension, more than 12, or more than 2^31 tasks.
    pub fn new(extents: Vec<Extent>) -> Result<Self, String> {
        if extents.is_empty() || extents.len() > MOST_DIMENSIONS {
            return Err(format!("a grid has 1 to {MOST_DIMENSIONS} dimensions, not {}", extents.len()));
        }
        let tasks = extents.iter().try_fold(1u64, |tasks, extent| tasks.checked_mul(extent.count()));
        match tasks {
            Some(tasks) if tasks <= MOST_TASKS => Ok(Self(extents)),
            _ => Err(format!("a grid has at most {MOST_TASKS} tasks")),
        }
    }

    /// Extents of the dimensions.
    pub fn extents(&self) -> &[Extent] {
        &self.0
    }

    /// Number of tasks in the grid.
    pub fn tasks(&self) -> usize {
        self.0.iter().map(|extent| extent.count() as usize).product()
    }

    /// True if a point lies in the grid.
    pub fn contains(&self, point: &[i64]) -> bool {
        point.len() == self.0.len() && self.0.iter().zip(point).all(|(extent, &at)| extent.contains(at))
    }

    /// Returns the index of a task in the list.
    pub fn index(&self, point: &[i64]) -> usize {
        self.0
            .iter()
            .zip(point)
            .fold(0, |index, (extent, &at)| index * extent.count() as usize + at.abs_diff(extent.first) as usize)
    }

    /// Returns the coordinates of a task.
    pub fn point(&self, mut index: usize) -> Vec<i64> {
        let mut point = vec![0; self.0.len()];
        for (at, extent) in point.iter_mut().zip(&self.0).rev() {
            let count = extent.count() as usize;
            *at = extent.first + (index % count) as i64;
            index /= count;
        }
        point
    }
}

/// Grids as text: `1024x1024` (coordinates from 1), `0..1023x0..1023`.
impl TaskGrid {
    /// Reads a grid, with errors located in the text.
    pub(super) fn read(text: &Located<String>) -> Result<Self, Diagnostic> {
        text.parse().map_err(|message: String| Diagnostic::new("bad-grid", message).at_value(text))
    }
}

impl FromStr for TaskGrid {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write a grid like 1024x1024 (coordinates from 1) or 0..1023x0..1023";
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|n| n.abs() <= 1 << 52);
        let extents: Option<Vec<Extent>> = text
            .split('x')
            .map(|part| match part.split_once("..") {
                Some((first, last)) => Some(Extent { first: number(first)?, last: number(last)? }),
                None => Some(Extent { first: 1, last: number(part)? }),
            })
            .map(|extent| extent.filter(|extent| extent.first <= extent.last))
            .collect();
        Self::new(extents.ok_or_else(|| format!("\"{text}\" is not a grid; {example}"))?)
    }
}

impl fmt::Display for TaskGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, extent) in self.0.iter().enumerate() {
            let gap = if i > 0 { "x" } else { "" };
            match extent.first {
                1 => write!(f, "{gap}{}", extent.last)?,
                first => write!(f, "{gap}{first}..{}", extent.last)?,
            }
        }
        Ok(())
    }
}

/// Tasks that were executed and timed, each at its point.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Executed {
    dimensions: usize,
    /// Coordinates of all tasks; those of task i start at `i * dimensions`.
    points: Vec<i64>,
    times: Vec<Time>,
    /// Bytes sent for the first task, and the bytes of each task if they differ.
    common: Size,
    sizes: Vec<Size>,
}

impl Executed {
    /// Creates an empty list of tasks with `dimensions` coordinates each, 0 for a plain list.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, ..Self::default() }
    }

    /// Adds a task.
    pub fn push(&mut self, point: &[i64], time: Time, size: Size) {
        debug_assert_eq!(point.len(), self.dimensions);
        self.points.extend_from_slice(point);
        if self.times.is_empty() {
            self.common = size;
        } else if self.sizes.is_empty() && size != self.common {
            self.sizes = vec![self.common; self.times.len()];
        }
        if !self.sizes.is_empty() {
            self.sizes.push(size);
        }
        self.times.push(time);
    }

    /// Number of coordinates of each task.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True if there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the coordinates of one task.
    pub fn point(&self, i: usize) -> &[i64] {
        &self.points[i * self.dimensions..][..self.dimensions]
    }

    /// Times of the tasks.
    pub fn times(&self) -> &[Time] {
        &self.times
    }

    /// Returns the bytes sent for one task.
    pub fn size(&self, i: usize) -> Size {
        self.sizes.get(i).copied().unwrap_or(self.common)
    }

    /// Returns the bytes sent for each task, if they are the same for all.
    pub fn common_size(&self) -> Option<Size> {
        self.sizes.is_empty().then_some(self.common)
    }

    /// Converts all of them to tasks without coordinates.
    pub fn into_tasks(self) -> Tasks {
        let sizes = if self.sizes.is_empty() { Sizes::Same(self.common) } else { Sizes::Each(self.sizes) };
        Tasks::new(self.times, sizes)
    }

    /// Checks that all tasks lie in the grid.
    ///
    /// # Errors
    /// An error that names the points outside of it.
    pub fn check_inside(&self, grid: &TaskGrid) -> Result<(), Diagnostic> {
        if self.dimensions != grid.extents().len() {
            let message = format!(
                "the executed tasks have {} coordinates, the grid {grid} has {} dimensions",
                self.dimensions,
                grid.extents().len()
            );
            return Err(Diagnostic::new("wrong-dimensions", message)
                .help("columns i1, i2, ... hold the coordinates, one for each dimension of the grid"));
        }
        let outside: Vec<usize> = (0..self.len()).filter(|&i| !grid.contains(self.point(i))).collect();
        if outside.is_empty() {
            return Ok(());
        }
        let message = format!(
            "{} not in the grid {grid}: {}",
            count_of_tasks(outside.len()),
            first_few(outside.iter().map(|&i| show_point(self.point(i))), outside.len())
        );
        Err(Diagnostic::new("outside-grid", message).help("give the grid that all tasks stand in (--grid)"))
    }
}

/// Formats a count: `3 executed tasks are`.
fn count_of_tasks(count: usize) -> String {
    format!("{count} executed {}", if count == 1 { "task is" } else { "tasks are" })
}

/// Formats a point: `(3, 17)`.
pub(super) fn show_point(point: &[i64]) -> String {
    format!("({})", point.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
}

/// Formats the first few of many items and the number of the rest.
pub(super) fn first_few(items: impl Iterator<Item = String>, count: usize) -> String {
    const MAX_SHOWN: usize = 5;
    let mut text = items.take(MAX_SHOWN).collect::<Vec<_>>().join(", ");
    if count > MAX_SHOWN {
        text += &format!(" and {} more", count - MAX_SHOWN);
    }
    text
}

/// Executed tasks that form a product grid: `Is = Is1 x ... x IsN`, values in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct ProductGrid {
    /// Coordinates at which tasks were executed, by dimension, in ascending order.
    pub axes: Vec<Vec<i64>>,
    /// Times \[ps\], the last dimension running fastest.
    pub times: Vec<f64>,
    /// Bytes sent for each task, in the same order; empty if they are the same for all.
    pub sizes: Vec<Size>,
}

impl ProductGrid {
    /// Sorts executed tasks into their product grid.
    ///
    /// # Errors
    /// An error that names the points that are missing or listed twice.
    pub fn new(executed: &Executed) -> Result<Self, Diagnostic> {
        let mut axes = Vec::with_capacity(executed.dimensions);
        for dimension in 0..executed.dimensions {
            let mut axis: Vec<i64> = (0..executed.len()).map(|i| executed.point(i)[dimension]).collect();
            axis.sort_unstable();
            axis.dedup();
            axes.push(axis);
        }
        let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.len()));
        // A set of n scattered points spans up to n^N combinations, for which a list of the missing ones would not
        // help.
        let Some(count) = count.filter(|&count| count <= 64 * executed.len().max(1 << 20)) else {
            let spans = axes.iter().map(|axis| axis.len().to_string()).collect::<Vec<_>>().join(" x ");
            let message =
                format!("the {} executed tasks do not form a product grid: they span {spans} points", executed.len());
            return Err(incomplete(message));
        };
        let mut at = vec![u32::MAX; count];
        let mut twice = Vec::new();
        for i in 0..executed.len() {
            let place = axes.iter().zip(executed.point(i)).fold(0, |place, (axis, coordinate)| {
                place * axis.len() + axis.partition_point(|value| value < coordinate)
            });
            if at[place] == u32::MAX {
                at[place] = i as u32;
            } else {
                twice.push(i);
            }
        }
        if !twice.is_empty() {
            let list = first_few(twice.iter().map(|&i| show_point(executed.point(i))), twice.len());
            return Err(Diagnostic::new("task-twice", format!("executed tasks are listed twice: {list}"))
                .help("keep one time for each task, the mean or the least of several runs"));
        }
        let missing = count - executed.len();
        if missing > 0 {
            let points = at.iter().enumerate().filter(|(_, i)| **i == u32::MAX).map(|(mut place, _)| {
                let mut point = vec![0; axes.len()];
                for (coordinate, axis) in point.iter_mut().zip(&axes).rev() {
                    *coordinate = axis[place % axis.len()];
                    place /= axis.len();
                }
                show_point(&point)
            });
            let spans = axes.iter().map(|axis| axis.len().to_string()).collect::<Vec<_>>().join(" x ");
            let noun = if missing == 1 { "task is" } else { "tasks are" };
            let message = format!(
                "the executed tasks span a product grid of {spans}, of which {missing} {noun} missing: {}",
                first_few(points, missing)
            );
            return Err(incomplete(message));
        }
        let times = at.iter().map(|&i| executed.times[i as usize].ps()).collect();
        let sizes = match executed.common_size() {
            Some(_) => Vec::new(),
            None => at.iter().map(|&i| executed.size(i as usize)).collect(),
        };
        Ok(Self { axes, times, sizes })
    }
}

fn incomplete(message: String) -> Diagnostic {
    Diagnostic::new("incomplete-grid", message).help(
        "interpolation needs every combination of the coordinates; execute the missing tasks, or add `--refined` if \
         `hayase master-slave plan` proposed these tasks",
    )
}
