//! The set of links that wait for attention, smallest level first.
//!
//! A solve typically has 15 of them and changes most of their keys between two looks at the smallest, so a heap would
//! do more work than it saves: keys are kept in a flat array in the order in which links joined, and the smallest is
//! found by a scan. When more than [`FLAT`] have joined (the start of a run, large tori), minima of blocks of [`BLOCK`]
//! keys, and of blocks of those, are kept as well and repaired where a key has changed since the last look.
//!
//! The scan of the flat array finds value and place in one pass without a jump: the last six bits of a copy of each key
//! are replaced by its place. So keys that are closer than 64 units in the last place (1.4e-14) come in order of
//! place, which is as good, since levels that close are taken for equal anyway.

/// Keys per block, and blocks per superblock.
const BLOCK: usize = 32;

/// Number of keys up to which there are no blocks.
const FLAT: usize = 64;

/// The bits of a packed key that hold its place.
const PLACE: u64 = FLAT as u64 - 1;

/// Keys that are compared in one step of the scan.
const LANES: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Pending {
    len: usize,
    flat: Flat,
    /// Beyond [`FLAT`] keys.
    blocks: Option<Box<Blocks>>,
    /// The blocks of an earlier solve, to be used again.
    spare: Option<Box<Blocks>>,
}

/// Up to [`FLAT`] keys.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Flat {
    /// The same keys with their place in the last bits; where there is no key, [`EMPTY`].
    packed: [f64; FLAT],
    keys: [f64; FLAT],
}

/// Larger than any packed key of a link that needs attention.
const EMPTY: f64 = f64::MAX;

impl Default for Pending {
    fn default() -> Self {
        Self { len: 0, flat: Flat { packed: [EMPTY; FLAT], keys: [0.0; FLAT] }, blocks: None, spare: None }
    }
}

impl Flat {
    #[inline(always)]
    fn set(&mut self, place: usize, key: f64) {
        // (Without the last bits an infinite key would not be a number with them.)
        let finite = if key < EMPTY { key } else { EMPTY };
        self.keys[place % FLAT] = key;
        self.packed[place % FLAT] = f64::from_bits(finite.to_bits() & !PLACE | place as u64 & PLACE);
    }

    /// The place of the smallest of the first `len` keys.
    #[inline(always)]
    fn smallest(&self, len: usize) -> usize {
        let mut least = [EMPTY; LANES];
        for keys in self.packed[..len.next_multiple_of(LANES).min(FLAT)].chunks_exact(LANES) {
            for (least, &key) in least.iter_mut().zip(keys) {
                *least = if key < *least { key } else { *least };
            }
        }
        let less = |a: f64, b: f64| if a < b { a } else { b };
        let four =
            [less(least[0], least[4]), less(least[1], least[5]), less(least[2], least[6]), less(least[3], least[7])];
        let two = [less(four[0], four[2]), less(four[1], four[3])];
        (less(two[0], two[1]).to_bits() & PLACE) as usize
    }
}

impl Pending {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.flat.packed[..self.len.next_multiple_of(LANES).min(FLAT)].fill(EMPTY);
        self.len = 0;
        if let Some(mut blocks) = self.blocks.take() {
            blocks.clear();
            self.spare = Some(blocks);
        }
    }

    /// Adds a key and returns its place.
    #[inline(always)]
    pub(super) fn push(&mut self, key: f64) -> u32 {
        let place = self.len;
        self.len += 1;
        if place < FLAT {
            self.flat.set(place, key);
        } else {
            self.push_to_blocks(key);
        }
        place as u32
    }

    /// Adds a key that is [set](Pending::set) before the smallest is asked for, and returns its place.
    #[inline(always)]
    pub(super) fn join(&mut self) -> u32 {
        let place = self.len;
        if place < FLAT {
            self.len += 1;
            place as u32
        } else {
            self.push(f64::INFINITY)
        }
    }

    #[cold]
    fn push_to_blocks(&mut self, key: f64) {
        let blocks = self.blocks.get_or_insert_with(|| {
            let mut blocks = self.spare.take().unwrap_or_default();
            self.flat.keys.iter().for_each(|&key| blocks.push(key));
            blocks
        });
        blocks.push(key);
    }

    #[inline(always)]
    pub(super) fn set(&mut self, place: u32, key: f64) {
        match &mut self.blocks {
            None => self.flat.set(place as usize, key),
            Some(blocks) => blocks.set(place as usize, key),
        }
    }

    /// The place and key of the smallest key, or `None` when all are infinite.
    #[inline(always)]
    pub(super) fn smallest(&mut self) -> Option<(u32, f64)> {
        let (place, key) = match &mut self.blocks {
            None => {
                let place = self.flat.smallest(self.len);
                (place, if place < self.len { self.flat.keys[place % FLAT] } else { f64::INFINITY })
            }
            Some(blocks) => blocks.smallest(),
        };
        (key < f64::INFINITY).then_some((place as u32, key))
    }
}

/// Any number of keys.
#[derive(Clone, Debug, Default)]
struct Blocks {
    keys: Vec<f64>,
    minima: Vec<f64>,
    stale: Vec<u32>,
    is_stale: Vec<bool>,
    super_minima: Vec<f64>,
    super_stale: Vec<u32>,
    is_super_stale: Vec<bool>,
}

impl Blocks {
    fn clear(&mut self) {
        self.keys.clear();
        self.minima.clear();
        self.stale.clear();
        self.is_stale.clear();
        self.super_minima.clear();
        self.super_stale.clear();
        self.is_super_stale.clear();
    }

    fn push(&mut self, key: f64) {
        let place = self.keys.len();
        self.keys.push(key);
        if place / BLOCK >= self.minima.len() {
            self.minima.push(f64::INFINITY);
            self.is_stale.push(false);
            if place / (BLOCK * BLOCK) >= self.super_minima.len() {
                self.super_minima.push(f64::INFINITY);
                self.is_super_stale.push(false);
            }
        }
        self.mark(place);
    }

    #[inline]
    fn mark(&mut self, place: usize) {
        let block = place / BLOCK;
        if !std::mem::replace(&mut self.is_stale[block], true) {
            self.stale.push(block as u32);
        }
    }

    #[inline]
    fn set(&mut self, place: usize, key: f64) {
        if key != self.keys[place] {
            self.keys[place] = key;
            self.mark(place);
        }
    }

    fn smallest(&mut self) -> (usize, f64) {
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
        let place = range.start + smallest_of(&self.keys[range]);
        (place, self.keys[place])
    }
}

/// The smallest of these keys.
#[inline]
fn minimum(keys: &[f64]) -> f64 {
    // Independent minima, so that the processor need not wait for one comparison to start the next.
    let mut least = [f64::INFINITY; 4];
    let chunks = keys.chunks_exact(4);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (least, &key) in least.iter_mut().zip(chunk) {
            *least = if key < *least { key } else { *least };
        }
    }
    rest.iter().chain(&least).copied().fold(f64::INFINITY, f64::min)
}

/// The place of the smallest key, the first of equals; 0 where there is none.
#[inline]
fn smallest_of(keys: &[f64]) -> usize {
    let smallest = minimum(keys);
    keys.iter().position(|&key| key == smallest).unwrap_or(0)
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
