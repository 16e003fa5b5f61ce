//! Levels of an output that serves its inputs in turn: the rate that it offers each of them.

/// Solver of levels, with lists that are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    /// Rates that inputs take, with their places, ascending.
    sorted: Vec<(f64, u32)>,
    /// Rates that inputs take, then their levels.
    levels: Vec<f64>,
}

impl Levels {
    /// Solves for each input i the level that it would get of `capacity` if it always had bytes to send while
    /// the other inputs took `taken`:
    /// ```text
    /// L(i) + sum over j != i of min(taken(j), L(i)) = capacity
    /// ```
    /// An output that serves its inputs in turn gives no input more than one that always has bytes to send.
    /// So each other input takes its own rate or as much as that one.
    ///
    /// Sorted ascending, with S(k) the sum of the k smallest and these k below L(i), there are two cases. If
    /// input i is one of the k, `L(i) = (capacity + taken(i) - S(k)) / (n - k + 1)`. Otherwise `L(i) =
    /// (capacity - S(k)) / (n - k)`, the level at which the inputs share a full output. Both only rise along
    /// the list, so one pass finds all k.
    ///
    /// Cost: O(n log n) for n inputs.
    #[inline]
    pub(super) fn of(&mut self, taken: impl Iterator<Item = f64>, capacity: f64) -> &[f64] {
        self.levels.clear();
        self.levels.extend(taken);
        match self.levels.as_mut_slice() {
            [] => {}
            [only] => *only = capacity,
            // With two inputs: the rest that the other leaves, or half.
            [a, b] => (*a, *b) = ((capacity - *b).max(capacity / 2.0), (capacity - *a).max(capacity / 2.0)),
            _ => self.of_many(capacity),
        }
        &self.levels
    }

    /// Replaces the rates in `levels` by levels.
    fn of_many(&mut self, capacity: f64) {
        let Self { sorted, levels } = self;
        let n = levels.len();
        sorted.clear();
        sorted.extend(levels.iter().copied().zip(0..));
        if n <= 16 {
            insertion_sort(sorted);
        } else {
            sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        // The common level, if the output is full.
        let (mut below, mut common) = (0.0, f64::INFINITY);
        for (k, &(taken, _)) in sorted.iter().enumerate() {
            let level = (capacity - below) / (n - k) as f64;
            if level <= taken {
                common = level;
                break;
            }
            below += taken;
        }
        let (mut k, mut below) = (0, 0.0);
        for &(own, place) in &*sorted {
            let level = |k: usize, below: f64| (capacity + own - below) / (n - k + 1) as f64;
            levels[place as usize] = if own >= common {
                common
            } else {
                while k < n && level(k, below) > sorted[k].0 {
                    below += sorted[k].0;
                    k += 1;
                }
                level(k, below)
            };
        }
    }
}

/// Sorts few entries, which are mostly in order already.
fn insertion_sort(entries: &mut [(f64, u32)]) {
    for end in 1..entries.len() {
        let entry = entries[end];
        let mut place = end;
        while place > 0 && entries[place - 1].0 > entry.0 {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        entries[place] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Returns the left side of the equation that defines a level.
    fn given(taken: &[f64], input: usize, level: f64) -> f64 {
        let others = (0..taken.len()).filter(|&j| j != input);
        level + others.map(|j| taken[j].min(level)).sum::<f64>()
    }

    #[test]
    fn each_level_fills_the_output_if_its_input_wants_everything() {
        let mut random = Stream::new(1, "levels");
        for n in (1..40).flat_map(|n| [n; 50]) {
            let ties = random.below(2) == 0;
            let taken: Vec<f64> =
                (0..n)
                    .map(|_| {
                        if ties { random.below(3) as f64 / 4.0 } else { random.unit() / (1.0 + random.below(n) as f64) }
                    })
                    .collect();
            for (input, &level) in Levels::default().of(taken.iter().copied(), 1.0).iter().enumerate() {
                let given = given(&taken, input, level);
                assert!((given - 1.0).abs() < 1e-12, "input {input} of {taken:?}: level {level} gives {given}");
            }
        }
    }
}
