//! Gathers of blocks at a root, and scatters from it.

use super::data::{Data, ReceivedUse};
use super::layout::{Layout, ceil_log2};
use super::rounds::{Action, Rounds, by_action};
use super::tree::{Shape, Tree};

/// Direction of the blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// To the root.
    Gather,
    /// From the root.
    Scatter,
}

/// Gather or scatter along a binomial tree: a rank's message holds the blocks of all ranks below it.
///
/// log2 P rounds at the root; a block is part of up to log2 P messages.
#[derive(Clone, Debug)]
pub(super) struct Subtrees {
    pub direction: Direction,
    /// Binomial tree.
    pub tree: Tree,
    pub layout: Layout,
    /// True if blocks are numbered from the root on (those of a broadcast vector) instead of by rank.
    pub from_root: bool,
}

impl Subtrees {
    /// Creates a phase on a binomial tree.
    pub fn new(direction: Direction, ranks: u32, root: u32, layout: Layout) -> Self {
        Self { direction, tree: Tree::new(Shape::Binomial, ranks, root), layout, from_root: false }
    }

    /// Returns the blocks of a rank and all ranks below it.
    fn data(&self, rank: u32) -> Data {
        let Tree { ranks, root, .. } = self.tree;
        let place = if rank >= root { rank - root } else { rank + (ranks - root) };
        let reach = if place == 0 { ranks } else { 1 << place.trailing_zeros() };
        Data::Blocks { first: if self.from_root { place } else { rank }, count: reach.min(ranks - place) }
    }

    /// Returns true if a message is left out: a short vector has no piece for the last ranks.
    fn is_empty(&self, data: Data) -> bool {
        match data {
            Data::Blocks { first, count } if self.from_root => self.layout.bytes(first, count) == 0,
            _ => false,
        }
    }
}

impl Rounds for Subtrees {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let (children, parent) = (self.tree.children(rank), self.tree.parent(rank));
        let index = u32::try_from(index).ok()?;
        // The parent comes last in a gather and first in a scatter.
        let position = match (self.direction, parent) {
            (Direction::Gather, Some(to)) if index == children => {
                return Some(Action::Send { to, data: self.data(rank) });
            }
            (Direction::Scatter, Some(from)) if index == 0 => {
                let data = self.data(rank);
                let empty = self.is_empty(data);
                return Some(if empty {
                    Action::Nothing
                } else {
                    Action::Receive { from, data, then: ReceivedUse::Keep }
                });
            }
            (Direction::Scatter, Some(_)) => index - 1,
            _ => index,
        };
        if position >= children {
            return None;
        }
        Some(match self.direction {
            Direction::Gather => {
                let from = self.tree.child(rank, position);
                Action::Receive { from, data: self.data(from), then: ReceivedUse::Keep }
            }
            Direction::Scatter => {
                let to = self.tree.child(rank, children - 1 - position);
                let data = self.data(to);
                if self.is_empty(data) { Action::Nothing } else { Action::Send { to, data } }
            }
        })
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.tree.ranks
    }

    /// Returns log2 P, or 0 for a vector of one piece, which the root keeps.
    fn rounds(&self) -> u64 {
        let one_piece = self.from_root && u128::from(self.layout.start(1)) == self.layout.total();
        if one_piece { 0 } else { u64::from(ceil_log2(self.tree.ranks)) }
    }

    /// Returns the round of an action: k for a message over 2^k places in a gather, and k from the last in a
    /// scatter.
    fn round(&self, rank: u32, index: u64) -> u64 {
        let (children, parent) = (u64::from(self.tree.children(rank)), self.tree.parent(rank));
        let last = u64::from(ceil_log2(self.tree.ranks)) - 1;
        let level = self.tree.level(rank);
        match self.direction {
            Direction::Gather if index == children => level,
            Direction::Gather => index,
            Direction::Scatter if parent.is_none() => last + 1 + index - children,
            Direction::Scatter if index == 0 => last - level,
            Direction::Scatter => last + index - children,
        }
    }
}

/// Posting of messages at the root of a linear algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RootPosting {
    /// One after the other.
    Blocking,
    /// All at once.
    Started,
    /// One after the other, each after the root has said that it is ready.
    Synchronised,
}

/// Linear gather or scatter: each block in its own message between its rank and the root; empty blocks are
/// not sent.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub direction: Direction,
    pub posting: RootPosting,
    pub ranks: u32,
    pub root: u32,
    pub layout: Layout,
}

impl Rounds for Linear {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        if self.layout.bytes(rank, 1) == 0 && rank != self.root {
            return None;
        }
        match rank == self.root {
            false => self.other(rank, index),
            true => self.at_root(index),
        }
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u64 {
        let sending = |rank: &u32| *rank != self.root && self.layout.bytes(*rank, 1) > 0;
        let turns = match self.equal_blocks() {
            Some(0) => 0,
            Some(_) => u64::from(self.ranks) - 1,
            None => (0..self.ranks).filter(sending).map(|rank| self.position_without_root(rank) + 1).max().unwrap_or(0),
        };
        match (self.direction, self.posting) {
            (Direction::Gather, RootPosting::Synchronised) => 2 * turns,
            (Direction::Gather, _) | (Direction::Scatter, RootPosting::Started) => turns.min(1),
            (Direction::Scatter, _) => turns,
        }
    }

    fn round(&self, rank: u32, index: u64) -> u64 {
        let at_root = rank == self.root;
        match (self.direction, self.posting) {
            (Direction::Gather, RootPosting::Synchronised) if at_root => {
                2 * self.position_without_root((index / 2) as u32) + index % 2
            }
            (Direction::Gather, RootPosting::Synchronised) => 2 * self.position_without_root(rank) + index,
            (Direction::Gather, _) | (Direction::Scatter, RootPosting::Started) => 0,
            (Direction::Scatter, _) => self.position_without_root(if at_root { index as u32 } else { rank }),
        }
    }

    fn sends(&self, rank: u32) -> u64 {
        match (self.equal_blocks(), self.direction, self.posting) {
            (None, ..) => by_action::sends(self, rank),
            (Some(0), ..) => 0,
            (_, Direction::Gather, _) if rank != self.root => 1,
            (_, Direction::Gather, RootPosting::Blocking | RootPosting::Started) => 0,
            (_, Direction::Scatter, _) if rank != self.root => 0,
            _ => u64::from(self.ranks) - 1,
        }
    }

    fn send(&self, rank: u32, number: u64) -> u64 {
        let synchronised = self.direction == Direction::Gather && self.posting == RootPosting::Synchronised;
        match (self.equal_blocks(), rank == self.root) {
            (None, _) => by_action::send(self, rank, number),
            (_, false) => number + u64::from(synchronised),
            (_, true) => {
                let peer = number + u64::from(number >= u64::from(self.root));
                peer * (1 + u64::from(synchronised))
            }
        }
    }

    fn receives(&self, rank: u32, round: u64) -> u64 {
        let others = u64::from(self.ranks) - 1;
        match (self.equal_blocks(), self.direction, self.posting) {
            (None, ..) => by_action::receives(self, rank, round),
            (Some(0), ..) => 0,
            (_, Direction::Gather, RootPosting::Synchronised) if rank == self.root => {
                u64::from(round < 2 * others && !round.is_multiple_of(2))
            }
            (_, Direction::Gather, RootPosting::Synchronised) => {
                u64::from(round == 2 * self.position_without_root(rank))
            }
            (_, Direction::Gather, _) => u64::from(rank == self.root && round == 0) * others,
            (_, Direction::Scatter, RootPosting::Started) => u64::from(rank != self.root && round == 0),
            (_, Direction::Scatter, _) => u64::from(rank != self.root && round == self.position_without_root(rank)),
        }
    }

    fn total(&self) -> u128 {
        self.layout.total() - u128::from(self.layout.bytes(self.root, 1))
    }

    fn waits(&self) -> bool {
        self.direction == Direction::Gather && self.posting == RootPosting::Synchronised
    }

    fn starts(&self) -> bool {
        self.direction == Direction::Scatter && self.posting == RootPosting::Started
    }

    fn most_to_one(&self) -> u32 {
        match (self.direction, self.posting) {
            (Direction::Gather, RootPosting::Blocking | RootPosting::Started) => self.ranks - 1,
            _ => 0,
        }
    }
}

impl Linear {
    /// Position of a rank among the ranks without the root.
    fn position_without_root(&self, rank: u32) -> u64 {
        u64::from(rank) - u64::from(rank > self.root)
    }

    /// Size of a block, if all have the same \[B\].
    fn equal_blocks(&self) -> Option<u64> {
        match self.layout {
            Layout::Equal { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    fn other(&self, rank: u32, index: u64) -> Option<Action> {
        let (data, peer) = (Data::block(rank), self.root);
        match (self.direction, self.posting, index) {
            (Direction::Scatter, _, 0) => Some(Action::Receive { from: peer, data, then: ReceivedUse::Keep }),
            (Direction::Gather, RootPosting::Synchronised, 0) => {
                Some(Action::Receive { from: peer, data: Data::Token, then: ReceivedUse::Keep })
            }
            (Direction::Gather, RootPosting::Synchronised, 1) | (Direction::Gather, _, 0) => {
                Some(Action::Send { to: peer, data })
            }
            _ => None,
        }
    }

    fn at_root(&self, index: u64) -> Option<Action> {
        let each = if self.posting == RootPosting::Synchronised && self.direction == Direction::Gather { 2 } else { 1 };
        let peer = u32::try_from(index / each).unwrap_or(u32::MAX);
        if peer >= self.ranks {
            return (self.posting == RootPosting::Started && peer == self.ranks).then_some(Action::WaitAll);
        }
        let data = Data::block(peer);
        if peer == self.root || self.layout.bytes(peer, 1) == 0 {
            return Some(Action::Nothing);
        }
        Some(match (self.direction, self.posting) {
            (Direction::Gather, RootPosting::Started) => Action::StartReceive { from: peer, data },
            (Direction::Gather, RootPosting::Synchronised) if index.is_multiple_of(2) => {
                Action::Send { to: peer, data: Data::Token }
            }
            (Direction::Gather, _) => Action::Receive { from: peer, data, then: ReceivedUse::Keep },
            (Direction::Scatter, RootPosting::Started) => Action::StartSend { to: peer, data },
            (Direction::Scatter, _) => Action::Send { to: peer, data },
        })
    }
}
