//! Random destinations: each depends only on the sender and the index of the message.

use super::shuffle::Arrivals;
use super::{After, Message, Needs, Pattern};
use crate::ids::RankId;

/// A rule that draws destinations.
pub(super) trait Draw: Send + Sync + std::fmt::Debug {
    /// Returns the destination of the message with this index of `src`, among at least two ranks; always the
    /// same one.
    fn destination(&self, src: u32, index: u32) -> u32;
}

/// Random traffic: every rank sends `messages` messages of one size, each to a drawn destination.
///
/// Each message of a rank is a step; `N * messages` messages of m bytes. A single rank sends nothing.
#[derive(Debug)]
pub(super) struct Drawn<D> {
    ranks: u32,
    size: u64,
    messages: u32,
    draw: D,
    arrivals: Arrivals,
}

impl<D: Draw> Drawn<D> {
    /// Creates the pattern with `messages` messages of `size` bytes from each rank.
    pub fn new(ranks: u32, size: u64, messages: u32, draw: D) -> Self {
        Self { ranks, size, messages, draw, arrivals: Arrivals::default() }
    }
}

impl<D: Draw> Pattern for Drawn<D> {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.steps()
    }

    #[inline]
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn message(&self, rank: RankId, index: u32) -> Message {
        Message::new(self.draw.destination(rank.0, index), self.size, index, After::Nothing)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        if step >= self.steps() {
            return 0;
        }
        self.arrivals.count(rank.0, step, self.ranks, |src| self.draw.destination(src, step))
    }

    fn steps(&self) -> u32 {
        if self.ranks > 1 { self.messages } else { 0 }
    }

    fn is_steady(&self) -> bool {
        true
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.steps())
    }
}
