//! Part of a run that is searched: a region of the program, or all but its start.
//!
//! The whole run is read, because blockers of a communication may lie anywhere. Findings are about calls of
//! the part only.

/// Calls of each rank that belong to the part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunPart {
    /// Ranges of events of each rank, ascending: the first event, and one past the last.
    ranks: Vec<Vec<(u64, u64)>>,
}

impl RunPart {
    /// Creates a part from the ranges of each rank, in ascending order: the first event, and one past the
    /// last.
    pub fn new(ranks: Vec<Vec<(u64, u64)>>) -> Self {
        Self { ranks }
    }

    /// True if the part contains this call of a rank.
    pub fn has(&self, rank: u32, event: u64) -> bool {
        let Some(spans) = self.ranks.get(rank as usize) else { return false };
        spans.get(spans.partition_point(|&(_, end)| end <= event)).is_some_and(|&(first, _)| first <= event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_belongs_to_the_part_from_its_first_to_before_its_end() {
        let within = RunPart::new(vec![vec![(2, 4), (6, 6), (7, u64::MAX)], vec![]]);
        let events: Vec<u64> = (0..10).filter(|&event| within.has(0, event)).collect();
        assert_eq!(events, [2, 3, 7, 8, 9]);
        assert!(!within.has(1, 0) && !within.has(2, 0));
    }
}
