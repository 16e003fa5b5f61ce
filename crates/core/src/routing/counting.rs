//! Load counting: what steady traffic puts on each link, by pairs of switches.

use super::demand::{Columns, Demand};
use super::graph::{Graph, NONE, Target};
use crate::base::threads;
use crate::ids::{IdVec, LinkId};

/// Parts into which counting is divided, at most. Their sums are added up in order, so that the result does not depend
/// on how many threads there are.
const PARTS: usize = 32;
/// Loads that all parts keep together, but that there are at least two parts.
const MOST_LOADS: usize = 1 << 25;

/// What came out of counting loads.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Counted {
    /// The part of the traffic that goes shortest ways, where the rule has mixed two kinds of ways as is best.
    pub minimal_share: Option<f64>,
}

/// The sum of what `work` adds to the loads for each number below `count`.
pub(super) fn in_parts(count: u32, loads: &mut IdVec<LinkId, f64>, work: impl Fn(u32, &mut Part) + Send + Sync) {
    let links = loads.len();
    let parts = (MOST_LOADS / links.max(1)).clamp(2, PARTS) as u32;
    let parts = threads::map((0..parts.min(count)).map(|first| (first, parts)).collect(), |(first, parts)| {
        let mut part = Part { loads: vec![0.0; links], ..Part::default() };
        (first..count).step_by(parts as usize).for_each(|number| work(number, &mut part));
        part.loads
    });
    for part in parts {
        loads.as_mut_slice().iter_mut().zip(part).for_each(|(load, more)| *load += more);
    }
}

/// What one thread counts, and room for it.
#[derive(Default)]
pub(super) struct Part {
    /// By link \[B/s\].
    pub loads: Vec<f64>,
    /// By place.
    pub column: Vec<f64>,
    pub amounts: Vec<f64>,
    pub order: Vec<u64>,
}

impl Part {
    /// Room for so many places.
    pub fn make_room(&mut self, graph: &Graph) {
        self.column.resize(graph.places() as usize, 0.0);
        self.amounts.resize(graph.places() as usize, 0.0);
    }

    /// Spreads the amounts over the shortest ways to a target and forgets what has come there.
    pub fn spread(&mut self, graph: &Graph, target: Target) {
        graph.spread(target, &mut self.amounts, &mut self.order, &mut self.loads);
        self.amounts.fill(0.0);
    }
}

/// Adds what nodes send and get to the links between them and their switches.
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

/// Adds traffic that is spread over all shortest ways, in equal parts at each switch.
pub(super) fn count_spread(graph: &Graph, columns: &Columns<'_>, loads: &mut IdVec<LinkId, f64>) {
    in_parts(graph.places(), loads, |to, part| {
        part.make_room(graph);
        let Part { amounts, .. } = part;
        if columns.column(to, amounts) {
            part.spread(graph, Target::Place(to));
        }
    });
}
