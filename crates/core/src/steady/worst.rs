//! The permutation that loads a link most, by matching.
//!
//! Let w_l(s, d) be the fraction of the traffic from s to d that crosses link l under an oblivious rule. The
//! load that a permutation π puts on l is the sum of w_l(s, π(s)) over all sources s. So the permutation that
//! loads l most is a matching of sources and destinations with the largest weight. The worst permutation is
//! the worst over all links.
//!
//! Source: B. Towles, W. Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002.
//!
//! This module does that for a sample of links, [`LINKS`] of each kind, evenly spread. If a route is one
//! path, weights are 0 and 1, and the matching (Hopcroft and Karp) is exact for that link. If it is several
//! paths, pairs are matched by falling weight, which gives a permutation that is at least half as bad. On
//! more than [`MOST_SINGLE_NODES`] nodes all nodes of a switch send alike, to the nodes in the same positions
//! on another switch, with the routes of the first node of each switch. The throughput of the permutation is
//! an upper bound of that of the worst permutation.

use super::kind::kind;
use crate::base::threads;
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, LinkId, NodeId};
use crate::routing::{ChoiceKind, Path, Router};

/// Number of links of each kind that are examined.
const LINKS: usize = 8;
/// Largest number of nodes that are matched one by one.
const MOST_SINGLE_NODES: u32 = 2048;
/// Largest number of units (switches or nodes) that are matched.
const MOST_UNITS: usize = 4096;
/// Number of steps into which the weights of pairs are divided.
const STEPS: f64 = 16.0;

/// Nodes that send alike: one node, or the nodes of a switch.
struct Unit {
    nodes: Vec<u32>,
}

/// Returns the destination of each node in a permutation that is as bad as possible for one of the examined
/// links.
///
/// Cost: U^2 routes for U units, and a matching among U of each side for each link.
///
/// # Errors
/// The routes of the rule depend on the messages under way, or the fabric has more than 4,096 units.
pub fn worst_case(fabric: &Fabric, router: &dyn Router) -> Result<Vec<u32>, Diagnostic> {
    let units = units(fabric);
    if units.len() > MOST_UNITS {
        let message = format!("the worst permutation of {} is not looked for", fabric.name());
        return Err(Diagnostic::new("too-large", message)
            .label(format!("{} switches with nodes, and {MOST_UNITS} are the most", units.len()))
            .help("take a smaller fabric of the family, or traffic between groups (ADV+1)"));
    }
    if let Some(choice) = router.choice()
        && matches!(choice.kind(), ChoiceKind::Adaptive | ChoiceKind::Bound)
    {
        let message = "the worst permutation is known of rules whose routes do not depend on what is under way";
        return Err(Diagnostic::new("adaptive-routing", message).help(
            "take an oblivious rule (minimal, ecmp, spray, dimension-order ...), or traffic between groups (ADV+1)",
        ));
    }
    let links = sample(fabric);
    let mut best: (f64, Vec<(u32, u32)>) = (0.0, Vec::new());
    for (link, pairs) in links.iter().zip(weights(&units, router, &links)) {
        let (matched, weight) = matching(units.len(), &pairs);
        let load = weight / fabric.link(*link).capacity.bytes_per_second();
        // The first of equally busy links counts, regardless of the last digits of sums.
        if load > best.0 * (1.0 + 1e-9) {
            best = (load, matched);
        }
    }
    Ok(complete(fabric.nodes(), &units, &best.1))
}

/// Returns the nodes by switch, or one by one.
fn units(fabric: &Fabric) -> Vec<Unit> {
    if fabric.nodes() <= MOST_SINGLE_NODES {
        return (0..fabric.nodes()).map(|node| Unit { nodes: vec![node] }).collect();
    }
    let mut by_leaf: Vec<(u32, u32)> = fabric.node_ids().map(|node| (fabric.leaf_of(node), node.0)).collect();
    by_leaf.sort_unstable();
    let same = by_leaf.chunk_by(|a, b| a.0 == b.0);
    same.map(|nodes| Unit { nodes: nodes.iter().map(|&(_, node)| node).collect() }).collect()
}

/// Returns a sample of the links between switches, some of each kind.
fn sample(fabric: &Fabric) -> Vec<LinkId> {
    let mut by_kind: Vec<(String, Vec<LinkId>)> = Vec::new();
    let mut known: Vec<((u8, bool), usize)> = Vec::new();
    let groups = fabric.groups().unwrap_or_default();
    for (id, link) in fabric.links().iter_ids() {
        let LinkRole::Network { tier } = link.role else { continue };
        let group = |vertex: crate::ids::VertexId| groups.get(vertex.index().wrapping_sub(fabric.nodes() as usize));
        let crosses = link.ends.is_some_and(|(from, to)| group(from) != group(to));
        let place = known.iter().find(|(key, _)| *key == (tier, crosses)).map(|&(_, place)| place);
        let place = place.unwrap_or_else(|| {
            let name = kind(fabric, id);
            let place = by_kind.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
                by_kind.push((name, Vec::new()));
                by_kind.len() - 1
            });
            known.push(((tier, crosses), place));
            place
        });
        by_kind[place].1.push(id);
    }
    let spread = |links: &Vec<LinkId>| {
        let count = LINKS.min(links.len());
        (0..count).map(|i| links[i * links.len() / count]).collect::<Vec<_>>()
    };
    by_kind.iter().flat_map(|(_, links)| spread(links)).collect()
}

/// Returns the pairs of units whose traffic crosses each link, with the crossing part of it in nodes.
fn weights(units: &[Unit], router: &dyn Router, links: &[LinkId]) -> Vec<Vec<(u32, u32, f64)>> {
    let most = links.iter().map(|link| link.index()).max().map_or(0, |most| most + 1);
    let mut place = vec![u32::MAX; most];
    links.iter().zip(0..).for_each(|(link, number)| place[link.index()] = number);
    let count = units.len() as u32;
    let of_source = |src: u32| {
        let mut found: Vec<(u32, u32, f64)> = Vec::new();
        let mut path = Path::default();
        for dst in (0..count).filter(|&dst| dst != src) {
            let (from, to) = (NodeId(units[src as usize].nodes[0]), NodeId(units[dst as usize].nodes[0]));
            if !router.reaches(from, to) {
                continue;
            }
            path.clear();
            match router.choice() {
                Some(choice) => {
                    choice.expected(from, to, &mut path);
                }
                None => router.route(from, to, &mut path.links),
            }
            for (at, link) in path.links.iter().enumerate() {
                if let Some(&number) = place.get(link.index()).filter(|&&number| number != u32::MAX) {
                    found.push((number, dst, path.parts.get(at).copied().unwrap_or(1.0)));
                }
            }
        }
        found
    };
    let mut by_link = vec![Vec::new(); links.len()];
    for (src, found) in (0..count).zip(threads::map((0..count).collect(), of_source)) {
        for (number, dst, part) in found {
            let of_link: &mut Vec<(u32, u32, f64)> = &mut by_link[number as usize];
            match of_link.last_mut() {
                // Several paths of one pair.
                Some(last) if (last.0, last.1) == (src, dst) => last.2 += part,
                _ => of_link.push((src, dst, part * units[src as usize].nodes.len() as f64)),
            }
        }
    }
    by_link
}

/// Matches pairs by falling weight, as many as possible at each step of weights. Matched units stay matched,
/// but their partners may change. Returns the pairs and their weight.
fn matching(units: usize, pairs: &[(u32, u32, f64)]) -> (Vec<(u32, u32)>, f64) {
    let most = pairs.iter().map(|pair| pair.2).fold(0.0, f64::max);
    if most <= 0.0 {
        return (Vec::new(), 0.0);
    }
    let step = |weight: f64| (weight / most * STEPS).ceil() as usize;
    let mut graph = Bipartite::new(units);
    for level in (1..=STEPS as usize).rev() {
        let mut grown = false;
        for &(src, dst, _) in pairs.iter().filter(|pair| step(pair.2) == level) {
            graph.ways[src as usize].push(dst);
            grown = true;
        }
        if grown {
            graph.match_most();
        }
    }
    let matched: Vec<(u32, u32)> =
        graph.to.iter().zip(0..).filter(|(to, _)| **to != FREE).map(|(&to, from)| (from, to)).collect();
    let mut weight = 0.0;
    for pair in pairs {
        if graph.to[pair.0 as usize] == pair.1 {
            weight += pair.2;
        }
    }
    (matched, weight)
}

const FREE: u32 = u32::MAX;

/// Sources, destinations, and the pairs that may be matched.
struct Bipartite {
    ways: Vec<Vec<u32>>,
    to: Vec<u32>,
    from: Vec<u32>,
}

impl Bipartite {
    fn new(units: usize) -> Self {
        Self { ways: vec![Vec::new(); units], to: vec![FREE; units], from: vec![FREE; units] }
    }

    /// Extends the matching to the largest number of pairs by shortest augmenting paths, many at a time.
    ///
    /// Source: J. Hopcroft, R. Karp, "An n^5/2 algorithm for maximum matchings in bipartite graphs", 1973.
    fn match_most(&mut self) {
        let mut distance = vec![FREE; self.ways.len()];
        let mut next = vec![0; self.ways.len()];
        while self.layers(&mut distance) {
            next.fill(0);
            for src in 0..self.ways.len() as u32 {
                if self.to[src as usize] == FREE {
                    self.augment(src, &mut distance, &mut next);
                }
            }
        }
    }

    /// Computes the distance of each source from a free source, in pairs. Returns true if a free destination
    /// is found.
    fn layers(&self, distance: &mut [u32]) -> bool {
        distance.fill(FREE);
        let mut queue: Vec<u32> = (0..self.ways.len() as u32).filter(|&src| self.to[src as usize] == FREE).collect();
        queue.iter().for_each(|&src| distance[src as usize] = 0);
        let (mut done, mut found) = (0, false);
        while let Some(&src) = queue.get(done) {
            done += 1;
            for &dst in &self.ways[src as usize] {
                match self.from[dst as usize] {
                    FREE => found = true,
                    other if distance[other as usize] == FREE => {
                        distance[other as usize] = distance[src as usize] + 1;
                        queue.push(other);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Walks down the layers to a free destination and matches along the way.
    fn augment(&mut self, start: u32, distance: &mut [u32], next: &mut [usize]) {
        let mut way = vec![start];
        while let Some(&src) = way.last() {
            let Some(&dst) = self.ways[src as usize].get(next[src as usize]) else {
                distance[src as usize] = FREE;
                way.pop();
                if let Some(&before) = way.last() {
                    next[before as usize] += 1;
                }
                continue;
            };
            match self.from[dst as usize] {
                FREE => {
                    for &src in &way {
                        let dst = self.ways[src as usize][next[src as usize]];
                        self.to[src as usize] = dst;
                        self.from[dst as usize] = src;
                        distance[src as usize] = FREE;
                    }
                    return;
                }
                other if distance[other as usize] == distance[src as usize] + 1 => way.push(other),
                _ => next[src as usize] += 1,
            }
        }
    }
}

/// Returns the destinations of the matched units, and arbitrary ones for the remaining nodes. No node sends
/// to itself if that can be avoided.
fn complete(nodes: u32, units: &[Unit], matched: &[(u32, u32)]) -> Vec<u32> {
    let mut to = vec![FREE; nodes as usize];
    let mut taken = vec![false; nodes as usize];
    for &(from, dst) in matched {
        for (&src, &dst) in units[from as usize].nodes.iter().zip(&units[dst as usize].nodes) {
            to[src as usize] = dst;
            taken[dst as usize] = true;
        }
    }
    let sources: Vec<u32> = (0..nodes).filter(|&src| to[src as usize] == FREE).collect();
    let free: Vec<u32> = (0..nodes).filter(|&dst| !taken[dst as usize]).collect();
    for (&src, &dst) in sources.iter().zip(free.iter().cycle().skip(free.len() / 2)) {
        to[src as usize] = dst;
    }
    for &src in &sources {
        if to[src as usize] == src {
            // Swaps with any other remaining node; a single one keeps itself.
            if let Some(&other) = sources.iter().find(|&&other| other != src && to[other as usize] != src) {
                to.swap(src as usize, other as usize);
            }
        }
    }
    to
}
