//! One run with the times of its messages, and the difference of two runs.

use crate::engine::{Flight, Stop, Watch};
use crate::ids::{Id, RankId};
use crate::pattern::Pattern;
use crate::simulation::PatternWork;
use crate::system::System;
use crate::units::Time;

/// Results of one run.
#[derive(Clone, Debug)]
pub struct Played {
    /// Time at which the last message arrived \[s\].
    pub makespan_s: f64,
    /// Time at which a rank's last message had arrived, averaged over the ranks that send \[s\].
    pub mean_finish_s: f64,
    /// Time that each message was under way, sender by sender \[s\].
    pub times_s: Vec<f32>,
    /// Processor time \[s\].
    pub cpu_s: f64,
}

/// Reason why a run has no results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayError {
    Interrupted,
    Deadlocked,
}

/// Observer of the times of messages.
struct Times {
    /// Number of the first message of each rank.
    first: Vec<usize>,
    under_way_s: Vec<f32>,
    finish: Vec<Time>,
}

impl Times {
    fn new(pattern: &dyn Pattern) -> Self {
        let mut next = 0;
        let first = (0..pattern.ranks())
            .map(|rank| {
                let first = next;
                next += pattern.sends(RankId(rank)) as usize;
                first
            })
            .collect();
        let ranks = pattern.ranks() as usize;
        Self { first, under_way_s: vec![0.0; next], finish: vec![Time::ZERO; ranks] }
    }
}

impl Times {
    fn delivered(&mut self, now: Time, flight: &Flight) {
        let id = flight.send.id;
        let at = self.first[id.src.index()] + id.index as usize;
        self.under_way_s[at] = (now - flight.start).seconds() as f32;
        let finish = &mut self.finish[id.src.index()];
        *finish = now.max(*finish);
    }
}

/// Plays a pattern; `clock` returns the processor time of this thread \[s\].
pub fn play(
    work: &PatternWork,
    system: &System,
    watch: &dyn Watch,
    clock: &(dyn Fn() -> f64 + Sync),
) -> Result<Played, PlayError> {
    let mut times = Times::new(&*work.pattern);
    let begun = clock();
    let outcome = work
        .watched(system, &mut |now, flight| times.delivered(now, flight), Some(watch))
        .ok_or(PlayError::Interrupted)?;
    let cpu_s = clock() - begun;
    match outcome.stop {
        Stop::Done => {}
        Stop::Interrupted => return Err(PlayError::Interrupted),
        Stop::Deadlock(_) | Stop::Gridlock(_) => return Err(PlayError::Deadlocked),
    }
    let ends = times.first.iter().copied().skip(1).chain([times.under_way_s.len()]);
    let sends = times.first.iter().zip(ends).map(|(first, end)| end > *first);
    let (mut sum_s, mut count) = (0.0, 0_u32);
    for (finish, _) in times.finish.iter().zip(sends).filter(|(_, sends)| *sends) {
        sum_s += finish.seconds();
        count += 1;
    }
    Ok(Played {
        makespan_s: outcome.makespan.seconds(),
        mean_finish_s: sum_s / f64::from(count.max(1)),
        times_s: times.under_way_s,
        cpu_s,
    })
}

/// Difference of one run of a model from one of its reference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// Makespans of model and reference \[s\].
    pub makespans_s: [f64; 2],
    /// Mean finish of model and reference \[s\].
    pub finishes_s: [f64; 2],
    /// Quantiles of the relative errors of the times of messages: 5 %, 50 % and 95 %.
    pub quantiles: [f64; 3],
    /// Processor time of model and reference \[s\].
    pub cpu_s: [f64; 2],
}

impl Difference {
    /// Computes the difference of a model from its reference; both have the same messages.
    pub fn of(model: &Played, reference: &Played) -> Self {
        let pairs = model.times_s.iter().zip(&reference.times_s);
        let mut errors: Vec<f32> = pairs
            .filter(|(model, reference)| **reference > 0.0 || model == reference)
            .map(|(model, reference)| if model == reference { 0.0 } else { model / reference - 1.0 })
            .collect();
        Self {
            makespans_s: [model.makespan_s, reference.makespan_s],
            finishes_s: [model.mean_finish_s, reference.mean_finish_s],
            quantiles: [0.05, 0.5, 0.95].map(|part| quantile(&mut errors, part)),
            cpu_s: [model.cpu_s, reference.cpu_s],
        }
    }
}

/// Returns the quantile of this part (nearest rank: the `ceil(part n)`-th smallest value); 0 if there are no
/// values.
fn quantile(values: &mut [f32], part: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let rank = (part * values.len() as f64).ceil() as usize;
    let (_, value, _) = values.select_nth_unstable_by(rank.clamp(1, values.len()) - 1, f32::total_cmp);
    f64::from(*value)
}

/// Returns `model / reference - 1`; 0 if both are 0.
pub fn error(model: f64, reference: f64) -> f64 {
    if model == reference { 0.0 } else { model / reference - 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_value_that_so_many_do_not_exceed() {
        let mut values: Vec<f32> = (1..=100).rev().map(|value| value as f32).collect();
        assert_eq!([0.05, 0.5, 0.95, 1.0].map(|part| quantile(&mut values, part)), [5.0, 50.0, 95.0, 100.0]);
        assert_eq!((quantile(&mut [7.0], 0.05), quantile(&mut [], 0.5)), (7.0, 0.0));
    }

    #[test]
    fn messages_that_take_no_time_in_both_are_right_and_those_only_in_the_reference_are_left_out() {
        let played =
            |times: &[f32]| Played { makespan_s: 2.0, mean_finish_s: 1.0, times_s: times.to_vec(), cpu_s: 1.0 };
        let difference = Difference::of(&played(&[0.0, 1.0, 3.0]), &played(&[0.0, 0.0, 2.0]));
        assert_eq!(difference.quantiles, [0.0, 0.0, 0.5]);
        assert_eq!((error(0.0, 0.0), error(3.0, 2.0), error(1.0, 2.0)), (0.0, 0.5, -0.5));
    }
}
