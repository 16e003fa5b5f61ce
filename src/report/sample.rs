//! Means of samples, and their confidence intervals.

use crate::base::portable::student;

/// Summary of a sample.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Sample {
    /// Number of values.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; 0 for a single value.
    pub sd: f64,
}

impl Sample {
    /// Summarizes values; returns `None` if there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
        (!values.is_empty()).then_some(Self { count: values.len(), mean, sd })
    }

    /// Returns half of the 95 % interval of the mean, `t s / sqrt(n)` with Student's t; 0 for a single value.
    pub fn half(&self) -> f64 {
        if self.count > 1 { student(self.count - 1) * self.sd / (self.count as f64).sqrt() } else { 0.0 }
    }

    /// Returns the 95 % interval of the mean.
    pub fn interval(&self) -> [f64; 2] {
        [self.mean - self.half(), self.mean + self.half()]
    }
}
