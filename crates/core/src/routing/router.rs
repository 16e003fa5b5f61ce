//! Interface of routing rules.

use super::choice::{Choice, ChoiceKind};
use super::counting::{LoadCount, LoadPart, in_parts};
use super::demand::Demand;
use super::forwarding::Forwarding;
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, crossings};
use crate::ids::{IdVec, LinkId, NodeId};

/// Largest number of nodes whose routes are counted: all pairs may cross one link.
const MOST_COUNTED: u32 = u16::MAX as u32;

/// Rule that gives the route from any node to any other, always the same for the same pair, unless it chooses
/// ([`Router::choice`]).
pub trait Router: Send + Sync + std::fmt::Debug {
    /// Appends the links from `src` to `dst` to `route`, in order; none if they are the same node.
    ///
    /// A rule that chooses appends a route that a message may take: enough for an estimate, and for nothing
    /// else.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>);

    /// Adds to each link the number of routes from and to these nodes that cross it.
    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        crossings(ends, |src, dst, route| self.route(src, dst, route), |link| counts[link] += 1);
    }

    /// Does the work of [`Router::count`] modulo 256, and returns the total number of crossings. If that
    /// equals the sum of the increments, no counter has overflowed.
    ///
    /// Counters of a byte are a quarter of the memory that a step goes through, and most links carry few
    /// messages of a step.
    fn count_few(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u8>) -> u64 {
        let route = |src, dst, route: &mut Vec<LinkId>| self.route(src, dst, route);
        crossings(ends, route, |link| counts[link] = counts[link].wrapping_add(1))
    }

    /// Announces that this route will probably be needed soon, so that its data may be prefetched.
    fn expect(&self, src: NodeId, dst: NodeId) {
        let _ = (src, dst);
    }

    /// Returns true if there is a route from `src` to `dst`. [`Router::route`] may be called only if there
    /// is.
    ///
    /// Rules for regular fabrics reach every node; a graph or a list of routes from a file may not.
    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        let _ = (src, dst);
        true
    }

    /// True if it has a route from each node to each other wherever the fabric's family connects all of its nodes.
    fn is_total(&self) -> bool {
        true
    }

    /// Returns true if the rule splits messages over several paths, each with its part.
    fn splits(&self) -> bool {
        self.choice().is_some_and(|choice| choice.kind() == ChoiceKind::Split)
    }

    /// Returns the rule as one that chooses paths when messages start, or `None` if there is one route for
    /// each pair.
    ///
    /// Nearly all rules return `None`. Counted steps, domination and the rings of packets rely on a single
    /// route.
    fn choice(&self) -> Option<&dyn Choice> {
        None
    }

    /// Returns the order of channels that keeps packets on these routes from waiting for each other in a
    /// cycle.
    fn channel_order(&self) -> ChannelOrder {
        ChannelOrder::Family
    }

    /// Adds the load of steady traffic to each link \[B/s\], on average over all draws of messages.
    ///
    /// # Errors
    /// Fails if the loads depend on other traffic.
    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        // Equal amounts are counted, and added up once.
        let amount = demand.amount_of_all().filter(|_| demand.sources() <= MOST_COUNTED);
        let links = loads.len();
        in_parts(demand.sources(), loads, |src, part| {
            if let Some(amount) = amount {
                let LoadPart { counts, ends, .. } = part;
                if counts.is_empty() {
                    (*counts, part.amount) = (IdVec::filled(links, 0), amount);
                }
                ends.clear();
                demand.from(NodeId(src), |dst, much| {
                    if much == amount && self.reaches(NodeId(src), dst) {
                        ends.push((NodeId(src), dst));
                    }
                });
                return self.count(ends, counts);
            }
            let mut route = Vec::new();
            demand.from(NodeId(src), |dst, much| {
                route.clear();
                if self.reaches(NodeId(src), dst) {
                    self.route(NodeId(src), dst, &mut route);
                }
                route.iter().for_each(|link| part.loads[link.0 as usize] += much);
            });
        });
        Ok(LoadCount::default())
    }

    /// Returns the routes as forwarding tables, if the rule has them.
    fn table(&self) -> Option<&Forwarding> {
        None
    }

    /// Returns a link that every route over `link` also crosses, if the rule knows one.
    ///
    /// If the other link's capacity is not larger, `link` can never be a bottleneck: its flows are a subset
    /// of the other's. The chain from link to link must end.
    fn dominator(&self, link: LinkId) -> Option<LinkId> {
        let _ = link;
        None
    }
}

/// Returns true if a router may lack routes between nodes of a fabric, so that each pair has to be checked
/// ([`Router::reaches`]).
pub fn may_lack_routes(fabric: &Fabric, router: &dyn Router) -> bool {
    fabric.routes().is_some() || !fabric.is_connected_by_family() || !router.is_total()
}

/// Order of channels that the routes of a rule follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChannelOrder {
    /// Any routes: they ascend in the order of the fabric's family, or change to another class.
    Family,
    /// Routes that cross one dimension after another, so that cycles can form only along the family's rings.
    Rings,
    /// Routes that ascend in an order of the rule's own, by link, or change to another class where they do
    /// not ([`Family::channel_order`](crate::fabric::Family::channel_order)).
    Own(Vec<u32>),
}

/// Code of the mistake of a rule that does not fit the fabric.
pub(super) const MISFIT: &str = "routing-misfit";

/// Returns the mistake of a rule that has no routes on this fabric.
pub(super) fn misfit(rule: &str, fits: &str, fabric: &Fabric) -> Diagnostic {
    let message = format!("{rule} finds routes on {fits}, but {} is {}", fabric.name(), fabric.family().kind());
    Diagnostic::new(MISFIT, message)
}
