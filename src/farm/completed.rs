//! Times of all tasks of a grid from those that a plan has executed, and predicted times with their
//! intervals.

use super::cells::squares;
use super::costs::Costs;
use super::plan::ReplayedPlan;
use super::play::{Policy, run};
use super::tasks::{Sizes, Tasks};
use super::workers::Workers;
use crate::base::Arrange;
use crate::base::portable::student;
use crate::rng::Stream;
use crate::units::Time;

/// Number of random completions from which the interval of a predicted time is computed.
const COMPLETIONS: u64 = 5;

impl ReplayedPlan<'_> {
    /// Returns all tasks. Executed tasks keep their times. Each other task resembles a random one that the
    /// last round drew in its cell, with times scaled to the estimated work.
    ///
    /// Tasks drawn in earlier rounds would be too short, because cells are small where one of them was long.
    pub fn tasks(&self, number: u64) -> Tasks {
        let mut times = vec![Time::ZERO; self.grid.tasks()];
        if self.executed.is_empty() {
            return Tasks::new(times, Sizes::default());
        }
        // Executed task that each task resembles.
        let mut like = vec![0u32; times.len()];
        let mut random = Stream::new(number, "tasks that were not executed");
        let mut guessed = vec![true; times.len()];
        for i in 0..self.executed.len() {
            let task = self.grid.index(self.executed.point(i));
            (like[task], guessed[task]) = (i as u32, false);
        }
        let mut sum = 0.0;
        for cell in &self.cells {
            let mut examples = cell.executed.clone();
            let all = (0..cell.grid.tasks()).map(|place| self.grid.index(&cell.grid.point(place)));
            for (i, task) in all.filter(|&task| guessed[task]).enumerate() {
                let turn = i % examples.len();
                if turn == 0 {
                    random.shuffle(&mut examples);
                }
                like[task] = examples[turn] as u32;
                sum += self.executed.times()[examples[turn]].ps();
            }
        }
        let factor = if sum > 0.0 { (self.estimate().0 - self.known) / sum } else { 1.0 };
        for (task, time) in times.iter_mut().enumerate() {
            let own = self.executed.times()[like[task] as usize];
            *time = if guessed[task] { Time::from_ps(factor * own.ps()) } else { own };
        }
        let sizes = match self.executed.common_size() {
            Some(size) => Sizes::Same(size),
            None => Sizes::Each(like.iter().map(|&i| self.executed.size(i as usize)).collect()),
        };
        Tasks::new(times, sizes)
    }

    /// Predicts the time with each crew, with the lower and upper end of its 95 % interval.
    ///
    /// The interval combines the error of the work and the scatter over draws of [`ReplayedPlan::tasks`] as a sum
    /// of squares. It adds an allowance for the last tasks of a run, as far as they are not executed and
    /// differ from their neighbours: all workers may end together, or one of them with a task longer than any
    /// so far.
    pub fn predict(&self, crews: &[Workers], costs: &Costs) -> Vec<[Time; 3]> {
        if self.executed.is_empty() {
            return vec![[Time::ZERO, Time::ZERO, Time::NEVER]; crews.len()];
        }
        let (work, half) = self.estimate();
        let time = |tasks: &Tasks, crew: &Workers| run(tasks, crew, costs, &Policy::default(), &mut ()).time.ps();
        let tasks = self.tasks(0);
        let width = if work > 0.0 { half / work } else { 0.0 };
        let [less, more] = [1.0 - width, 1.0 + width].map(|factor| tasks.scaled(factor.max(0.0)));
        let mut tries: Vec<Vec<f64>> = vec![Vec::new(); crews.len()];
        for number in 0..COMPLETIONS {
            let tasks = self.tasks(number);
            tries.iter_mut().zip(crews).for_each(|(tries, crew)| tries.push(time(&tasks, crew)));
        }
        let (unknown, longest) = self.last_tasks();
        let interval = |(crew, tries): (&Workers, &Vec<f64>)| {
            let n = COMPLETIONS as f64;
            let mean = tries.iter().sum::<f64>() / n;
            let squares: f64 = tries.iter().map(|time| (time - mean) * (time - mean)).sum();
            let t = student(COMPLETIONS as usize - 1);
            // Another draw deviates from the mean of several by the variances of both.
            let scatter = t * t * squares / (n - 1.0) * (1.0 + 1.0 / n);
            let off = |tasks: &Tasks, tail: f64| {
                let work = time(tasks, crew) - tries[0];
                (work * work + scatter).sqrt() + unknown * tail
            };
            let imbalance = (mean - work / crew.speed()).max(0.0);
            let (least, most) = (mean - off(&less, imbalance.min(longest)), mean + off(&more, longest));
            [tries[0], least.min(tries[0]).max(0.0), most.max(tries[0])].map(Time::from_ps)
        };
        crews.iter().zip(&tries).map(interval).collect()
    }

    /// Returns the uncertain part of the times and the longest task to be expected \[ps\].
    ///
    /// The uncertain part is the part of tasks not executed, times the relative scatter within cells. With n of N tasks
    /// executed, the longest task to be expected exceeds the longest executed one by a factor: that by which the latter
    /// exceeds the one of rank 3 N / n.
    fn last_tasks(&self) -> (f64, f64) {
        let (n, tasks) = (self.executed.len(), self.grid.tasks());
        let all: Vec<usize> = (0..n).collect();
        let (_, total) = squares(self.executed, &all);
        let within: Vec<(f64, f64)> = self.cells.iter().map(|cell| squares(self.executed, &cell.executed)).collect();
        let degrees: f64 = within.iter().map(|(n, _)| (n - 1.0).max(0.0)).sum();
        let squares: f64 = within.iter().map(|(_, squares)| squares).sum();
        let scatter = if total > 0.0 { (squares / degrees * (n as f64 - 1.0) / total).sqrt().min(1.0) } else { 0.0 };
        let mut times: Vec<f64> = self.executed.times().iter().map(|time| time.ps()).collect();
        times.arrange_by(|a, b| b.total_cmp(a));
        let (longest, other) = (times[0], times[(3 * tasks).div_ceil(n).min(n) - 1]);
        let longest = if other > 0.0 { longest * longest / other } else { longest };
        ((1.0 - n as f64 / tasks as f64) * scatter, longest)
    }
}
