//! Round trips: every recorded access is read back at its address and in its place.

use std::collections::BTreeMap;

use hayase_trace::memory::{Intervals, Site, Totals};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// One access: site, address, size. `Close` ends an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Access(u64, u64, u64),
    Close,
}

/// An interval: its number, and its accesses in order: key of the site, address, size.
type Accesses = (u64, Vec<(u64, u64, u64)>);

/// Records and reads back: the intervals with accesses, the totals, the length of the file.
fn there_and_back(steps: &[Step]) -> (Vec<Accesses>, Totals, usize) {
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, &[("program", "test")]).unwrap();
    let mut number = 0;
    for step in steps {
        match *step {
            Step::Access(key, address, size) => {
                // Like the entry functions: the fast path first, for accesses that have only one size.
                let fast = key < site(VARIED, false);
                if !(fast && (recorder.extend(key, address) || recorder.extend_gather(key, address))) {
                    recorder.access(key, address, size);
                }
            }
            Step::Close => {
                recorder.call(number);
                number += 1;
            }
        }
    }
    recorder.finish(3, 4).unwrap();
    drop(recorder);
    let mut intervals = Intervals::new(file.as_slice());
    let mut found = Vec::new();
    while let Some(interval) = intervals.next().unwrap() {
        let mut accesses = BTreeMap::new();
        for run in interval.runs() {
            for index in 0..run.count {
                let (address, position) = run.access(index).unwrap();
                let Site { address: place, write, .. } = intervals.sites()[run.site as usize];
                let before = accesses.insert(position, (key(place + 1, write), address, run.size));
                assert_eq!(before, None, "position {position} of interval {} is taken twice", interval.number);
            }
        }
        assert_eq!(interval.accesses(), accesses.len() as u64);
        assert!(accesses.keys().copied().eq(0..accesses.len() as u64), "a position is missing");
        found.push((interval.number, accesses.into_values().collect()));
    }
    (found, intervals.totals().unwrap(), file.len())
}

/// Returns the steps in the form of the reader's result.
fn expected(steps: &[Step]) -> Vec<Accesses> {
    let mut all = Vec::new();
    for (number, part) in (0..).zip(steps.split(|step| *step == Step::Close)) {
        let accesses: Vec<_> = part
            .iter()
            .filter_map(|step| match *step {
                Step::Access(key, address, size) => Some((key, address, size)),
                Step::Close => None,
            })
            .collect();
        if !accesses.is_empty() {
            all.push((number, accesses));
        }
    }
    all
}

/// First of the sites that access any number of bytes.
const VARIED: u64 = 10_000;

/// First of the sites that access four bytes, up to `VARIED`; those before it access eight.
const FOUR: u64 = 9_000;

fn site(number: u64, write: bool) -> u64 {
    key(0x40_1000 + 5 * number, write)
}

/// Generates a few loops, one after another or nested, some with random addresses, some with accesses of any
/// size.
fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let regular =
        (0..4_u64, 1..5_u64, -20..20_i64, 1..40_u64, any::<bool>()).prop_map(|(at, sites, stride, count, write)| {
            let mut steps = Vec::new();
            for i in 0..count {
                for s in 0..sites {
                    let address = 0x10_0000_u64.wrapping_add_signed(stride * 8 * i as i64) + 64 * s;
                    steps.push(Step::Access(site(at + s, write), address, 8));
                }
            }
            steps
        });
    let random = (0..6_u64, vec((0..6_u64, 0..1000_u64, prop_oneof![4 => Just(8_u64), 1 => 1..20_u64]), 1..60))
        .prop_map(|(at, accesses)| {
            let at = |s: u64, size: u64| site(if size == 8 { at + s } else { VARIED + s % 2 }, false);
            accesses.iter().map(|(s, address, size)| Step::Access(at(*s, *size), *address, *size)).collect()
        });
    let gather = (0..4_u64, vec(0..5000_u64, 1..80)).prop_map(|(at, addresses)| {
        let mut steps = Vec::new();
        for (i, address) in (0_u64..).zip(addresses) {
            steps.push(Step::Access(site(FOUR + at, false), 0x9000 + 4 * i, 4));
            steps.push(Step::Access(site(at + 1, false), 8 * address, 8));
        }
        steps
    });
    let nested = (1..7_u64, 1..7_u64, 1..7_u64, 0..3_u64).prop_map(|(a, b, c, shrink)| {
        let mut steps = Vec::new();
        for i in 0..a {
            for j in 0..b.saturating_sub(shrink * i) {
                steps.push(Step::Access(site(9, true), 0x5000 + 8 * j, 8));
                for k in 0..c {
                    steps.push(Step::Access(site(10, false), 0x8000 + 8 * (i * 100 + j * 10 + k), 8));
                    steps.push(Step::Access(site(11, false), 0xa000 - 16 * k, 8));
                }
            }
        }
        steps
    });
    let anywhere = vec((any::<u64>(), any::<u64>()), 1..20).prop_map(|accesses| {
        accesses.iter().map(|(s, address)| Step::Access(site(s % 3, s % 2 == 0), *address, 8)).collect()
    });
    let part = prop_oneof![
        4 => regular,
        2 => random,
        2 => gather,
        3 => nested,
        1 => anywhere,
        2 => Just(vec![Step::Close]),
    ];
    // The same parts repeat, as in programs.
    (vec(part, 1..8), 1..4_usize).prop_map(|(parts, times)| vec![parts.concat(); times].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_access_comes_back_at_its_address_and_in_its_place(steps in any_steps()) {
        let (found, totals, _) = there_and_back(&steps);
        let expected = expected(&steps);
        prop_assert_eq!(totals.accesses, expected.iter().map(|(_, accesses)| accesses.len() as u64).sum::<u64>());
        prop_assert_eq!((totals.elsewhere, totals.lost), (3, 4));
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_table_of_sites_that_grows_loses_nothing() {
    // More sites than the first table has slots, each in a loop that is open while the table grows.
    let mut steps = Vec::new();
    for round in 0..3 {
        for s in 0..5000 {
            steps.push(Step::Access(site(s, false), 1000 * s + 8 * round, 8));
        }
    }
    assert_eq!(there_and_back(&steps).0, expected(&steps));
}

#[test]
fn a_rectangular_nest_of_loops_is_one_record_for_each_site() {
    let mut steps = Vec::new();
    for i in 0..20 {
        for j in 0..30 {
            for k in 0..40 {
                steps.push(Step::Access(site(0, false), 0x1000 + 8 * (40 * i + k), 8));
                steps.push(Step::Access(site(1, false), 0x9000 + 8 * (30 * k + j), 8));
            }
            steps.push(Step::Access(site(2, true), 0x20000 + 8 * (30 * i + j), 8));
        }
    }
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, &[]).unwrap();
    for step in &steps {
        if let Step::Access(key, address, size) = *step {
            recorder.access(key, address, size);
        }
    }
    recorder.finish(0, 0).unwrap();
    drop(recorder);
    let interval = Intervals::new(file.as_slice()).next().unwrap().unwrap();
    let counts: Vec<u64> = interval.nests.iter().map(|nest| nest.count()).collect();
    assert_eq!((counts, interval.gathers.len()), (vec![24_000, 24_000, 600], 0));
    assert_eq!(interval.nests[0].levels()[0].count, 40);
}

#[test]
fn addresses_without_a_rule_become_gathers_and_repeat_for_nothing() {
    let mut state = 1_u64;
    let mut steps = Vec::new();
    let addresses: Vec<u64> = (0..3000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 40
        })
        .collect();
    let mut once = 0;
    for _ in 0..10 {
        for (i, address) in (0..).zip(&addresses) {
            steps.push(Step::Access(site(0, false), 0x9000 + 4 * i, 4));
            steps.push(Step::Access(site(1, false), 8 * address, 8));
        }
        steps.push(Step::Close);
        if once == 0 {
            once = there_and_back(&steps).2;
        }
    }
    let (found, _, bytes) = there_and_back(&steps);
    assert_eq!(found, expected(&steps));
    assert!(bytes < 2 * once, "{bytes} bytes for ten times what takes {once} once");
}

#[test]
fn the_first_interval_has_the_number_of_the_first_call() {
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, &[]).unwrap();
    for number in [3, 5] {
        recorder.access(site(0, false), 8 * number, 8);
        recorder.call(number);
    }
    recorder.access(site(0, false), 0, 8);
    recorder.finish(0, 0).unwrap();
    drop(recorder);
    let mut intervals = Intervals::new(file.as_slice());
    let mut numbers = Vec::new();
    while let Some(interval) = intervals.next().unwrap() {
        numbers.push(interval.number);
    }
    assert_eq!(numbers, [3, 5, 6]);
}
