//! Cables of a fabric: which of them are optical, and how long they are.
//!
//! Racks stand in rows and columns that make a square, each a metre wide and deep. A cable within a rack is 1
//! m long on average; one between racks has the Manhattan distance of the two and 2 m more.
//!
//! A rack holds a group of switches with their nodes. If a family has no groups, or the number of nodes in a
//! rack is given, switches with nodes are put into racks in order, as many as fit. Switches without nodes
//! follow in racks of their own, [`SWITCHES`] in each.
//!
//! Source of lengths: M. Besta, T. Hoefler, "Slim fly: a cost effective low-diameter network topology", SC
//! 2014, section VI-B (racks of a metre, 1 m inside, 2 m more between). The contents of a rack are assumed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, LinkId, VertexId};
use crate::steady::kind;

/// Default number of nodes in a rack, if the fabric has no groups.
pub const NODES: u32 = 64;
/// Number of switches without nodes in a rack of their own.
const SWITCHES: usize = 32;
/// Mean length of a cable within a rack \[m\].
const WITHIN: f64 = 1.0;
/// Extra length of a cable between racks beyond their distance \[m\].
const BETWEEN: f64 = 2.0;

/// Layout of racks, and the rule for optical cables.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Layout {
    /// Number of nodes in a rack, at least those of one switch; by default, a rack holds a group.
    pub rack_nodes: Option<u32>,
    /// Smallest length of an optical cable \[m\]; by default, all cables between racks are optical.
    pub optical_from_m: Option<f64>,
}

/// Cables of a fabric. A cable used in both directions is two links.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cables {
    /// Number of all cables, including those to nodes.
    pub all: u64,
    /// Number of cables by kind of link, as `hayase throughput` names the kinds.
    pub by_kind: BTreeMap<String, u64>,
    /// Number of optical cables; `None` if links have no ends, so that their places are unknown.
    pub optical: Option<u64>,
    /// Total length of the copper cables \[m\].
    pub copper_m: Option<f64>,
    /// Total length of the optical cables \[m\].
    pub optical_m: Option<f64>,
    /// Number of racks.
    pub racks: u32,
}

/// One cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cable {
    /// Ends of the cable, the lower first.
    pub ends: (VertexId, VertexId),
    /// One of its links.
    pub link: LinkId,
}

/// Returns all cables whose ends are known: between two vertices, as many as there are links in the direction
/// that has more.
pub(super) fn cables(fabric: &Fabric) -> Vec<Cable> {
    let mut links: Vec<(u32, u32, bool, LinkId)> = Vec::with_capacity(fabric.links().len());
    for (id, link) in fabric.links().iter_ids() {
        if let Some((from, to)) = link.ends.filter(|(from, to)| from != to) {
            links.push((from.0.min(to.0), from.0.max(to.0), from.0 > to.0, id));
        }
    }
    links.sort_unstable();
    let mut cables = Vec::with_capacity(links.len() / 2);
    for between in links.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (there, back) = between.split_at(between.partition_point(|link| !link.2));
        let more = if there.len() >= back.len() { there } else { back };
        let ends = (VertexId(between[0].0), VertexId(between[0].1));
        cables.extend(more.iter().map(|&(.., link)| Cable { ends, link }));
    }
    cables
}

/// Counts cables.
pub(super) fn count(fabric: &Fabric, all: &[Cable], layout: Layout) -> Cables {
    let mut by_kind: BTreeMap<String, u64> = BTreeMap::new();
    // A name is built once for each role, between or within groups.
    let mut names: BTreeMap<(u16, bool), String> = BTreeMap::new();
    let groups = fabric.groups().unwrap_or_default();
    let group = |vertex: VertexId| groups.get(vertex.index().wrapping_sub(fabric.nodes() as usize));
    for cable in all {
        let role = match fabric.link(cable.link).role {
            LinkRole::Injection | LinkRole::Ejection => u16::MAX,
            LinkRole::Network { tier } => tier.into(),
        };
        let crosses = matches!((group(cable.ends.0), group(cable.ends.1)), (Some(a), Some(b)) if a != b);
        let name = names.entry((role, crosses)).or_insert_with(|| kind(fabric, cable.link));
        match by_kind.get_mut(name.as_str()) {
            Some(count) => *count += 1,
            None => {
                by_kind.insert(name.clone(), 1);
            }
        }
    }
    let loose = fabric.links().iter().filter(|link| link.ends.is_none()).count() as u64;
    let racks = Racks::of(fabric, layout.rack_nodes);
    let (mut optical, mut copper_m, mut optical_m) = (0, 0.0, 0.0);
    for cable in all {
        let length = racks.length(cable.ends);
        let is_optical = match layout.optical_from_m {
            Some(from) => length >= from,
            None => !racks.are_one(cable.ends),
        };
        if is_optical {
            optical += 1;
            optical_m += length;
        } else {
            copper_m += length;
        }
    }
    let known = loose == 0;
    Cables {
        all: all.len() as u64 + loose,
        by_kind,
        optical: known.then_some(optical),
        copper_m: known.then_some(copper_m),
        optical_m: known.then_some(optical_m),
        racks: racks.count,
    }
}

/// Places of vertices in racks.
struct Racks {
    /// Rack of each vertex.
    of: Vec<u32>,
    count: u32,
    /// Number of racks in a row.
    row: u32,
}

impl Racks {
    fn of(fabric: &Fabric, nodes: Option<u32>) -> Self {
        let vertices = fabric.graph().node_count();
        let mut of = vec![u32::MAX; vertices];
        let leaf: Vec<usize> = fabric.node_ids().map(|node| fabric.lowest_switch_of(node) as usize).collect();
        let mut count = 0;
        match (fabric.groups(), nodes) {
            (Some(groups), None) => {
                for (switch, &group) in groups.iter().enumerate() {
                    of[fabric.nodes() as usize + switch] = group;
                }
                count = groups.iter().max().map_or(0, |&most| most + 1);
            }
            (_, nodes) => {
                let most = nodes.unwrap_or(NODES);
                let mut hosted = vec![0u32; vertices];
                leaf.iter().for_each(|&leaf| hosted[leaf] += 1);
                let mut filled = u32::MAX;
                for (vertex, &here) in hosted.iter().enumerate().filter(|(_, here)| **here > 0) {
                    if filled.saturating_add(here) > most {
                        count += 1;
                        filled = 0;
                    }
                    filled += here;
                    of[vertex] = count - 1;
                }
                let apart: Vec<usize> =
                    (fabric.nodes() as usize..vertices).filter(|&vertex| hosted[vertex] == 0).collect();
                for racked in apart.chunks(SWITCHES) {
                    racked.iter().for_each(|&vertex| of[vertex] = count);
                    count += 1;
                }
            }
        }
        for (node, &leaf) in leaf.iter().enumerate() {
            of[node] = of[leaf];
        }
        // A node without a switch has a rack of its own.
        for rack in of.iter_mut().filter(|rack| **rack == u32::MAX) {
            *rack = count;
            count += 1;
        }
        let row = (1..).find(|row| u64::from(*row) * u64::from(*row) >= u64::from(count)).unwrap_or(1);
        Self { of, count, row }
    }

    fn are_one(&self, ends: (VertexId, VertexId)) -> bool {
        self.of[ends.0.index()] == self.of[ends.1.index()]
    }

    /// Returns the length of a cable \[m\].
    fn length(&self, ends: (VertexId, VertexId)) -> f64 {
        if self.are_one(ends) {
            return WITHIN;
        }
        let place = |vertex: VertexId| (self.of[vertex.index()] / self.row, self.of[vertex.index()] % self.row);
        let (a, b) = (place(ends.0), place(ends.1));
        BETWEEN + f64::from(a.0.abs_diff(b.0)) + f64::from(a.1.abs_diff(b.1))
    }
}
