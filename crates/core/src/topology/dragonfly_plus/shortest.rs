//! Shortest paths of a dragonfly+.

use super::super::direct::bit;
use super::DragonflyPlus;
use crate::fabric::{PathEnd, ShortestPaths};
use crate::ids::LinkId;

impl DragonflyPlus {
    /// Returns the place of a switch in its group, and true if it is a leaf.
    #[inline]
    fn in_group(&self, switch: u32) -> (u32, bool) {
        let at = switch - self.groups[switch as usize] * (self.leaves + self.spines);
        if at < self.leaves { (at, true) } else { (at - self.leaves, false) }
    }

    /// Follows one of the links between a switch and this switch of the other kind in its group. Returns the switch
    /// there.
    #[inline]
    fn cross(&self, at: u32, other: u32, parallel: u32, visit: &mut dyn FnMut(&[LinkId])) -> u32 {
        let (group, (place, is_leaf)) = (self.groups[at as usize], self.in_group(at));
        let (leaf, spine) = if is_leaf { (place, other) } else { (other, place) };
        let pair = (group * self.leaves + leaf) * self.spines + spine;
        visit(&[self.ids.cable(pair * self.local + parallel, !is_leaf)]);
        group * (self.leaves + self.spines) + if is_leaf { self.leaves + other } else { other }
    }

    /// Returns the number of links between two switches of one group.
    #[inline]
    fn steps(&self, from: u32, to: u32) -> usize {
        match self.in_group(from).1 == self.in_group(to).1 {
            true if from == to => 0,
            true => 2,
            false => 1,
        }
    }
}

impl ShortestPaths for DragonflyPlus {
    fn walk(&self, from: u32, end: PathEnd, pick: &mut dyn FnMut(u32) -> u32, visit: &mut dyn FnMut(&[LinkId])) -> u32 {
        let mut choose = |choices: u32| if choices > 1 { pick(choices) } else { 0 };
        let (group, to) = match end {
            PathEnd::Place(to) => (self.groups[to as usize], Some(to)),
            PathEnd::Group(group) => (group, None),
        };
        let mut at = from;
        while to != Some(at) {
            let (here, (_, is_leaf)) = (self.groups[at as usize], self.in_group(at));
            let others = if is_leaf { self.spines } else { self.leaves };
            if here == group {
                let Some(to) = to else { return at };
                let (there, to_leaf) = self.in_group(to);
                let (other, parallel) = if to_leaf == is_leaf {
                    let chosen = choose(others * self.local);
                    (chosen / self.local, chosen % self.local)
                } else {
                    (there, choose(self.local))
                };
                at = self.cross(at, other, parallel, visit);
                continue;
            }
            let Some(by_pair) = &self.by_pair else { return at };
            let cables = by_pair.between(here, group);
            // Cables that need the fewest steps inside groups, a bit each.
            let mut by_steps = [0u64; 5];
            for (number, &(leave, enter, ..)) in cables.iter().enumerate() {
                let steps = self.steps(at, leave) + to.map_or(0, |to| self.steps(enter, to));
                by_steps[steps] |= 1 << number;
            }
            let nearest = by_steps.into_iter().find(|&cables| cables != 0).unwrap_or_default();
            let (mut own, mut leaves) = (0u64, 0u64);
            for (number, &(leave, ..)) in cables.iter().enumerate().filter(|(number, _)| nearest >> number & 1 == 1) {
                if leave == at {
                    own |= 1 << number;
                } else {
                    leaves |= 1 << self.in_group(leave).0;
                }
            }
            // Links inside the group come first: from a leaf to these spines, from a spine to any leaf.
            let count = if is_leaf { leaves.count_ones() } else { others * u32::from(leaves != 0) };
            let chosen = choose(count * self.local + own.count_ones());
            if let Some(number) = chosen.checked_sub(count * self.local) {
                let (_, enter, cable, back) = cables[bit(own, number)];
                visit(&[self.ids.cable(cable, back)]);
                at = enter;
            } else {
                let (number, parallel) = (chosen / self.local, chosen % self.local);
                let other = if is_leaf { bit(leaves, number) as u32 } else { number };
                at = self.cross(at, other, parallel, visit);
            }
        }
        at
    }
}
