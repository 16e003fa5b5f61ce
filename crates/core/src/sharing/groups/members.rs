//! Membership of flows in links and groups.

use super::Groups;
use super::table::{Crossing, Group, NONE};
use std::hint::select_unpredictable;

impl Groups {
    /// Adds `flows` to the number of flows of a group that cross an active link.
    #[inline]
    pub(super) fn add_crossings(&mut self, group: u32, link: u32, flows: u32) {
        let edges = &mut self.groups[group as usize].edges;
        let crossing = &mut self.links[link as usize].crossing;
        match crossing.iter_mut().find(|crossing| crossing.other == group) {
            Some(crossing) => {
                crossing.flows += flows;
                edges[crossing.twin as usize].flows += flows;
            }
            None => {
                let (edge, place) = (edges.len() as u32, crossing.len() as u32);
                edges.push(Crossing { other: link, flows, twin: place });
                crossing.push(Crossing { other: group, flows, twin: edge });
            }
        }
    }

    /// Moves one flow that crosses an active link from a group to another.
    #[inline]
    pub(super) fn move_crossing(&mut self, from: u32, to: u32, link: u32) {
        let crossing = &mut self.links[link as usize].crossing;
        // (Their places are unpredictable, so all are compared.)
        let (mut at_from, mut at_to) = (usize::MAX, usize::MAX);
        for (place, crossing) in crossing.iter().enumerate() {
            at_from = select_unpredictable(crossing.other == from, place, at_from);
            at_to = select_unpredictable(crossing.other == to, place, at_to);
        }
        crossing[at_from].flows -= 1;
        let (flows, twin) = (crossing[at_from].flows, crossing[at_from].twin);
        self.groups[from as usize].edges[twin as usize].flows = flows;
        if flows == 0 {
            at_to = if at_to == crossing.len() - 1 { at_from } else { at_to };
            self.drop_crossing(link, at_from as u32);
            self.drop_edge(from, twin);
        }
        let crossing = &mut self.links[link as usize].crossing;
        if let Some(crossing) = crossing.get_mut(at_to) {
            crossing.flows += 1;
            self.groups[to as usize].edges[crossing.twin as usize].flows += 1;
        } else {
            self.add_crossings(to, link, 1);
        }
    }

    /// Subtracts one from the number of flows of a group that cross an active link.
    #[inline]
    pub(super) fn remove_crossing(&mut self, group: u32, link: u32) {
        let crossing = &mut self.links[link as usize].crossing;
        let place = crossing.iter().position(|crossing| crossing.other == group);
        let place = place.expect("a link knows the groups that cross it");
        crossing[place].flows -= 1;
        let (flows, twin) = (crossing[place].flows, crossing[place].twin);
        self.groups[group as usize].edges[twin as usize].flows = flows;
        if flows == 0 {
            self.drop_crossing(link, place as u32);
            self.drop_edge(group, twin);
        }
    }

    /// Removes a group from the list of an active link that it crosses.
    #[inline]
    pub(super) fn drop_crossing(&mut self, link: u32, place: u32) {
        let crossing = &mut self.links[link as usize].crossing;
        crossing.swap_remove(place as usize);
        if let Some(&Crossing { other, twin, .. }) = crossing.get(place as usize) {
            self.groups[other as usize].edges[twin as usize].twin = place;
        }
    }

    /// Removes an active link from the list of a group that crosses it.
    #[inline]
    pub(super) fn drop_edge(&mut self, group: u32, place: u32) {
        let edges = &mut self.groups[group as usize].edges;
        edges.swap_remove(place as usize);
        if let Some(&Crossing { other, twin, .. }) = edges.get(place as usize) {
            self.links[other as usize].crossing[twin as usize].twin = place;
        }
    }

    /// Creates a group of this link and with this level, without flows.
    pub(super) fn create_group(&mut self, link: u32, level: f64) -> u32 {
        let group = self.vacant.pop().unwrap_or_else(|| {
            self.levels.push(0.0);
            let (own, edges) = (Vec::new(), Vec::new());
            self.groups.push(Group { link: NONE, epoch: 0, least: f64::INFINITY, own, edges });
            self.groups.len() as u32 - 1
        });
        self.links[link as usize].group = group;
        let it = &mut self.groups[group as usize];
        debug_assert!(it.own.is_empty() && it.edges.is_empty());
        it.link = link;
        it.least = f64::INFINITY;
        self.levels[group as usize] = level;
        self.mark_touched(group);
        group
    }

    /// Frees a group that has lost its last flow.
    pub(super) fn disband(&mut self, group: u32) {
        let it = &mut self.groups[group as usize];
        it.edges.clear();
        it.own.clear();
        let link = std::mem::replace(&mut it.link, NONE);
        if self.links[link as usize].group == group {
            self.links[link as usize].group = NONE;
        }
        self.vacant.push(group);
    }

    /// Records that the level of a group has been set.
    #[inline(always)]
    pub(super) fn mark_touched(&mut self, group: u32) {
        let it = &mut self.groups[group as usize];
        if it.epoch != self.epoch {
            it.epoch = self.epoch;
            self.touched.push(group);
        }
    }

    /// Removes a flow from the list of its group.
    #[inline]
    pub(super) fn take_own(&mut self, flow: u32, group: u32) {
        let own = &mut self.groups[group as usize].own;
        let place = self.flows.own_place[flow as usize] as usize;
        own.swap_remove(place);
        if let Some(&other) = own.get(place) {
            self.flows.own_place[other as usize] = place as u32;
        }
    }

    /// Adds a flow to the list of a group.
    #[inline]
    pub(super) fn put_own(&mut self, flow: u32, group: u32) {
        let it = &mut self.groups[group as usize];
        self.flows.group[flow as usize] = group;
        self.flows.own_place[flow as usize] = it.own.len() as u32;
        it.own.push(flow);
        it.least = it.least.min(self.allowances.rate(flow));
        self.moved.push(flow);
    }

    /// Removes a flow from the list of a link.
    #[inline]
    pub(super) fn take_listed(&mut self, link: u32, flow: u32, hop: usize) {
        let list = &mut self.lists[link as usize];
        let place = self.flows.place(flow, hop) as usize;
        list.swap_remove(place);
        if let Some(&(other, hop)) = list.get(place) {
            self.flows.set_place(other, hop as usize, place as u32);
        }
    }

    /// Adds a flow to the list of a link.
    #[inline]
    pub(super) fn put_listed(&mut self, link: u32, flow: u32, hop: usize) {
        let list = &mut self.lists[link as usize];
        self.flows.set_place(flow, hop, list.len() as u32);
        list.push((flow, hop as u32));
    }
}
