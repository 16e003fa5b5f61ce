//! Blocks of memory that begin and end between two recorded calls.
//!
//! A block that comes and goes between two calls does not matter, since no call could be given it. Noted are
//! the end of blocks that existed at the previous call, and the begin of those that exist at the next one.

use rustc_hash::FxHashMap;

use super::Place;

/// Beginnings or ends of one block, or of neighbouring ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Call that made or ended the block.
    pub place: Place,
    /// Lowest address.
    pub low: u64,
    /// One past the highest address.
    pub high: u64,
    /// Position of the earliest access after it.
    pub first: u64,
    /// Position of the latest access after it.
    pub last: u64,
}

/// Blocks since the last recorded call.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Blocks that began and still exist, by address.
    fresh: FxHashMap<u64, Block>,
    /// Further blocks that began, beyond the limit of `fresh`.
    begun: Vec<Block>,
    ended: Vec<Block>,
}

/// Largest number of blocks that began and are kept apart.
const MOST_FRESH: usize = 1 << 16;

/// Largest number of notes in an interval for blocks that began, and for blocks that ended. Beyond it
/// neighbours are merged.
const MOST_NOTES: usize = 1000;

impl Blocks {
    /// Adds a block that begins.
    pub(super) fn begin(&mut self, block: Block) {
        if self.fresh.len() >= MOST_FRESH {
            self.settle();
        }
        self.fresh.insert(block.low, block);
    }

    /// Adds a block that ends.
    pub(super) fn end(&mut self, block: Block) {
        // Only part of a mapping may end.
        if self.fresh.get(&block.low).is_some_and(|fresh| fresh.high <= block.high) {
            self.fresh.remove(&block.low);
            return;
        }
        self.ended.push(block);
        if self.ended.len() > 2 * MOST_NOTES {
            merge(&mut self.ended);
        }
    }

    /// Returns the blocks to be noted before a call, each with its position, by address.
    pub(super) fn take(&mut self) -> Vec<(Block, u64)> {
        self.settle();
        merge(&mut self.ended);
        // No access may lie in a block before it exists, or after its end. Several merged blocks begin with
        // the last of them and end with the first; counting the latest end too forbids accesses in between.
        let begun = self.begun.drain(..).map(|block| (block, block.last));
        let mut notes: Vec<_> = begun.collect();
        for block in self.ended.drain(..) {
            notes.push((block, block.first));
            if block.last != block.first {
                notes.push((block, block.last));
            }
        }
        notes
    }

    fn settle(&mut self) {
        // Taken as a whole: clearing a table costs as much as its largest size so far.
        self.begun.extend(std::mem::take(&mut self.fresh).into_values());
        merge(&mut self.begun);
    }
}

/// Sorts blocks by address, and merges neighbours if there are more than [`MOST_NOTES`], the nearest first.
fn merge(blocks: &mut Vec<Block>) {
    blocks.sort_unstable_by_key(|block| (block.low, block.first));
    let mut gap = 64_u64;
    while blocks.len() > MOST_NOTES {
        blocks.dedup_by(|next, block| {
            let near = next.low <= block.high.saturating_add(gap);
            if near {
                block.high = block.high.max(next.high);
                block.first = block.first.min(next.first);
                block.last = block.last.max(next.last);
            }
            near
        });
        gap = gap.saturating_mul(8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(low: u64, size: u64, position: u64) -> Block {
        let place = Place { address: 1, name: "malloc" };
        Block { place, low, high: low + size, first: position, last: position }
    }

    #[test]
    fn a_block_that_comes_and_goes_between_two_calls_is_not_noted() {
        let mut blocks = Blocks::default();
        blocks.begin(block(100, 10, 1));
        blocks.begin(block(200, 10, 2));
        blocks.end(block(100, 10, 3));
        blocks.end(block(300, 10, 4));
        assert_eq!(blocks.take(), [(block(200, 10, 2), 2), (block(300, 10, 4), 4)]);
        // After the call it is an old block.
        blocks.end(block(200, 10, 0));
        assert_eq!(blocks.take(), [(block(200, 10, 0), 0)]);
        assert_eq!(blocks.take(), []);
    }

    #[test]
    fn many_blocks_become_few_that_hold_them_all() {
        let mut blocks = Blocks::default();
        let count = 200_000;
        for i in 0..count {
            blocks.begin(block((1 << 40) + 64 * i, 48, i));
            blocks.end(block((1 << 30) + 64 * i, 48, i));
        }
        // One block elsewhere stays separate.
        blocks.end(block(1 << 50, 8, 7));
        let notes = blocks.take();
        assert!(notes.len() <= 3 * MOST_NOTES, "{}", notes.len());
        let whole = |low: u64| (low, low + 64 * (count - 1) + 48);
        let covers = |low: u64, high: u64, position: u64| {
            notes.iter().any(|(block, at)| block.low <= low && high <= block.high && *at == position)
        };
        let (low, high) = whole(1 << 40);
        assert!(covers(low, high, count - 1), "begins with the last");
        let (low, high) = whole(1 << 30);
        assert!(covers(low, high, 0) && covers(low, high, count - 1), "ends with the first and with the last");
        assert!(notes.contains(&(block(1 << 50, 8, 7), 7)));
    }
}
