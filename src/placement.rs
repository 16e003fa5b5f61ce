//! Placement: which node each rank runs on.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Sources};
use crate::fabric::Fabric;
use crate::ids::{IdVec, NodeId, RankId};

/// The node of each rank; no two ranks share one.
pub type Placement = IdVec<RankId, NodeId>;

/// The placement of a scenario: `[placement.random]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementSpec {
    /// Rank r on node r.
    Regular(RegularSpec),
}

/// `[placement.regular]`: no options.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RegularSpec {}

impl PlacementSpec {
    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Regular(_) => false,
        }
    }

    /// Places `ranks` ranks on the nodes of the fabric.
    ///
    /// # Errors
    /// More ranks than nodes, or a mistake in the file.
    pub fn build(
        &self,
        ranks: u32,
        _fabric: &Arc<Fabric>,
        _seed: u64,
        _sources: &mut Sources,
    ) -> Result<Placement, Vec<Diagnostic>> {
        Ok((0..ranks).map(NodeId).collect())
    }
}
