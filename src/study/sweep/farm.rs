//! Farms for several numbers of workers and rules for giving out tasks: all points of one table, side by
//! side.

use super::Control;
use crate::diagnostic::Invalid;
use crate::farm::MasterSlaveSpec;
use crate::report::{FARM_SCHEMA, FarmReport, Head, Meta, Prediction, SeedStatistics, Status, master_busy, saturation};
use crate::scenario::{Farm, Scenario};
use crate::simulation::{FarmOutcome, RunOptions};
use crate::study::runs::Runs;
use crate::system::System;

impl Farm {
    /// Returns true if another seed can change the result.
    pub fn depends_on_seed(&self) -> bool {
        self.points.iter().any(Scenario::depends_on_seed)
    }

    /// Returns the farm with another seed: random values are drawn again.
    ///
    /// # Errors
    /// Points that cannot be built with this seed.
    pub fn with_seed(&self, seed: u64) -> Result<Self, Invalid> {
        let points = self.points.iter().map(|point| point.with_seed(seed)).collect::<Result<_, _>>()?;
        Ok(Self { points, ..self.clone() })
    }

    /// Runs all points, on all cores.
    pub fn run(&self, control: Control<'_>) -> FarmReport {
        let start = crate::base::wall_clock::now();
        let total = self.points.len();
        let (tasks, work, longest) = self.points.first().map_or_else(Default::default, |point| {
            let tasks = &point.work().listed;
            (tasks.len() as u64, tasks.work(), tasks.longest())
        });
        let runs = Runs::new(control, vec![tasks; total]);
        let outcomes: Vec<Option<FarmOutcome>> = runs.each(&self.points, |point, run| {
            let outcome = point.run(RunOptions { watch: Some(run), ..RunOptions::default() });
            Some(outcome).filter(|outcome| outcome.prediction.is_some())
        });
        let head = outcomes.iter().flatten().next().map(FarmOutcome::summary);
        let predictions: Vec<Prediction> = outcomes.into_iter().flatten().filter_map(|done| done.prediction).collect();
        let first = predictions.first().and_then(|prediction| prediction.value.clone());
        let series = |of: fn(&Prediction) -> f64| -> Vec<(u32, f64)> {
            let of_first = predictions.iter().filter(|prediction| prediction.value == first);
            of_first.map(|prediction| (prediction.workers, of(prediction))).collect()
        };
        let complete = predictions.len() == total;
        let point = self.points.first();
        FarmReport {
            head: Head {
                schema: FARM_SCHEMA,
                scenario: point.map(|point| point.system().to_json(Some(&self.written), false)).unwrap_or_default(),
                status: status(complete, &predictions),
                makespan_s: head.as_ref().map_or(0.0, |head| head.makespan_s),
                messages: head.as_ref().map_or(0, |head| head.messages),
                bytes: head.as_ref().map_or(0, |head| head.bytes),
                estimated: head.and_then(|head| head.estimated),
                fingerprint: fingerprint(&predictions),
                ..Head::default()
            },
            tasks: point.map(|point| point.work().title.clone()).unwrap_or_default(),
            setting: self.setting.clone(),
            task_count: tasks,
            work_s: work.seconds(),
            longest_task_s: longest.seconds(),
            varied: self.spec().and_then(MasterSlaveSpec::varied_name),
            saturation_workers: saturation(&series(|row| row.time_s)).filter(|_| complete),
            master_busy_workers: master_busy(&series(|row| row.master_utilisation)).filter(|_| complete),
            master_bound_workers: point.and_then(|point| point.work().master_bound_workers(point.system())),
            predictions,
            complete,
            meta: Meta::since(start, tasks * total as u64, None),
        }
    }

    /// Runs all points with each of these seeds. The report is the one of the first seed ([`Farm::run`]),
    /// with the times of all seeds.
    ///
    /// # Errors
    /// Points that cannot be built with one of the seeds.
    pub fn run_seeds(&self, seeds: &[u64], control: Control<'_>) -> Result<FarmReport, Invalid> {
        let mut report = match seeds.first() {
            Some(&first) if first != self.seed() => self.with_seed(first)?.run(control),
            _ => self.run(control),
        };
        if seeds.len() < 2 || !report.complete {
            return Ok(report);
        }
        let mut done = vec![seeds[0]];
        let mut times: Vec<Vec<f64>> = report.predictions.iter().map(|row| vec![row.time_s]).collect();
        for &seed in &seeds[1..] {
            let again = match self.depends_on_seed() {
                true => self.with_seed(seed)?.run(control),
                false => report.clone(),
            };
            if !again.complete {
                report.complete = false;
                report.head.status = Status::Interrupted;
                break;
            }
            if again.head.status == Status::Undone {
                report.head.status = Status::Undone;
            }
            done.push(seed);
            times.iter_mut().zip(&again.predictions).for_each(|(times, row)| times.push(row.time_s));
        }
        let missing = seeds.len() - done.len();
        for (row, times) in report.predictions.iter_mut().zip(times) {
            row.seeds = Some(SeedStatistics { missing, ..SeedStatistics::new(done.clone(), times) });
        }
        report.head.seeds = report.predictions.first().and_then(|row| row.seeds.clone());
        Ok(report)
    }

    /// Returns the seed of all random values.
    pub fn seed(&self) -> u64 {
        self.points.first().map_or(System::SEED, Scenario::seed)
    }
}

/// Returns the worst status of all predictions.
fn status(complete: bool, predictions: &[Prediction]) -> Status {
    match predictions.iter().any(|row| row.undone > 0) {
        _ if !complete => Status::Interrupted,
        true => Status::Undone,
        false => Status::Complete,
    }
}

/// Returns the fingerprint of a single prediction, or one over those of all predictions.
fn fingerprint(predictions: &[Prediction]) -> String {
    if let [only] = predictions {
        return only.fingerprint.clone();
    }
    let mut hasher = blake3::Hasher::new();
    for row in predictions {
        hasher.update(row.fingerprint.as_bytes()).update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
