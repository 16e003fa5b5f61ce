//! Up*/down*: forwarding tables of paths that never go up after down.

use std::sync::Arc;

use super::balanced::{Balance, Order, balanced};
use super::forwarding::Forwarding;
use super::graph::{Graph, NONE};
use super::legal_paths::legal_paths;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::base::threads;
use crate::diagnostic::{Diagnostic, Located, closest};
use crate::fabric::Fabric;

/// `[routing.up-down]`: the shortest paths that never go up after down, on any graph whose links go both
/// ways.
///
/// A link goes *up* if it leads to a switch nearer to the root, or to an equally near one with a lower
/// number. So links that wait for each other never form a cycle, and packets need no virtual lanes. Among
/// equal ports the one with the fewest routes so far is taken, counting those from every node to each
/// destination handled before.
///
/// Source: M. Schroeder et al.: *Autonet: A High-Speed, Self-Configuring Local Area Network Using
/// Point-to-Point Links*, IEEE JSAC 9 (1991); as tables by destination, OpenSM's engine `updn`.
#[spec(partial, Default)]
pub struct UpDownSpec {
    /// Names of the root switches. Default: in each connected part the most central switch, whose furthest
    /// switch with nodes is nearest. Ties go to the least sum of distances, then to the lowest number. If all
    /// equally central switches have no nodes and no links among each other, as at the top of a tree, all of
    /// them are roots. This requires that every node then reaches every other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<Located<String>>,
    /// Order in which destinations get their routes: `switches` (default), from the switch with the most
    /// nodes to the one with the fewest; `round-robin`, one node of each switch after another; or `random`.
    #[serde(skip_serializing_if = "Order::is_default")]
    pub order: Order,
}

impl UpDownSpec {
    fn table(&self, fabric: &Arc<Fabric>, roots: &[u32], seed: u64) -> Result<Forwarding, Vec<Diagnostic>> {
        let ranks = |graph: &Graph| ranks(graph, roots);
        balanced(fabric, Some(&ranks), Balance::Routes, self.order, seed)
    }

    /// Returns the places of the roots that are given by name.
    fn given_roots(&self, fabric: &Fabric, graph: &Graph) -> Result<Vec<u32>, Vec<Diagnostic>> {
        let (mut roots, mut mistakes) = (Vec::new(), Vec::new());
        if self.roots.is_empty() {
            return Ok(roots);
        }
        let named: Vec<(u32, String)> = (0..graph.places())
            .filter(|&place| graph.is_open(place))
            .map(|place| (place, fabric.vertex_name(graph.vertex(place))))
            .collect();
        for root in &self.roots {
            match named.iter().find(|(_, name)| *name == **root) {
                Some((place, _)) => roots.push(*place),
                None => {
                    let message = format!("there is no switch `{}`", **root);
                    let mistake =
                        Diagnostic::new("unknown-switch", message).at_value(root).label("the name of a switch");
                    mistakes.push(match closest(root, named.iter().map(|(_, name)| name.as_str())) {
                        Some(near) => mistake.help(format!("did you mean `{near}`?")),
                        None => mistake,
                    });
                }
            }
        }
        if mistakes.is_empty() { Ok(roots) } else { Err(mistakes) }
    }
}

impl Rule for UpDownSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let graph = Graph::new(fabric)?;
        let named = self.given_roots(fabric, &graph)?;
        let roots = if named.is_empty() { default_roots(&graph) } else { named };
        Ok(Arc::new(self.table(fabric, &roots, context.seed)?))
    }

    fn depends_on_seed(&self) -> bool {
        self.order == Order::Random
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

/// Returns the rank of each place, from 0 at the top: by the distance to the nearest root, then by number.
/// Links go up to lower ranks. Parts of the graph without a root get their most central switch.
pub(super) fn ranks(graph: &Graph, roots: &[u32]) -> Vec<u32> {
    let mut levels = vec![NONE; graph.places() as usize];
    let mut reached: Vec<u32> = Vec::new();
    let mut spread = |levels: &mut Vec<u32>, from: &[u32]| {
        reached.clear();
        reached.extend(from);
        from.iter().for_each(|&root| levels[root as usize] = 0);
        let mut next = 0;
        while let Some(&place) = reached.get(next) {
            next += 1;
            for way in graph.links_out_of(place).iter().chain(graph.links_into(place)) {
                if levels[way.place as usize] == NONE && graph.is_open(way.place) {
                    levels[way.place as usize] = levels[place as usize] + 1;
                    reached.push(way.place);
                }
            }
        }
    };
    spread(&mut levels, roots);
    let has_rest =
        |levels: &[u32]| (0..graph.places()).any(|place| graph.is_open(place) && levels[place as usize] == NONE);
    if has_rest(&levels) {
        for parts in central(graph) {
            if let Some(&first) = parts.first().filter(|&&first| levels[first as usize] == NONE) {
                spread(&mut levels, &[first]);
            }
        }
    }
    let mut order: Vec<u32> = (0..graph.places()).collect();
    order.sort_by_key(|&place| (levels[place as usize], place));
    let mut ranks = vec![0; order.len()];
    (0..).zip(&order).for_each(|(rank, &place)| ranks[place as usize] = rank);
    ranks
}

/// Returns the most central open places of each connected part.
fn central(graph: &Graph) -> Vec<Vec<u32>> {
    let places = graph.places() as usize;
    let targets = graph.places_with_nodes();
    // By place: distance of the furthest switch with nodes, and the sum of the distances to all of these.
    let blocks: Vec<&[u32]> = targets.chunks(targets.len().div_ceil(16).max(1)).collect();
    let found = threads::map(blocks, |targets| {
        let mut far = vec![(0_u32, 0_u64); places];
        for &target in targets {
            let mut distances = vec![NONE; places];
            distances[target as usize] = 0;
            let (mut reached, mut next) = (vec![target], 0);
            while let Some(&place) = reached.get(next) {
                next += 1;
                for way in graph.links_into(place) {
                    if distances[way.place as usize] == NONE && graph.is_open(way.place) {
                        distances[way.place as usize] = distances[place as usize] + 1;
                        reached.push(way.place);
                    }
                }
            }
            for &place in &reached {
                let far = &mut far[place as usize];
                *far = (far.0.max(distances[place as usize]), far.1 + u64::from(distances[place as usize]));
            }
        }
        far
    });
    let mut far = vec![(0, 0); places];
    for part in found {
        far.iter_mut().zip(part).for_each(|(far, part)| *far = (far.0.max(part.0), far.1 + part.1));
    }
    let mut seen = vec![false; places];
    let mut parts = Vec::new();
    for start in (0..graph.places()).filter(|&place| graph.is_open(place)) {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let (mut part, mut next) = (vec![start], 0);
        while let Some(&place) = part.get(next) {
            next += 1;
            for way in graph.links_out_of(place).iter().chain(graph.links_into(place)) {
                if graph.is_open(way.place) && !std::mem::replace(&mut seen[way.place as usize], true) {
                    part.push(way.place);
                }
            }
        }
        let least = part.iter().map(|&place| far[place as usize]).min();
        part.retain(|&place| Some(far[place as usize]) == least);
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// Returns the default roots, see [`UpDownSpec::roots`].
fn default_roots(graph: &Graph) -> Vec<u32> {
    let parts = central(graph);
    let with_nodes = graph.places_with_nodes();
    let mut is_root = vec![false; graph.places() as usize];
    parts.iter().flatten().for_each(|&place| is_root[place as usize] = true);
    let apart = |part: &Vec<u32>| {
        part.iter().all(|&place| {
            let linked = graph.links_out_of(place).iter().any(|way| is_root[way.place as usize]);
            !linked && with_nodes.binary_search(&place).is_err()
        })
    };
    let all: Vec<u32> =
        parts.iter().flat_map(|part| if apart(part) { part.clone() } else { part[..1].to_vec() }).collect();
    let first: Vec<u32> = parts.iter().map(|part| part[0]).collect();
    if all.len() == first.len() || connects(graph, &all, &with_nodes) { all } else { first }
}

/// Returns true if all places with nodes reach each other wherever links connect them.
fn connects(graph: &Graph, roots: &[u32], with_nodes: &[u32]) -> bool {
    let ranks = ranks(graph, roots);
    let reached = |target: u32, ranks: Option<&[u32]>| {
        let ways = legal_paths(graph, target, ranks);
        ways.places.iter().filter(|(place, _)| with_nodes.binary_search(place).is_ok()).count()
    };
    let found = threads::map(with_nodes.to_vec(), |target| reached(target, None) == reached(target, Some(&ranks)));
    found.into_iter().all(|same| same)
}
