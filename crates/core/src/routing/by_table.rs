//! Routes by forwarding tables, and the loads of traffic on them.

use super::counting::{LoadCount, count_ends, in_parts};
use super::demand::{ColumnsByNode, Demand};
use super::forwarding::Forwarding;
use super::graph::NONE;
use super::router::Router;
use crate::diagnostic::Diagnostic;
use crate::ids::{IdVec, LinkId, NodeId};

impl Forwarding {
    /// Calls `visit` for each link of the route. Returns `false` if there is no route, or it does not end.
    #[inline]
    fn walk(&self, src: NodeId, dst: NodeId, mut visit: impl FnMut(LinkId)) -> bool {
        if src == dst {
            return true;
        }
        let (from, to) = (self.graph.home(src), self.graph.home(dst));
        if from.up != NONE {
            visit(LinkId(from.up));
        }
        // The end of the path is looked up together with its beginning: a row has an entry for each place, and neither
        // is in a cache if the pairs are in random order.
        std::hint::black_box(self.port(dst, to.place));
        let mut at = from.place;
        let mut left = self.graph.places();
        while at != to.place {
            match self.way(dst, at) {
                Some(way) if left > 0 => {
                    visit(LinkId(way.link));
                    at = way.place;
                    left -= 1;
                }
                _ => return false,
            }
        }
        if to.down != NONE {
            visit(LinkId(to.down));
        }
        true
    }

    /// Adds the traffic from all places to one node to the links of its tree. `amounts` is by place and empty
    /// afterwards.
    fn gather(&self, dst: NodeId, amounts: &mut [f64], room: &mut Buffers, loads: &mut [f64]) {
        let end = self.graph.home(dst).place;
        // Places are sorted by the number of links to the end, so that a place comes after all that lead to it.
        room.waiting.clear();
        room.waiting.resize(amounts.len(), 0);
        for place in 0..self.graph.places() {
            if let Some(way) = self.way(dst, place).filter(|_| place != end) {
                room.waiting[way.place as usize] += 1;
            }
        }
        room.ready.clear();
        room.ready.extend((0..self.graph.places()).filter(|&place| room.waiting[place as usize] == 0));
        while let Some(place) = room.ready.pop() {
            let amount = std::mem::take(&mut amounts[place as usize]);
            let Some(way) = self.way(dst, place).filter(|_| place != end) else { continue };
            loads[way.link as usize] += amount;
            amounts[way.place as usize] += amount;
            room.waiting[way.place as usize] -= 1;
            if room.waiting[way.place as usize] == 0 {
                room.ready.push(way.place);
            }
        }
    }
}

/// Buffers for counting.
#[derive(Default)]
struct Buffers {
    waiting: Vec<u32>,
    ready: Vec<u32>,
}

impl Router for Forwarding {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let start = route.len();
        if !self.walk(src, dst, |link| route.push(link)) {
            route.truncate(start);
        }
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        self.walk(src, dst, |_| {})
    }

    fn is_total(&self) -> bool {
        false
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        count_ends(&self.graph, demand, loads);
        let toward = ColumnsByNode::new(demand, &self.graph);
        in_parts(self.graph.fabric.nodes(), loads, |dst, part| {
            part.make_room(&self.graph);
            if toward.amounts(NodeId(dst), &self.graph, &mut part.amounts) {
                self.gather(NodeId(dst), &mut part.amounts, &mut Buffers::default(), &mut part.loads);
                part.amounts.fill(0.0);
            }
        });
        Ok(LoadCount::default())
    }

    fn table(&self) -> Option<&Forwarding> {
        Some(self)
    }
}
