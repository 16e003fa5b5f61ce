//! Measured sizes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Step from one size to the next.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Increment {
    /// Adds this number of bytes \[B\]; not 0.
    Add(u64),
    /// Multiplies by this factor, above 1; rounds to the nearest byte, and adds at least one.
    Times(f64),
}

impl Increment {
    fn after(self, size: u64) -> u64 {
        match self {
            Self::Add(step) => size.saturating_add(step),
            Self::Times(factor) => ((size as f64 * factor).round() as u64).max(size.saturating_add(1)),
        }
    }
}

/// Form in which the two processes get it: `1024`, `x1.5`.
impl fmt::Display for Increment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(step) => write!(f, "{step}"),
            Self::Times(factor) => write!(f, "x{factor}"),
        }
    }
}

impl FromStr for Increment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither bytes nor a factor above 1");
        let increment = match text.strip_prefix('x') {
            Some(factor) => Self::Times(factor.trim().parse().map_err(|_| wrong())?),
            None => Self::Add(text.parse().map_err(|_| wrong())?),
        };
        match increment {
            Self::Add(step) if step > 0 => Ok(increment),
            Self::Times(factor) if factor > 1.0 && factor.is_finite() => Ok(increment),
            _ => Err(wrong()),
        }
    }
}

/// A closed interval of sizes, and their density in it.
///
/// Source: Horii, Iwabuchi, Yamana: MPIETE, section 3.1.2 (smallest size, largest size, increment).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sizes {
    /// Smallest message \[B\].
    pub smallest: u64,
    /// Largest message \[B\].
    pub largest: u64,
    /// Step from one to the next; without one: 0 and 1, every power of two and the middle of every two.
    pub increment: Option<Increment>,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { smallest: 0, largest: 4 << 20, increment: None }
    }
}

impl Sizes {
    /// Returns all sizes, ascending: both ends, those in between, and the two on each side of S if they are
    /// in the interval.
    pub fn all(&self, sync: Option<u64>) -> Vec<u64> {
        let limits = sync.into_iter().flat_map(|sync| [sync, sync.saturating_add(1)]);
        let mut sizes: Vec<u64> = self.steps().chain(limits).chain([self.largest]).collect();
        sizes.retain(|size| (self.smallest..=self.largest).contains(size));
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Counts the sizes, without those beside S; stops counting at one above `most`.
    pub fn count(&self, most: usize) -> usize {
        let inside = self.steps().filter(|size| (self.smallest..self.largest).contains(size));
        1 + inside.take(most).count()
    }

    /// Returns the sizes from the smallest up, each once.
    fn steps(&self) -> impl Iterator<Item = u64> {
        let (smallest, largest) = (self.smallest, self.largest);
        let even = Increment::Times(2.0);
        let next = move |size: u64, by: Increment| Some(by.after(size)).filter(|&next| next > size && next <= largest);
        let asked = self
            .increment
            .into_iter()
            .flat_map(move |increment| std::iter::successors(Some(smallest), move |&size| next(size, increment)));
        // 0, 1, 2, 3, 4, 6, 8, 12 ...
        let usual = self.increment.is_none().then(|| {
            let powers = std::iter::successors(Some(2), move |&size| next(size, even));
            let middles = powers.flat_map(|size: u64| [size, size + size / 2]);
            [0, 1].into_iter().chain(middles).filter(move |&size| size > smallest)
        });
        let begin = self.increment.is_none().then_some(smallest);
        begin.into_iter().chain(usual.into_iter().flatten()).chain(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(smallest: u64, largest: u64, increment: &str, sync: Option<u64>) -> Vec<u64> {
        let increment = (!increment.is_empty()).then(|| increment.parse().unwrap());
        let sizes = Sizes { smallest, largest, increment };
        let all = sizes.all(sync);
        assert_eq!(sizes.count(1000), sizes.all(None).len(), "{sizes:?}");
        all
    }

    #[test]
    fn sizes_are_dense_where_messages_are_small_and_stand_on_both_sides_of_the_limit() {
        let sizes = all(0, 100, "", Some(70));
        assert_eq!(sizes, [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 70, 71, 96, 100]);
        assert_eq!(all(0, 1, "", Some(5)), [0, 1]);
        assert_eq!(all(5, 20, "", None), [5, 6, 8, 12, 16, 20]);
    }

    #[test]
    fn both_ends_belong_to_the_interval_wherever_the_increment_leads() {
        assert_eq!(all(0, 100, "25", None), [0, 25, 50, 75, 100]);
        assert_eq!(all(10, 100, "40", None), [10, 50, 90, 100]);
        assert_eq!(all(10, 100, "1000", None), [10, 100]);
        assert_eq!(all(64, 1024, "x4", None), [64, 256, 1024]);
        assert_eq!(all(100, 1000, "x3", None), [100, 300, 900, 1000]);
        assert_eq!(all(7, 7, "x2", None), [7]);
    }

    #[test]
    fn a_factor_leads_on_from_zero_and_where_it_rounds_to_the_same() {
        assert_eq!(all(0, 10, "x2", None), [0, 1, 2, 4, 8, 10]);
        assert_eq!(all(0, 10, "x1.5", None), [0, 1, 2, 3, 5, 8, 10]);
        assert_eq!(all(4, 8, "x1.01", None), [4, 5, 6, 7, 8]);
    }

    #[test]
    fn the_sizes_beside_the_limit_are_there_where_they_are_in_the_interval() {
        assert_eq!(all(10, 50, "20", Some(35)), [10, 30, 35, 36, 50]);
        assert_eq!(all(10, 50, "20", Some(9)), [10, 30, 50]);
        assert_eq!(all(10, 50, "20", Some(50)), [10, 30, 50]);
        assert_eq!(all(10, 50, "20", Some(u64::MAX)), [10, 30, 50]);
    }

    #[test]
    fn an_increment_is_passed_on_as_it_is() {
        for text in ["1", "1048576", "x2", "x1.5"] {
            assert_eq!(text.parse::<Increment>().unwrap().to_string(), text);
        }
        for text in ["0", "x1", "x0.5", "xinf", "xNaN", "x", "", "-1", "1 KiB"] {
            assert!(text.parse::<Increment>().is_err(), "{text}");
        }
    }

    #[test]
    fn too_many_sizes_are_not_all_counted() {
        let sizes = Sizes { largest: 1 << 30, increment: Some(Increment::Add(1)), ..Sizes::default() };
        assert_eq!(sizes.count(1000), 1001);
    }
}
