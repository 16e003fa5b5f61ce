//! Named, seeded, portable random numbers.
//!
//! All random numbers of a run come from the scenario's seed and the *name* of their purpose (`"placement"`,
//! `"jitter"`), so that one more number drawn for one purpose does not change those of another. There are two
//! forms:
//!
//! * [`Stream`]: numbers in sequence (ChaCha8), for shuffles and draws made once;
//! * [`Mix`]: a number for a tuple of keys (SplitMix64 finaliser), for values generated lazily in any order, such as
//!   the destination of rank r's k-th message.
//!
//! Both are defined here to the last bit, so a new version of a library cannot change a result.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Sequence of random numbers, named by its purpose.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Creates the stream of this seed for this purpose.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes()).update(purpose.as_bytes());
        Self(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform integer in `0..bound`, without bias (Lemire's method).
    ///
    /// # Panics
    /// Panics if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no integer is below 0");
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            if low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a uniform number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Puts the items in a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// Returns the seed of one of several jobs, numbered from 0. The first job draws the same as alone; each
/// other job draws differently.
pub fn seed_of_job(seed: u64, job: usize) -> u64 {
    if job == 0 { seed } else { Mix::new(seed, "job").one(job as u64) }
}

/// Random number for each tuple of keys, always the same for the same keys.
#[derive(Clone, Copy, Debug)]
pub struct Mix(u64);

impl Mix {
    /// Creates the function of this seed for this purpose.
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self(Stream::new(seed, purpose).bits())
    }

    /// Returns 64 bits for one key.
    #[inline]
    pub fn one(self, key: u64) -> u64 {
        splitmix(self.0 ^ splitmix(key))
    }

    /// Returns 64 bits for a pair of keys.
    #[inline]
    pub fn two(self, a: u64, b: u64) -> u64 {
        second(self.one(a), b)
    }

    /// Returns the numbers of [`Mix::two_below`] for this first key and 1, 2, 3 ... one after another.
    #[inline]
    pub fn draws(self, a: u64) -> Draws {
        Draws { first: self.one(a), drawn: 0 }
    }

    /// Returns a uniform integer in `0..bound` for a pair of keys; the bias is below `bound / 2^64`.
    #[inline]
    pub fn two_below(self, a: u64, b: u64, bound: u64) -> u64 {
        below(self.two(a, b), bound)
    }

    /// Returns a uniform number in `[0, 1)` for a pair of keys.
    #[inline]
    pub fn two_unit(self, a: u64, b: u64) -> f64 {
        unit(self.two(a, b))
    }

    /// Returns a uniform number in `[0, 1)` for one key.
    #[inline]
    pub fn one_unit(self, key: u64) -> f64 {
        unit(self.one(key))
    }
}

/// Numbers drawn one after another for one key ([`Mix::draws`]).
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    first: u64,
    drawn: u64,
}

impl Draws {
    /// Draws a uniform integer in `0..bound`; the bias is below `bound / 2^64`.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        below(second(self.first, self.drawn), bound)
    }
}

#[inline]
fn second(first: u64, b: u64) -> u64 {
    splitmix(first ^ splitmix(b.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

#[inline]
fn below(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

#[inline]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Applies the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#[inline]
fn splitmix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_on_every_machine() {
        let mut stream = Stream::new(1, "placement");
        let first: Vec<u64> = (0..4).map(|_| stream.below(1000)).collect();
        assert_eq!(first, [673, 562, 726, 420]);
    }

    #[test]
    fn draws_are_the_numbers_of_pairs() {
        let (mix, mut draws) = (Mix::new(7, "paths"), Mix::new(7, "paths").draws(12));
        assert!((1..50).all(|b| draws.below(1000 + b) == mix.two_below(12, b, 1000 + b)));
    }

    #[test]
    fn purposes_do_not_share_numbers() {
        assert_ne!(Stream::new(1, "placement").bits(), Stream::new(1, "jitter").bits());
        assert_ne!(Stream::new(1, "placement").bits(), Stream::new(2, "placement").bits());
        assert_ne!(Mix::new(1, "a").two(0, 1), Mix::new(1, "a").two(1, 0));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..1000).collect();
        Stream::new(7, "test").shuffle(&mut items);
        assert_ne!(items[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        items.sort_unstable();
        assert!(items.into_iter().eq(0..1000));
    }
}
