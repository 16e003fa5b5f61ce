//! Dependences between nodes: from sparse identifiers in any order to positions, and cycles.

use std::collections::BTreeMap;

/// Positions of nodes, by identifier. Runs of successive identifiers take one entry.
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// First position and length of each run, by its first identifier.
    runs: BTreeMap<u64, (u32, u32)>,
    /// Run to which the next node probably belongs: first identifier, first position, length.
    last: (u64, u32, u32),
}

impl Positions {
    /// Adds the next node. Returns `false` if there is a node with this identifier.
    pub fn add(&mut self, id: u64, position: u32) -> bool {
        let (first, _, length) = self.last;
        if length > 0 && first.checked_add(length.into()) == Some(id) && !self.runs.contains_key(&id) {
            self.last.2 += 1;
            return true;
        }
        if self.get(id).is_some() {
            return false;
        }
        if length > 0 {
            self.runs.insert(self.last.0, (self.last.1, length));
        }
        self.last = (id, position, 1);
        true
    }

    /// Returns the position of a node.
    pub fn get(&self, id: u64) -> Option<u32> {
        let within = |first: u64, (position, length): (u32, u32)| {
            let distance = id.checked_sub(first).filter(|&distance| distance < length.into())?;
            Some(position + distance as u32)
        };
        let (first, position, length) = self.last;
        within(first, (position, length)).or_else(|| {
            let (&first, &run) = self.runs.range(..=id).next_back()?;
            within(first, run)
        })
    }

    /// Returns the identifier of a node, by a search of all runs.
    pub fn id(&self, position: u32) -> u64 {
        let last = (self.last.0, (self.last.1, self.last.2));
        let mut runs = self.runs.iter().map(|(&id, &run)| (id, run)).chain([last]);
        let within = |(id, (first, length)): (u64, (u32, u32))| {
            let distance = position.checked_sub(first).filter(|&distance| distance < length)?;
            Some(id + u64::from(distance))
        };
        runs.find_map(within).unwrap_or_default()
    }
}

/// Returns the operations of a cycle of edges (required, follower); `None` if there is none.
///
/// Cost: O(operations + edges), by Kahn's algorithm.
pub(super) fn cycle(ops: usize, edges: &[(u32, u32)], more: &[(u32, u32)]) -> Option<Vec<u32>> {
    let all = || edges.iter().chain(more);
    let (mut begin, mut required) = (vec![0_u32; ops + 1], vec![0_u32; ops]);
    for &(before, after) in all() {
        begin[before as usize + 1] += 1;
        required[after as usize] += 1;
    }
    for op in 0..ops {
        begin[op + 1] += begin[op];
    }
    let (mut next, mut followers) = (begin.clone(), vec![0; edges.len() + more.len()]);
    for &(before, after) in all() {
        let at = &mut next[before as usize];
        followers[*at as usize] = after;
        *at += 1;
    }
    let mut ready: Vec<u32> = (0..ops as u32).filter(|&op| required[op as usize] == 0).collect();
    while let Some(op) = ready.pop() {
        for &after in &followers[begin[op as usize] as usize..begin[op as usize + 1] as usize] {
            required[after as usize] -= 1;
            if required[after as usize] == 0 {
                ready.push(after);
            }
        }
    }
    let open = |op: u32| required[op as usize] > 0;
    let mut op = (0..ops as u32).find(|&op| open(op))?;
    // Every open operation requires an open one, so the way back meets itself.
    let mut before = vec![u32::MAX; ops];
    all().filter(|edge| open(edge.0) && open(edge.1)).for_each(|edge| before[edge.1 as usize] = edge.0);
    let (mut seen, mut way) = (vec![false; ops], Vec::new());
    while !std::mem::replace(&mut seen[op as usize], true) {
        way.push(op);
        op = before[op as usize];
    }
    let from = way.iter().position(|&known| known == op).unwrap_or(0);
    way.drain(..from);
    way.reverse();
    let first = (0..way.len()).min_by_key(|&at| way[at]).unwrap_or(0);
    way.rotate_left(first);
    Some(way)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_in_any_order_have_the_positions_of_their_nodes() {
        let ids = [5, 6, 7, 2, 3, u64::MAX, 0, 8, 1, 4];
        let mut positions = Positions::default();
        for (position, id) in (0..).zip(ids) {
            assert!(positions.add(id, position));
            assert!(!positions.add(id, position), "{id}");
        }
        for (position, id) in (0..).zip(ids) {
            assert_eq!((positions.get(id), positions.id(position)), (Some(position), id));
        }
        assert_eq!((positions.get(9), positions.get(u64::MAX - 1)), (None, None));
    }

    #[test]
    fn a_cycle_is_told_in_the_order_of_its_edges() {
        assert_eq!(cycle(4, &[(0, 1), (1, 2), (0, 3)], &[(3, 2)]), None);
        assert_eq!(cycle(5, &[(0, 1), (1, 2), (2, 3)], &[(3, 1), (3, 4)]), Some(vec![1, 2, 3]));
        assert_eq!(cycle(0, &[], &[]), None);
    }
}
