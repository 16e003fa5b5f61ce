//! SimGrid's `DRAGONFLY` clusters: their links, and the routes that SimGrid takes.

use super::cluster::PathElement;

/// Groups of chassis of routers with nodes.
///
/// Green links join the routers of a chassis pair by pair. Black links join routers with the same place in
/// two chassis of a group. A blue link joins each two groups, between router j of group i and router i of
/// group j, both in the first chassis. If several links are asked for, one link of their joint bandwidth is
/// used.
///
/// Links by number, with up and down alternating: of hosts, green by chassis and pair, black by group, pair
/// and place, blue by pair. "Up" is from the host, or from the lower of the two numbers.
///
/// Source: SimGrid's documentation and behaviour of `DRAGONFLY` clusters (version 3.32 and later).
#[derive(Clone, Debug)]
pub(super) struct Cascade {
    groups: u32,
    chassis: u32,
    routers: u32,
    nodes: u32,
    /// Bandwidth of blue, black and green links relative to a host's link.
    widths: [u32; 3],
}

/// Parses `groups,links;chassis,links;routers,links;nodes`.
pub(super) fn cascade(text: &str, most_hosts: u64, most_links: u64) -> Result<Cascade, &'static str> {
    const EXPECTED: &str =
        "expected groups,links;chassis,links;routers,links;nodes, positive numbers like \"3,4;4,3;5,1;2\"";
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&number| number > 0).ok_or(EXPECTED);
    let pair = |text: &str| {
        let (count, links) = text.split_once(',').ok_or(EXPECTED)?;
        Ok::<_, &str>((number(count)?, number(links)?))
    };
    let parts: Vec<&str> = text.split(';').collect();
    let [groups, chassis, routers, nodes] = parts[..] else { return Err(EXPECTED) };
    let ((groups, blue), (chassis, black), (routers, green)) = (pair(groups)?, pair(chassis)?, pair(routers)?);
    let nodes = number(nodes)?;
    let hosts = [groups, chassis, routers, nodes].iter().try_fold(1u64, |product, &n| product.checked_mul(n.into()));
    if hosts.is_none_or(|hosts| hosts > most_hosts) {
        return Err("expected a dragonfly of at most 1,048,576 hosts");
    }
    let [g, c, r] = [groups, chassis, routers].map(u128::from);
    let cables = g * c * r * (u128::from(nodes) + (r + c) / 2) + g * g;
    if 2 * cables > most_links.into() {
        return Err("expected a dragonfly of at most 16,777,216 links");
    }
    if groups > 1 && groups > routers {
        return Err("expected no more groups than routers of a chassis: SimGrid has no link for the others");
    }
    Ok(Cascade { groups, chassis, routers, nodes, widths: [blue, black, green] })
}

/// Returns the number of a pair of different numbers below n.
fn pair(n: u32, a: u32, b: u32) -> u32 {
    let (i, j) = (a.min(b), a.max(b));
    i * (2 * n - i - 1) / 2 + j - i - 1
}

fn pairs(n: u32) -> u32 {
    n * (n - 1) / 2
}

impl Cascade {
    pub(super) fn hosts(&self) -> u32 {
        self.groups * self.chassis * self.routers * self.nodes
    }

    /// Number of hosts and routers.
    pub(super) fn parts(&self) -> u32 {
        self.hosts() + self.groups * self.chassis * self.routers
    }

    /// Returns the first green, black and blue cable, and the number of cables.
    fn firsts(&self) -> [u32; 4] {
        let green = self.hosts();
        let black = green + self.groups * self.chassis * pairs(self.routers);
        let blue = black + self.groups * pairs(self.chassis) * self.routers;
        [green, black, blue, blue + pairs(self.groups)]
    }

    /// Number of links, two for each cable.
    pub(super) fn links(&self) -> u32 {
        2 * self.firsts()[3]
    }

    /// Returns the bandwidth of a link relative to a host's link.
    pub(super) fn width(&self, link: u32) -> u32 {
        let [green, black, blue, _] = self.firsts();
        match link / 2 {
            cable if cable < green => 1,
            cable if cable < black => self.widths[2],
            cable if cable < blue => self.widths[1],
            _ => self.widths[0],
        }
    }

    /// Visits the path between two different hosts.
    ///
    /// Between groups the path leads, inside the chassis, to the router that has the other group's number.
    /// From there it leads to the first chassis, over the blue link, to the router's place in the chassis,
    /// and to the destination's chassis. SimGrid continues from the first chassis after a green link to the
    /// destination's place, even inside a group. So paths between other chassis miss a link there, and paths
    /// within one chassis take one more.
    pub(super) fn route(&self, src: u32, dst: u32, visit: &mut dyn FnMut(PathElement)) {
        let [green, black, blue, _] = self.firsts();
        let place = |host: u32| {
            let router = host / self.nodes;
            let in_group = router % (self.chassis * self.routers);
            (router / (self.chassis * self.routers), in_group / self.routers, in_group % self.routers)
        };
        let ((my_group, my_chassis, my_blade), (group, chassis, blade)) = (place(src), place(dst));
        let router = |(group, chassis, blade): (u32, u32, u32)| {
            PathElement::Part(self.hosts() + (group * self.chassis + chassis) * self.routers + blade)
        };
        let link = |cable: u32, from: u32, to: u32| PathElement::Link(2 * cable + u32::from(from > to));
        let mut at = (my_group, my_chassis, my_blade);
        let target = (group, chassis, blade);
        visit(PathElement::Part(src));
        visit(PathElement::Link(2 * src));
        if at != target {
            let along_chassis = |at: (u32, u32, u32), to: u32| {
                link(
                    green + (at.0 * self.chassis + at.1) * pairs(self.routers) + pair(self.routers, at.2, to),
                    at.2,
                    to,
                )
            };
            let along_group = |at: (u32, u32, u32), to: u32| {
                let first = black + (at.0 * pairs(self.chassis) + pair(self.chassis, at.1, to)) * self.routers;
                link(first + at.2, at.1, to)
            };
            if at.0 != group {
                if at.2 != group {
                    visit(router(at));
                    visit(along_chassis(at, group));
                    at.2 = group;
                }
                if at.1 != 0 {
                    visit(router(at));
                    visit(along_group(at, 0));
                    at.1 = 0;
                }
                visit(router(at));
                visit(link(blue + pair(self.groups, my_group, group), my_group, group));
                at = (group, 0, my_group);
            }
            if at.2 != blade {
                visit(router(at));
                visit(along_chassis(at, blade));
                at = (group, 0, blade);
            }
            if at.1 != chassis {
                visit(router(at));
                visit(along_group(at, chassis));
            }
        }
        visit(router(target));
        visit(PathElement::Link(2 * dst + 1));
        visit(PathElement::Part(dst));
    }
}
