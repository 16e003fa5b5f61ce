//! Condition for the existence of trees.

use super::graph::{Error, Progress, report};
use super::max_flow::Network;

/// Trees that are wanted: for each compute node the number of trees that it is the root of.
///
/// They exist if the flow from a source, which has a link of `shares[v]` to each node v, to each node is the sum of
/// the shares. Splitting and packing keep that condition.
#[derive(Debug)]
pub(super) struct Demand<'a> {
    pub vertices: u32,
    pub shares: &'a [i64],
    pub sum: i64,
}

impl<'a> Demand<'a> {
    /// Creates the demand for these shares in a graph of `vertices` vertices.
    pub fn new(vertices: u32, shares: &'a [i64]) -> Self {
        Self { vertices, shares, sum: shares.iter().sum() }
    }

    /// Returns a network in which first the source, behind the vertices, has a link to each node, and then come
    /// these links.
    pub fn network(&self, links: impl Iterator<Item = (u32, u32, i64)>) -> Network {
        let sources = (0..).zip(self.shares).map(|(node, &share)| (self.vertices, node, share));
        Network::new(self.vertices as usize + 1, &sources.chain(links).collect::<Vec<_>>())
    }

    /// Returns the number of trees that some node lacks, and the node. Nodes are checked in turn from `first` on.
    pub fn lacking(&self, network: &mut Network, first: u32, progress: &mut Progress<'_>) -> Result<(i64, u32), Error> {
        let nodes = self.shares.len() as u32;
        for node in (0..nodes).map(|node| (node + first) % nodes) {
            report(progress, 0.0)?;
            let lacks = self.sum - network.flow(self.vertices, node, self.sum);
            if lacks > 0 {
                return Ok((lacks, node));
            }
        }
        Ok((0, first))
    }
}
