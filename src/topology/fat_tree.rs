//! Fat-tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;

/// `[topology.fat-tree]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FatTreeSpec {}

impl FatTreeSpec {
    /// Builds the fabric.
    pub(super) fn build(&self) -> Result<Fabric, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
