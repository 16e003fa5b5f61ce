//! MINHOP: forwarding tables of shortest paths, balanced at each switch separately.

use std::sync::Arc;

use super::balanced::{Balance, Order, balanced};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::fabric::Fabric;

/// `[routing.min-hop]`: at each switch the link on a shortest path that has the fewest destinations so far.
///
/// Source: OpenSM's engine `minhop` (`osm_ucast_mgr.c`, `osm_switch_recommend_path`). Each switch counts for
/// each port the destinations that it has sent there. For the next one it takes the least used port of those
/// with the fewest hops, the lowest of equals. It counts destinations even if no messages for them come by,
/// so that on trees of three levels all messages that come up to a switch may leave it by one port.
#[spec(partial, Default)]
pub struct MinHopSpec {
    /// Order in which destinations get their routes: `switches` (default), from the switch with the most
    /// nodes to the one with the fewest; `round-robin`, one node of each switch after another; or `random`.
    #[serde(skip_serializing_if = "Order::is_default")]
    pub order: Order,
}

impl Rule for MinHopSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        Ok(Arc::new(balanced(fabric, None, Balance::Destinations, self.order, context.seed)?))
    }

    fn depends_on_seed(&self) -> bool {
        self.order == Order::Random
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}
