//! Valiant: through a random intermediate, whatever the traffic.

use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::{LoadCount, count_ends};
use super::demand::{Columns, Demand};
use super::detour::Detours;
use super::graph::{Graph, NONE, Target};
use super::on_graph::GraphChoice;
use super::router::MISFIT;
use super::rule::{BuildContext, BuildResult, Rule};
use super::spray::{between_ends, packet_walk};
use super::steps::Steps;
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::Mix;
use crate::units::Time;

/// `[routing.valiant-groups]`, `[routing.valiant-switches]`: through a random intermediate group, or switch.
///
/// A message goes by a shortest path to its intermediate (the first switch of the group that it reaches) and
/// by a shortest path from there. The intermediate is drawn for each message from all groups, or switches
/// with nodes, except those in the groups of source and destination. Without groups it is drawn from all
/// other switches with nodes. Messages within a group go by a shortest path. If several links lead on, one is
/// drawn for each message. In the packet models each packet draws an intermediate of its own.
///
/// Source: L. Valiant, "A scheme for fast parallel communication", SIAM J. Comput. 11 (1982); J. Kim et al.,
/// "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
#[spec(partial, Default)]
pub struct ValiantSpec {
    /// Number of intermediates over which a message is split in equal parts (default 1; drawn with
    /// replacement).
    pub intermediates: Option<Located<u32>>,
    /// Split every message over all intermediates, and over all shortest paths to them and from them, in
    /// equal parts (default false): the average of the drawn ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_intermediates: bool,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
}

/// Largest number of intermediates of a message.
const MOST_INTERMEDIATES: u32 = 1024;

impl Rule for ValiantSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let to_groups = context.name == "valiant-groups";
        let intermediates = self.intermediates.as_ref().map_or(1, |count| **count);
        if !(1..=MOST_INTERMEDIATES).contains(&intermediates) {
            let message = format!("a message cannot have {intermediates} intermediates");
            let diagnostic = Diagnostic::new("intermediates", message).label(format!("1 to {MOST_INTERMEDIATES}"));
            return Err(vec![match &self.intermediates {
                Some(place) => diagnostic.at_value(place),
                None => diagnostic,
            }]);
        }
        if let (true, Some(given)) = (self.all_intermediates, &self.intermediates) {
            let message = "`all-intermediates` and `intermediates` both set the number of intermediates";
            let diagnostic = Diagnostic::new("two-choices", message).at_value(given).label("leave out one of them");
            return Err(vec![diagnostic]);
        }
        if to_groups {
            check_groups(fabric, "valiant-groups")?;
        }
        let graph = Graph::new(fabric)?;
        Ok(Arc::new(Valiant {
            detours: Detours::new(&graph, to_groups),
            graph,
            // Messages that go over all intermediates draw nothing; their packets draw the same under any seed.
            hash: Mix::new(
                self.seed.unwrap_or(if self.all_intermediates { 0 } else { context.seed }),
                "routing.valiant",
            ),
            intermediates,
            all: self.all_intermediates,
        }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none() && !self.all_intermediates
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

/// Checks that switches are in groups, which a rule needs.
pub(super) fn check_groups(fabric: &Fabric, rule: &str) -> Result<(), Vec<Diagnostic>> {
    if fabric.groups().is_some() {
        return Ok(());
    }
    let message = format!("{rule} needs groups of switches, but {} has none", fabric.name());
    Err(vec![Diagnostic::new(MISFIT, message)])
}

#[derive(Debug)]
struct Valiant {
    graph: Graph,
    detours: Detours,
    hash: Mix,
    intermediates: u32,
    all: bool,
}

impl Valiant {
    /// Splits a part of a message over the shortest paths to an intermediate and from there.
    fn split_via(
        &self,
        (from, amount, start): (u32, f64, Time),
        via: Target,
        to: u32,
        path: &mut Path,
        end: &mut dyn FnMut(u32, f64, Time),
    ) {
        let mut halves = Vec::new();
        self.graph.split((from, amount, start), via, path, |place, part, latency| {
            halves.push((place, part, latency));
        });
        for half in halves {
            self.graph.split(half, Target::Place(to), path, &mut *end);
        }
    }
}

impl GraphChoice for Valiant {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn count(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        self.detours.check_size(&self.graph)?;
        count_ends(&self.graph, demand, loads);
        self.detours.count_loads(&self.graph, &Columns::new(demand, &self.graph), loads);
        Ok(LoadCount::default())
    }
}

impl Choice for Valiant {
    fn kind(&self) -> ChoiceKind {
        if self.all || self.intermediates > 1 { ChoiceKind::Split } else { ChoiceKind::Drawn }
    }

    fn choose(&self, start: StartingMessage, _: &UnderWay, path: &mut Path) {
        if self.all {
            self.expected(start.src, start.dst, path);
            return;
        }
        let (from, to) = (self.graph.home(start.src), self.graph.home(start.dst));
        let mut draws = self.hash.draws(start.key());
        let mut one_way = |links: &mut Vec<LinkId>| {
            if from.up != NONE {
                links.push(LinkId(from.up));
            }
            let via = self.detours.draw(from.place, to.place, &mut draws);
            let pick = |choices: u32| draws.below(choices.into()) as u32;
            let start = links.len();
            let way = (from.place, via, to.place);
            if !self.detours.walk(&self.graph, way, pick, |link| links.push(link)) {
                // There is no path through this intermediate.
                links.truncate(start);
                self.graph.walk(from.place, Target::Place(to.place), |_| 0, |link| links.push(link));
            }
            if to.down != NONE {
                links.push(LinkId(to.down));
            }
        };
        if self.intermediates == 1 {
            one_way(&mut path.links);
            return;
        }
        let part = 1.0 / f64::from(self.intermediates);
        for _ in 0..self.intermediates {
            let first = path.links.len();
            one_way(&mut path.links);
            path.parts.resize(path.links.len(), part);
            path.latency = path.latency.max(self.graph.fabric.latency(&path.links[first..]));
        }
        path.merge();
    }

    /// Draws one intermediate for each packet.
    fn choose_for_packet(&self, start: StartingMessage, over: Option<LinkId>, _: &UnderWay, path: &mut Path) -> bool {
        let mut draws = self.hash.draws(start.key());
        packet_walk(&self.graph, (start, over), &mut path.links, |from, to, links| {
            let via = self.detours.draw(from, to, &mut draws);
            let pick = |choices: u32| draws.below(choices.into()) as u32;
            self.detours.walk(&self.graph, (from, via, to), pick, |link| links.push(link))
        });
        false
    }

    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        steps.shortest(&self.graph);
        steps.detours(&self.graph, &self.detours, None);
        true
    }

    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool {
        between_ends(&self.graph, src, dst, path, |(from, amount, start), to, path, end| {
            let count = self.detours.count(from, to);
            if count == 0 {
                self.graph.split((from, amount, start), Target::Place(to), path, end);
                return;
            }
            let part = amount / f64::from(count);
            for via in self.detours.each(from, to) {
                self.split_via((from, part, start), via, to, path, end);
            }
        });
        path.merge();
        true
    }
}
