//! The set of links that wait for attention, smallest level first.
//!
//! A solve typically has 15 of them and changes most of their keys between two looks at the smallest, so a heap would
//! do more work than it saves: keys are kept in a flat array in the order in which links joined, and the smallest is
//! found by a scan. When hundreds have joined (the start of a run, large tori), minima of blocks of [`BLOCK`] keys,
//! and of blocks of those, are kept as well and repaired where a key has changed since the last look.

/// Keys per block, and blocks per superblock.
const BLOCK: usize = 32;

/// Number of keys from which block minima pay.
const FLAT: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    keys: Vec<f64>,
    /// Whether block minima are kept (decided once a solve).
    blocked: bool,
    minima: Vec<f64>,
    stale: Vec<u32>,
    is_stale: Vec<bool>,
    super_minima: Vec<f64>,
    super_stale: Vec<u32>,
    is_super_stale: Vec<bool>,
}

impl Pending {
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        if self.blocked {
            self.blocked = false;
            self.minima.clear();
            self.stale.clear();
            self.is_stale.clear();
            self.super_minima.clear();
            self.super_stale.clear();
            self.is_super_stale.clear();
        }
    }

    /// Adds a key and returns its place.
    pub(super) fn push(&mut self, key: f64) -> u32 {
        let place = self.keys.len();
        self.keys.push(key);
        if self.blocked {
            self.cover(place);
            self.mark(place);
        } else if place == FLAT {
            self.blocked = true;
            for place in 0..=FLAT {
                self.cover(place);
                self.mark(place);
            }
        }
        place as u32
    }

    /// Makes sure that the blocks of this place exist.
    fn cover(&mut self, place: usize) {
        if place / BLOCK >= self.minima.len() {
            self.minima.push(f64::INFINITY);
            self.is_stale.push(false);
            if place / (BLOCK * BLOCK) >= self.super_minima.len() {
                self.super_minima.push(f64::INFINITY);
                self.is_super_stale.push(false);
            }
        }
    }

    #[inline]
    fn mark(&mut self, place: usize) {
        let block = place / BLOCK;
        if !std::mem::replace(&mut self.is_stale[block], true) {
            self.stale.push(block as u32);
        }
    }

    #[inline]
    pub(super) fn set(&mut self, place: u32, key: f64) {
        let place = place as usize;
        if self.blocked {
            if key == self.keys[place] {
                return;
            }
            self.mark(place);
        }
        self.keys[place] = key;
    }

    /// The place and key of the smallest key (the earliest of equals), or `None` when all are infinite.
    #[inline]
    pub(super) fn smallest(&mut self) -> Option<(u32, f64)> {
        let place = if self.blocked { self.smallest_of_blocks() } else { smallest_of(&self.keys) };
        let key = *self.keys.get(place)?;
        (key < f64::INFINITY).then_some((place as u32, key))
    }

    fn smallest_of_blocks(&mut self) -> usize {
        let part = |items: &[f64], block: usize| {
            let start = block * BLOCK;
            start..items.len().min(start + BLOCK)
        };
        for block in self.stale.drain(..) {
            let block = block as usize;
            self.is_stale[block] = false;
            self.minima[block] = minimum(&self.keys[part(&self.keys, block)]);
            if !std::mem::replace(&mut self.is_super_stale[block / BLOCK], true) {
                self.super_stale.push((block / BLOCK) as u32);
            }
        }
        for block in self.super_stale.drain(..) {
            let block = block as usize;
            self.is_super_stale[block] = false;
            self.super_minima[block] = minimum(&self.minima[part(&self.minima, block)]);
        }
        let top = smallest_of(&self.super_minima);
        let range = part(&self.minima, top);
        let block = range.start + smallest_of(&self.minima[range]);
        let range = part(&self.keys, block);
        range.start + smallest_of(&self.keys[range])
    }
}

/// The smallest of these keys.
#[inline]
fn minimum(keys: &[f64]) -> f64 {
    // Four independent minima, so that the processor need not wait for one comparison to start the next.
    let mut four = [f64::INFINITY; 4];
    let chunks = keys.chunks_exact(4);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (best, &key) in four.iter_mut().zip(chunk) {
            *best = if key < *best { key } else { *best };
        }
    }
    for (best, &key) in four.iter_mut().zip(rest) {
        *best = if key < *best { key } else { *best };
    }
    let half = [four[0].min(four[1]), four[2].min(four[3])];
    half[0].min(half[1])
}

/// The place of the smallest key, the first of equals; 0 where there is none.
#[inline]
fn smallest_of(keys: &[f64]) -> usize {
    let smallest = minimum(keys);
    // Four at a time: one jump that is hard to predict instead of several.
    for (i, chunk) in keys.chunks(4).enumerate() {
        let bit = |at: usize| u32::from(chunk.get(at).is_some_and(|&key| key == smallest)) << at;
        let found = bit(0) | bit(1) | bit(2) | bit(3);
        if found != 0 {
            return i * 4 + found.trailing_zeros() as usize;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_smallest_key_is_found_at_every_size() {
        for size in [1, 2, 63, 64, 65, 66, 1000, 5000] {
            let mut random = Stream::new(size, "pending");
            let mut pending = Pending::default();
            let mut plain: Vec<f64> = Vec::new();
            for _ in 0..4 * size {
                if plain.len() < size as usize && random.below(2) == 0 {
                    let key = random.below(1000) as f64;
                    assert_eq!(pending.push(key) as usize, plain.len());
                    plain.push(key);
                } else if !plain.is_empty() {
                    let place = random.below(plain.len() as u64) as usize;
                    let key = if random.below(3) == 0 { f64::INFINITY } else { random.below(1000) as f64 };
                    pending.set(place as u32, key);
                    plain[place] = key;
                }
                let expected = plain.iter().copied().fold(f64::INFINITY, f64::min);
                let first = plain.iter().position(|&key| key == expected).filter(|_| expected < f64::INFINITY);
                assert_eq!(pending.smallest(), first.map(|place| (place as u32, expected)));
            }
            pending.clear();
            assert_eq!(pending.smallest(), None);
        }
    }
}
