//! What if: a program played again and again with one parameter of nodes or network changed at a time.
//!
//! The program is read once; every point is built and played on its own, on all cores, and what comes out does not
//! depend on how many there are. Beside the points stand limits: what is left on an ideal network, and if nobody waited.

mod amount;
mod halved;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Control, SweepProgress};
use crate::diagnostic::Invalid;
use crate::engine::{Progress, Watch};
use crate::player::Stuck;
use crate::report::replay::ReplayReport;
use crate::report::whatif::{Limits, SCHEMA, Sensitivity, WhatIfPoint, WhatIfReport, elasticity};
use crate::report::{self, Meta, Status};
use crate::scenario::Loader;
use crate::scenario::replay::{Replay, ReplayOptions, Replayed};

pub use amount::Amount;
pub use halved::halved_and_doubled;

/// A program, what it is played on, and what is changed.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// What is played with nothing changed.
    pub base: Replay,
    /// The texts that say so; changes are laid over them.
    pub loader: Loader,
    /// What is changed.
    pub varied: Vec<Varied>,
    /// Whether every parameter is halved and doubled: then what matters most comes first.
    pub tornado: bool,
}

/// One parameter and its values.
#[derive(Clone, Debug)]
pub struct Varied {
    /// Its name, for people.
    pub parameter: String,
    /// Its unchanged value, if it has one.
    pub base: Option<String>,
    /// What is tried.
    pub trials: Vec<Trial>,
}

/// One value.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The value, for people.
    pub value: String,
    /// The same in base units, if it is a number.
    pub number: Option<f64>,
    /// What is done.
    pub change: Change,
}

/// What is changed.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// The speed of processors.
    CpuSpeed(f64),
    /// A key of the scenario, `node.loggps.L=1 us`.
    Set(String),
}

/// Ends a run when all are ended.
struct Cancel<'a>(Control<'a>);

impl Watch for Cancel<'_> {
    fn tick(&self, _: Progress) -> bool {
        !self.0.is_cancelled()
    }
}

impl WhatIf {
    /// Plays the program unchanged, on an ideal network, and with every change; also says who waits for whom, where the
    /// unchanged program deadlocks (nothing else is tried then).
    ///
    /// # Errors
    /// Changes that give no scenario, whatever their number; nothing is played then.
    pub fn run(&self, control: Control<'_>) -> Result<(WhatIfReport, Vec<Stuck>), Invalid> {
        let start = report::wall_clock();
        let trials: Vec<(usize, &Trial)> =
            self.varied.iter().enumerate().flat_map(|(i, varied)| varied.trials.iter().map(move |t| (i, t))).collect();
        // Mistakes are better known before a long run than after it.
        let checked: Vec<Option<Invalid>> = trials.par_iter().map(|(_, trial)| self.changed(trial).err()).collect();
        let refused = self.refused(&trials, checked)?;
        let (done, total) = (AtomicUsize::new(0), trials.len() + 2);
        let messages = self.base.program.messages();
        let play = |replay: &Replay| -> Replayed {
            let replayed = replay.run(ReplayOptions { watch: Some(&Cancel(control)), ..ReplayOptions::default() });
            let runs = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(progress) = control.progress {
                let (messages, total_messages) = (runs as u64 * messages, total as u64 * messages);
                progress(SweepProgress { runs, total_runs: total, messages, total_messages });
            }
            replayed
        };
        let (base, ideal) = rayon::join(|| play(&self.base), || play(&self.base.without_network()));
        let (base, stuck, ideal) = (base.report, base.stuck, ideal.report);
        let mut events = base.meta.events + ideal.meta.events;
        let whole = base.status == Status::Complete && ideal.status == Status::Complete;
        let mut complete = whole;
        let mut varied: Vec<Sensitivity> = Vec::new();
        if whole {
            let points = trials
                .par_iter()
                .zip(refused)
                .with_max_len(1)
                .map(|((_, trial), refused)| match refused {
                    Some(refused) => Ok(Some((failed(trial, refused), 0))),
                    None => {
                        let point = point(trial, &play(&self.changed(trial)?).report, base.asked_s());
                        let note = self.follows(trial).map(|(note, _)| note);
                        Ok(point.map(|(point, events)| (WhatIfPoint { note, ..point }, events)))
                    }
                })
                .collect::<Vec<Result<Option<(WhatIfPoint, u64)>, Invalid>>>();
            varied = self.varied.iter().map(named).collect();
            for ((i, _), point) in trials.iter().zip(points) {
                match point? {
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
                varied.sort_by(|a, b| b.swing().total_cmp(&a.swing()));
            }
        }
        let (makespan_s, chosen) = (base.asked_s(), base.chosen());
        let measured_s = chosen.map_or(base.measured_s, |region| region.recorded_s);
        let report = WhatIfReport {
            schema: SCHEMA,
            limits: limits(&base, &ideal),
            scenario: base.scenario,
            program: base.program,
            incomplete: base.incomplete,
            lack_of_cores: base.lack_of_cores,
            node: base.node,
            network: base.network,
            status: base.status,
            stopped: base.stopped,
            makespan_s,
            measured_s,
            region: base.region,
            tornado: self.tornado,
            varied,
            complete,
            meta: Meta {
                wall_s: start.elapsed().as_secs_f64(),
                events,
                packet_hops: None,
                peak_rss_bytes: report::peak_rss(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        };
        Ok((report, stuck))
    }

    /// Why each trial cannot be played, where it cannot. A number that does not go with the other parameters is a result, like
    /// the others of its range, unless none of them does; anything else is a mistake.
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

    /// What changes with a parameter of the node model because it would not go with it otherwise. For people, and as an assignment.
    fn follows(&self, trial: &Trial) -> Option<(String, String)> {
        let Change::Set(assignment) = &trial.change else { return None };
        let node = &self.base.node;
        let (parameter, value) =
            assignment.strip_prefix("node.")?.strip_prefix(node.name())?.strip_prefix('.')?.split_once('=')?;
        let follows = node.follows(parameter, Amount::read(value)?.raw())?;
        Some((format!("{follows} = {} too", trial.value), format!("node.{}.{follows}={value}", node.name())))
    }

    /// What is played with this change.
    fn changed(&self, trial: &Trial) -> Result<Replay, Invalid> {
        match &trial.change {
            Change::CpuSpeed(cpu_speed) => {
                let mut replay = self.base.clone();
                replay.cpu_speed = *cpu_speed;
                Ok(replay)
            }
            Change::Set(assignment) => {
                let mut loader = self.loader.clone().set("--vary", assignment);
                if let Some((_, follows)) = self.follows(trial) {
                    loader = loader.set("--vary", &follows);
                }
                let replay =
                    loader.load_replay(Arc::clone(&self.base.program), &self.base.name, self.base.cpu_speed)?;
                Ok(replay.with_region(self.base.region))
            }
        }
    }
}

fn named(varied: &Varied) -> Sensitivity {
    let (parameter, base) = (varied.parameter.clone(), varied.base.clone());
    Sensitivity { parameter, base, elasticity: None, points: Vec::with_capacity(varied.trials.len()) }
}

/// What came out of one change, and its events; nothing where it was ended early.
fn point(trial: &Trial, report: &ReplayReport, unchanged_s: f64) -> Option<(WhatIfPoint, u64)> {
    let time_s = report.asked_s();
    let point = match report.status {
        Status::Interrupted => return None,
        Status::Deadlocked => WhatIfPoint { stopped: report.stopped, ..failed(trial, "deadlocks".to_owned()) },
        Status::Complete => WhatIfPoint {
            time_s: Some(time_s),
            change: (unchanged_s > 0.0).then(|| time_s / unchanged_s - 1.0),
            ..failed(trial, String::new())
        },
    };
    let failed = point.failed.clone().filter(|reason| !reason.is_empty());
    Some((WhatIfPoint { failed, ..point }, report.meta.events))
}

fn failed(trial: &Trial, reason: String) -> WhatIfPoint {
    let (value, number) = (trial.value.clone(), trial.number);
    WhatIfPoint { value, number, time_s: None, change: None, stopped: None, failed: Some(reason), note: None }
}

/// The first of the mistakes.
fn reason(invalid: &Invalid) -> String {
    invalid.diagnostics.first().map_or_else(String::new, |diagnostic| diagnostic.message.clone())
}

/// What is not known of an interrupted study is no number.
fn limits(base: &ReplayReport, ideal: &ReplayReport) -> Limits {
    // A rank may do several things at once, but not beyond its end.
    let most = |of: fn(&report::replay::RankReport) -> f64| {
        base.ranks.iter().map(|rank| of(rank).min(rank.end_s)).fold(0.0, f64::max)
    };
    Limits {
        ideal_s: if ideal.status == Status::Interrupted { f64::NAN } else { ideal.asked_s() },
        zero_wait_s: most(|rank| rank.compute_s + rank.send_overhead_s + rank.recv_overhead_s),
        compute_s: most(|rank| rank.compute_s),
    }
}
