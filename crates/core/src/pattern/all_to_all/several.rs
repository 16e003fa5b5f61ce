//! All-to-all with several messages for each pair of ranks.

use crate::base::choice::choice;
use crate::base::divisor::Divisor;
use crate::ids::RankId;
use crate::pattern::{Block, Message, Needs, Pattern};
use crate::workload::Lockstep;

choice! {
    /// In which order a rank sends the messages that it has for the same rank.
    pub enum MessageOrder {
        /// All for one rank, then all for the next.
        InARow = "in-a-row",
        /// One for every rank, then the whole all-to-all again.
        Rounds = "rounds",
    }
}

/// An all-to-all whose ranks have k messages for each other instead of one.
///
/// With `once` the all-to-all that sends each block straight to its rank, N - 1 messages a rank: the message with index
/// (and step) i is the one that `once` has with index
///
/// * in a row: `i div k`; it is the `i mod k`-th of its pair;
/// * in rounds: `i mod (N - 1)`; it is the `i div (N - 1)`-th of its pair.
///
/// `k (N - 1)` steps, `k N (N - 1)` messages. The j-th message of a pair carries the block (origin, dst + j N). Source:
/// MFS, section 3.3: messages have a size and a number, for little of large and much of small messages. In which order
/// the messages of a pair go is left open there.
#[derive(Debug)]
pub(super) struct Several<P> {
    once: P,
    messages: Divisor,
    /// Messages of a rank in `once`, where there are any.
    each: Divisor,
    order: MessageOrder,
}

impl<P: Pattern> Several<P> {
    /// `messages` for each pair; nothing where one of `once` is not straight to its destination, or they are too many
    /// to count.
    pub fn new(once: P, messages: u32, order: MessageOrder) -> Option<Self> {
        once.lockstep()?;
        // Parts of blocks are counted too: N k of them.
        once.ranks().checked_mul(messages)?;
        let each = Divisor::new(once.steps().max(1));
        Some(Self { once, messages: Divisor::new(messages), each, order })
    }

    /// Which message of `once` it is, and which of its pair.
    #[inline]
    fn place(&self, index: u32) -> (u32, u32) {
        match self.order {
            MessageOrder::InARow => self.messages.divide(index),
            MessageOrder::Rounds => {
                let (round, once) = self.each.divide(index);
                (once, round)
            }
        }
    }
}

impl<P: Pattern> Pattern for Several<P> {
    fn ranks(&self) -> u32 {
        self.once.ranks()
    }

    fn sends(&self, rank: RankId) -> u32 {
        self.once.sends(rank) * self.messages.value()
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        Message { step: index, ..self.once.message(rank, self.place(index).0) }
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        if step < self.steps() { self.once.receives(rank, self.place(step).0) } else { 0 }
    }

    fn steps(&self) -> u32 {
        self.once.steps() * self.messages.value()
    }

    fn needs(&self) -> Needs {
        self.once.needs()
    }

    fn lockstep(&self) -> Option<Lockstep<'_>> {
        let once = self.once.lockstep()?;
        let of_once = once.destinations;
        let destinations = move |step, destinations: &mut Vec<RankId>| of_once(self.place(step).0, destinations);
        let alike = match self.order {
            MessageOrder::InARow => self.messages.value(),
            MessageOrder::Rounds => 1,
        };
        Some(Lockstep { steps: self.steps(), alike, destinations: Box::new(destinations), ..once })
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let (once, nth) = self.place(index);
        let mut blocks = self.once.carries(rank, once);
        for block in &mut blocks {
            block.part += nth * self.once.ranks();
        }
        blocks
    }

    fn bytes(&self) -> u128 {
        self.once.bytes() * u128::from(self.messages.value())
    }
}
