//! Lifetimes of communicators. Communicators of the same ranks, each freed before the next is used, are one
//! communicator of a program.
//!
//! A program that makes and frees communicators in a loop has a new one in every iteration. Its calls are the
//! same each time, and can be recognised as such (and folded) if the communicators share a number. Every
//! message keeps its receive. Each rank has completed all sends and receives on one communicator before it
//! uses the next. So the n-th message of a sender, with a tag, is still the n-th.

use rustc_hash::FxHashMap;

use super::calls::Communicator;

/// First use and release of each communicator.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    /// Lives by number of the communicator less one. Each entry has a rank that uses the communicator, its
    /// call that first uses it, and its call that frees it.
    of: Vec<Vec<(u32, u64, Option<u64>)>>,
}

impl Lifetimes {
    /// Notes that call number `call` of a rank uses a communicator, and frees it if `frees` is set.
    #[inline]
    pub fn note_use(&mut self, number: u32, rank: u32, call: u64, frees: bool) {
        let at = number as usize - 1;
        if self.of.len() <= at {
            self.of.resize_with(at + 1, Vec::new);
        }
        // Ranks are read one after another.
        let lives = &mut self.of[at];
        if lives.last().is_none_or(|life| life.0 != rank) {
            lives.push((rank, call, None));
        }
        if frees && let Some(life) = lives.last_mut() {
            life.2 = Some(call);
        }
    }

    /// Returns, by number less one, the new number less one that each communicator shares with its
    /// predecessors.
    ///
    /// Cost: proportional to the sum of the members, as long as few communicators of the same ranks live at
    /// once.
    pub fn shared_numbers(&self, groups: &[Communicator]) -> Vec<u32> {
        type Same<'a> = (&'a [u32], &'a [u32]);
        // For communicators of the same ranks: the shared number, and the last communicator that had it.
        let mut known: FxHashMap<Same<'_>, Vec<(u32, usize)>> = FxHashMap::default();
        let mut next = 0;
        let mut numbers = Vec::with_capacity(groups.len());
        for (at, group) in groups.iter().enumerate() {
            let known = known.entry((&group.members, &group.remote)).or_default();
            let before = known.iter_mut().find(|(_, before)| self.follows(*before, at, group));
            if let Some((number, last)) = before {
                *last = at;
                numbers.push(*number);
            } else {
                known.push((next, at));
                numbers.push(next);
                next += 1;
            }
        }
        numbers
    }

    /// True if every member has freed one communicator before it uses the other.
    fn follows(&self, before: usize, after: usize, group: &Communicator) -> bool {
        let (Some(before), Some(after)) = (self.of.get(before), self.of.get(after)) else { return false };
        let all = !group.members.is_empty() && after.len() == group.members.len() + group.remote.len();
        let freed: FxHashMap<u32, u64> = before.iter().filter_map(|life| Some((life.0, life.2?))).collect();
        all && after.iter().all(|(rank, used, _)| freed.get(rank).is_some_and(|freed| freed < used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_same_ranks_share_a_number_if_each_is_freed_before_the_next_is_used() {
        let group = |members: &[u32]| Communicator { id: 0, members: members.to_vec(), remote: Vec::new() };
        let mut lives = Lifetimes::default();
        // 1 and 2 belong to both ranks, one after the other. Rank 1 uses 3 before it frees 2. 4 belongs to rank 0
        // alone. 5 comes after 3.
        let groups = [group(&[0, 1]), group(&[0, 1]), group(&[0, 1]), group(&[0]), group(&[0, 1])];
        for (number, rank, used, freed) in [(1, 0, 1, 2), (2, 0, 3, 4), (3, 0, 5, 6), (4, 0, 7, 8), (5, 0, 9, 10)] {
            lives.note_use(number, rank, used, false);
            lives.note_use(number, rank, freed, true);
        }
        for (number, used, freed) in [(1, 1, 2), (2, 3, 6), (3, 5, 7), (5, 8, 9)] {
            lives.note_use(number, 1, used, false);
            lives.note_use(number, 1, freed, true);
        }
        assert_eq!(lives.shared_numbers(&groups), [0, 0, 1, 2, 0]);
    }
}
