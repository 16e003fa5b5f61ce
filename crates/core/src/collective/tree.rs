//! Trees of ranks: the rank that each rank receives from, and those that it passes data on to.
//!
//! Ranks are numbered from the root ([`Tree::rank_at`]): place 0 is the root, place v is the rank v further on.

use super::layout::ceil_log2;

/// Shape of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// All ranks are children of the root.
    Flat,
    /// Several chains start at the root, with lengths as equal as possible.
    Chains(u32),
    /// A heap: place v has children 2v + 1 and 2v + 2.
    Binary,
    /// Place v has children v + 2^k for all 2^k below its lowest set bit: log2 P levels.
    Binomial,
    /// A binomial tree in base k: place v has children v + d k^i below its lowest digit that is not 0.
    Knomial(u32),
    /// A search tree: the left subtree of a place has the places before it, the right subtree those after it,
    /// so that contributions can be combined in order. Its root is the middle rank.
    InOrder,
}

/// A tree on the ranks of a communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tree {
    pub shape: Shape,
    pub ranks: u32,
    pub root: u32,
}

impl Tree {
    /// Creates a tree; an in-order tree is rooted at the middle rank, whatever the root.
    pub fn new(shape: Shape, ranks: u32, root: u32) -> Self {
        let shape = match shape {
            Shape::Chains(chains) => Shape::Chains(chains.max(1)),
            Shape::Knomial(radix) => Shape::Knomial(radix.max(2)),
            other => other,
        };
        let root = if shape == Shape::InOrder { ranks / 2 } else { root };
        Self { shape, ranks, root }
    }

    /// Returns the place of a rank.
    fn place(&self, rank: u32) -> u32 {
        match self.shape {
            Shape::InOrder => rank,
            _ if rank >= self.root => rank - self.root,
            _ => rank + (self.ranks - self.root),
        }
    }

    /// Returns the rank at a place.
    pub fn rank_at(&self, place: u32) -> u32 {
        match self.shape {
            Shape::InOrder => place,
            _ => ((u64::from(place) + u64::from(self.root)) % u64::from(self.ranks)) as u32,
        }
    }

    /// Returns the parent of a rank; `None` for the root.
    pub fn parent(&self, rank: u32) -> Option<u32> {
        let place = self.place(rank);
        if rank == self.root {
            return None;
        }
        Some(self.rank_at(match self.shape {
            Shape::Flat => 0,
            Shape::Chains(chains) => match Chain::of(place, self.ranks, chains) {
                Chain { position: 0, .. } => 0,
                _ => place - 1,
            },
            Shape::Binary => (place - 1) / 2,
            Shape::Binomial => place & (place - 1),
            Shape::Knomial(radix) => {
                let unit = lowest_unit(place, radix);
                place - place / unit % radix * unit
            }
            Shape::InOrder => self.search(place).parent?,
        }))
    }

    /// Number of children of a rank.
    pub fn children(&self, rank: u32) -> u32 {
        let (place, ranks) = (self.place(rank), self.ranks);
        match self.shape {
            Shape::Flat => {
                if place == 0 {
                    ranks - 1
                } else {
                    0
                }
            }
            Shape::Chains(chains) => match place {
                0 => chains.min(ranks - 1),
                _ => u32::from(!Chain::of(place, ranks, chains).last),
            },
            Shape::Binary => {
                let first = 2 * u64::from(place) + 1;
                u64::from(ranks).saturating_sub(first).min(2) as u32
            }
            Shape::Binomial => {
                // Distances 2^k below the lowest set bit of the place that stay among the ranks.
                let most = if place == 0 { 32 } else { place.trailing_zeros() };
                let room = ranks - 1 - place;
                most.min(if room == 0 { 0 } else { room.ilog2() + 1 })
            }
            Shape::Knomial(radix) => {
                let mut count = 0;
                self.knomial(place, radix, |_| count += 1);
                count
            }
            Shape::InOrder => {
                let found = self.search(place);
                u32::from(found.low < place) + u32::from(place + 1 < found.high)
            }
        }
    }

    /// Returns the child at this position: from the nearest place to the farthest, which has the largest
    /// subtree.
    pub fn child(&self, rank: u32, position: u32) -> u32 {
        let (place, ranks) = (self.place(rank), self.ranks);
        self.rank_at(match self.shape {
            Shape::Flat => 1 + position,
            Shape::Chains(chains) => match place {
                0 => Chain::head(position, ranks, chains),
                _ => place + 1,
            },
            Shape::Binary => 2 * place + 1 + position,
            Shape::Binomial => place + (1 << position),
            Shape::Knomial(radix) => {
                let (mut count, mut found) = (0, place);
                self.knomial(place, radix, |child| {
                    if count == position {
                        found = child;
                    }
                    count += 1;
                });
                found
            }
            Shape::InOrder => {
                let Subtree { low, high, .. } = self.search(place);
                if position == 0 && low < place { middle(low, place) } else { middle(place + 1, high) }
            }
        })
    }

    /// Returns the number, from 0, of the message from its parent that a rank gets. The parent sends to its
    /// children in the order of [`Tree::child_position`].
    pub fn message_number(&self, rank: u32) -> u32 {
        let place = self.place(rank);
        let Some(parent) = self.parent(rank) else { return 0 };
        match self.shape {
            Shape::Flat => place - 1,
            Shape::Chains(chains) => match Chain::of(place, self.ranks, chains) {
                Chain { position: 0, chain, .. } => chain,
                _ => 0,
            },
            Shape::Binary => (place - 1) % 2,
            Shape::Binomial => self.children(parent) - 1 - place.trailing_zeros(),
            Shape::Knomial(radix) => self.children(parent) - 1 - knomial_position(place, radix),
            Shape::InOrder => {
                let before = self.search(parent);
                u32::from(place > parent && before.low < parent)
            }
        }
    }

    /// Returns the position ([`Tree::child`]) of the child that is sent to as the `part`-th: the farthest
    /// first; the nearest first if all are equally far.
    pub fn child_position(&self, children: u32, part: u32) -> u32 {
        match self.shape {
            Shape::Binomial | Shape::Knomial(_) => children - 1 - part,
            _ => part,
        }
    }

    /// Returns the chain of a rank and the number of ranks before it there, in a tree of chains.
    pub fn in_chain(&self, rank: u32) -> Option<(u64, u64)> {
        match self.shape {
            Shape::Chains(chains) if rank != self.root => {
                Some(Chain::coordinates(self.place(rank), self.ranks, chains))
            }
            _ => None,
        }
    }

    /// Number of ranks in a chain, with `chains` chains.
    pub fn chain_length(&self, chain: u32, chains: u32) -> u64 {
        let others = self.ranks - 1;
        u64::from(others / chains + u32::from(chain < others % chains))
    }

    /// Number of messages between a rank and the root.
    pub fn depth(&self, rank: u32) -> u32 {
        let place = self.place(rank);
        match self.shape {
            _ if rank == self.root => 0,
            Shape::Flat => 1,
            Shape::Chains(chains) => Chain::of(place, self.ranks, chains).position + 1,
            Shape::Binary => (place + 1).ilog2(),
            Shape::Binomial => place.count_ones(),
            Shape::Knomial(radix) => {
                let digits = std::iter::successors(Some(place), |rest| (*rest >= radix).then(|| rest / radix));
                digits.filter(|rest| !rest.is_multiple_of(radix)).count() as u32
            }
            Shape::InOrder => self.search(place).depth,
        }
    }

    /// Largest depth of any rank; for trees with levels, the number of levels.
    pub fn height(&self) -> u32 {
        let ranks = self.ranks;
        match self.shape {
            _ if ranks == 1 => 0,
            Shape::Flat => 1,
            Shape::Chains(chains) => (ranks - 1).div_ceil(chains),
            Shape::Binary | Shape::InOrder => ranks.ilog2(),
            Shape::Binomial => ceil_log2(ranks),
            Shape::Knomial(radix) => (ranks - 1).ilog(radix) + 1,
        }
    }

    /// Returns true if the lowest non-zero digit of a rank's place gives the distance of the message that it
    /// gets.
    pub fn has_levels(&self) -> bool {
        matches!(self.shape, Shape::Binomial | Shape::Knomial(_))
    }

    /// Position of the lowest non-zero digit of a rank's place, in a binomial or k-nomial tree.
    pub fn level(&self, rank: u32) -> u64 {
        let place = self.place(rank);
        u64::from(match self.shape {
            _ if place == 0 => self.height(),
            Shape::Knomial(radix) => lowest_unit(place, radix).ilog(radix),
            _ => place.trailing_zeros(),
        })
    }

    /// Returns the position of a rank's message among the messages from a parent to one level, sent one after
    /// the other with larger digits first. Also returns the largest number of these messages.
    pub fn within_level(&self, rank: u32) -> (u64, u64) {
        match self.shape {
            Shape::Knomial(radix) => {
                let place = self.place(rank);
                let digit = place / lowest_unit(place, radix) % radix;
                (u64::from(radix - 1 - digit), u64::from(radix - 1))
            }
            _ => (0, 1),
        }
    }

    /// Largest number of children of any rank.
    pub fn most_children(&self) -> u32 {
        let others = self.ranks - 1;
        match self.shape {
            Shape::Flat => others,
            Shape::Chains(chains) => chains.min(others),
            Shape::Binary | Shape::InOrder => others.min(2),
            Shape::Binomial => self.height(),
            Shape::Knomial(radix) => others.min(self.height().saturating_mul(radix - 1)),
        }
    }

    /// Returns a rank and all ranks below it.
    pub fn below(&self, rank: u32) -> Vec<u32> {
        let mut all = vec![rank];
        let mut next = 0;
        while let Some(&rank) = all.get(next) {
            all.extend((0..self.children(rank)).map(|position| self.child(rank, position)));
            next += 1;
        }
        all.sort_unstable();
        all
    }

    /// Calls `each` for each child of a place, nearest first.
    fn knomial(&self, place: u32, radix: u32, mut each: impl FnMut(u32)) {
        let end = if place == 0 { u64::from(self.ranks) } else { u64::from(lowest_unit(place, radix)) };
        let mut unit = 1u64;
        while unit < end {
            for digit in 1..u64::from(radix) {
                let child = u64::from(place) + digit * unit;
                if child >= u64::from(self.ranks) {
                    return;
                }
                each(child as u32);
            }
            unit *= u64::from(radix);
        }
    }

    /// Returns the subtree of a place in the search tree.
    fn search(&self, place: u32) -> Subtree {
        let (mut low, mut high, mut parent, mut depth) = (0, self.ranks, None, 0);
        loop {
            let here = middle(low, high);
            match place.cmp(&here) {
                std::cmp::Ordering::Equal => return Subtree { low, high, parent, depth },
                std::cmp::Ordering::Less => high = here,
                std::cmp::Ordering::Greater => low = here + 1,
            }
            parent = Some(here);
            depth += 1;
        }
    }
}

/// A subtree of a search tree: its places, and the place above it.
struct Subtree {
    low: u32,
    high: u32,
    parent: Option<u32>,
    depth: u32,
}

/// Returns the root of a search tree on these places.
fn middle(low: u32, high: u32) -> u32 {
    low + (high - low) / 2
}

/// Returns the place value of the lowest digit that is not 0; `place` is not 0.
fn lowest_unit(place: u32, radix: u32) -> u32 {
    let mut unit = 1;
    while (place / unit).is_multiple_of(radix) {
        unit *= radix;
    }
    unit
}

/// Returns the position of a place among the children of its parent, in base `radix`.
fn knomial_position(place: u32, radix: u32) -> u32 {
    let unit = lowest_unit(place, radix);
    unit.ilog(radix) * (radix - 1) + place / unit % radix - 1
}

/// Position of a place in its chain.
struct Chain {
    /// Number of the chain.
    chain: u32,
    position: u32,
    last: bool,
}

impl Chain {
    /// Divides places 1 to P - 1 into chains, the first of which are longer by one if the division leaves a
    /// rest.
    fn of(place: u32, ranks: u32, chains: u32) -> Self {
        let (short, longer) = ((ranks - 1) / chains, (ranks - 1) % chains);
        let index = place - 1;
        let in_longer = longer * (short + 1);
        let (chain, position, length) = if index < in_longer {
            (index / (short + 1), index % (short + 1), short + 1)
        } else {
            (longer + (index - in_longer) / short, (index - in_longer) % short, short)
        };
        Self { chain, position, last: position + 1 == length }
    }

    /// Returns the chain of a place, and the number of places of the chain before it.
    fn coordinates(place: u32, ranks: u32, chains: u32) -> (u64, u64) {
        let Self { chain, position, .. } = Self::of(place, ranks, chains);
        (u64::from(chain), u64::from(position))
    }

    /// Returns the first place of a chain.
    fn head(chain: u32, ranks: u32, chains: u32) -> u32 {
        let (short, longer) = ((ranks - 1) / chains, (ranks - 1) % chains);
        1 + chain * short + chain.min(longer)
    }
}
