//! Shortest paths of a dragonfly whose groups are complete graphs.

use super::super::direct::pair;
use super::Dragonfly;
use crate::fabric::{PathEnd, ShortestPaths};
use crate::ids::LinkId;

/// Largest number of switches in a group and of cables between two groups: one bit each.
const MOST_BITS: u32 = u64::BITS;

impl Dragonfly {
    /// Returns true if all groups are complete graphs, and each pair of them has a cable.
    pub(super) fn fits_shortest_paths(&self) -> bool {
        let fits = self.by_pair.as_ref().is_some_and(|by_pair| by_pair.most() <= MOST_BITS);
        self.size.grid.is_none() && self.size.a <= MOST_BITS && fits
    }

    /// Returns one of the parallel links between two switches of the group that begins at switch `first`.
    #[inline]
    fn local(&self, group: u32, from: u32, to: u32, parallel: u32) -> LinkId {
        let first = group * self.size.a;
        let cables = group * self.inside + pair(self.size.a, from - first, to - first) * self.size.row_links;
        self.ids.cable(cables + parallel, from > to)
    }
}

impl ShortestPaths for Dragonfly {
    fn walk(&self, from: u32, end: PathEnd, pick: &mut dyn FnMut(u32) -> u32, visit: &mut dyn FnMut(&[LinkId])) -> u32 {
        let mut choose = |choices: u32| if choices > 1 { pick(choices) } else { 0 };
        // A path to a group ends wherever it enters.
        let (group, to) = match end {
            PathEnd::Switch(to) => (self.groups[to as usize], Some(to)),
            PathEnd::Group(group) => (group, None),
        };
        let (here, row_links) = (self.groups[from as usize], self.size.row_links);
        let (mut links, mut count, mut at) = ([LinkId(0); 3], 0, from);
        let mut add = |link: LinkId| {
            links[count] = link;
            count += 1;
        };
        if let Some(by_pair) = self.by_pair.as_ref().filter(|_| here != group) {
            let cables = by_pair.between(here, group);
            // Cables by the number of steps inside groups: a bit each.
            let mut by_steps = [0u64; 3];
            for (number, &(leave, enter, ..)) in cables.iter().enumerate() {
                let steps = usize::from(leave != at) + usize::from(to.is_some_and(|to| enter != to));
                by_steps[steps] |= 1 << number;
            }
            let nearest = by_steps.into_iter().find(|&cables| cables != 0).unwrap_or_default();
            let (mut own, mut others, mut direct) = (0, nearest, 0);
            let (mut leaves, mut inside) = (0u64, 0);
            while others != 0 {
                let leave = cables[others.trailing_zeros() as usize].0;
                let (cable, switch) = (others & others.wrapping_neg(), 1 << (leave - here * self.size.a));
                if leave == at {
                    own |= cable;
                    direct += 1;
                } else if leaves & switch == 0 {
                    leaves |= switch;
                    inside += row_links;
                }
                others -= cable;
            }
            // Links inside the group come first.
            let mut chosen = choose(inside + direct);
            if chosen < inside {
                let (switch, parallel) =
                    if row_links == 1 { (chosen, 0) } else { (chosen / row_links, chosen % row_links) };
                (0..switch).for_each(|_| leaves &= leaves - 1);
                let leave = here * self.size.a + leaves.trailing_zeros();
                add(self.local(here, at, leave, parallel));
                (own, others, direct) = (0, nearest, 0);
                while others != 0 {
                    let cable = others & others.wrapping_neg();
                    if cables[others.trailing_zeros() as usize].0 == leave {
                        own |= cable;
                        direct += 1;
                    }
                    others -= cable;
                }
                chosen = inside + choose(direct);
            }
            (inside..chosen).for_each(|_| own &= own - 1);
            if let Some(&(_, enter, cable, back)) = cables.get(own.trailing_zeros() as usize) {
                add(self.ids.cable(cable, back));
                at = enter;
            }
        }
        if let Some(to) = to.filter(|&to| to != at) {
            add(self.local(group, at, to, choose(row_links)));
            at = to;
        }
        visit(&links[..count]);
        at
    }
}
