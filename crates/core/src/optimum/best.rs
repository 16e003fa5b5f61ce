//! Bounds of the best possible time of volumes on a fabric.

use super::flow::{Certificate, FlowError, Links, Optimum, Options, Path, distances, free_bounds, paths, solve};
use super::network::{FlowNetwork, Volumes};
use crate::base::choice::choice;
use crate::diagnostic::Diagnostic;
use crate::ids::{IdVec, LinkId, NodeId, VertexId};
use crate::units::Bandwidth;

choice! {
    /// Kind of proof that no schedule takes less time.
    pub enum Proof {
        /// A node cannot send or receive its bytes sooner over its ports.
        Ports = "ports",
        /// All bytes over the fewest links take all links this time.
        Distance = "distance",
        /// Lengths of links, by which the bytes need more than the links have.
        Lengths = "lengths",
        /// Bytes that cross a cut, divided by its bandwidth.
        Cut = "cut",
    }
}

/// Bounds of the least time in which volumes can be carried, on any routes and with any split over them.
#[derive(Debug)]
pub struct BestTime {
    /// Time that no schedule undercuts \[s\].
    pub at_least_s: f64,
    /// Time that steady flows on the best known routes reach \[s\]; infinite if no routes were searched.
    pub reached_s: f64,
    /// Proof of `at_least_s`.
    pub proof: Proof,
    /// Node whose ports bound the time most, true if by sending, and that bound \[s\].
    port: (NodeId, bool, f64),
    /// Certificate of the bound of the links between switches.
    certificate: Certificate,
    /// Best known routes, if routes were searched.
    routes: Option<Optimum>,
}

impl BestTime {
    /// Returns true if both bounds are the same.
    pub fn is_exact(&self) -> bool {
        self.reached_s <= self.at_least_s * (1.0 + 1e-9)
    }

    /// Returns the best known routes between switches, if routes were searched.
    pub fn routes(&self) -> Option<&Optimum> {
        self.routes.as_ref()
    }

    /// Returns the pairs of vertices across the cut that binds, or all if the proof is none, each once, with their
    /// distance by the lengths of the proof. Returns none if ports bind.
    pub(super) fn across(&self, links: &Links) -> Vec<(u32, u32, f64)> {
        let hops = vec![1.0; links.ends().len()];
        let (side, lengths) = match &self.certificate {
            _ if self.proof == Proof::Ports => return Vec::new(),
            Certificate::Cut { side, .. } => (Some(side), &hops),
            Certificate::Lengths(lengths) => (None, lengths),
            Certificate::Distance | Certificate::None => (None, &hops),
        };
        let mut pairs = Vec::new();
        for from in 0..links.vertices() as u32 {
            let distance = distances(links, lengths, from);
            for to in (0..links.vertices() as u32).filter(|&to| distance[to as usize] < f64::INFINITY) {
                let is_across = match side {
                    Some(side) => side[from as usize] && !side[to as usize],
                    None => from < to,
                };
                if is_across && distance[to as usize] > 0.0 {
                    pairs.push((from, to, distance[to as usize]));
                }
            }
        }
        pairs
    }

    fn new(port: (NodeId, bool, f64), at_least: f64, certificate: Certificate, routes: Option<Optimum>) -> Self {
        let proof = match &certificate {
            _ if port.2 >= at_least => Proof::Ports,
            Certificate::Lengths(_) => Proof::Lengths,
            Certificate::Cut { .. } => Proof::Cut,
            Certificate::Distance | Certificate::None => Proof::Distance,
        };
        let reached_s = routes.as_ref().map_or(f64::INFINITY, |routes| routes.reached.max(port.2));
        Self { at_least_s: at_least.max(port.2), reached_s, proof, port, certificate, routes }
    }
}

impl FlowNetwork<'_> {
    /// Returns the bound that needs no search: ports, distance, and cuts of one switch.
    pub fn free_bound(&self, volumes: &Volumes) -> BestTime {
        let (at_least, certificate) = free_bounds(&self.links, &volumes.demand(self));
        BestTime::new(self.busiest_port(volumes), at_least, certificate, None)
    }

    /// Bounds the best possible time of volumes until the bounds differ by at most `gap`, or `go_on` returns
    /// false, which is called with the bounds so far \[s\].
    ///
    /// # Errors
    /// Nodes that exchange bytes are not connected.
    pub fn best_time(
        &self,
        volumes: &Volumes,
        gap: f64,
        seed: u64,
        go_on: &mut dyn FnMut(f64, f64) -> bool,
    ) -> Result<BestTime, Diagnostic> {
        let port = self.busiest_port(volumes);
        let mut bounds = |least: f64, reached: f64| go_on(least.max(port.2), reached.max(port.2));
        let options = Options { gap, floor: port.2, seed };
        let name = |vertex: u32| self.fabric.vertex_name(self.of_vertex[vertex as usize]);
        let routes = solve(&self.links, &volumes.demand(self), &options, &mut bounds).map_err(|error| match error {
            FlowError::Disconnected { from, to } => {
                let message = format!("no path leads from {} to {}", name(from), name(to));
                Diagnostic::new("disconnected", message).help("let fewer links fail, or add the links that are missing")
            }
            FlowError::Rounding { from } => {
                let message = format!("the traffic of {} is too uneven to be added up", name(from));
                Diagnostic::new("too-uneven", message).help("leave out amounts or bandwidths that hardly count")
            }
        })?;
        Ok(BestTime::new(port, routes.at_least, routes.certificate.clone(), Some(routes)))
    }

    /// Returns the node whose ports take longest for its bytes, true if for sending, and that time \[s\].
    fn busiest_port(&self, volumes: &Volumes) -> (NodeId, bool, f64) {
        let mut capacity = vec![(0.0, 0.0); self.fabric.nodes() as usize];
        for (id, link) in self.fabric.links().iter_ids().filter(|&(id, _)| !self.fabric.has_failed(id)) {
            let [from, to] = link.ends.map_or([u32::MAX; 2], |(from, to)| [from.0, to.0]);
            let shared = self.fabric.shared_capacity(id).bytes_per_second();
            if let Some(out) = capacity.get_mut(from as usize) {
                out.0 += shared;
            }
            if let Some(into) = capacity.get_mut(to as usize) {
                into.1 += shared;
            }
        }
        let mut busiest = (NodeId(0), true, 0.0);
        for (node, (out, into)) in self.fabric.node_ids().zip(capacity) {
            let (sent, received) = volumes.of(node);
            for (sends, bytes, capacity) in [(true, sent, out), (false, received, into)] {
                if bytes > 0.0 && bytes / capacity > busiest.2 {
                    busiest = (node, sends, bytes / capacity);
                }
            }
        }
        busiest
    }

    /// Returns the load of each link of the fabric on the best known routes \[s\]: its bytes divided by its
    /// capacity. Ports carry their own bytes.
    pub fn loads(&self, best: &BestTime, volumes: &Volumes) -> IdVec<LinkId, f64> {
        let mut loads = IdVec::filled(self.fabric.links().len(), 0.0);
        for (id, link) in self.fabric.links().iter_ids() {
            let Some((from, to)) = link.ends else { continue };
            let bytes = match (from.0 < self.fabric.nodes(), to.0 < self.fabric.nodes()) {
                (true, false) => volumes.of(NodeId(from.0)).0,
                (false, true) => volumes.of(NodeId(to.0)).1,
                _ => continue,
            };
            loads[id] = bytes / self.fabric.shared_capacity(id).bytes_per_second();
        }
        let carried = best.routes.iter().flat_map(|routes| &routes.total);
        for ((&id, bytes), capacity) in self.of_link.iter().zip(carried).zip(self.links.capacity()) {
            loads[id] = bytes / capacity;
        }
        loads
    }

    /// Returns the paths of the best known routes, with their starts.
    pub fn paths(&self, best: &BestTime, volumes: &Volumes) -> Vec<(u32, Path)> {
        let (demand, mut all) = (volumes.demand(self), Vec::new());
        let flows = best.routes().map_or(&[][..], |routes| &routes.flows);
        for (&source, flow) in demand.sources().iter().zip(flows) {
            all.extend(paths(&self.links, source, demand.of(source), flow).into_iter().map(|path| (source, path)));
        }
        all
    }

    /// Returns up to `most` pairs of vertices between which a cable could raise the bound: those across the cut that
    /// binds, farthest first by the lengths of its proof. Returns none if ports bind.
    pub fn candidates(&self, best: &BestTime, most: usize) -> Vec<(u32, u32)> {
        let mut pairs = best.across(&self.links);
        pairs.retain(|&(from, to, _)| self.links.passes(from) && self.links.passes(to));
        pairs.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        pairs.into_iter().take(most).map(|(from, to, _)| (from, to)).collect()
    }

    /// Describes the proof of the lower bound in words. `of` describes bytes: those of a run, or of a second.
    pub fn describe(&self, best: &BestTime, volumes: &Volumes, of: fn(f64) -> String) -> String {
        match &best.certificate {
            _ if best.proof == Proof::Ports => {
                let (node, sends, time) = best.port;
                let (sent, received) = volumes.of(node);
                let (verb, bytes) = if sends { ("sends", sent) } else { ("receives", received) };
                let port = Bandwidth::from_bytes_per_second(bytes / time);
                format!("{} {verb} {} over ports of {port}", self.fabric.vertex_name(node.into()), of(bytes))
            }
            Certificate::Cut { side, bytes, capacity } => {
                let names = |inside: bool| self.names(side, inside);
                let bandwidth = Bandwidth::from_bytes_per_second(*capacity);
                format!("{} cross from {} to {} over {bandwidth}", of(*bytes), names(true), names(false))
            }
            Certificate::Lengths(_) => {
                "lengths of links, by which all traffic needs more than all links have".to_owned()
            }
            Certificate::Distance | Certificate::None => {
                "all traffic over the fewest links fills all links between switches".to_owned()
            }
        }
    }

    /// Returns the names of the vertices on one side of a cut; of the larger side only their number.
    fn names(&self, side: &[bool], inside: bool) -> String {
        /// Largest number of names.
        const MOST: usize = 4;
        let of_side: Vec<VertexId> =
            side.iter().zip(&self.of_vertex).filter(|(side, _)| **side == inside).map(|(_, vertex)| *vertex).collect();
        if 2 * of_side.len() > side.len() {
            return format!("the other {}", of_side.len());
        }
        let named: Vec<String> = of_side.iter().take(MOST).map(|&vertex| self.fabric.vertex_name(vertex)).collect();
        match of_side.len().checked_sub(MOST) {
            None | Some(0) => named.join(", "),
            Some(more) => format!("{} and {more} more", named.join(", ")),
        }
    }
}
