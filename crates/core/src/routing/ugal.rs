//! UGAL and its progressive form: a shortest path or a detour, chosen by the messages under way.

use smallvec::SmallVec;
use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::LoadCount;
use super::demand::Demand;
use super::detour::Detours;
use super::graph::{Graph, NONE, Target};
use super::on_graph::GraphChoice;
use super::rule::{BuildContext, BuildResult, Rule};
use super::spray::packet_walk;
use super::steps::Steps;
use super::valiant::check_groups;
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::{Draws, Mix};

/// `[routing.ugal-l]`, `[routing.ugal-g]`, `[routing.progressive]`: a shortest path or one through a random
/// intermediate, whichever is less busy.
///
/// One shortest path and the paths through some intermediates are drawn for a message that starts, as under
/// `minimal` and `valiant-groups`. H is the number of a path's links between switches. Q is the number of
/// messages under way on the first of them (`ugal-l`: the load that the source's switch knows) or the most on
/// any of them (`ugal-g`). The path through the intermediate with the least `H_v Q_v` is the rival; the
/// message takes the shortest path if
/// ```text
/// H_m Q_m <= H_v Q_v + T       or, where a factor F is given,     Q_m <= F Q_v + T
/// ```
/// and keeps it. `progressive` chooses as `ugal-l` does, and again at each further switch of the source's
/// group while the result is the shortest path (without groups: at the second switch).
///
/// BookSim has F = 2 and T = 30 flits, SST F = 2 and T = 50 flits, CODES F = 2 and T = 0; here T counts
/// messages.
///
/// In the packet models the path of each packet is chosen when it comes to its first switch, and Q and T
/// count packets: those that wait for a link there, are on it, or are in the buffer behind it.
///
/// Source: A. Singh, "Load-balanced routing in interconnection networks", Stanford 2005; N. Jiang, J. Kim, W.
/// Dally, "Indirect adaptive routing on large scale interconnection networks", ISCA 2009.
#[spec(partial, Default)]
pub struct UgalSpec {
    /// Number of intermediates considered (default 4).
    pub candidates: Option<Located<u32>>,
    /// T: advantage that a detour must have, in messages, or in packets if paths are chosen for packets
    /// (default 0).
    pub threshold: Option<Located<f64>>,
    /// F: number of messages on a shortest path that weigh as much as one on a detour (default: the ratio of
    /// the lengths).
    pub factor: Option<Located<f64>>,
    /// Intermediates of detours (default: groups if the fabric has them, else switches).
    pub via: Option<Via>,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
}

/// Kind of intermediate.
#[spec(Copy, Eq)]
pub enum Via {
    /// A group, entered at the first of its switches that a message reaches.
    Groups,
    /// A switch with nodes.
    Switches,
}

impl Via {
    /// Returns true if detours go through groups.
    pub(super) fn or_default(via: Option<Self>, fabric: &Fabric, rule: &str) -> Result<bool, Vec<Diagnostic>> {
        if via == Some(Self::Groups) {
            check_groups(fabric, rule)?;
        }
        Ok(via.map_or(fabric.groups().is_some(), |via| via == Self::Groups))
    }
}

/// Knowledge of a switch when it chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Knowledge {
    /// Its own links.
    Local,
    /// All links.
    Global,
    /// Its own links; the next switch chooses again.
    Progressive,
}

/// Largest number of intermediates considered.
const MOST_CANDIDATES: u32 = 64;
/// Default number of intermediates considered.
const CANDIDATES: u32 = 4;

impl Rule for UgalSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let knowledge = match context.name {
            "ugal-l" => Knowledge::Local,
            "ugal-g" => Knowledge::Global,
            _ => Knowledge::Progressive,
        };
        let candidates = self.candidates.as_ref().map_or(CANDIDATES, |candidates| **candidates);
        let mut mistakes = Vec::new();
        if let Some(place) = self.candidates.as_ref().filter(|_| !(1..=MOST_CANDIDATES).contains(&candidates)) {
            let message = format!("a message cannot look at {candidates} intermediates");
            mistakes
                .push(Diagnostic::new("candidates", message).at_value(place).label(format!("1 to {MOST_CANDIDATES}")));
        }
        for (name, value) in [("threshold", &self.threshold), ("factor", &self.factor)] {
            if let Some(value) = value.as_ref().filter(|value| !(value.is_finite() && ***value >= 0.0)) {
                let message = format!("a {name} of {} compares nothing", **value);
                mistakes.push(Diagnostic::new("ugal", message).at_value(value).label("a number, at least 0"));
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let to_groups = Via::or_default(self.via, fabric, "ugal")?;
        let graph = Graph::new(fabric)?;
        Ok(Arc::new(Ugal {
            detours: Detours::new(&graph, to_groups),
            graph,
            hash: Mix::new(self.seed.unwrap_or(context.seed), "routing.ugal"),
            candidates,
            threshold: self.threshold.as_deref().copied().unwrap_or_default(),
            factor: self.factor.as_deref().copied(),
            knowledge,
        }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none()
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Ugal {
    graph: Graph,
    detours: Detours,
    hash: Mix,
    candidates: u32,
    threshold: f64,
    factor: Option<f64>,
    knowledge: Knowledge,
}

/// Buffers for the links of paths while one is chosen.
#[derive(Default)]
struct PathBuffers {
    taken: PathLinks,
    drawn: PathLinks,
    /// Detour with the least weight of those drawn so far.
    best: PathLinks,
}

/// Links of a path; stored inline up to the length of detours on most fabrics.
type PathLinks = SmallVec<[LinkId; 12]>;

impl Ugal {
    /// Draws a path from one place to another, shortest or through an intermediate. Returns its length and
    /// the most messages under way on its known links, or `None` if there is no path.
    fn draw(
        &self,
        (from, via, to): (u32, Option<Target>, u32),
        draws: &mut Draws,
        under_way: &UnderWay,
        links: &mut PathLinks,
    ) -> Option<(f64, f64)> {
        links.clear();
        let pick = |choices: u32| draws.below(choices.into()) as u32;
        if !self.detours.walk(&self.graph, (from, via, to), pick, |link| links.push(link)) {
            return None;
        }
        let known = match self.knowledge {
            Knowledge::Global => &links[..],
            Knowledge::Local | Knowledge::Progressive => &links[..links.len().min(1)],
        };
        let most = known.iter().map(|&link| under_way[link]).max().unwrap_or_default();
        Some((links.len() as f64, f64::from(most)))
    }

    /// Chooses a path from one place to another. Returns `true` if it is the shortest path drawn. A detour
    /// that would cross a link `behind` the message again is rejected: it comes back to its start.
    fn choose_path(
        &self,
        (from, to): (u32, u32),
        behind: &[LinkId],
        draws: &mut Draws,
        under_way: &UnderWay,
        PathBuffers { taken, drawn, best }: &mut PathBuffers,
    ) -> bool {
        let Some((hops, queue)) = self.draw((from, None, to), draws, under_way, taken) else {
            return true;
        };
        let mut rival: Option<f64> = None;
        let mut least_queue = 0.0;
        for _ in 0..self.candidates {
            let Some(via) = self.detours.draw(from, to, draws) else { break };
            // A switch of one plane does not reach the switches of another.
            let Some((longer, other)) = self.draw((from, Some(via), to), draws, under_way, drawn) else {
                continue;
            };
            if !behind.is_empty() && drawn.iter().any(|link| behind.contains(link)) {
                continue;
            }
            let weight = longer * other;
            if rival.is_none_or(|least| weight < least) {
                rival = Some(weight);
                std::mem::swap(drawn, best);
                least_queue = other;
            }
        }
        let Some(weight) = rival else { return true };
        let is_minimal = match self.factor {
            Some(factor) => queue <= factor * least_queue + self.threshold,
            None => hops * queue <= weight + self.threshold,
        };
        if !is_minimal {
            std::mem::swap(taken, best);
        }
        is_minimal
    }
}

impl Ugal {
    /// Returns the place after the first link of a path from `at`, if the path is to be chosen again there.
    fn chooses_again_at(&self, minimal: bool, (source, at, to): (u32, u32, u32), taken: &[LinkId]) -> Option<u32> {
        if !minimal || self.knowledge != Knowledge::Progressive {
            return None;
        }
        let next = taken.first().and_then(|&link| self.graph.end_of(link))?;
        let again = match (self.graph.group(next), self.graph.group(source)) {
            (Some(here), Some(source)) => here == source,
            _ => at == source,
        };
        (again && next != to).then_some(next)
    }
}

impl GraphChoice for Ugal {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn count(&self, _: &Demand, _: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        let message = "the paths of this rule depend on the traffic under way, so loads cannot be counted";
        Err(Diagnostic::new("adaptive-routing", message)
            .help("`--routing fluid` bounds its throughput; `hayase run` simulates it"))
    }
}

impl Choice for Ugal {
    fn kind(&self) -> ChoiceKind {
        ChoiceKind::Adaptive
    }

    fn choose(&self, start: StartingMessage, under_way: &UnderWay, path: &mut Path) {
        let (from, to) = (self.graph.home(start.src), self.graph.home(start.dst));
        if from.up != NONE {
            path.links.push(LinkId(from.up));
        }
        let (mut draws, mut ways) = (self.hash.draws(start.key()), PathBuffers::default());
        let mut at = from.place;
        // The link into the network is on no path between places.
        let first = path.links.len();
        loop {
            let behind = &path.links[first..];
            let minimal = self.choose_path((at, to.place), behind, &mut draws, under_way, &mut ways);
            match self.chooses_again_at(minimal, (from.place, at, to.place), &ways.taken) {
                Some(place) => {
                    path.links.push(ways.taken[0]);
                    at = place;
                }
                None => break,
            }
        }
        path.links.extend_from_slice(&ways.taken);
        if to.down != NONE {
            path.links.push(LinkId(to.down));
        }
    }

    fn choose_for_packet(
        &self,
        start: StartingMessage,
        over: Option<LinkId>,
        under_way: &UnderWay,
        path: &mut Path,
    ) -> bool {
        let mut again = false;
        packet_walk(&self.graph, (start, over), &mut path.links, |at, to, links| {
            let (mut draws, mut ways) = (self.hash.draws(start.key()), PathBuffers::default());
            let minimal = self.choose_path((at, to), &[], &mut draws, under_way, &mut ways);
            again = self.chooses_again_at(minimal, (self.graph.home(start.src).place, at, to), &ways.taken).is_some();
            let reaches = at == to || !ways.taken.is_empty();
            links.extend_from_slice(&ways.taken);
            reaches
        });
        again
    }

    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        steps.shortest(&self.graph);
        let ahead = (self.knowledge == Knowledge::Progressive).then(|| steps.ahead(&self.graph));
        steps.detours(&self.graph, &self.detours, ahead);
        true
    }

    fn expected(&self, _: NodeId, _: NodeId, _: &mut Path) -> bool {
        false
    }
}
