//! Scenarios: from text to something that can be run.
//!
//! [`Loader`] collects texts (a scenario file, `-t`, `-p`, `--set`), checks them all at once, and builds a
//! [`Scenario`]: a [`System`] and what runs on it. What a scenario file can say: [`schema()`].

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
mod with_options;

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::engine::Watch;
use crate::farm::{FarmSpec, MasterSlaveSpec};
use crate::network::Network;
use crate::simulation::{FarmWork, JobsWork, PatternWork, ProgramWork, RunOptions, Simulated, Summary, Work};
use crate::system::System;
use crate::system::WorkloadSpec;

pub use contents::{Contents, Kind, contents};
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

/// A system and what runs on it: complete, checked and built.
#[derive(Clone, Debug)]
pub struct Scenario<W = Work> {
    system: System,
    work: W,
    /// Where it is one of several that are tried: the keys that say which.
    keys: BTreeMap<String, String>,
    sources: Sources,
}

/// What keys of the work begin with.
const OF_WORK: &str = "workload.";

/// The reason why a run does not fail: no scenario is made of work that does not fit its system.
const FITS: &str = "work of a scenario fits its system";

impl<W: Simulated> Scenario<W> {
    /// This work on this system.
    ///
    /// # Errors
    /// Work that does not fit the system.
    pub fn new(system: System, work: W) -> Result<Self, Diagnostic> {
        work.fits(&system)?;
        Ok(Self { system, work, keys: BTreeMap::new(), sources: Sources::default() })
    }

    /// What was read from these texts, and checked there.
    fn read(system: System, work: W, sources: Sources) -> Self {
        Self { system, work, keys: BTreeMap::new(), sources }
    }

    /// What it runs on.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// What runs.
    pub fn work(&self) -> &W {
        &self.work
    }

    /// Where it is one of several that are tried: the keys of the scenario that say which, with their values.
    pub fn keys(&self) -> &BTreeMap<String, String> {
        &self.keys
    }

    /// Runs it.
    pub fn run(&self, options: RunOptions<'_>) -> W::Outcome {
        self.work.play(&self.system, options).expect(FITS)
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.system.seed()
    }

    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        self.system.depends_on_seed() || self.work.depends_on_seed()
    }

    /// The same with another seed: what is random is drawn again, everything else is shared.
    ///
    /// # Errors
    /// What cannot be built with this seed.
    pub fn with_seed(&self, seed: u64) -> Result<Self, Invalid> {
        let mut sources = self.sources.clone();
        let drawn = self.system.with_seed(seed, &mut sources).and_then(|system| {
            let work = self.work.with_seed_of(&system, &mut sources)?;
            Ok((system, work))
        });
        let (system, work) = drawn.map_err(|diagnostics| Invalid { diagnostics, sources })?;
        Ok(Self { system, work, ..self.clone() })
    }

    /// The same work on another system; of keys that were tried those of the work remain.
    ///
    /// # Errors
    /// Work that does not fit it.
    pub fn with_system(&self, system: System) -> Result<Self, Diagnostic> {
        self.work.fits(&system)?;
        let mut scenario = Self { system, ..self.clone() };
        scenario.keys.retain(|key, _| key.starts_with(OF_WORK));
        Ok(scenario)
    }

    /// The same with ranks on these nodes; `None` if there is no network, a node is not there or has two ranks, or the
    /// ranks are not so many.
    #[must_use]
    pub fn with_nodes(&self, nodes: &[u32]) -> Option<Self> {
        Some(Self { system: self.system.with_nodes(nodes)?, ..self.clone() })
    }

    /// Other work on the same system; of keys that were tried those of the system remain.
    ///
    /// # Errors
    /// Work that does not fit it.
    pub fn with_work(&self, work: W) -> Result<Self, Diagnostic> {
        work.fits(&self.system)?;
        let mut scenario = Self { work, ..self.clone() };
        scenario.keys.retain(|key, _| !key.starts_with(OF_WORK));
        Ok(scenario)
    }

    /// The network with the ranks on it, if there is one.
    pub fn network(&self) -> Option<&Network> {
        self.system.network()
    }

    /// What carries the messages, for people.
    pub fn network_name(&self) -> String {
        self.work.network_name(&self.system)
    }

    /// The scenario as JSON, with every default put in; read back by [`Loader::file`] it is the same.
    pub fn to_json(&self) -> serde_json::Value {
        self.work.to_json(&self.system)
    }

    /// The same, for whom it does not matter what runs.
    fn any(self, work: impl FnOnce(W) -> Work) -> Scenario {
        let Self { system, work: this, keys, sources } = self;
        Scenario { system, work: work(this), keys, sources }
    }
}

impl Scenario {
    /// What a run comes to; of a program with its time on nodes and a network that cost nothing as its critical path.
    pub fn measured(&self, watch: Option<&dyn Watch>) -> Summary {
        self.work.measured(&self.system, watch).expect(FITS)
    }

    /// Has it run on this fabric with these routes, which are the same as its own.
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

/// What texts say: one scenario, or a farm that is tried in several ways.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// A pattern on a fabric.
    Pattern(Box<Scenario<PatternWork>>),
    /// A program on nodes, and on a fabric where there is one.
    Program(Box<Scenario<ProgramWork>>),
    /// A master with its workers, and what of both is tried.
    Farm(Box<Farm>),
    /// Several jobs on a fabric.
    Jobs(Box<Scenario<JobsWork>>),
}

/// A farm for every number of workers and every way of giving out tasks that its table lists.
#[derive(Clone, Debug)]
pub struct Farm {
    /// Each as a scenario of its own; at least one.
    pub points: Vec<Scenario<FarmWork>>,
    /// What was written of all of them; paths as they are seen from the working directory.
    pub written: WorkloadSpec,
    /// The network and how tasks are given out, for people.
    pub setting: String,
}

impl Farm {
    /// The table of the farm.
    pub fn spec(&self) -> Option<&MasterSlaveSpec> {
        match &self.written {
            WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)) => Some(spec),
            _ => None,
        }
    }
}

impl Loaded {
    /// The one scenario that it is.
    ///
    /// # Errors
    /// A farm that is tried in several ways; `help` says what to write instead.
    fn only(self, help: &str) -> Result<Scenario, Invalid> {
        let mut all = self.split();
        match (all.pop(), all.len()) {
            (Some(one), 0) => Ok(one),
            (_, more) => {
                let message = format!("one scenario is needed, and this farm is tried in {} ways", more + 1);
                let diagnostic = Diagnostic::new("too-many-points", message).help(help);
                Err(Invalid { diagnostics: vec![diagnostic], ..Invalid::default() })
            }
        }
    }

    /// Each of what is tried.
    pub fn split(self) -> Vec<Scenario> {
        match self {
            Self::Pattern(scenario) => vec![(*scenario).into()],
            Self::Program(scenario) => vec![(*scenario).into()],
            Self::Farm(farm) => farm.points.into_iter().map(Scenario::from).collect(),
            Self::Jobs(scenario) => vec![(*scenario).into()],
        }
    }
}
