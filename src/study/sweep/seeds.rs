//! Runs of one scenario over several seeds.

use super::Control;
use crate::diagnostic::{Diagnostic, Invalid};
use crate::report::{SeedStatistics, Status};
use crate::scenario::Scenario;
use crate::simulation::{RunOptions, Simulated, Summary};
use crate::study::runs::Runs;

/// Largest number of seeds of one run or comparison.
const MAX_SEEDS: u64 = 1 << 20;

/// Returns `count` consecutive seeds from `first` on.
///
/// # Errors
/// More seeds than a run can have, or than exist.
pub fn seeds_from(first: u64, count: u64) -> Result<Vec<u64>, Diagnostic> {
    if count > MAX_SEEDS {
        return Err(Diagnostic::new("too-large", format!("{count} seeds: at most {MAX_SEEDS} seeds at once")));
    }
    // Larger integers do not exist in TOML.
    match first.checked_add(count.saturating_sub(1)).filter(|last| i64::try_from(*last).is_ok()) {
        Some(last) if count > 0 => Ok((first..=last).collect()),
        Some(_) => Err(Diagnostic::new("wrong-value", "at least one seed is needed").help("write 1 or more")),
        None => Err(Diagnostic::new("wrong-value", format!("there are no {count} seeds from {first} on"))
            .help("the largest seed is 9223372036854775807")),
    }
}

/// Computes the makespans over these seeds, on all cores. `first` is the summary of the run with the first
/// seed.
///
/// If nothing is random, all makespans are the same and nothing more is run. Runs that do not complete count
/// as [`missing`](SeedStatistics::missing), except those whose faults leave messages without a route, which
/// count as [`cut_off`](SeedStatistics::cut_off).
///
/// # Errors
/// Scenarios that cannot be built with one of the seeds.
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
        let same = SeedStatistics::new(seeds.to_vec(), vec![first.makespan_s; seeds.len()]);
        return Ok(same.estimated(vec![first.half_s(); seeds.len()]));
    }
    let runs = Runs::new(control, vec![first.messages; rest.len()]);
    let results = runs.each(rest, |&seed, run| {
        let scenario = match scenario.with_seed(seed) {
            Err(invalid) if invalid.is_cut_off() => return Some(Ok(SeedResult::CutOff)),
            Err(invalid) => return Some(Err(invalid)),
            Ok(scenario) => scenario,
        };
        let options = RunOptions { watch: Some(run), room: Some(0), ..RunOptions::default() };
        let run = W::summary(&scenario.run(options));
        match run.status {
            Status::Complete => Some(Ok(SeedResult::Took(run.makespan_s, run.half_s()))),
            Status::Deadlocked if run.is_cut_off() => Some(Ok(SeedResult::CutOff)),
            _ => None,
        }
    });
    let mut complete = (vec![first_seed], vec![first.makespan_s]);
    let mut halves = vec![first.half_s()];
    let (mut missing, mut cut_off) = (0, 0);
    for (seed, result) in rest.iter().zip(results) {
        match result.transpose()? {
            Some(SeedResult::Took(makespan, half)) => {
                halves.push(half);
                complete.0.push(*seed);
                complete.1.push(makespan);
            }
            Some(SeedResult::CutOff) => cut_off += 1,
            None => missing += 1,
        }
    }
    let statistics = SeedStatistics::new(complete.0, complete.1).estimated(halves);
    Ok(SeedStatistics { missing, cut_off, ..statistics })
}

/// Result of a run with another seed.
enum SeedResult {
    /// Makespan \[s\], and half of its interval if it is an estimate.
    Took(f64, f64),
    /// Faults left messages without a route.
    CutOff,
}
