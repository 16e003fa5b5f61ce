//! Crossbar: one switch that joins all nodes.

use super::common::{Cables, Mistakes, Topology};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Tree};
use crate::units::{Bandwidth, Time};

/// `[topology.crossbar]`: every node on one ideal switch.
#[spec]
pub struct CrossbarSpec {
    /// Number of nodes.
    pub nodes: Located<u32>,
    /// Bandwidth of each node's link, in each direction.
    pub bandwidth: Located<Bandwidth>,
    /// Latency of each link (default 0 s); a message crosses two.
    pub latency: Option<Time>,
    /// Bandwidth of the switch's output ports, if lower than that of the links.
    pub switch_port_bandwidth: Option<Located<Bandwidth>>,
}

impl Topology for CrossbarSpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let nodes = mistakes.size(&self.nodes);
        let bandwidth = mistakes.bandwidth(&self.bandwidth);
        let port = mistakes.port(self.switch_port_bandwidth.as_ref());
        let tree = Tree::crossbar(nodes);
        mistakes.check_fabric_size(tree.size(), &self.nodes);
        mistakes.none()?;
        let cables = Cables { host: (bandwidth, self.latency.unwrap_or_default()), network: Vec::new(), port };
        Ok(tree.build(format!("crossbar N={nodes}"), |role| cables.link(role)))
    }
}
