//! Packing of spanning trees in a graph of compute nodes.

use std::collections::VecDeque;

use super::demand::Demand;
use super::graph::{Error, Progress, report};
use super::max_flow::Network;
use super::splitting::{Edges, total};

/// Trees of the same shape while they grow.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub root: u32,
    /// Number of trees.
    pub weight: i64,
    pub edges: Vec<(u32, u32)>,
    /// Nodes of the trees, the shallowest first.
    nodes: Vec<u32>,
    inside: Vec<bool>,
    /// Index in `nodes`, and index of its edge, that is tried next.
    next: (usize, usize),
    /// Vertex of the batch in the network, and its link from the source.
    vertex: u32,
    supply: usize,
}

/// Largest number of compute nodes for which the trees of all roots grow at once.
const MOST_TOGETHER: usize = 128;

/// Packs the trees of the demand into the edges.
///
/// The trees of a root are a batch. Batches grow in turn, one edge x->y at a time, the shallowest x first. As many
/// trees take the edge as leave enough capacity into each set of nodes for the trees that have not reached it; the
/// rest is a new batch. A set with no capacity to spare stays so: no tree that has reached it may enter it again.
///
/// Source: K. Bérczi, A. Frank, "Packing arborescences", 2010; ForestColl. Cost: a maximum flow for each
/// tried edge of each batch.
pub(super) fn pack(edges: &Edges, demand: &Demand<'_>, progress: &mut Progress<'_>) -> Result<Vec<Batch>, Error> {
    let count = demand.shares.len();
    let mut out = vec![Vec::new(); count];
    for (&(from, to), pieces) in edges {
        out[from as usize].push((to, total(pieces)));
    }
    for (from, row) in (0..).zip(&mut out) {
        row.sort_by_key(|&(to, _)| (to + count as u32 - from) % count as u32);
    }
    let seed = |(root, &weight): (u32, &i64)| {
        let inside = (0..count as u32).map(|node| node == root).collect();
        Batch { root, weight, edges: Vec::new(), nodes: vec![root], inside, next: (0, 0), vertex: 0, supply: 0 }
    };
    let batches: Vec<Batch> = (0..).zip(demand.shares).filter(|share| *share.1 > 0).map(seed).collect();
    let (mut waiting, mut turn, mut grown) = (0..batches.len(), VecDeque::new(), 0);
    let together = if count <= MOST_TOGETHER { batches.len() } else { 1 };
    let network = Network::new(0, &[]);
    let mut packer = Packer { out, batches, full: Vec::new(), network, first: Vec::new(), need: 0 };
    packer.rebuild();
    loop {
        if turn.is_empty() {
            turn.extend(waiting.by_ref().take(together));
        }
        let Some(number) = turn.pop_front() else { return Ok(packer.batches) };
        let all = (count - 1) as f64 * demand.sum as f64;
        let before = packer.batches.len();
        packer.grow(number, &mut |_| progress(grown as f64 / all))?;
        grown += packer.batches[number].weight;
        if packer.batches[number].nodes.len() < count {
            turn.push_back(number);
        }
        turn.extend(before..packer.batches.len());
    }
}

/// State of the packing.
#[derive(Debug)]
struct Packer {
    /// Capacity left from each node: `(to, capacity)`.
    out: Vec<Vec<(u32, i64)>>,
    batches: Vec<Batch>,
    /// Sets of nodes that have no capacity to spare.
    full: Vec<Vec<bool>>,
    /// Network of what is left. The source, behind the nodes, has links to each node, without capacity, and to a vertex
    /// for each batch that does not span all nodes. That vertex has links to the nodes of its batch; for a root alone
    /// it is the node.
    network: Network,
    /// For each node the number of its first edge in the network.
    first: Vec<usize>,
    /// Sum of the weights of batches that do not span all nodes.
    need: i64,
}

/// Largest number of full sets that are kept.
const MOST_SETS: usize = 1024;

/// Capacity without limit.
const UNLIMITED: i64 = i64::MAX / 4;

impl Packer {
    /// Adds an edge to a batch. Trees that have to go another way become a batch of their own.
    fn grow(&mut self, number: usize, progress: &mut Progress<'_>) -> Result<(), Error> {
        let count = self.out.len() as u32;
        loop {
            let batch = &mut self.batches[number];
            let Some(&from) = batch.nodes.get(batch.next.0) else { return Err(Error::Disconnected(batch.root)) };
            let index = batch.next.1;
            let Some(&(to, capacity)) = self.out[from as usize].get(index) else {
                batch.next = (batch.next.0 + 1, 0);
                continue;
            };
            batch.next.1 += 1;
            let most = capacity.min(batch.weight);
            if most == 0 || batch.inside[to as usize] || self.is_closed(number, from, to) {
                continue;
            }
            report(progress, 0.0)?;
            let Batch { weight, supply, vertex, .. } = self.batches[number];
            let need = self.need - weight;
            self.network.set(supply, 0);
            self.network.set(from as usize, UNLIMITED);
            let amount = self.network.flow(count, to, need + most) - need;
            if amount < most && self.full.len() < MOST_SETS {
                self.full.push((0..count).map(|node| self.network.on_sink_side(node)).collect());
            }
            self.network.set(from as usize, 0);
            self.network.set(supply, weight);
            if amount <= 0 {
                continue;
            }
            self.out[from as usize][index].1 -= amount;
            let batch = &mut self.batches[number];
            let rest = (amount < weight).then(|| Batch { weight: weight - amount, ..batch.clone() });
            batch.weight = amount;
            batch.edges.push((from, to));
            batch.nodes.push(to);
            batch.inside[to as usize] = true;
            if rest.is_some() || [2, count as usize].contains(&batch.nodes.len()) {
                self.batches.extend(rest);
                self.rebuild();
            } else {
                self.network.add(self.first[from as usize] + index, -amount);
                self.network.link(vertex, to, UNLIMITED);
            }
            return Ok(());
        }
    }

    /// True if a known set rules the edge out.
    fn is_closed(&self, number: usize, from: u32, to: u32) -> bool {
        let meets = |set: &[bool]| self.batches[number].nodes.iter().any(|&node| set[node as usize]);
        self.full.iter().any(|set| set[to as usize] && !set[from as usize] && meets(set))
    }

    /// Builds the network of what is left.
    fn rebuild(&mut self) {
        let count = self.out.len() as u32;
        let mut links: Vec<_> = (0..count).map(|node| (count, node, 0)).collect();
        let mut vertex = count;
        self.need = 0;
        for batch in self.batches.iter_mut().filter(|batch| batch.nodes.len() < count as usize) {
            self.need += batch.weight;
            batch.supply = links.len();
            if let &[root] = &batch.nodes[..] {
                links.push((count, root, batch.weight));
                continue;
            }
            vertex += 1;
            batch.vertex = vertex;
            links.push((count, vertex, batch.weight));
            links.extend(batch.nodes.iter().map(|&node| (vertex, node, UNLIMITED)));
        }
        self.first.clear();
        for (from, row) in (0..).zip(&self.out) {
            self.first.push(links.len());
            links.extend(row.iter().map(|&(to, capacity)| (from, to, capacity)));
        }
        self.network = Network::new(vertex as usize + 1, &links);
    }
}
