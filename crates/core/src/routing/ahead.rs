//! Shortest paths to one target, over a graph of switches.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::field::Field;
use super::graph::{BETWEEN_GROUPS, Graph, NONE, PlaceLink, Target};
use super::path::Path;
use crate::ids::{LinkId, NodeId};
use crate::units::Time;

/// Distances from all places to one target.
pub(super) struct TargetDistances<'g> {
    target: Target,
    known: DistanceSource<'g>,
}

/// Source of the distances.
enum DistanceSource<'g> {
    /// The target's own distances.
    Own(&'g Field),
    /// Distances to the target's neighbours, with the cost of the link from there. Used if messages end at
    /// the target and never pass it, so that nothing is stored for such targets, of which there may be as
    /// many as nodes.
    Neighbours(SmallVec<[(&'g Field, u32); 4]>),
}

impl Graph {
    /// Returns the distances from all places to a target.
    #[inline]
    pub fn ahead(&self, target: Target) -> TargetDistances<'_> {
        let known = match target {
            Target::Place(place) if !self.is_open(place) => DistanceSource::Neighbours(
                self.links_into(place)
                    .iter()
                    .filter(|way| self.is_open(way.place))
                    .map(|way| (self.field(Target::Place(way.place)), way.cost()))
                    .collect(),
            ),
            _ => DistanceSource::Own(self.field(target)),
        };
        TargetDistances { target, known }
    }

    #[inline]
    fn field(&self, target: Target) -> &Field {
        match target {
            Target::Place(place) => self.to_place[place as usize].get_or_init(|| self.search(&[place])),
            Target::Group(group) => self.to_group[group as usize].get_or_init(|| {
                let places: Vec<u32> = (0..self.places()).filter(|&place| self.group(place) == Some(group)).collect();
                self.search(&places)
            }),
        }
    }

    /// Computes distances to the nearest of some places, by number of links between groups, then by number of
    /// links.
    fn search(&self, targets: &[u32]) -> Field {
        let mut distances = vec![NONE; self.places() as usize];
        for &target in targets {
            distances[target as usize] = 0;
        }
        // Queues by distance: places that need no more links between groups than now, and those that need one more.
        let (mut now, mut next) = (vec![targets.to_vec()], Vec::<Vec<u32>>::new());
        let mut crossed = 0;
        while !now.is_empty() {
            let mut hops = 0;
            while hops < now.len() {
                for place in std::mem::take(&mut now[hops]) {
                    let distance = distances[place as usize];
                    // A shorter path has been found since, or messages end here but do not pass.
                    if distance != crossed + hops as u32 || (!self.is_open(place) && distance > 0) {
                        continue;
                    }
                    for way in self.links_into(place) {
                        let there = &mut distances[way.place as usize];
                        if distance + way.cost() < *there {
                            *there = distance + way.cost();
                            let later = if way.cost() > 1 { &mut next } else { &mut now };
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
        // Distances of closed places at the beginning (all nodes, if only nodes are closed) follow from their links.
        distances.drain(..self.first_open as usize);
        Field::new(distances.into_boxed_slice(), self.width)
    }

    /// Returns true if a place is the target, or in the target group.
    #[inline]
    fn is_end(&self, ahead: &TargetDistances<'_>, place: u32) -> bool {
        match ahead.target {
            Target::Place(target) => place == target,
            Target::Group(group) => self.group(place) == Some(group),
        }
    }

    /// Returns the distance from a place: links, and 2^16 for each link between groups; `NONE` if there is no
    /// path.
    #[inline]
    pub fn distance(&self, ahead: &TargetDistances<'_>, place: u32) -> u32 {
        match &ahead.known {
            DistanceSource::Own(field) if place >= self.first_open => {
                field.distances[(place - self.first_open) as usize]
            }
            DistanceSource::Neighbours(fields) if self.is_open(place) => {
                let over = |&(field, cost): &(&Field, u32)| match field.distances[(place - self.first_open) as usize] {
                    NONE => NONE,
                    distance => distance + cost,
                };
                fields.iter().map(over).min().unwrap_or(NONE)
            }
            _ => self.distance_of_closed(ahead, place),
        }
    }

    /// Returns the distance from a closed place, which no other path crosses.
    fn distance_of_closed(&self, ahead: &TargetDistances<'_>, place: u32) -> u32 {
        if self.is_end(ahead, place) {
            return 0;
        }
        let over = |way: &PlaceLink| match way.place {
            there if self.is_end(ahead, there) => way.cost(),
            there if self.is_open(there) => self.distance(ahead, there).saturating_add(way.cost()),
            _ => NONE,
        };
        self.links_out_of(place).iter().map(over).min().unwrap_or(NONE)
    }

    /// Returns true if a link leads closer, out of a place at distance `here`.
    #[inline]
    fn leads_closer(&self, ahead: &TargetDistances<'_>, here: u32, way: &PlaceLink) -> bool {
        if !self.is_open(way.place) {
            return way.cost() == here && self.is_end(ahead, way.place);
        }
        let there = self.distance(ahead, way.place);
        there != NONE && there + way.cost() == here
    }

    /// Returns the links out of a place that begin a shortest path.
    #[inline]
    pub fn closer<'a>(&'a self, at: u32, ahead: &'a TargetDistances<'_>) -> impl Iterator<Item = PlaceLink> + 'a {
        let here = self.distance(ahead, at);
        self.links_out_of(at).iter().filter(move |way| self.leads_closer(ahead, here, way)).copied()
    }

    /// Returns the links of [`Graph::closer`] as bits, for a place with a stored set.
    #[inline]
    fn set(&self, ahead: &TargetDistances<'_>, field: &Field, at: u32) -> u64 {
        match field.set((at - self.first_open) as usize) {
            0 => self.make_set(ahead, field, at),
            set => set,
        }
    }

    #[cold]
    fn make_set(&self, ahead: &TargetDistances<'_>, field: &Field, at: u32) -> u64 {
        let here = self.distance(ahead, at);
        if matches!(here, 0 | NONE) {
            return 0;
        }
        let leads = (0..).zip(self.links_out_of(at)).filter(|(_, way)| self.leads_closer(ahead, here, way));
        let set = leads.fold(0, |set, (port, _)| set | 1 << port);
        field.note((at - self.first_open) as usize, set);
        set
    }

    /// Writes the links out of a place that begin a shortest path to `ways`.
    #[inline]
    fn list_closer(&self, ahead: &TargetDistances<'_>, at: u32, ways: &mut Vec<PlaceLink>) {
        ways.clear();
        match &ahead.known {
            DistanceSource::Own(field) if field.has_sets() && at >= self.first_open => {
                let (mut set, out) = (self.set(ahead, field, at), self.links_out_of(at));
                while set != 0 {
                    ways.push(out[set.trailing_zeros() as usize]);
                    set &= set - 1;
                }
            }
            _ => ways.extend(self.closer(at, ahead)),
        }
    }

    /// Follows one shortest path. If several links lead on, `pick` is given their number and returns the one
    /// to take. Returns the place at the end, or `None` if there is no path or it does not reach the target.
    #[inline]
    pub fn walk(
        &self,
        from: u32,
        target: Target,
        mut pick: impl FnMut(u32) -> u32,
        mut visit: impl FnMut(LinkId),
    ) -> Option<u32> {
        if let Some(paths) = self.by_family.as_ref().and_then(|family| family.shortest_paths()) {
            return Some(paths.walk(from, target, &mut pick, &mut |links| links.iter().for_each(|&link| visit(link))));
        }
        let ahead = self.ahead(target);
        let mut at = from;
        if let DistanceSource::Own(field) = &ahead.known
            && field.has_sets()
            && from >= self.first_open
        {
            while target != Target::Place(at) {
                let mut set = self.set(&ahead, field, at);
                if set == 0 {
                    return (self.distance(&ahead, at) == 0).then_some(at);
                }
                if set & (set - 1) != 0 {
                    for _ in 0..pick(set.count_ones()) {
                        set &= set - 1;
                    }
                }
                let way = self.links_out_of(at).get(set.trailing_zeros() as usize)?;
                visit(LinkId(way.link));
                at = way.place;
                if at < self.first_open {
                    // A node in the group: the end.
                    break;
                }
            }
            return Some(at);
        }
        loop {
            match self.distance(&ahead, at) {
                0 => return Some(at),
                NONE => return None,
                _ => {}
            }
            let mut ways = self.closer(at, &ahead);
            let mut way = ways.next()?;
            let others = ways.count() as u32;
            if others > 0 {
                way = self.closer(at, &ahead).nth(pick(others + 1) as usize)?;
            }
            visit(LinkId(way.link));
            at = way.place;
        }
    }

    /// Spreads the amount at each place over its shortest paths, in equal parts at each place. The amounts
    /// that arrive stay at the end; those without a path are dropped.
    pub fn spread(&self, target: Target, amounts: &mut [f64], order: &mut Vec<u64>, loads: &mut [f64]) {
        let ahead = self.ahead(target);
        // Furthest places first, then by number.
        order.clear();
        order.extend((0..self.places()).filter_map(|place| match self.distance(&ahead, place) {
            0 | NONE => None,
            distance => Some(u64::from(!distance) << 32 | u64::from(place)),
        }));
        order.sort_unstable();
        let mut ways = Vec::new();
        for &key in &*order {
            let place = key as u32;
            let amount = std::mem::take(&mut amounts[place as usize]);
            if amount == 0.0 {
                continue;
            }
            self.list_closer(&ahead, place, &mut ways);
            let part = amount / ways.len() as f64;
            for way in &ways {
                loads[way.link as usize] += part;
                amounts[way.place as usize] += part;
            }
        }
    }

    /// Splits an amount from one place over its shortest paths, in equal parts at each place.
    ///
    /// Adds links and parts to the path, which starts `start` after the message. Calls `end` for each place
    /// at which a part arrives, with the amount and the latency of the longest path there.
    pub fn split(&self, from: (u32, f64, Time), target: Target, path: &mut Path, mut end: impl FnMut(u32, f64, Time)) {
        let ahead = self.ahead(target);
        let (place, amount, start) = from;
        let mut waiting = BTreeMap::from([((Reverse(self.distance(&ahead, place)), place), (amount, start))]);
        let mut ways = Vec::new();
        while let Some(((Reverse(distance), place), (amount, latency))) = waiting.pop_first() {
            match distance {
                0 => end(place, amount, latency),
                NONE => {}
                _ => {
                    self.list_closer(&ahead, place, &mut ways);
                    let part = amount / ways.len() as f64;
                    for way in &ways {
                        path.links.push(LinkId(way.link));
                        path.parts.push(part);
                        let key = (Reverse(distance - way.cost()), way.place);
                        let there = waiting.entry(key).or_insert((0.0, Time::ZERO));
                        there.0 += part;
                        there.1 = there.1.max(latency + self.fabric.link(LinkId(way.link)).latency);
                    }
                }
            }
        }
    }

    /// Returns true if there is a path from one node to another.
    pub fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        src == dst
            || self.by_family.is_some()
            || self.distance(&self.ahead(Target::Place(self.home(dst).place)), self.home(src).place) != NONE
    }
}
