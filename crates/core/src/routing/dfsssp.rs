//! DFSSSP: forwarding tables of shortest ways, balanced over the whole fabric.

use std::sync::Arc;

use super::balanced::{Balance, Order, balanced};
use super::rule::{Built, Given, Rule};
use crate::fabric::Fabric;

/// `[routing.dfsssp]`: for each destination a tree of shortest ways, those with the fewest routes on their links so
/// far.
///
/// For destination after destination: of all ways with the fewest links from each switch the one with the least sum of
/// `w(l)` over its links `l` (Dijkstra); then `w(l)` grows by the number of nodes whose route to that destination
/// crosses `l`. All `w` start at 0: the published rule starts at a number so large that no longer way is ever cheaper,
/// which is the same. Virtual lanes, which make packets free of deadlock, are left to packet models.
///
/// Source: J. Domke, T. Hoefler, W. Nagel: *Deadlock-Free Oblivious Routing for Arbitrary Topologies*, IPDPS 2011.
#[spec(partial, Default)]
pub struct DfssspSpec {
    /// In which order destinations get their routes: `switches`, `round-robin` or `random`.
    #[serde(skip_serializing_if = "Order::is_default")]
    pub order: Order,
}

impl Rule for DfssspSpec {
    fn build(&self, fabric: &Arc<Fabric>, given: &mut Given<'_>) -> Built {
        Ok(Arc::new(balanced(fabric, None, Balance::Ways, self.order, given.seed)?))
    }

    fn depends_on_seed(&self) -> bool {
        self.order == Order::Random
    }

    fn is_worked_out_on_the_graph(&self) -> bool {
        true
    }
}
