//! Shortest path.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Router;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;

/// `[routing.shortest-path]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ShortestPathSpec {}

impl ShortestPathSpec {
    pub(super) fn build(&self, _fabric: &Arc<Fabric>) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
