//! Pattern files.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spec::Traffic;
use super::{Injection, Pattern};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::units::Time;

/// `[workload.file]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FileSpec {
    /// The file, relative to the one that names it.
    pub path: Located<String>,
    /// When a rank sends its next message.
    #[serde(default)]
    pub injection: Located<Injection>,
    /// Each rank starts at a random time below this.
    #[serde(default)]
    pub message_jitter: Located<Time>,
}

impl FileSpec {
    pub(super) fn build(&self, _sources: &mut Sources) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        Err(Vec::new())
    }
    pub(super) fn traffic(&self) -> Traffic {
        Traffic { injection: self.injection, message_jitter: self.message_jitter }
    }
    pub(super) fn title(&self) -> String {
        format!("messages of {}", *self.path)
    }
}
