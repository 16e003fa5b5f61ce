//! Results of jobs in the runs of one row of a comparison.

use super::{JobReport, Sample};

/// Figure by which the rows of a comparison are ranked, smallest first.
#[report(Copy, Eq, Default)]
pub enum RankBy {
    /// The mean makespan.
    #[default]
    Makespan,
    /// The mean over the seeds of the largest slowdown of a job.
    Slowdown,
}

impl RankBy {
    pub(super) fn is_makespan(&self) -> bool {
        *self == Self::Makespan
    }
}

/// Job, summarized over the runs of a row.
#[report]
pub struct ComparedJob {
    /// Name of the job.
    pub name: String,
    /// Number of ranks of the job.
    pub ranks: u32,
    /// Time from the start of the job to its end \[s\]: mean over its repetitions, then over the seeds.
    /// Absent for a background job.
    pub makespan_s: Option<f64>,
    /// Time of one repetition with no other job on the fabric \[s\].
    pub alone_s: Option<f64>,
    /// `makespan / alone`, mean over the seeds.
    pub slowdown: Option<f64>,
    /// Sample standard deviation of the slowdown over several seeds.
    pub slowdown_sd: Option<f64>,
}

/// Largest slowdown of any job.
#[report]
pub struct WorstSlowdown {
    /// Mean over the seeds of the largest slowdown of any job.
    pub mean: f64,
    /// Sample standard deviation over several seeds; 0 for one seed.
    pub sd: f64,
    /// Job with the largest mean slowdown.
    pub job: String,
    /// Largest slowdown of each seed.
    #[serde(skip)]
    pub by_seed: Vec<f64>,
}

impl ComparedJob {
    /// Summarizes each job over runs of the same jobs.
    pub fn over(runs: &[&[JobReport]]) -> Vec<Self> {
        let Some(first) = runs.first() else { return Vec::new() };
        let of = |(index, job): (usize, &JobReport)| {
            let all = |figure: fn(&JobReport) -> Option<f64>| -> Option<Sample> {
                let figures: Option<Vec<f64>> = runs.iter().map(|jobs| figure(jobs.get(index)?)).collect();
                Sample::of(&figures?)
            };
            let mean = |figure: fn(&JobReport) -> Option<f64>| Some(all(figure)?.mean);
            Self {
                name: job.name.clone(),
                ranks: job.ranks,
                makespan_s: mean(|job| job.makespan_s),
                alone_s: mean(|job| job.alone_s),
                slowdown: mean(|job| job.slowdown),
                slowdown_sd: all(|job| job.slowdown).filter(|all| all.count > 1).map(|all| all.sd),
            }
        };
        first.iter().enumerate().map(of).collect()
    }
}

impl WorstSlowdown {
    /// Returns the largest slowdown over the runs; `None` if some run has no slowdown.
    pub fn over(runs: &[&[JobReport]], jobs: &[ComparedJob]) -> Option<Self> {
        let of_run = |jobs: &&[JobReport]| jobs.iter().filter_map(|job| job.slowdown).reduce(f64::max);
        let by_seed: Vec<f64> = runs.iter().map(of_run).collect::<Option<_>>()?;
        let known = jobs.iter().filter_map(|job| Some((job.slowdown?, job)));
        // Among equal jobs, the first.
        let (_, worst) = known.reduce(|worst, job| if job.0 > worst.0 { job } else { worst })?;
        let Sample { mean, sd, .. } = Sample::of(&by_seed)?;
        Some(Self { mean, sd, job: worst.name.clone(), by_seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(slowdowns: &[(&str, Option<f64>)]) -> Vec<JobReport> {
        let job = |&(name, slowdown): &(&str, Option<f64>)| JobReport {
            name: name.to_owned(),
            slowdown,
            alone_s: slowdown.map(|_| 2.0),
            makespan_s: slowdown.map(|slowdown| 2.0 * slowdown),
            ..JobReport::default()
        };
        slowdowns.iter().map(job).collect()
    }

    #[test]
    fn the_worst_of_each_seed_is_more_than_the_mean_of_one_job() {
        // a has 1 and 3, b 2 and 1.5: the worst are 2 and 3, and a has the larger mean.
        let runs = [
            run(&[("a", Some(1.0)), ("b", Some(2.0)), ("c", None)]),
            run(&[("a", Some(3.0)), ("b", Some(1.5)), ("c", None)]),
        ];
        let runs: Vec<&[JobReport]> = runs.iter().map(Vec::as_slice).collect();
        let jobs = ComparedJob::over(&runs);
        let figures =
            |job: &ComparedJob| (job.makespan_s, job.alone_s, job.slowdown, job.slowdown_sd.map(|sd| sd * sd));
        assert_eq!(figures(&jobs[0]), (Some(4.0), Some(2.0), Some(2.0), Some(2.0000000000000004)));
        assert_eq!((jobs[1].slowdown, jobs[2].slowdown, jobs[2].makespan_s), (Some(1.75), None, None));
        let worst = WorstSlowdown::over(&runs, &jobs).unwrap();
        assert_eq!((worst.mean, worst.job.as_str(), worst.by_seed), (2.5, "a", vec![2.0, 3.0]));
        let background = [run(&[("c", None)])];
        let runs: Vec<&[JobReport]> = background.iter().map(Vec::as_slice).collect();
        assert_eq!(WorstSlowdown::over(&runs, &ComparedJob::over(&runs)), None);
        assert!(ComparedJob::over(&[]).is_empty());
    }
}
