//! Rule for the number of seeds.

use crate::report::Sample;

/// Running mean of makespans \[s\].
///
/// Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products",
/// Technometrics 4 (1962) 419-420.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mean {
    count: u64,
    mean: f64,
    /// Sum of the squares of differences from the mean.
    squares: f64,
}

impl Mean {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Returns true if there are at least `least` values and half of the 95 % interval of the mean, t s /
    /// sqrt(n), is at most `part` of the mean.
    pub fn is_within(&self, part: f64, least: u64) -> bool {
        if self.count < least.max(2) {
            return false;
        }
        let sd = (self.squares / (self.count as f64 - 1.0)).sqrt();
        let sample = Sample { count: self.count as usize, mean: self.mean, sd };
        sample.half() <= part * self.mean.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_student() {
        // 9, 10, 11: s = 1, t(2) = 4.303, so 4.303 / sqrt(3) = 2.484 of 10.
        let mut mean = Mean::default();
        [9.0, 10.0, 11.0].into_iter().for_each(|value| mean.add(value));
        assert!(mean.is_within(0.2485, 3) && !mean.is_within(0.2484, 3));
        assert!(!mean.is_within(0.9, 4));
        let mut one = Mean::default();
        one.add(5.0);
        assert!(!one.is_within(0.9, 1));
        one.add(5.0);
        assert!(one.is_within(1e-9, 2));
    }
}
