//! The least time between two messages, g, from trains of messages.

use super::Estimate;
use super::fit::Fit;
use super::model::{self, ORS, OSS, Setting};
use super::samples::{self, Sample};
use crate::base::portable::student;

/// Factor by which the interval between messages must exceed their own time for g to be the reason.
const LEAST_RATIO: f64 = 1.05;

/// Returns g if some train shows it, else an upper bound of g \[ns\]. The interval between messages is the
/// largest of g and the times that a message takes at the sender, on the network and at the receiver.
pub(super) fn find(
    trains: &[Sample],
    setting: &Setting,
    fit: &Fit,
    percentile: f64,
    residual: f64,
) -> (Estimate, Option<f64>) {
    let mut g = Estimate { name: "g".to_owned(), unit: "ns", value: None, error: None };
    let reduced = samples::reduce(trains, percentile);
    let least = reduced.iter().map(|train| train.time.ps()).fold(f64::INFINITY, f64::min);
    let known = fit.sum(&[model::O]).is_some();
    // If only the sum of Oss and Ors is known, it is an upper bound for both.
    let mut values = fit.values;
    if fit.sum(&[OSS]).is_none() {
        let sum = values[OSS] + values[ORS];
        (values[OSS], values[ORS]) = (sum, sum);
    }
    let shows = |train: &&Sample| {
        known && train.time.ps() > LEAST_RATIO * model::interval_without_g(setting, train.bytes, &values)
    };
    let lengths: Vec<u64> = reduced.iter().filter(shows).map(|train| train.bytes).collect();
    if lengths.is_empty() {
        return (g, (!reduced.is_empty()).then_some(least / 1e3));
    }
    let of = |samples: &[Sample]| -> Vec<f64> {
        samples.iter().filter(|train| lengths.contains(&train.bytes)).map(|train| train.time.ps() / 1e3).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (chosen, all) = (of(&reduced), of(trains));
    let value = mean(&chosen);
    let count = all.len() as f64;
    let centre = mean(&all);
    let half = if all.len() > 1 {
        let variance = all.iter().map(|one| (one - centre) * (one - centre)).sum::<f64>() / (count - 1.0);
        student(all.len() - 1) * variance.sqrt()
    } else {
        // A single measurement does not show its error, so the median residual of the fit is used.
        1.96 * 1.4826 * residual * value
    };
    (g.value, g.error) = (Some(value), Some(half / count.sqrt()));
    (g, None)
}
