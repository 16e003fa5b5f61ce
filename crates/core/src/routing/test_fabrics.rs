//! Fabrics of groups and of short diameter for the tests, built directly from their definitions.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::fabric::{Fabric, FabricBuilder, Fact, Family, Irregular, LinkRole};
use crate::ids::VertexId;
use crate::units::{Bandwidth, Time};

/// Graph for which only the groups of its switches are known.
#[derive(Debug)]
struct Grouped(Vec<u32>);

impl Family for Grouped {
    fn kind(&self) -> &'static str {
        "a graph of groups"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        ("groups", Vec::new())
    }

    fn groups(&self) -> Option<&[u32]> {
        Some(&self.0)
    }

    fn default_routing(&self) -> &'static str {
        "minimal"
    }
}

pub(crate) fn finished(builder: FabricBuilder, groups: Option<Vec<u32>>) -> Arc<Fabric> {
    Arc::new(match groups {
        Some(groups) => builder.finish(Grouped(groups)),
        None => builder.finish(Irregular),
    })
}

/// Builds a fabric of `per_switch` nodes on each switch and cables between switches, all links alike.
pub(crate) fn of_cables(
    name: &str,
    switches: u32,
    per_switch: u32,
    cables: impl IntoIterator<Item = (u32, u32)>,
    groups: Option<Vec<u32>>,
) -> Arc<Fabric> {
    let nodes = switches * per_switch;
    let mut builder = FabricBuilder::new(name, nodes, switches);
    let (speed, latency) = (Bandwidth::from_bytes_per_second(1e9), Time::from_ps(1000.0));
    for node in 0..nodes {
        let (node, switch) = (VertexId(node), VertexId(nodes + node / per_switch));
        builder.link(node, switch, speed, latency, LinkRole::Injection);
        builder.link(switch, node, speed, latency, LinkRole::Ejection);
    }
    for (a, b) in cables {
        let tier = groups.as_ref().map_or(0, |groups| u8::from(groups[a as usize] != groups[b as usize]));
        let (a, b) = (VertexId(nodes + a), VertexId(nodes + b));
        builder.link(a, b, speed, latency, LinkRole::Network { tier });
        builder.link(b, a, speed, latency, LinkRole::Network { tier });
    }
    finished(builder, groups)
}

/// Builds four nodes on a switch in each of two planes, with two switches a plane and two cables between
/// them.
pub(crate) fn two_planes() -> Arc<Fabric> {
    let mut builder = FabricBuilder::new("two planes", 4, 4);
    let speed = Bandwidth::from_bytes_per_second(1e9);
    let mut cable = |a: u32, b: u32, roles: [LinkRole; 2]| {
        for ((a, b), role) in [(a, b), (b, a)].into_iter().zip(roles) {
            builder.link(VertexId(a), VertexId(b), speed, Time::ZERO, role);
        }
    };
    let network = [LinkRole::Network { tier: 0 }; 2];
    for plane in 0..2 {
        for node in 0..4 {
            cable(node, 4 + 2 * plane + node / 2, [LinkRole::Injection, LinkRole::Ejection]);
        }
        (0..2).for_each(|_| cable(4 + 2 * plane, 5 + 2 * plane, network));
    }
    Arc::new(builder.finish(Irregular))
}

/// Rule that maps global port `k` of group `group` to another group and its port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrangement {
    Absolute,
    Relative,
    Palmtree,
    Circulant,
}

impl Arrangement {
    pub const ALL: [Self; 4] = [Self::Absolute, Self::Relative, Self::Palmtree, Self::Circulant];

    fn other_end(self, group: u32, k: u32, g: u32) -> (u32, u32) {
        match self {
            Self::Absolute => {
                let to = if k < group { k } else { k + 1 };
                (to, if group < to { group } else { group - 1 })
            }
            Self::Relative => ((group + k + 1) % g, g - 2 - k),
            Self::Palmtree => ((group + g - k - 1) % g, g - 2 - k),
            Self::Circulant if k.is_multiple_of(2) => ((group + k / 2 + 1) % g, k + 1),
            Self::Circulant => ((group + g - k / 2 - 1) % g, k - 1),
        }
    }
}

/// Builds the canonical dragonfly: a = 2p = 2h, g = ah + 1.
pub(crate) fn dragonfly(h: u32, arrangement: Arrangement) -> Arc<Fabric> {
    let (p, a, g) = (h, 2 * h, 2 * h * h + 1);
    let switches = a * g;
    let local = (0..g).flat_map(|group| {
        (0..a).flat_map(move |one| (one + 1..a).map(move |other| (group * a + one, group * a + other)))
    });
    let global = (0..g).flat_map(|group| {
        (0..a * h).filter_map(move |k| {
            let (to, port) = arrangement.other_end(group, k, g);
            assert_eq!(arrangement.other_end(to, port, g), (group, k), "a cable has two ends");
            (group < to).then_some((group * a + k / h, to * a + port / h))
        })
    });
    let groups = (0..switches).map(|switch| switch / a).collect();
    of_cables("dragonfly", switches, p, local.chain(global), Some(groups))
}

/// Builds a dragonfly+ of `g` groups of `l` leaves and `s` spines with `h` global ports each; the links of a
/// pair of groups are dealt out one after another.
pub(crate) fn dragonfly_plus(l: u32, s: u32, p: u32, h: u32, g: u32) -> Arc<Fabric> {
    let size = l + s;
    let nodes = g * l * p;
    let mut builder = FabricBuilder::new("dragonfly+", nodes, g * size);
    let speed = Bandwidth::from_bytes_per_second(1e9);
    for node in 0..nodes {
        let leaf = node / p;
        let (node, switch) = (VertexId(node), VertexId(nodes + leaf / l * size + leaf % l));
        builder.link(node, switch, speed, Time::ZERO, LinkRole::Injection);
        builder.link(switch, node, speed, Time::ZERO, LinkRole::Ejection);
    }
    let mut cable = |a: u32, b: u32, tier| {
        for (a, b) in [(a, b), (b, a)] {
            builder.link(VertexId(nodes + a), VertexId(nodes + b), speed, Time::ZERO, LinkRole::Network { tier });
        }
    };
    let each = s * h / (g - 1);
    let mut used = vec![0; g as usize];
    for group in 0..g {
        for (leaf, spine) in (0..l).flat_map(|leaf| (0..s).map(move |spine| (leaf, spine))) {
            cable(group * size + leaf, group * size + l + spine, 0);
        }
        for other in group + 1..g {
            for _ in 0..each {
                let mut port = |group: u32| {
                    used[group as usize] += 1;
                    group * size + l + (used[group as usize] - 1) % s
                };
                let (a, b) = (port(group), port(other));
                cable(a, b, 1);
            }
        }
    }
    finished(builder, Some((0..g * size).map(|switch| switch / size).collect()))
}

/// Builds the slim fly (MMS) over the integers modulo a prime q = 4w + 1 or 4w - 1, with ceil(k'/2) nodes a
/// switch.
pub(crate) fn slim_fly(q: u32) -> Arc<Fabric> {
    let powers = |xi: u32| std::iter::successors(Some(1), move |&power| Some(power * xi % q));
    let is_primitive = |&xi: &u32| powers(xi).take(q as usize - 1).collect::<BTreeSet<_>>().len() == q as usize - 1;
    let xi = (2..q).find(is_primitive).unwrap();
    let power: Vec<u32> = powers(xi).take(q as usize - 1).collect();
    let (even, odd): (Vec<u32>, Vec<u32>) = if q % 4 == 1 {
        (power.iter().step_by(2).copied().collect(), power.iter().skip(1).step_by(2).copied().collect())
    } else {
        let w = (q as usize + 1) / 4;
        let even: Vec<u32> = (0..2 * w - 1)
            .step_by(2)
            .chain((2 * w - 1..4 * w - 2).step_by(2))
            .map(|power_of| power[power_of])
            .collect();
        let odd = even.iter().map(|x| x * xi % q).collect();
        (even, odd)
    };
    let mut cables = Vec::new();
    for (x, y) in (0..q).flat_map(|x| (0..q).map(move |y| (x, y))) {
        for other in y + 1..q {
            if even.contains(&(other - y)) {
                cables.push((x * q + y, x * q + other));
            }
            if odd.contains(&(other - y)) {
                cables.push((q * q + x * q + y, q * q + x * q + other));
            }
        }
        cables.extend((0..q).map(|m| (x * q + y, q * q + m * q + (y + q * q - m * x % q) % q)));
    }
    let degree = 2 * cables.len() as u32 / (2 * q * q);
    of_cables("slim fly", 2 * q * q, degree.div_ceil(2), cables, None)
}

/// Builds a HyperX: a complete graph along each line of each dimension.
pub(crate) fn hyperx(dims: &[u32], nodes: u32) -> Arc<Fabric> {
    let switches: u32 = dims.iter().product();
    let mut cables = Vec::new();
    for switch in 0..switches {
        let mut stride = 1;
        for &size in dims {
            let own = switch / stride % size;
            cables.extend((own + 1..size).map(|other| (switch, switch + (other - own) * stride)));
            stride *= size;
        }
    }
    of_cables("hyperx", switches, nodes, cables, None)
}
