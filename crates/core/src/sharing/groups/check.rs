//! Invariants between two solves, checked in tests.

use std::collections::BTreeMap;

use super::Groups;
use super::table::NONE;

impl Groups {
    /// Checks that lists, loads, edges and allowances are consistent.
    pub(super) fn check(&self) {
        for (id, link) in self.links.iter().enumerate() {
            assert_eq!((link.place, link.key), (NONE, f64::INFINITY));
            let mut crossing: BTreeMap<u32, u32> = BTreeMap::new();
            let (mut granted, mut load) = (0, 0.0);
            assert_eq!(self.lists[id].len(), link.count as usize);
            for (place, &(flow, hop)) in self.lists[id].iter().enumerate() {
                assert_eq!(self.flows.link(flow, hop as usize), id as u32);
                assert_eq!(self.flows.place(flow, hop as usize), place as u32);
                let group = self.flows.group[flow as usize];
                *crossing.entry(group).or_default() += 1;
                granted += self.allowances.of(flow);
                load += self.levels[group as usize];
            }
            assert_eq!(granted, self.allowances.granted(id as u32));
            let known: BTreeMap<u32, u32> =
                link.crossing.iter().map(|crossing| (crossing.other, crossing.flows)).collect();
            if self.active[id] {
                assert!((load - link.load).abs() <= 1e-9 * link.capacity);
                assert_eq!(known, crossing, "link {id} does not know what crosses it");
            } else {
                assert!(granted <= self.allowances.capacity(id as u32), "an inactive link has granted too much");
                assert_eq!((known.len(), link.group), (0, NONE));
            }
            for (place, crossing) in link.crossing.iter().enumerate() {
                let twin = self.groups[crossing.other as usize].edges[crossing.twin as usize];
                assert_eq!((twin.other, twin.flows, twin.twin), (id as u32, crossing.flows, place as u32));
            }
            if link.group != NONE {
                assert_eq!(self.groups[link.group as usize].link, id as u32);
                let fastest = crossing.keys().map(|&group| self.levels[group as usize]).fold(0.0, f64::max);
                let level = self.levels[link.group as usize];
                assert!(fastest <= level * (1.0 + 1e-10), "something is faster than the group of link {id}");
                assert!((link.capacity - load).abs() <= 1e-9 * link.capacity, "link {id} is not full");
            } else {
                assert!(load <= link.capacity * (1.0 + 1e-9), "link {id} carries too much");
            }
        }
        for (name, group) in self.groups.iter().enumerate() {
            if group.link == NONE {
                assert!(group.own.is_empty() && group.edges.is_empty());
                continue;
            }
            assert_eq!(self.links[group.link as usize].group, name as u32);
            assert!(!group.own.is_empty());
            for (place, &flow) in group.own.iter().enumerate() {
                assert_eq!(self.flows.group[flow as usize], name as u32);
                assert_eq!(self.flows.own_place[flow as usize], place as u32);
                let allowance = self.allowances.rate(flow);
                assert!(allowance >= self.levels[name], "flow {flow} is faster than its allowance");
                assert!(allowance >= group.least, "the allowance of flow {flow} is below the least of its group");
            }
            for (place, edge) in group.edges.iter().enumerate() {
                let twin = self.links[edge.other as usize].crossing[edge.twin as usize];
                assert_eq!((twin.other, twin.flows, twin.twin), (name as u32, edge.flows, place as u32));
            }
        }
    }
}
