//! Runner of scenarios, for the command line, Python and the playground. It completes an answer with further seeds, the
//! cost of slow ranks, the known accuracy and the reason of a deadlock.

use std::sync::Arc;

use serde::Serialize;

use crate::deadlock;
use hayase::diagnostic::Invalid;
use hayase::engine::Watch;
use hayase::program::Program;
use hayase::report::replay::ReplayReport;
use hayase::report::{FarmReport, Head, JobsReport, Meta, Report, Status};
use hayase::scenario::{Farm, Scenario};
use hayase::simulation::{
    JobsOutcome, JobsWork, PatternOutcome, PatternWork, ProgramOutcome, ProgramWork, RunOptions, Simulated,
};
use hayase::sweep::accuracy::known_of;
use hayase::sweep::{Control, cost_of_noise, over_seeds};
use hayase::workload::Blocked;

/// Observer of runs, which shows progress and can stop them.
pub trait Looking {
    /// Runs one simulation.
    fn run<T>(&self, run: impl FnOnce(&dyn Watch) -> T) -> T;

    /// Runs many simulations.
    fn runs<T>(&self, runs: impl FnOnce(Control<'_>) -> T) -> T;

    /// Prints a hint for understanding the answer.
    fn hint(&self, text: &str);
}

/// Report of a run.
pub trait Reported: Serialize + Send + Sync + 'static {
    /// Returns the head of the report.
    fn head(&self) -> &Head;

    /// Returns the head of the report and the costs of the run, for changes.
    fn parts(&mut self) -> (&mut Head, &mut Meta);
}

macro_rules! reported {
    ($($report:ty),*) => {
        $(impl Reported for $report {
            fn head(&self) -> &Head {
                &self.head
            }

            fn parts(&mut self) -> (&mut Head, &mut Meta) {
                (&mut self.head, &mut self.meta)
            }
        })*
    };
}
reported!(Report, ReplayReport, JobsReport, FarmReport);

/// Outcome of a run with a report.
pub trait Told {
    /// The report.
    type Report: Reported;

    /// Returns the report.
    fn report(&self) -> &Self::Report;

    /// Returns the report for changes.
    fn report_mut(&mut self) -> &mut Self::Report;

    /// Converts the outcome into its report.
    fn into_report(self) -> Self::Report;
}

macro_rules! told {
    ($($outcome:ty: $report:ty),*) => {
        $(impl Told for $outcome {
            type Report = $report;

            fn report(&self) -> &$report {
                &self.report
            }

            fn report_mut(&mut self) -> &mut $report {
                &mut self.report
            }

            fn into_report(self) -> $report {
                self.report
            }
        })*
    };
}
told!(PatternOutcome: Report, ProgramOutcome: ReplayReport, JobsOutcome: JobsReport);

/// Report of work.
pub type ReportOf<W> = <<W as Simulated>::Outcome as Told>::Report;

/// Work whose answer is one run.
pub trait Answering: Simulated<Outcome: Told> {
    /// True if the activities of its ranks are known.
    const ACTIVITIES: bool = true;

    /// Returns its program, if its messages are transfers between operations of ranks.
    fn program(&self) -> Option<&Arc<Program>> {
        None
    }

    /// Returns the options of a run that yields the requested tables and pictures.
    fn observed<'a>(&self, wants: &dyn Fn(&str) -> bool) -> RunOptions<'a>;

    /// Adds facts from outside the run to the report of a complete run.
    fn complete(_scenario: &Scenario<Self>, _head: &mut Head) {}

    /// Explains the deadlock of the run.
    fn reason(outcome: &Self::Outcome) -> String;
}

impl Answering for PatternWork {
    fn observed<'a>(&self, wants: &dyn Fn(&str) -> bool) -> RunOptions<'a> {
        let usual = self.usual();
        let keep = wants("timeline.svg") || wants("path.csv");
        let link_use = wants("links.csv") || usual.link_use;
        let late = usual.late || keep || wants("ranks.csv");
        let link_series = wants("links.svg");
        RunOptions { link_use, link_series, late, keep, in_step: true, ..RunOptions::default() }
    }

    fn complete(scenario: &Scenario<Self>, head: &mut Head) {
        head.accuracy = known_of(scenario, scenario.work()).map(Box::new);
    }

    fn reason(outcome: &PatternOutcome) -> String {
        let Head { stopped, faults, .. } = &outcome.report.head;
        deadlock::explain(&outcome.blocked, outcome.report.gridlock.as_ref(), *stopped, faults.as_deref())
    }
}

impl Answering for JobsWork {
    const ACTIVITIES: bool = false;

    fn observed<'a>(&self, wants: &dyn Fn(&str) -> bool) -> RunOptions<'a> {
        let interference = wants("interference.csv") || wants("interference.svg");
        let link_use = wants("links.csv") || wants("loads.svg");
        RunOptions { alone: true, interference, link_use, ..RunOptions::default() }
    }

    fn reason(outcome: &JobsOutcome) -> String {
        let Head { stopped, faults, .. } = &outcome.report.head;
        deadlock::explain(&outcome.blocked, outcome.report.gridlock.as_ref(), *stopped, faults.as_deref())
    }
}

impl Answering for ProgramWork {
    fn program(&self) -> Option<&Arc<Program>> {
        Some(&self.program)
    }

    fn observed<'a>(&self, wants: &dyn Fn(&str) -> bool) -> RunOptions<'a> {
        let usual = self.usual();
        let keep = wants("timeline.svg") || wants("path.csv");
        // The series keep a training step from being played only in part.
        let link_series = wants("links.svg") || wants("links.csv") || wants("loads.svg");
        let link_use = usual.link_use || link_series;
        RunOptions { keep, link_use, link_series, ..usual }
    }

    fn complete(scenario: &Scenario<Self>, head: &mut Head) {
        head.accuracy = hayase::measured::known_of(scenario, scenario.work()).map(Box::new);
    }

    fn reason(outcome: &ProgramOutcome) -> String {
        let blocked: Vec<Blocked> = outcome.stuck.iter().cloned().map(Blocked::from).collect();
        let Head { stopped, faults, .. } = &outcome.report.head;
        let lost = deadlock::without_way(faults.as_deref(), *stopped).unwrap_or_default();
        lost + &deadlock::describe(&blocked, "operation", *stopped)
    }
}

/// Runs work with these seeds and returns the answer of the first, which is the scenario's own seed and is
/// run by `run`.
///
/// # Errors
/// Fails if the scenario cannot be built with one of the seeds.
pub fn answer<W: Answering>(
    scenario: &Scenario<W>,
    seeds: &[u64],
    looking: &impl Looking,
    run: impl FnOnce(&dyn Watch) -> W::Outcome,
) -> Result<W::Outcome, Invalid> {
    let mut outcome = looking.run(run);
    let first = W::summary(&outcome);
    let (head, _) = outcome.report_mut().parts();
    if seeds.len() > 1 && head.status == Status::Complete {
        say_if_not_random(scenario.depends_on_seed(), looking);
        let statistics = looking.runs(|control| over_seeds(scenario, seeds, &first, control))?;
        if statistics.missing > 0 {
            head.status = Status::Interrupted;
        }
        head.seeds = Some(statistics);
    }
    cost(scenario, head, looking)?;
    if head.status == Status::Complete {
        W::complete(scenario, head);
    }
    Ok(outcome)
}

/// Runs all points of a master/slave prediction with each of these seeds.
///
/// # Errors
/// Fails if the scenario cannot be built with one of the seeds.
pub fn farm(farm: &Farm, seeds: &[u64], looking: &impl Looking) -> Result<FarmReport, Invalid> {
    if seeds.len() > 1 {
        say_if_not_random(farm.depends_on_seed(), looking);
    }
    let mut report = looking.runs(|control| farm.run_seeds(seeds, control))?;
    if let ([point], [row]) = (&farm.points[..], &report.predictions[..]) {
        let mut head = Head { seeds: row.seeds.clone(), ..report.head.clone() };
        cost(point, &mut head, looking)?;
        report.head.noise = head.noise;
    }
    Ok(report)
}

fn say_if_not_random(is_random: bool, looking: &impl Looking) {
    if !is_random {
        looking.hint("nothing in this scenario is random: every seed gives the same");
    }
}

/// Computes the cost of slow processors, if any, and adds it to the report of a complete run.
fn cost<W: Simulated>(scenario: &Scenario<W>, head: &mut Head, looking: &impl Looking) -> Result<(), Invalid> {
    if head.status != Status::Complete || scenario.system().noise().is_empty() {
        return Ok(());
    }
    let cost = looking.runs(|control| cost_of_noise(scenario, head.seeds.as_ref(), control))?;
    if cost.as_ref().and_then(|cost| cost.slowed).is_some_and(|slowed| slowed.ranks == 0) {
        looking.hint(
            "no rank was slowed down: no processor had work while it was slow. Messages of a pattern take no \
             processor time without a machine (-m)",
        );
    }
    head.noise = cost.map(Box::new);
    Ok(())
}
