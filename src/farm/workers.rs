//! Workers: how fast each is, and when it is lost.

use crate::units::Time;

/// The workers of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workers {
    /// By worker: the time of a task on it, relative to the machine that measured the tasks; `r_s` of the equations.
    pub factors: Vec<f64>,
    /// Workers that are lost, and when; ascending by worker, each at most once.
    pub losses: Vec<Loss>,
}

/// A worker that is lost: what it has not sent by then never arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loss {
    /// Which.
    pub worker: u32,
    /// When.
    pub at: Time,
}

impl Workers {
    /// So many equal ones, as fast as the machine that measured the tasks.
    pub fn equal(count: u32) -> Self {
        Self::new(vec![1.0; count as usize])
    }

    /// These.
    pub fn new(factors: Vec<f64>) -> Self {
        Self { factors, losses: Vec::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// How much work all of them do in a unit of time: the sum of `1 / r_s`.
    pub fn speed(&self) -> f64 {
        self.factors.iter().map(|factor| 1.0 / factor).sum()
    }

    /// Factor of the fastest.
    pub fn fastest(&self) -> f64 {
        self.factors.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Factor of the slowest.
    pub fn slowest(&self) -> f64 {
        self.factors.iter().copied().fold(0.0, f64::max)
    }

    /// Every m-th of them from worker `first` on: the group of one of m masters.
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
