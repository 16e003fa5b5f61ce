//! Uniform random traffic: every message goes to any other rank.

use super::drawn::{Draw, Drawn};
use super::options::{finish, table};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::Located;
use crate::rng::Mix;
use crate::units::Bytes;

table! {
    /// `[workload.uniform-random]`: every message goes to a random other rank.
    pub struct UniformRandomSpec {
        /// Number of messages of each rank.
        pub messages: Located<u32>,
        /// Size of each message.
        pub size: Located<Bytes>,
    }
}

impl Rule for UniformRandomSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        let draw = UniformRandom { ranks, mix: Mix::new(context.seed, "uniform-random") };
        finish(Drawn::new(ranks, self.size.0, *self.messages, draw), &self.size)
    }

    fn title(&self) -> String {
        format!("uniform-random, {} x {}", *self.messages, *self.size)
    }

    fn depends_on_seed(&self) -> bool {
        true
    }
}

/// Uniform random traffic: every message goes to one of the N - 1 other ranks, uniformly and independently.
///
/// The message with index i (and step i) of `src` goes to `(src + 1 + u) mod N`. The random number u is below
/// N - 1 and depends on the seed and (src, i).
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
