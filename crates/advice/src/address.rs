//! Queries on nests of accesses, answered without expanding them.
//!
//! Access `(i_0, i_1, ...)` of a nest is at `base + sum_d i_d stride_d`. The accesses of a nest happen in the
//! lexicographic order of `(..., i_1, i_0)`. The search for the first access that touches the bytes
//! `low..high` goes level by level, the outermost first. The inner levels add an offset in `[least, most]`,
//! so only a range of indices of this level can lead to the bytes:
//! ```text
//! low - size < base + i stride + [least, most]   and   base + i stride + [least, most] < high
//! ```
//! For a single loop the first index of the range is the answer. With more levels, the inner ones may jump
//! over the bytes; then the next index is tried.
//!
//! Cost: a division per level, and one try for each iteration of an outer loop that jumps over the bytes.
//! Loops over rows of a matrix need no such tries.

use hayase_trace::memory::{DEPTH, Level, Nest};

/// Number of tries after which a nest counts as conflicting at the first iteration that may conflict.
const TRIES: u32 = 1 << 16;

/// Nest and the range of bytes that it touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touched {
    /// Accesses of the nest.
    pub nest: Nest,
    /// Lowest byte.
    pub low: u64,
    /// One past the highest byte.
    pub high: u64,
}

/// Access that touches the bytes of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hit {
    /// Position in its interval.
    pub position: u64,
    /// Address.
    pub address: u64,
}

/// End of the order of accesses from which a search starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Access with the lowest position.
    First,
    /// Access with the highest position.
    Last,
}

impl Touched {
    /// Computes the range of bytes of a nest: all bytes if the nest leaves the address space.
    pub fn new(nest: Nest) -> Self {
        match nest.span() {
            Some((low, high)) if high < 1 << 62 => Self { nest, low, high },
            _ => Self { nest, low: 0, high: u64::MAX },
        }
    }

    /// True if the bytes `low..high` overlap the range of the nest.
    #[inline]
    pub fn near(&self, low: u64, high: u64) -> bool {
        self.low < high && low < self.high
    }

    /// Returns the first or last access that touches the bytes `low..high`.
    pub fn hit(&self, low: u64, high: u64, end: End) -> Option<Hit> {
        if low >= high || !self.near(low, high) {
            return None;
        }
        let nest = &self.nest;
        if self.high == u64::MAX || high >= 1 << 62 {
            let position = if end == End::First { nest.first } else { nest.last() };
            return Some(Hit { position, address: nest.base });
        }
        let levels = nest.levels();
        let mut reach = [(0_i64, 0_i64); DEPTH + 1];
        for (d, level) in levels.iter().enumerate() {
            let way = level.stride * (level.count - 1) as i64;
            let (least, most) = reach[d];
            reach[d + 1] = (least + way.min(0), most + way.max(0));
        }
        let search = Search {
            levels,
            reach,
            low: low as i64 - nest.size.min(1 << 62) as i64 + 1,
            high: high as i64 - 1,
            last: end == End::Last,
        };
        let mut tries = TRIES;
        search.level(levels.len(), nest.base as i64, nest.first, &mut tries)
    }

    /// Counts the accesses at positions below `position`.
    pub fn before(&self, position: u64) -> u64 {
        let Some(mut left) = position.checked_sub(self.nest.first).and_then(|left| left.checked_sub(1)) else {
            return 0;
        };
        let levels = self.nest.levels();
        let mut inner = self.nest.count();
        let mut count = 0;
        for (d, level) in levels.iter().enumerate().rev() {
            inner /= level.count;
            let whole = left.checked_div(level.step).unwrap_or(u64::MAX).min(level.count - 1);
            count += whole * inner;
            left -= whole * level.step;
            if d == 0 {
                break;
            }
        }
        count + 1
    }
}

struct Search<'a> {
    levels: &'a [Level],
    /// Least and most that the levels below add to an address.
    reach: [(i64, i64); DEPTH + 1],
    /// Lowest and highest address whose access touches the bytes.
    low: i64,
    high: i64,
    last: bool,
}

impl Search<'_> {
    /// Returns the first or last hit among the accesses of the `depth` innermost levels, from `base` and
    /// position `first`.
    fn level(&self, depth: usize, base: i64, first: u64, tries: &mut u32) -> Option<Hit> {
        let Some(level) = depth.checked_sub(1).and_then(|d| self.levels.get(d)) else {
            let touches = self.low <= base && base <= self.high;
            return touches.then_some(Hit { position: first, address: base as u64 });
        };
        let (least, most) = self.reach[depth - 1];
        // base + i stride + most >= low, base + i stride + least <= high
        let (from, to) = (self.low - base - most, self.high - base - least);
        let end = (level.count - 1) as i64;
        let (mut i, mut j) = match level.stride {
            0 if from <= 0 && 0 <= to => (0, end),
            0 => return None,
            stride if stride > 0 => (ceiling(from, stride).max(0), to.div_euclid(stride).min(end)),
            stride => (ceiling(-to, -stride).max(0), (-from).div_euclid(-stride).min(end)),
        };
        while i <= j {
            let index = if self.last { j } else { i };
            let (base, first) = (base + index * level.stride, first + index as u64 * level.step);
            match self.level(depth - 1, base, first, tries) {
                Some(hit) => return Some(hit),
                // If iterations do not change the address, all fail alike.
                None if level.stride == 0 => return None,
                None if *tries == 0 => return Some(Hit { position: first, address: base as u64 }),
                None => *tries -= 1,
            }
            if self.last { j -= 1 } else { i += 1 }
        }
        None
    }
}

/// Divides and rounds up; the divisor is positive.
fn ceiling(dividend: i64, divisor: i64) -> i64 {
    -(-dividend).div_euclid(divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Expands a nest into the address and position of each access.
    fn expanded(nest: &Nest) -> Vec<(u64, u64)> {
        nest.runs().flat_map(|run| (0..run.count).filter_map(move |i| run.access(i))).collect()
    }

    /// Generates nests whose accesses happen in the order of their indices, as those of a program do.
    fn nests() -> impl Strategy<Value = Nest> {
        let level = (1_u64..6, -40_i64..40, 1_u64..4);
        (1_u64..9, prop::collection::vec(level, 0..4)).prop_map(|(size, levels)| {
            let mut length = 1;
            let levels: Vec<Level> = levels
                .into_iter()
                .map(|(count, stride, slack)| {
                    let step = length + slack - 1;
                    length += step * (count - 1);
                    Level { count, stride, step }
                })
                .collect();
            Nest::new(0, size, 10_000, 5, &levels)
        })
    }

    proptest! {
        #[test]
        fn the_first_and_the_last_conflict_are_those_of_the_expanded_accesses(
            nest in nests(), low in 9_600_u64..10_400, length in 1_u64..60,
        ) {
            let high = low + length;
            let touches = |&&(address, _): &&(u64, u64)| address < high && low < address + nest.size;
            let all = expanded(&nest);
            let touched = Touched::new(nest);
            for (end, expected) in [(End::First, all.iter().find(touches)), (End::Last, all.iter().rev().find(touches))] {
                let found = touched.hit(low, high, end).map(|hit| (hit.address, hit.position));
                prop_assert_eq!(found, expected.copied(), "{:?} of {:?}", end, all);
            }
        }

        #[test]
        fn accesses_before_a_position_are_counted(nest in nests(), position in 0_u64..200) {
            let expected = expanded(&nest).iter().filter(|&&(_, at)| at < position).count() as u64;
            prop_assert_eq!(Touched::new(nest).before(position), expected);
        }
    }

    #[test]
    fn a_loop_over_columns_jumps_over_rows() {
        // a[i][5] for 1000 rows of 1000 doubles; the query is row 7 only.
        let nest = Nest::new(0, 8, 40, 0, &[Level { count: 1000, stride: 8000, step: 2 }]);
        let row = |i: u64| (8000 * i, 8000 * i + 8000);
        let touched = Touched::new(nest);
        assert_eq!(touched.hit(row(7).0, row(7).1, End::First), Some(Hit { position: 14, address: 56_040 }));
        assert_eq!(touched.hit(row(7).0, row(7).0 + 40, End::First), None);
    }

    #[test]
    fn a_nest_that_leaves_the_address_space_conflicts_with_everything() {
        let nest = Nest::new(0, 8, u64::MAX - 8, 3, &[Level { count: 1000, stride: i64::MAX, step: 2 }]);
        assert_eq!(Touched::new(nest).hit(0, 8, End::First).map(|hit| hit.position), Some(3));
    }
}
