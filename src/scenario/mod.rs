//! Scenarios: from text to something that can be run.
//!
//! [`Loader`] collects texts (a scenario file, `-t`, `-p`, `--set`), [`ScenarioFile`] is what they say together,
//! [`Scenario`] is the same checked and built: whoever holds one need not check again.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Invalid, Located};
use crate::engine::Watch;
use crate::fabric::Fabric;
use crate::placement::{Placement, PlacementSpec};
use crate::report::{LinkUse, MessageRecord, Rate, Report};
use crate::routing::{Router, RoutingSpec};
use crate::sharing::SharingSpec;
use crate::topology::TopologySpec;
use crate::units::Time;
use crate::workload::Blocked;
use crate::workload::pattern::{Injection, Pattern, WorkloadSpec};

/// What to observe of a run, beside what its report needs.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Whether to record busy time and number of flows of each link (bytes are always recorded).
    pub link_use: bool,
    /// Called for each message when it is delivered.
    pub on_message: Option<&'a mut dyn FnMut(&MessageRecord)>,
    /// Looks on and may end the run.
    pub watch: Option<&'a dyn Watch>,
}

/// What a run gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// The report; its links are the most used ones.
    pub report: Report,
    /// All links, by id (busy time and flows are 0 unless they were asked for).
    pub links: Vec<LinkUse>,
    /// Who waits for whom, where the program deadlocked.
    pub blocked: Vec<Blocked>,
}

/// What the texts say together: every table of a scenario file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScenarioFile {
    /// The seed of everything random (default 1).
    #[serde(default)]
    pub seed: u64,
    /// Smallest step of simulated time (default 0 s; only to reproduce published results).
    #[serde(default)]
    pub resolution: Located<Time>,
    /// The fabric.
    pub topology: TopologySpec,
    /// The routes (default: what is usual for the topology).
    pub routing: Option<RoutingSpec>,
    /// Where ranks are (default regular).
    pub placement: Option<PlacementSpec>,
    /// How flows share links (default max-min).
    #[serde(default)]
    pub sharing: SharingSpec,
    /// What ranks send.
    pub workload: WorkloadSpec,
}

/// Collects the texts of a scenario; later ones override earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Loader {}

impl Loader {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// A scenario file (TOML, or a JSON report whose scenario is run again).
    pub fn file(self, _path: &Path) -> Self {
        self
    }
    /// `-t`: a named topology or a file with a `[topology.*]` table.
    pub fn topology(self, _name_or_path: &str) -> Self {
        self
    }
    /// `-p`: a named pattern, a file with a `[workload.*]` table, or a CSV of messages.
    pub fn pattern(self, _name_or_path: &str) -> Self {
        self
    }
    /// `--placement`: `regular`, `random`, `block`, `round-robin` or a CSV file.
    pub fn placement(self, _name_or_path: &str) -> Self {
        self
    }
    /// `--set topology.fat-tree.p=4`; also what `--sharing max-min` (`sharing.max-min={}`), `--size`, `--injection`,
    /// `--routing`, `--jitter`, `--seed` are turned into. `flag` names it in messages.
    pub fn set(self, _flag: &str, _assignment: &str) -> Self {
        self
    }
    /// Reads, checks and builds it all; every mistake is reported at once.
    pub fn load(self) -> Result<Scenario, Invalid> {
        Err(Invalid::default())
    }
}

/// A scenario that can be run: complete, checked and built.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What was written.
    pub file: ScenarioFile,
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// Its routes.
    pub router: Arc<dyn Router>,
    /// Where ranks are.
    pub placement: Placement,
    /// What they send.
    pub pattern: Arc<dyn Pattern>,
    /// What the workload is, for people: `all-to-all simple-spread, 20 KB`.
    pub workload_name: String,
    /// When they send it.
    pub injection: Injection,
    /// Largest start offset of a rank.
    pub jitter: Time,
    /// How flows share links.
    pub sharing: SharingSpec,
    /// Smallest step of simulated time.
    pub resolution: Time,
    /// The seed of everything random.
    pub seed: u64,
}

impl Scenario {
    /// The same with another seed (placement, routing, jitter and patterns that are random are drawn again).
    pub fn with_seed(&self, _seed: u64) -> Result<Self, Invalid> {
        Ok(self.clone())
    }
    /// Runs it.
    pub fn run(&self, options: RunOptions<'_>) -> Run {
        let _ = options;
        unreachable!()
    }
    /// The rates of the messages of the first step, all under way at once.
    pub fn rates(&self) -> Vec<Rate> {
        Vec::new()
    }
}
