//! Hyper-crossbar: a grid of nodes with a crossbar along each line of each dimension.

use super::common::{Cables, Mistakes, OneOrList, Topology, times};
use super::torus::Host;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{CrossbarGrid, Fabric};
use crate::units::{Bandwidth, Time};

/// `[topology.hyper-crossbar]`: every node has a router that is joined to one crossbar in each dimension.
#[spec]
pub struct HyperCrossbarSpec {
    /// Nodes along each dimension; node numbers grow along the first one first.
    pub dims: Located<Vec<Located<u32>>>,
    /// Bandwidth between a router and a crossbar in each direction: one value, or a list with one for each dimension.
    pub bandwidth: Located<OneOrList<Bandwidth>>,
    /// Latency between a router and a crossbar (default 0 s): one value, or a list with one for each dimension.
    pub latency: Option<Located<OneOrList<Time>>>,
    /// True if nodes are joined to their router by links of their own (default true); otherwise the node is
    /// the router.
    pub host_link: Option<bool>,
    /// Bandwidth of the host links (default: the largest of the dimensions).
    pub host_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the host links (default 0 s).
    pub host_latency: Option<Located<Time>>,
    /// Bandwidth of an output port of a router or crossbar, if lower than that of its cable.
    pub switch_port_bandwidth: Option<Located<Bandwidth>>,
}

impl Topology for HyperCrossbarSpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let dims = mistakes.sizes(&self.dims, "dimensions");
        let bandwidths = mistakes.bandwidths(&self.bandwidth, dims.len(), "dimensions");
        let latencies = mistakes.latencies(self.latency.as_ref(), dims.len(), "dimensions");
        let port = mistakes.port(self.switch_port_bandwidth.as_ref());
        let host = Host {
            link: self.host_link.unwrap_or(true),
            bandwidth: self.host_bandwidth.as_ref(),
            latency: self.host_latency.as_ref(),
        };
        let host_cable = host.check(&bandwidths, &mut mistakes);
        let grid = CrossbarGrid { dims, host_link: host.link };
        mistakes.check_fabric_size(grid.size(), &self.dims);
        mistakes.none()?;
        let name = format!("hyper-crossbar {}", times(&grid.dims));
        let cables = Cables { host: host_cable, network: bandwidths.into_iter().zip(latencies).collect(), port };
        Ok(grid.build(name, |role| cables.link(role)))
    }
}
