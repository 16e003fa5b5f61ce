//! Common parts of rules that choose on the graph of switches.

use super::choice::Choice;
use super::counting::LoadCount;
use super::demand::Demand;
use super::graph::{Graph, NONE, Target};
use super::router::Router;
use crate::diagnostic::Diagnostic;
use crate::ids::{IdVec, LinkId, NodeId};

/// Rule that chooses on a graph of switches; as a [`Router`] it has routes where its graph has paths.
pub(super) trait GraphChoice: Choice {
    /// Returns the graph.
    fn graph(&self) -> &Graph;

    /// Counts loads, see [`Router::loads`].
    fn count(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic>;
}

impl<R: GraphChoice> Router for R {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        one_route(self.graph(), src, dst, route);
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        self.graph().reaches(src, dst)
    }

    fn choice(&self) -> Option<&dyn Choice> {
        Some(self)
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        self.count(demand, loads)
    }
}

/// Appends the shortest route that takes the first link wherever there are several. It represents a rule that
/// chooses where one route is enough, as in an estimate.
pub(super) fn one_route(graph: &Graph, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
    if src == dst {
        return;
    }
    let (from, to) = (graph.home(src), graph.home(dst));
    let start = route.len();
    if from.up != NONE {
        route.push(LinkId(from.up));
    }
    let end = graph.walk(from.place, Target::Place(to.place), |_| 0, |link| route.push(link));
    if end.is_none() {
        route.truncate(start);
    } else if to.down != NONE {
        route.push(LinkId(to.down));
    }
}
