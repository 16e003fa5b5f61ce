//! Permutations: every rank sends to one rank and receives from one.

use super::arith::add_mod;
use super::options::{self, combine_mistakes, dims, finish, once, show_rounds, table, unused};
use super::rule::{BuildContext, BuildResult, Rule};
use super::{After, Message, Needs, Pattern};
use crate::base::choice::choice;
use crate::base::divisor::Divisor;
use crate::diagnostic::{Diagnostic, Located};
use crate::ids::{IdVec, RankId};
use crate::rng::Stream;
use crate::units::Bytes;

choice! {
    /// Kind of the permutation. In a grid of lengths d_i a rank is `x_0 + x_1 d_0 + x_2 d_0 d_1 + ...`.
    pub enum PermutationKind {
        /// To `(src + offset) mod N`.
        Shift = "shift",
        /// To the transposed position: coordinates and lengths in reverse order. Without `dims` the ranks
        /// form a square (N = n^2), and x + y n sends to y + x n.
        Transpose = "transpose",
        /// To the rank with the bits of src in reverse order; needs a power of two of ranks.
        BitReverse = "bit-reverse",
        /// Just less than half way around: to `(x_i + ceil(d_i / 2) - 1) mod d_i` in every dimension. Without
        /// `dims` the ranks form one ring.
        Tornado = "tornado",
        /// To one of all N! permutations, drawn with the seed.
        Random = "random",
    }
}

table! {
    /// `[workload.permutation]`: every rank sends to one rank and receives from one; ranks mapped to
    /// themselves send nothing.
    pub struct PermutationSpec {
        /// Kind of the permutation.
        pub kind: Located<PermutationKind>,
        /// Size of each message.
        pub size: Located<Bytes>,
        /// shift: distance to the destination (default 1).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset: Option<Located<i64>>,
        /// transpose, tornado: lengths of the grid of ranks, x0 first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub dims: Option<Located<Vec<u32>>>,
        /// Number of times every rank sends its message (default 1).
        #[serde(default = "once")]
        pub rounds: Located<u32>,
    }
}

impl Rule for PermutationSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        use PermutationKind::{BitReverse, Random, Shift, Tornado, Transpose};
        let (kind, chosen) = (*self.kind, format!("kind \"{}\"", *self.kind));
        let mut mistakes = Vec::new();
        if kind != Shift {
            mistakes.extend(self.offset.as_ref().map(|offset| unused(offset, "offset", &chosen, "\"shift\"")));
        }
        if !matches!(kind, Transpose | Tornado) {
            mistakes.extend(self.dims.as_ref().map(|d| unused(d, "dims", &chosen, "\"transpose\" or \"tornado\"")));
        }
        let built = context.ranks(self.ranks).and_then(|ranks| {
            let destinations = match kind {
                Shift => shift(ranks, self.offset.map_or(1, |offset| *offset)),
                Transpose => transpose(&self.square(ranks)?),
                BitReverse => self.bit_reverse(ranks)?,
                Tornado => tornado(&self.grid(ranks)?.unwrap_or_else(|| vec![ranks])),
                Random => {
                    let mut destinations: Vec<u32> = (0..ranks).collect();
                    Stream::new(context.seed, "permutation random").shuffle(&mut destinations);
                    destinations
                }
            };
            finish(Permutation::new(destinations, self.size.0, *self.rounds), &self.size)
        });
        combine_mistakes(mistakes, built)
    }

    fn title(&self) -> String {
        let how = match (*self.kind, &self.offset, &self.dims) {
            (PermutationKind::Shift, offset, _) => format!(" by {}", offset.map_or(1, |offset| *offset)),
            (_, _, Some(dims)) => format!(" {}", options::show_dims(dims)),
            _ => String::new(),
        };
        format!("permutation {}{how}, {}{}", *self.kind, *self.size, show_rounds(*self.rounds))
    }

    fn depends_on_seed(&self) -> bool {
        *self.kind == PermutationKind::Random
    }
}

impl PermutationSpec {
    /// Returns the lengths that are given, if they hold all ranks.
    fn grid(&self, ranks: u32) -> Result<Option<Vec<u32>>, Vec<Diagnostic>> {
        let Some(written) = &self.dims else { return Ok(None) };
        dims(Some(written), written.len(), ranks).map(Some).map_err(|wrong| vec![wrong])
    }

    /// Returns the lengths of the matrix to transpose.
    fn square(&self, ranks: u32) -> Result<Vec<u32>, Vec<Diagnostic>> {
        if let Some(grid) = self.grid(ranks)? {
            return Ok(grid);
        }
        let n = ranks.isqrt();
        if n * n == ranks {
            return Ok(vec![n, n]);
        }
        let near = super::arith::balanced(ranks, 2);
        Err(vec![
            Diagnostic::new("not-a-square", format!("{ranks} ranks do not form a square matrix to transpose"))
                .at_value(&self.kind)
                .label("needs a square number of ranks, or `dims`")
                .help(format!("write `dims = {near:?}`, or `ranks = {}`", n * n)),
        ])
    }

    fn bit_reverse(&self, ranks: u32) -> Result<Vec<u32>, Vec<Diagnostic>> {
        if ranks.is_power_of_two() {
            // For a single rank the shift by all 32 bits gives 0.
            let unused = 32 - ranks.ilog2();
            return Ok((0..ranks).map(|src| src.reverse_bits().checked_shr(unused).unwrap_or(0)).collect());
        }
        Err(vec![
            Diagnostic::new("not-a-power-of-two", format!("bit reversal is not defined for {ranks} ranks"))
                .at_value(&self.kind)
                .label("needs a power of two of ranks")
                .help(format!("write `ranks = {}`, or another kind", 1 << ranks.ilog2())),
        ])
    }
}

fn shift(ranks: u32, offset: i64) -> Vec<u32> {
    let offset = offset.rem_euclid(i64::from(ranks)) as u32;
    (0..ranks).map(|src| add_mod(src, offset, ranks)).collect()
}

fn transpose(dims: &[u32]) -> Vec<u32> {
    let divisors: Vec<Divisor> = dims.iter().map(|&d| Divisor::new(d)).collect();
    let transposed = |src: u32| {
        let (mut rest, mut dst) = (src, 0);
        for d in &divisors {
            let (quotient, x) = d.divide(rest);
            dst = dst * d.value() + x;
            rest = quotient;
        }
        dst
    };
    (0..dims.iter().product()).map(transposed).collect()
}

fn tornado(dims: &[u32]) -> Vec<u32> {
    let divisors: Vec<Divisor> = dims.iter().map(|&d| Divisor::new(d)).collect();
    let turned = |src: u32| {
        let (mut rest, mut stride, mut dst) = (src, 1, 0);
        for d in &divisors {
            let (quotient, x) = d.divide(rest);
            let k = d.value();
            dst += add_mod(x, k.div_ceil(2) - 1, k) * stride;
            stride *= k;
            rest = quotient;
        }
        dst
    };
    (0..dims.iter().product()).map(turned).collect()
}

/// A permutation: in each round (index and step) every rank sends a message to its image.
///
/// Each round is a step; each rank that is not its own destination sends `rounds` messages of m bytes.
/// Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section 3.2.
///
/// Memory: a number for each rank.
#[derive(Debug)]
pub(super) struct Permutation {
    destinations: IdVec<RankId, u32>,
    size: u64,
    /// Number of rounds; 0 if no rank sends anything.
    rounds: u32,
}

impl Permutation {
    /// Creates the pattern from the destination of each rank, which must be a permutation.
    pub fn new(destinations: Vec<u32>, size: u64, rounds: u32) -> Self {
        let moves = destinations.iter().zip(0..).any(|(&dst, src)| dst != src);
        Self { destinations: destinations.into(), size, rounds: if moves { rounds } else { 0 } }
    }
}

impl Pattern for Permutation {
    fn ranks(&self) -> u32 {
        self.destinations.len() as u32
    }

    fn sends(&self, rank: RankId) -> u32 {
        if self.destinations[rank] == rank.0 { 0 } else { self.rounds }
    }

    #[inline]
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn message(&self, rank: RankId, index: u32) -> Message {
        Message::new(self.destinations[rank], self.size, index, After::Nothing)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        // A rank that is its own destination sends nothing, and receives nothing.
        u32::from(step < self.sends(rank))
    }

    fn steps(&self) -> u32 {
        self.rounds
    }

    fn bytes(&self) -> u128 {
        u128::from(self.messages()) * u128::from(self.size)
    }
}
