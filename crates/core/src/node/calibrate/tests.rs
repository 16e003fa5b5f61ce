//! Published parameters are recovered from their predictions, and unknown parameters are reported.

use super::*;
use crate::rng::Stream;

/// The published parameters of Myrinet \[ps, ps/B\], and its thresholds.
const MYRINET: [f64; COUNT] = [850e3, 6730e3, 5020.0, 4720.0, 15170.0, 4800.0, 3860.0, 40.0];
const THRESHOLDS: Setting = Setting { short: 8191, sync: 16_383 };
/// Work that hides every message \[s\].
const LONG: f64 = 5e-4;

/// Returns lengths up to 64 KB, some right at the thresholds.
fn lengths() -> Vec<u64> {
    let mut lengths: Vec<u64> = (0..=64).map(|i| i * 1024).collect();
    lengths.extend([1, 100, 512, 8191, 16_383, 16_384]);
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

fn sample(call: Measured, bytes: u64, work_s: f64, factor: f64) -> Sample {
    let mut sample = Sample { call, bytes, work: Time::from_seconds(work_s), time: Time::ZERO };
    sample.time = Time::from_ps(model::time(&THRESHOLDS, &sample, &MYRINET) * factor);
    sample
}

/// Returns measurements, each repeated `repeat` times, with the noise that `noise` gives as a factor.
fn measurements(repeat: u32, mut noise: impl FnMut() -> f64) -> Vec<Sample> {
    let mut samples = Vec::new();
    for _ in 0..repeat {
        for bytes in lengths() {
            samples.push(sample(Measured::RoundTrip, bytes, 0.0, noise()));
            samples.push(sample(Measured::RoundTrip, bytes, LONG, noise()));
            if bytes <= THRESHOLDS.sync {
                samples.push(sample(Measured::Send, bytes, 0.0, noise()));
            }
        }
    }
    samples
}

/// Returns an approximately normal number with this standard deviation: the sum of twelve uniform numbers.
fn normal(stream: &mut Stream, deviation: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| stream.unit()).sum();
    1.0 + deviation * (sum - 6.0)
}

/// Checks the published intercepts and slopes of the round trips \[ns, ns/B\].
#[test]
fn round_trips_have_the_published_slopes_and_intercepts() {
    let ns = |bytes, work_s: f64| sample(Measured::RoundTrip, bytes, work_s, 1.0).time.ps() / 1e3 - work_s * 1e9;
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * b.abs(), "{a} instead of {b}");
    close(ns(0, 0.0), 28_620.0);
    close(ns(0, LONG), 13_460.0);
    close(ns(8000, LONG) - ns(7000, LONG), 9740.0);
    close(ns(8000, 0.0) - ns(7000, 0.0), 49_820.0);
    close(ns(16_000, 0.0) - ns(15_000, 0.0), 19_560.0);
    close(ns(18_000, 0.0) - ns(17_000, 0.0), 17_400.0);
    close(ns(18_000, LONG) - ns(17_000, LONG), 13_500.0);
    close(sample(Measured::Send, 16_383, 0.0, 1.0).time.ps() / 1e3, 88_972.66);
}

#[test]
fn exact_measurements_give_the_published_parameters_exactly() {
    let found = calibrate(&measurements(1, || 1.0), &Options::default()).unwrap();
    for (parameter, published) in found.parameters.iter().zip(MYRINET) {
        let value = parameter.value.unwrap() * 1e3;
        assert!((value - published).abs() <= 1e-6 * published.max(1000.0), "{parameter:?}");
    }
    let threshold = |bytes, below| Some(Threshold { bytes, below: Some(below) });
    assert_eq!(found.s, threshold(8191, 8192));
    assert_eq!(found.sync, threshold(16_383, 16_384));
    assert!(found.largest_residual < 1e-9 && found.sums.is_empty() && found.advice().is_empty());
}

/// Adds 2 % of noise to every measurement, with five repetitions. Every parameter is within its own interval,
/// widened by a half because it may be off once in twenty. Those that round trips show well are within a few
/// per cent.
#[test]
fn two_per_cent_of_noise_leave_the_published_parameters_recognisable() {
    for seed in 0..6 {
        let mut stream = Stream::new(seed, "calibrate");
        let found = calibrate(&measurements(5, || normal(&mut stream, 0.02)), &Options::default()).unwrap();
        for (parameter, published) in found.parameters.iter().zip(MYRINET) {
            let (value, error) = (parameter.value.unwrap() * 1e3, parameter.error.unwrap() * 1e3);
            assert!(
                (value - published).abs() <= 1.8 * error.max(1.0),
                "{parameter:?}, published {published}, seed {seed}"
            );
            let most = match parameter.name.as_str() {
                "o" | "Oss" => 0.02,
                "Gs" => 0.04,
                "Osl" | "Ors" | "Orl" => 0.2,
                _ => f64::INFINITY,
            };
            assert!((value / published - 1.0).abs() < most, "{parameter:?}, published {published}, seed {seed}");
        }
        assert_eq!(found.sync.unwrap().bytes, 16_383, "seed {seed}");
        let short = found.s.unwrap();
        assert!((7000..10_000).contains(&short.bytes), "seed {seed}: {short:?}");
        assert!((0.002..0.02).contains(&found.median_residual), "{}", found.median_residual);
    }
}

#[test]
fn a_tenth_of_the_measurements_far_off_do_not_matter() {
    let mut stream = Stream::new(3, "outliers");
    let noisy = || {
        let disturbed = stream.unit() < 0.1;
        if disturbed { 1.0 + 3.0 * stream.unit() } else { normal(&mut stream, 0.005) }
    };
    let options = Options { short: Some(Bytes(8191)), sync: Some(Bytes(16_383)), percentile: 50.0 };
    let found = calibrate(&measurements(1, noisy), &options).unwrap();
    for (i, most) in [(1, 0.02), (2, 0.02), (4, 0.05)] {
        let value = found.parameters[i].value.unwrap() * 1e3;
        assert!((value / MYRINET[i] - 1.0).abs() < most, "{:?}", found.parameters[i]);
    }
}

#[test]
fn round_trips_alone_tell_only_the_sum_of_the_overheads() {
    let samples: Vec<Sample> =
        measurements(1, || 1.0).into_iter().filter(|sample| sample.call == Measured::RoundTrip).collect();
    let found = calibrate(&samples, &Options::default()).unwrap();
    assert_eq!(found.missing(), ["Oss", "Ors"]);
    assert_eq!(found.sums.len(), 3);
    assert_eq!(found.sums[0].name, "Oss + Ors");
    assert!((found.sums[0].value.unwrap() - 9.74).abs() < 1e-6);
    assert!(found.machine("x").is_none());
    assert!(found.advice()[0].contains("blocking send"));
}

#[test]
fn without_work_latency_and_overhead_cannot_be_told_apart() {
    let samples: Vec<Sample> = measurements(1, || 1.0)
        .into_iter()
        .filter(|sample| sample.call == Measured::RoundTrip && sample.work == Time::ZERO)
        .collect();
    let options = Options { short: Some(Bytes(8191)), sync: Some(Bytes(16_383)), percentile: 50.0 };
    let found = calibrate(&samples, &options).unwrap();
    for parameter in &found.parameters {
        assert_eq!(parameter.value, None, "{parameter:?}");
    }
    let sum = |name: &str| found.sums.iter().find(|sum| sum.name == name).and_then(|sum| sum.value).unwrap();
    assert!((sum("Oss + Ors + Gs") - 24.91).abs() < 1e-6);
    assert!((sum("Osl + Orl + Gl") - 8.70).abs() < 1e-6);
    assert!(found.advice().len() >= 3);
}

#[test]
fn without_long_messages_nothing_is_said_of_them() {
    let samples: Vec<Sample> = measurements(1, || 1.0).into_iter().filter(|sample| sample.bytes <= 16_383).collect();
    let found = calibrate(&samples, &Options::default()).unwrap();
    assert_eq!(found.missing(), ["Osl", "Orl", "S"]);
    assert_eq!(found.sync, None);
    assert!((found.parameters[7].value.unwrap() - 0.04).abs() < 1e-6);
}

#[test]
fn too_little_is_an_error_and_not_a_guess() {
    assert!(calibrate(&[], &Options::default()).is_err());
    let same = [sample(Measured::RoundTrip, 8, 0.0, 1.0); 10];
    assert_eq!(calibrate(&same, &Options::default()).unwrap_err().code, "too-few-measurements");
    let options = Options { short: Some(Bytes(9)), sync: Some(Bytes(8)), percentile: 50.0 };
    assert_eq!(calibrate(&measurements(1, || 1.0), &options).unwrap_err().code, "wrong-value");
}

#[test]
fn a_machine_file_holds_what_was_found() {
    let found = calibrate(&measurements(1, || 1.0), &Options::default()).unwrap();
    let text = found.machine("rtt.csv").unwrap();
    #[derive(serde::Deserialize)]
    struct File {
        node: crate::node::NodeSpec,
    }
    let file: File = crate::reading::from_toml(&text).unwrap();
    let crate::node::NodeSpec::Loggps(spec) = file.node else { panic!("{text}") };
    assert_eq!((spec.latency.ps(), spec.o.ps(), *spec.sync), (850e3, 6730e3, Bytes(16_383)));
    assert_eq!(spec.s.as_deref(), Some(&Bytes(8191)));
    assert_eq!(spec.gs.ps(), 15170.0);
}

#[test]
fn mistakes_in_a_table_are_found_where_they_are() {
    let text = "bytes,work,time,call\n0,0 s,28.62 us,\n8,0,0,send\n16,1 ms,1 us,\n24,x,5 us,ping\n";
    let mistakes = read(crate::reading::Input::from_bytes("rtt.csv", text.into())).unwrap_err();
    let sources = crate::diagnostic::Sources::default();
    let places: Vec<_> = mistakes.iter().map(|m| m.place(&sources).map(|place| (place.line, place.column))).collect();
    assert_eq!(places, [Some((3, 5)), Some((4, 9)), Some((5, 4)), Some((5, 11))], "{mistakes:?}");
}

/// Returns trains of messages with the intervals that this g and the published parameters give.
fn trains(g: f64, repeat: u32, mut noise: impl FnMut() -> f64) -> Vec<Sample> {
    let mut samples = measurements(repeat, || 1.0);
    for _ in 0..repeat {
        for bytes in [0, 1, 100, 512, 1024, 8191] {
            let time = g.max(model::interval_without_g(&THRESHOLDS, bytes, &MYRINET)) * noise();
            let call = Measured::Interval;
            samples.push(Sample { call, bytes, work: Time::ZERO, time: Time::from_ps(time) });
        }
    }
    samples
}

#[test]
fn g_is_found_where_messages_follow_each_other_faster_and_is_not_identifiable_where_they_do_not() {
    // The thresholds are given, because this test is not about them.
    let options = Options { short: Some(Bytes(8191)), sync: Some(Bytes(16_383)), ..Options::default() };
    // 10 us: more than a message of up to 512 bytes takes anywhere, less than one of 1,024 takes on the network.
    let found = calibrate(&trains(10_000e3, 1, || 1.0), &options).unwrap();
    assert!((found.g.value.unwrap() - 10_000.0).abs() < 1e-6 && found.g_at_most.is_none(), "{:?}", found.g);
    assert!(found.machine("x").unwrap().contains("\ng = \"10000.0 ns\""));
    let mut stream = Stream::new(1, "trains");
    let found = calibrate(&trains(10_000e3, 20, || normal(&mut stream, 0.02)), &options).unwrap();
    let (value, error) = (found.g.value.unwrap(), found.g.error.unwrap());
    assert!((value - 10_000.0).abs() < 1.5 * error && error < 100.0, "{value} +- {error}");
    // 5 us: less than o, which every message takes at either end.
    let found = calibrate(&trains(5_000e3, 1, || 1.0), &options).unwrap();
    assert_eq!((found.g.value, found.g_at_most.map(f64::round)), (None, Some(6730.0)));
    assert!(!found.machine("x").unwrap().contains("\ng = "));
    // Without trains nothing is known about g; with them, nothing else changes.
    let without = calibrate(&measurements(1, || 1.0), &options).unwrap();
    assert_eq!((without.g.value, without.g_at_most), (None, None));
    assert_eq!(without.parameters, found.parameters);
    // Without sends only the sum of Oss and Ors is known, but short messages still show g.
    let no_sends: Vec<Sample> =
        trains(10_000e3, 1, || 1.0).into_iter().filter(|sample| sample.call != Measured::Send).collect();
    assert!((calibrate(&no_sends, &options).unwrap().g.value.unwrap() - 10_000.0).abs() < 1e-6);
}

/// A setting that fits most measurements exactly sees the rest as outliers. On its own scale they would cost
/// it nothing.
#[test]
fn a_threshold_is_not_better_for_the_outliers_it_makes() {
    let mut samples = Vec::new();
    for step in 0..40 {
        let bytes = step * 1000;
        samples.push(sample(Measured::RoundTrip, bytes, 0.0, 1.0));
        samples.push(sample(Measured::RoundTrip, bytes, 2e-3, 1.0));
        if bytes <= THRESHOLDS.sync {
            samples.push(sample(Measured::Send, bytes, 0.0, 1.0));
        }
    }
    let found = calibrate(&samples, &Options::default()).unwrap();
    assert_eq!(found.sync, Some(Threshold { bytes: 16_000, below: Some(17_000) }));
    // s is between 8,000 and 9,000, where no length was measured, so lengths on one side are slightly off.
    assert!(matches!(found.s, Some(Threshold { bytes: 8000 | 9000, .. })), "{:?}", found.s);
    assert!(found.largest_residual < 0.02, "{}", found.largest_residual);
}

/// Sends without a receive tell S where times do not: here a message above S takes as long as if it were
/// eager.
#[test]
fn what_is_told_of_s_needs_no_jump_in_the_times() {
    let told = |call, bytes| Sample { call, bytes, work: Time::ZERO, time: Time::ZERO };
    let all_eager = Setting { short: 8191, sync: u64::MAX };
    let mut samples = Vec::new();
    for bytes in lengths() {
        for (call, work) in [(Measured::RoundTrip, 0.0), (Measured::RoundTrip, LONG), (Measured::Send, 0.0)] {
            let mut sample = sample(call, bytes, work, 1.0);
            sample.time = Time::from_ps(model::time(&all_eager, &sample, &MYRINET));
            samples.push(sample);
        }
    }
    let sync = |samples: &[Sample]| calibrate(samples, &Options::default()).unwrap().sync;
    assert_eq!(sync(&samples), None, "nothing shows it");
    let with = |more: &[(Measured, u64)]| -> Vec<Sample> {
        samples.iter().copied().chain(more.iter().map(|&(call, bytes)| told(call, bytes))).collect()
    };
    let exact = with(&[(Measured::Eager, 12_000), (Measured::Rendezvous, 12_001), (Measured::Eager, 3)]);
    assert_eq!(sync(&exact), Some(Threshold { bytes: 12_000, below: Some(12_001) }));
    // If S is not measured to the byte, it is a length in between.
    let between = sync(&with(&[(Measured::Eager, 12_000), (Measured::Rendezvous, 20_000)])).unwrap();
    assert!((12_000..20_000).contains(&between.bytes), "{between:?}");
    assert_eq!(sync(&with(&[(Measured::Eager, 1 << 20)])), None);
    let wrong = calibrate(&with(&[(Measured::Eager, 500), (Measured::Rendezvous, 500)]), &Options::default());
    assert_eq!(wrong.unwrap_err().code, "wrong-value");
    // An option overrides the measurements.
    let options = Options { sync: Some(Bytes(16_383)), ..Options::default() };
    assert_eq!(calibrate(&exact, &options).unwrap().sync.map(|sync| sync.bytes), Some(16_383));
}

#[test]
fn what_is_told_of_s_has_no_time() {
    let text = "bytes,work,time,call\n4040,,,eager\n4041,,,rendezvous\n8,0,,send\n";
    let mistakes = read(crate::reading::Input::from_bytes("rtt.csv", text.into())).unwrap_err();
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    let text = "bytes,work,time,call\n4040,,,eager\n4041,,,rendezvous\n";
    let read = read(crate::reading::Input::from_bytes("rtt.csv", text.into())).unwrap();
    assert_eq!(
        read.iter().map(|sample| (sample.call, sample.bytes)).collect::<Vec<_>>(),
        [(Measured::Eager, 4040), (Measured::Rendezvous, 4041)]
    );
}
