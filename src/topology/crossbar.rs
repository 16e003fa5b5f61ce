//! Crossbar.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;

/// `[topology.crossbar]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CrossbarSpec {}

impl CrossbarSpec {
    /// Builds the fabric.
    pub(super) fn build(&self) -> Result<Fabric, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
