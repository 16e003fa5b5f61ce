//! One run over several seeds: which, and the makespans of those that the report is not of.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use clap::Args;
use rayon::prelude::*;

use super::progress::RunsMonitor;
use super::{Failure, Voice};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::report::SeedStatistics;
use hayase::sweep::SweepProgress;

/// How many seeds there are.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct SeedsArgs {
    /// Run with so many seeds, from --seed on, and report how the makespan spreads.
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
}

/// The makespans over the seeds, the first of which has been run and took `first_s` with so many messages; and whether
/// all of them are there. `makespan` runs it with another seed \[s\]; nothing where that did not come to its end.
pub fn over(
    seeds: &[u64],
    depends_on_seed: bool,
    makespan: impl Fn(u64) -> Result<Option<f64>, Invalid> + Sync,
    (first_s, messages): (f64, u64),
    stop: &AtomicBool,
    voice: Voice,
) -> Result<(SeedStatistics, bool), Failure> {
    let rest = &seeds[1..];
    if !depends_on_seed {
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
            let makespan = makespan(seed)?;
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

/// Seeds of one run or comparison at most: more are several runs.
const MOST_SEEDS: u64 = 1 << 20;

/// So many seeds from the first on.
pub fn seeds(first: u64, count: Option<NonZeroU32>) -> Result<Vec<u64>, Failure> {
    let count = u64::from(count.map_or(1, NonZeroU32::get));
    if count > MOST_SEEDS {
        return Err(Diagnostic::new("too-large", format!("--seeds {count}: at most {MOST_SEEDS} seeds at once")).into());
    }
    // TOML has no larger integers.
    match first.checked_add(count - 1).filter(|last| i64::try_from(*last).is_ok()) {
        Some(last) => Ok((first..=last).collect()),
        None => Err(Diagnostic::new("wrong-value", format!("there are no {count} seeds from {first} on"))
            .help("the largest seed is 9223372036854775807")
            .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_each_other_as_far_as_there_are_any() {
        assert_eq!(seeds(3, NonZeroU32::new(3)).unwrap(), [3, 4, 5]);
        assert_eq!(seeds(7, None).unwrap(), [7]);
        assert!(seeds(i64::MAX as u64, NonZeroU32::new(2)).is_err());
        assert!(seeds(u64::MAX, NonZeroU32::new(2)).is_err());
    }
}
