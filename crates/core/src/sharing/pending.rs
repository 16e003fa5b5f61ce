//! Set of links that wait for attention, smallest level first.
//!
//! A solve typically has 15 of them and changes most of their keys between two looks at the smallest, so a
//! heap would do more work than it saves. Keys are kept in a flat array in the order in which links joined,
//! and a scan finds the smallest. When more than [`LONG`] have joined (the start of a run), the set also keeps
//! minima of blocks of [`BLOCK`] keys, of blocks of those and so on. It repairs them where a key has changed
//! since the last look.
//!
//! Up to [`FLAT`] keys, the scan of the flat array finds value and place in one pass without a branch:
//! the last six bits of a copy of each key are replaced by its place. So keys that are closer than 64
//! units in the last place (1.4e-14) come in order of place. That does no harm, since levels that close
//! count as equal anyway.

/// Number of keys, or minima, in a block.
const BLOCK: usize = 32;

/// Number of keys up to which they are packed with their places.
const FLAT: usize = 64;

/// Number of keys up to which there are no blocks: most are in blocks that change between two looks.
const LONG: usize = 256;

/// Bits of a packed key that hold its place.
const PLACE: u64 = FLAT as u64 - 1;

/// Number of keys that are compared in one step of the scan.
const LANES: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Pending {
    len: usize,
    flat: Flat,
    /// All keys, if there are more than [`LONG`].
    blocks: Option<Box<Blocks>>,
    /// Blocks of an earlier solve, to be used again.
    spare: Option<Box<Blocks>>,
}

/// Up to [`LONG`] keys.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Flat {
    /// The keys with their place in the last bits; [`EMPTY`] at places without a key.
    packed: [f64; FLAT],
    /// The keys; from [`FLAT`] on infinite at places without a key.
    keys: [f64; LONG],
}

/// Number larger than any packed key of a link that needs attention.
const EMPTY: f64 = f64::MAX;

impl Default for Pending {
    fn default() -> Self {
        Self { len: 0, flat: Flat { packed: [EMPTY; FLAT], keys: [f64::INFINITY; LONG] }, blocks: None, spare: None }
    }
}

impl Flat {
    #[inline(always)]
    fn set(&mut self, place: usize, key: f64) {
        // (An infinite key with a place in its last bits would be NaN.)
        let finite = if key < EMPTY { key } else { EMPTY };
        self.keys[place % LONG] = key;
        self.packed[place % FLAT] = f64::from_bits(finite.to_bits() & !PLACE | place as u64 & PLACE);
    }

    /// Returns the place of the smallest of the first `len` keys and the key itself; `None` if all are
    /// infinite.
    #[inline(always)]
    fn smallest(&self, len: usize) -> Option<(usize, f64)> {
        let less = |a: f64, b: f64| if a < b { a } else { b };
        // (Mostly there are no more keys than these.)
        let (first, rest) = self.packed.split_first_chunk::<LANES>()?;
        let mut least = *first;
        if len > LANES {
            for keys in rest[..(len.min(FLAT) - 1) / LANES * LANES].chunks_exact(LANES) {
                for (least, &key) in least.iter_mut().zip(keys) {
                    *least = less(key, *least);
                }
            }
        }
        let four =
            [less(least[0], least[4]), less(least[1], least[5]), less(least[2], least[6]), less(least[3], least[7])];
        let two = [less(four[0], four[2]), less(four[1], four[3])];
        let smallest = less(two[0], two[1]);
        let place = (smallest.to_bits() & PLACE) as usize;
        // (An infinite key is packed as the largest number, with its place.)
        (smallest < f64::from_bits(EMPTY.to_bits() & !PLACE)).then(|| (place, self.keys[place]))
    }

    /// Returns the place of the smallest of the first `len` keys, more than [`FLAT`], and the key itself; the
    /// first of equal ones.
    fn smallest_of_many(&self, len: usize) -> (usize, f64) {
        let (chunks, _) = self.keys[..len.next_multiple_of(LANES)].as_chunks::<LANES>();
        let mut least = [f64::INFINITY; LANES];
        for keys in chunks {
            for (least, &key) in least.iter_mut().zip(keys) {
                *least = if key < *least { key } else { *least };
            }
        }
        let smallest = least.into_iter().fold(f64::INFINITY, f64::min);
        let has_it = |keys: &[f64; LANES]| keys.iter().fold(false, |has_it, &key| has_it | (key == smallest));
        let chunk = chunks.iter().position(has_it).unwrap_or(0);
        let first = (0..LANES).rev().fold(0, |first, lane| if chunks[chunk][lane] == smallest { lane } else { first });
        (chunk * LANES + first, smallest)
    }
}

impl Pending {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.flat.packed[..self.len.next_multiple_of(LANES).min(FLAT)].fill(EMPTY);
        if self.len > FLAT {
            self.flat.keys[FLAT..self.len.min(LONG)].fill(f64::INFINITY);
        }
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
        if place < LONG {
            self.flat.set(place, key);
        } else {
            self.push_to_blocks(key);
        }
        place as u32
    }

    /// Adds a key that the caller [sets](Pending::set) before the smallest is asked for, and returns its
    /// place.
    #[inline(always)]
    pub(super) fn join(&mut self) -> u32 {
        let place = self.len;
        if place < LONG {
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

    /// Returns the place and key of the smallest key; `None` if all are infinite.
    #[inline(always)]
    pub(super) fn smallest(&mut self) -> Option<(u32, f64)> {
        let smallest = match &mut self.blocks {
            None if self.len <= FLAT => self.flat.smallest(self.len),
            None => Some(self.flat.smallest_of_many(self.len)),
            Some(blocks) => Some(blocks.smallest()),
        };
        smallest.filter(|&(_, key)| key < f64::INFINITY).map(|(place, key)| (place as u32, key))
    }
}

/// Any number of keys.
#[derive(Clone, Debug, Default)]
struct Blocks {
    keys: Vec<f64>,
    /// Minima of blocks of keys, then of blocks of the previous level, until no more than [`TOP`] are left.
    levels: Vec<Level>,
    /// Empty levels, to be used again.
    spare: Vec<Level>,
}

/// Number of minima up to which all are looked at: one block and a few.
const TOP: usize = 2 * BLOCK;

/// Minima of the blocks of the level below.
#[derive(Clone, Debug, Default)]
struct Level {
    minima: Vec<f64>,
    /// Blocks that have changed since the last look, each once.
    stale: Vec<u32>,
    is_stale: Vec<bool>,
}

impl Level {
    #[inline]
    fn mark(&mut self, block: usize) {
        if !std::mem::replace(&mut self.is_stale[block], true) {
            self.stale.push(block as u32);
        }
    }

    fn push(&mut self) {
        self.minima.push(f64::INFINITY);
        self.is_stale.push(false);
    }
}

/// Returns the items of a block.
#[inline]
fn block_of(items: &[f64], block: usize) -> &[f64] {
    let start = block * BLOCK;
    &items[start..items.len().min(start + BLOCK)]
}

impl Blocks {
    fn clear(&mut self) {
        self.keys.clear();
        for mut level in self.levels.drain(..) {
            level.minima.clear();
            level.stale.clear();
            level.is_stale.clear();
            self.spare.push(level);
        }
    }

    fn push(&mut self, key: f64) {
        let place = self.keys.len();
        self.keys.push(key);
        if place == 0 {
            self.levels.push(self.spare.pop().unwrap_or_default());
        }
        // The first key of a block starts a new minimum above, and so on.
        let mut index = place;
        for level in &mut self.levels {
            if !index.is_multiple_of(BLOCK) {
                break;
            }
            index /= BLOCK;
            if index == level.minima.len() {
                level.push();
            }
        }
        if let Some(top) = self.levels.last()
            && top.minima.len() > TOP
        {
            let mut above = self.spare.pop().unwrap_or_default();
            for block in 0..top.minima.len().div_ceil(BLOCK) {
                above.push();
                above.mark(block);
            }
            self.levels.push(above);
        }
        self.levels[0].mark(place / BLOCK);
    }

    #[inline]
    fn set(&mut self, place: usize, key: f64) {
        if key != self.keys[place] {
            self.keys[place] = key;
            self.levels[0].mark(place / BLOCK);
        }
    }

    fn smallest(&mut self) -> (usize, f64) {
        let Self { keys, levels, .. } = self;
        for index in 0..levels.len() {
            let (below, rest) = levels.split_at_mut(index);
            let items = below.last().map_or(&keys[..], |below| &below.minima[..]);
            let Some((Level { minima, stale, is_stale }, above)) = rest.split_first_mut() else { break };
            let mut above = above.first_mut();
            for block in stale.drain(..) {
                let block = block as usize;
                is_stale[block] = false;
                minima[block] = minimum(block_of(items, block));
                if let Some(above) = &mut above {
                    above.mark(block / BLOCK);
                }
            }
        }
        let mut place = self.levels.last().map_or(0, |top| smallest_of(&top.minima));
        let below = self.levels.iter().rev().skip(1).map(|level| &level.minima).chain([&self.keys]);
        for items in below {
            place = place * BLOCK + smallest_of(block_of(items, place));
        }
        (place, self.keys[place])
    }
}

/// Returns the smallest of these keys.
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

/// Returns the place of the smallest key, the first of equal ones; 0 if there is none.
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
    fn the_smallest_of_very_many_keys_is_found_while_they_change() {
        let count = TOP * BLOCK * BLOCK + 777;
        let mut random = Stream::new(7, "pending");
        let mut pending = Pending::default();
        for _ in 0..2 {
            let mut queue = std::collections::BTreeSet::new();
            let mut plain: Vec<u64> = (0..count).map(|_| random.below(1_000_000)).collect();
            for (place, &key) in plain.iter().enumerate() {
                assert_eq!(pending.push(key as f64) as usize, place);
                queue.insert((key, place));
            }
            for _ in 0..2_000 {
                let &(key, place) = queue.first().unwrap();
                assert_eq!(pending.smallest(), Some((place as u32, key as f64)), "the first of equals");
                for place in [place, random.below(count as u64) as usize] {
                    queue.remove(&(plain[place], place));
                    plain[place] += random.below(1000);
                    queue.insert((plain[place], place));
                    pending.set(place as u32, plain[place] as f64);
                }
            }
            pending.clear();
            assert_eq!(pending.smallest(), None);
        }
    }

    #[test]
    fn the_smallest_key_is_found_at_every_size() {
        for size in [1, 2, 63, 64, 65, 66, 255, 256, 257, 1000, 2048, 2049, 5000] {
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
