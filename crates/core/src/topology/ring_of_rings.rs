//! Ring of rings: the smallest family, and the template for new ones (`CONTRIBUTING.md`).

use super::common::{Mistakes, Topology};
use super::direct::{Cable, Direct, switch_spec};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Fact, Family, Sketch};

switch_spec! {
    /// `[topology.ring-of-rings]`: rings of switches, whose first switches form a ring.
    ///
    /// Switch `r s + i` is switch i of ring r. A ring of two switches has one cable.
    RingOfRingsSpec {
        /// Number of rings.
        rings: Located<u32>,
        /// Switches of a ring.
        switches: Located<u32>,
        /// Nodes of a switch.
        nodes: Located<u32>,
    }
}

/// Properties of a ring of rings.
#[derive(Clone, Debug)]
struct RingOfRings {
    rings: u32,
    switches: u32,
    nodes: u32,
    /// Ring of each switch.
    groups: Vec<u32>,
}

impl Topology for RingOfRingsSpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let [rings, switches, nodes] = [&self.rings, &self.switches, &self.nodes].map(|size| mistakes.size(size));
        let links = self.links(&mut mistakes);
        let all = u64::from(rings) * u64::from(switches);
        let hosts = all.checked_mul(nodes.into());
        let place = [&self.switches, &self.nodes].into_iter().fold(&self.rings, |a, b| if **b > **a { b } else { a });
        mistakes.check_fabric_size(hosts.and_then(|hosts| Some((hosts, all, (hosts + all).checked_mul(4)?))), place);
        mistakes.none()?;
        let mut cables = Vec::new();
        for ring in 0..rings {
            join((0..switches).map(|switch| ring * switches + switch).collect(), 0, &mut cables);
        }
        join((0..rings).map(|ring| ring * switches).collect(), 1, &mut cables);
        let name = format!("ring-of-rings {rings}x{switches}");
        let groups = (0..rings * switches).map(|switch| switch / switches).collect();
        let direct = Direct { name, hosts: vec![nodes; (rings * switches) as usize], cables };
        Ok(direct.build(&links, RingOfRings { rings, switches, nodes, groups }))
    }
}

/// Joins these switches in a ring.
fn join(ring: Vec<u32>, tier: u8, cables: &mut Vec<Cable>) {
    let closing = ring.len() > 2;
    let next = ring.iter().skip(1).chain(ring.first().filter(|_| closing));
    cables.extend(ring.iter().zip(next).map(|(&a, &b)| Cable { ends: (a, b), tier }));
}

impl Family for RingOfRings {
    fn kind(&self) -> &'static str {
        "a ring of rings"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let number = |value: u32| Fact::Number(value.into());
        let [rings, switches, nodes] = [self.rings, self.switches, self.nodes].map(number);
        ("ring-of-rings", vec![("rings", rings), ("switches", switches), ("nodes", nodes)])
    }

    fn switch_name(&self, switch: u32) -> String {
        format!("r{}.s{}", switch / self.switches, switch % self.switches)
    }

    fn tier_name(&self, tier: u8) -> String {
        if tier == 0 { "inside rings".to_owned() } else { "between rings".to_owned() }
    }

    fn groups(&self) -> Option<&[u32]> {
        Some(&self.groups)
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Groups { of: &self.groups, name: "ring" }
    }
}
