//! What a change brings: the changed program, played on the same nodes and network.
//!
//! ```text
//! gain = makespan of the program as it is - makespan of the changed program
//! ```
//! What can be posted and waited for at several places is simulated at each [`Placement`]; the best one counts.
//! A change that the simulation shows to deadlock, or that leaves messages nobody receives, has no gain but a reason.
//! Findings are simulated in parallel, each by itself; their order does not depend on which is done first.

use std::cmp::Ordering;
use std::sync::Arc;

use hayase_advice::model::{Action, Certainty, Change, Finding, RuleId, ScenarioChange};
use rayon::prelude::*;
use serde::Serialize;

use super::edit::{Applied, Changed, Placement};
use super::together::Together;
use crate::engine::Watch;
use crate::node::NodeSpec;
use crate::report::Status;
use crate::report::replay::PathPart;
use crate::scenario::replay::{Replay, ReplayOptions, Replayed};
use crate::units::Bytes;
use crate::workload::program::collectives::{CollectivesSpec, Operation};

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
    pub replay: &'a Replay,
    /// How long a rank takes to copy a byte \[ps/B\].
    pub copy: f64,
    /// Looks on and may end each simulation.
    pub watch: Option<&'a dyn Watch>,
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
}

impl Judged {
    /// Time saved \[s\]; negative where the change costs time.
    pub fn saved_s(&self, base: &Simulated) -> Option<f64> {
        self.changed.as_ref().ok().map(|changed| base.makespan_s - changed.makespan_s)
    }

    /// Whether it saves something; of what was not simulated, whether enough of the time of all ranks \[s\] is at stake.
    fn is_worth(&self, base: Option<&Simulated>, time_s: f64) -> bool {
        if let Some((base, saved)) = base.and_then(|base| Some((base, self.saved_s(base)?))) {
            return saved >= LEAST_GAIN * base.makespan_s;
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
}

impl Ranked {
    /// Advice that was not simulated, the most time at stake first; `everything`: also waits that are short against the `computed` time
    /// of all ranks \[s\].
    pub fn unsimulated(mut findings: Vec<Finding>, why: &str, computed: f64, everything: bool) -> Self {
        findings.sort_by(by_stake);
        let judged = |finding: Finding| Judged {
            finding,
            changed: Err(why.to_owned()),
            not_in_it: 0,
            placement: Placement::default(),
        };
        let mut ranked =
            Self { base: None, findings: findings.into_iter().map(judged).collect(), together: None, hidden: 0 };
        if !everything {
            ranked.hide(computed);
        }
        ranked
    }

    /// Leaves out what is not worth it, given the time of all ranks \[s\].
    fn hide(&mut self, time_s: f64) {
        let all = self.findings.len();
        let base = self.base.as_ref();
        self.findings.retain(|judged| judged.is_worth(base, time_s));
        self.hidden = (all - self.findings.len()) as u64;
    }
}

impl<'a> Judge<'a> {
    /// Simulates all findings and ranks them: by the time they save, then those of which that is not known by the time at stake. Without
    /// `everything`, what is not worth it is left out.
    ///
    /// Cost: one simulation each, four of those that move, and up to one more for all together.
    pub fn rank(&self, base: &Simulated, findings: Vec<Finding>, everything: bool) -> Ranked {
        let mut judged: Vec<Judged> = findings.into_par_iter().map(|finding| self.judge(base, finding)).collect();
        judged.sort_by(|a, b| order(a, b, base));
        let mut ranked = Ranked { base: Some(base.clone()), findings: judged, together: None, hidden: 0 };
        if !everything {
            ranked.hide(base.makespan_s * f64::from(self.replay.program.ranks()));
        }
        ranked.together = self.together(base, &ranked.findings);
        ranked
    }

    /// Simulates one finding; of several placements the best counts, and its text says which.
    pub fn judge(&self, base: &Simulated, mut finding: Finding) -> Judged {
        let left_out = match &finding.change {
            Change::Program { left_out, .. } => *left_out,
            _ => 0,
        };
        let moves = match &finding.change {
            Change::Program { edits, .. } => edits.iter().any(|edit| matches!(edit.action, Action::Overlap { .. })),
            _ => false,
        };
        let placements = if moves { &Placement::ALL[..] } else { &Placement::ALL[..1] };
        let mut best: Option<(Result<Simulated, String>, u64, Placement)> = None;
        for &placement in placements {
            let (changed, not_in_it) = match self.change(&finding.change, placement) {
                Err(why) => (Err(why), left_out),
                Ok((replay, applied)) => {
                    (self.play(&replay, base.unreceived), left_out + applied.taken + applied.unknown)
                }
            };
            let better = match (&best, &changed) {
                (None, _) | (Some((Err(_), ..)), Ok(_)) => true,
                (Some((Ok(old), ..)), Ok(new)) => new.makespan_s < old.makespan_s,
                _ => false,
            };
            if better {
                best = Some((changed, not_in_it, placement));
            }
        }
        let (changed, not_in_it, placement) = best.unwrap_or((Err(String::new()), left_out, Placement::default()));
        finding.text.extend(placement.text().map(str::to_owned));
        Judged { finding, changed, not_in_it, placement }
    }

    /// What the change makes of the replay.
    fn change(&self, change: &Change, placement: Placement) -> Result<(Replay, Applied), String> {
        match change {
            Change::None => Err("there is no change that follows from the run alone".into()),
            Change::Program { edits, .. } => {
                let mut changed = Changed::new(&self.replay.program, self.copy);
                let applied = changed.add(edits, placement).map_err(|refused| refused.why)?;
                Ok((self.replay.with_program(Arc::new(changed.build()?)), applied))
            }
            Change::Scenario(change) => Ok((scenario(self.replay, change)?, Applied::default())),
        }
    }

    /// Plays it; `known` messages are not received in the program as it is.
    ///
    /// # Errors
    /// It does not come to its end.
    pub fn play(&self, replay: &Replay, known: u64) -> Result<Simulated, String> {
        let replayed = replay.run(ReplayOptions { watch: self.watch, ..ReplayOptions::default() });
        let simulated = outcome(&replayed)?;
        if simulated.unreceived > known {
            return Err(format!("{} messages would not be received", simulated.unreceived - known));
        }
        Ok(simulated)
    }
}

/// What a replay says of itself.
///
/// # Errors
/// It did not come to its end.
pub fn outcome(replayed: &Replayed) -> Result<Simulated, String> {
    match replayed.report.status {
        Status::Complete => Ok(Simulated {
            makespan_s: replayed.report.asked_s(),
            whole_s: replayed.report.region.as_ref().map(|_| replayed.report.makespan_s),
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
pub(super) fn scenario(replay: &Replay, change: &ScenarioChange) -> Result<Replay, String> {
    let mut replay = replay.clone();
    match change {
        ScenarioChange::RaiseEager { to } => match &mut replay.node {
            NodeSpec::Loggps(spec) => {
                // Where the packet's length was that of S by default, it stays what it was.
                spec.s.get_or_insert(spec.sync);
                spec.sync = Bytes(*to).into();
            }
            NodeSpec::Loggp(spec) => spec.sync = Some(Bytes(*to).into()),
            other => return Err(format!("the node model `{}` knows no limit S", other.name())),
        },
        ScenarioChange::Placement { nodes } => {
            return replay.with_nodes(nodes).ok_or_else(|| "the ranks do not fit there".to_owned());
        }
        ScenarioChange::Algorithm { collective, algorithm } => {
            replay.collectives = with_algorithm(&replay.collectives, collective, algorithm)?;
        }
    }
    Ok(replay)
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

/// The more it saves the earlier; what was not simulated comes last.
fn order(a: &Judged, b: &Judged, base: &Simulated) -> Ordering {
    let by_gain = match (a.saved_s(base), b.saved_s(base)) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    by_gain.then_with(|| by_stake(&a.finding, &b.finding))
}

/// The more time is at stake the earlier.
fn by_stake(a: &Finding, b: &Finding) -> Ordering {
    b.time_ns
        .cmp(&a.time_ns)
        .then_with(|| a.rule.cmp(&b.rule))
        .then_with(|| a.id.len().cmp(&b.id.len()))
        .then_with(|| a.id.cmp(&b.id))
}
