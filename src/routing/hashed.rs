//! Hashed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Router;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;

/// `[routing.hashed]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct HashedSpec {}

impl HashedSpec {
    pub(super) fn build(&self, _fabric: &Arc<Fabric>, _seed: u64) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
