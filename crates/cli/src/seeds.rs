//! One run over several seeds: the makespans of those that the report is not of.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::progress::RunsMonitor;
use super::{Failure, Voice};
use hayase::diagnostic::Invalid;
use hayase::report::SeedStatistics;
use hayase::sweep::SweepProgress;

/// What runs with a seed.
pub trait Seeded: Sync {
    /// Whether another seed can give another result.
    fn depends_on_seed(&self) -> bool;

    /// The makespan with this seed \[s\]; nothing where the run did not come to its end.
    fn makespan(&self, seed: u64, stop: &AtomicBool) -> Result<Option<f64>, Invalid>;
}

/// The makespans over the seeds, the first of which has been run and took `first_s` with so many messages; and whether
/// all of them are there.
pub fn over(
    run: &impl Seeded,
    seeds: &[u64],
    (first_s, messages): (f64, u64),
    stop: &AtomicBool,
    voice: Voice,
) -> Result<(SeedStatistics, bool), Failure> {
    let rest = &seeds[1..];
    if !run.depends_on_seed() {
        voice.hint("nothing in this scenario is random: every seed gives the same");
        return Ok((SeedStatistics::new(seeds.to_vec(), vec![first_s; seeds.len()]), true));
    }
    let monitor = RunsMonitor::new(voice.show);
    let done = AtomicUsize::new(0);
    let runs: Vec<Result<Option<f64>, Invalid>> = rest
        .par_iter()
        .with_max_len(1)
        .map(|&seed| {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let makespan = run.makespan(seed, stop)?;
            let runs = done.fetch_add(1, Ordering::Relaxed) + 1;
            monitor.tell(SweepProgress {
                runs,
                total_runs: rest.len(),
                messages: runs as u64 * messages,
                total_messages: rest.len() as u64 * messages,
            });
            Ok(makespan)
        })
        .collect();
    let mut complete = (vec![seeds[0]], vec![first_s]);
    for (seed, run) in rest.iter().zip(runs) {
        if let Some(makespan) = run? {
            complete.0.push(*seed);
            complete.1.push(makespan);
        }
    }
    let missing = seeds.len() - complete.0.len();
    Ok((SeedStatistics { missing, ..SeedStatistics::new(complete.0, complete.1) }, missing == 0))
}
