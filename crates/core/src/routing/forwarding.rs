//! Forwarding tables: at each switch the next link, given by the destination alone.

use std::fmt;
use std::sync::Arc;

use super::graph::{Graph, PlaceLink};
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::NodeId;

/// Most memory of a table \[B\].
const MOST_MEMORY: u64 = 16 << 30;

/// Value for no port.
pub(super) const NO_PORT: u16 = u16::MAX;

/// Forwarding table: the port that leads on, for each destination node and each place.
///
/// A place is a switch, or a node that is joined to the network in more than one way. A port is the position
/// of a link among those that leave the place for other places, in order of their numbers.
///
/// This is like InfiniBand, whose forwarding tables have an entry for each local identifier, that is each
/// node. The only link from the last switch to the node is not in the table.
///
/// Memory: one byte for each pair of node and place if no place has more than 255 ports, else two. A route
/// costs one table access for each link.
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
    /// Creates an empty table.
    ///
    /// # Errors
    /// Fails if links have no ends, or if the table does not fit in memory.
    pub(super) fn new(fabric: &Arc<Fabric>) -> Result<Self, Vec<Diagnostic>> {
        let graph = Graph::new(fabric)?;
        let most = (0..graph.places()).map(|place| graph.links_out_of(place).len()).max().unwrap_or(0);
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

    /// Returns the port for a destination at a place, if there is an entry.
    #[inline]
    pub(super) fn port(&self, dst: NodeId, place: u32) -> Option<u16> {
        match &self.ports {
            Ports::Narrow(ports) => Some(ports[self.at(dst, place)]).filter(|&port| port != u8::MAX).map(u16::from),
            Ports::Wide(ports) => Some(ports[self.at(dst, place)]).filter(|&port| port != NO_PORT),
        }
    }

    /// Sets an entry. Returns `false` if there was a different one.
    pub(super) fn set(&mut self, dst: NodeId, place: u32, port: u16) -> bool {
        let before = self.port(dst, place);
        let at = self.at(dst, place);
        match &mut self.ports {
            Ports::Narrow(ports) => ports[at] = port as u8,
            Ports::Wide(ports) => ports[at] = port,
        }
        before.is_none_or(|before| before == port)
    }

    /// Sets the entries of one destination at all places, `NO_PORT` where there is none.
    pub(super) fn set_all(&mut self, dst: NodeId, by_place: &[u16]) {
        let row = self.at(dst, 0)..self.at(dst, 0) + by_place.len();
        match &mut self.ports {
            // (The largest number stands for no port in either width.)
            Ports::Narrow(ports) => ports[row].iter_mut().zip(by_place).for_each(|(port, &of)| *port = of as u8),
            Ports::Wide(ports) => ports[row].copy_from_slice(by_place),
        }
    }

    /// Returns the link for a destination at a place, with the place that it leads to.
    #[inline]
    pub(super) fn way(&self, dst: NodeId, place: u32) -> Option<PlaceLink> {
        self.port(dst, place).map(|port| self.graph.links_out_of(place)[usize::from(port)])
    }
}
