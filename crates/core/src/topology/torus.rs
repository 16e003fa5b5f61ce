//! Torus and mesh: grids of nodes, each joined to its neighbours along every dimension.

use super::common::{Cables, Mistakes, OneOrList, Topology, times};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Grid};
use crate::units::{Bandwidth, Time};

macro_rules! grid_spec {
    ($(#[$meta:meta])* $name:ident, $family:literal, $closed:literal, $(#[$wrap:meta])*) => {
        $(#[$meta])*
        #[spec]
        pub struct $name {
            /// Nodes along each dimension; node numbers grow along the first one first.
            pub dims: Located<Vec<Located<u32>>>,
            /// Bandwidth of a cable in each direction: one value, or a list with one for each dimension.
            pub bandwidth: Located<OneOrList<Bandwidth>>,
            /// Latency of a cable (default 0 s): one value, or a list with one for each dimension.
            pub latency: Option<Located<OneOrList<Time>>>,
            $(#[$wrap])*
            pub wrap: Option<Located<OneOrList<bool>>>,
            /// True if nodes are joined to their switch by links of their own (default true); otherwise the
            /// node is the switch.
            pub host_link: Option<bool>,
            /// Bandwidth of the host links (default: the largest of the dimensions).
            pub host_bandwidth: Option<Located<Bandwidth>>,
            /// Latency of the host links (default 0 s).
            pub host_latency: Option<Located<Time>>,
            /// Bandwidth of a switch's output port, if lower than that of its cable.
            pub switch_port_bandwidth: Option<Located<Bandwidth>>,
        }

        impl Topology for $name {
            fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
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
                let host_cable = host.check(&bandwidths, &mut mistakes);
                mistakes.check_fabric_size(Grid::size(&dims, &wrap, host.link), &self.dims);
                mistakes.none()?;
                let cables = Cables { host: host_cable, network: bandwidths.into_iter().zip(latencies).collect(), port };
                let name = format!("{} {}", $family, times(&dims));
                Ok(Grid::new(dims, wrap, host.link).build(name, |role| cables.link(role)))
            }
        }
    };
}

grid_spec!(
    /// `[topology.torus]`: a grid whose dimensions are closed to rings.
    TorusSpec, "torus", true,
    /// True if the ends of a dimension are joined (default true): one value, or a list with one for each
    /// dimension. Two nodes along a dimension have one cable between them either way.
);

grid_spec!(
    /// `[topology.mesh]`: a grid whose dimensions are open, or closed one by one.
    MeshSpec, "mesh", false,
    /// True if the ends of a dimension are joined (default false): one value, or a list with one for each
    /// dimension. Two nodes along a dimension have one cable between them either way.
);

/// Values that a specification gives for host links.
pub(super) struct Host<'a> {
    pub link: bool,
    pub bandwidth: Option<&'a Located<Bandwidth>>,
    pub latency: Option<&'a Located<Time>>,
}

impl Host<'_> {
    /// Returns the cable of the host links, by default as wide as the widest dimension.
    pub fn check(&self, dimensions: &[Bandwidth], mistakes: &mut Mistakes) -> (Bandwidth, Time) {
        mistakes.unused_host(self.link, self.bandwidth, "host-bandwidth");
        mistakes.unused_host(self.link, self.latency, "host-latency");
        let widest = dimensions.iter().copied().max().unwrap_or_default();
        let bandwidth = self.bandwidth.map_or(widest, |value| mistakes.bandwidth(value));
        (bandwidth, self.latency.map_or(Time::ZERO, |value| **value))
    }
}
