//! Ring: every rank sends to the next, and passes on what it receives.

use super::arith::{add_mod, sub_mod};
use super::options::{finish, once, show_rounds, table};
use super::rule::{BuildContext, BuildResult, Rule};
use super::{After, Block, Message, Pattern};
use crate::base::divisor::Divisor;
use crate::diagnostic::Located;
use crate::ids::RankId;
use crate::units::Bytes;
use crate::workload::Lockstep;

table! {
    /// `[workload.ring]`: every rank sends to the next, once in each round.
    pub struct RingSpec {
        /// Size of the message of each rank in a round.
        pub size: Located<Bytes>,
        /// Number of rounds (default 1): after `ranks - 1` rounds every rank has the data of all.
        #[serde(default = "once")]
        pub rounds: Located<u32>,
    }
}

impl Rule for RingSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        finish(Ring { ranks: Divisor::new(ranks), size: self.size.0, rounds: *self.rounds }, &self.size)
    }

    fn title(&self) -> String {
        format!("ring, {}{}", *self.size, show_rounds(*self.rounds))
    }
}

/// Data travel around a ring. In round k (index and step k, from 0) rank r sends to `(r + 1) mod N`. It sends
/// the data it received in round k - 1, which are those of rank `(r - k) mod N`.
///
/// Each round is a step and waits for the one before; `N * rounds` messages of m bytes.
#[derive(Debug)]
struct Ring {
    ranks: Divisor,
    size: u64,
    rounds: u32,
}

/// Returns the next rank on the ring for each rank.
pub(super) fn next(ranks: u32) -> impl Iterator<Item = RankId> {
    (0..ranks).map(move |rank| RankId(add_mod(rank, 1, ranks)))
}

impl Pattern for Ring {
    fn ranks(&self) -> u32 {
        self.ranks.value()
    }

    fn sends(&self, _: RankId) -> u32 {
        self.steps()
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        Message::new(add_mod(rank.0, 1, self.ranks()), self.size, index, After::EarlierSteps)
    }

    fn receives(&self, _: RankId, step: u32) -> u32 {
        u32::from(step < self.steps())
    }

    fn steps(&self) -> u32 {
        if self.ranks() > 1 { self.rounds } else { 0 }
    }

    fn lockstep(&self) -> Option<Lockstep<'_>> {
        let (ranks, steps) = (self.ranks(), self.steps());
        let destinations = Box::new(move |_, destinations: &mut Vec<RankId>| destinations.extend(next(ranks)));
        Some(Lockstep { ranks, steps, bytes: self.size, alike: steps.max(1), destinations, passed_on: None })
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let (_, distance) = self.ranks.divide(index);
        vec![Block { origin: RankId(sub_mod(rank.0, distance, self.ranks())), part: 0 }]
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks()) * u64::from(self.steps())
    }
}
