//! A mean and how sure it is.

use serde::Serialize;

use crate::report::Sample;

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
        let Sample { count, mean, sd } = Sample::of(values).unwrap_or_default();
        Self::new(mean, (count > 1).then_some(sd), count as u32)
    }

    /// By the mean and the standard deviation.
    pub(super) fn new(mean: f64, deviation: Option<f64>, count: u32) -> Self {
        let interval = deviation.map(|sd| Sample { count: count as usize, mean, sd }.half());
        Self { mean, interval, count }
    }
}
