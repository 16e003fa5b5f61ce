//! Means of samples, and how sure they are.

use crate::base::portable::student;

/// Values in short.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Sample {
    /// How many there are.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation; 0 of one.
    pub sd: f64,
}

impl Sample {
    /// The sample of these values; `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
        (!values.is_empty()).then_some(Self { count: values.len(), mean, sd })
    }

    /// Half of the 95 % interval of the mean, `t s / sqrt(n)` with the t of Student; of one value 0.
    pub fn half(&self) -> f64 {
        if self.count > 1 { student(self.count - 1) * self.sd / (self.count as f64).sqrt() } else { 0.0 }
    }

    /// The 95 % interval of the mean.
    pub fn interval(&self) -> [f64; 2] {
        [self.mean - self.half(), self.mean + self.half()]
    }
}
