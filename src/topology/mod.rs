//! Topologies: families of fabrics, one file each.
//!
//! A family is a `...Spec` (what the scenario says) whose `build` makes a [`Fabric`]. To add one: a file here, a
//! variant of [`TopologySpec`], and a line in its `build`.

mod common;
mod crossbar;
mod custom;
mod fat_tree;
mod hyper_crossbar;
#[cfg(feature = "simulator")]
mod simgrid;
mod torus;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Sources};
use crate::fabric::Fabric;

pub use common::OneOrList;
pub use crossbar::CrossbarSpec;
pub use custom::CustomSpec;
pub use fat_tree::FatTreeSpec;
pub use hyper_crossbar::HyperCrossbarSpec;
#[cfg(feature = "simulator")]
pub use simgrid::SimgridSpec;
pub use torus::{MeshSpec, TorusSpec};

/// The topology of a scenario: `[topology.fat-tree]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TopologySpec {
    /// One switch.
    Crossbar(CrossbarSpec),
    /// A grid with a crossbar along each line of nodes in each dimension.
    HyperCrossbar(HyperCrossbarSpec),
    /// A tree of switches, several parents allowed.
    FatTree(FatTreeSpec),
    /// A grid whose dimensions are closed to rings.
    Torus(TorusSpec),
    /// A grid whose dimensions are open, or closed one by one.
    Mesh(MeshSpec),
    /// A graph from files.
    Custom(CustomSpec),
    /// A SimGrid platform file.
    #[cfg(feature = "simulator")]
    Simgrid(SimgridSpec),
}

impl TopologySpec {
    /// Builds the fabric. Files that the specification names are read, and kept in `sources` where they are small.
    ///
    /// # Errors
    /// Every mistake of the specification and of the files it names.
    pub fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        match self {
            Self::Crossbar(spec) => spec.build(),
            Self::HyperCrossbar(spec) => spec.build(),
            Self::FatTree(spec) => spec.build(),
            Self::Torus(spec) => spec.build(),
            Self::Mesh(spec) => spec.build(),
            Self::Custom(spec) => spec.build(sources),
            #[cfg(feature = "simulator")]
            Self::Simgrid(spec) => spec.build(sources),
        }
    }
}
