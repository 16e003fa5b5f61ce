//! Shortest paths of a dragonfly whose groups are complete graphs.

use super::super::direct::{bit, pair};
use super::{Dragonfly, GlobalCable};
use crate::fabric::{PathEnd, ShortestPaths};
use crate::ids::LinkId;

impl Dragonfly {
    /// Returns one of the parallel links between two switches of a group.
    #[inline]
    fn local(&self, group: u32, from: u32, to: u32, parallel: u32) -> LinkId {
        let first = group * self.size.a;
        let cables = group * self.inside + pair(self.size.a, from - first, to - first) * self.size.row_links;
        self.ids.cable(cables + parallel, from > to)
    }

    /// Chooses one of several cables to another group, link by link: a link to one of the switches from which they
    /// leave, or a cable of this switch. Returns the link inside the group, if there is one, and the cable.
    fn choose_cable(
        &self,
        cables: &[GlobalCable],
        nearest: u64,
        (group, at): (u32, u32),
        mut choose: impl FnMut(u32) -> u32,
    ) -> Option<(Option<LinkId>, GlobalCable)> {
        let (first, row_links) = (group * self.size.a, self.size.row_links);
        let (mut own, mut leaves, mut inside, mut twins) = (0u64, 0u64, 0, false);
        for (number, &(leave, ..)) in cables.iter().enumerate().filter(|(number, _)| nearest >> number & 1 == 1) {
            let switch = 1 << (leave - first);
            if leave == at {
                own |= 1 << number;
            } else if leaves & switch == 0 {
                leaves |= switch;
                inside += row_links;
            } else {
                twins = true;
            }
        }
        // Links inside the group come first.
        let chosen = choose(inside + if own == 0 { 0 } else { own.count_ones() });
        if chosen >= inside {
            return Some((None, *cables.get(bit(own, chosen - inside))?));
        }
        let (switch, parallel) = if row_links == 1 { (chosen, 0) } else { (chosen / row_links, chosen % row_links) };
        let leave = first + bit(leaves, switch) as u32;
        let mut there = cables.iter().zip(0..).filter(|(cable, number)| cable.0 == leave && nearest >> number & 1 == 1);
        let number = if twins { choose(there.clone().count() as u32) } else { 0 };
        let (cable, _) = there.nth(number as usize)?;
        Some((Some(self.local(group, at, leave, parallel)), *cable))
    }
}

/// Returns the cables that need the fewest steps inside groups, a bit each. A path to a group ends wherever it enters.
#[inline]
fn nearest(cables: &[GlobalCable], at: u32, to: Option<u32>) -> u64 {
    let mut by_steps = [0u64; 3];
    for (number, &(leave, enter, ..)) in cables.iter().enumerate() {
        let steps = usize::from(leave != at) + usize::from(to.is_some_and(|to| enter != to));
        by_steps[steps] |= 1 << number;
    }
    by_steps.into_iter().find(|&cables| cables != 0).unwrap_or_default()
}

impl ShortestPaths for Dragonfly {
    fn walk(&self, from: u32, end: PathEnd, pick: &mut dyn FnMut(u32) -> u32, visit: &mut dyn FnMut(&[LinkId])) -> u32 {
        let mut choose = |choices: u32| if choices > 1 { pick(choices) } else { 0 };
        let (group, to) = match end {
            PathEnd::Place(to) => (self.groups[to as usize], Some(to)),
            PathEnd::Group(group) => (group, None),
        };
        let here = self.groups[from as usize];
        let (mut links, mut count, mut at) = ([LinkId(0); 3], 0, from);
        let mut add = |link: LinkId| {
            links[count] = link;
            count += 1;
        };
        if let Some(by_pair) = self.by_pair.as_ref().filter(|_| here != group) {
            let cables = by_pair.between(here, group);
            let nearest = if let [_] = cables { 1 } else { nearest(cables, at, to) };
            let (_, enter, cable, back) = if nearest & nearest.wrapping_sub(1) == 0 {
                let cable = cables[nearest.trailing_zeros() as usize];
                if cable.0 != at {
                    add(self.local(here, at, cable.0, choose(self.size.row_links)));
                }
                cable
            } else {
                let Some((inside, cable)) = self.choose_cable(cables, nearest, (here, at), &mut choose) else {
                    return at;
                };
                inside.into_iter().for_each(&mut add);
                cable
            };
            add(self.ids.cable(cable, back));
            at = enter;
        }
        if let Some(to) = to.filter(|&to| to != at) {
            add(self.local(group, at, to, choose(self.size.row_links)));
            at = to;
        }
        visit(&links[..count]);
        at
    }
}
