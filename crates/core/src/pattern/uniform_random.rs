//! Uniform random traffic: every message goes to any other rank.

use std::sync::Arc;

use super::drawn::{Draw, Drawn};
use super::options::{self, finish, table};
use super::{Injection, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Located};
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
        let ranks = options::ranks(self.ranks, nodes)?;
        let draw = UniformRandom { ranks, mix: Mix::new(seed, "uniform-random") };
        finish(Drawn::new(ranks, self.size.0, *self.messages, draw), &self.size)
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
#[derive(Debug)]
struct UniformRandom {
    ranks: u32,
    mix: Mix,
}

impl Draw for UniformRandom {
    #[inline]
    fn destination(&self, src: u32, index: u32) -> u32 {
        let others = u64::from(self.ranks - 1);
        let distance = 1 + self.mix.two_below(u64::from(src), u64::from(index), others) as u32;
        super::arith::add_mod(src, distance, self.ranks)
    }
}
