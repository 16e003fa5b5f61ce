//! What a change brings: the changed program, played on the same nodes and network.
//!
//! ```text
//! gain = makespan of the program as it is - makespan of the changed program
//! ```
//! What can be posted and waited for at several places is simulated at several [`Placement`]s; the best one counts.
//! Simulations are what advice costs, so there is a number of them for all findings together. They go to what could
//! save most by the [`bound`](super::bound) of each finding, and what has been found so far; what cannot save anything
//! is not simulated at all. How many are left over is said. A *thorough* judge simulates everything.
//!
//! A change that the simulation shows to deadlock, or that leaves messages nobody receives, has no gain but a reason.
//! Findings are simulated in parallel, each by itself; their order does not depend on which is done first.

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

/// Simulations of algorithms of collective operations.
pub(super) const ALGORITHMS: usize = 8;

/// Simulations of findings, all placements counted.
const SIMULATIONS: usize = 14;

/// How many of them are run side by side: what the next ones are depends on what these give. Not the number of threads,
/// on which no result may depend.
const AT_ONCE: usize = 4;

/// The part of what a finding may still save that counts, once more for each placement that was tried.
const AGAIN: f64 = 0.25;

/// Why something is not simulated: not worth it.
const NO_USE: &str = "by the critical path it cannot save a thousandth of the run";

/// Why something is not simulated: others come first.
const UNTRIED: &str = "other changes could save more, and were simulated; --all simulates all";

/// Why a simulation was not played to its end.
const SLOWER: &str = "the changed program would take longer";

/// How the reason begins where a changed program does not come to its end.
const DEADLOCKS: &str = "the changed program would deadlock";

/// Share of the run that a piece of advice must save to be shown.
pub const LEAST_GAIN: f64 = 0.001;

/// Share of all ranks' time that waits must take to be shown, where there is no change to simulate.
pub const LEAST_WAIT: f64 = 0.01;

/// Simulates changes.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The program as it is, and what it is played on.
    pub replay: &'a Scenario<ProgramWork>,
    /// How long a rank takes to copy a byte \[ps/B\].
    pub copy: f64,
    /// Looks on and may end each simulation.
    pub watch: Option<&'a dyn Watch>,
    /// Whether everything is simulated, and to its end.
    pub thorough: bool,
}

/// What a simulation gave.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Simulated {
    /// When the last rank ended; of a region that is asked for, its time \[s\].
    pub makespan_s: f64,
    /// When the last rank ended, where a region is asked for \[s\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_s: Option<f64>,
    /// What its critical path consists of; empty where the run was too long to be walked back through.
    pub critical_path: Vec<PathPart>,
    /// Messages that nobody asked for.
    #[serde(skip)]
    pub unreceived: u64,
}

/// A finding and what it would bring.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The finding.
    pub finding: Finding,
    /// The changed run, or why there is none: a sentence's end.
    pub changed: Result<Simulated, String>,
    /// Calls whose change could not be played, or that were not listed.
    pub not_in_it: u64,
    /// Where what can move was put.
    pub placement: Placement,
    /// The most that it could save \[s\], by the critical path of the program as it is.
    pub most_s: f64,
}

impl Judged {
    /// Time saved \[s\]; negative where the change costs time.
    pub fn saved_s(&self, base: &Simulated) -> Option<f64> {
        self.changed.as_ref().ok().map(|changed| base.makespan_s - changed.makespan_s)
    }

    /// Whether it was left for others that could save more.
    pub fn is_untried(&self) -> bool {
        self.changed.as_ref().is_err_and(|why| why == UNTRIED)
    }

    /// Whether it saves something; of what was not simulated, whether enough of the time of all ranks \[s\] is at
    /// stake.
    fn is_worth(&self, base: Option<&Simulated>, time_s: f64) -> bool {
        if let Some((base, saved)) = base.and_then(|base| Some((base, self.saved_s(base)?))) {
            return saved >= LEAST_GAIN * base.makespan_s;
        }
        if self.changed.as_ref().is_err_and(|why| [NO_USE, SLOWER, UNTRIED].contains(&why.as_str())) {
            return false;
        }
        // What was only guessed, and cannot be.
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
    /// The program as it is, where it was simulated.
    pub base: Option<Simulated>,
    /// The findings.
    pub findings: Vec<Judged>,
    /// What can be done at once.
    pub together: Option<Together>,
    /// How many more were found that are not worth it.
    pub hidden: u64,
    /// How many more were found that were not simulated, because others could save more.
    pub untried: u64,
    /// The most that one of them could save \[s\].
    pub untried_s: f64,
}

impl Ranked {
    /// Advice that was not simulated, the most time at stake first; `everything`: also waits that are short against the
    /// `computed` time of all ranks \[s\].
    pub fn unsimulated(mut findings: Vec<Finding>, why: &str, computed: f64, everything: bool) -> Self {
        findings.arrange_by(by_stake);
        let judged = |finding: Finding| Judged {
            finding,
            changed: Err(why.to_owned()),
            not_in_it: 0,
            placement: Placement::default(),
            most_s: f64::INFINITY,
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

    /// Leaves out what is not worth it, given the time of all ranks \[s\].
    fn hide(&mut self, time_s: f64) {
        let all = self.findings.len();
        let base = self.base.as_ref();
        for judged in self.findings.iter().filter(|judged| judged.is_untried()) {
            self.untried += 1;
            self.untried_s = self.untried_s.max(judged.most_s);
        }
        self.findings.retain(|judged| judged.is_worth(base, time_s));
        self.hidden = (all - self.findings.len()) as u64 - self.untried;
    }
}

impl<'a> Judge<'a> {
    /// Simulates findings and ranks them: by the time they save, then those of which that is not known by the time at
    /// stake. Without `everything`, what is not worth it is left out.
    ///
    /// Cost: a walk of the critical path each; so many simulations as there are for all, or of a thorough judge one
    /// each and four of those that move; and a few more for all together.
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

    /// Simulates findings; of several placements of one the best counts, and its text says which.
    fn judge(&self, base: &Base, findings: Vec<Finding>) -> Vec<Judged> {
        let mut open: Vec<Open> = findings.into_par_iter().map(|finding| self.open(base, finding)).collect();
        let prunes = !self.thorough && self.is_bound();
        let least = if prunes { LEAST_GAIN * base.simulated.makespan_s } else { f64::NEG_INFINITY };
        // The same change of what the program runs on may be advised at several places.
        let twins: Vec<usize> = (0..open.len())
            .map(|at| {
                let change = &open[at].finding.change;
                let is_twin = |other: &&Open| matches!(change, Change::Scenario(_)) && other.finding.change == *change;
                open.iter().position(|other| is_twin(&other)).unwrap_or(at)
            })
            .collect();
        let mut left = if self.thorough { usize::MAX } else { SIMULATIONS };
        loop {
            let mut next: Vec<(f64, usize)> = (0..open.len())
                .filter(|&at| twins[at] == at && !open[at].placements.is_empty())
                .map(|at| (open[at].hope(&base.simulated), at))
                .filter(|&(hope, _)| hope >= least)
                .collect();
            // As much hope: each of them once before one of them twice.
            next.arrange_by(|&(a_hope, a), &(b_hope, b)| {
                let (a, b) = (&open[a], &open[b]);
                let by_tries = b.weight.total_cmp(&a.weight);
                b_hope.total_cmp(&a_hope).then(by_tries).then_with(|| by_stake(&a.finding, &b.finding))
            });
            next.truncate(if self.thorough { usize::MAX } else { AT_ONCE.min(left) });
            if next.is_empty() {
                break;
            }
            left -= next.len().min(left);
            let played: Vec<Outcome> =
                next.par_iter().map(|&(_, at)| self.at(base, &open[at].finding, open[at].placements[0])).collect();
            for ((_, at), played) in next.into_iter().zip(played) {
                open[at].take(played);
            }
        }
        let done: Vec<Option<Outcome>> = twins.iter().map(|&at| open[at].best.clone()).collect();
        let close = |(open, best): (Open, Option<Outcome>)| open.close(best, self.is_bound(), &base.simulated);
        open.into_iter().zip(done).map(close).collect()
    }

    /// Whether what the critical path says of a change is sure: nothing but messages connects the ranks, and each of
    /// them does one thing after the other.
    pub(super) fn is_bound(&self) -> bool {
        let plain = self.replay.system().node().facts().path_bounds;
        // What lies on no critical path of the whole run may still shorten a region.
        let whole = self.replay.work().region.is_none();
        plain && whole && self.replay.network().is_none() && !self.replay.work().program.has_graphs()
    }

    /// When a simulation that may take so many times as long as the program as it is need not go on \[s\]: it is known
    /// then to be slower. Of a region nothing is known before the end.
    pub(super) fn until(&self, base: &Base, times: f64) -> Option<f64> {
        let whole = self.replay.work().region.is_none();
        (whole && !self.thorough).then_some(times * base.simulated.makespan_s)
    }

    /// A finding before it is simulated.
    fn open(&self, base: &Base, finding: Finding) -> Open {
        let touched = Touched::by(&finding.change, &base.program, super::rules::eager(self));
        let most_s = match self.thorough {
            true => f64::INFINITY,
            false => touched.and_then(|touched| most_saved(base, &touched)).unwrap_or(f64::INFINITY),
        };
        let placements = match &finding.change {
            Change::None => Vec::new(),
            Change::Program { edits, .. } if self.thorough => {
                let moves = edits.iter().any(|edit| matches!(edit.action, Action::Overlap { .. }));
                Placement::ALL[..if moves { 4 } else { 1 }].to_vec()
            }
            Change::Program { edits, .. } => Placement::that_differ(edits),
            Change::Scenario(_) => vec![Placement::default()],
        };
        Open { finding, most_s, placements, weight: 1.0, best: None }
    }

    /// Simulates a finding at a placement.
    fn at(&self, base: &Base, finding: &Finding, placement: Placement) -> Outcome {
        let left_out = match &finding.change {
            Change::Program { left_out, .. } => *left_out,
            _ => 0,
        };
        let until = self.until(base, 1.0);
        match self.change(&finding.change, placement) {
            Err(why) => Outcome { changed: Err(why), not_in_it: left_out, placement },
            Ok((replay, applied)) => Outcome {
                changed: self.play_until(&replay, base.simulated.unreceived, until),
                not_in_it: left_out + applied.taken + applied.unknown,
                placement,
            },
        }
    }

    /// What the change makes of the replay.
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

    /// Plays it; `known` messages are not received in the program as it is.
    ///
    /// # Errors
    /// It does not come to its end.
    pub fn play(&self, replay: &Scenario<ProgramWork>, known: u64) -> Result<Simulated, String> {
        self.play_until(replay, known, None)
    }

    /// Plays it, until it is known to take longer than this \[s\].
    fn play_until(&self, replay: &Scenario<ProgramWork>, known: u64, until: Option<f64>) -> Result<Simulated, String> {
        let until = until.map(Time::from_seconds);
        let options = RunOptions { until, watch: self.watch, ..RunOptions::default() };
        received(&replay.run(options), known, until.is_some())
    }

    /// When it ends \[s\], where it comes to its end by `until`.
    pub(super) fn makespan(&self, replay: &Scenario<ProgramWork>, known: u64, until: Option<f64>) -> Option<f64> {
        let until = until.map(Time::from_seconds);
        // Nothing is kept: only when it ends is asked for.
        let options = RunOptions { until, room: Some(0), watch: self.watch, ..RunOptions::default() };
        Some(received(&replay.run(options), known, until.is_some()).ok()?.makespan_s)
    }
}

/// What simulating a finding at a placement gave.
#[derive(Clone, Debug)]
struct Outcome {
    changed: Result<Simulated, String>,
    not_in_it: u64,
    placement: Placement,
}

/// A finding that is being judged.
struct Open {
    finding: Finding,
    /// Most that it could save \[s\].
    most_s: f64,
    /// Where it has not been tried yet.
    placements: Vec<Placement>,
    /// What of its hope counts: less with each that was tried.
    weight: f64,
    best: Option<Outcome>,
}

impl Open {
    /// What another simulation may show \[s\]: what could be saved beyond what is known to be, less with each that was
    /// tried.
    fn hope(&self, base: &Simulated) -> f64 {
        let best = self.best.as_ref().and_then(|best| best.changed.as_ref().ok());
        let saved = best.map_or(0.0, |best| base.makespan_s - best.makespan_s).max(0.0);
        // What has no bound comes first, by the time at stake.
        if self.most_s.is_finite() { (self.most_s - saved) * self.weight } else { self.most_s }
    }

    fn take(&mut self, played: Outcome) {
        self.placements.remove(0);
        self.weight *= AGAIN;
        let better = match (&self.best, &played.changed) {
            (None, _) => true,
            (Some(Outcome { changed: Err(why), .. }), Err(other)) => why == SLOWER && other != SLOWER,
            (Some(Outcome { changed: Err(_), .. }), Ok(_)) => true,
            (Some(Outcome { changed: Ok(old), .. }), Ok(new)) => new.makespan_s < old.makespan_s,
            _ => false,
        };
        if better {
            self.best = Some(played);
        }
    }

    /// With the best that was found; `sure` says that it cannot save more than its bound.
    fn close(self, best: Option<Outcome>, sure: bool, base: &Simulated) -> Judged {
        let Self { mut finding, most_s, .. } = self;
        let left_out = match &finding.change {
            Change::Program { left_out, .. } => *left_out,
            _ => 0,
        };
        let why = match &finding.change {
            Change::None => "there is no change that follows from the run alone",
            _ if sure && most_s < LEAST_GAIN * base.makespan_s => NO_USE,
            _ => UNTRIED,
        };
        let not = Outcome { changed: Err(why.to_owned()), not_in_it: left_out, placement: Placement::default() };
        let Outcome { changed, not_in_it, placement } = best.unwrap_or(not);
        finding.text.extend(placement.text().map(str::to_owned));
        Judged { finding, changed, not_in_it, placement, most_s }
    }
}

/// What a replay gave, where it came to its end; `bounded` says that it was stopped where it took too long.
fn received(replayed: &ProgramOutcome, known: u64, bounded: bool) -> Result<Simulated, String> {
    if bounded && replayed.report.head.status == Status::Interrupted {
        return Err(SLOWER.to_owned());
    }
    let simulated = outcome(replayed)?;
    if simulated.unreceived > known {
        return Err(format!("{} messages would not be received", simulated.unreceived - known));
    }
    Ok(simulated)
}

/// What a replay says of itself.
///
/// # Errors
/// It did not come to its end.
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

/// The same program on what a change makes of the scenario.
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

/// Another program of as many ranks on the same.
pub(super) fn with_program(
    replay: &Scenario<ProgramWork>,
    program: impl Into<Arc<Program>>,
) -> Result<Scenario<ProgramWork>, String> {
    replay.with_work(replay.work().with_program(program.into())).map_err(|mistake| mistake.message)
}

/// Collectives with one algorithm named.
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

/// Orders findings by what they save, in steps of [`LEAST_GAIN`]; of one step the proven ones come first. What was not
/// simulated comes last.
fn order(a: &Judged, b: &Judged, base: &Simulated) -> Ordering {
    let gain = |judged: &Judged| judged.saved_s(base).unwrap_or(f64::NEG_INFINITY);
    let step = |judged: &Judged| (gain(judged) / (LEAST_GAIN * base.makespan_s)).round();
    (step(b).total_cmp(&step(a)))
        .then_with(|| a.finding.certainty().cmp(&b.finding.certainty()))
        .then_with(|| gain(b).total_cmp(&gain(a)))
        .then_with(|| by_stake(&a.finding, &b.finding))
}

/// Orders findings by the time at stake; at one time the proven ones come first.
fn by_stake(a: &Finding, b: &Finding) -> Ordering {
    b.time_ns
        .cmp(&a.time_ns)
        .then_with(|| a.certainty().cmp(&b.certainty()))
        .then_with(|| a.rule.cmp(&b.rule))
        .then_with(|| a.id.len().cmp(&b.id.len()))
        .then_with(|| a.id.cmp(&b.id))
}
