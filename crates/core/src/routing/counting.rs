//! Load counting: the load of each link under steady traffic, added up by pairs of switches.

use super::demand::{Columns, Demand};
use super::graph::{Graph, NONE, Target};
use crate::base::threads;
use crate::ids::{IdVec, LinkId, NodeId};

/// Largest number of parts into which counting is divided. Their sums are added up in order, so that the
/// result does not depend on the number of threads.
const PARTS: usize = 32;
/// Largest number of loads of all parts together, unless there are only two parts.
const MOST_LOADS: usize = 1 << 25;

/// Result of counting loads.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LoadCount {
    /// Share of the traffic on shortest paths, if the rule mixes two kinds of paths in the best proportion.
    pub minimal_share: Option<f64>,
}

/// Adds to the loads the sum of the results of `work` for each number below `count`.
pub(super) fn in_parts(count: u32, loads: &mut IdVec<LinkId, f64>, work: impl Fn(u32, &mut LoadPart) + Send + Sync) {
    let links = loads.len();
    let parts = (MOST_LOADS / links.max(1)).clamp(2, PARTS) as u32;
    let parts = threads::map((0..parts.min(count)).map(|first| (first, parts)).collect(), |(first, parts)| {
        let mut part = LoadPart { loads: vec![0.0; links], ..LoadPart::default() };
        (first..count).step_by(parts as usize).for_each(|number| work(number, &mut part));
        part.add_counts();
        part.loads
    });
    for part in parts {
        loads.as_mut_slice().iter_mut().zip(part).for_each(|(load, more)| *load += more);
    }
}

/// Loads counted by one thread, and its buffers.
#[derive(Default)]
pub(super) struct LoadPart {
    /// Load of each link \[B/s\].
    pub loads: Vec<f64>,
    /// Amount at each place.
    pub column: Vec<f64>,
    pub amounts: Vec<f64>,
    pub order: Vec<u64>,
    /// Number of routes over each link, each with the same amount \[B/s\]; empty if nothing is counted.
    pub counts: IdVec<LinkId, u32>,
    pub amount: f64,
    pub ends: Vec<(NodeId, NodeId)>,
}

impl LoadPart {
    /// Adds the amount to the load of each link once for each of its routes. Amounts are added up one by one, so that
    /// sums have the same last digits as sums over routes.
    fn add_counts(&mut self) {
        let mut order: Vec<(u32, LinkId)> = self.counts.iter_ids().map(|(link, &count)| (count, link)).collect();
        order.retain(|&(count, _)| count > 0);
        order.sort_unstable();
        let (mut sum, mut added) = (0.0, 0);
        for (count, link) in order {
            while added < count {
                sum += self.amount;
                added += 1;
            }
            self.loads[link.0 as usize] += sum;
        }
    }

    /// Makes room for the places of a graph.
    pub fn make_room(&mut self, graph: &Graph) {
        self.column.resize(graph.places() as usize, 0.0);
        self.amounts.resize(graph.places() as usize, 0.0);
    }

    /// Spreads the amounts over the shortest paths to a target, and clears those that arrive.
    pub fn spread(&mut self, graph: &Graph, target: Target) {
        graph.spread(target, &mut self.amounts, &mut self.order, &mut self.loads);
        self.amounts.fill(0.0);
    }
}

/// Adds the traffic sent and received by nodes to the links between them and their switches.
pub(super) fn count_ends(graph: &Graph, demand: &Demand, loads: &mut IdVec<LinkId, f64>) {
    for (node, (sent, got)) in graph.fabric.node_ids().zip(demand.totals(graph.fabric.nodes())) {
        let home = graph.home(node);
        if home.up != NONE {
            loads[LinkId(home.up)] += sent;
        }
        if home.down != NONE {
            loads[LinkId(home.down)] += got;
        }
    }
}

/// Adds traffic that is spread over all shortest paths, in equal parts at each switch.
pub(super) fn count_spread(graph: &Graph, columns: &Columns<'_>, loads: &mut IdVec<LinkId, f64>) {
    in_parts(graph.places(), loads, |to, part| {
        part.make_room(graph);
        let LoadPart { amounts, .. } = part;
        if columns.column(to, amounts) {
            part.spread(graph, Target::Place(to));
        }
    });
}
