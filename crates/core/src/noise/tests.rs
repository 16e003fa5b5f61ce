//! Ends of work on slow processors, compared with closed forms and with a walk through all stops.

use std::sync::Arc;

use super::*;
use crate::diagnostic::Located;
use crate::ids::RankId;
use crate::units::Time;

fn noise(length: f64, period: Option<f64>, distribution: Distribution, phase: Option<Phase>) -> NoiseSpec {
    NoiseSpec {
        length: Time::from_ps(length).into(),
        period: period.map(|period| Time::from_ps(period).into()),
        distribution,
        phase: phase.map(Located::from),
        ranks: None,
        seed: None,
    }
}

fn straggler(ranks: &str, speed: f64) -> StragglerSpec {
    StragglerSpec {
        ranks: Some(Numbers::parse(ranks).unwrap().into()),
        nodes: None,
        count: None,
        job: None,
        speed: Speed(speed).into(),
        start: None,
        until: None,
    }
}

fn during(ranks: &str, speed: f64, start: f64, until: f64) -> StragglerSpec {
    let time = |ps| Some(Time::from_ps(ps).into());
    StragglerSpec { start: time(start), until: time(until), ..straggler(ranks, speed) }
}

fn slow(noise: Option<&NoiseSpec>, stragglers: &[StragglerSpec], ranks: u32, seed: u64) -> Arc<Slow> {
    let stragglers: Vec<Located<StragglerSpec>> = stragglers.iter().cloned().map(Located::from).collect();
    Arc::new(Slow::new(noise, &stragglers, &NoiseContext { ranks, seed, ..NoiseContext::default() }).unwrap().unwrap())
}

fn all(slow: &Arc<Slow>) -> Processors {
    Processors::new(Arc::clone(slow), 0, slow.ranks(), Time::ZERO, None)
}

fn end(processors: &mut Processors, rank: u32, begin: f64, work: f64) -> f64 {
    let (begin, work) = (Time::from_ps(begin), Time::from_ps(work));
    processors.end(RankId(rank), begin, begin, work, Work::Calculation).ps()
}

#[test]
fn half_the_speed_takes_twice_as_long_and_only_while_it_lasts() {
    let mut one = all(&slow(None, &[straggler("1", 0.5)], 3, 1));
    assert_eq!([end(&mut one, 0, 10.0, 8.0), end(&mut one, 1, 10.0, 8.0)], [18.0, 26.0]);
    // A quarter of the speed from 20 to 40: 10 before, 5 within, and the rest after.
    let mut some = all(&slow(None, &[during("0-1", 0.25, 20.0, 40.0), during("0", 2.0, 50.0, 60.0)], 2, 1));
    assert_eq!(end(&mut some, 1, 10.0, 10.0), 20.0);
    assert_eq!(end(&mut some, 1, 10.0, 12.0), 28.0);
    assert_eq!(end(&mut some, 1, 10.0, 18.0), 43.0);
    // 10 + 5 + 10, then twice as fast for 10.
    assert_eq!(end(&mut some, 0, 10.0, 45.0), 60.0);
    assert_eq!(end(&mut some, 0, 10.0, 46.0), 61.0);
}

#[test]
fn synchronised_stops_of_one_length_divide_time_evenly() {
    let spec = noise(2e5, Some(1e6), Distribution::Fixed, Some(Phase::Synchronised));
    let mut processors = all(&slow(Some(&spec), &[], 1, 1));
    // Each period does 0.8 of work, after a stop of 0.2.
    for (work, expected) in [(8e5, 1e6), (8.5e5, 1.25e6), (8e5 * 1000.0, 1e9), (8e5 * 1e6 + 1e5, 1e12 + 3e5)] {
        let mut processors = processors.clone();
        assert_eq!(end(&mut processors, 0, 0.0, work), expected, "{work}");
    }
    // Work that begins within a stop waits for its end; work that ends where a stop begins is not delayed.
    assert_eq!(end(&mut processors.clone(), 0, 1e6 + 5e4, 3e5), 1.5e6);
    assert_eq!(end(&mut processors.clone(), 0, 1.2e6, 8e5), 2e6);
    // Work of no length is not delayed either.
    assert_eq!(end(&mut processors, 0, 1e6 + 5e4, 0.0), 1e6 + 5e4);
}

/// Returns the same end by walking through all stops from the first on.
fn by_hand(slow: &Slow, rank: u32, begin: f64, work: f64, speed: f64) -> f64 {
    let stops = slow.noise.as_ref().unwrap();
    let period = stops.period.unwrap();
    let (mut now, mut left) = (begin, work);
    let mut over = f64::NEG_INFINITY;
    for k in -1_i64.. {
        let from = (stops.phase(rank) + k as f64 * period).max(over);
        over = from + stops.length(rank, k as u64);
        if from > now {
            if left / speed <= from - now {
                return now + left / speed;
            }
            left -= (from - now) * speed;
            now = from;
        }
        now = now.max(over);
    }
    unreachable!()
}

#[test]
fn work_ends_where_going_through_all_stops_says_so() {
    let mut draws = crate::rng::Stream::new(7, "cases");
    for case in 0..300 {
        let distribution = [Distribution::Fixed, Distribution::Uniform, Distribution::Exponential][case % 3];
        let period = 1e6 * (0.2 + draws.unit());
        let spec = noise(period * 0.95 * draws.unit(), Some(period), distribution, None);
        let speed = [1.0, 0.5][case % 2];
        let slow = slow(Some(&spec), &[straggler("0-2", speed)], 3, case as u64);
        let mut processors = all(&slow);
        let mut now = 0.0;
        for _ in 0..40 {
            let rank = draws.below(3) as u32;
            let work = period * draws.unit() * [0.1, 3.0, 60.0][draws.below(3) as usize];
            // Work may begin later than now.
            let begin = now + period * draws.unit();
            let at = |ps| Time::from_ps(ps);
            let found = processors.end(RankId(rank), at(now), at(begin), at(work), Work::Overhead).ps();
            let expected = by_hand(&slow, rank, begin, work, speed);
            assert!((found / expected - 1.0).abs() < 1e-12, "{spec:?}: {found} {expected}");
            // Later work does not end earlier.
            let more = processors.clone().end(RankId(rank), at(now), at(begin), at(work * 1.001), Work::Overhead).ps();
            assert!(more >= found * (1.0 - 1e-15));
            now += period * 5.0 * draws.unit();
        }
    }
}

#[test]
fn stops_have_the_mean_that_is_asked_for_and_are_those_of_their_rank_and_number() {
    for distribution in [Distribution::Fixed, Distribution::Uniform, Distribution::Exponential] {
        let spec = noise(1e3, None, distribution, None);
        let mut processors = all(&slow(Some(&spec), &[], 2, 3));
        let n = 20_000;
        let stops: Vec<f64> = (0..n).map(|_| end(&mut processors, 1, 0.0, 10.0) - 10.0).collect();
        let mean = stops.iter().sum::<f64>() / f64::from(n);
        // The standard deviation of an exponential distribution is its mean: allows four of those of the mean of n.
        assert!((mean / 1e3 - 1.0).abs() < 4.0 / f64::from(n).sqrt(), "{distribution:?} {mean}");
        // The other rank has no influence on this one.
        let mut other = all(&slow(Some(&spec), &[], 2, 3));
        for _ in 0..7 {
            end(&mut other, 0, 0.0, 10.0);
        }
        assert_eq!(end(&mut other, 1, 0.0, 10.0) - 10.0, stops[0]);
    }
}

#[test]
fn overheads_are_held_up_by_stops_in_time_and_not_by_those_of_calculations() {
    let each = noise(50.0, None, Distribution::Fixed, None);
    let mut processors = all(&slow(Some(&each), &[straggler("0", 0.5)], 1, 1));
    let zero = Time::ZERO;
    let mut of = |work| processors.end(RankId(0), zero, zero, Time::from_ps(10.0), work).ps();
    assert_eq!([of(Work::Overhead), of(Work::Calculation)], [20.0, 70.0]);
}

#[test]
fn what_ranks_lose_is_added_up() {
    let added = Arc::new(Added::new(3));
    let slow = slow(None, &[straggler("2", 0.5)], 3, 1);
    let mut of_job = Processors::new(slow, 1, 2, Time::from_ps(100.0), Some(Arc::clone(&added)));
    for rank in [0, 1, 1] {
        end(&mut of_job, rank, 0.0, 7.0);
    }
    assert_eq!(added.times().iter().map(|time| time.ps()).collect::<Vec<_>>(), [0.0, 0.0, 14.0]);
}

#[test]
fn rounding_is_no_delay() {
    // Rank 0 is slow; rank 1 has a window of normal speed.
    let stragglers = [straggler("0", 0.5), during("1", 1.0, 1e5, 1e9)];
    let slow = slow(None, &stragglers, 3, 1);
    let added = Arc::new(Added::new(3));
    // (A job that starts at a third, so that sums are rounded.)
    let mut processors = Processors::new(slow, 0, 3, Time::from_ps(1e6 / 3.0), Some(Arc::clone(&added)));
    let mut draws = crate::rng::Stream::new(7, "times");
    for rank in 0..3 {
        let mut now = 0.0;
        for _ in 0..1000 {
            now = end(&mut processors, rank, now + 1e6 * draws.unit(), 1e6 * draws.unit());
        }
    }
    let added: Vec<f64> = added.times().iter().map(|time| time.ps()).collect();
    assert!(added[0] > 1e8 && added[1..] == [0.0; 2], "{added:?}");
}

#[test]
fn stragglers_are_found_by_rank_node_job_and_draw() {
    let found = |spec: StragglerSpec| {
        let context =
            NoiseContext { ranks: 6, nodes: Some((9, &[8, 7, 6, 5, 4, 3])), jobs: &[("a", 2), ("b", 4)], seed: 1 };
        let slow = Slow::new(None, &[spec.into()], &context);
        slow.map(|slow| slow.map_or(Vec::new(), |slow| slow.stragglers().to_vec()))
    };
    let base = straggler("0,2-3", 0.5);
    assert_eq!(found(base.clone()).unwrap(), [0, 2, 3]);
    assert_eq!(found(StragglerSpec { job: Some("b".to_owned().into()), ..base.clone() }).unwrap(), [2, 4, 5]);
    let on =
        |nodes: &str| StragglerSpec { ranks: None, nodes: Some(Numbers::parse(nodes).unwrap().into()), ..base.clone() };
    assert_eq!(found(on("0-4")).unwrap(), [4, 5]);
    let drawn = |count: u32| StragglerSpec { ranks: None, count: Some(count.into()), ..base.clone() };
    assert_eq!(found(drawn(4)).unwrap().len(), 4);
    assert_eq!(found(drawn(6)).unwrap(), [0, 1, 2, 3, 4, 5]);
    let codes = |spec| found(spec).unwrap_err().iter().map(|mistake| mistake.code).collect::<Vec<_>>();
    assert_eq!(codes(straggler("0-6", 0.5)), ["unknown-rank"]);
    assert_eq!(codes(straggler("1,0-2", 0.5)), ["two-choices"]);
    assert_eq!(codes(on("9")), ["unknown-rank"]);
    assert_eq!(codes(StragglerSpec { job: Some("c".to_owned().into()), ..base.clone() }), ["unknown-name"]);
    assert_eq!(codes(StragglerSpec { job: Some("a".to_owned().into()), ..base.clone() }), ["unknown-rank"]);
    assert_eq!([codes(drawn(7)), codes(drawn(0))], [["wrong-value"], ["wrong-value"]]);
    assert_eq!(codes(StragglerSpec { count: Some(1.into()), ..base.clone() }), ["two-choices"]);
    assert_eq!(codes(StragglerSpec { ranks: None, ..base }), ["missing-key"]);
    assert_eq!(codes(during("0", 0.5, 5.0, 5.0)), ["wrong-value"]);
}

#[test]
fn a_rank_is_slow_once_at_a_time_and_noise_leaves_it_some_time() {
    let both = |a: StragglerSpec, b: StragglerSpec| {
        Slow::new(None, &[a.into(), b.into()], &NoiseContext { ranks: 4, ..NoiseContext::default() }).map(drop)
    };
    assert!(both(during("0-3", 0.5, 0.0, 10.0), during("3", 0.25, 10.0, 20.0)).is_ok());
    assert_eq!(both(during("0-3", 0.5, 0.0, 11.0), during("3", 0.25, 10.0, 20.0)).unwrap_err()[0].code, "two-choices");
    let code = |spec: &NoiseSpec| spec.check().first().map(|mistake| mistake.code);
    let fixed = |length, period| noise(length, period, Distribution::Fixed, None);
    assert_eq!(code(&fixed(1e6, Some(1e6))), Some("endless"));
    assert_eq!(code(&fixed(0.99e6, Some(1e6))), None);
    assert_eq!(code(&fixed(1.0, Some(99e3))), Some("wrong-value"));
    assert_eq!(code(&noise(1.0, None, Distribution::Fixed, Some(Phase::Random))), Some("unused-option"));
    // A stop of no length has no effect.
    let none = Slow::new(Some(&fixed(0.0, Some(1e6))), &[], &NoiseContext { ranks: 4, ..NoiseContext::default() });
    assert!(none.unwrap().is_none());
}

#[test]
fn numbers_are_read_as_they_are_written() {
    for text in ["3", "0-7", "0-7,12", "5,3"] {
        assert_eq!(Numbers::parse(text).unwrap().to_string(), text);
    }
    for wrong in ["", "a", "-1", "3-", "7-3", "1,,2", "4294967296"] {
        assert!(Numbers::parse(wrong).is_err(), "{wrong}");
    }
    assert_eq!(Speed::parse("50 %").unwrap(), Speed(0.5));
    for wrong in ["0", "-1", "0 %", "nan", "inf", "half", ""] {
        assert!(Speed::parse(wrong).is_err(), "{wrong}");
    }
}
