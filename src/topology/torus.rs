//! Torus and mesh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;

/// `[topology.torus]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorusSpec {}

impl TorusSpec {
    /// Builds the fabric.
    pub(super) fn build(&self) -> Result<Fabric, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}

/// `[topology.mesh]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MeshSpec {}

impl MeshSpec {
    /// Builds the fabric.
    pub(super) fn build(&self) -> Result<Fabric, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
