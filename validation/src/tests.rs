use std::collections::BTreeSet;

use super::*;

#[test]
fn every_case_says_what_it_expects_and_from_whom() {
    for case in cases() {
        assert!(!case.source.is_empty() && !case.expected.is_empty() && !case.tolerance.is_empty(), "{}", case.name);
    }
}

#[test]
fn names_of_cases_are_unique_and_grouped() {
    let names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    assert!(names.iter().all(|name| name.split('/').count() == 2));
}

#[test]
fn what_cannot_be_run_fails() {
    let case = Case::new("test/broken", |_| Err("no fabric".into()));
    let outcome = case.run(&Context::default());
    assert_eq!((outcome.verdict, outcome.note.as_str()), (Verdict::Fail, "no fabric"));
}

#[test]
fn the_published_figures_read_and_are_whole() {
    let figures = figures::figures();
    assert_eq!(figures.packet.algorithms.len(), figures.packet.ns3_ms.len());
    assert_eq!(figures.packet.algorithms.len(), figures.packet.booksim_ms.len());
    assert_eq!(figures.lock_step.spread_2d_us.len(), figures.lock_step.pairwise_us.len());
    assert!(!figures.mfs.random_over_regular.is_empty());
}

/// Sums the closed form of 2D spread in lock step: the figures in the file are this sum.
#[test]
fn the_lock_step_figures_are_the_sum_of_the_larger_displacements() {
    for (n, us) in figures::figures().lock_step.spread_2d_us {
        let way = |d: u32| d.min(n - d);
        let messages: u32 = (0..n).flat_map(|x| (0..n).map(move |y| way(x).max(way(y)))).sum();
        assert_eq!(f64::from(messages) * 20.0, us, "{n}");
    }
}

#[test]
fn waiting_for_receivers_appears_above_s_and_goes_when_s_is_raised() {
    for case in loggps::cases() {
        let outcome = case.run(&Context::default());
        println!("{}: {}\n{}", case.name, outcome.got, outcome.note);
        assert_ne!(outcome.verdict, Verdict::Fail, "{}: {}", case.name, outcome.got);
    }
}

#[test]
fn redistribution_is_shown_for_both_injection_rules_from_54_to_432_nodes() {
    for effort in [Effort::Quick, Effort::Full] {
        let sizes = paper::redistribution_sizes(&Context::new(effort));
        for nodes in [54, 128, 250, 432] {
            assert!(sizes.iter().any(|&(n, seeds)| n == nodes && seeds >= 3), "{nodes}: {sizes:?}");
        }
    }
    for injection in ["sendrecv", "queue"] {
        let name = format!("paper/redistribute-against-equal-share-{injection}");
        assert!(cases().iter().any(|case| case.name == name), "{name}");
    }
}

#[test]
fn intervals_of_plans_hold_in_each_family_of_tasks() {
    for case in farm_intervals::cases() {
        let outcome = case.run(&Context::default());
        println!("{}: {}\n{}", case.name, outcome.got, outcome.note);
        assert_eq!(outcome.verdict, Verdict::Pass, "{}: {}", outcome.got, outcome.note);
    }
}
