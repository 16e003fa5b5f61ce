//! D-mod-k and S-mod-k.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Router;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;

/// `[routing.d-mod-k]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DModKSpec {}

impl DModKSpec {
    pub(super) fn build(&self, _fabric: &Arc<Fabric>) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}

/// `[routing.s-mod-k]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SModKSpec {}

impl SModKSpec {
    pub(super) fn build(&self, _fabric: &Arc<Fabric>) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}
