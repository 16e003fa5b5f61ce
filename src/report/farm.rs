//! What is predicted of a master/slave program, as plain data.

use serde::Serialize;

use super::{Head, Meta, SeedStatistics};

/// The version of [`FarmReport`].
pub const FARM_SCHEMA: &str = "hayase-master-slave-1";

/// Predictions for some numbers of workers, or ways of giving out tasks.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FarmReport {
    /// What every report begins with.
    #[serde(flatten)]
    pub head: Head,
    /// Where the tasks come from, for people.
    pub tasks: String,
    /// The network and the way tasks are given out, for people.
    pub setting: String,
    /// How many tasks.
    pub task_count: u64,
    /// Their times, summed \[s\].
    pub work_s: f64,
    /// The longest of them \[s\].
    pub longest_task_s: f64,
    /// What is varied beside the number of workers (`granularity`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub varied: Option<String>,
    /// One for each combination, workers ascending within each value of what is varied.
    pub predictions: Vec<Prediction>,
    /// The smallest number of workers from which on more of them gain less than 1 %; nothing where the largest number
    /// still gains, or only one was tried. Of what is varied, for the first value.
    pub saturation_workers: Option<u32>,
    /// The smallest number of workers tried from which on the (busiest) master is busy for 99 % of the predicted time
    /// or more; nothing where it is not. Of what is varied, for the first value.
    pub master_busy_workers: Option<u32>,
    /// An estimate: the number of equal workers that keep the master busy, in the mean and without start and end;
    /// nothing where that is not known in closed form.
    pub master_bound_workers: Option<u32>,
    /// Whether all combinations were run.
    pub complete: bool,
    /// What may differ from machine to machine.
    pub meta: Meta,
}

/// One prediction.
#[report]
pub struct Prediction {
    /// The value of what is varied.
    pub value: Option<String>,
    /// Number of workers.
    pub workers: u32,
    /// Workers and masters.
    pub processors: u32,
    /// The predicted time \[s\].
    pub time_s: f64,
    /// Total work over the speed of all workers, relative to the predicted time.
    pub efficiency: f64,
    /// How long the master (the busiest, with several) is busy, relative to the predicted time.
    pub master_utilisation: f64,
    /// How long workers compute, relative to the predicted time: all, the least and the most used.
    pub worker_utilisation: Utilisation,
    /// Results that wait at the master, on average over time and at most.
    pub waiting: Waiting,
    /// By how much the worker that is done last is done later than the mean, relative to the predicted time.
    pub imbalance: f64,
    /// From the moment the last task was given out to the end \[s\].
    pub tail_s: f64,
    /// Messages with tasks that were sent.
    pub messages: u64,
    /// Of these, sent again since their worker was lost.
    pub repeated: u64,
    /// Time that lost workers had computed for nothing \[s\].
    pub wasted_s: f64,
    /// Tasks that are not done, since all workers were lost.
    pub undone: u32,
    /// Lower bounds of the predicted time.
    pub bounds: FarmBounds,
    /// The largest of them \[s\].
    pub bound_s: f64,
    /// The predicted times over several seeds, if they were asked for; everything else is of the first.
    pub seeds: Option<SeedStatistics>,
    /// Over when everybody did how much: equal fingerprints are equal results, to the last bit.
    pub fingerprint: String,
}

/// Mean, least and most.
#[report(Copy)]
pub struct Utilisation {
    /// Of all.
    pub mean: f64,
    /// Of the one with the least.
    pub min: f64,
    /// Of the one with the most.
    pub max: f64,
}

/// Results that wait.
#[report(Copy)]
pub struct Waiting {
    /// On average over time.
    pub mean: f64,
    /// At most.
    pub max: u32,
}

/// Lower bounds \[s\].
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FarmBounds {
    /// Total work over the speed of all workers.
    pub work_s: f64,
    /// The same with what the messages cost the workers.
    pub exchange_s: f64,
    /// The longest message on the fastest worker.
    pub longest_s: f64,
    /// What the master spends on messages.
    pub master_s: f64,
    /// What goes over the links of the master's node, over what they carry; `null` without a fabric, where workers are
    /// on that node, and with several masters.
    pub network_s: Option<f64>,
}

impl FarmBounds {
    /// Each with what it is a limit by.
    fn all(&self) -> [(f64, &'static str); 5] {
        [
            (self.work_s, "workers"),
            (self.exchange_s, "workers"),
            (self.longest_s, "longest task"),
            (self.master_s, "master"),
            (self.network_s.unwrap_or(0.0), "network"),
        ]
    }

    /// The largest \[s\].
    pub fn largest(&self) -> f64 {
        self.all().into_iter().fold(0.0, |largest, (bound, _)| largest.max(bound))
    }

    /// Which of them is the largest, in words.
    pub fn limit(&self) -> &'static str {
        self.all().into_iter().fold((f64::NEG_INFINITY, ""), |a, b| if b.0 > a.0 { b } else { a }).1
    }
}

/// The smallest number of workers from which on more of them gain less than 1 %, in a series of (workers, time) with
/// the workers ascending; nothing where that is the last.
pub fn saturation(series: &[(u32, f64)]) -> Option<u32> {
    let (_, rest) = series.split_last()?;
    let mut best = series.last()?.1;
    let mut from = None;
    for &(workers, time) in rest.iter().rev() {
        // Once a smaller number does as well as all larger ones, look whether a still smaller one does.
        if time <= 1.01 * best {
            from = Some(workers);
        }
        best = best.min(time);
    }
    from
}

/// The part of the predicted time from which on a master is said to be busy all the time.
pub const BUSY: f64 = 0.99;

/// The smallest number of workers from which on the master is busy, in a series of (workers, part of the time it is
/// busy) with the workers ascending.
pub fn master_busy(series: &[(u32, f64)]) -> Option<u32> {
    series.iter().rev().take_while(|(_, busy)| *busy >= BUSY).last().map(|(workers, _)| *workers)
}

/// How sure a prediction is, and which tasks to execute next.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanReport {
    /// The version of this form.
    pub schema: &'static str,
    /// The grid of all tasks.
    pub grid: String,
    /// How many there are.
    pub task_count: u64,
    /// How many were executed.
    pub executed: u64,
    /// The accuracy asked for, relative.
    pub accuracy: f64,
    /// The estimated work of all tasks \[s\]; nothing before any was executed.
    pub work_s: Option<f64>,
    /// Rate at which the intervals hold what they are of: 0.95.
    pub rate: f64,
    /// Half the width of its interval, relative; nothing where it is not known yet.
    pub half_width: Option<f64>,
    /// Executed tasks that the accuracy is expected to need in all, at most; nothing before any was executed.
    pub needed: Option<u64>,
    /// Predicted times with their intervals.
    pub predictions: Vec<IntervalPrediction>,
    /// Coordinates of the tasks to execute next; none when the prediction is as sure as asked for.
    pub next: Vec<Vec<i64>>,
}

/// A predicted time with its interval.
#[report(Copy)]
pub struct IntervalPrediction {
    /// Number of workers.
    pub workers: u32,
    /// The predicted time \[s\].
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
        // The last one still gains: not saturated.
        assert_eq!(saturation(&[(8, 10.0), (16, 5.0)]), None);
        assert_eq!(saturation(&[(8, 10.0)]), None);
        // Getting worse is no gain either.
        assert_eq!(saturation(&[(8, 10.0), (16, 5.0), (24, 6.0), (32, 7.0)]), Some(16));
        // A better one further on counts: a plateau before it is none.
        assert_eq!(saturation(&[(8, 5.0), (16, 5.0), (24, 4.0), (32, 4.0)]), Some(24));
    }

    #[test]
    fn a_master_is_busy_from_where_every_larger_number_of_workers_keeps_it_so() {
        assert_eq!(master_busy(&[(8, 0.3), (16, 0.992), (24, 0.747), (32, 0.99), (64, 1.0)]), Some(32));
        assert_eq!(master_busy(&[(32, 1.0), (64, 0.747)]), None);
        assert_eq!(master_busy(&[]), None);
    }
}
