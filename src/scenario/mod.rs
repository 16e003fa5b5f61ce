//! Scenarios: from texts to something that can be run.
//!
//! [`Loader`] collects texts (a scenario file, `-t`, `-p`, `--set`), checks them all at once, and builds a
//! [`Scenario`]: a [`System`] and its work. [`schema()`] describes scenario files.

mod assignment;
mod build;
mod collective_names;
mod contents;
mod estimated;
mod farm_load;
mod guard;
mod init;
mod job;
mod job_load;
mod jobs;
mod json;
mod known;
pub mod library;
mod links;
pub(crate) mod llm;
mod load;
mod loader;
mod notes;
mod overlay;
mod paths;
mod presets;
mod program_load;
mod read;
mod routed;
mod schema;
mod section;
mod settings;
mod shared;
mod slow;
mod tasks;
mod varied;
pub(crate) mod with_options;

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::engine::Watch;
use crate::farm::{FarmSpec, MasterSlaveSpec};
use crate::network::Network;
use crate::simulation::{FarmWork, JobsWork, PatternWork, ProgramWork, RunOptions, Simulated, Summary, Work};
use crate::system::System;
use crate::system::WorkloadSpec;

pub use contents::{Contents, TableKind, contents};
pub use farm_load::FarmPlan;
pub use init::{init, init_defaults};
pub use job::JobSpec;
pub(crate) use known::OF_PLANS;
pub use known::{KEYS, node_parameters};
pub use links::LinkSpec;
pub use loader::Loader;
pub use routed::{RoutedFabric, Workload};
pub use schema::schema;
pub use settings::settings_as_toml;
pub(crate) use varied::{Base, Identity, Setting, Variant};

/// A system and the work that runs on it: complete, checked and built.
#[derive(Clone, Debug)]
pub struct Scenario<W = Work> {
    system: System,
    work: W,
    /// Keys that identify this one of several variants.
    keys: BTreeMap<String, String>,
    sources: Sources,
}

/// Prefix of the keys of the work.
const OF_WORK: &str = "workload.";

/// Reason why a run does not fail: a scenario is only made of work that fits its system.
const WORK_FITS: &str = "work of a scenario fits its system";

impl<W: Simulated> Scenario<W> {
    /// Creates a scenario of this work on this system.
    ///
    /// # Errors
    /// The work does not fit the system.
    pub fn new(system: System, work: W) -> Result<Self, Diagnostic> {
        work.fits(&system)?;
        Ok(Self { system, work, keys: BTreeMap::new(), sources: Sources::default() })
    }

    /// Creates a scenario that was read from these texts and checked.
    fn read(system: System, work: W, sources: Sources) -> Self {
        Self { system, work, keys: BTreeMap::new(), sources }
    }

    /// Returns the system.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Returns the work.
    pub fn work(&self) -> &W {
        &self.work
    }

    /// Returns the keys, with their values, that identify this one of several variants.
    pub fn keys(&self) -> &BTreeMap<String, String> {
        &self.keys
    }

    /// Runs the work on the system.
    pub fn run(&self, options: RunOptions<'_>) -> W::Outcome {
        self.work.play(&self.system, options).expect(WORK_FITS)
    }

    /// Returns the seed of everything random.
    pub fn seed(&self) -> u64 {
        self.system.seed()
    }

    /// Returns true if another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        self.system.depends_on_seed() || self.work.depends_on_seed()
    }

    /// Returns the scenario with another seed: everything random is drawn again, all else is shared.
    ///
    /// # Errors
    /// Something cannot be built with this seed.
    pub fn with_seed(&self, seed: u64) -> Result<Self, Invalid> {
        let mut sources = self.sources.clone();
        let drawn = self.system.with_seed(seed, &mut sources).and_then(|system| {
            let work = self.work.with_seed_of(&system, &mut sources)?;
            Ok((system, work))
        });
        let (system, work) = drawn.map_err(|diagnostics| Invalid { diagnostics, sources })?;
        Ok(Self { system, work, ..self.clone() })
    }

    /// Returns the same work on another system. Only the keys of the work that identify a variant are kept.
    ///
    /// # Errors
    /// The work does not fit the system.
    pub fn with_system(&self, system: System) -> Result<Self, Diagnostic> {
        self.work.fits(&system)?;
        let mut scenario = Self { system, ..self.clone() };
        scenario.keys.retain(|key, _| key.starts_with(OF_WORK));
        Ok(scenario)
    }

    /// Returns the scenario with ranks on these nodes. Returns `None` without a network, if a node does not
    /// exist or has two ranks, if their number is not the number of ranks, or if messages have paths that lead
    /// elsewhere.
    #[must_use]
    pub fn with_nodes(&self, nodes: &[u32]) -> Option<Self> {
        let system = self.system.with_nodes(nodes)?;
        self.work.fits(&system).ok()?;
        Some(Self { system, ..self.clone() })
    }

    /// Returns other work on the same system. Only the keys of the system that identify a variant are kept.
    ///
    /// # Errors
    /// The work does not fit the system.
    pub fn with_work(&self, work: W) -> Result<Self, Diagnostic> {
        work.fits(&self.system)?;
        let mut scenario = Self { work, ..self.clone() };
        scenario.keys.retain(|key, _| !key.starts_with(OF_WORK));
        Ok(scenario)
    }

    /// Returns the network with the ranks on it, if there is one.
    pub fn network(&self) -> Option<&Network> {
        self.system.network()
    }

    /// Returns the name of the network that carries the messages, for people.
    pub fn network_name(&self) -> String {
        self.work.network_name(&self.system)
    }

    /// Returns the scenario as JSON, with all defaults. [`Loader::file`] reads the same scenario from it.
    pub fn to_json(&self) -> serde_json::Value {
        self.work.to_json(&self.system)
    }

    /// Converts to a scenario of any kind of work.
    fn any(self, work: impl FnOnce(W) -> Work) -> Scenario {
        let Self { system, work: this, keys, sources } = self;
        Scenario { system, work: work(this), keys, sources }
    }
}

impl Scenario {
    /// Runs the scenario and returns its summary. For a program it includes the time on nodes and a network
    /// that cost nothing as the critical path; with `links`, the time that messages lose on links.
    pub fn measured(&self, watch: Option<&dyn Watch>, links: bool) -> Summary {
        self.work.measured(&self.system, watch, links).expect(WORK_FITS)
    }

    /// Replaces the fabric and routes by those of `known`, which are the same.
    pub(crate) fn share_network(&mut self, known: &Network) {
        self.system.share_network(known);
    }
}

/// Declares the kinds of work that a scenario of any work can have.
macro_rules! works {
    ($($kind:ident($work:ty),)*) => {
        $(
            impl From<Scenario<$work>> for Scenario {
                fn from(scenario: Scenario<$work>) -> Self {
                    scenario.any(|work| Work::$kind(Box::new(work)))
                }
            }
        )*
    };
}

works! { Pattern(PatternWork), Program(ProgramWork), Farm(FarmWork), Jobs(JobsWork), }

/// Result of loading texts: one scenario, or a farm that is tried in several ways.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// A pattern on a fabric.
    Pattern(Box<Scenario<PatternWork>>),
    /// A program on nodes, with or without a fabric.
    Program(Box<Scenario<ProgramWork>>),
    /// A master with its workers, and the variants to try.
    Farm(Box<Farm>),
    /// Several jobs on a fabric.
    Jobs(Box<Scenario<JobsWork>>),
}

/// A farm for each number of workers and each way of giving out tasks that its table lists.
#[derive(Clone, Debug)]
pub struct Farm {
    /// Scenario of each variant; at least one.
    pub points: Vec<Scenario<FarmWork>>,
    /// Specification of all variants, with paths relative to the working directory.
    pub written: WorkloadSpec,
    /// Description, for people, of the network and the way tasks are given out.
    pub setting: String,
}

impl Farm {
    /// Returns the table of the farm.
    pub fn spec(&self) -> Option<&MasterSlaveSpec> {
        match &self.written {
            WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)) => Some(spec),
            _ => None,
        }
    }
}

impl Loaded {
    /// Returns the only scenario.
    ///
    /// # Errors
    /// A farm is tried in several ways; `help` says what to write instead.
    fn only(self, help: &str) -> Result<Scenario, Invalid> {
        let mut all = self.split();
        match (all.pop(), all.len()) {
            (Some(one), 0) => Ok(one),
            (_, more) => {
                let message = format!("one scenario is needed, and this farm is tried in {} ways", more + 1);
                let diagnostic = Diagnostic::new("too-many-points", message).help(help);
                Err(diagnostic.into())
            }
        }
    }

    /// Returns a scenario for each variant.
    pub fn split(self) -> Vec<Scenario> {
        match self {
            Self::Pattern(scenario) => vec![(*scenario).into()],
            Self::Program(scenario) => vec![(*scenario).into()],
            Self::Farm(farm) => farm.points.into_iter().map(Scenario::from).collect(),
            Self::Jobs(scenario) => vec![(*scenario).into()],
        }
    }
}
