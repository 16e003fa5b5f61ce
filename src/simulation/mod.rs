//! Simulating: work on a system, and what came of it.
//!
//! [`simulate`] is the only way to an outcome. What runs is [`Work`]: a pattern ([`PatternWork`]), a program
//! ([`ProgramWork`]) or a master with its workers ([`FarmWork`]); what it runs on is a [`System`]. Each kind of work
//! says in its own file how it is played and what its report holds; whoever does not care which it is asks [`Work`].

mod farm;
mod pattern;
mod program;
mod program_path;
mod program_regions;
mod summary;

use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::Watch;
use crate::player::{OnActivity, OnMark, OnTransfer};
use crate::report::MessageRecord;
use crate::system::System;
use crate::units::Time;
use crate::workload::WorkloadSpec;

pub(crate) use farm::arranged;
pub use farm::{FarmOutcome, FarmWork};
pub use pattern::{PatternOutcome, PatternWork};
pub(crate) use program::calls_of;
pub use program::{KEPT, ProgramOutcome, ProgramWork};
pub use summary::Summary;

/// What to observe of a run, beside what its report needs.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Of a pattern: whether to record busy time and number of flows of each link (bytes are always recorded).
    pub link_use: bool,
    /// Of a pattern: called for each message when it is delivered.
    pub on_message: Option<&'a mut dyn FnMut(&MessageRecord)>,
    /// Of a program: called with everything that ranks do.
    pub on_activity: Option<OnActivity<'a>>,
    /// Of a program: called with every message that is received.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Of a program: called with every border of a region.
    pub on_mark: Option<OnMark<'a>>,
    /// Of a program: whether everything is kept, however long the run; otherwise up to `room` activities and messages
    /// are.
    pub keep: bool,
    /// Of a program: how many activities and messages are kept of a run, and nothing of a longer one; [`KEPT`] if it is
    /// not said.
    pub room: Option<usize>,
    /// Of a program: the run is stopped here, at a time that is no longer of interest.
    pub until: Option<Time>,
    /// Looks on and may end the run.
    pub watch: Option<&'a dyn Watch>,
}

/// Work that can be simulated.
pub trait Simulated: Clone + std::fmt::Debug + Send + Sync {
    /// What comes of it.
    type Outcome;

    /// Whether it can run on this system.
    ///
    /// # Errors
    /// Why it cannot.
    fn fits(&self, system: &System) -> Result<(), Diagnostic>;

    /// Runs it on a system that it fits. Ask [`simulate`], which makes sure of that.
    fn play(&self, system: &System, options: RunOptions<'_>) -> Self::Outcome;

    /// What came of it, in the figures that all work has in common.
    fn summary(outcome: &Self::Outcome) -> Summary;

    /// What it is, for people: `all-to-all simple-spread, 20 KB`.
    fn name(&self) -> &str;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Number of messages, for progress; of a program without those of its collectives.
    fn messages(&self) -> u64;

    /// What a scenario says of it, if one does.
    fn spec(&self) -> Option<&WorkloadSpec>;

    /// Whether another seed gives other work.
    fn depends_on_seed(&self) -> bool;

    /// The same for a system with another seed: what is random is drawn again.
    ///
    /// # Errors
    /// What cannot be built with the seed.
    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>>;

    /// The scenario of it on this system, as JSON, with every default put in.
    fn to_json(&self, system: &System) -> serde_json::Value {
        system.to_json(self.spec(), false)
    }

    /// What carries its messages on this system, for people.
    fn network_name(&self, system: &System) -> String {
        system.network_name()
    }
}

/// Runs work on a system.
///
/// # Errors
/// Work that does not fit the system: a pattern without a network, more ranks than have places.
pub fn simulate<W: Simulated>(system: &System, work: &W, options: RunOptions<'_>) -> Result<W::Outcome, Diagnostic> {
    work.fits(system)?;
    Ok(work.play(system, options))
}

/// Any work.
#[derive(Clone, Debug)]
pub enum Work {
    /// Messages as a function of rank and number.
    Pattern(PatternWork),
    /// What ranks do, call by call.
    Program(Box<ProgramWork>),
    /// A master that gives out tasks.
    Farm(Box<FarmWork>),
}

/// What came of any work.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Of a pattern.
    Pattern(Box<PatternOutcome>),
    /// Of a program.
    Program(Box<ProgramOutcome>),
    /// Of a farm.
    Farm(Box<FarmOutcome>),
}

/// Asks whichever work it is.
macro_rules! any {
    ($work:expr, $it:ident => $answer:expr) => {
        match $work {
            Work::Pattern($it) => $answer,
            Work::Program($it) => $answer,
            Work::Farm($it) => $answer,
        }
    };
}

impl Simulated for Work {
    type Outcome = Outcome;

    fn fits(&self, system: &System) -> Result<(), Diagnostic> {
        any!(self, work => work.fits(system))
    }

    fn play(&self, system: &System, options: RunOptions<'_>) -> Outcome {
        match self {
            Self::Pattern(work) => Outcome::Pattern(Box::new(work.play(system, options))),
            Self::Program(work) => Outcome::Program(Box::new(work.play(system, options))),
            Self::Farm(work) => Outcome::Farm(Box::new(work.play(system, options))),
        }
    }

    fn summary(outcome: &Outcome) -> Summary {
        match outcome {
            Outcome::Pattern(outcome) => PatternWork::summary(outcome),
            Outcome::Program(outcome) => ProgramWork::summary(outcome),
            Outcome::Farm(outcome) => FarmWork::summary(outcome),
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
            Self::Pattern(work) => Self::Pattern(work.with_seed_of(system, sources)?),
            Self::Program(work) => Self::Program(Box::new(work.with_seed_of(system, sources)?)),
            Self::Farm(work) => Self::Farm(Box::new(work.with_seed_of(system, sources)?)),
        })
    }

    fn to_json(&self, system: &System) -> serde_json::Value {
        any!(self, work => work.to_json(system))
    }

    fn network_name(&self, system: &System) -> String {
        any!(self, work => work.network_name(system))
    }
}

/// The mistake of work that needs a network.
fn without_network(name: &str) -> Diagnostic {
    let message = format!("{name} needs a network to send its messages over");
    Diagnostic::new("missing-network", message).help("build the system with System::new")
}

/// The mistake of more ranks than have places, or other ones.
fn misplaced(name: &str, ranks: u32, places: usize) -> Diagnostic {
    let message = format!("{name} has {ranks} ranks, and {places} have a place on the network");
    Diagnostic::new("too-few-nodes", message).help("place every rank")
}

/// Whether every rank has a place, where there is a network.
fn fits_places(name: &str, ranks: u32, system: &System) -> Result<(), Diagnostic> {
    match system.network().map(|network| network.placement.len()) {
        Some(places) if places < ranks as usize => Err(misplaced(name, ranks, places)),
        _ => Ok(()),
    }
}
