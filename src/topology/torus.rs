//! Torus and mesh: grids of nodes, each joined to its neighbours along every dimension.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{Cable, Mistakes, OneOrList, times};
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::{Fabric, FabricBuilder, Grid, LinkRole, Shape};
use crate::ids::VertexId;
use crate::units::{Bandwidth, Time};

macro_rules! grid_spec {
    ($(#[$meta:meta])* $name:ident, $family:literal, $closed:literal, $(#[$wrap:meta])*) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            /// Nodes along each dimension; node numbers grow along the first one first.
            pub dims: Located<Vec<Located<u32>>>,
            /// Bandwidth of a cable in each direction: one value, or a list with one for each dimension.
            pub bandwidth: Located<OneOrList<Bandwidth>>,
            /// Latency of a cable (default 0 s): one value, or a list with one for each dimension.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub latency: Option<Located<OneOrList<Time>>>,
            $(#[$wrap])*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub wrap: Option<Located<OneOrList<bool>>>,
            /// Whether nodes are joined to their switch by links of their own (default true); without, the node is the switch.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub host_link: Option<bool>,
            /// Bandwidth of the host links (default: the largest of the dimensions).
            #[serde(skip_serializing_if = "Option::is_none")]
            pub host_bandwidth: Option<Located<Bandwidth>>,
            /// Latency of the host links (default 0 s).
            #[serde(skip_serializing_if = "Option::is_none")]
            pub host_latency: Option<Located<Time>>,
            /// Bandwidth of a switch's output port, where it is less than that of the cable behind it.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub switch_port_bandwidth: Option<Located<Bandwidth>>,
        }

        impl $name {
            /// Builds the fabric.
            pub(super) fn build(&self) -> Result<Fabric, Vec<Diagnostic>> {
                let mut mistakes = Mistakes::default();
                let dims = mistakes.sizes(&self.dims, "dimensions");
                let (count, each) = (dims.len(), "dimensions");
                let wrap = self.wrap.as_ref().and_then(|wrap| mistakes.each(wrap, count, each));
                let wrap = wrap.unwrap_or_else(|| vec![$closed; count]);
                let bandwidths = mistakes.bandwidths(&self.bandwidth, count, each);
                let latencies = mistakes.latencies(self.latency.as_ref(), count, each);
                let port = mistakes.port(self.switch_port_bandwidth.as_ref());
                let host = Host {
                    link: self.host_link.unwrap_or(true),
                    bandwidth: self.host_bandwidth.as_ref(),
                    latency: self.host_latency.as_ref(),
                };
                let host_cable = host.check(&bandwidths, port, &mut mistakes);
                mistakes.fits(Grid::size(&dims, &wrap, host.link), &self.dims);
                mistakes.none()?;
                let cables = bandwidths.into_iter().zip(latencies);
                let cables: Vec<_> = cables.map(|(bandwidth, latency)| Cable { bandwidth, latency, port }).collect();
                let name = format!("{} {}", $family, times(&dims));
                Ok(build_grid(name, Grid::new(dims, wrap, host.link), &cables, host_cable))
            }
        }
    };
}

grid_spec!(
    /// `[topology.torus]`: a grid whose dimensions are closed to rings.
    TorusSpec, "torus", true,
    /// Whether the ends of a dimension are joined (default true): one value, or a list with one for each dimension. Two
    /// nodes along a dimension have one cable between them all the same.
);

grid_spec!(
    /// `[topology.mesh]`: a grid whose dimensions are open, or closed one by one.
    MeshSpec, "mesh", false,
    /// Whether the ends of a dimension are joined (default false): one value, or a list with one for each dimension. Two
    /// nodes along a dimension have one cable between them all the same.
);

/// What a specification says about host links.
pub(super) struct Host<'a> {
    pub link: bool,
    pub bandwidth: Option<&'a Located<Bandwidth>>,
    pub latency: Option<&'a Located<Time>>,
}

impl Host<'_> {
    /// The host links' cable, by default as wide as the widest dimension.
    pub fn check(&self, dimensions: &[Bandwidth], port: Option<Bandwidth>, mistakes: &mut Mistakes) -> Cable {
        mistakes.unused_host(self.link, self.bandwidth, "host-bandwidth");
        mistakes.unused_host(self.link, self.latency, "host-latency");
        let widest = dimensions.iter().copied().max().unwrap_or_default();
        Cable {
            bandwidth: self.bandwidth.map_or(widest, |value| mistakes.bandwidth(value)),
            latency: self.latency.map_or(Time::ZERO, |value| **value),
            port,
        }
    }
}

/// Adds the host links, first all from the nodes and then all to them.
pub(super) fn host_links(builder: &mut FabricBuilder, nodes: u32, cable: Cable) {
    for node in 0..nodes {
        cable.leave_node(builder, VertexId(node), VertexId(nodes + node), LinkRole::Injection);
    }
    for node in 0..nodes {
        cable.leave_switch(builder, VertexId(nodes + node), VertexId(node), LinkRole::Ejection);
    }
}

/// Builds a grid whose size has been checked; `cables` by dimension.
fn build_grid(name: String, grid: Grid, cables: &[Cable], host: Cable) -> Fabric {
    let nodes = grid.positions();
    let mut builder = FabricBuilder::new(name, nodes, if grid.host_link { nodes } else { 0 });
    if grid.host_link {
        host_links(&mut builder, nodes, host);
    }
    for position in 0..nodes {
        for (dim, cable) in cables.iter().enumerate() {
            for descending in [false, true] {
                if let Some(neighbour) = grid.neighbour(position, dim, descending) {
                    let role = LinkRole::Network { tier: dim as u8 };
                    cable.leave_switch(&mut builder, grid.vertex(position), grid.vertex(neighbour), role);
                }
            }
        }
    }
    builder.finish(Shape::Grid(grid))
}
