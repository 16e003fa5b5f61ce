//! Custom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Sources};
use crate::fabric::Fabric;

/// `[topology.custom]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CustomSpec {}

impl CustomSpec {
    /// Builds the fabric.
    pub(super) fn build(&self, _sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
