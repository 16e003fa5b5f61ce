//! Mean of random samples with its interval.

use serde::Serialize;

use crate::report::Sample;

/// Mean of several random samples.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Half of its 95 % interval by Student's t; absent for a single value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// Number of values.
    pub count: u32,
}

impl Spread {
    /// Summarizes values, at least one.
    pub(super) fn of(values: &[f64]) -> Self {
        let Sample { count, mean, sd } = Sample::of(values).unwrap_or_default();
        Self::new(mean, (count > 1).then_some(sd), count as u32)
    }

    /// Creates a summary from the mean and the standard deviation.
    pub(super) fn new(mean: f64, deviation: Option<f64>, count: u32) -> Self {
        let interval = deviation.map(|sd| Sample { count: count as usize, mean, sd }.half());
        Self { mean, interval, count }
    }
}
