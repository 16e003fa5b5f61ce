//! What a routing rule is for whoever asks it for routes.

use super::choice::{Choice, Manner};
use super::counting::{Counted, in_parts};
use super::demand::Demand;
use super::forwarding::Forwarding;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};

/// A rule that gives the route from any node to any other, always the same for the same pair, unless it chooses
/// ([`Router::choice`]).
pub trait Router: Send + Sync + std::fmt::Debug {
    /// Appends the links from `src` to `dst` to `route`, in order; none if they are the same node.
    ///
    /// Of a rule that chooses, one that a message may take: enough for an estimate, and for nothing else.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>);

    /// Adds to each link how many of the routes from and to these nodes cross it.
    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        crossings(self, ends, |link| counts[link] += 1);
    }

    /// The same modulo 256; returns how many crossings there are in all. Where that is the sum of what was added, no
    /// counter has run over.
    ///
    /// Counters of a byte are a quarter of the memory that a step goes through, and most links carry few messages of a
    /// step.
    fn count_few(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u8>) -> u64 {
        crossings(self, ends, |link| counts[link] = counts[link].wrapping_add(1))
    }

    /// This route will probably be asked for soon: what it is made from may be asked for.
    fn expect(&self, src: NodeId, dst: NodeId) {
        let _ = (src, dst);
    }

    /// Whether there is a route from `src` to `dst`; only where this is so may [`Router::route`] be asked for it.
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

    /// Whether it splits messages over several paths, each with its part.
    fn splits(&self) -> bool {
        self.choice().is_some_and(|choice| choice.manner() == Manner::Split)
    }

    /// The rule as one that chooses paths when messages start. `None`, as nearly always: there is one route for each
    /// pair, which is what counted steps, domination and packets' rings rest on.
    fn choice(&self) -> Option<&dyn Choice> {
        None
    }

    /// What keeps packets that follow its routes from waiting for each other in a circle.
    fn channel_order(&self) -> ChannelOrder {
        ChannelOrder::Family
    }

    /// Adds to each link what steady traffic puts on it \[B/s\], on average over all that is drawn for a message.
    ///
    /// # Errors
    /// Where that depends on what else is under way.
    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<Counted, Diagnostic> {
        in_parts(demand.sources(), loads, |src, part| {
            let mut route = Vec::new();
            demand.from(NodeId(src), |dst, much| {
                route.clear();
                if self.reaches(NodeId(src), dst) {
                    self.route(NodeId(src), dst, &mut route);
                }
                route.iter().for_each(|link| part.loads[link.0 as usize] += much);
            });
        });
        Ok(Counted::default())
    }

    /// Its routes as forwarding tables, where it has such.
    fn table(&self) -> Option<&Forwarding> {
        None
    }

    /// A link that every route over `link` also crosses, if the rule knows one.
    ///
    /// Where the other link's capacity is not larger, `link` can never hold a flow back: its flows are a subset of
    /// the other's. Following the answers from link to link must end.
    fn dominator(&self, link: LinkId) -> Option<LinkId> {
        let _ = link;
        None
    }
}

/// True if a router may lack routes between nodes of a fabric: each pair has to be asked for
/// ([`Router::reaches`]).
pub fn may_lack_routes(fabric: &Fabric, router: &dyn Router) -> bool {
    fabric.routes().is_some() || !fabric.is_connected_by_family() || !router.is_total()
}

/// What is known of the circles that routes of a rule may form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChannelOrder {
    /// Routes may do anything: they ascend in the order of the fabric's family, or change to another class.
    Family,
    /// Only along the family's rings, where there are any: one dimension comes after another.
    Rings,
    /// They ascend in an order of the rule's own, by link, or change to another class where they do not
    /// ([`Family::channel_order`](crate::fabric::Family::channel_order)).
    Own(Vec<u32>),
}

/// The code of the mistake of a rule that does not fit the fabric.
pub(super) const MISFIT: &str = "routing-misfit";

/// The mistake of a rule that was asked for on a fabric it knows no routes on.
pub(super) fn misfit(rule: &str, fits: &str, fabric: &Fabric) -> Diagnostic {
    let message = format!("{rule} finds routes on {fits}, but {} is {}", fabric.name(), fabric.family().kind());
    Diagnostic::new(MISFIT, message)
}

/// Calls `crossed` for each link of the routes from and to these nodes; returns how often.
fn crossings<R: Router + ?Sized>(router: &R, ends: &[(NodeId, NodeId)], mut crossed: impl FnMut(LinkId)) -> u64 {
    let (mut crossings, mut route) = (0, Vec::new());
    for &(src, dst) in ends {
        route.clear();
        if src != dst {
            router.route(src, dst, &mut route);
        }
        route.iter().for_each(|&link| crossed(link));
        crossings += route.len() as u64;
    }
    crossings
}
