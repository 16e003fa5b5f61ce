//! Forwarding tables filled destination by destination, taking into account the routes already present.

use std::cmp::Reverse;
use std::sync::Arc;

use super::forwarding::{Forwarding, NO_PORT};
use super::graph::Graph;
use super::legal_paths::{Candidate, LegalPaths, legal_paths};
use crate::base::threads;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::NodeId;
use crate::rng::Stream;

/// Order in which destinations get their routes; later ones avoid the links of earlier ones.
#[spec(Copy, Eq, Default)]
pub enum Order {
    /// Switch by switch, those with the most nodes first, then by number; on a switch by number. This is
    /// OpenSM's order.
    #[default]
    Switches,
    /// The first node of each switch, then the second of each, and so on.
    RoundRobin,
    /// A random order, drawn with the scenario's seed.
    Random,
}

impl Order {
    /// Returns true for the default order.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns all nodes in this order.
    fn nodes(self, graph: &Graph, seed: u64) -> Vec<NodeId> {
        let mut nodes_at = vec![Vec::new(); graph.places() as usize];
        for node in graph.fabric.node_ids() {
            nodes_at[graph.home(node).place as usize].push(node);
        }
        let mut nodes: Vec<NodeId> = graph.fabric.node_ids().collect();
        match self {
            Self::Switches => nodes.sort_by_key(|&node| {
                let place = graph.home(node).place;
                (Reverse(nodes_at[place as usize].len()), place, node)
            }),
            Self::RoundRobin => {
                let mut turns = vec![0; nodes.len()];
                for nodes in &nodes_at {
                    nodes.iter().enumerate().for_each(|(turn, node)| turns[node.0 as usize] = turn);
                }
                nodes.sort_by_key(|&node| (turns[node.0 as usize], graph.home(node).place));
            }
            Self::Random => Stream::new(seed, "routing order").shuffle(&mut nodes),
        }
        nodes
    }
}

/// Criterion by which one of several links is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Balance {
    /// At each place the link with the fewest destinations, even if no messages for them come by.
    Destinations,
    /// At each place the link with the fewest routes.
    Routes,
    /// The path with the fewest routes on all its links together.
    Paths,
}

/// Function that returns the ranks of the places of a graph.
pub(super) type RanksOf<'a> = &'a dyn Fn(&Graph) -> Vec<u32>;

/// Builds a table of shortest paths (with `ranks`, of legal ones, see [`legal_paths`]). Ties go to the lowest
/// port.
///
/// Cost: a search for each switch with nodes (in parallel), and for each node a look at each link that
/// shortest paths to it can take.
pub(super) fn balanced(
    fabric: &Arc<Fabric>,
    ranks: Option<RanksOf<'_>>,
    balance: Balance,
    order: Order,
    seed: u64,
) -> Result<Forwarding, Vec<Diagnostic>> {
    let mut table = Forwarding::new(fabric)?;
    let ranks = ranks.map(|ranks| ranks(&table.graph));
    let nodes = order.nodes(&table.graph, seed);
    let mut used = vec![0_u64; fabric.links().len()];
    let places = table.graph.places() as usize;
    let (mut costs, mut amounts) = (vec![0_u64; places], vec![0_u64; places]);
    let mut chosen = vec![Candidate { port: 0, link: 0, place: 0 }; places];
    let mut sources = vec![0_u64; places];
    let mut rows = Vec::new();
    for node in fabric.node_ids() {
        sources[table.graph.home(node).place as usize] += 1;
    }
    // Consecutive nodes on one switch share a search; searches for several switches run in parallel.
    let runs: Vec<&[NodeId]> =
        nodes.chunk_by(|&a, &b| table.graph.home(a).place == table.graph.home(b).place).collect();
    for runs in runs.chunks(4 * threads::count()) {
        let search = |run: &[NodeId]| legal_paths(&table.graph, table.graph.home(run[0]).place, ranks.as_deref());
        let found: Vec<LegalPaths> = threads::map(runs.to_vec(), search);
        for (&run, ways) in runs.iter().zip(&found) {
            if balance == Balance::Destinations {
                // Each place chooses by its own links alone: it takes all destinations of a run before the next place.
                rows.clear();
                rows.resize(run.len() * places, NO_PORT);
                for (place, candidates) in ways.iter() {
                    for row in rows.chunks_exact_mut(places) {
                        let way = least(candidates, |way| used[way.link as usize]);
                        row[place as usize] = way.port;
                        used[way.link as usize] += 1;
                    }
                }
                run.iter().zip(rows.chunks_exact(places)).for_each(|(&dst, row)| table.set_all(dst, row));
                continue;
            }
            rows.clear();
            rows.resize(places, NO_PORT);
            for &dst in run {
                let end = table.graph.home(dst).place as usize;
                if balance == Balance::Paths {
                    costs[end] = 0;
                    for (place, candidates) in ways.iter() {
                        let cost = |way: &Candidate| used[way.link as usize] + costs[way.place as usize];
                        let way = least(candidates, cost);
                        costs[place as usize] = cost(&way);
                        chosen[place as usize] = way;
                    }
                }
                // The traffic through a place is known once all places further away have chosen.
                for (place, candidates) in ways.furthest_first() {
                    let way = match balance {
                        Balance::Paths => chosen[place as usize],
                        _ => least(candidates, |way| used[way.link as usize]),
                    };
                    rows[place as usize] = way.port;
                    let routes = sources[place as usize] + std::mem::take(&mut amounts[place as usize]);
                    used[way.link as usize] += routes;
                    amounts[way.place as usize] += routes;
                }
                amounts[end] = 0;
                table.set_all(dst, &rows);
            }
        }
    }
    Ok(table)
}

/// Returns the candidate with the least cost, the first of equals.
#[inline]
fn least(candidates: &[Candidate], cost: impl Fn(&Candidate) -> u64) -> Candidate {
    let (mut best, mut least) = (candidates[0], cost(&candidates[0]));
    for candidate in &candidates[1..] {
        let cost = cost(candidate);
        if cost < least {
            (best, least) = (*candidate, cost);
        }
    }
    best
}
