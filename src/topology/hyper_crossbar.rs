//! Hyper-crossbar.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;

/// `[topology.hyper-crossbar]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HyperCrossbarSpec {}

impl HyperCrossbarSpec {
    /// Builds the fabric.
    pub(super) fn build(&self) -> Result<Fabric, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
