//! Scenarios: from text to something that can be run.
//!
//! [`Loader`] collects texts (a scenario file, `-t`, `-p`, `--set`), [`ScenarioFile`] is what they say together,
//! [`Scenario`] is the same checked and built: whoever holds one need not check again.

mod build;
mod collective_names;
mod control;
pub mod farm;
mod farm_load;
mod guard;
mod init;
mod json;
mod known;
pub mod library;
mod links;
mod load;
mod loader;
mod paths;
mod presets;
mod read;
pub mod replay;
mod replay_load;
mod replay_path;
mod replay_regions;
mod run;
mod runnable;
mod schema;
mod tasks;
pub mod variation;

use std::sync::Arc;

use serde::Serialize;

use crate::diagnostic::{Located, Sources};
use crate::engine::Watch;
use crate::node::NodeSpec;
use crate::placement::PlacementSpec;
use crate::report::{LinkUse, MessageRecord, Report};
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::system::Network;
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;
use crate::units::Time;
use crate::workload::pattern::{Injection, Pattern};
use crate::workload::program::collectives::CollectivesSpec;
use crate::workload::{Blocked, WorkloadSpec};

pub use build::{RoutedFabric, Work};
pub use control::{Control, SweepProgress};
pub use farm::Farm;
pub use farm_load::FarmPlan;
pub use init::{init, init_defaults};
pub use known::{KEYS, node_parameters};
pub use links::LinkSpec;
pub use loader::Loader;
pub use runnable::{Measured, Runnable};
pub use schema::schema;

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
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScenarioFile {
    /// The seed of everything random (default 1).
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Smallest step of simulated time (default 0 s; only to reproduce published results).
    #[serde(default)]
    pub resolution: Located<Time>,
    /// The fabric.
    pub topology: TopologySpec,
    /// What links have where the topology leaves them to the machine (default: as the topology says for that).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkSpec>,
    /// The routes (default: what is usual for the topology).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSpec>,
    /// Where ranks are (default regular).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSpec>,
    /// How flows share links (default max-min).
    #[serde(default)]
    pub sharing: SharingSpec,
    /// How messages move (default flow).
    #[serde(default, skip_serializing_if = "TransportSpec::is_default")]
    pub transport: TransportSpec,
    /// What a message costs at its two ends (default ideal: nothing; programs only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeSpec>,
    /// By which algorithms collectives are done (programs only; default: as MPICH chooses).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collectives: Option<CollectivesSpec>,
    /// What ranks send.
    pub workload: WorkloadSpec,
}

/// For the schema: of files, the seed is read apart.
#[cfg(test)]
fn first_seed() -> u64 {
    build::SEED
}

/// A scenario that can be run: complete, checked and built.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What was written.
    pub file: ScenarioFile,
    /// The network, with ranks on its nodes.
    pub network: Network,
    /// What they send.
    pub pattern: Arc<dyn Pattern>,
    /// What the workload is, for people: `all-to-all simple-spread, 20 KB`.
    pub workload_name: String,
    /// When they send it.
    pub injection: Injection,
    /// Largest start offset of a rank.
    pub jitter: Time,
    /// The seed of everything random.
    pub seed: u64,
    /// The texts it was read from.
    pub sources: Sources,
}
