//! All-to-all with several messages for each pair of ranks.

use crate::base::choice::choice;
use crate::base::divisor::Divisor;
use crate::ids::RankId;
use crate::pattern::{Block, Message, Needs, OrderChoice, Pattern};
use crate::workload::Lockstep;

choice! {
    /// Order in which a rank sends the several messages of each pair.
    pub enum MessageOrder {
        /// All messages for one rank, then all for the next.
        InARow = "in-a-row",
        /// One message for every rank, then the whole all-to-all again.
        Rounds = "rounds",
    }
}

/// An all-to-all with k messages for each pair of ranks instead of one.
///
/// `once` is the all-to-all that sends each block directly to its rank, with N - 1 messages a rank. The
/// message with index (and step) i is the message of `once` with index
///
/// * in a row: `i div k`; it is the `i mod k`-th of its pair;
/// * in rounds: `i mod (N - 1)`; it is the `i div (N - 1)`-th of its pair.
///
/// `k (N - 1)` steps, `k N (N - 1)` messages. The j-th message of a pair carries the block (origin, dst + j
/// N).
///
/// Source: MFS, section 3.3: messages have a size and a number, a small number of large and a large number of
/// small messages. The order of the messages of a pair is left open there.
#[derive(Debug)]
pub(super) struct Several<P> {
    once: P,
    messages: Divisor,
    /// Number of messages of a rank in `once`, at least 1.
    each: Divisor,
    order: MessageOrder,
}

impl<P: Pattern> Several<P> {
    /// Creates the pattern with `messages` for each pair. Returns `None` if `once` does not send directly to
    /// destinations in lockstep, or if the messages are too many to count.
    pub fn new(once: P, messages: u32, order: MessageOrder) -> Option<Self> {
        once.lockstep()?;
        // Parts of blocks are counted as well: there are N k.
        once.ranks().checked_mul(messages)?;
        let each = Divisor::new(once.steps().max(1));
        Some(Self { once, messages: Divisor::new(messages), each, order })
    }

    /// Returns the index of the message in `once`, and its number within its pair.
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

    fn order(&self) -> Option<&OrderChoice> {
        self.once.order()
    }

    fn bytes(&self) -> u128 {
        self.once.bytes() * u128::from(self.messages.value())
    }
}
