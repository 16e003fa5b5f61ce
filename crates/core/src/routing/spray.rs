//! Spray: each message over all shortest paths at once.

use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::{LoadCount, count_ends, count_spread};
use super::demand::{Columns, Demand};
use super::graph::{Graph, NONE, Target};
use super::on_graph::GraphChoice;
use super::rule::{BuildContext, BuildResult, Rule};
use super::steps::Steps;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::Mix;
use crate::units::Time;

/// `[routing.spray]`: over all shortest paths at once, as switches do that spread packets over all paths. No
/// options.
///
/// At each switch a message is split in equal parts over all links that lead on by a shortest path (shortest
/// as under `minimal`). If all shortest paths branch alike, as on a fat-tree or between switches two links
/// apart, every path carries the same. In the packet models each packet takes one of these paths, drawn with
/// those parts as weights.
#[spec(partial, Default)]
pub struct SpraySpec {}

impl Rule for SpraySpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut BuildContext<'_>) -> BuildResult {
        Ok(Arc::new(Spray { graph: Graph::new(fabric)?, hash: Mix::new(0, "routing.spray") }))
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Spray {
    graph: Graph,
    /// Hash that draws the path of a packet.
    hash: Mix,
}

impl GraphChoice for Spray {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn count(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        count_ends(&self.graph, demand, loads);
        count_spread(&self.graph, &Columns::new(demand, &self.graph), loads);
        Ok(LoadCount::default())
    }
}

impl Choice for Spray {
    fn kind(&self) -> ChoiceKind {
        ChoiceKind::Split
    }

    fn choose(&self, start: StartingMessage, _: &UnderWay, path: &mut Path) {
        self.expected(start.src, start.dst, path);
    }

    fn choose_for_packet(&self, start: StartingMessage, over: Option<LinkId>, _: &UnderWay, path: &mut Path) -> bool {
        let (message, mut draws) = (start.key(), 0);
        let pick = |choices: u32| {
            draws += 1;
            self.hash.two_below(message, draws, choices.into()) as u32
        };
        packet_walk(&self.graph, (start, over), &mut path.links, |from, to, links| {
            self.graph.walk(from, Target::Place(to), pick, |link| links.push(link)).is_some()
        });
        false
    }

    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        steps.shortest(&self.graph);
        true
    }

    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool {
        between_ends(&self.graph, src, dst, path, |from, to, path, end| {
            self.graph.split(from, Target::Place(to), path, end);
        });
        true
    }
}

/// Writes the path of a packet from its source, or from the end of link `over`. `walk` adds the links from
/// place to place. If it finds no path, the first shortest path is written.
pub(super) fn packet_walk(
    graph: &Graph,
    (start, over): (StartingMessage, Option<LinkId>),
    links: &mut Vec<LinkId>,
    walk: impl FnOnce(u32, u32, &mut Vec<LinkId>) -> bool,
) {
    let (from, to) = (graph.home(start.src), graph.home(start.dst));
    let at = over.and_then(|link| graph.end_of(link));
    if at.is_none() && from.up != NONE {
        links.push(LinkId(from.up));
    }
    let first = links.len();
    if !walk(at.unwrap_or(from.place), to.place, links) {
        // There is no path as it was drawn.
        links.truncate(first);
        graph.walk(at.unwrap_or(from.place), Target::Place(to.place), |_| 0, |link| links.push(link));
    }
    if to.down != NONE {
        links.push(LinkId(to.down));
    }
}

/// Writes the links of both nodes, and those that `split` adds between their places.
pub(super) fn between_ends(
    graph: &Graph,
    src: NodeId,
    dst: NodeId,
    path: &mut Path,
    split: impl FnOnce((u32, f64, Time), u32, &mut Path, &mut dyn FnMut(u32, f64, Time)),
) {
    let (from, to) = (graph.home(src), graph.home(dst));
    let latency = |link: u32| if link == NONE { Time::ZERO } else { graph.fabric.link(LinkId(link)).latency };
    let whole = |link: u32, path: &mut Path| {
        if link != NONE {
            path.links.push(LinkId(link));
            path.parts.push(1.0);
        }
    };
    whole(from.up, path);
    let mut longest = Time::ZERO;
    split((from.place, 1.0, latency(from.up)), to.place, path, &mut |_, _, latency| longest = longest.max(latency));
    whole(to.down, path);
    path.latency = longest + latency(to.down);
}
