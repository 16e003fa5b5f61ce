//! Random orders and random destinations, without storing them.

use std::sync::{Mutex, PoisonError};

use super::arith::ceil_log2;
use crate::rng::Mix;

/// A pseudo-random permutation of `0..n` for each key, evaluated one element at a time.
///
/// A Feistel network permutes the numbers of `ceil(log2 n)` bits: it replaces each of their two halves in
/// turn by its sum (xor) with a hash of the other half. If the result is not below n the network is applied
/// again (cycle walking), fewer than two times on average unless n <= 32. Source: Black, Rogaway, "Ciphers
/// with arbitrary finite domains", 2002.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    mix: Mix,
    n: u32,
    low_bits: u32,
    low_mask: u32,
    high_mask: u32,
}

/// Number of rounds. Four rounds make a Feistel network a strong pseudo-random permutation (Luby, Rackoff,
/// 1988); small domains have few bits a round, so there are a few more.
const ROUNDS: u64 = 6;

/// Smallest number of bits: with fewer, some orders of a few elements would be noticeably more likely than
/// others.
const FEWEST_BITS: u32 = 6;

impl Shuffle {
    /// Creates the permutations of `0..n`.
    pub fn new(seed: u64, purpose: &str, n: u32) -> Self {
        let bits = ceil_log2(n).max(FEWEST_BITS);
        let low_bits = bits / 2;
        let mask = |bits: u32| ((1u64 << bits) - 1) as u32;
        Self { mix: Mix::new(seed, purpose), n, low_bits, low_mask: mask(low_bits), high_mask: mask(bits - low_bits) }
    }

    /// Returns the image of `element` (below n) under the permutation of this key.
    #[inline]
    pub fn at(&self, key: u32, element: u32) -> u32 {
        let key = self.mix.one(u64::from(key));
        let mut x = element;
        loop {
            let (mut low, mut high) = (x & self.low_mask, x >> self.low_bits);
            for round in 0..ROUNDS {
                if round % 2 == 0 {
                    high ^= self.hash(key, round, low) & self.high_mask;
                } else {
                    low ^= self.hash(key, round, high) & self.low_mask;
                }
            }
            x = (high << self.low_bits) | low;
            if x < self.n {
                return x;
            }
        }
    }

    #[inline]
    fn hash(&self, key: u64, round: u64, half: u32) -> u32 {
        (self.mix.one(key ^ (round << 32 | u64::from(half))) >> 32) as u32
    }
}

/// Number of messages to each rank in a step of a random pattern.
///
/// The messages of a step are counted for all ranks when the step is first asked for, by evaluating each
/// rank's destination. Some steps are kept, since ranks are near each other in the program.
///
/// Memory: `KEPT * N` counts. Cost: N destinations a step.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    kept: [Mutex<Option<Counted>>; KEPT],
}

/// Number of steps that are kept at a time.
const KEPT: usize = 16;

#[derive(Debug)]
struct Counted {
    step: u32,
    counts: Vec<u32>,
}

impl Arrivals {
    /// Number of messages for `rank` in `step`, where rank r of `ranks` sends one to `destination(r)`.
    pub fn count(&self, rank: u32, step: u32, ranks: u32, destination: impl Fn(u32) -> u32) -> u32 {
        let mut slot = self.kept[step as usize % KEPT].lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_none_or(|counted| counted.step != step) {
            let mut counts = vec![0; ranks as usize];
            for src in 0..ranks {
                if let Some(count) = counts.get_mut(destination(src) as usize) {
                    *count += 1;
                }
            }
            *slot = Some(Counted { step, counts });
        }
        slot.as_ref().map_or(0, |counted| counted.counts[rank as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_is_a_permutation_for_every_length() {
        for n in (1..70).chain([127, 128, 129, 3455]) {
            let shuffle = Shuffle::new(1, "test", n);
            for key in 0..3 {
                let mut seen: Vec<u32> = (0..n).map(|x| shuffle.at(key, x)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..n), "{n}");
            }
        }
    }

    /// Returns the sum of `(count - expected)^2 / expected`: about the number of counts if all are equally
    /// likely.
    fn chi2(counts: &[u32], expected: f64) -> f64 {
        counts.iter().map(|&c| (f64::from(c) - expected) * (f64::from(c) - expected) / expected).sum()
    }

    #[test]
    fn every_order_of_a_few_elements_is_as_likely() {
        for (n, orders, limit) in [(2u32, 2, 15.1), (3, 6, 25.7), (4, 24, 56.0)] {
            let shuffle = Shuffle::new(3, "test", n);
            let mut counts = vec![0; 4usize.pow(n)];
            for key in 0..1000 * orders {
                counts[(0..n).fold(0, |code, x| code * 4 + shuffle.at(key, x) as usize)] += 1;
            }
            counts.retain(|count| *count > 0);
            assert_eq!(counts.len(), orders as usize, "{n}");
            let chi2 = chi2(&counts, 1000.0);
            assert!(chi2 < limit, "{n}: {chi2} would happen once in 10,000 times");
        }
    }

    #[test]
    fn an_element_is_as_likely_to_come_anywhere() {
        for (n, limit) in [(5u32, 23.5), (7, 27.9), (17, 44.3), (53, 97.5), (100, 160.1)] {
            let shuffle = Shuffle::new(2, "test", n);
            for element in [0, n / 2, n - 1] {
                let mut counts = vec![0; n as usize];
                for key in 0..n * 400 {
                    counts[shuffle.at(key, element) as usize] += 1;
                }
                let chi2 = chi2(&counts, 400.0);
                assert!(chi2 < limit, "{element} of {n}: {chi2} would happen once in 10,000 times");
            }
        }
    }

    #[test]
    fn arrivals_are_counted_by_step() {
        let arrivals = Arrivals::default();
        for step in [0, 1, 16, 0, 17, 1] {
            for rank in 0..10 {
                let to = |src: u32| (src * step) % 10;
                let expected = (0..10).filter(|&src| to(src) == rank).count() as u32;
                assert_eq!(arrivals.count(rank, step, 10, to), expected);
            }
        }
    }
}
