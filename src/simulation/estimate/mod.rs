//! Makespans by estimate: a beginning of a pattern is played, and the makespan of the whole pattern is
//! extrapolated with a 95 % interval (`docs/concepts/estimates.md`).
//!
//! All ranks must send the same number of messages of one size, and no message may wait for another rank's
//! message. Then the time of a step settles, apart from chance. Other work is run in full, and the report
//! says so.

mod alike;
mod forecast;
mod pilot;
mod series;
#[cfg(test)]
mod tests;

use crate::ids::RankId;
use crate::pattern::{Injection, Pattern};
use crate::report::{Estimate, Estimated};
use crate::system::System;

pub(super) use alike::Comparison;
pub(super) use forecast::Forecast;
use forecast::PatternSize;
pub(super) use pilot::Pilot;

/// Probability that an interval contains the makespan.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Seconds in a picosecond.
const SECONDS: f64 = 1e-12;

/// Returns the reason why the makespan of this pattern cannot be estimated, if there is one.
pub(super) fn obstacle(pattern: &dyn Pattern, injection: Injection, system: &System) -> Option<&'static str> {
    let changes = system.network().is_some_and(|network| network.faults_concern_runs());
    match injection {
        Injection::All => return Some("all messages are under way at once, which never settles"),
        Injection::Barrier => return Some("a barrier ends each step, and steps are counted one by one"),
        Injection::Queue | Injection::SendRecv | Injection::Left | Injection::Window(_) => {}
    }
    if pattern.delays() || !system.noise().is_empty() {
        Some("ranks compute, or are slow, for times of their own")
    } else if changes {
        Some("links fail or change while it runs")
    } else if !pattern.is_steady() {
        Some("its messages differ from step to step, or wait for each other")
    } else {
        None
    }
}

/// Returns the facts that a forecast needs about a pattern whose ranks all send the same number of messages.
pub(super) fn whole(pattern: &dyn Pattern) -> PatternSize {
    let mut once = Vec::new();
    if let Some(lockstep) = pattern.lockstep() {
        (lockstep.destinations)(lockstep.steps / 2, &mut once);
        once.sort_unstable();
    }
    let meet = !once.is_empty() && once.windows(2).all(|pair| pair[0] != pair[1]);
    PatternSize { ranks: pattern.ranks(), messages: pattern.sends(RankId(0)), meet }
}

/// Converts a forecast for a report. It was made from `played` of `of` messages per rank, at a target
/// precision of `asked`.
pub(super) fn reported(forecast: Forecast, played: u32, of: u32, asked: f64) -> Estimate {
    let Forecast { makespan, half } = forecast;
    Estimate {
        makespan_s: makespan * SECONDS,
        low_s: (makespan - half).max(0.0) * SECONDS,
        high_s: (makespan + half) * SECONDS,
        confidence: CONFIDENCE,
        simulated_part: f64::from(played) / f64::from(of.max(1)),
        asked,
    }
}

/// Returns the note that this kind of work is simulated in full, if an estimate was asked for.
pub(super) fn not_estimated(system: &System, what: &str) -> Option<Estimated> {
    system.estimate().map(|_| Estimated::Full(format!("the ends of {what} are not estimated")))
}
