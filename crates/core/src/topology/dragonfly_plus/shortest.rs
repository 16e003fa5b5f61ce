//! Shortest paths of a dragonfly+.

use super::super::direct::bit;
use super::DragonflyPlus;
use crate::fabric::{PathEnd, ShortestPaths};
use crate::ids::LinkId;

impl DragonflyPlus {
    /// Returns the place of a switch of this group among its leaves or spines, and true if it is a leaf.
    #[inline]
    fn place(&self, group: u32, switch: u32) -> (u32, bool) {
        let at = switch - group * (self.leaves + self.spines);
        if at < self.leaves { (at, true) } else { (at - self.leaves, false) }
    }
}

impl ShortestPaths for DragonflyPlus {
    fn walk(&self, from: u32, end: PathEnd, pick: &mut dyn FnMut(u32) -> u32, visit: &mut dyn FnMut(&[LinkId])) -> u32 {
        let mut choose = |choices: u32| if choices > 1 { pick(choices) } else { 0 };
        let (group, to) = match end {
            PathEnd::Place(to) => (self.groups[to as usize], Some(to)),
            PathEnd::Group(group) => (group, None),
        };
        let spine = to.filter(|&to| !self.place(group, to).1);
        let (mut here, mut at) = (self.groups[from as usize], from);
        // (The longest path leads from spine to spine, over a leaf in each group.)
        let (mut links, mut count) = ([LinkId(0); 5], 0);
        while to != Some(at) && (here != group || to.is_some()) {
            let (place, is_leaf) = self.place(here, at);
            let others = if is_leaf { self.spines } else { self.leaves };
            // Switch of the other kind in the group to which the message goes, and one of the links there.
            let (other, parallel) = if let Some(to) = to.filter(|_| here == group) {
                let (there, to_leaf) = self.place(group, to);
                if to_leaf == is_leaf {
                    let chosen = choose(others * self.local);
                    (chosen / self.local, chosen % self.local)
                } else {
                    (there, choose(self.local))
                }
            } else {
                let cables = self.by_pair.as_ref().map_or(&[][..], |by_pair| by_pair.between(here, group));
                // Of the cables that need the fewest steps inside groups: those of this switch and the other spines,
                // a bit each.
                let (mut own, mut spines, mut least) = (0u64, 0u64, u32::MAX);
                for (number, &(leave, enter, ..)) in cables.iter().enumerate() {
                    let before = if is_leaf { 1 } else { 2 * u32::from(leave != at) };
                    let steps = before + spine.map_or(0, |spine| 2 * u32::from(enter != spine));
                    if steps < least {
                        (own, spines, least) = (0, 0, steps);
                    }
                    if steps == least && leave == at {
                        own |= 1 << number;
                    } else if steps == least {
                        spines |= 1 << self.place(here, leave).0;
                    }
                }
                // Links inside the group come first: from a leaf to these spines, from a spine to any leaf.
                let inside = if is_leaf { spines.count_ones() } else { others * u32::from(spines != 0) } * self.local;
                let chosen = choose(inside + own.count_ones());
                if let Some(number) = chosen.checked_sub(inside) {
                    let Some(&(_, enter, cable, back)) = cables.get(bit(own, number)) else { break };
                    links[count] = self.ids.cable(cable, back);
                    count += 1;
                    (here, at) = (group, enter);
                    continue;
                }
                let number = chosen / self.local;
                (if is_leaf { bit(spines, number) as u32 } else { number }, chosen % self.local)
            };
            let (leaf, spine) = if is_leaf { (place, other) } else { (other, place) };
            let pair = (here * self.leaves + leaf) * self.spines + spine;
            links[count] = self.ids.cable(pair * self.local + parallel, !is_leaf);
            count += 1;
            at = here * (self.leaves + self.spines) + if is_leaf { self.leaves + other } else { other };
        }
        visit(&links[..count]);
        at
    }
}
