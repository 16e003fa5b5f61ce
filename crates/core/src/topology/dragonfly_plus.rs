//! Dragonfly+: groups that are trees of two levels, joined by their upper switches.

mod shortest;

use super::between::{Arrangement, CablesByPair, GlobalCableKeys, GlobalPorts};
use super::common::{Mistakes, Topology, largest};
use super::direct::{Cable, CommonLinkValues, Direct, LinkValues, Links, PairHash};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Fact, Family, ShortestPaths, Sketch};
use crate::ids::{LinkId, NodeId};
use crate::units::{Bandwidth, Time};

/// `[topology.dragonfly-plus]`: groups of leaves, which have the nodes, and spines, which lead to other
/// groups.
///
/// Each leaf of a group is joined with each of its spines. Global port `k = r h + j` is port j of spine r;
/// all else is as in `[topology.dragonfly]`. Megafly is another name for this topology.
///
/// Source: A. Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017; M.
/// Flajslik et al., "Megafly: a topology for exascale systems", ISC 2018.
#[spec]
pub struct DragonflyPlusSpec {
    /// Nodes of a leaf.
    pub nodes: Located<u32>,
    /// Leaves of a group.
    pub leaves: Located<u32>,
    /// Spines of a group (default as many as leaves).
    pub spines: Option<Located<u32>>,
    /// Ports of a spine to other groups (default as many as nodes of a leaf).
    pub global_ports: Option<Located<u32>>,
    /// Number of groups (default spines x global ports + 1, the maximum).
    pub groups: Option<Located<u32>>,
    /// Cables between a leaf and a spine (default 1).
    pub local_links: Option<Located<u32>>,
    /// Cables between two groups (default: as many as the ports allow).
    pub global_links: Option<Located<u32>>,
    /// Rule that says to which group each global port leads (default absolute).
    pub arrangement: Option<Located<Arrangement>>,
    /// CSV file that lists the cables between groups, in place of an arrangement:
    /// `from-group,from-switch,to-group,to-switch,cables`; switches are spines, `cables` is their number
    /// (default 1).
    pub cables: Option<Located<String>>,
    /// Seed of `arrangement = "random"` (default 1).
    pub seed: Option<Located<u64>>,
    /// Bandwidth of a link in each direction, if its kind has none of its own.
    pub bandwidth: Located<Bandwidth>,
    /// Latency of a link, if its kind has none of its own (default 0 s).
    pub latency: Option<Time>,
    /// Bandwidth of the host links.
    pub host_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the host links.
    pub host_latency: Option<Time>,
    /// Bandwidth of the links inside a group.
    pub local_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the links inside a group.
    pub local_latency: Option<Time>,
    /// Bandwidth of the links between groups.
    pub global_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the links between groups.
    pub global_latency: Option<Time>,
    /// Bandwidth of a switch's output port, if lower than that of its cable.
    pub switch_port_bandwidth: Option<Located<Bandwidth>>,
}

/// Properties and routes of a dragonfly+.
#[derive(Clone, Debug)]
struct DragonflyPlus {
    nodes: u32,
    leaves: u32,
    spines: u32,
    global_ports: u32,
    count: u32,
    /// Rule by which groups are joined, or `file`.
    arrangement: &'static str,
    /// Group of each switch.
    groups: Vec<u32>,
    local: u32,
    ids: Links,
    /// Cables by pair of groups; `None` if a file leaves pairs without cables.
    by_pair: Option<CablesByPair>,
    /// True if shortest paths are computed by arithmetic: the spines of a group and the cables between two
    /// groups have a bit each in 64.
    has_shortest_paths: bool,
}

impl Topology for DragonflyPlusSpec {
    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let (nodes, leaves) = (mistakes.size(&self.nodes), mistakes.size(&self.leaves));
        let spines = self.spines.as_ref().map_or(leaves, |value| mistakes.size(value));
        // With one group the spines need no ports.
        let global_ports = self.global_ports.as_deref().copied().unwrap_or(nodes);
        let local = self.local_links.as_ref().map_or(1, |value| mistakes.size(value));
        let choice = GlobalCableKeys {
            arrangement: self.arrangement.as_ref(),
            file: self.cables.as_ref(),
            seed: self.seed.as_ref(),
            ports: "global-ports",
        };
        let given = (self.groups.as_ref(), self.global_links.as_ref());
        let place = largest(self.global_ports.as_ref().unwrap_or(&self.nodes), [&self.spines]);
        let (count, global) = choice.groups(spines, global_ports, given, place, &mut mistakes);
        let sizes = [&self.spines, &self.groups, &self.local_links, &self.global_ports];
        let place = largest(if *self.nodes > *self.leaves { &self.nodes } else { &self.leaves }, sizes);
        mistakes.check_fabric_size(counts([nodes, leaves, spines, local, count, global].map(u64::from)), place);
        let every = CommonLinkValues {
            bandwidth: &self.bandwidth,
            latency: self.latency,
            port: self.switch_port_bandwidth.as_ref(),
        };
        let host = LinkValues { bandwidth: self.host_bandwidth.as_ref(), latency: self.host_latency };
        let inside = LinkValues { bandwidth: self.local_bandwidth.as_ref(), latency: self.local_latency };
        let outside = LinkValues { bandwidth: self.global_bandwidth.as_ref(), latency: self.global_latency };
        let links = every.cables(host, vec![inside, outside], &mut mistakes);
        mistakes.none()?;

        let stride = leaves + spines;
        let mut cables = Vec::new();
        for first in (0..count).map(|group| group * stride) {
            for leaf in first..first + leaves {
                for spine in first + leaves..first + stride {
                    cables.extend((0..local).map(|_| Cable { ends: (leaf, spine), tier: 0 }));
                }
            }
        }
        let between =
            GlobalPorts { a: spines, h: global_ports, g: count, links: global, stride, first: leaves, tier: 1 };
        choice.cables(&between, sources, &mut cables)?;
        let hosts = (0..stride * count).map(|switch| if switch % stride < leaves { nodes } else { 0 }).collect();
        let name = format!("dragonfly-plus {count} groups of {leaves} leaves of {nodes}");
        let groups = (0..stride * count).map(|switch| switch / stride).collect();
        let arrangement = choice.name();
        let ids = Links { nodes: nodes * leaves * count };
        let by_pair = CablesByPair::new(count, 1, &cables, |switch| switch / stride);
        let fits = |by_pair: &CablesByPair| spines.max(by_pair.most()) <= u64::BITS;
        let family = DragonflyPlus {
            nodes,
            leaves,
            spines,
            global_ports,
            count,
            arrangement,
            groups,
            local,
            ids,
            has_shortest_paths: by_pair.as_ref().is_some_and(fits),
            by_pair,
        };
        Ok(Direct { name, hosts, cables }.build(&links, family))
    }

    fn files(&mut self) -> Vec<&mut Located<String>> {
        self.cables.iter_mut().collect()
    }
}

/// Returns the number of nodes, switches and links, or `None` if they do not fit in 64 bits.
fn counts([nodes, leaves, spines, local, groups, global]: [u64; 6]) -> Option<(u64, u64, u64)> {
    let hosts = nodes.checked_mul(leaves)?.checked_mul(groups)?;
    let switches = leaves.checked_add(spines)?.checked_mul(groups)?;
    let inside = leaves.checked_mul(spines)?.checked_mul(local)?.checked_mul(groups)?;
    let between = (groups.checked_mul(groups.saturating_sub(1))? / 2).checked_mul(global)?;
    let cables = hosts.checked_add(inside)?.checked_add(between)?;
    Some((hosts, switches, cables.checked_mul(2)?))
}

impl Family for DragonflyPlus {
    fn kind(&self) -> &'static str {
        "a dragonfly+"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let number = |value: u32| Fact::Number(value.into());
        let facts = vec![
            ("nodes", number(self.nodes)),
            ("leaves", number(self.leaves)),
            ("spines", number(self.spines)),
            ("global_ports", number(self.global_ports)),
            ("groups", number(self.count)),
            ("arrangement", Fact::Word(self.arrangement.to_owned())),
        ];
        ("dragonfly-plus", facts)
    }

    /// Returns false if a file leaves groups apart.
    fn is_connected(&self) -> bool {
        self.arrangement != "file"
    }

    /// Returns a name such as `g3.leaf5` or `g3.spine2`.
    fn switch_name(&self, switch: u32) -> String {
        let (group, at) = (switch / (self.leaves + self.spines), switch % (self.leaves + self.spines));
        match at.checked_sub(self.leaves) {
            None => format!("g{group}.leaf{at}"),
            Some(spine) => format!("g{group}.spine{spine}"),
        }
    }

    fn tier_name(&self, tier: u8) -> String {
        if tier == 0 { "inside groups".to_owned() } else { "between groups".to_owned() }
    }

    fn groups(&self) -> Option<&[u32]> {
        Some(&self.groups)
    }

    fn default_routing(&self) -> &'static str {
        if self.has_routes() { "family" } else { "shortest-path" }
    }

    fn has_routes(&self) -> bool {
        self.by_pair.is_some()
    }

    fn shortest_paths(&self) -> Option<&dyn ShortestPaths> {
        self.has_shortest_paths.then_some(self)
    }

    /// Appends the path up to a spine and down, or over one of the cables between two groups. A hash of the
    /// pair chooses the spine or the cable.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let Some(by_pair) = &self.by_pair else { return };
        let mut spread = PairHash::new(src, dst);
        let of_group = self.nodes * self.leaves;
        let (from, to) = (src.0 / of_group, dst.0 / of_group);
        let leaf = |node: NodeId| node.0 % of_group / self.nodes;
        let stride = self.leaves + self.spines;
        let cable = |group: u32, leaf: u32, spine: u32, spread: &mut PairHash| {
            let pair = (group * self.leaves + leaf) * self.spines + spine;
            pair * self.local + spread.below(self.local)
        };
        route.push(self.ids.injection(src));
        if from != to {
            let cables = by_pair.between(from, to);
            let (leave, enter, global, back) = cables[spread.below(cables.len() as u32) as usize];
            let (up, down) = (leave % stride - self.leaves, enter % stride - self.leaves);
            route.push(self.ids.cable(cable(from, leaf(src), up, &mut spread), false));
            route.push(self.ids.cable(global, back));
            route.push(self.ids.cable(cable(to, leaf(dst), down, &mut spread), true));
        } else if leaf(src) != leaf(dst) {
            let spine = spread.below(self.spines);
            route.push(self.ids.cable(cable(from, leaf(src), spine, &mut spread), false));
            route.push(self.ids.cable(cable(to, leaf(dst), spine, &mut spread), true));
        }
        route.push(self.ids.ejection(dst));
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Groups { of: &self.groups, name: "group" }
    }
}
