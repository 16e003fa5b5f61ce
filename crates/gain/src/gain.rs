//! Gain of a change: the changed program, simulated on the same nodes and network.
//!
//! ```text
//! gain = makespan of the original program - makespan of the changed program
//! ```
//! A change whose communications can be posted and waited for at several places is simulated at several
//! [`Placement`]s; the best one counts. Simulations are the cost of advice, so their number is limited for
//! all findings together. They go to the changes that could save most, by the [`bound`](super::bound) of each
//! finding and its best gain so far. A change that cannot save anything is not simulated. The number of
//! findings left over is reported. A *thorough* judge simulates everything.
//!
//! A change that deadlocks in the simulation, or leaves messages without a receive, has a reason in place of
//! a gain. Findings are simulated in parallel and independently; their order does not depend on which is done
//! first.

use std::cmp::Ordering;
use std::sync::Arc;

use hayase::base::Arrange;
use hayase_advice::model::{Action, Certainty, Change, Finding, RuleId, ScenarioChange};
use rayon::prelude::*;
use serde::Serialize;

use super::bound::{Touched, most_saved};
use super::edit::{Applied, Changed, Placement};
use super::rules::Base;
use super::together::Together;
use hayase::engine::Watch;
use hayase::program::Program;
use hayase::program::collectives::{CollectivesSpec, Operation};
use hayase::report::Status;
use hayase::report::replay::PathPart;
use hayase::scenario::Scenario;
use hayase::simulation::{ProgramOutcome, ProgramWork, RunOptions};
use hayase::units::{Bytes, Time};

/// Largest number of simulations of collective algorithms.
pub(super) const ALGORITHMS: usize = 8;

/// Largest number of simulations of findings, including all placements.
const SIMULATIONS: usize = 14;

/// Number of simulations that run side by side, because their results choose the next ones. It is not the
/// number of threads, on which no result may depend.
const BATCH: usize = 4;

/// Factor on the remaining expected saving of a finding for each placement that was tried.
const RETRY_WEIGHT: f64 = 0.25;

/// Reason to skip a simulation: the change is not worth it.
const NOT_WORTH_IT: &str = "by the critical path it cannot save a thousandth of the run";

/// Reason to skip a simulation: other changes come first.
const UNTRIED: &str = "other changes could save more, and were simulated; --all simulates all";

/// Reason to stop a simulation early.
const SLOWER: &str = "the changed program would take longer";

/// First words of the reason if a changed program does not complete.
const DEADLOCKS: &str = "the changed program would deadlock";

/// Smallest share of the run that a piece of advice must save to be shown.
pub const LEAST_GAIN: f64 = 0.001;

/// Smallest share of all ranks' time that waits without a change to simulate must take to be shown.
pub const LEAST_WAIT: f64 = 0.01;

/// Judge of findings by simulation.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// Original program with its nodes and network.
    pub replay: &'a Scenario<ProgramWork>,
    /// Time that a rank takes to copy a byte \[ps/B\].
    pub copy: f64,
    /// Observer that may end each simulation.
    pub watch: Option<&'a dyn Watch>,
    /// True if everything is simulated, and to its end.
    pub thorough: bool,
}

/// Result of a simulation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Simulated {
    /// End of the last rank, or the time of the selected region \[s\].
    pub makespan_s: f64,
    /// End of the last rank if a region is selected \[s\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_s: Option<f64>,
    /// Parts of the critical path; empty if the run was too long to walk it back.
    pub critical_path: Vec<PathPart>,
    /// Number of messages that no rank received.
    #[serde(skip)]
    pub unreceived: u64,
}

/// Finding and its gain.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// Finding of the search.
    pub finding: Finding,
    /// Changed run, or the reason why there is none, as the end of a sentence.
    pub changed: Result<Simulated, String>,
    /// Number of calls whose change could not be played or was not listed.
    pub unplayed_calls: u64,
    /// Placement of the moved communications.
    pub placement: Placement,
    /// Upper bound on the time that it could save \[s\], from the original critical path.
    pub bound_s: f64,
}

impl Judged {
    /// Time saved \[s\]; negative if the change costs time.
    pub fn saved_s(&self, base: &Simulated) -> Option<f64> {
        self.changed.as_ref().ok().map(|changed| base.makespan_s - changed.makespan_s)
    }

    /// True if it was not simulated because others could save more.
    pub fn is_untried(&self) -> bool {
        self.changed.as_ref().is_err_and(|why| why == UNTRIED)
    }

    /// True if it saves enough or, without a simulation, if enough of the time of all ranks \[s\] is at
    /// stake.
    fn is_worth(&self, base: Option<&Simulated>, time_s: f64) -> bool {
        if let Some((base, saved)) = base.and_then(|base| Some((base, self.saved_s(base)?))) {
            return saved >= LEAST_GAIN * base.makespan_s;
        }
        if self.changed.as_ref().is_err_and(|why| [NOT_WORTH_IT, SLOWER, UNTRIED].contains(&why.as_str())) {
            return false;
        }
        // An unproven change that deadlocks is wrong.
        if self.finding.certainty() == Certainty::Check
            && self.changed.as_ref().is_err_and(|why| why.starts_with(DEADLOCKS))
        {
            return false;
        }
        let share = match self.finding.rule {
            RuleId::A101 | RuleId::A102 | RuleId::A103 | RuleId::A106 => LEAST_WAIT,
            RuleId::A001 => LEAST_GAIN,
            _ => return true,
        };
        self.finding.time_ns as f64 * 1e-9 >= share * time_s
    }
}

/// Advice, best first.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranked {
    /// Original run, if it was simulated.
    pub base: Option<Simulated>,
    /// Findings in the order of their gains.
    pub findings: Vec<Judged>,
    /// Findings that can be applied together.
    pub together: Option<Together>,
    /// Number of further findings that are not worth it.
    pub hidden: u64,
    /// Number of further findings that were not simulated because others could save more.
    pub untried: u64,
    /// Largest time that one of those could save \[s\].
    pub untried_s: f64,
}

impl Ranked {
    /// Ranks advice without a simulation, the most time at stake first.
    ///
    /// With `everything`, it keeps waits that are short compared with the `computed` time of all ranks \[s\].
    pub fn unsimulated(mut findings: Vec<Finding>, why: &str, computed: f64, everything: bool) -> Self {
        findings.arrange_by(by_stake);
        let judged = |finding: Finding| Judged {
            finding,
            changed: Err(why.to_owned()),
            unplayed_calls: 0,
            placement: Placement::default(),
            bound_s: f64::INFINITY,
        };
        let mut ranked = Self {
            base: None,
            findings: findings.into_iter().map(judged).collect(),
            together: None,
            hidden: 0,
            untried: 0,
            untried_s: 0.0,
        };
        if !everything {
            ranked.hide(computed);
        }
        ranked
    }

    /// Removes findings that are not worth it, given the time of all ranks \[s\].
    fn hide(&mut self, time_s: f64) {
        let all = self.findings.len();
        let base = self.base.as_ref();
        for judged in self.findings.iter().filter(|judged| judged.is_untried()) {
            self.untried += 1;
            self.untried_s = self.untried_s.max(judged.bound_s);
        }
        self.findings.retain(|judged| judged.is_worth(base, time_s));
        self.hidden = (all - self.findings.len()) as u64 - self.untried;
    }
}

impl<'a> Judge<'a> {
    /// Simulates findings and ranks them by the time they save; findings without a simulation follow, by the
    /// time at stake.
    ///
    /// Without `everything`, findings that are not worth it are left out.
    ///
    /// Cost: a walk of the critical path for each finding; the limited simulations, and a few more for all
    /// findings together. A thorough judge takes one simulation for each finding, or four if communications
    /// move.
    pub fn rank(&self, base: &Base, findings: Vec<Finding>, everything: bool) -> Ranked {
        let mut judged = self.judge(base, findings);
        let base = &base.simulated;
        judged.arrange_by(|a, b| order(a, b, base));
        let mut ranked = Ranked {
            base: Some(base.clone()),
            findings: judged,
            together: None,
            hidden: 0,
            untried: 0,
            untried_s: 0.0,
        };
        if !everything {
            ranked.hide(base.makespan_s * f64::from(self.replay.work().program.ranks()));
        }
        ranked.together = self.together(base, &ranked.findings);
        ranked
    }

    /// Simulates findings; the best placement of each counts, and the text of the finding names it.
    fn judge(&self, base: &Base, findings: Vec<Finding>) -> Vec<Judged> {
        let mut open: Vec<OpenFinding> = findings.into_par_iter().map(|finding| self.open(base, finding)).collect();
        let prunes = !self.thorough && self.is_bound();
        let least = if prunes { LEAST_GAIN * base.simulated.makespan_s } else { f64::NEG_INFINITY };
        // The same change of the scenario may be advised at several places.
        let twins: Vec<usize> = (0..open.len())
            .map(|at| {
                let change = &open[at].finding.change;
                let is_twin =
                    |other: &&OpenFinding| matches!(change, Change::Scenario(_)) && other.finding.change == *change;
                open.iter().position(|other| is_twin(&other)).unwrap_or(at)
            })
            .collect();
        let mut left = if self.thorough { usize::MAX } else { SIMULATIONS };
        loop {
            let mut next: Vec<(f64, usize)> = (0..open.len())
                .filter(|&at| twins[at] == at && !open[at].placements.is_empty())
                .map(|at| (open[at].expected_saving(&base.simulated), at))
                .filter(|&(saving, _)| saving >= least)
                .collect();
            // With equal expected saving, each finding is tried once before one is tried twice.
            next.arrange_by(|&(a_hope, a), &(b_hope, b)| {
                let (a, b) = (&open[a], &open[b]);
                let by_tries = b.weight.total_cmp(&a.weight);
                b_hope.total_cmp(&a_hope).then(by_tries).then_with(|| by_stake(&a.finding, &b.finding))
            });
            next.truncate(if self.thorough { usize::MAX } else { BATCH.min(left) });
            if next.is_empty() {
                break;
            }
            left -= next.len().min(left);
            let played: Vec<TrialResult> =
                next.par_iter().map(|&(_, at)| self.at(base, &open[at].finding, open[at].placements[0])).collect();
            for ((_, at), played) in next.into_iter().zip(played) {
                open[at].take(played);
            }
        }
        let done: Vec<Option<TrialResult>> = twins.iter().map(|&at| open[at].best.clone()).collect();
        let close =
            |(open, best): (OpenFinding, Option<TrialResult>)| open.close(best, self.is_bound(), &base.simulated);
        open.into_iter().zip(done).map(close).collect()
    }

    /// True if the critical path gives a strict bound: only messages connect the ranks, and each rank does
    /// one thing after the other.
    pub(super) fn is_bound(&self) -> bool {
        let plain = self.replay.system().node().facts().path_bounds;
        // A change off the critical path of the whole run may still shorten a region.
        let whole = self.replay.work().region.is_none();
        plain && whole && self.replay.network().is_none() && !self.replay.work().program.has_graphs()
    }

    /// Returns the time at which a simulation can stop because it is slower \[s\]: `times` the original
    /// makespan.
    ///
    /// For a region nothing is known before the end, so there is no such time.
    pub(super) fn until(&self, base: &Base, times: f64) -> Option<f64> {
        let whole = self.replay.work().region.is_none();
        (whole && !self.thorough).then_some(times * base.simulated.makespan_s)
    }

    /// Prepares a finding for its simulations.
    fn open(&self, base: &Base, finding: Finding) -> OpenFinding {
        let touched = Touched::by(&finding.change, &base.program, super::rules::eager(self));
        let bound_s = match self.thorough {
            true => f64::INFINITY,
            false => touched.and_then(|touched| most_saved(base, &touched)).unwrap_or(f64::INFINITY),
        };
        let placements = match &finding.change {
            Change::None => Vec::new(),
            Change::Program { edits, .. } if self.thorough => {
                let moves = edits.iter().any(|edit| matches!(edit.action, Action::Overlap { .. }));
                Placement::ALL[..if moves { 4 } else { 1 }].to_vec()
            }
            Change::Program { edits, .. } => Placement::distinct(edits),
            Change::Scenario(_) => vec![Placement::default()],
        };
        OpenFinding { finding, bound_s, placements, weight: 1.0, best: None }
    }

    /// Simulates a finding at a placement.
    fn at(&self, base: &Base, finding: &Finding, placement: Placement) -> TrialResult {
        let left_out = match &finding.change {
            Change::Program { left_out, .. } => *left_out,
            _ => 0,
        };
        let until = self.until(base, 1.0);
        match self.change(&finding.change, placement) {
            Err(why) => TrialResult { changed: Err(why), unplayed_calls: left_out, placement },
            Ok((replay, applied)) => TrialResult {
                changed: self.play_until(&replay, base.simulated.unreceived, until),
                unplayed_calls: left_out + applied.taken + applied.unknown,
                placement,
            },
        }
    }

    /// Applies a change to the replay.
    fn change(&self, change: &Change, placement: Placement) -> Result<(Scenario<ProgramWork>, Applied), String> {
        match change {
            Change::None => Err("there is no change that follows from the run alone".into()),
            Change::Program { edits, .. } => {
                let mut changed = Changed::new(&self.replay.work().program, self.copy);
                let applied = changed.add(edits, placement).map_err(|refused| refused.why)?;
                Ok((with_program(self.replay, changed.build()?)?, applied))
            }
            Change::Scenario(change) => Ok((scenario(self.replay, change)?, Applied::default())),
        }
    }

    /// Simulates a replay; the original program leaves `known` messages without a receive.
    ///
    /// # Errors
    /// The run does not complete, or leaves more messages without a receive.
    pub fn play(&self, replay: &Scenario<ProgramWork>, known: u64) -> Result<Simulated, String> {
        self.play_until(replay, known, None)
    }

    /// Simulates a replay until it is known to take longer than `until` \[s\].
    fn play_until(&self, replay: &Scenario<ProgramWork>, known: u64, until: Option<f64>) -> Result<Simulated, String> {
        let until = until.map(Time::from_seconds);
        let options = RunOptions { until, watch: self.watch, ..RunOptions::default() };
        completed(&replay.run(options), known, until.is_some())
    }

    /// Returns the makespan \[s\] if the replay completes by `until` \[s\].
    pub(super) fn makespan(&self, replay: &Scenario<ProgramWork>, known: u64, until: Option<f64>) -> Option<f64> {
        let until = until.map(Time::from_seconds);
        // Only the makespan is needed, so no activities are kept.
        let options = RunOptions { until, room: Some(0), watch: self.watch, ..RunOptions::default() };
        Some(completed(&replay.run(options), known, until.is_some()).ok()?.makespan_s)
    }
}

/// Result of the simulation of a finding at a placement.
#[derive(Clone, Debug)]
struct TrialResult {
    changed: Result<Simulated, String>,
    unplayed_calls: u64,
    placement: Placement,
}

/// Finding that is being judged.
struct OpenFinding {
    finding: Finding,
    /// Upper bound on the time that it could save \[s\].
    bound_s: f64,
    /// Placements that have not been tried yet.
    placements: Vec<Placement>,
    /// Weight of its expected saving, which falls with each try.
    weight: f64,
    best: Option<TrialResult>,
}

impl OpenFinding {
    /// Returns the time that another simulation may save beyond the best so far \[s\], weighted by the number
    /// of tries.
    fn expected_saving(&self, base: &Simulated) -> f64 {
        let best = self.best.as_ref().and_then(|best| best.changed.as_ref().ok());
        let saved = best.map_or(0.0, |best| base.makespan_s - best.makespan_s).max(0.0);
        // Findings without a bound come first, by the time at stake.
        if self.bound_s.is_finite() { (self.bound_s - saved) * self.weight } else { self.bound_s }
    }

    fn take(&mut self, played: TrialResult) {
        self.placements.remove(0);
        self.weight *= RETRY_WEIGHT;
        let better = match (&self.best, &played.changed) {
            (None, _) => true,
            (Some(TrialResult { changed: Err(why), .. }), Err(other)) => why == SLOWER && other != SLOWER,
            (Some(TrialResult { changed: Err(_), .. }), Ok(_)) => true,
            (Some(TrialResult { changed: Ok(old), .. }), Ok(new)) => new.makespan_s < old.makespan_s,
            _ => false,
        };
        if better {
            self.best = Some(played);
        }
    }

    /// Ends the judgement with the best outcome; `sure` is true if the finding cannot save more than its
    /// bound.
    fn close(self, best: Option<TrialResult>, sure: bool, base: &Simulated) -> Judged {
        let Self { mut finding, bound_s, .. } = self;
        let left_out = match &finding.change {
            Change::Program { left_out, .. } => *left_out,
            _ => 0,
        };
        let why = match &finding.change {
            Change::None => "there is no change that follows from the run alone",
            _ if sure && bound_s < LEAST_GAIN * base.makespan_s => NOT_WORTH_IT,
            _ => UNTRIED,
        };
        let not =
            TrialResult { changed: Err(why.to_owned()), unplayed_calls: left_out, placement: Placement::default() };
        let TrialResult { changed, unplayed_calls, placement } = best.unwrap_or(not);
        finding.text.extend(placement.text().map(str::to_owned));
        Judged { finding, changed, unplayed_calls, placement, bound_s }
    }
}

/// Returns the result of a replay; `bounded` is true if the replay was to stop when it took too long.
fn completed(replayed: &ProgramOutcome, known: u64, bounded: bool) -> Result<Simulated, String> {
    if bounded && replayed.report.head.status == Status::Interrupted {
        return Err(SLOWER.to_owned());
    }
    let simulated = outcome(replayed)?;
    if simulated.unreceived > known {
        return Err(format!("{} messages would not be received", simulated.unreceived - known));
    }
    Ok(simulated)
}

/// Converts the outcome of a replay.
///
/// # Errors
/// The replay did not complete.
pub fn outcome(replayed: &ProgramOutcome) -> Result<Simulated, String> {
    match replayed.report.head.status {
        Status::Complete => Ok(Simulated {
            makespan_s: replayed.report.asked_s(),
            whole_s: replayed.report.region.as_ref().map(|_| replayed.report.head.makespan_s),
            critical_path: replayed.report.critical_path.as_ref().map_or_else(Vec::new, |path| path.kinds.clone()),
            unreceived: replayed.report.unreceived,
        }),
        Status::Deadlocked => Err(match replayed.stuck.first() {
            Some(stuck) => {
                format!("{DEADLOCKS}: rank {} waits for {}", stuck.rank.0, stuck.what)
            }
            None => DEADLOCKS.to_owned(),
        }),
        _ => Err("the simulation was stopped".to_owned()),
    }
}

/// Applies a change to the scenario of a replay; the program stays.
pub(super) fn scenario(
    replay: &Scenario<ProgramWork>,
    change: &ScenarioChange,
) -> Result<Scenario<ProgramWork>, String> {
    let system = replay.system().clone();
    let changed = match change {
        ScenarioChange::RaiseEager { to } => {
            let mut node = system.node().clone();
            if !node.set_eager_limit(Bytes(*to)) {
                return Err(format!("the node model `{}` knows no limit S", node.name()));
            }
            system.with_node(node).map_err(|mistake| mistake.message)?
        }
        ScenarioChange::Placement { nodes } => {
            system.with_nodes(nodes).ok_or_else(|| "the ranks do not fit there".to_owned())?
        }
        ScenarioChange::Algorithm { collective, algorithm } => {
            let collectives = with_algorithm(system.collectives(), collective, algorithm)?;
            system.with_collectives(collectives)
        }
    };
    replay.with_system(changed).map_err(|mistake| mistake.message)
}

/// Exchanges the program of a replay for another of the same number of ranks.
pub(super) fn with_program(
    replay: &Scenario<ProgramWork>,
    program: impl Into<Arc<Program>>,
) -> Result<Scenario<ProgramWork>, String> {
    replay.with_work(replay.work().with_program(program.into())).map_err(|mistake| mistake.message)
}

/// Sets the algorithm of one collective operation.
pub(super) fn with_algorithm(
    spec: &CollectivesSpec,
    collective: &str,
    algorithm: &str,
) -> Result<CollectivesSpec, String> {
    let key = collective.to_ascii_lowercase().replace('_', "-");
    let mut spec = spec.clone();
    let operation = Operation::ALL.iter().find(|operation| operation.name() == key);
    let Some(field) = operation.map(|&operation| spec.named_mut(operation)) else {
        return Err(format!("there is no collective operation {collective}"));
    };
    *field = Some(algorithm.to_owned().into());
    match spec.check().is_empty() {
        true => Ok(spec),
        false => Err(format!("{collective} is not done by an algorithm `{algorithm}`")),
    }
}

/// Orders findings by the time they save, in steps of [`LEAST_GAIN`]; within a step the proven ones come
/// first. Findings without a simulation come last.
fn order(a: &Judged, b: &Judged, base: &Simulated) -> Ordering {
    let gain = |judged: &Judged| judged.saved_s(base).unwrap_or(f64::NEG_INFINITY);
    let step = |judged: &Judged| (gain(judged) / (LEAST_GAIN * base.makespan_s)).round();
    (step(b).total_cmp(&step(a)))
        .then_with(|| a.finding.certainty().cmp(&b.finding.certainty()))
        .then_with(|| gain(b).total_cmp(&gain(a)))
        .then_with(|| by_stake(&a.finding, &b.finding))
}

/// Orders findings by the time at stake; at equal time the proven ones come first.
fn by_stake(a: &Finding, b: &Finding) -> Ordering {
    b.time_ns
        .cmp(&a.time_ns)
        .then_with(|| a.certainty().cmp(&b.certainty()))
        .then_with(|| a.rule.cmp(&b.rule))
        .then_with(|| a.id.len().cmp(&b.id.len()))
        .then_with(|| a.id.cmp(&b.id))
}
