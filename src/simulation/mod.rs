//! Simulation: work on a system, and its outcome.
//!
//! [`simulate`] is the only way to an outcome. It runs [`Work`] on a [`System`]. Work is a pattern
//! ([`PatternWork`]), a program ([`ProgramWork`]), a master with its workers ([`FarmWork`]) or several of
//! these as jobs ([`JobsWork`]). Each kind of work has a file of its own, which says how it is played and
//! what its report contains. [`Work`] covers all kinds for callers that do not distinguish them.

mod beginning;
mod estimate;
mod farm;
mod followed;
mod interference;
mod job_links;
mod jobs;
mod link_uses;
mod optimum;
mod pattern;
mod program;
mod program_path;
mod program_regions;
mod ranks;
mod rings;
mod simulated;
mod step;
mod summary;
mod symmetry;
mod waits;

use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::Watch;
use crate::pattern::Injection;
use crate::report::{Bounds, Status};
use crate::system::System;
use crate::system::WorkloadSpec;

pub(crate) use farm::arranged;
pub use farm::{FarmOutcome, FarmWork};
pub use jobs::{Job, JobWork, JobsOutcome, JobsWork};
pub use link_uses::LinkUses;
pub use pattern::{PatternOutcome, PatternWork};
pub(crate) use program::calls_of;
pub use program::{KEPT, KEPT_RANKS, ProgramOutcome, ProgramWork};
pub use rings::{Rings, RingsTimes};
pub use simulated::{RunOptions, Simulated};
pub use summary::Summary;

/// Runs work on a system.
///
/// # Errors
/// Work that does not fit the system: a pattern without a network, or more ranks than places.
pub fn simulate<W: Simulated>(system: &System, work: &W, options: RunOptions<'_>) -> Result<W::Outcome, Diagnostic> {
    work.fits(system)?;
    work.play(system, options)
}

/// Work of any kind.
#[derive(Clone, Debug)]
pub enum Work {
    /// Messages as a function of rank and number.
    Pattern(Box<PatternWork>),
    /// Calls of each rank.
    Program(Box<ProgramWork>),
    /// A master that deals tasks to workers.
    Farm(Box<FarmWork>),
    /// Several pieces of work at the same time.
    Jobs(Box<JobsWork>),
}

/// Outcome of work of any kind.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Outcome of a pattern.
    Pattern(Box<PatternOutcome>),
    /// Outcome of a program.
    Program(Box<ProgramOutcome>),
    /// Outcome of a farm.
    Farm(Box<FarmOutcome>),
    /// Outcome of several jobs.
    Jobs(Box<JobsOutcome>),
}

/// Evaluates an expression on whichever kind of work is inside.
macro_rules! any {
    ($work:expr, $it:ident => $answer:expr) => {
        match $work {
            Work::Pattern($it) => $answer,
            Work::Program($it) => $answer,
            Work::Farm($it) => $answer,
            Work::Jobs($it) => $answer,
        }
    };
}

impl Simulated for Work {
    type Outcome = Outcome;

    fn fits(&self, system: &System) -> Result<(), Diagnostic> {
        any!(self, work => work.fits(system))
    }

    fn play(&self, system: &System, options: RunOptions<'_>) -> Result<Outcome, Diagnostic> {
        Ok(match self {
            Self::Pattern(work) => Outcome::Pattern(Box::new(work.play(system, options)?)),
            Self::Program(work) => Outcome::Program(Box::new(work.play(system, options)?)),
            Self::Farm(work) => Outcome::Farm(Box::new(work.play(system, options)?)),
            Self::Jobs(work) => Outcome::Jobs(Box::new(work.play(system, options)?)),
        })
    }

    fn summary(outcome: &Outcome) -> Summary {
        match outcome {
            Outcome::Pattern(outcome) => PatternWork::summary(outcome),
            Outcome::Program(outcome) => ProgramWork::summary(outcome),
            Outcome::Farm(outcome) => FarmWork::summary(outcome),
            Outcome::Jobs(outcome) => JobsWork::summary(outcome),
        }
    }

    fn ends(outcome: &Outcome) -> Vec<f64> {
        match outcome {
            Outcome::Program(outcome) => ProgramWork::ends(outcome),
            _ => Vec::new(),
        }
    }

    fn name(&self) -> &str {
        any!(self, work => work.name())
    }

    fn ranks(&self) -> u32 {
        any!(self, work => work.ranks())
    }

    fn messages(&self) -> u64 {
        any!(self, work => work.messages())
    }

    fn spec(&self) -> Option<&WorkloadSpec> {
        any!(self, work => work.spec())
    }

    fn depends_on_seed(&self) -> bool {
        any!(self, work => work.depends_on_seed())
    }

    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        Ok(match self {
            Self::Pattern(work) => Self::Pattern(Box::new(work.with_seed_of(system, sources)?)),
            Self::Program(work) => Self::Program(Box::new(work.with_seed_of(system, sources)?)),
            Self::Farm(work) => Self::Farm(Box::new(work.with_seed_of(system, sources)?)),
            Self::Jobs(work) => Self::Jobs(Box::new(work.with_seed_of(system, sources)?)),
        })
    }

    fn to_json(&self, system: &System) -> serde_json::Value {
        any!(self, work => work.to_json(system))
    }

    fn network_name(&self, system: &System) -> String {
        any!(self, work => work.network_name(system))
    }
}

impl Outcome {
    /// Returns the figures that all kinds of work share.
    pub fn summary(&self) -> Summary {
        Work::summary(self)
    }
}

impl Work {
    /// Runs the work and returns its figures, as studies show them.
    ///
    /// For a program the critical path is its makespan on nodes and a network that cost nothing, which takes a second
    /// run. Jobs are also run alone, which takes one more run for each. With `links` the time that messages lose on
    /// links is measured as for a single run, except in estimates and where steps are counted instead of played.
    ///
    /// # Errors
    /// Work that needs a network on a system without one.
    pub fn measured(&self, system: &System, watch: Option<&dyn Watch>, links: bool) -> Result<Summary, Diagnostic> {
        let links = links && system.estimate().is_none();
        let Self::Program(program) = self else {
            let link_use = match self {
                Self::Pattern(work) => links && work.injection != Injection::Barrier && work.usual().link_use,
                _ => false,
            };
            let options = RunOptions { watch, alone: true, in_step: true, link_use, ..RunOptions::default() };
            let outcome = self.play(system, options)?;
            let summary = outcome.summary();
            let estimated = summary.estimated.clone().or_else(|| estimate::not_estimated(system, "farms and jobs"));
            let links = match &outcome {
                Outcome::Pattern(outcome) if links => outcome.links.kinds(),
                _ => Vec::new(),
            };
            return Ok(Summary { estimated, links, ..summary });
        };
        let play = |system: &System, link_use: bool| {
            let options = RunOptions { watch, room: Some(0), link_use, ..RunOptions::default() };
            program.play(system, options)
        };
        let outcome = play(system, links && program.usual().link_use)?;
        let played = outcome.summary();
        let links = if links { outcome.links.kinds() } else { Vec::new() };
        let ideal = match played.status {
            Status::Complete => Some(play(&system.without_network(), false)?.summary()),
            _ => None,
        };
        let ideal = ideal.filter(|ideal| ideal.status == Status::Complete);
        Ok(Summary { bounds: Bounds { path_s: ideal.map(|ideal| ideal.makespan_s), ..played.bounds }, links, ..played })
    }
}
