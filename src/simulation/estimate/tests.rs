//! Forecasts of series whose end is known.

use super::forecast::{End, Forecast, Known, Sample, Whole};
use crate::rng::Mix;

/// Ranks that go on by themselves, by steps that take 0.5 to 1.5 of a step: what a beginning of `played` steps says of
/// `messages`, and when they all end.
fn walk(seed: u64, ranks: u32, played: u32, messages: u32) -> (Forecast, f64) {
    let random = Mix::new(seed, "walk");
    let step = |rank: u32, index: u32| 0.5 + random.two_unit(u64::from(rank), u64::from(index));
    let ends = |rank: u32, count: u32| {
        (0..count).scan(0.0, move |time, index| {
            *time += step(rank, index);
            Some(*time)
        })
    };
    let mut deliveries: Vec<(f64, usize)> =
        (0..ranks).flat_map(|rank| ends(rank, played).map(move |time| (time, rank as usize))).collect();
    deliveries.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = (0..ranks).filter_map(|rank| ends(rank, played).last()).fold(f64::INFINITY, f64::min);
    let mut done = vec![0.0; ranks as usize];
    let mut samples = Vec::new();
    for (i, &(time, rank)) in deliveries.iter().enumerate() {
        done[rank] += 1.0;
        if (i + 1) % ranks as usize == 0 && time < first {
            let progress = (i + 1) as f64 / f64::from(ranks);
            let squares: f64 = done.iter().map(|done| (done - progress) * (done - progress)).sum();
            samples.push(Sample { time, progress, variance: squares / f64::from(ranks) });
        }
    }
    let end = End { messages: played, time: deliveries.last().unwrap().0 };
    let known = Known::of(&samples, Whole { ranks, messages }).unwrap();
    let all = (0..ranks).filter_map(|rank| ends(rank, messages).last()).fold(0.0, f64::max);
    (known.forecast(end), all)
}

#[test]
fn ranks_that_walk_at_random_end_within_the_interval() {
    let mut held = 0;
    let mut widths = 0.0;
    for seed in 0..100 {
        let (Forecast { makespan, half }, all) = walk(seed, 48, 150, 1200);
        held += u32::from((makespan - all).abs() <= half);
        widths += half / makespan / 100.0;
    }
    // Of 100 at 95 % at least 88 (binomial, p < 0.01).
    assert!(held >= 88, "{held} of 100");
    // The spread is 0.29 sqrt(1200) = 10 steps of 1,200; the interval is not much wider than what that leaves open.
    assert!(widths < 0.03, "{widths}");
}

#[test]
fn steps_that_are_all_the_same_are_known_exactly() {
    let samples: Vec<Sample> =
        (1..=40).map(|i| Sample { time: 3.0 * f64::from(i), progress: f64::from(i), variance: 0.0 }).collect();
    let known = Known::of(&samples, Whole { ranks: 16, messages: 1000 }).unwrap();
    assert_eq!(known.forecast(End { messages: 40, time: 120.0 }), Forecast { makespan: 3000.0, half: 0.0 });
}

/// 400 samples of steps of 1 with this variance over ranks, and a tail of 20 behind 400 of 6,400.
fn forecast(variance: impl Fn(f64) -> f64) -> Forecast {
    let sample = |i: u32| Sample { time: f64::from(i), progress: f64::from(i), variance: variance(f64::from(i)) };
    let samples: Vec<Sample> = (1..=400).map(sample).collect();
    let known = Known::of(&samples, Whole { ranks: 1024, messages: 6400 }).unwrap();
    known.forecast(End { messages: 400, time: 420.0 })
}

#[test]
fn the_end_grows_as_the_spread_does() {
    let near = |forecast: Forecast, makespan: f64| (forecast.makespan - makespan).abs() < 0.5;
    // 16 times the steps: a walk is four times as wide at their end, ranks held together as wide as they were, and ranks
    // at speeds of their own sixteen times.
    assert!(near(forecast(|k| 0.25 * k), 6400.0 + 80.0));
    assert!(near(forecast(|_| 25.0), 6400.0 + 20.0));
    assert!(near(forecast(|k| 0.0004 * k * k), 6400.0 + 320.0));
}
