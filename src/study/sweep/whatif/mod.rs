//! Studies of what-if: runs of the same work with one parameter of nodes, network or the work changed at a time.
//!
//! A program is read once. Every point is built and played on its own, on all cores. The results do not
//! depend on the number of cores. The report also has limits: the time on an ideal network, and the time if
//! no rank waited.

mod halved;

use rayon::prelude::*;

use super::{Control, not_done};
use crate::base::Arrange;
use crate::diagnostic::Invalid;
use crate::engine::Watch;
use crate::report::replay::ReplayReport;
use crate::report::whatif::{Limits, SCHEMA, Sensitivity, WhatIfPoint, WhatIfReport, elasticity};
use crate::report::{self, Head, Meta, Status};
use crate::scenario::{Loader, Scenario};
use crate::simulation::{Outcome, ProgramWork, RunOptions, Simulated, Summary, Work};
use crate::study::runs::Runs;
use crate::system::WorkloadSpec;
use crate::workload::Blocked;

pub use crate::study::{Amount, Unit};
pub use halved::halved_and_doubled;

/// Program, pattern or farm, the system it runs on, and the parameters to change.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// Unchanged scenario.
    pub base: Scenario,
    /// Texts of the unchanged scenario; changes are laid over them.
    pub loader: Loader,
    /// Parameters to change.
    pub varied: Vec<Varied>,
    /// True if every parameter is halved and doubled. The report then lists parameters by effect, largest
    /// first.
    pub tornado: bool,
}

/// Parameter and its values.
#[derive(Clone, Debug)]
pub struct Varied {
    /// Name of the parameter, for people.
    pub parameter: String,
    /// Unchanged value, if there is one.
    pub base: Option<String>,
    /// Values to try.
    pub trials: Vec<Trial>,
}

/// One value of a parameter.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Value, for people.
    pub value: String,
    /// Value in base units, if it is a number.
    pub number: Option<f64>,
    /// Change to the scenario.
    pub change: Change,
}

/// Change to a scenario.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Speed of processors.
    CpuSpeed(f64),
    /// Assignment to a key of the scenario, `node.loggps.L=1 us`.
    Set(String),
}

impl WhatIf {
    /// Plays the work unchanged, on an ideal network, and with every change. Also returns the blocked ranks
    /// if the unchanged program deadlocks; no changes are played then.
    ///
    /// # Errors
    /// Changes that give no scenario with any value; nothing is played then.
    pub fn run(&self, control: Control<'_>) -> Result<(WhatIfReport, Vec<Blocked>), Invalid> {
        let start = crate::base::wall_clock::now();
        let trials: Vec<(usize, &Trial)> =
            self.varied.iter().enumerate().flat_map(|(i, varied)| varied.trials.iter().map(move |t| (i, t))).collect();
        // Mistakes are reported before a long run, not after it.
        let checked: Vec<Option<Invalid>> = trials.par_iter().map(|(_, trial)| self.changed(trial).err()).collect();
        let refused = self.refused(&trials, checked)?;
        // The runs of the trials, then the two below.
        let runs = Runs::new(control, vec![self.base.work().messages(); trials.len() + 2]);
        let play = |scenario: &Scenario| {
            let watch = runs.begin(trials.len());
            let run = run(scenario, &watch);
            watch.end();
            run
        };
        let (base, ideal) = rayon::join(|| play(&self.base), || without_network(&self.base).map(|ideal| play(&ideal)));
        let mut events = base.summary.events + ideal.as_ref().map_or(0, |ideal| ideal.summary.events);
        let whole = base.summary.status == Status::Complete
            && ideal.as_ref().is_none_or(|ideal| ideal.summary.status != Status::Interrupted);
        let mut complete = whole;
        let mut varied: Vec<Sensitivity> = Vec::new();
        if whole {
            let jobs: Vec<_> = trials.iter().zip(refused).collect();
            let points = runs.each(&jobs, |((_, trial), refused), watch| {
                if let Some(refused) = refused {
                    return Some(Ok((WhatIfPoint { failed: Some(refused.clone()), ..unplayed(trial) }, 0)));
                }
                let run = match self.changed(trial) {
                    Ok(changed) => run(&changed, watch),
                    Err(invalid) => return Some(Err(invalid)),
                };
                let (point, events) = point(trial, &run, base.summary.makespan_s)?;
                let note = self.required_change(trial).map(|(note, _)| note);
                Some(Ok((WhatIfPoint { note, ..point }, events)))
            });
            varied = self.varied.iter().map(named).collect();
            for ((i, _), point) in trials.iter().zip(points) {
                match point.transpose()? {
                    Some((point, of_it)) => {
                        varied[*i].points.push(point);
                        events += of_it;
                    }
                    None => complete = false,
                }
            }
            for one in &mut varied {
                one.elasticity = elasticity(&one.points);
            }
            if self.tornado {
                varied.arrange_by(|a, b| b.swing().total_cmp(&a.swing()));
            }
        }
        let played = base.report.as_ref();
        let report = WhatIfReport {
            head: Head {
                schema: SCHEMA,
                scenario: self.base.to_json(),
                status: base.summary.status,
                makespan_s: base.summary.makespan_s,
                messages: base.summary.messages,
                bytes: base.summary.bytes,
                stopped: base.summary.stopped,
                faults: base.summary.faults,
                fingerprint: base.summary.fingerprint,
                ..Head::default()
            },
            limits: limits(played, ideal.as_ref()),
            program: played.map_or_else(|| self.base.work().name().to_owned(), |played| played.program.clone()),
            caveats: played.map(|played| played.caveats.clone()).unwrap_or_default(),
            node: self.base.system().node().name().to_owned(),
            network: self.base.network_name(),
            undone: base.summary.undone,
            measured_s: played.and_then(|played| played.chosen().map_or(played.measured_s, |region| region.recorded_s)),
            region: played.and_then(|played| played.region.clone()),
            tornado: self.tornado,
            varied,
            complete,
            meta: Meta::since(start, events, None),
        };
        Ok((report, base.summary.blocked))
    }

    /// Returns for each trial the reason why it cannot be played, if there is one.
    ///
    /// A number that contradicts other parameters is a result like the others of its range, unless all
    /// numbers of the range do. Anything else is a mistake.
    fn refused(
        &self,
        trials: &[(usize, &Trial)],
        checked: Vec<Option<Invalid>>,
    ) -> Result<Vec<Option<String>>, Invalid> {
        let mut played = vec![false; self.varied.len()];
        for ((i, _), invalid) in trials.iter().zip(&checked) {
            played[*i] |= invalid.is_none();
        }
        let refused = trials.iter().zip(checked).map(|((i, trial), invalid)| match invalid {
            Some(invalid) if !self.tornado && (trial.number.is_none() || !played[*i]) => Err(invalid),
            Some(invalid) => Ok(Some(reason(&invalid))),
            None => Ok(None),
        });
        refused.collect()
    }

    /// Returns the change of another parameter of the node model that this trial requires, for people and as
    /// an assignment.
    fn required_change(&self, trial: &Trial) -> Option<(String, String)> {
        let Change::Set(assignment) = &trial.change else { return None };
        let Work::Program(_) = self.base.work() else { return None };
        let node = self.base.system().node();
        let (parameter, value) =
            assignment.strip_prefix("node.")?.strip_prefix(node.name())?.strip_prefix('.')?.split_once('=')?;
        let follows = node.follows(parameter, Amount::read(value)?.value)?;
        Some((format!("{follows} = {} too", trial.value), format!("node.{}.{follows}={value}", node.name())))
    }

    /// Builds the scenario with this change.
    fn changed(&self, trial: &Trial) -> Result<Scenario, Invalid> {
        let program = match self.base.work() {
            Work::Program(program) => Some(&**program),
            Work::Pattern(_) | Work::Farm(_) | Work::Jobs(_) => None,
        };
        match (&trial.change, program) {
            (Change::CpuSpeed(cpu_speed), Some(program)) => {
                let program = ProgramWork { cpu_speed: *cpu_speed, ..program.clone() };
                let changed = self.base.with_work(Work::Program(Box::new(program)));
                changed.map_err(Invalid::from)
            }
            // This work has no processors of its own.
            (Change::CpuSpeed(_), None) => Ok(self.base.clone()),
            (Change::Set(assignment), program) => {
                let mut loader = self.loader.clone().set("--vary", assignment);
                if let Some((_, follows)) = self.required_change(trial) {
                    loader = loader.set("--vary", &follows);
                }
                // A program that the change does not affect need not be read again.
                match program.filter(|program| is_kept(program, assignment)) {
                    Some(program) => Ok(loader.load_program(program.clone())?.into()),
                    None => loader.load(),
                }
            }
        }
    }
}

/// Result of one run.
struct Run {
    summary: Summary,
    /// Report of the run, if the work is a program.
    report: Option<ReplayReport>,
}

fn run(scenario: &Scenario, watch: &dyn Watch) -> Run {
    let outcome = scenario.run(RunOptions { watch: Some(watch), ..RunOptions::default() });
    let summary = outcome.summary();
    let report = match outcome {
        Outcome::Program(outcome) => Some(outcome.report),
        Outcome::Pattern(_) | Outcome::Farm(_) | Outcome::Jobs(_) => None,
    };
    Run { summary, report }
}

/// Returns the scenario with messages that cost nothing; `None` for a pattern, which consists only of
/// messages.
fn without_network(scenario: &Scenario) -> Option<Scenario> {
    let system = scenario.system().without_network();
    match scenario.work() {
        Work::Program(_) => scenario.with_system(system).ok(),
        Work::Farm(farm) => Scenario::new(system, Work::Farm(Box::new(farm.without_costs()))).ok(),
        Work::Pattern(_) | Work::Jobs(_) => None,
    }
}

/// Returns true if an assignment leaves the program unchanged: it changes only nodes and network, and the
/// program does not depend on them.
fn is_kept(program: &ProgramWork, assignment: &str) -> bool {
    let of_pattern = matches!(program.spec, Some(WorkloadSpec::Pattern(_)));
    !of_pattern && program.origin.is_none() && !assignment.starts_with("workload.") && !assignment.starts_with("seed=")
}

fn named(varied: &Varied) -> Sensitivity {
    let (parameter, base) = (varied.parameter.clone(), varied.base.clone());
    Sensitivity { parameter, base, elasticity: None, points: Vec::with_capacity(varied.trials.len()) }
}

/// Returns the result of one change and its number of events; `None` if the run was ended early.
fn point(trial: &Trial, run: &Run, unchanged_s: f64) -> Option<(WhatIfPoint, u64)> {
    let summary = &run.summary;
    let failed = match summary.status {
        Status::Interrupted => return None,
        Status::Deadlocked => Some("deadlocks".to_owned()),
        Status::Undone => Some(undone_reason(summary)),
        Status::Complete => None,
    };
    let time_s = failed.is_none().then_some(summary.makespan_s);
    let change = time_s.filter(|_| unchanged_s > 0.0).map(|time_s| time_s / unchanged_s - 1.0);
    let stopped = summary.stopped.filter(|_| summary.status == Status::Deadlocked);
    Some((WhatIfPoint { time_s, change, stopped, failed, ..unplayed(trial) }, summary.events))
}

/// Returns the reason why a farm has no time.
fn undone_reason(summary: &Summary) -> String {
    format!("all workers are lost, and {}", not_done(summary.undone))
}

fn unplayed(trial: &Trial) -> WhatIfPoint {
    WhatIfPoint { value: trial.value.clone(), number: trial.number, ..WhatIfPoint::default() }
}

/// Returns the message of the first mistake.
fn reason(invalid: &Invalid) -> String {
    invalid.diagnostics.first().map_or_else(String::new, |diagnostic| diagnostic.message.clone())
}

/// Computes the limits; those that an interrupted study does not know are NaN.
fn limits(base: Option<&ReplayReport>, ideal: Option<&Run>) -> Limits {
    // A rank may do several things at once, but not beyond its end.
    let most = |of: fn(&report::replay::RankReport) -> f64| {
        let most = |base: &ReplayReport| base.ranks.iter().map(|rank| of(rank).min(rank.end_s)).fold(0.0, f64::max);
        base.map_or(f64::NAN, most)
    };
    let ideal = ideal.filter(|ideal| ideal.summary.status == Status::Complete);
    Limits {
        ideal_s: ideal.map_or(f64::NAN, |ideal| ideal.summary.makespan_s),
        zero_wait_s: most(|rank| rank.compute_s + rank.send_overhead_s + rank.recv_overhead_s),
        compute_s: most(|rank| rank.compute_s),
    }
}
