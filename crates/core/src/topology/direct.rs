//! Direct networks: fabrics described by the nodes of each switch and the cables between switches.

use super::common::{Cables, Mistakes};
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::{Fabric, FabricBuilder, Family, LinkRole};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::units::{Bandwidth, Time};

/// Cable between two switches, by their numbers from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cable {
    pub ends: (u32, u32),
    pub tier: u8,
}

/// Nodes, switches and the cables between switches.
///
/// Nodes are numbered switch by switch. For N nodes, link i leads from node i to its switch and link `N + i`
/// leads back. Cable c is link `2 N + 2 c` from its first end to its second, and link `2 N + 2 c + 1` back.
pub(super) struct Direct {
    pub name: String,
    /// Number of nodes of each switch.
    pub hosts: Vec<u32>,
    pub cables: Vec<Cable>,
}

impl Direct {
    /// Builds the fabric.
    pub fn build(self, links: &Cables, family: impl Family) -> Fabric {
        let nodes: u32 = self.hosts.iter().sum();
        let mut builder = FabricBuilder::new(self.name, nodes, self.hosts.len() as u32);
        let mut add = |from: u32, to: u32, role: LinkRole| {
            let (capacity, latency) = links.link(role);
            builder.link(VertexId(from), VertexId(to), capacity, latency, role);
        };
        let homes: Vec<u32> =
            (nodes..).zip(&self.hosts).flat_map(|(switch, &hosts)| (0..hosts).map(move |_| switch)).collect();
        for (node, &home) in (0..).zip(&homes) {
            add(node, home, LinkRole::Injection);
        }
        for (node, &home) in (0..).zip(&homes) {
            add(home, node, LinkRole::Ejection);
        }
        for Cable { ends: (a, b), tier } in self.cables {
            add(nodes + a, nodes + b, LinkRole::Network { tier });
            add(nodes + b, nodes + a, LinkRole::Network { tier });
        }
        builder.finish(family)
    }

    /// Returns true if every switch reaches every other.
    pub fn is_connected(&self) -> bool {
        let mut above: Vec<u32> = (0..self.hosts.len() as u32).collect();
        let mut sets = self.hosts.len();
        for cable in &self.cables {
            let (a, b) = (root(&mut above, cable.ends.0), root(&mut above, cable.ends.1));
            if a != b {
                above[a as usize] = b;
                sets -= 1;
            }
        }
        sets <= 1
    }
}

/// Returns the representative of the set that contains this switch, and shortens the path to it.
fn root(above: &mut [u32], mut switch: u32) -> u32 {
    while above[switch as usize] != switch {
        above[switch as usize] = above[above[switch as usize] as usize];
        switch = above[switch as usize];
    }
    switch
}

/// Joins all pairs of these switches by `parallel` cables each.
pub(super) fn complete(switches: &[u32], parallel: u32, tier: u8, cables: &mut Vec<Cable>) {
    for (i, &a) in switches.iter().enumerate() {
        for &b in &switches[i + 1..] {
            cables.extend((0..parallel).map(|_| Cable { ends: (a, b), tier }));
        }
    }
}

/// Returns the number of the pair of i and j, two different numbers below n, in the order of [`complete`].
#[inline]
pub(super) fn pair(n: u32, i: u32, j: u32) -> u32 {
    let (i, j) = (i.min(j), i.max(j));
    i * (2 * n - i - 1) / 2 + j - i - 1
}

/// Returns the position of the bit with this number among those that are set.
pub(super) fn bit(mut bits: u64, number: u32) -> usize {
    (0..number).for_each(|_| bits &= bits - 1);
    bits.trailing_zeros() as usize
}

/// Link numbers of a [`Direct`] network, computed by arithmetic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub nodes: u32,
}

impl Links {
    #[inline]
    pub fn injection(self, node: NodeId) -> LinkId {
        LinkId(node.0)
    }

    #[inline]
    pub fn ejection(self, node: NodeId) -> LinkId {
        LinkId(self.nodes + node.0)
    }

    /// Returns the link of one direction of a cable.
    #[inline]
    pub fn cable(self, cable: u32, back: bool) -> LinkId {
        LinkId(2 * (self.nodes + cable) + u32::from(back))
    }
}

/// Hash of a pair of nodes that chooses among equal paths, the same for all messages of the pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairHash(u64);

impl PairHash {
    #[inline]
    pub fn new(src: NodeId, dst: NodeId) -> Self {
        // The finaliser of splitmix64: each bit of the pair affects each bit of the number.
        let mut x = (u64::from(src.0) << 32 | u64::from(dst.0)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(x ^ x >> 31)
    }

    /// Draws a number below `count`; later draws are independent of it.
    #[inline]
    pub fn below(&mut self, count: u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        let product = u128::from(self.0) * u128::from(count);
        self.0 = (product as u64) ^ self.0.rotate_left(17);
        (product >> 64) as u32
    }
}

/// Bandwidth and latency that a specification gives for one kind of link.
pub(super) struct LinkValues<'a> {
    pub bandwidth: Option<&'a Located<Bandwidth>>,
    pub latency: Option<Time>,
}

/// Bandwidth and latency that a specification gives for all links.
pub(super) struct CommonLinkValues<'a> {
    pub bandwidth: &'a Located<Bandwidth>,
    pub latency: Option<Time>,
    pub port: Option<&'a Located<Bandwidth>>,
}

impl CommonLinkValues<'_> {
    /// Returns the cables of the host links, and of the links between switches by tier. A kind without values
    /// of its own takes those of all links.
    pub fn cables(&self, host: LinkValues<'_>, network: Vec<LinkValues<'_>>, mistakes: &mut Mistakes) -> Cables {
        let all = (mistakes.bandwidth(self.bandwidth), self.latency.unwrap_or_default());
        let port = mistakes.port(self.port);
        let mut cable = |kind: LinkValues<'_>| {
            let bandwidth = kind.bandwidth.map_or(all.0, |value| mistakes.bandwidth(value));
            (bandwidth, kind.latency.unwrap_or(all.1))
        };
        Cables { host: cable(host), network: network.into_iter().map(&mut cable).collect(), port }
    }
}

/// Returns the mistake of a parameter that the family cannot have.
pub(super) fn wrong<T>(value: &Located<T>, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    Diagnostic::new("topology-parameter", message).at_value(value).label(label)
}

/// Defines a specification with the listed keys and those of links, which are the same for all switches and
/// all nodes.
macro_rules! switch_spec {
    ($(#[$about:meta])* $name:ident { $($(#[$field_about:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[spec]
        pub struct $name {
            $($(#[$field_about])* pub $field: $type,)*
            /// Bandwidth of a link in each direction.
            pub bandwidth: crate::diagnostic::Located<crate::units::Bandwidth>,
            /// Latency of a link (default 0 s).
            pub latency: Option<crate::units::Time>,
            /// Bandwidth of the host links, if different.
            pub host_bandwidth: Option<crate::diagnostic::Located<crate::units::Bandwidth>>,
            /// Latency of the host links, if different.
            pub host_latency: Option<crate::units::Time>,
            /// Bandwidth of a switch's output port, if lower than that of its cable.
            pub switch_port_bandwidth: Option<crate::diagnostic::Located<crate::units::Bandwidth>>,
        }

        impl $name {
            /// Returns the cables; those between switches are alike in both tiers.
            fn links(&self, mistakes: &mut crate::topology::common::Mistakes) -> crate::topology::common::Cables {
                use crate::topology::direct::{CommonLinkValues, LinkValues};
                let (bandwidth, latency) = (&self.bandwidth, self.latency);
                let every = CommonLinkValues { bandwidth, latency, port: self.switch_port_bandwidth.as_ref() };
                let host = LinkValues { bandwidth: self.host_bandwidth.as_ref(), latency: self.host_latency };
                let same = || LinkValues { bandwidth: None, latency: None };
                every.cables(host, vec![same(), same()], mistakes)
            }
        }
    };
}
pub(super) use switch_spec;
