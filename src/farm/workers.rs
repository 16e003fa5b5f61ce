//! Workers: their speeds and losses.

use crate::units::Time;

/// Workers of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workers {
    /// Time of a task on each worker, relative to the machine that measured the tasks; `r_s` of the
    /// equations.
    pub factors: Vec<f64>,
    /// Losses of workers, ascending by worker, each at most once.
    pub losses: Vec<Loss>,
}

/// Loss of a worker. Results that it has not sent by then never arrive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loss {
    /// Worker that is lost.
    pub worker: u32,
    /// Time of the loss.
    pub at: Time,
}

impl Workers {
    /// Creates `count` workers as fast as the machine that measured the tasks.
    pub fn equal(count: u32) -> Self {
        Self::new(vec![1.0; count as usize])
    }

    /// Creates workers with these factors.
    pub fn new(factors: Vec<f64>) -> Self {
        Self { factors, losses: Vec::new() }
    }

    /// Number of workers.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// True if there are no workers.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Returns the work that all workers do in a unit of time: the sum of `1 / r_s`.
    pub fn speed(&self) -> f64 {
        self.factors.iter().map(|factor| 1.0 / factor).sum()
    }

    /// Returns the factor of the fastest worker.
    pub fn fastest(&self) -> f64 {
        self.factors.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the factor of the slowest worker.
    pub fn slowest(&self) -> f64 {
        self.factors.iter().copied().fold(0.0, f64::max)
    }

    /// Returns every m-th worker from `first` on: the group of one of m masters.
    pub fn group(&self, first: u32, m: u32) -> Self {
        let member = |worker: u32| worker % m == first;
        let factors = (0..).zip(&self.factors).filter(|(worker, _)| member(*worker)).map(|(_, factor)| *factor);
        let losses = self.losses.iter().filter(|loss| member(loss.worker));
        Self {
            factors: factors.collect(),
            losses: losses.map(|loss| Loss { worker: loss.worker / m, at: loss.at }).collect(),
        }
    }
}
