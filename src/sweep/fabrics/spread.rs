//! A mean and how sure it is.

use serde::Serialize;

use crate::report::student;

/// The mean of what was drawn several times.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % interval by Student's t; nothing of one value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// How many values there are.
    pub count: u32,
}

impl Spread {
    /// Of these values; at least one.
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Self::new(mean, (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()), values.len() as u32)
    }

    /// By the mean and the standard deviation.
    pub(super) fn new(mean: f64, deviation: Option<f64>, count: u32) -> Self {
        let interval = deviation.map(|deviation| {
            let degrees = count.saturating_sub(1).max(1) as usize;
            student(degrees) * deviation / f64::from(count.max(1)).sqrt()
        });
        Self { mean, interval, count }
    }
}
