//! Planes: copies of a fabric side by side, and nodes with several network cards.

use std::sync::Arc;

use super::TopologySpec;
use super::common::{Mistakes, Topology};
use super::direct::wrong;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Bisection, Fabric, FabricBuilder, Fact, Family, LinkRole, Planes};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::units::Bandwidth;

/// `[topology.multi-plane]`: copies of a fabric, joined at the nodes, which may have several cards in each
/// copy.
///
/// The nodes of the given fabric are network cards here: node i has cards `nics i` to `nics i + nics - 1` of
/// each copy, as links of its own. `[routing.planes]` chooses the card and plane of a message.
#[spec]
pub struct MultiPlaneSpec {
    /// Copies of the fabric (default 1).
    pub planes: Option<Located<u32>>,
    /// Cards of a node in each copy (default 1).
    pub nics: Option<Located<u32>>,
    /// The fabric: a topology, as in `[topology]`.
    pub of: Box<TopologySpec>,
}

/// Largest number of planes, and of cards of a node in each.
const MOST_PLANES: u32 = 64;

/// Properties and routes of a fabric of planes.
#[derive(Debug)]
struct MultiPlane {
    of: Arc<Fabric>,
    copies: u32,
    nics: u32,
    /// Link by which each card of a copy sends.
    ports: Vec<LinkId>,
    /// Group of each switch, for all copies.
    groups: Option<Vec<u32>>,
}

impl Topology for MultiPlaneSpec {
    fn files(&mut self) -> Vec<&mut Located<String>> {
        self.of.files()
    }

    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let of = self.of.build(sources)?;
        let mut mistakes = Mistakes::default();
        let mut count = |value: &Option<Located<u32>>| {
            let Some(value) = value else { return 1 };
            if **value > MOST_PLANES {
                mistakes.push(wrong(value, format!("{} are too many", **value), format!("1 to {MOST_PLANES}")));
            }
            mistakes.size(value)
        };
        let (copies, nics) = (count(&self.planes), count(&self.nics));
        let at = self.nics.as_ref().or(self.planes.as_ref());
        let mut misfit = |message: String, label: &str| {
            let diagnostic = Diagnostic::new("planes", message).label(label.to_owned());
            mistakes.push(match at {
                Some(value) => diagnostic.at_value(value),
                None => diagnostic,
            });
        };
        if nics > 0 && !of.nodes().is_multiple_of(nics) {
            misfit(
                format!("the {} cards of {} are not a whole number of nodes of {nics}", of.nodes(), of.name()),
                "another number",
            );
        }
        let graph = of.graph();
        let out = |node: NodeId| {
            let mut edges = graph.edges((node.0).into());
            edges.next().map(|edge| *edge.weight()).filter(|_| edges.next().is_none())
        };
        let host = |link: &LinkId| of.link(*link).role == LinkRole::Injection;
        let ports: Vec<LinkId> = of.node_ids().filter_map(|node| out(node).filter(host)).collect();
        if ports.len() < of.nodes() as usize || of.routes().is_some() {
            misfit(
                format!("{} has no link of its own for each node into the network", of.name()),
                "a fabric of switches",
            );
        }
        let (nodes, copies64) = (of.nodes() / nics.max(1), u64::from(copies));
        let place = Located::from(copies);
        let (switches, links) = (u64::from(of.switches()) * copies64, of.links().len() as u64 * copies64);
        mistakes.check_fabric_size(Some((nodes.into(), switches, links)), at.unwrap_or(&place));
        mistakes.none()?;
        let name = match (copies, nics) {
            (_, 1) => format!("{copies} planes of {}", of.name()),
            (1, _) => format!("{} by {nics} cards a node", of.name()),
            _ => format!("{copies} planes of {} by {nics} cards a node", of.name()),
        };
        let mut builder = FabricBuilder::new(name, nodes, switches as u32);
        for copy in 0..copies {
            let vertex = |vertex: VertexId| match vertex.0.checked_sub(of.nodes()) {
                None => VertexId(vertex.0 / nics),
                Some(switch) => VertexId(nodes + copy * of.switches() + switch),
            };
            for link in of.links().iter() {
                match link.ends {
                    Some((a, b)) => builder.link(vertex(a), vertex(b), link.capacity, link.latency, link.role),
                    None => builder.loose_link(link.capacity, link.latency),
                };
            }
        }
        let groups = of.groups().map(|groups| {
            let count = groups.iter().max().map_or(0, |&most| most + 1);
            (0..copies).flat_map(|copy| groups.iter().map(move |group| copy * count + group)).collect()
        });
        Ok(builder.finish(MultiPlane { of: Arc::new(of), copies, nics, ports, groups }))
    }
}

impl Family for MultiPlane {
    fn kind(&self) -> &'static str {
        "a fabric of planes"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let (planes, nics) = (Fact::Number(self.copies.into()), Fact::Number(self.nics.into()));
        ("planes", vec![("planes", planes), ("nics", nics)])
    }

    fn is_connected(&self) -> bool {
        self.of.family().is_connected()
    }

    /// Returns a name such as `plane1 g3.s5`.
    fn switch_name(&self, switch: u32) -> String {
        let (copy, switch) = (switch / self.of.switches(), switch % self.of.switches());
        let name = self.of.vertex_name(VertexId(self.of.nodes() + switch));
        if self.copies > 1 { format!("plane{copy} {name}") } else { name }
    }

    fn tier_name(&self, tier: u8) -> String {
        self.of.family().tier_name(tier)
    }

    fn tier_legend(&self, tier: u8) -> String {
        self.of.family().tier_legend(tier)
    }

    /// Returns the leaf of the node's first card.
    fn leaf(&self, fabric: &Fabric, node: NodeId) -> u32 {
        let leaf = self.of.leaf_of(NodeId(node.0 * self.nics));
        leaf.checked_sub(self.of.nodes()).map_or(node.0, |switch| fabric.nodes() + switch)
    }

    fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    fn node_groups(&self, fabric: &Fabric) -> Option<Vec<u32>> {
        let groups = self.of.node_groups()?;
        fabric.node_ids().map(|node| groups.get((node.0 * self.nics) as usize).copied()).collect()
    }

    fn diameter(&self, _: &Fabric) -> Option<u32> {
        self.of.diameter()
    }

    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        if self.nics > 1 {
            return fabric.search_bisection(fabric.lower_half());
        }
        let one = self.of.bisection()?.clone();
        if fabric.is_altered() {
            return fabric.search_bisection(one.first_half);
        }
        let all = |bandwidth: Bandwidth| {
            Bandwidth::from_bytes_per_second(f64::from(self.copies) * bandwidth.bytes_per_second())
        };
        Some(Bisection { bandwidth: all(one.bandwidth), back: all(one.back), ..one })
    }

    fn default_routing(&self) -> &'static str {
        "planes"
    }

    fn planes(&self) -> Option<&dyn Planes> {
        Some(self)
    }
}

impl Planes for MultiPlane {
    fn planes(&self) -> u32 {
        self.copies * self.nics
    }

    fn within(&self) -> Option<&Arc<Fabric>> {
        Some(&self.of)
    }

    fn inside(&self, plane: u32, node: NodeId) -> (NodeId, u32) {
        let (copy, card) = (plane / self.nics, plane % self.nics);
        (NodeId(node.0 * self.nics + card), copy * self.of.links().len() as u32)
    }

    fn are_apart(&self) -> bool {
        self.nics == 1
    }

    fn port(&self, plane: u32, node: NodeId) -> LinkId {
        let (card, first) = self.inside(plane, node);
        LinkId(first + self.ports[card.0 as usize].0)
    }

    fn route_in(&self, _: u32, _: NodeId, _: NodeId, _: &mut Vec<LinkId>) {}
}
