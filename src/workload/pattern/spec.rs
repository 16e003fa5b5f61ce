//! The patterns of a scenario: `[workload.all-to-all]` and so on.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file::FileSpec;
use super::{Injection, Pattern};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::units::Time;

/// The workload of a scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadSpec {
    /// Messages listed in a CSV file.
    File(FileSpec),
}

/// What every workload says beside its own options: each `...Spec` has these as its own fields `injection` and
/// `message-jitter`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traffic {
    /// When a rank sends its next message.
    pub injection: Located<Injection>,
    /// Each rank starts at a random time below this [ps].
    pub message_jitter: Located<Time>,
}

impl WorkloadSpec {
    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::File(_) => false,
        }
    }

    /// The pattern for a fabric of so many nodes: it has a rank for each, where the workload does not say otherwise.
    ///
    /// # Errors
    /// Every mistake of the specification and of the file it names.
    pub fn build(&self, nodes: u32, seed: u64, sources: &mut Sources) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let _ = (nodes, seed);
        match self {
            Self::File(spec) => spec.build(sources),
        }
    }

    /// When its messages may go.
    pub fn traffic(&self) -> Traffic {
        match self {
            Self::File(spec) => spec.traffic(),
        }
    }

    /// What it is, for people: `all-to-all simple-spread, 20 KB`.
    pub fn title(&self) -> String {
        match self {
            Self::File(spec) => spec.title(),
        }
    }
}
