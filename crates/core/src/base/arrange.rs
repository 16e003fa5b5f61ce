//! Sorting for code that runs once a run.

use std::cmp::Ordering;

/// A stable sort for code that runs once a run, with the results of `sort_by` and `sort_by_key` of the
/// standard library. The compiler generates those again for each type and each comparison (6 KB, one tenth of
/// the program). Here one function sorts positions, and only the exchange of items is compiled for each type.
pub trait Arrange<T> {
    /// Sorts by a comparison. Needs 4 bytes of extra memory per item.
    fn arrange_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key, which is computed again for each comparison.
    fn arrange_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.arrange_by(|a, b| key(a).cmp(&key(b)));
    }
}

impl<T> Arrange<T> for [T] {
    fn arrange_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order = sorted(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        for start in 0..order.len() {
            let mut at = start;
            loop {
                let from = std::mem::replace(&mut order[at], at as u32) as usize;
                if from == start {
                    break;
                }
                self.swap(at, from);
                at = from;
            }
        }
    }
}

/// Returns the positions of the items in sorted order.
fn sorted(items: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(items).expect("what is sorted once a run has fewer items")).collect();
    order.sort_by(|&a, &b| compare(a as usize, b as usize));
    order
}

#[cfg(test)]
mod tests {
    use super::Arrange;
    use crate::rng::Stream;

    #[test]
    fn items_are_arranged_as_the_standard_library_sorts_them() {
        let mut random = Stream::new(1, "test");
        for length in (0..40).chain([1000]) {
            for most in [1, 3, 50, 10_000] {
                let items: Vec<(u64, usize)> = (0..length).map(|at| (random.below(most), at)).collect();
                let (mut expected, mut by_key, mut by) = (items.clone(), items.clone(), items);
                expected.sort_by_key(|item| item.0);
                by_key.arrange_by_key(|item| item.0);
                by.arrange_by(|a, b| a.0.cmp(&b.0));
                assert_eq!((&by_key, &by), (&expected, &expected));
            }
        }
    }
}
