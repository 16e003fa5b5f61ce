//! Answers by estimate: a beginning of a pattern is played, and the makespan of all of it worked out from that, with a
//! 95 % interval (`docs/models.md`, 5.3).
//!
//! What has to hold: ranks send the same number of messages of one size, none for what another rank has sent; so the
//! time a step settles, but for chance. What does not go so is run in full, and said to be.

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

pub(super) use alike::Ground;
pub(super) use forecast::Forecast;
use forecast::Whole;
pub(super) use pilot::Pilot;

/// How sure an interval is to hold the makespan.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Seconds in a picosecond.
const SECONDS: f64 = 1e-12;

/// What keeps the makespan of this pattern from being estimated, in words.
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

/// What has to be known of a pattern whose ranks send equally many messages.
pub(super) fn whole(pattern: &dyn Pattern) -> Whole {
    let mut once = Vec::new();
    if let Some(lockstep) = pattern.lockstep() {
        (lockstep.destinations)(lockstep.steps / 2, &mut once);
        once.sort_unstable();
    }
    let meet = !once.is_empty() && once.windows(2).all(|pair| pair[0] != pair[1]);
    Whole { ranks: pattern.ranks(), messages: pattern.sends(RankId(0)), meet }
}

/// What a report says of a forecast that was made of so many of all messages of a rank, where this error was `asked`
/// for.
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

/// What becomes of an estimate of work that is simulated in full, whatever is wanted.
pub(super) fn not_of(system: &System, what: &str) -> Option<Estimated> {
    system.estimate().map(|_| Estimated::Full(format!("the ends of {what} are not estimated")))
}
