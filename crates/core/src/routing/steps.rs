//! Steps that packets may take under a rule: the pairs of consecutive links, and their channel classes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::classes::stride;
use super::detour::Detours;
use super::graph::{Graph, NONE, Target};
use super::lattice::Dimensions;
use crate::fabric::{Fabric, LinkRole};
use crate::ids::LinkId;

/// Channel classes as bits: class c is bit c. Classes above the last one count as the last one.
pub type Classes = u128;

/// Visitor of the steps of packets from link to link, by ranks of links. A packet changes to the next class
/// if the next link's rank is not above that of the link before.
pub struct Steps<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) ranks: &'a [u32],
    /// All classes that packets use.
    pub(super) all: Classes,
    /// Function called for each step with the link before, its classes, the next link, and true if the class
    /// changes.
    pub(super) visit: &'a mut dyn FnMut(LinkId, Classes, LinkId, bool),
}

impl<'a> Steps<'a> {
    /// Visits one step. Returns the classes after it.
    pub(super) fn step(&mut self, from: LinkId, classes: Classes, to: LinkId) -> Classes {
        let descends = self.ranks[to.0 as usize] <= self.ranks[from.0 as usize];
        (self.visit)(from, classes, to, descends);
        let behind = if descends { classes << 1 | classes & (1 << (Classes::BITS - 1)) } else { classes };
        // Packets that leave the network do not wait.
        if self.fabric.link(to).role != LinkRole::Ejection {
            self.all |= behind;
        }
        behind
    }

    /// Visits the shortest paths to a target from the packets of `start`, along the links for which `keep` is
    /// true.
    ///
    /// Returns the positions of packets on their way, and those after their arrival.
    fn visit_leg(
        &mut self,
        graph: &Graph,
        target: Target,
        start: &PacketPositions,
        keep: impl Fn(u32, u32) -> bool,
    ) -> (PacketPositions, PacketPositions) {
        let ahead = graph.ahead(target);
        let distances: Vec<u32> = (0..graph.places()).map(|place| graph.distance(&ahead, place)).collect();
        let mut order: Vec<u32> = (0..graph.places()).filter(|&place| distances[place as usize] != NONE).collect();
        order.sort_unstable_by_key(|&place| (Reverse(distances[place as usize]), place));
        let mut at = PacketPositions { fresh: Vec::new(), over: vec![0; self.fabric.links().len()] };
        let mut arrived = at.clone();
        let mut incoming: Vec<(LinkId, Classes)> = Vec::new();
        for place in order {
            let fresh = start.fresh.get(place as usize).copied().unwrap_or_default();
            incoming.clear();
            for way in graph.links_into(place) {
                let link = way.link as usize;
                let classes = at.over[link] | start.over.get(link).copied().unwrap_or(0);
                if classes != 0 {
                    incoming.push((LinkId(way.link), classes));
                }
            }
            if distances[place as usize] == 0 {
                incoming.iter().for_each(|&(link, classes)| arrived.over[link.0 as usize] |= classes);
                continue;
            }
            for way in graph.closer(place, &ahead).filter(|way| keep(place, way.place)) {
                let mut classes = Classes::from(fresh);
                self.all |= classes;
                for &(link, before) in &incoming {
                    classes |= self.step(link, before, LinkId(way.link));
                }
                at.over[way.link as usize] |= classes;
            }
        }
        (at, arrived)
    }

    /// Returns the places of all nodes as starts.
    fn starts(graph: &Graph) -> PacketPositions {
        let mut fresh = vec![false; graph.places() as usize];
        graph.places_with_nodes().into_iter().for_each(|place| fresh[place as usize] = true);
        // Nodes that are places themselves.
        graph.fabric.node_ids().for_each(|node| fresh[graph.home(node).place as usize] = true);
        PacketPositions { fresh, over: Vec::new() }
    }

    /// Visits the shortest paths between all places.
    pub(super) fn shortest(&mut self, graph: &Graph) {
        let starts = Self::starts(graph);
        for to in ends(graph) {
            self.visit_leg(graph, Target::Place(to), &starts, |_, _| true);
        }
    }

    /// Visits the shortest paths to all intermediates and on to all places, including packets that have gone
    /// `ahead`.
    pub(super) fn detours(&mut self, graph: &Graph, detours: &Detours, ahead: Option<PacketPositions>) {
        let mut starts = Self::starts(graph);
        starts.over = ahead.map(|ahead| ahead.over).unwrap_or_default();
        let mut half = PacketPositions { fresh: Vec::new(), over: vec![0; self.fabric.links().len()] };
        for target in detours.targets() {
            half.add(&self.visit_leg(graph, target, &starts, |_, _| true).1);
        }
        for to in ends(graph) {
            self.visit_leg(graph, Target::Place(to), &half, |_, _| true);
        }
    }

    /// Visits all paths of steps that lead closer, from any point of a lattice to any other.
    ///
    /// At each point the steps are along the first remaining dimension of `order`, or along any dimension if
    /// there is no order. If there are more than 4 million pairs of points, only a sample is visited.
    pub(super) fn closer(&mut self, dimensions: &Dimensions, order: Option<&[usize]>) {
        let lattice = dimensions.lattice();
        let points = lattice.points();
        let stride = stride(points.into());
        let (mut ahead, mut next) = (Vec::new(), Vec::new());
        let mut over: BTreeMap<LinkId, Classes> = BTreeMap::new();
        for from in (0..points).step_by(stride) {
            for to in (0..points).step_by(stride).map(|to| (to + from / stride as u32) % points) {
                over.clear();
                ahead.push((from, None, 1));
                while let Some((point, before, classes)) = ahead.pop() {
                    let mut dims = dimensions.between(point, to);
                    if let Some(order) = order {
                        let place = |dim: &usize| order.iter().position(|other| other == dim);
                        dims.sort_unstable_by_key(place);
                        dims.truncate(1);
                    }
                    for dim in dims {
                        next.clear();
                        lattice.steps(point, dim, lattice.coordinate(to, dim), &mut next);
                        for step in &next {
                            let mut behind = before.map_or(classes, |link| self.step(link, classes, step.link));
                            self.all |= behind;
                            let last = step.then.unwrap_or(step.link);
                            if last != step.link {
                                behind = self.step(step.link, behind, last);
                            }
                            let known = over.entry(last).or_default();
                            if behind & !*known != 0 {
                                *known |= behind;
                                ahead.push((step.point, Some(last), *known));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the positions of packets on shortest paths at which they are routed again: inside the group of
    /// their source, or after their first link if there are no groups.
    pub(super) fn ahead(&mut self, graph: &Graph) -> PacketPositions {
        let starts = Self::starts(graph);
        let mut ahead = PacketPositions { fresh: Vec::new(), over: vec![0; self.fabric.links().len()] };
        for to in ends(graph) {
            if graph.group_count() > 0 {
                let inside = |from: u32, to: u32| graph.group(from).is_some() && graph.group(from) == graph.group(to);
                ahead.add(&self.visit_leg(graph, Target::Place(to), &starts, inside).0);
                continue;
            }
            let toward = graph.ahead(Target::Place(to));
            for place in (0..graph.places()).filter(|&place| starts.fresh[place as usize]) {
                if !matches!(graph.distance(&toward, place), 0 | NONE) {
                    graph.closer(place, &toward).for_each(|way| ahead.over[way.link as usize] |= 1);
                }
            }
        }
        ahead
    }
}

/// Positions of packets: the places where they start, and by link the classes in which they have crossed it.
#[derive(Clone, Default)]
pub(super) struct PacketPositions {
    fresh: Vec<bool>,
    over: Vec<Classes>,
}

impl PacketPositions {
    fn add(&mut self, other: &Self) {
        self.over.iter_mut().zip(&other.over).for_each(|(classes, more)| *classes |= more);
    }
}

/// Returns the places at which packets leave the network.
fn ends(graph: &Graph) -> Vec<u32> {
    let mut ends: Vec<u32> = graph.fabric.node_ids().map(|node| graph.home(node).place).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}
