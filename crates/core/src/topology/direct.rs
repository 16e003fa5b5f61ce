//! Networks whose switches have nodes of their own: which switch has how many, and which cables join them.

use super::common::{Cables, Mistakes};
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::{Fabric, FabricBuilder, Family, LinkRole};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::units::{Bandwidth, Time};

/// A cable between two switches, by their numbers from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cable {
    pub ends: (u32, u32),
    pub tier: u8,
}

/// Nodes, switches and the cables between switches.
///
/// Nodes are numbered switch by switch. Link i leads from node i to its switch and link `N + i` back; cable c is link
/// `2 N + 2 c` from its first end to its second, and the next one back.
pub(super) struct Direct {
    pub name: String,
    /// By switch: its nodes.
    pub hosts: Vec<u32>,
    pub cables: Vec<Cable>,
}

impl Direct {
    /// The fabric.
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

    /// Whether every switch reaches every other.
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

/// The switch that stands for the set of this one, with the way there shortened.
fn root(above: &mut [u32], mut switch: u32) -> u32 {
    while above[switch as usize] != switch {
        above[switch as usize] = above[above[switch as usize] as usize];
        switch = above[switch as usize];
    }
    switch
}

/// All pairs of these switches, each joined by so many cables.
pub(super) fn complete(switches: &[u32], parallel: u32, tier: u8, cables: &mut Vec<Cable>) {
    for (i, &a) in switches.iter().enumerate() {
        for &b in &switches[i + 1..] {
            cables.extend((0..parallel).map(|_| Cable { ends: (a, b), tier }));
        }
    }
}

/// The number of the pair of i and j, different ones of n, in the order of [`complete`].
#[inline]
pub(super) fn pair(n: u32, i: u32, j: u32) -> u32 {
    let (i, j) = (i.min(j), i.max(j));
    i * (2 * n - i - 1) / 2 + j - i - 1
}

/// The links of a [`Direct`] network, by arithmetic.
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

    /// One direction of a cable.
    #[inline]
    pub fn cable(self, cable: u32, back: bool) -> LinkId {
        LinkId(2 * (self.nodes + cable) + u32::from(back))
    }
}

/// A number for each pair of nodes, by which one of several equal ways is taken: the same for all messages of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread(u64);

impl Spread {
    #[inline]
    pub fn new(src: NodeId, dst: NodeId) -> Self {
        // The finaliser of splitmix64: each bit of the pair moves each bit of the number.
        let mut x = (u64::from(src.0) << 32 | u64::from(dst.0)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(x ^ x >> 31)
    }

    /// One of so many; what follows is drawn anew.
    #[inline]
    pub fn one_of(&mut self, count: u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        let product = u128::from(self.0) * u128::from(count);
        self.0 = (product as u64) ^ self.0.rotate_left(17);
        (product >> 64) as u32
    }
}

/// What a specification says of the links of one kind.
pub(super) struct Kind<'a> {
    pub bandwidth: Option<&'a Located<Bandwidth>>,
    pub latency: Option<Time>,
}

/// What it says of all links.
pub(super) struct Every<'a> {
    pub bandwidth: &'a Located<Bandwidth>,
    pub latency: Option<Time>,
    pub port: Option<&'a Located<Bandwidth>>,
}

impl Every<'_> {
    /// The links: those of nodes, and those between switches by tier; a kind of which nothing is said is as all are.
    pub fn cables(&self, host: Kind<'_>, network: Vec<Kind<'_>>, mistakes: &mut Mistakes) -> Cables {
        let all = (mistakes.bandwidth(self.bandwidth), self.latency.unwrap_or_default());
        let port = mistakes.port(self.port);
        let mut cable = |kind: Kind<'_>| {
            let bandwidth = kind.bandwidth.map_or(all.0, |value| mistakes.bandwidth(value));
            (bandwidth, kind.latency.unwrap_or(all.1))
        };
        Cables { host: cable(host), network: network.into_iter().map(&mut cable).collect(), port }
    }
}

/// The mistake of a value that a family cannot have.
pub(super) fn wrong<T>(value: &Located<T>, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    Diagnostic::new("topology-parameter", message).at_value(value).label(label)
}

/// A specification whose keys are those listed, and those of links: the same for all switches, and for all nodes.
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
            /// Bandwidth of the host links, where it is another.
            pub host_bandwidth: Option<crate::diagnostic::Located<crate::units::Bandwidth>>,
            /// Latency of the host links, where it is another.
            pub host_latency: Option<crate::units::Time>,
            /// Bandwidth of a switch's output port, where it is less than that of the cable behind it.
            pub switch_port_bandwidth: Option<crate::diagnostic::Located<crate::units::Bandwidth>>,
        }

        impl $name {
            /// The links: cables between switches are alike, of either tier.
            fn links(&self, mistakes: &mut crate::topology::common::Mistakes) -> crate::topology::common::Cables {
                use crate::topology::direct::{Every, Kind};
                let (bandwidth, latency) = (&self.bandwidth, self.latency);
                let every = Every { bandwidth, latency, port: self.switch_port_bandwidth.as_ref() };
                let host = Kind { bandwidth: self.host_bandwidth.as_ref(), latency: self.host_latency };
                let same = || Kind { bandwidth: None, latency: None };
                every.cables(host, vec![same(), same()], mistakes)
            }
        }
    };
}
pub(super) use switch_spec;
