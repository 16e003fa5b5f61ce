//! Estimated makespans, compared with those of full runs (`docs/concepts/estimates.md`).

use super::setup::{RunChoice, run};
use super::{Case, CaseError, Context, Outcome};
use hayase::report::{Estimate, Estimated};
use hayase::scenario::Scenario;
use hayase::simulation::PatternWork;
use hayase::system::Target;

/// Confidence of the intervals for the makespan of the full run.
const CONFIDENCE: f64 = 0.95;

/// Probability of a false alarm: a true coverage would give so low a count of intervals only this often.
const CHANCE: f64 = 0.01;

/// Runs that differ in their seeds.
struct Run {
    choice: RunChoice<'static>,
    assignments: Vec<String>,
    /// Requested error.
    asked: &'static str,
    seeds: std::ops::RangeInclusive<u64>,
}

/// Results of one run.
struct RunResult {
    what: String,
    full_s: f64,
    estimate: Option<Estimate>,
    why: String,
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("estimate/coverage", coverage)
            .source("the same runs in full")
            .expect("95 % intervals that hold the makespan of the full run", "1 in 100: fewer of a true 95 %")
            .takes(6, 60),
    ]
}

fn runs(context: &Context<'_>) -> Vec<Run> {
    let rounds = |count: u32| {
        let order = "workload.all-to-all.message-order=\"rounds\"".to_owned();
        vec![format!("workload.all-to-all.messages={count}"), order]
    };
    let drawn = |count: u32| {
        vec!["workload.uniform-random.size=\"20 KB\"".to_owned(), format!("workload.uniform-random.messages={count}")]
    };
    let at_random = |topology, pattern| RunChoice { placement: "random", ..RunChoice::new(topology, pattern) };
    let seeds = 101..=context.choose(104, 108);
    let run = |choice, assignments, asked| Run { choice, assignments, asked, seeds: seeds.clone() };
    let spread = "all-to-all-simple-spread";
    let mut runs = vec![
        run(at_random("torus-4x4", spread), rounds(80), "8%"),
        run(at_random("fat-tree-54", spread), rounds(15), "6%"),
        run(at_random("fat-tree-54", "uniform-random"), drawn(1000), "4%"),
        run(at_random("torus-8x8", "all-to-all-random-order"), rounds(15), "5%"),
        run(RunChoice { sharing: "equal-share", ..at_random("fat-tree-54", spread) }, rounds(15), "6%"),
    ];
    if context.choose(false, true) {
        runs.push(run(at_random("fat-tree-128", "all-to-all-pairwise"), rounds(8), "4%"));
        runs.push(run(at_random("torus-16x16", spread), rounds(3), "4%"));
        runs.push(run(at_random("dragonfly-72", spread), rounds(15), "4%"));
        runs.push(run(at_random("fat-tree-432", spread), rounds(3), "3%"));
        runs.push(run(at_random("fat-tree-1024", spread), rounds(1), "3%"));
        runs.push(run(RunChoice { injection: "window=2", ..at_random("torus-8x8", spread) }, rounds(20), "4%"));
    }
    runs
}

fn coverage(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut scenarios = Vec::new();
    for Run { choice, assignments, asked, seeds } in runs(context) {
        for seed in seeds {
            let choice = RunChoice { seed, ..choice };
            let what = format!(
                "{}, {}, {}, {}, seed {seed}",
                choice.topology, choice.pattern, choice.sharing, choice.injection
            );
            scenarios.push((what, choice.load_with(&assignments)?, Target::parse(asked)?));
        }
    }
    // An estimate plays about a third of the messages.
    context.plan(scenarios.iter().map(|(_, scenario, _)| scenario.work().pattern.messages() * 4 / 3).sum());
    let came = context.run_parts(scenarios, |(what, scenario, asked)| compare_run(context, what, &scenario, asked))?;
    let known: Vec<(&RunResult, Estimate)> = came.iter().filter_map(|came| Some((came, came.estimate?))).collect();
    let holds = |(came, estimate): &&(&RunResult, Estimate)| (estimate.low_s..=estimate.high_s).contains(&came.full_s);
    let held = known.iter().filter(holds).count();
    let mean = |of: &dyn Fn(&Estimate) -> f64| {
        100.0 * known.iter().map(|(_, estimate)| of(estimate)).sum::<f64>() / known.len().max(1) as f64
    };
    let (width, part) = (mean(&Estimate::error), mean(&|estimate| estimate.simulated_part));
    let got = format!("{held} of {}; +- {width:.1} % from {part:.0} % of the messages on average", known.len());
    let missed = known.iter().filter(|one| !holds(one)).map(|(came, estimate)| {
        let (low, high) = (1e3 * estimate.low_s, 1e3 * estimate.high_s);
        format!("{}: {:.4} ms, not in {low:.4} to {high:.4}", came.what, 1e3 * came.full_s)
    });
    let in_full = came.iter().filter(|came| came.estimate.is_none());
    let notes: Vec<String> =
        missed.chain(in_full.map(|came| format!("{}: in full, {}", came.what, came.why))).collect();
    // The check needs enough estimates.
    let enough = 2 * known.len() > came.len();
    Ok(Outcome::check(enough && held >= fewest(known.len()), got).note(notes.join("\n")))
}

/// Runs a scenario in full and by estimate. If no estimate is made, both must have the same makespan.
fn compare_run(
    context: &Context<'_>,
    what: String,
    scenario: &Scenario<PatternWork>,
    asked: Target,
) -> Result<RunResult, CaseError> {
    let system = scenario.system().clone().with_estimate(Some(asked));
    let estimated = Scenario::new(system, scenario.work().clone()).map_err(|mistake| mistake.message)?;
    let (full, part) = (run(context, scenario)?.report.head, run(context, &estimated)?.report.head);
    let full_s = full.makespan_s;
    match part.estimated {
        Some(Estimated::By(estimate)) => Ok(RunResult { what, full_s, estimate: Some(estimate), why: String::new() }),
        Some(Estimated::Full(why)) if part.makespan_s == full_s => Ok(RunResult { what, full_s, estimate: None, why }),
        _ => Err(format!("{what}: {full_s} s in full, and {} s where no estimate is made", part.makespan_s)),
    }
}

/// Returns the fewest of `count` intervals that hold their makespan, except with a probability of 1 in 100,
/// if each does so with 95 %.
fn fewest(count: usize) -> usize {
    // Binomial distribution, from 0 on.
    let mut exactly = (0..count).fold(1.0, |product, _| product * (1.0 - CONFIDENCE));
    let mut so_far = 0.0;
    for held in 0..count {
        so_far += exactly;
        if so_far > CHANCE {
            return held;
        }
        exactly *= (count - held) as f64 / (held + 1) as f64 * CONFIDENCE / (1.0 - CONFIDENCE);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_true_coverage_of_95_percent_falls_below_the_least_number_once_in_a_hundred() {
        // A single interval may miss; tables of the binomial distribution for 20 and 100.
        assert_eq!([fewest(0), fewest(1), fewest(20), fewest(100)], [0, 0, 16, 89]);
    }
}
