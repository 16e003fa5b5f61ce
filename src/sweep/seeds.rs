//! One scenario over several seeds.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Control, SweepProgress};
use crate::diagnostic::Invalid;
use crate::report::{SeedStatistics, Status};
use crate::scenario::Scenario;
use crate::simulation::{RunOptions, Simulated, Summary};

/// The makespans over these seeds, on all cores; `first` is what the run with the first of them came to. Where nothing
/// is random all are the same, and nothing more is run. Runs that do not come to their end are
/// [`missing`](SeedStatistics::missing).
///
/// # Errors
/// What cannot be built with one of the seeds.
pub fn over_seeds<W: Simulated>(
    scenario: &Scenario<W>,
    seeds: &[u64],
    first: &Summary,
    control: Control<'_>,
) -> Result<SeedStatistics, Invalid> {
    let Some((&first_seed, rest)) = seeds.split_first() else {
        return Ok(SeedStatistics::new(Vec::new(), Vec::new()));
    };
    if !scenario.depends_on_seed() {
        return Ok(SeedStatistics::new(seeds.to_vec(), vec![first.makespan_s; seeds.len()]));
    }
    let done = AtomicUsize::new(0);
    let runs: Vec<Result<Option<f64>, Invalid>> = rest
        .par_iter()
        .with_max_len(1)
        .map(|&seed| {
            if control.is_cancelled() {
                return Ok(None);
            }
            let options = RunOptions { watch: Some(&control), room: Some(0), ..RunOptions::default() };
            let run = W::summary(&scenario.with_seed(seed)?.run(options));
            let runs = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(progress) = control.progress {
                let total_messages = rest.len() as u64 * first.messages;
                let messages = runs as u64 * first.messages;
                progress(SweepProgress { runs, total_runs: rest.len(), messages, total_messages });
            }
            Ok((run.status == Status::Complete).then_some(run.makespan_s))
        })
        .collect();
    let mut complete = (vec![first_seed], vec![first.makespan_s]);
    for (seed, run) in rest.iter().zip(runs) {
        if let Some(makespan) = run? {
            complete.0.push(*seed);
            complete.1.push(makespan);
        }
    }
    let missing = seeds.len() - complete.0.len();
    Ok(SeedStatistics { missing, ..SeedStatistics::new(complete.0, complete.1) })
}
