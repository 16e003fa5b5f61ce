//! Forwarding tables: at each switch the next link, by the destination alone.

use std::fmt;
use std::sync::Arc;

use super::counting::{Counted, count_ends, in_parts};
use super::demand::{Demand, Toward};
use super::graph::{Graph, NONE, Way};
use super::router::Router;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};

/// Most memory of a table \[B\].
const MOST_MEMORY: u64 = 16 << 30;

/// No link leads on.
pub(super) const NO_PORT: u16 = u16::MAX;

/// For each destination node and each place (a switch, or a node that is joined to the network in more than one way)
/// the port that leads on: the position of a link among those that leave the place for other places, in order of their
/// numbers.
///
/// As in InfiniBand, whose forwarding tables have an entry for each local identifier, that is each node. The link from
/// the last switch to the node is none of the table, for there is one only.
///
/// Memory: a byte for each pair of node and place where no place has more than 255 ports, else two. A route costs a look
/// at the table for each link.
pub struct Forwarding {
    pub(super) graph: Graph,
    ports: Ports,
}

enum Ports {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

impl fmt::Debug for Forwarding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarding").field("graph", &self.graph).finish_non_exhaustive()
    }
}

impl Forwarding {
    /// An empty table.
    ///
    /// # Errors
    /// Links without ends, and a table that would not fit.
    pub(super) fn new(fabric: &Arc<Fabric>) -> Result<Self, Vec<Diagnostic>> {
        let graph = Graph::new(fabric)?;
        let most = (0..graph.places()).map(|place| graph.out(place).len()).max().unwrap_or(0);
        let wide = most >= usize::from(u8::MAX);
        let entries = u64::from(fabric.nodes()) * u64::from(graph.places());
        let memory = entries * if wide { 2 } else { 1 };
        if memory > MOST_MEMORY || most >= usize::from(NO_PORT) {
            let message =
                format!("forwarding tables of `{}` would need {} GB", fabric.name(), memory.div_ceil(1_000_000_000));
            return Err(vec![Diagnostic::new("too-large", message).help("use a routing rule that needs no tables")]);
        }
        let ports = match wide {
            true => Ports::Wide(vec![NO_PORT; entries as usize]),
            false => Ports::Narrow(vec![u8::MAX; entries as usize]),
        };
        Ok(Self { graph, ports })
    }

    fn at(&self, dst: NodeId, place: u32) -> usize {
        dst.0 as usize * self.graph.places() as usize + place as usize
    }

    /// The port for a destination at a place, if there is an entry.
    #[inline]
    pub(super) fn port(&self, dst: NodeId, place: u32) -> Option<u16> {
        match &self.ports {
            Ports::Narrow(ports) => Some(ports[self.at(dst, place)]).filter(|&port| port != u8::MAX).map(u16::from),
            Ports::Wide(ports) => Some(ports[self.at(dst, place)]).filter(|&port| port != NO_PORT),
        }
    }

    /// Makes an entry; `false` if there was another one.
    pub(super) fn set(&mut self, dst: NodeId, place: u32, port: u16) -> bool {
        let before = self.port(dst, place);
        let at = self.at(dst, place);
        match &mut self.ports {
            Ports::Narrow(ports) => ports[at] = port as u8,
            Ports::Wide(ports) => ports[at] = port,
        }
        before.is_none_or(|before| before == port)
    }

    /// The link for a destination at a place, with the place that it leads to.
    #[inline]
    pub(super) fn way(&self, dst: NodeId, place: u32) -> Option<Way> {
        self.port(dst, place).map(|port| self.graph.out(place)[usize::from(port)])
    }

    /// Calls `visit` for each link of the route; `false` if there is none, or it does not end.
    #[inline]
    fn walk(&self, src: NodeId, dst: NodeId, mut visit: impl FnMut(LinkId)) -> bool {
        if src == dst {
            return true;
        }
        let (from, to) = (self.graph.home(src), self.graph.home(dst));
        if from.up != NONE {
            visit(LinkId(from.up));
        }
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

    /// What all places send to one node, added to the links of its tree. `amounts` is by place and empty afterwards.
    fn gather(&self, dst: NodeId, amounts: &mut [f64], room: &mut Room, loads: &mut [f64]) {
        let end = self.graph.home(dst).place;
        // What leads to a place comes before the place: by how many places are still to come.
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

/// Room for counting.
#[derive(Default)]
struct Room {
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

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<Counted, Diagnostic> {
        count_ends(&self.graph, demand, loads);
        let toward = Toward::new(demand, &self.graph);
        in_parts(self.graph.fabric.nodes(), loads, |dst, part| {
            part.make_room(&self.graph);
            if toward.amounts(NodeId(dst), &self.graph, &mut part.amounts) {
                self.gather(NodeId(dst), &mut part.amounts, &mut Room::default(), &mut part.loads);
                part.amounts.fill(0.0);
            }
        });
        Ok(Counted::default())
    }

    fn table(&self) -> Option<&Forwarding> {
        Some(self)
    }
}
