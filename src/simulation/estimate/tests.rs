//! Forecasts of series whose end is known.

use super::forecast::{End, Fit, Forecast, PARTS, PatternSize, Sample};
use crate::rng::Mix;

/// Simulates independent ranks whose steps take 0.5 to 1.5 units. Returns the forecast for `messages` steps
/// from a beginning of `played` steps, and the true end.
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
            let of_part = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
            let parts = std::array::from_fn(|i| of_part(&done[i * done.len() / PARTS..(i + 1) * done.len() / PARTS]));
            samples.push(Sample { time, progress, variance: squares / f64::from(ranks), parts });
        }
    }
    let last = |count: u32| (0..ranks).filter_map(|rank| ends(rank, count).last()).collect::<Vec<f64>>();
    let known = Fit::of(&samples, PatternSize { ranks, messages, meet: false }).unwrap();
    let all = last(messages).into_iter().fold(0.0, f64::max);
    (known.forecast(End::of(played, last(played))).unwrap(), all)
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
    // At 95 %, at least 88 of 100 (binomial, p < 0.01).
    assert!(held >= 88, "{held} of 100");
    // The spread is 0.29 sqrt(1200) = 10 steps of 1,200; the interval is not much wider than this uncertainty.
    assert!(widths < 0.03, "{widths}");
}

#[test]
fn steps_that_are_all_the_same_are_known_to_one_of_them() {
    let sample = |i: u32| Sample {
        time: 3.0 * f64::from(i),
        progress: f64::from(i),
        variance: 0.0,
        parts: [f64::from(i); PARTS],
    };
    let samples: Vec<Sample> = (1..=40).map(sample).collect();
    let known = Fit::of(&samples, PatternSize { ranks: 16, messages: 1000, meet: true }).unwrap();
    assert_eq!(known.forecast(End::of(40, vec![120.0; 16])), Some(Forecast { makespan: 3000.0, half: 3.0 }));
}

/// Forecasts 6,400 messages from 400 samples with steps of 1, this variance over ranks, and an end of 20
/// after the 400.
fn forecast(variance: impl Fn(f64) -> f64) -> Forecast {
    let sample = |k: f64| Sample { time: k, progress: k, variance: variance(k), parts: [k; PARTS] };
    let samples: Vec<Sample> = (1..=400).map(|i| sample(f64::from(i))).collect();
    let known = Fit::of(&samples, PatternSize { ranks: 1024, messages: 6400, meet: true }).unwrap();
    known.forecast(End { messages: 400, time: 420.0, excess: 2.0, last: 32 }).unwrap()
}

#[test]
fn the_end_grows_as_the_spread_does() {
    let near = |forecast: Forecast, makespan: f64| (forecast.makespan - makespan).abs() < 0.5;
    // After 16 times the steps a random walk is four times as wide, ranks held together are as wide as before, and
    // ranks at speeds of their own sixteen times as wide.
    assert!(near(forecast(|k| 0.25 * k), 6400.0 + 80.0));
    assert!(near(forecast(|_| 25.0), 6400.0 + 20.0));
    assert!(near(forecast(|k| 0.0004 * k * k), 6400.0 + 320.0));
}

#[test]
fn the_end_is_that_of_the_last_ranks_on_average() {
    // 1,024 ranks end at random, exponentially with a mean of 5 after 100. The last ends 5 (1 + 1/2 + ... + 1/1024) = 5
    // * 7.509 after 100 on average.
    let (mut time, mut excess, mut off) = (0.0, 0.0, 0);
    for seed in 0..200 {
        let random = Mix::new(seed, "ends");
        let ends = |other: u64| -> Vec<f64> {
            (0..1024).map(|rank| 100.0 - 5.0 * crate::base::portable::ln(1.0 - random.two_unit(rank, other))).collect()
        };
        let end = End::of(10, ends(0));
        let other = ends(1).into_iter().fold(0.0, f64::max);
        time += end.time / 200.0;
        excess += end.excess / 200.0;
        off += u32::from((other - end.time).abs() > end.reach() * end.excess);
    }
    assert!((time - 137.5_f64).abs() < 1.0 && (excess - 5.0_f64).abs() < 0.2, "{time} {excess}");
    // By chance 5 of 200 end later and hardly any earlier. Measurement errors add some more.
    assert!((1..20).contains(&off), "{off}");
}

#[test]
fn parts_of_the_ranks_that_differ_leave_more_open() {
    // Eighths of the ranks advance at 0.99 to 1.01 of the mean, without any noise in time.
    let half = |off: f64| {
        let part = |i: usize, k: f64| k * (1.0 + off * ((i / (PARTS / 8)) as f64 / 3.5 - 1.0));
        let parts = |k: f64| std::array::from_fn(|i| part(i, k));
        let sample = |k: f64| Sample { time: k, progress: k, variance: 0.25 * k, parts: parts(k) };
        let samples: Vec<Sample> = (1..=400).map(|i| sample(f64::from(i))).collect();
        let known = Fit::of(&samples, PatternSize { ranks: 1024, messages: 40_000, meet: true }).unwrap();
        known.forecast(End { messages: 400, time: 420.0, excess: 0.0, last: 32 }).unwrap().half
    };
    // The deviations -1, -5/7 ... 1 have a variance of 24/49, and their mean one of 3/49: 0.01 sqrt(3/49) t_7 of
    // 39,600.
    let more = (half(0.01) * half(0.01) - half(0.0) * half(0.0)).sqrt();
    assert!((more / (39_600.0 * 0.01 * (3.0_f64 / 49.0).sqrt() * 2.365) - 1.0).abs() < 0.02, "{more}");
}
