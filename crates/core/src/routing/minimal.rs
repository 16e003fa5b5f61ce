//! Minimal and ECMP: one shortest path, chosen by a hash if there are several.

use std::sync::Arc;

use super::counting::{LoadCount, LoadPart, count_ends, in_parts};
use super::demand::{Columns, Demand};
use super::graph::{Graph, NONE, Target};
use super::router::Router;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::Mix;

/// `[routing.minimal]`: one shortest path, on any graph.
///
/// A shortest path has the fewest links; if switches are in groups, the fewest links between groups come
/// first. If several links lead on, a hash of seed, switch, and the switches at both ends chooses one.
/// Messages between the same two switches take the same path; those between other switches are spread.
#[spec(partial, Default)]
pub struct MinimalSpec {
    /// Seed of the hash (default: the scenario's).
    pub seed: Option<u64>,
}

/// `[routing.ecmp]`: one shortest path by flow, on any graph.
///
/// Like `minimal`, but the hash is of source and destination, so that pairs of nodes on the same two switches are
/// spread, too. Every message of a pair takes the same path.
#[spec(partial, Default)]
pub struct EcmpSpec {
    /// Seed of the hash (default: the scenario's).
    pub seed: Option<u64>,
}

impl Rule for MinimalSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let hash = Mix::new(self.seed.unwrap_or(context.seed), "routing.minimal");
        Ok(Arc::new(Minimal { graph: Graph::new(fabric)?, hash, by_node: false }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none()
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

impl Rule for EcmpSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let hash = Mix::new(self.seed.unwrap_or(context.seed), "routing.ecmp");
        Ok(Arc::new(Minimal { graph: Graph::new(fabric)?, hash, by_node: true }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none()
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Minimal {
    graph: Graph,
    hash: Mix,
    /// True if nodes are hashed, false if their switches are.
    by_node: bool,
}

impl Minimal {
    /// Follows the path of a pair of nodes or places. Returns true if there were several, and the end.
    #[inline]
    fn walk(&self, (from, to): (u32, u32), ends: (u32, u32), visit: impl FnMut(LinkId)) -> (bool, Option<u32>) {
        let pair = u64::from(ends.0) << 32 | u64::from(ends.1);
        let mut draws = 0;
        let pick = |choices: u32| {
            draws += 1;
            self.hash.two_below(pair, draws, choices.into()) as u32
        };
        let end = self.graph.walk(from, Target::Place(to), pick, visit);
        (draws > 0, end)
    }
}

impl Minimal {
    /// Calls `add` with links of these routes and numbers of crossings; a link may occur several times.
    fn visit(&self, ends: &[(NodeId, NodeId)], mut add: impl FnMut(LinkId, u32)) {
        // Consecutive pairs mostly take the same path, which is searched once for all of them.
        let places = |&(src, dst): &(NodeId, NodeId)| (self.graph.home(src).place, self.graph.home(dst).place);
        let together = |a: &(NodeId, NodeId), b: &(NodeId, NodeId)| !self.by_node && places(a) == places(b);
        let mut way = Vec::new();
        for same in ends.chunk_by(together) {
            let sent = same.iter().filter(|(src, dst)| src != dst);
            let Some(&(src, dst)) = sent.clone().next() else { continue };
            let (from, to) = places(&(src, dst));
            way.clear();
            let ends = if self.by_node { (src.0, dst.0) } else { (from, to) };
            let (_, end) = self.walk((from, to), ends, |link| way.push(link));
            if end.is_none() {
                continue;
            }
            let mut count = 0;
            for &(src, dst) in sent {
                count += 1;
                for link in [self.graph.home(src).up, self.graph.home(dst).down] {
                    if link != NONE {
                        add(LinkId(link), 1);
                    }
                }
            }
            way.iter().for_each(|&link| add(link, count));
        }
    }
}

impl Router for Minimal {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src == dst {
            return;
        }
        let (from, to) = (self.graph.home(src), self.graph.home(dst));
        let start = route.len();
        if from.up != NONE {
            route.push(LinkId(from.up));
        }
        let ends = if self.by_node { (src.0, dst.0) } else { (from.place, to.place) };
        let (_, end) = self.walk((from.place, to.place), ends, |link| route.push(link));
        if end.is_none() {
            route.truncate(start);
        } else if to.down != NONE {
            route.push(LinkId(to.down));
        }
    }

    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        self.visit(ends, |link, times| counts[link] += times);
    }

    fn count_few(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u8>) -> u64 {
        let mut crossings = 0;
        self.visit(ends, |link, times| {
            // (The number is taken modulo 256.)
            counts[link] = counts[link].wrapping_add(times as u8);
            crossings += u64::from(times);
        });
        crossings
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        self.graph.reaches(src, dst)
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        let graph = &self.graph;
        let columns = Columns::new(demand, graph);
        let mut nodes_at = vec![Vec::new(); graph.places() as usize];
        for node in graph.fabric.node_ids() {
            nodes_at[graph.home(node).place as usize].push(node);
        }
        count_ends(graph, demand, loads);
        if let (Demand::Pairs(pairs), true) = (demand, self.by_node) {
            // Each pair has its own path: crossings are counted from a list, not searched among all links.
            let mut toward = vec![Vec::new(); graph.places() as usize];
            for &(src, dst, much) in pairs {
                toward[graph.home(dst).place as usize].push((src, dst, much));
            }
            in_parts(graph.places(), loads, |to, part| {
                for &(src, dst, much) in &toward[to as usize] {
                    let from = graph.home(src).place;
                    if from != to {
                        self.walk((from, to), (src.0, dst.0), |link| part.loads[link.0 as usize] += much);
                    }
                }
            });
            return Ok(LoadCount::default());
        }
        in_parts(graph.places(), loads, |to, part| {
            part.make_room(graph);
            let LoadPart { loads, column, .. } = part;
            if !columns.column(to, column) {
                return;
            }
            let mut way = Vec::new();
            for (from, &amount) in (0..).zip(&*column).filter(|(_, amount)| **amount > 0.0) {
                way.clear();
                let (branches, _) = self.walk((from, to), (from, to), |link| way.push(link));
                if !branches || !self.by_node {
                    way.iter().for_each(|link| loads[link.0 as usize] += amount);
                    continue;
                }
                let ends = nodes_at[from as usize]
                    .iter()
                    .flat_map(|src| nodes_at[to as usize].iter().map(move |dst| (src, dst)));
                for (&src, &dst) in ends {
                    let much = demand.between(src, dst);
                    if much > 0.0 {
                        self.walk((from, to), (src.0, dst.0), |link| loads[link.0 as usize] += much);
                    }
                }
            }
        });
        Ok(LoadCount::default())
    }
}
