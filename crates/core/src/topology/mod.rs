//! Topologies: families of fabrics, one file each.
//!
//! A family is a `...Spec` (its keys in a scenario) whose `build` makes a [`Fabric`] with the family's
//! properties ([`crate::fabric::Family`]). To add one: a file here, and a line in `topologies!` below (and
//! its `mod`, where `rustfmt` finds it).

mod between;
mod common;
mod crossbar;
mod custom;
mod direct;
#[cfg(test)]
mod direct_tests;
mod dragonfly;
mod dragonfly_plus;
mod fat_tree;
mod galois;
mod hyper_crossbar;
mod hyperx;
#[cfg(feature = "simulator")]
mod infragraph;
mod jellyfish;
mod multi_plane;
#[cfg(feature = "simulator")]
mod node_link;
mod polarfly;
mod rails;
mod ring_of_rings;
#[cfg(feature = "simulator")]
mod simgrid;
mod slim_fly;
mod torus;

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;

use common::Topology;

pub use between::Arrangement;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub use between::COLUMNS as CABLES;
pub use common::OneOrList;
pub use crossbar::CrossbarSpec;
pub use custom::CustomSpec;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub use custom::{LINK_COLUMNS as LINKS, ROUTE_COLUMNS as ROUTES};
pub use dragonfly::DragonflySpec;
pub use dragonfly_plus::DragonflyPlusSpec;
pub use fat_tree::FatTreeSpec;
pub use hyper_crossbar::HyperCrossbarSpec;
pub use hyperx::HyperxSpec;
#[cfg(feature = "simulator")]
pub use infragraph::InfragraphSpec;
pub use jellyfish::JellyfishSpec;
pub use multi_plane::MultiPlaneSpec;
#[cfg(feature = "simulator")]
pub use node_link::{GraphSpec, is_graph};
pub use polarfly::PolarflySpec;
pub use rails::RailsSpec;
#[cfg(feature = "simulator")]
pub use simgrid::SimgridSpec;
pub use slim_fly::SlimFlySpec;
pub use torus::{MeshSpec, TorusSpec};

/// Defines the variants of [`TopologySpec`], each with its family.
macro_rules! topologies {
    ($($(#[doc = $about:literal])* $(#[cfg($($when:tt)*)])? $variant:ident($spec:ty),)*) => {
        /// Topology of a scenario: `[topology.fat-tree]` and so on.
        #[spec]
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
    /// Groups of switches, joined pair by pair.
    Dragonfly(dragonfly::DragonflySpec),
    /// Groups that are trees of two levels, joined by their upper switches.
    DragonflyPlus(dragonfly_plus::DragonflyPlusSpec),
    /// A complete graph along each line of each dimension.
    Hyperx(hyperx::HyperxSpec),
    /// Graphs of diameter 2 over a finite field, of points and lines.
    SlimFly(slim_fly::SlimFlySpec),
    /// Graphs of diameter 2 over a finite field, of the points of a projective plane.
    Polarfly(polarfly::PolarflySpec),
    /// Switches joined at random.
    Jellyfish(jellyfish::JellyfishSpec),
    /// Servers of accelerators with a switch inside, joined rail by rail.
    Rails(rails::RailsSpec),
    /// Rings of switches, joined to a ring.
    RingOfRings(ring_of_rings::RingOfRingsSpec),
    /// Copies of a fabric side by side, and nodes with several network cards: node i has cards `nics i` to
    /// `nics i + nics - 1` of each copy.
    MultiPlane(multi_plane::MultiPlaneSpec),
    /// A graph from files.
    Custom(custom::CustomSpec),
    /// A graph from a node-link JSON file.
    #[cfg(feature = "simulator")]
    Graph(node_link::GraphSpec),
    /// An infrastructure from an InfraGraph YAML file.
    #[cfg(feature = "simulator")]
    Infragraph(infragraph::InfragraphSpec),
    /// A SimGrid platform file.
    #[cfg(feature = "simulator")]
    Simgrid(simgrid::SimgridSpec),
}

impl TopologySpec {
    /// Builds the fabric. Files named in the specification are read, and kept in `sources` if they are small.
    ///
    /// # Errors
    /// Every mistake of the specification and of the files it names.
    pub fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        self.family().build(sources)
    }

    /// Returns the paths of files named in the specification.
    pub fn files(&mut self) -> Vec<&mut Located<String>> {
        self.family_mut().files()
    }
}
