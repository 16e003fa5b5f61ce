//! Rails: servers of accelerators with a switch inside, joined rail by rail.

use std::sync::Arc;

use super::common::{Mistakes, Topology, largest};
use super::direct::{PairHash, wrong};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, FabricBuilder, Fact, Family, LinkRole, Planes};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::units::{Bandwidth, Time, count};

/// `[topology.rails]`: servers of G accelerators (the nodes), each with a switch of its own, and a
/// rail-optimised tree.
///
/// Node j of every server of a segment is attached to leaf j of that segment, and each leaf is joined with
/// each spine. With several planes there is one such tree for each, and a node has a link into each of them.
/// Without `by-rail` all nodes of a server are attached to one leaf, and the G leaves of a segment share its
/// servers evenly.
///
/// Source: A. Gangidi et al., "RDMA over Ethernet for distributed AI training at Meta scale", SIGCOMM 2024;
/// K. Qian et al., "Alibaba HPN: a data center network for large language model training", SIGCOMM 2024; X.
/// Wang et al., "SimAI", NSDI 2025.
#[spec]
pub struct RailsSpec {
    /// Number of servers.
    pub servers: Located<u32>,
    /// Nodes of a server: its accelerators (default 8).
    pub gpus: Option<Located<u32>>,
    /// Servers of a segment, which share leaves (default all).
    pub segment: Option<Located<u32>>,
    /// True if node j of every server is attached to leaf j (default true); otherwise all nodes of a server
    /// share a leaf.
    pub by_rail: Option<bool>,
    /// Spines of a plane (default one, or none if there is only one leaf).
    pub spines: Option<Located<u32>>,
    /// Cables between a leaf and a spine (default 1).
    pub spine_links: Option<Located<u32>>,
    /// Planes: parallel networks; a node has a link into each (default 1).
    pub planes: Option<Located<u32>>,
    /// Bandwidth of a link between a node and a leaf, and between a leaf and a spine, in each direction.
    pub bandwidth: Located<Bandwidth>,
    /// Latency of a link between a node and a leaf, and between a leaf and a spine (default 0 s).
    pub latency: Option<Time>,
    /// Bandwidth between a leaf and a spine, if different.
    pub spine_bandwidth: Option<Located<Bandwidth>>,
    /// Latency between a leaf and a spine, if different.
    pub spine_latency: Option<Time>,
    /// Bandwidth between a node and the switch of its server.
    pub nvlink_bandwidth: Located<Bandwidth>,
    /// Latency between a node and the switch of its server (default 0 s).
    pub nvlink_latency: Option<Time>,
}

/// Properties and routes of a fabric of rails.
#[derive(Clone, Debug)]
struct Rails {
    servers: u32,
    gpus: u32,
    segment: u32,
    by_rail: bool,
    /// Leaves and spines of a plane.
    leaves: u32,
    spines: u32,
    spine_links: u32,
    planes: u32,
}

impl Rails {
    fn nodes(&self) -> u32 {
        self.servers * self.gpus
    }

    /// Returns the leaf of a node, the same number in each plane.
    #[inline]
    fn leaf(&self, node: u32) -> u32 {
        let (server, gpu) = (node / self.gpus, node % self.gpus);
        let of_segment = if self.by_rail { gpu } else { server % self.segment * self.gpus / self.segment };
        server / self.segment * self.gpus + of_segment
    }

    /// Returns the link from a node to its server's switch (port 0) or into a plane (port 1 and up), or the
    /// link back.
    #[inline]
    fn host(&self, node: u32, port: u32, back: bool) -> LinkId {
        let ports = 1 + self.planes;
        LinkId((u32::from(back) * self.nodes() + node) * ports + port)
    }

    /// Returns the link from a leaf up to a spine, or the link down.
    #[inline]
    fn up(&self, plane: u32, leaf: u32, spine: u32, cable: u32, down: bool) -> LinkId {
        let pair = (plane * self.leaves + leaf) * self.spines + spine;
        LinkId(2 * (self.nodes() * (1 + self.planes) + pair * self.spine_links + cable) + u32::from(down))
    }

    /// Returns the vertex of a leaf.
    fn leaf_vertex(&self, plane: u32, leaf: u32) -> VertexId {
        VertexId(self.nodes() + self.servers + plane * (self.leaves + self.spines) + leaf)
    }

    fn spine_vertex(&self, plane: u32, spine: u32) -> VertexId {
        self.leaf_vertex(plane, self.leaves + spine)
    }

    /// Builds the fabric with links to the switches of servers, into planes and to spines.
    fn fabric(self, name: String, [nvlink, nic, spine]: [(Bandwidth, Time); 3]) -> Fabric {
        let (nodes, planes) = (self.nodes(), self.planes);
        let switches = self.servers + planes * (self.leaves + self.spines);
        let mut builder = FabricBuilder::new(name, nodes, switches);
        for role in [LinkRole::Injection, LinkRole::Ejection] {
            for node in 0..nodes {
                for port in 0..=planes {
                    let (there, (capacity, latency)) = match port.checked_sub(1) {
                        None => (VertexId(nodes + node / self.gpus), nvlink),
                        Some(plane) => (self.leaf_vertex(plane, self.leaf(node)), nic),
                    };
                    let (from, to) =
                        if role == LinkRole::Injection { (VertexId(node), there) } else { (there, VertexId(node)) };
                    builder.link(from, to, capacity, latency, role);
                }
            }
        }
        let leaves = (0..planes).flat_map(|plane| (0..self.leaves).map(move |leaf| (plane, leaf)));
        for (plane, leaf) in leaves {
            for to in 0..self.spines {
                let (low, high) = (self.leaf_vertex(plane, leaf), self.spine_vertex(plane, to));
                for _ in 0..self.spine_links {
                    let role = LinkRole::Network { tier: 1 };
                    builder.link(low, high, spine.0, spine.1, role);
                    builder.link(high, low, spine.0, spine.1, role);
                }
            }
        }
        builder.finish(self)
    }

    /// Returns the number of nodes, switches and links, or `None` if they do not fit in 64 bits.
    fn counts(&self) -> Option<(u64, u64, u64)> {
        let [servers, gpus, leaves, spines] = [self.servers, self.gpus, self.leaves, self.spines].map(u64::from);
        let planes = u64::from(self.planes);
        let nodes = servers.checked_mul(gpus)?;
        let switches = leaves.checked_add(spines)?.checked_mul(planes)?.checked_add(servers)?;
        let up = leaves.checked_mul(spines)?.checked_mul(self.spine_links.into())?.checked_mul(planes)?;
        let cables = nodes.checked_mul(planes.checked_add(1)?)?.checked_add(up)?;
        Some((nodes, switches, cables.checked_mul(2)?))
    }
}

/// Returns text such as `1 server`.
fn of_servers(servers: u32) -> String {
    count(servers.into(), "server", "servers")
}

impl Topology for RailsSpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let servers = mistakes.size(&self.servers);
        let mut some =
            |value: &Option<Located<u32>>, usual: u32| value.as_ref().map_or(usual, |value| mistakes.size(value));
        let (gpus, segment) = (some(&self.gpus, 8), some(&self.segment, servers));
        let (planes, spine_links) = (some(&self.planes, 1), some(&self.spine_links, 1));
        let by_rail = self.by_rail.unwrap_or(true);
        let segments = servers.div_ceil(segment.max(1));
        let leaves = segments.saturating_mul(gpus);
        let spines = self.spines.as_deref().copied().unwrap_or(u32::from(leaves > 1));
        if let Some(given) = self.spines.as_ref().filter(|given| ***given == 0 && leaves > 1) {
            let message = format!("{leaves} leaves of a plane are not joined without spines");
            mistakes.push(wrong(given, message, "at least 1"));
        }
        if let Some(given) = self.segment.as_ref().filter(|given| ***given > servers) {
            let message = format!("a segment of {} is larger than the fabric", of_servers(**given));
            mistakes.push(wrong(given, message, format!("at most {}", of_servers(servers))));
        }
        let nic = (mistakes.bandwidth(&self.bandwidth), self.latency.unwrap_or_default());
        let spine = (
            self.spine_bandwidth.as_ref().map_or(nic.0, |value| mistakes.bandwidth(value)),
            self.spine_latency.unwrap_or(nic.1),
        );
        let nvlink = (mistakes.bandwidth(&self.nvlink_bandwidth), self.nvlink_latency.unwrap_or_default());
        let rails = Rails { servers, gpus, segment, by_rail, leaves, spines, spine_links, planes };
        let sizes = [&self.gpus, &self.planes, &self.spines, &self.spine_links];
        mistakes.check_fabric_size(rails.counts(), largest(&self.servers, sizes));
        mistakes.none()?;
        let by = if by_rail { "" } else { " by server" };
        Ok(rails.fabric(format!("rails{by} {servers} servers of {gpus}"), [nvlink, nic, spine]))
    }
}

impl Family for Rails {
    fn kind(&self) -> &'static str {
        "a fabric of rails"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let number = |value: u32| Fact::Number(value.into());
        let facts = vec![
            ("servers", number(self.servers)),
            ("gpus", number(self.gpus)),
            ("segment", number(self.segment)),
            ("by_rail", Fact::Flag(self.by_rail)),
            ("leaves", number(self.leaves)),
            ("spines", number(self.spines)),
            ("planes", number(self.planes)),
        ];
        ("rails", facts)
    }

    /// Returns a name such as `server3`, `seg1.leaf5` or `spine7`; `plane0.spine7` if there are several
    /// planes.
    fn switch_name(&self, switch: u32) -> String {
        let Some(rest) = switch.checked_sub(self.servers) else { return format!("server{switch}") };
        let (plane, at) = (rest / (self.leaves + self.spines), rest % (self.leaves + self.spines));
        let plane = if self.planes > 1 { format!("plane{plane}.") } else { String::new() };
        match at.checked_sub(self.leaves) {
            None => format!("{plane}seg{}.leaf{}", at / self.gpus, at % self.gpus),
            Some(spine) => format!("{plane}spine{spine}"),
        }
    }

    fn tier_name(&self, _: u8) -> String {
        "between leaves and spines".to_owned()
    }

    /// Returns the switch of the node's server.
    fn leaf(&self, _: &Fabric, node: NodeId) -> u32 {
        self.nodes() + node.0 / self.gpus
    }

    fn node_groups(&self, _: &Fabric) -> Option<Vec<u32>> {
        Some((0..self.nodes()).map(|node| node / self.gpus / self.segment).collect())
    }

    fn diameter(&self, fabric: &Fabric) -> Option<u32> {
        Some(match (fabric.nodes(), self.servers, self.leaves) {
            (1, ..) => 0,
            (_, 1, _) | (.., 1) => 2,
            // Servers on one leaf are further apart only if there is another leaf that is not theirs.
            _ => 4,
        })
    }

    fn default_routing(&self) -> &'static str {
        "family"
    }

    fn has_routes(&self) -> bool {
        true
    }

    /// Appends the path over the switch of the server. Between servers, a hash of the pair chooses a plane,
    /// and the path goes over the leaf, or up to a spine given by the destination's server, and down.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src.0 / self.gpus == dst.0 / self.gpus {
            return route.extend([self.host(src.0, 0, false), self.host(dst.0, 0, true)]);
        }
        let plane = PairHash::new(src, dst).below(self.planes);
        self.route_in(plane, src, dst, route);
    }

    fn planes(&self) -> Option<&dyn Planes> {
        Some(self)
    }

    /// Returns false for the link to the switch of the server.
    fn leads_into_network(&self, link: LinkId) -> bool {
        !link.0.is_multiple_of(1 + self.planes)
    }

    /// Returns a fabric with few servers, in two segments if there are several, and few spines.
    fn small_member(&self, fabric: &Fabric, is_large: bool) -> Option<(Fabric, String)> {
        let (servers, gpus) = (self.servers.min(4), self.gpus.min(if self.planes == 1 { 4 } else { 2 }));
        let segment = if self.servers > self.segment { self.segment.min(2) } else { servers };
        let mut small = Rails { servers, gpus, segment, spine_links: self.spine_links.min(2), ..self.clone() };
        small.leaves = servers.div_ceil(segment) * gpus;
        small.spines = self.spines.min(4);
        let like = |link: LinkId| (fabric.link(link).capacity, fabric.link(link).latency);
        let spine = if self.spines > 0 { self.up(0, 0, 0, 0, false) } else { self.host(0, 1, false) };
        let links = [like(self.host(0, 0, false)), like(self.host(0, 1, false)), like(spine)];
        let text = format!(
            "a small member of the family with {servers} servers of {gpus} nodes instead of {} of {}",
            self.servers, self.gpus
        );
        is_large.then(|| (small.fabric(fabric.name().to_owned(), links), text))
    }
}

impl Planes for Rails {
    fn planes(&self) -> u32 {
        self.planes
    }

    fn within(&self) -> Option<&Arc<Fabric>> {
        None
    }

    fn inside(&self, _: u32, node: NodeId) -> (NodeId, u32) {
        (node, 0)
    }

    fn are_apart(&self) -> bool {
        true
    }

    fn port(&self, plane: u32, node: NodeId) -> LinkId {
        self.host(node.0, 1 + plane, false)
    }

    /// Appends the path over the leaf, or up to a spine given by the destination's server, and down. Inside a
    /// server it goes over the server's switch.
    fn route_in(&self, plane: u32, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src.0 / self.gpus == dst.0 / self.gpus {
            return route.extend([self.host(src.0, 0, false), self.host(dst.0, 0, true)]);
        }
        let (from, to) = (self.leaf(src.0), self.leaf(dst.0));
        route.push(self.host(src.0, 1 + plane, false));
        if from != to {
            let ways = self.spines * self.spine_links;
            let of_leaf = if self.by_rail { dst.0 / self.gpus } else { dst.0 };
            let (spine, cable) = (of_leaf % ways % self.spines, of_leaf % ways / self.spines);
            route.push(self.up(plane, from, spine, cable, false));
            route.push(self.up(plane, to, spine, cable, true));
        }
        route.push(self.host(dst.0, 1 + plane, true));
    }
}
