//! All-to-all in rounds of an order that follows the nodes of the ranks.

use std::fmt;

use crate::ids::RankId;
use crate::pattern::shuffle::Arrivals;
use crate::pattern::{After, Block, Message, Needs, OrderChoice, Pattern};
use crate::workload::Lockstep;

/// Function from a rank and a round, from 1, to the receiver of the rank's message; `None` for an empty turn.
pub(super) type Partner = Box<dyn Fn(u32, u32) -> Option<u32> + Send + Sync>;

/// All-to-all in rounds: every rank sends each other rank its block directly, at most one message a round.
///
/// The message with index i of a rank is that of its i-th round with a receiver. Its step is the number of that
/// round, so that rounds with empty turns stay together under a barrier.
///
/// Memory: 4 bytes for each empty turn.
pub(super) struct Ordered {
    ranks: u32,
    rounds: u32,
    size: u64,
    partner: Partner,
    /// Steps of each rank without a message, ascending.
    empty: Vec<Box<[u32]>>,
    arrivals: Arrivals,
    choice: OrderChoice,
}

impl Ordered {
    /// Creates the pattern of these rounds with blocks of `size` bytes \[B\].
    pub fn new(ranks: u32, rounds: u32, size: u64, partner: Partner, choice: OrderChoice) -> Self {
        // The last rounds may be empty turns of all ranks.
        let has_message = |round: &u32| (0..ranks).any(|rank| partner(rank, *round).is_some());
        let rounds = (1..=rounds).rev().find(has_message).unwrap_or(0);
        let empty_of = |rank| (0..rounds).filter(|&step| partner(rank, step + 1).is_none()).collect();
        let empty = match rounds + 1 {
            // Without empty turns each round has a message.
            count if count == ranks => vec![Box::default(); ranks as usize],
            _ => (0..ranks).map(empty_of).collect(),
        };
        Self { ranks, rounds, size, partner, empty, arrivals: Arrivals::default(), choice }
    }

    /// Returns the step of the message with this index.
    #[inline]
    fn step(&self, rank: u32, index: u32) -> u32 {
        let empty = &self.empty[rank as usize];
        // Step e_j is before the message if e_j - j of the messages are before the step.
        let (mut low, mut high) = (0, empty.len());
        while low < high {
            let middle = (low + high) / 2;
            if empty[middle] - middle as u32 <= index { low = middle + 1 } else { high = middle }
        }
        index + low as u32
    }

    #[inline]
    fn receiver(&self, rank: u32, step: u32) -> u32 {
        (self.partner)(rank, step + 1).unwrap_or(u32::MAX)
    }
}

impl fmt::Debug for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ordered").field("ranks", &self.ranks).field("order", &self.choice).finish_non_exhaustive()
    }
}

impl Pattern for Ordered {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.ranks - 1
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn message(&self, rank: RankId, index: u32) -> Message {
        let step = self.step(rank.0, index);
        Message::new(self.receiver(rank.0, step), self.size, step, After::Nothing)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        if step >= self.rounds {
            return 0;
        }
        self.arrivals.count(rank.0, step, self.ranks, |src| self.receiver(src, step))
    }

    fn steps(&self) -> u32 {
        self.rounds
    }

    fn lockstep(&self) -> Option<Lockstep<'_>> {
        if self.empty.iter().any(|empty| !empty.is_empty()) {
            return None;
        }
        let destinations = |step, destinations: &mut Vec<RankId>| {
            destinations.extend((0..self.ranks).map(|rank| RankId(self.receiver(rank, step))));
        };
        let (ranks, steps, destinations) = (self.ranks, self.rounds, Box::new(destinations));
        Some(Lockstep { ranks, steps, bytes: self.size, alike: 1, destinations, passed_on: None })
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        vec![Block { origin: rank, part: self.message(rank, index).dst.0 }]
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }

    fn order(&self) -> Option<&OrderChoice> {
        Some(&self.choice)
    }
}
