//! Uniform random traffic: every message goes to any other rank.

use std::sync::Arc;

use super::options::{self, finish, table};
use super::shuffle::Arrivals;
use super::{After, Injection, Message, Needs, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Located};
use crate::ids::RankId;
use crate::rng::Mix;
use crate::units::Bytes;

table! {
    /// `[workload.uniform-random]`: every message goes to a random other rank.
    pub struct UniformRandomSpec {
        /// How many each rank sends.
        pub messages: Located<u32>,
        /// How large each message is.
        pub size: Located<Bytes>,
    }
}

impl UniformRandomSpec {
    pub(super) fn build(&self, nodes: u32, seed: u64) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let pattern = UniformRandom {
            ranks: options::ranks(self.ranks, nodes)?,
            size: self.size.0,
            messages: *self.messages,
            mix: Mix::new(seed, "uniform-random"),
            arrivals: Arrivals::default(),
        };
        finish(pattern, &self.size)
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.traffic_or(Injection::Queue)
    }

    pub(super) fn title(&self) -> String {
        format!("uniform-random, {} x {}", *self.messages, *self.size)
    }
}

/// Every message goes to one of the N - 1 other ranks, each as likely, whatever the others do.
///
/// The message with index i (and step i) of `src` goes to `(src + 1 + u) mod N`, u the random number below N - 1
/// that the seed has for (src, i).
///
/// As many steps as messages a rank; `N * messages` messages of m bytes.
#[derive(Debug)]
struct UniformRandom {
    ranks: u32,
    size: u64,
    messages: u32,
    mix: Mix,
    arrivals: Arrivals,
}

impl UniformRandom {
    #[inline]
    fn destination(&self, src: u32, index: u32) -> u32 {
        let others = u64::from(self.ranks - 1);
        let distance = 1 + self.mix.two_below(u64::from(src), u64::from(index), others) as u32;
        super::arith::add_mod(src, distance, self.ranks)
    }
}

impl Pattern for UniformRandom {
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
        Message::new(self.destination(rank.0, index), self.size, index, After::Nothing)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        if step >= self.steps() {
            return 0;
        }
        self.arrivals.count(rank.0, step, self.ranks, |src| self.destination(src, step))
    }

    fn steps(&self) -> u32 {
        if self.ranks > 1 { self.messages } else { 0 }
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.steps())
    }
}
