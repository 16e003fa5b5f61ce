//! Layouts: division of a range of bytes into the blocks that algorithms move.

use std::ops::Range;
use std::sync::Arc;

/// Sizes of the ranks' blocks as prefix sums, so that the size of any range of blocks is one subtraction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// Start of each block, and the end of the last \[B\].
    starts: Vec<u64>,
}

impl Blocks {
    /// Creates the sums from the size of each block \[B\].
    pub fn new(counts: &[u64]) -> Self {
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut sum = 0u64;
        starts.push(0);
        for &count in counts {
            sum = sum.saturating_add(count);
            starts.push(sum);
        }
        Self { starts }
    }

    /// Total size \[B\].
    pub fn total(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// Returns true if these are the sizes.
    pub fn are(&self, counts: &[u64]) -> bool {
        self.starts.len() == counts.len() + 1
            && self.starts.windows(2).zip(counts).all(|(pair, &count)| pair[1] - pair[0] == count)
    }

    /// Returns true if all blocks have the same size.
    pub fn are_equal(&self) -> bool {
        let mut sizes = self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        let first = sizes.next();
        sizes.all(|size| Some(size) == first)
    }
}

/// Consecutive blocks.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// `blocks` blocks of `bytes` each.
    Equal { bytes: u64, blocks: u32 },
    /// `blocks` blocks of `piece` bytes each of a vector of `total` bytes; the last ones are shorter, or
    /// empty.
    Pieces { total: u64, piece: u64, blocks: u32 },
    /// `blocks` blocks of a vector of `total` bytes; the first ones are longer by an element if the division
    /// leaves a rest.
    Even { total: u64, blocks: u32, element: u64 },
    /// A block for each rank.
    Ranks(Arc<Blocks>),
}

impl Layout {
    /// Creates a layout of a vector as one block.
    pub fn whole(total: u64) -> Self {
        Self::Equal { bytes: total, blocks: 1 }
    }

    /// Divides a vector into segments of `segment` bytes, rounded down to elements; at least one segment,
    /// perhaps empty.
    pub fn segments(total: u64, segment: Option<u64>, element: u64) -> Self {
        let piece = segment.map_or(total, |bytes| (bytes / element * element).max(element)).max(1);
        // If the segments are too many to count, they are made larger.
        let blocks = u32::try_from(total.div_ceil(piece)).unwrap_or(u32::MAX).max(1);
        Self::Pieces { total, piece: piece.max(total.div_ceil(u64::from(blocks))), blocks }
    }

    /// Divides a vector into `blocks` blocks of the same size, rounded up to elements; the last ones are
    /// shorter.
    pub fn spread(total: u64, blocks: u32, element: u64) -> Self {
        let elements = total.div_ceil(element).div_ceil(u64::from(blocks));
        Self::Pieces { total, piece: elements * element, blocks }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        match self {
            Self::Equal { blocks, .. } | Self::Pieces { blocks, .. } | Self::Even { blocks, .. } => *blocks,
            Self::Ranks(counts) => (counts.starts.len() - 1) as u32,
        }
    }

    /// Total size \[B\].
    pub fn total(&self) -> u128 {
        match self {
            Self::Equal { bytes, blocks } => u128::from(*bytes) * u128::from(*blocks),
            _ => u128::from(self.start(self.blocks())),
        }
    }

    /// Sizes of the smallest and the largest block \[B\].
    pub fn sizes(&self) -> (u64, u64) {
        let sizes = (0..self.blocks()).map(|block| self.bytes(block, 1));
        sizes.fold((u64::MAX, 0), |(least, most), bytes| (least.min(bytes), most.max(bytes)))
    }

    /// Start of block `index` \[B\]; for the number of blocks, the end of the last.
    pub fn start(&self, index: u32) -> u64 {
        match self {
            Self::Equal { bytes, .. } => bytes.saturating_mul(u64::from(index)),
            Self::Pieces { total, piece, .. } => piece.saturating_mul(u64::from(index)).min(*total),
            Self::Even { total, blocks, element } => {
                let (elements, index) = (total / element, u64::from(index));
                let (each, more) = (elements / u64::from(*blocks), elements % u64::from(*blocks));
                // The rest of a vector that is not a whole number of elements belongs to the last block.
                if index == u64::from(*blocks) { *total } else { (each * index + more.min(index)) * element }
            }
            Self::Ranks(counts) => counts.starts[index as usize],
        }
    }

    /// Returns the bytes of `count` blocks from `first` on, continuing with block 0 after the last.
    pub fn ranges(&self, first: u32, count: u32) -> [Range<u64>; 2] {
        let blocks = self.blocks();
        let end = first + count;
        if end <= blocks {
            [self.start(first)..self.start(end), 0..0]
        } else {
            [self.start(first)..self.start(blocks), 0..self.start(end - blocks)]
        }
    }

    /// Size of `count` blocks from `first` on \[B\].
    pub fn bytes(&self, first: u32, count: u32) -> u64 {
        self.ranges(first, count).iter().map(|range| range.end - range.start).sum()
    }
}

/// Returns the smallest k with `2^k >= n`; 0 for n = 0.
pub(super) fn ceil_log2(n: u32) -> u32 {
    n.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
}
