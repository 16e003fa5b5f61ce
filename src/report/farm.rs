//! Predictions of a master/slave program, as plain data.

use serde::Serialize;

use super::{Head, Meta, SeedStatistics};

/// Version of the JSON format of [`FarmReport`].
pub const FARM_SCHEMA: &str = "hayase-master-slave-1";

/// Predictions for several numbers of workers, or several rules for giving out tasks.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FarmReport {
    /// Head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// Source of the tasks, for people.
    pub tasks: String,
    /// Network and rule for giving out tasks, for people.
    pub setting: String,
    /// Number of tasks.
    pub task_count: u64,
    /// Sum of the task times \[s\].
    pub work_s: f64,
    /// Longest task time \[s\].
    pub longest_task_s: f64,
    /// Parameter that is varied besides the number of workers (`granularity`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub varied: Option<String>,
    /// One prediction for each combination; workers ascend within each value of the varied parameter.
    pub predictions: Vec<Prediction>,
    /// Smallest number of workers from which on more workers gain less than 1 %. Absent if the largest number
    /// still gains, or if only one was tried. If a parameter is varied, this is for its first value.
    pub saturation_workers: Option<u32>,
    /// Smallest number of workers tried from which on the (busiest) master is busy for 99 % of the predicted
    /// time or more. Absent if there is none. If a parameter is varied, this is for its first value.
    pub master_busy_workers: Option<u32>,
    /// Estimated number of equal workers that keep the master busy, on average and without start and end.
    /// Absent if there is no closed form.
    pub master_bound_workers: Option<u32>,
    /// True if all combinations were run.
    pub complete: bool,
    /// Figures that may differ from machine to machine.
    pub meta: Meta,
}

/// Prediction for one combination.
#[report]
pub struct Prediction {
    /// Value of the varied parameter.
    pub value: Option<String>,
    /// Number of workers.
    pub workers: u32,
    /// Number of workers and masters.
    pub processors: u32,
    /// Predicted time \[s\].
    pub time_s: f64,
    /// Total work over the speed of all workers, relative to the predicted time.
    pub efficiency: f64,
    /// Part of the predicted time in which the master (with several, the busiest) is busy.
    pub master_utilisation: f64,
    /// Part of the predicted time in which workers compute: mean, least and most used.
    pub worker_utilisation: Utilisation,
    /// Results that wait at the master, on average over time and at most.
    pub waiting: Waiting,
    /// Delay of the last worker to finish against the mean, relative to the predicted time.
    pub imbalance: f64,
    /// Time from the moment the last task was given out to the end \[s\].
    pub tail_s: f64,
    /// Number of task messages sent.
    pub messages: u64,
    /// Number of task messages that were sent again because their worker was lost.
    pub repeated: u64,
    /// Computation of lost workers that was wasted \[s\].
    pub wasted_s: f64,
    /// Number of tasks that were not done because all workers were lost.
    pub undone: u32,
    /// Lower bounds of the predicted time.
    pub bounds: FarmBounds,
    /// Largest lower bound \[s\].
    pub bound_s: f64,
    /// Predicted times over several seeds, if asked for; everything else is of the first seed.
    pub seeds: Option<SeedStatistics>,
    /// Hash of the time and amount of all work: equal fingerprints mean equal results, to the last bit.
    pub fingerprint: String,
}

/// Mean, smallest and largest utilisation.
#[report(Copy)]
pub struct Utilisation {
    /// Mean over all workers.
    pub mean: f64,
    /// Utilisation of the least used worker.
    pub min: f64,
    /// Utilisation of the most used worker.
    pub max: f64,
}

/// Number of results that wait.
#[report(Copy)]
pub struct Waiting {
    /// Average over time.
    pub mean: f64,
    /// Maximum.
    pub max: u32,
}

/// Lower bounds \[s\].
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FarmBounds {
    /// Total work over the speed of all workers.
    pub work_s: f64,
    /// The same, with the workers' cost of messages.
    pub exchange_s: f64,
    /// The longest message on the fastest worker.
    pub longest_s: f64,
    /// Time that the master spends on messages.
    pub master_s: f64,
    /// Bytes over the links of the master's node, divided by their capacity; `null` without a fabric, with
    /// workers on that node, and with several masters.
    pub network_s: Option<f64>,
}

impl FarmBounds {
    /// Returns each bound with the name of its resource.
    fn all(&self) -> [(f64, &'static str); 5] {
        [
            (self.work_s, "workers"),
            (self.exchange_s, "workers"),
            (self.longest_s, "longest task"),
            (self.master_s, "master"),
            (self.network_s.unwrap_or(0.0), "network"),
        ]
    }

    /// Returns the largest bound \[s\].
    pub fn largest(&self) -> f64 {
        self.all().into_iter().fold(0.0, |largest, (bound, _)| largest.max(bound))
    }

    /// Returns the name of the largest bound.
    pub fn limit(&self) -> &'static str {
        self.all().into_iter().fold((f64::NEG_INFINITY, ""), |a, b| if b.0 > a.0 { b } else { a }).1
    }
}

/// Returns the smallest number of workers from which on more workers gain less than 1 %.
///
/// `series` has (workers, time) with the workers ascending. Returns `None` if that number is the last.
pub fn saturation(series: &[(u32, f64)]) -> Option<u32> {
    let (_, rest) = series.split_last()?;
    let mut best = series.last()?.1;
    let mut from = None;
    for &(workers, time) in rest.iter().rev() {
        // Walks to smaller numbers while they do as well as all larger ones.
        if time <= 1.01 * best {
            from = Some(workers);
        }
        best = best.min(time);
    }
    from
}

/// Part of the predicted time from which on a master counts as always busy.
pub const BUSY: f64 = 0.99;

/// Returns the smallest number of workers from which on the master is always busy.
///
/// `series` has (workers, part of the time that the master is busy) with the workers ascending.
pub fn master_busy(series: &[(u32, f64)]) -> Option<u32> {
    series.iter().rev().take_while(|(_, busy)| *busy >= BUSY).last().map(|(workers, _)| *workers)
}

/// Accuracy of a prediction, and the tasks to execute next.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanReport {
    /// Version of this JSON format.
    pub schema: &'static str,
    /// Grid of all tasks.
    pub grid: String,
    /// Number of tasks.
    pub task_count: u64,
    /// Number of executed tasks.
    pub executed: u64,
    /// Requested accuracy, relative.
    pub accuracy: f64,
    /// Estimated work of all tasks \[s\]; absent before any task was executed.
    pub work_s: Option<f64>,
    /// Probability that an interval holds its value: 0.95.
    pub rate: f64,
    /// Half the width of the interval of the work, relative; absent while unknown.
    pub half_width: Option<f64>,
    /// Expected number of executed tasks that the accuracy needs at most, in all; absent before any task was
    /// executed.
    pub needed: Option<u64>,
    /// Predicted times with their intervals.
    pub predictions: Vec<IntervalPrediction>,
    /// Coordinates of the tasks to execute next; empty if the prediction is as accurate as asked for.
    pub next: Vec<Vec<i64>>,
}

/// Predicted time with its interval.
#[report(Copy)]
pub struct IntervalPrediction {
    /// Number of workers.
    pub workers: u32,
    /// Predicted time \[s\].
    pub time_s: f64,
    /// Lower end of its interval \[s\].
    pub least_s: f64,
    /// Upper end of its interval \[s\].
    pub most_s: f64,
}

#[cfg(test)]
mod tests {
    use super::{master_busy, saturation};

    #[test]
    fn saturation_is_where_more_workers_gain_nothing() {
        assert_eq!(saturation(&[(8, 10.0), (16, 5.0), (24, 4.0), (32, 4.0), (40, 4.01)]), Some(24));
        // The last number still gains: not saturated.
        assert_eq!(saturation(&[(8, 10.0), (16, 5.0)]), None);
        assert_eq!(saturation(&[(8, 10.0)]), None);
        // A longer time is not a gain either.
        assert_eq!(saturation(&[(8, 10.0), (16, 5.0), (24, 6.0), (32, 7.0)]), Some(16));
        // A plateau does not count if a larger number is better.
        assert_eq!(saturation(&[(8, 5.0), (16, 5.0), (24, 4.0), (32, 4.0)]), Some(24));
    }

    #[test]
    fn a_master_is_busy_from_where_every_larger_number_of_workers_keeps_it_so() {
        assert_eq!(master_busy(&[(8, 0.3), (16, 0.992), (24, 0.747), (32, 0.99), (64, 1.0)]), Some(32));
        assert_eq!(master_busy(&[(32, 1.0), (64, 0.747)]), None);
        assert_eq!(master_busy(&[]), None);
    }
}
