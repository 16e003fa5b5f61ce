//! Shortest ways over any graph of switches: what rules without a regular structure have in common.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::path::Path;
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, LinkId, NodeId, VertexId};
use crate::units::Time;

/// No link, no group, no way.
pub(super) const NONE: u32 = u32::MAX;

/// Most memory that all tables together may come to need \[B\].
const MOST_MEMORY: u64 = 16 << 30;

/// What crossing from one group to another costs, beside the link: more than any way within groups.
const BETWEEN_GROUPS: u32 = 1 << 16;

/// A link out of a place, or into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub link: u32,
    /// The place at its other end.
    pub place: u32,
    cost: u32,
}

/// Where a node is joined to the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Home {
    /// The place from which its messages go on, and at which those for it arrive.
    pub place: u32,
    /// The links from the node to there and back; `NONE` where the node is that place itself.
    pub up: u32,
    pub down: u32,
}

/// What a way leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Place(u32),
    Group(u32),
}

/// The places of a fabric where ways branch, with the links between them.
///
/// A *place* is a switch, a node that sits on network links, or a node that is not joined to one switch by one link
/// each way. All other nodes share the place of their switch, so what is kept grows with the square of the switches,
/// not of the nodes.
///
/// A *shortest* way has the fewest links; where switches are in groups, the fewest links between groups come first.
/// (On a dragonfly that is the usual minimal route: a link, the cable to the other group, a link. The fewest links
/// alone would take two cables through a third group where that saves one.)
///
/// For each target, distances from all places are searched when they are first asked for: 4 bytes a pair of places.
pub(super) struct Graph {
    pub fabric: Arc<Fabric>,
    /// By node.
    homes: Vec<Home>,
    /// By place.
    vertices: Vec<VertexId>,
    /// By place: whether messages may cross it on their way.
    open: Vec<bool>,
    /// By place, and one more: where its ways start.
    out_starts: Vec<u32>,
    out: Vec<Way>,
    into_starts: Vec<u32>,
    into: Vec<Way>,
    /// By place: its group; empty where there are none.
    groups: Vec<u32>,
    group_count: u32,
    to_place: Vec<OnceLock<Box<[u32]>>>,
    to_group: Vec<OnceLock<Box<[u32]>>>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("fabric", &self.fabric.name()).finish_non_exhaustive()
    }
}

impl Graph {
    /// The places of this fabric.
    ///
    /// # Errors
    /// Links without ends, and a fabric whose tables would not fit.
    pub fn new(fabric: &Arc<Fabric>) -> Result<Self, Vec<Diagnostic>> {
        if fabric.links().iter().any(|link| link.ends.is_none()) {
            let message = format!("links of `{}` have no ends, so that there are no paths to search", fabric.name());
            return Err(vec![
                Diagnostic::new("no-ends", message)
                    .help("fill in `from` and `to` of the links, or route by the given routes: `[routing.table]`"),
            ]);
        }
        let nodes = fabric.nodes() as usize;
        let graph = fabric.graph();
        let mut open: Vec<bool> = (0..graph.node_count()).map(|vertex| vertex >= nodes).collect();
        for link in fabric.links().iter() {
            if let (LinkRole::Network { .. }, Some((from, to))) = (link.role, link.ends) {
                open[from.index()] = true;
                open[to.index()] = true;
            }
        }
        let only = |node: usize, direction| {
            let mut edges = graph.edges_directed(NodeIndex::new(node), direction);
            edges.next().filter(|_| edges.next().is_none())
        };
        // The one switch that a node hangs on, and the links to it and back.
        let hangs_on = |node: usize| {
            let (up, down) = (only(node, Outgoing)?, only(node, Incoming)?);
            let switch = up.target().index();
            (!open[node] && open[switch] && down.source().index() == switch).then_some((
                switch,
                *up.weight(),
                *down.weight(),
            ))
        };
        let hanging: Vec<_> = (0..nodes).map(hangs_on).collect();
        let mut place_of = vec![NONE; graph.node_count()];
        let mut vertices = Vec::new();
        for (vertex, place) in place_of.iter_mut().enumerate() {
            if hanging.get(vertex).is_none_or(Option::is_none) {
                *place = vertices.len() as u32;
                vertices.push(VertexId::from_index(vertex));
            }
        }
        let memory = (vertices.len() as u64).pow(2) * 4;
        if memory > MOST_MEMORY || vertices.len() >= BETWEEN_GROUPS as usize {
            let message = format!(
                "shortest paths on `{}` would need up to {} GB of tables",
                fabric.name(),
                memory.div_ceil(1_000_000_000)
            );
            return Err(vec![
                Diagnostic::new("too-large", message)
                    .help("use a routing rule of the topology, which needs no tables (`d-mod-k`, `dimension-order`)"),
            ]);
        }
        let homes = hanging.iter().enumerate().map(|(node, hanging)| match *hanging {
            Some((switch, up, down)) => Home { place: place_of[switch], up: up.0, down: down.0 },
            None => Home { place: place_of[node], up: NONE, down: NONE },
        });
        let of_switches = fabric.groups().unwrap_or_default();
        let group = |vertex: &VertexId| vertex.index().checked_sub(nodes).map_or(NONE, |switch| of_switches[switch]);
        let groups: Vec<u32> = if of_switches.is_empty() { Vec::new() } else { vertices.iter().map(group).collect() };
        let group_count = of_switches.iter().max().map_or(0, |&most| most + 1);
        let ways = |direction| {
            let (mut starts, mut ways) = (vec![0], Vec::new());
            for (place, vertex) in vertices.iter().enumerate() {
                for edge in graph.edges_directed(NodeIndex::new(vertex.index()), direction) {
                    let other = if direction == Outgoing { edge.target() } else { edge.source() };
                    let other = place_of[other.index()];
                    if other == NONE {
                        continue;
                    }
                    let crosses = groups.get(place).is_some_and(|&group| {
                        let to = groups[other as usize];
                        group != NONE && to != NONE && group != to
                    });
                    let cost = 1 + if crosses { BETWEEN_GROUPS } else { 0 };
                    ways.push(Way { link: edge.weight().0, place: other, cost });
                }
                // Links in order of their numbers, whatever the order in which the graph lists them.
                let start = *starts.last().unwrap_or(&0) as usize;
                ways[start..].sort_unstable_by_key(|way| way.link);
                starts.push(ways.len() as u32);
            }
            (starts, ways)
        };
        let ((out_starts, out), (into_starts, into)) = (ways(Outgoing), ways(Incoming));
        let open: Vec<bool> = vertices.iter().map(|vertex| open[vertex.index()]).collect();
        // A node on several switches of one group is in that group, too.
        let mut groups = groups;
        for place in (0..groups.len()).filter(|&place| !open[place]) {
            let ways = &out[out_starts[place] as usize..out_starts[place + 1] as usize];
            let of_switches = ways.iter().map(|way| groups[way.place as usize]);
            groups[place] = match (of_switches.clone().min(), of_switches.max()) {
                (Some(least), Some(most)) if least == most => least,
                _ => NONE,
            };
        }
        Ok(Self {
            homes: homes.collect(),
            open,
            to_place: vertices.iter().map(|_| OnceLock::new()).collect(),
            to_group: (0..group_count).map(|_| OnceLock::new()).collect(),
            fabric: Arc::clone(fabric),
            vertices,
            out_starts,
            out,
            into_starts,
            into,
            groups,
            group_count,
        })
    }

    /// The place at the end of a link between places.
    pub fn end_of(&self, link: LinkId) -> Option<u32> {
        let (_, to) = self.fabric.link(link).ends?;
        self.place_of(to)
    }

    /// Number of places.
    pub fn places(&self) -> u32 {
        self.vertices.len() as u32
    }

    /// Number of groups; 0 where there are none.
    pub fn group_count(&self) -> u32 {
        self.group_count
    }

    /// The group of a place.
    pub fn group(&self, place: u32) -> Option<u32> {
        self.groups.get(place as usize).copied().filter(|&group| group != NONE)
    }

    /// Where a node is joined to the network.
    #[inline]
    pub fn home(&self, node: NodeId) -> Home {
        self.homes[node.0 as usize]
    }

    /// The places that messages may cross and that have nodes on them or next to them, ascending.
    pub fn places_with_nodes(&self) -> Vec<u32> {
        let mut places = Vec::new();
        for home in &self.homes {
            if self.open[home.place as usize] {
                places.push(home.place);
            } else {
                places.extend(self.out(home.place).iter().map(|way| way.place));
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The vertex of a place.
    pub fn vertex(&self, place: u32) -> VertexId {
        self.vertices[place as usize]
    }

    /// The place of a vertex, if it is one.
    pub fn place_of(&self, vertex: VertexId) -> Option<u32> {
        // Places are in order of their vertices.
        self.vertices.binary_search(&vertex).ok().map(|place| place as u32)
    }

    /// Whether messages may cross a place on their way.
    #[inline]
    pub fn is_open(&self, place: u32) -> bool {
        self.open[place as usize]
    }

    /// The links from a place to other places, in order of their numbers.
    #[inline]
    pub fn out(&self, place: u32) -> &[Way] {
        &self.out[self.out_starts[place as usize] as usize..self.out_starts[place as usize + 1] as usize]
    }

    /// The links from other places to this one, in order of their numbers.
    #[inline]
    pub fn into(&self, place: u32) -> &[Way] {
        &self.into[self.into_starts[place as usize] as usize..self.into_starts[place as usize + 1] as usize]
    }

    /// By place, what is left to the target: links, and 2^16 for each between groups; `NONE` where no way leads there.
    #[inline]
    pub fn distances(&self, target: Target) -> &[u32] {
        match target {
            Target::Place(place) => self.to_place[place as usize].get_or_init(|| self.search(&[place])),
            Target::Group(group) => self.to_group[group as usize].get_or_init(|| {
                let places: Vec<u32> = (0..self.places()).filter(|&place| self.group(place) == Some(group)).collect();
                self.search(&places)
            }),
        }
    }

    /// Distances to the nearest of some places: a search by number of links between groups, then by number of links.
    fn search(&self, targets: &[u32]) -> Box<[u32]> {
        let mut distances = vec![NONE; self.vertices.len()].into_boxed_slice();
        for &target in targets {
            distances[target as usize] = 0;
        }
        // By links, those to be looked at that cross no more groups than now, and those that cross one more.
        let (mut now, mut next) = (vec![targets.to_vec()], Vec::<Vec<u32>>::new());
        let mut crossed = 0;
        while !now.is_empty() {
            let mut hops = 0;
            while hops < now.len() {
                for place in std::mem::take(&mut now[hops]) {
                    let distance = distances[place as usize];
                    // A shorter way has been found since, or messages end here but do not pass.
                    if distance != crossed + hops as u32 || (!self.open[place as usize] && distance > 0) {
                        continue;
                    }
                    for way in self.into(place) {
                        let there = &mut distances[way.place as usize];
                        if distance + way.cost < *there {
                            *there = distance + way.cost;
                            let later = if way.cost > 1 { &mut next } else { &mut now };
                            if later.len() < hops + 2 {
                                later.resize(hops + 2, Vec::new());
                            }
                            later[hops + 1].push(way.place);
                        }
                    }
                }
                hops += 1;
            }
            crossed += BETWEEN_GROUPS;
            now = std::mem::take(&mut next);
        }
        distances
    }

    /// The links out of a place that a shortest way can take.
    #[inline]
    pub fn closer<'a>(&'a self, at: u32, distances: &'a [u32]) -> impl Iterator<Item = Way> + 'a {
        let here = distances[at as usize];
        let leads = move |way: &&Way| {
            let there = distances[way.place as usize];
            there != NONE && there + way.cost == here && (there == 0 || self.open[way.place as usize])
        };
        self.out(at).iter().filter(leads).copied()
    }

    /// Goes one shortest way; where there are several links to go on, `pick` says which, of so many. Returns the place
    /// at its end; `None` where there is no way, or not all of one.
    #[inline]
    pub fn walk(
        &self,
        from: u32,
        distances: &[u32],
        mut pick: impl FnMut(u32) -> u32,
        mut visit: impl FnMut(LinkId),
    ) -> Option<u32> {
        let mut at = from;
        while distances[at as usize] != 0 {
            if distances[at as usize] == NONE {
                return None;
            }
            let mut ways = self.closer(at, distances);
            let mut way = ways.next()?;
            let others = ways.count() as u32;
            if others > 0 {
                way = self.closer(at, distances).nth(pick(others + 1) as usize)?;
            }
            visit(LinkId(way.link));
            at = way.place;
        }
        Some(at)
    }

    /// Spreads what is at each place over its shortest ways, in equal parts at each place; what comes to the end stays
    /// there. What cannot go on is dropped.
    pub fn spread(&self, distances: &[u32], amounts: &mut [f64], order: &mut Vec<u32>, loads: &mut [f64]) {
        order.clear();
        order.extend((0..self.places()).filter(|&place| !matches!(distances[place as usize], 0 | NONE)));
        order.sort_unstable_by_key(|&place| (Reverse(distances[place as usize]), place));
        for &place in &*order {
            let amount = std::mem::take(&mut amounts[place as usize]);
            if amount == 0.0 {
                continue;
            }
            let part = amount / self.closer(place, distances).count() as f64;
            for way in self.closer(place, distances) {
                loads[way.link as usize] += part;
                amounts[way.place as usize] += part;
            }
        }
    }

    /// The same from one place: adds links and parts to the path, which starts `start` after its message's begin, and
    /// calls `end` for each place at which something arrives, with how much and the latency of the longest way.
    pub fn split(
        &self,
        from: (u32, f64, Time),
        distances: &[u32],
        path: &mut Path,
        mut end: impl FnMut(u32, f64, Time),
    ) {
        let (place, amount, start) = from;
        let mut ahead = BTreeMap::from([((Reverse(distances[place as usize]), place), (amount, start))]);
        while let Some(((Reverse(distance), place), (amount, latency))) = ahead.pop_first() {
            match distance {
                0 => end(place, amount, latency),
                NONE => {}
                _ => {
                    let part = amount / self.closer(place, distances).count() as f64;
                    for way in self.closer(place, distances) {
                        path.links.push(LinkId(way.link));
                        path.parts.push(part);
                        let key = (Reverse(distances[way.place as usize]), way.place);
                        let there = ahead.entry(key).or_insert((0.0, Time::ZERO));
                        there.0 += part;
                        there.1 = there.1.max(latency + self.fabric.link(LinkId(way.link)).latency);
                    }
                }
            }
        }
    }

    /// Whether a way leads from one node to another.
    pub fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        src == dst || self.distances(Target::Place(self.home(dst).place))[self.home(src).place as usize] != NONE
    }
}
