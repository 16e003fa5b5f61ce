//! Number of channel classes that a rule needs.

use super::router::{ChannelOrder, Router};
use super::steps::{Classes, Steps};
use crate::fabric::Fabric;
use crate::ids::{LinkId, NodeId};

/// Largest number of pairs of nodes that are checked; of larger fabrics every n-th node is checked.
const MOST_PAIRS: u64 = 4_000_000;

/// Returns the stride at which nodes are checked, so that there are at most [`MOST_PAIRS`] pairs.
pub(super) fn stride(count: u64) -> usize {
    (1..).find(|stride| count.div_ceil(*stride).pow(2) <= MOST_PAIRS).unwrap_or(1) as usize
}

impl<'a> Steps<'a> {
    /// Returns the number of channel classes that the packets of a rule need, with links in ascending order
    /// of these ranks within a class. At most 128 classes are distinguished. Passes every step to `visit`.
    ///
    /// The result is exact for rules with one route for each pair. For rules that choose, all shortest paths
    /// to and from all intermediates are counted, a superset of those that messages may take. If there are
    /// more than 4 million pairs of nodes, only a sample is checked. Returns 0 if the rule does not know the
    /// steps of its packets.
    pub fn of(
        router: &dyn Router,
        fabric: &'a Fabric,
        ranks: &'a [u32],
        visit: &'a mut dyn FnMut(LinkId, Classes, LinkId, bool),
    ) -> u32 {
        let mut steps = Self { fabric, ranks, all: 0, visit };
        let known = match router.choice() {
            Some(choice) => choice.steps(&mut steps),
            None => {
                steps.routes(router);
                true
            }
        };
        if known { Classes::BITS - steps.all.max(1).leading_zeros() } else { 0 }
    }

    /// Returns the ranks that are used for a rule on its fabric.
    pub fn ranks(router: &dyn Router, fabric: &Fabric) -> Vec<u32> {
        match router.channel_order() {
            ChannelOrder::Own(ranks) => ranks,
            ChannelOrder::Family | ChannelOrder::Rings => fabric.channel_order(),
        }
    }

    /// Visits the routes of all pairs.
    fn routes(&mut self, router: &dyn Router) {
        let nodes = u64::from(self.fabric.nodes());
        let stride = stride(nodes);
        let mut route = Vec::new();
        for src in (0..nodes as u32).step_by(stride) {
            // Destinations are shifted against the sources, so that no place is always left out.
            for dst in (0..nodes as u32).step_by(stride) {
                let dst = (dst + src / stride as u32) % nodes as u32;
                route.clear();
                if src != dst && router.reaches(NodeId(src), NodeId(dst)) {
                    router.route(NodeId(src), NodeId(dst), &mut route);
                }
                let mut classes = 1;
                for (pair, more) in route.windows(2).zip((0..route.len().saturating_sub(1)).rev()) {
                    // The last link leads to the node, even if its role is another.
                    let before = self.all;
                    classes = self.step(pair[0], classes, pair[1]);
                    if more == 0 {
                        self.all = before;
                    }
                }
                if !route.is_empty() {
                    self.all |= 1;
                }
            }
        }
    }
}
