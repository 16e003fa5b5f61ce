//! Plans: the tasks to execute next, and the interval of the prediction.
//!
//! Tasks are executed in rounds. A round divides the grid into cells (`cells`), based on the times known
//! before it. In each cell it draws two random tasks that are not executed, and then estimates the work of
//! all tasks anew. Let K be the known times before the round, m the number of tasks of a cell that are not
//! executed, and a and b the times drawn in it:
//! ```text
//! A_k = sum K + sum m (a + b) / 2            V_k = sum m (m - 2) (a - b)^2 / 4
//! ```
//! The mean of `A_k` over the draws is the work, and that of `V_k` is the variance of `A_k`, whatever the
//! times are: smooth, random or with steps. The reason is that the cells do not depend on the times drawn in
//! them. If the cells were expected to scatter more, `sum m (m - 2) v / 2` replaces `V_k`, so that the
//! scatter of neighbours in earlier rounds holds in this one. The estimate is the mean of the rounds weighted
//! by `w = n / (M (M - n))`, with n tasks drawn of M not executed. This is optimal if times are random. Half
//! of its 95 % interval is h:
//! ```text
//! h^2 = t^2 sum w^2 V_k  +  (3 g)^2  +  (3 (1 - n/N) A / n)^2
//! ```
//! Here t is Student's for Satterthwaite's degrees of freedom. The other two terms stand for tasks that were
//! not sampled. g is the largest error that one drawn task may hide: `w (m - 2) / 2` times the range of the
//! times drawn in its cell and in the cell before it. 3 / n is the part of the tasks that n executed ones all
//! miss in 5 % of all cases; it is assumed to differ by the mean.
//!
//! A round executes 40 % as many tasks as were executed before. The choice of tasks depends on the times
//! known before, so a plan can be replayed from its executed tasks alone.
//!
//! Sources: W. G. Cochran, Sampling Techniques, chapters 5 and 5A (two a stratum; degrees of freedom); L.
//! Eypasch et al., BMJ 311, 1995 (the rule of three).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::cells::{Cell, divide};
use super::grid::{Executed, TaskGrid, first_few, show_point};
use super::tasks::Size;
use crate::base::portable::student;
use crate::diagnostic::Diagnostic;
use crate::rng::Stream;
use crate::units::Time;

/// Confidence level of intervals.
pub const RATE: f64 = 0.95;
/// Number of tasks of the first round on an infinite grid. On a grid of this many tasks it is half of them.
const FIRST_ROUND: f64 = 600.0;
/// Number of tasks of a further round, relative to those executed before.
const GROWTH: f64 = 0.4;
/// Part of the remaining tasks above which a round takes all of them.
const TAKE_ALL_PART: f64 = 0.8;

/// State of a plan: the estimate, and the tasks to execute next.
#[derive(Clone, PartialEq, Debug)]
pub struct SamplingPlan {
    /// Number of tasks executed so far.
    pub executed: usize,
    /// Number of tasks of the grid.
    pub tasks: usize,
    /// Estimated work of all tasks.
    pub work: Time,
    /// Half the width of the 95 % interval of the work; [`Time::NEVER`] if nothing is known yet.
    pub half_width: Time,
    /// Expected number of executed tasks for the accuracy asked for, if times scatter within cells as they do
    /// overall.
    pub needed: usize,
    /// Tasks to execute next, in order of their coordinates; none if the work is known accurately enough.
    pub next: Vec<Vec<i64>>,
}

impl SamplingPlan {
    /// Returns half the width of the interval of the work, relative to the work.
    pub fn relative(&self) -> f64 {
        if self.half_width == Time::ZERO { 0.0 } else { self.half_width.ps() / self.work.ps() }
    }
}

/// A plan replayed: the rounds that the executed tasks complete.
#[derive(Debug)]
pub struct ReplayedPlan<'a> {
    pub(super) executed: &'a Executed,
    pub(super) grid: &'a TaskGrid,
    /// Cells of the last complete round, each with the tasks that it drew.
    pub(super) cells: Vec<Cell>,
    rounds: Vec<Round>,
    /// Sum of the executed times \[ps\].
    pub(super) known: f64,
    /// Tasks of the next round.
    next: Vec<usize>,
}

/// Estimate of one round and its weight.
#[derive(Clone, Copy, Debug)]
struct Round {
    weight: f64,
    /// Work of all tasks \[ps\].
    work: f64,
    /// Variance of the work \[ps^2\].
    variance: f64,
    /// Sum of the squared variances of cells \[ps^4\].
    squares: f64,
    /// Largest error that one drawn task may hide \[ps\].
    hidden: f64,
}

impl Round {
    /// Estimates from the times drawn in each cell. `known` is the sum of the times known before, `left` the
    /// number of all other tasks.
    fn new(known: f64, left: usize, drawn: &[(&Cell, Vec<f64>)]) -> Self {
        let (mut work, mut variance, mut squares, mut expected, mut hidden) = (known, 0.0, 0.0, 0.0, 0.0f64);
        let mut before: &[f64] = &[];
        let mut fresh = 0;
        for (cell, times) in drawn {
            let m = cell.left() as f64;
            fresh += times.len();
            work += m * times.iter().sum::<f64>() / times.len().max(1) as f64;
            if let [a, b] = times[..] {
                let own = m * (m - 2.0) * (a - b) * (a - b) / 4.0;
                variance += own;
                squares += own * own;
                expected += m * (m - 2.0) * cell.variance / 2.0;
                let (least, most) = before.iter().fold((a.min(b), a.max(b)), |(l, m), &t| (l.min(t), m.max(t)));
                hidden = hidden.max((m - 2.0) / 2.0 * (most - least));
            }
            before = times;
        }
        let (n, left) = (fresh as f64, left as f64);
        // With all tasks executed the work is known.
        let weight = if n < left { n / (left * (left - n)) } else { f64::MAX };
        Self { weight, work, variance: variance.max(expected), squares, hidden }
    }
}

impl<'a> ReplayedPlan<'a> {
    /// Replays the rounds that the executed tasks complete.
    ///
    /// # Errors
    /// Tasks outside of the grid, tasks listed twice, or tasks that are not those of the plan.
    pub fn new(executed: &'a Executed, grid: &'a TaskGrid) -> Result<Self, Diagnostic> {
        if !executed.is_empty() {
            executed.check_inside(grid)?;
        }
        let mut at: FxHashMap<usize, usize> = FxHashMap::default();
        for i in 0..executed.len() {
            if at.insert(grid.index(executed.point(i)), i).is_some() {
                let message = format!("the executed task {} is listed twice", show_point(executed.point(i)));
                return Err(Diagnostic::new("task-twice", message).help("keep one time for each task"));
            }
        }
        let mut played = Self { executed, grid, cells: Vec::new(), rounds: Vec::new(), known: 0.0, next: Vec::new() };
        // Tasks in the order of the plan, not of the list.
        let mut known: Vec<usize> = Vec::with_capacity(executed.len());
        loop {
            let left = grid.tasks() - known.len();
            let usual = if known.is_empty() {
                FIRST_ROUND * left as f64 / (FIRST_ROUND + left as f64)
            } else {
                GROWTH * known.len() as f64
            };
            let fresh = if usual > TAKE_ALL_PART * left as f64 { left } else { usual.ceil() as usize };
            let mut cells = divide(executed, &known, grid, fresh);
            let mut random = Stream::new(digest(executed, &known), &format!("tasks of a plan on {grid}"));
            let drawn: Vec<Vec<usize>> = cells.iter().map(|cell| cell.draw(executed, grid, &mut random)).collect();
            if known.len() == executed.len() {
                played.next = drawn.concat();
                return Ok(played);
            }
            let missing: Vec<usize> = drawn.iter().flatten().copied().filter(|task| !at.contains_key(task)).collect();
            if !missing.is_empty() {
                return Err(incomplete(grid, played.rounds.len() + 1, &missing));
            }
            let drawn: Vec<Vec<usize>> =
                drawn.iter().map(|tasks| tasks.iter().map(|task| at[task]).collect()).collect();
            let time = |&i: &usize| executed.times()[i].ps();
            let times: Vec<(&Cell, Vec<f64>)> =
                cells.iter().zip(&drawn).map(|(cell, tasks)| (cell, tasks.iter().map(time).collect())).collect();
            played.rounds.push(Round::new(played.known, left, &times));
            for (cell, tasks) in cells.iter_mut().zip(drawn) {
                played.known += tasks.iter().map(time).sum::<f64>();
                known.extend(&tasks);
                cell.executed = tasks;
            }
            played.cells = cells;
        }
    }

    /// Returns the work and half of its interval \[ps\].
    pub(super) fn estimate(&self) -> (f64, f64) {
        let (n, tasks) = (self.executed.len() as f64, self.grid.tasks() as f64);
        if n == tasks {
            return (self.known, 0.0);
        }
        let all: f64 = self.rounds.iter().map(|round| round.weight).sum();
        let (mut work, mut variance, mut squares, mut hidden) = (0.0, 0.0, 0.0, 0.0f64);
        for round in &self.rounds {
            let w = round.weight / all;
            work += w * round.work;
            variance += w * w * round.variance;
            squares += w * w * w * w * round.squares;
            hidden = hidden.max(w * round.hidden);
        }
        // The work is at least that of the executed tasks, whatever an early round estimated.
        let work = work.max(self.known);
        let degrees = if squares > 0.0 { variance * variance / squares } else { f64::INFINITY };
        let t = student(degrees as usize);
        let missed = 3.0 * (1.0 - n / tasks) * work / n;
        (work, (t * t * variance + 9.0 * hidden * hidden + missed * missed).sqrt())
    }

    /// Returns the state of the plan and the tasks to execute next, for the work to be known to the relative
    /// `accuracy`.
    pub fn plan(&self, accuracy: f64) -> SamplingPlan {
        let (n, tasks) = (self.executed.len(), self.grid.tasks());
        let (work, half) = if n == 0 { (0.0, f64::INFINITY) } else { self.estimate() };
        let is_enough = half <= accuracy * work;
        let points: BTreeSet<Vec<i64>> = self.next.iter().map(|&task| self.grid.point(task)).collect();
        // Squares of widths are proportional to 1/n - 1/N.
        let (part, whole) = (accuracy * work / half, 1.0 / tasks as f64);
        let needed = (1.0 / (whole + part * part * (1.0 / n as f64 - whole))).ceil();
        SamplingPlan {
            executed: n,
            tasks,
            work: Time::from_ps(work),
            half_width: Time::from_ps(half),
            needed: if is_enough || n == 0 { n } else { needed as usize },
            next: if is_enough { Vec::new() } else { points.into_iter().collect() },
        }
    }
}

/// Returns a hash of the known times, from which the next tasks are drawn.
fn digest(executed: &Executed, known: &[usize]) -> u64 {
    let bits = known.iter().map(|&i| executed.times()[i].ps().to_bits());
    bits.fold(0, |sum: u64, bits| (sum.rotate_left(5) ^ bits).wrapping_mul(0x517c_c1b7_2722_0a95))
}

fn incomplete(grid: &TaskGrid, round: usize, missing: &[usize]) -> Diagnostic {
    let list = first_few(missing.iter().map(|&task| show_point(&grid.point(task))), missing.len());
    let (count, plural) = (missing.len(), missing.len() > 1);
    let (noun, verb) = if plural { ("tasks", "are") } else { ("task", "is") };
    let message = format!("{count} {noun} of round {round} of the plan on the grid {grid} {verb} missing: {list}");
    Diagnostic::new("missing-tasks", message).help(
        "execute all the tasks that `hayase master-slave plan` proposed before planning again, add no others, and \
         leave the times of earlier ones as they were",
    )
}

/// Replays the executed tasks and chooses the tasks to execute next, for the work to be known to the relative
/// `accuracy`.
///
/// # Errors
/// Executed tasks that are not those of a plan (see [`ReplayedPlan::new`]).
pub fn plan(executed: &Executed, grid: &TaskGrid, accuracy: f64) -> Result<SamplingPlan, Diagnostic> {
    Ok(ReplayedPlan::new(executed, grid)?.plan(accuracy))
}

/// Plans and executes in turn until the work is known to the relative `accuracy`; for studies and tests.
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
