//! Platform data: zones, the points in them, links, and the links that lead from point to point.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use rustc_hash::FxHashMap;

use super::cluster::Regular;
use super::profile::Profile;
use crate::units::{Bandwidth, Time};

/// Link in one direction, or in both if they share its bandwidth.
#[derive(Clone, Debug)]
pub(super) struct PlatformLink {
    pub name: String,
    pub bandwidth: Bandwidth,
    pub latency: Time,
    /// True if messages share the bandwidth; false on a `FATPIPE`, where each message has all of it.
    pub shared: bool,
}

/// Host, router, or zone seen from the zone around it.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub name: String,
    /// Zone that contains the point.
    pub zone: usize,
    pub kind: PointKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PointKind {
    /// The host with this number, in the order of the document.
    Host(u32),
    Router,
    /// A zone.
    Zone,
}

/// Links from one point of a zone to another.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    pub to: usize,
    pub links: Vec<u32>,
    /// Points between which the links lead; they lie inside the points of the hop if these are zones.
    pub gateways: (usize, usize),
}

/// Routing inside a zone.
#[derive(Debug)]
pub(super) enum ZoneRouting {
    /// All routes are listed, by source and destination.
    Full(FxHashMap<(usize, usize), Hop>),
    /// Routes are shortest paths over the listed hops, by source.
    Graph(BTreeMap<usize, Vec<Hop>>, FxHashMap<usize, OnceCell<Paths>>),
    /// Each point has links of its own to the centre.
    Star(Star),
    /// Fat-tree, torus or dragonfly; hosts are numbered by position.
    Regular { regular: Regular, first_point: usize },
    /// There are no routes.
    None,
}

/// By point: the point before it on the path from one source, and the hop taken there.
pub(super) type Paths = FxHashMap<usize, (usize, usize)>;

/// Points around a backbone, or around an ideal centre.
#[derive(Debug, Default)]
pub(super) struct Star {
    /// By point: its links out and in.
    pub private: BTreeMap<usize, (Vec<u32>, Vec<u32>)>,
    pub backbone: Option<u32>,
}

/// Zone of a platform.
#[derive(Debug)]
pub(super) struct Zone {
    pub name: String,
    /// The zone as a point of the zone around it; `None` for the outermost.
    pub point: Option<usize>,
    pub depth: usize,
    pub local: ZoneRouting,
    /// Hops taken instead of those found by `local`, by source and destination: hosts and routers directly in
    /// the zone, or zones in it at any depth.
    pub bypasses: FxHashMap<(usize, usize), Hop>,
}

/// Content of a platform file.
#[derive(Debug, Default)]
pub(super) struct Platform {
    pub zones: Vec<Zone>,
    pub points: Vec<Point>,
    pub links: Vec<PlatformLink>,
    /// Points that are hosts, in the order of the document.
    pub hosts: Vec<usize>,
    /// Changes of links over time.
    pub profiles: Vec<Profile>,
}

impl Platform {
    /// Returns true if a point is in a zone, at any depth.
    pub(super) fn is_inside(&self, point: usize, zone: usize) -> bool {
        let mut at = self.points[point].zone;
        loop {
            if at == zone {
                return true;
            }
            match self.zones[at].point {
                Some(around) => at = self.points[around].zone,
                None => return false,
            }
        }
    }

    /// Returns the bypass of a zone between two hosts or routers in it, which takes precedence over its
    /// routing.
    ///
    /// Between zones the bypass of the innermost zones around both is taken. SimGrid's order is: for growing
    /// m, of the i-th and the m-th zone around them (i < m, either way round), then of the m-th around both.
    fn bypass(&self, zone: usize, src: usize, dst: usize) -> Option<&Hop> {
        let bypasses = &self.zones[zone].bypasses;
        if bypasses.is_empty() || self.points[src].zone == zone && self.points[dst].zone == zone {
            return bypasses.get(&(src, dst));
        }
        // The zones around a point inside this zone, as points.
        let around = |point: usize| {
            let mut zones = Vec::new();
            let mut at = self.points[point].zone;
            while at != zone {
                let as_point = self.zones[at].point?;
                zones.push(as_point);
                at = self.points[as_point].zone;
            }
            Some(zones)
        };
        let (from, to) = (around(src)?, around(dst)?);
        let between = |i: usize, j: usize| bypasses.get(&(*from.get(i)?, *to.get(j)?));
        (0..from.len().max(to.len())).find_map(|m| {
            let uneven = (0..m).find_map(|i| between(i, m).or_else(|| between(m, i)));
            uneven.or_else(|| between(m, m))
        })
    }

    /// Appends the links from one host or router to another. Returns `false` if there is no route.
    pub(super) fn route(&self, src: usize, dst: usize, links: &mut Vec<u32>) -> bool {
        if src == dst {
            return true;
        }
        let depth = |point: usize| self.zones[self.points[point].zone].depth;
        let around = |point: usize| self.zones[self.points[point].zone].point;
        let (mut a, mut b) = (src, dst);
        while self.points[a].zone != self.points[b].zone {
            let deeper = if depth(a) >= depth(b) { &mut a } else { &mut b };
            match around(*deeper) {
                Some(point) => *deeper = point,
                None => return false,
            }
        }
        let zone = self.points[a].zone;
        if let Some(Hop { links: way, gateways, .. }) = self.bypass(zone, src, dst) {
            return self.route(src, gateways.0, links) && {
                links.extend(way);
                self.route(gateways.1, dst, links)
            };
        }
        match &self.zones[zone].local {
            ZoneRouting::Full(hops) => match hops.get(&(a, b)) {
                Some(hop) => {
                    let (from, to) = hop.gateways;
                    self.route(src, from, links) && {
                        links.extend(&hop.links);
                        self.route(to, dst, links)
                    }
                }
                None => false,
            },
            ZoneRouting::Graph(edges, paths) => {
                let Some(paths) = paths.get(&a).map(|cell| cell.get_or_init(|| shortest(edges, a))) else {
                    return false;
                };
                let mut way = Vec::new();
                let mut at = b;
                while at != a {
                    let Some(&(before, hop)) = paths.get(&at) else { return false };
                    way.push(&edges[&before][hop]);
                    at = before;
                }
                let mut here = src;
                for hop in way.into_iter().rev() {
                    if !self.route(here, hop.gateways.0, links) {
                        return false;
                    }
                    links.extend(&hop.links);
                    here = hop.gateways.1;
                }
                self.route(here, dst, links)
            }
            ZoneRouting::Star(star) => {
                // A router in the middle has no links of its own.
                let private = |point: usize| star.private.get(&point);
                links.extend(private(a).into_iter().flat_map(|(out, _)| out));
                links.extend(star.backbone);
                links.extend(private(b).into_iter().flat_map(|(_, into)| into));
                true
            }
            ZoneRouting::Regular { regular, first_point } => {
                let is_host = |point: usize| matches!(self.points[point].kind, PointKind::Host(_));
                if is_host(a) && is_host(b) {
                    regular.route((a - first_point) as u32, (b - first_point) as u32, links);
                }
                true
            }
            ZoneRouting::None => false,
        }
    }
}

/// Returns the tree of shortest paths from a source: fewest links; ties go to the path found first from
/// lower-numbered points.
fn shortest(edges: &BTreeMap<usize, Vec<Hop>>, source: usize) -> Paths {
    let mut paths = Paths::default();
    let mut cost: FxHashMap<usize, usize> = FxHashMap::default();
    let mut queue = BinaryHeap::from([Reverse((0, source))]);
    cost.insert(source, 0);
    while let Some(Reverse((so_far, point))) = queue.pop() {
        if cost.get(&point).is_some_and(|&best| best < so_far) {
            continue;
        }
        for (i, hop) in edges.get(&point).into_iter().flatten().enumerate() {
            let total = so_far + hop.links.len();
            if cost.get(&hop.to).is_none_or(|&best| total < best) {
                cost.insert(hop.to, total);
                paths.insert(hop.to, (point, i));
                queue.push(Reverse((total, hop.to)));
            }
        }
    }
    paths
}
