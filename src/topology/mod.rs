//! Topologies: families of fabrics, one file each.
//!
//! A family is a `...Spec` (what the scenario says) whose `build` makes a [`Fabric`], with what the family knows of it
//! ([`crate::fabric::Family`]). To add one: a file here, and a line in `topologies!` below (and its `mod`, where
//! `rustfmt` finds it).

mod common;
mod crossbar;
mod custom;
mod fat_tree;
mod hyper_crossbar;
#[cfg(feature = "simulator")]
mod simgrid;
mod torus;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;

use common::Topology;

pub use common::OneOrList;
pub use crossbar::CrossbarSpec;
pub use custom::CustomSpec;
pub use fat_tree::FatTreeSpec;
pub use hyper_crossbar::HyperCrossbarSpec;
#[cfg(feature = "simulator")]
pub use simgrid::SimgridSpec;
pub use torus::{MeshSpec, TorusSpec};

/// The variants of [`TopologySpec`], each with its family.
macro_rules! topologies {
    ($($(#[doc = $about:literal])* $(#[cfg($($when:tt)*)])? $variant:ident($spec:ty),)*) => {
        /// The topology of a scenario: `[topology.fat-tree]` and so on.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum TopologySpec {
            $($(#[doc = $about])* $(#[cfg($($when)*)])? $variant($spec),)*
        }

        impl TopologySpec {
            fn family(&self) -> &dyn Topology {
                match self {
                    $($(#[cfg($($when)*)])? Self::$variant(spec) => spec,)*
                }
            }

            fn family_mut(&mut self) -> &mut dyn Topology {
                match self {
                    $($(#[cfg($($when)*)])? Self::$variant(spec) => spec,)*
                }
            }
        }
    };
}

topologies! {
    /// One switch.
    Crossbar(crossbar::CrossbarSpec),
    /// A grid with a crossbar along each line of nodes in each dimension.
    HyperCrossbar(hyper_crossbar::HyperCrossbarSpec),
    /// A tree of switches, several parents allowed.
    FatTree(fat_tree::FatTreeSpec),
    /// A grid whose dimensions are closed to rings.
    Torus(torus::TorusSpec),
    /// A grid whose dimensions are open, or closed one by one.
    Mesh(torus::MeshSpec),
    /// A graph from files.
    Custom(custom::CustomSpec),
    /// A SimGrid platform file.
    #[cfg(feature = "simulator")]
    Simgrid(simgrid::SimgridSpec),
}

impl TopologySpec {
    /// Builds the fabric. Files that the specification names are read, and kept in `sources` where they are small.
    ///
    /// # Errors
    /// Every mistake of the specification and of the files it names.
    pub fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        self.family().build(sources)
    }

    /// The paths of files that the specification names.
    pub fn files(&mut self) -> Vec<&mut Located<String>> {
        self.family_mut().files()
    }
}
