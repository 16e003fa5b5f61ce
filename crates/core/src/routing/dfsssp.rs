//! DFSSSP: forwarding tables of shortest paths, balanced over the whole fabric.

use std::sync::Arc;

use super::balanced::{Balance, Order, balanced};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::fabric::Fabric;

/// `[routing.dfsssp]`: for each destination a tree of shortest paths with the fewest earlier routes on their
/// links.
///
/// Destinations are handled one after another. From each switch, of all paths with the fewest links, the one
/// with the least sum of `w(l)` over its links `l` is taken (Dijkstra). Then `w(l)` grows by the number of
/// nodes whose route to that destination crosses `l`. All `w` start at 0. The published rule starts at a
/// number so large that no longer path is ever cheaper, which is the same. Virtual lanes, which make packets
/// deadlock-free, are left to packet models.
///
/// Source: J. Domke, T. Hoefler, W. Nagel: *Deadlock-Free Oblivious Routing for Arbitrary Topologies*, IPDPS
/// 2011.
#[spec(partial, Default)]
pub struct DfssspSpec {
    /// Order in which destinations get their routes: `switches` (default), from the switch with the most
    /// nodes to the one with the fewest; `round-robin`, one node of each switch after another; or `random`.
    #[serde(skip_serializing_if = "Order::is_default")]
    pub order: Order,
}

impl Rule for DfssspSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        Ok(Arc::new(balanced(fabric, None, Balance::Paths, self.order, context.seed)?))
    }

    fn depends_on_seed(&self) -> bool {
        self.order == Order::Random
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}
