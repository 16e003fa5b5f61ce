//! All-to-all in N - 1 steps, each a permutation: simple spread, its form in grids, pairwise exchange.

use crate::base::divisor::Divisor;
use crate::ids::RankId;
use crate::pattern::arith::add_mod;
use crate::pattern::{After, Block, Message, Needs, Pattern};
use crate::workload::Lockstep;

/// All-to-all by permutations: every rank sends each other rank its block directly.
///
/// Message `p = 1 .. N-1` of `src` (index p - 1, step p - 1) goes to `rule(src, p)`. For each p the rule is a
/// permutation of the ranks without a fixed point, so every rank sends and receives one message a step.
///
/// There are N - 1 steps, with `N (N - 1)` messages and as many blocks.
#[derive(Debug)]
pub(super) struct Spread {
    ranks: u32,
    size: u64,
    rule: Destination,
}

/// Rule for the destination of a rank's p-th message.
#[derive(Debug)]
pub(super) enum Destination {
    /// Simple spread: `(src + p) mod N`.
    ///
    /// Source: docs/concepts/workloads.md, "All-to-all", A2ASS.
    Shift,
    /// Spread of a grid of ranks. In the mixed radix of the grid's lengths d_i, `src = sum s_i * stride_i`
    /// and `p = sum p_i * stride_i`; the destination is `sum ((s_i + p_i) mod d_i) * stride_i`. In two
    /// dimensions of the same length that is the 2D spread.
    ///
    /// Source: docs/concepts/workloads.md, "All-to-all", A2ASS2D.
    Grid(Vec<Divisor>),
    /// Pairwise exchange: `src xor p`, for N a power of two.
    ///
    /// Source: docs/concepts/workloads.md, "All-to-all", A2APW.
    Xor,
}

impl Destination {
    /// Returns the spread of a grid with these lengths, x0 first.
    pub fn grid(dims: &[u32]) -> Self {
        Self::Grid(dims.iter().filter(|&&d| d > 1).map(|&d| Divisor::new(d)).collect())
    }
}

impl Spread {
    /// Creates the pattern for `ranks` ranks with blocks of `size` bytes \[B\].
    pub fn new(ranks: u32, size: u64, rule: Destination) -> Self {
        Self { ranks, size, rule }
    }

    #[inline]
    pub fn destination(&self, src: u32, p: u32) -> u32 {
        match &self.rule {
            Destination::Shift => add_mod(src, p, self.ranks),
            Destination::Xor => src ^ p,
            Destination::Grid(dims) => {
                let (mut src, mut p) = (src, p);
                let (mut stride, mut dst) = (1, 0);
                for dim in dims {
                    let ((src_rest, s), (p_rest, q)) = (dim.divide(src), dim.divide(p));
                    dst += add_mod(s, q, dim.value()) * stride;
                    stride *= dim.value();
                    (src, p) = (src_rest, p_rest);
                }
                dst
            }
        }
    }
}

impl Pattern for Spread {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId) -> u32 {
        self.ranks - 1
    }

    #[inline]
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn message(&self, rank: RankId, index: u32) -> Message {
        Message::new(self.destination(rank.0, index + 1), self.size, index, After::Nothing)
    }

    fn receives(&self, _: RankId, step: u32) -> u32 {
        u32::from(step < self.ranks - 1)
    }

    fn steps(&self) -> u32 {
        self.ranks - 1
    }

    fn lockstep(&self) -> Option<Lockstep<'_>> {
        let destinations = |step: u32, destinations: &mut Vec<RankId>| match &self.rule {
            // Two ranges of ranks: from `step + 1` to the end, then the ranks before.
            Destination::Shift => destinations.extend((step + 1..self.ranks).chain(0..step + 1).map(RankId)),
            _ => destinations.extend((0..self.ranks).map(|rank| RankId(self.destination(rank, step + 1)))),
        };
        let (ranks, steps) = (self.ranks, self.steps());
        let destinations = Box::new(destinations);
        Some(Lockstep { ranks, steps, bytes: self.size, alike: 1, destinations, passed_on: None })
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        vec![Block { origin: rank, part: self.destination(rank.0, index + 1) }]
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }
}
