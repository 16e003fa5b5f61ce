//! Halo exchange: neighbours in a grid of ranks exchange their borders.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::options::{combine_mistakes, dimensions, dims, finish, once, show_dims, show_rounds, table, too_many};
use super::rule::{BuildContext, BuildResult, Rule};
use super::{After, Message, Pattern};
use crate::base::divisor::Divisor;
use crate::diagnostic::{Diagnostic, Located};
use crate::ids::RankId;
use crate::units::Bytes;

table! {
    /// `[workload.halo]`: neighbours in a grid of ranks exchange their borders.
    pub struct HaloSpec {
        /// Lengths of the grid of ranks, x0 first, one to three (default: as equal as possible).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub dims: Option<Located<Vec<u32>>>,
        /// Number of dimensions of the grid, if `dims` is not given (default 3).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub dimensions: Option<Located<u32>>,
        /// True if the ends of each dimension are neighbours (default true).
        #[serde(default = "yes")]
        pub periodic: bool,
        /// Size of a border: one size, or one for each dimension.
        pub size: Located<Sizes>,
        /// Number of exchanges (default 1).
        #[serde(default = "once")]
        pub rounds: Located<u32>,
    }
}

fn yes() -> bool {
    true
}

/// One size, or a list of them: `"8 KB"` or `["8 KB", "2 KB"]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// One size for all dimensions.
    One(Bytes),
    /// One size for each dimension.
    Each(Vec<Bytes>),
}

/// Largest number of dimensions.
const MOST: u32 = 3;
/// Default number of dimensions.
const USUAL: u32 = 3;

impl Rule for HaloSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        let mut mistakes = Vec::new();
        let grid = dimensions(self.dimensions.as_ref(), self.dims.as_ref(), USUAL, MOST)
            .and_then(|count| dims(self.dims.as_ref(), count, ranks));
        let dims = grid.unwrap_or_else(|wrong| {
            mistakes.push(wrong);
            Vec::new()
        });
        let sizes = match &*self.size {
            Sizes::One(size) => vec![size.0; dims.len()],
            Sizes::Each(sizes) => sizes.iter().map(|size| size.0).collect(),
        };
        if mistakes.is_empty() && sizes.len() != dims.len() {
            let message = format!("{} sizes for {} dimensions", sizes.len(), dims.len());
            mistakes.push(
                Diagnostic::new("bad-size", message)
                    .at_value(&self.size)
                    .label("one size, or one for each dimension")
                    .help("write `size = \"8 KB\"`"),
            );
        }
        let halo = Halo::new(ranks, &dims, &sizes, self.periodic, *self.rounds);
        let messages = u128::from(*self.rounds) * halo.directions() as u128;
        if u32::try_from(messages).is_err() {
            mistakes.push(too_many(&self.rounds, "messages of a rank", messages));
        }
        let built = if mistakes.is_empty() { finish(halo, &self.size) } else { Err(Vec::new()) };
        combine_mistakes(mistakes, built)
    }

    fn title(&self) -> String {
        let grid = match &self.dims {
            Some(dims) => show_dims(dims),
            None => format!("{}-D", self.dimensions.map_or(USUAL, |d| *d)),
        };
        let open = if self.periodic { "" } else { " open" };
        format!("halo {grid}{open}, {}{}", *self.size, show_rounds(*self.rounds))
    }
}

/// Halo exchange: every rank sends its borders to its neighbours in a grid. The neighbours of rank `x_0 + x_1
/// d_0 + x_2 d_0 d_1` have one coordinate higher or lower by one (modulo the length if the grid is periodic;
/// no message goes to its own sender).
///
/// Each direction is a step of the round: first x_0 upwards, x_0 downwards, x_1 upwards and so on. So in D
/// dimensions (those longer than one rank) direction j of round t is step `2 D t + j`. A rank begins a round
/// when all messages to it of earlier steps have arrived; the other messages of its round do not wait for
/// each other. (At the upper open end of a grid the first direction is x_0 downwards. So there the border
/// that comes upwards in the same round is included.)
///
/// There are `2 D rounds` steps. Each round and dimension has `2 N m` bytes in a periodic grid, `2 N (1 -
/// 1/d_i) m` in an open one.
#[derive(Debug)]
struct Halo {
    ranks: u32,
    /// Dimensions longer than one.
    dims: Vec<Dim>,
    periodic: bool,
    rounds: u32,
}

#[derive(Debug)]
struct Dim {
    length: Divisor,
    stride: u32,
    /// Size of the border across this dimension \[B\].
    size: u64,
}

impl Halo {
    fn new(ranks: u32, dims: &[u32], sizes: &[u64], periodic: bool, rounds: u32) -> Self {
        let strides = dims.iter().scan(1, |next, &d| {
            let stride = *next;
            *next *= d;
            Some(stride)
        });
        let dims = dims.iter().zip(strides).zip(sizes);
        let dims = dims.map(|((&d, stride), &size)| Dim { length: Divisor::new(d), stride, size });
        Self { ranks, dims: dims.filter(|dim| dim.length.value() > 1).collect(), periodic, rounds }
    }

    fn directions(&self) -> usize {
        2 * self.dims.len()
    }

    /// Returns the directions in which a rank has a neighbour, as bits.
    #[inline]
    fn neighbours(&self, rank: u32) -> u32 {
        if self.periodic {
            return (1 << self.directions()) - 1;
        }
        let (mut rest, mut mask) = (rank, 0);
        for (i, dim) in self.dims.iter().enumerate() {
            let (quotient, x) = dim.length.divide(rest);
            mask |= u32::from(x + 1 < dim.length.value()) << (2 * i);
            mask |= u32::from(x > 0) << (2 * i + 1);
            rest = quotient;
        }
        mask
    }

    /// Returns the neighbour in this direction, and its dimension.
    #[inline]
    fn neighbour(&self, rank: u32, direction: usize) -> (u32, &Dim) {
        let (which, descending) = (direction / 2, direction % 2 == 1);
        let dim = &self.dims[which];
        let x = rank / dim.stride % dim.length.value();
        let around = dim.stride * (dim.length.value() - 1);
        let neighbour = match descending {
            false if x + 1 == dim.length.value() => rank - around,
            false => rank + dim.stride,
            true if x == 0 => rank + around,
            true => rank - dim.stride,
        };
        (neighbour, dim)
    }
}

impl Pattern for Halo {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId) -> u32 {
        self.neighbours(rank.0).count_ones() * self.rounds
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let mut ahead = self.neighbours(rank.0);
        let each_round = ahead.count_ones();
        let (round, nth) = (index / each_round, index % each_round);
        for _ in 0..nth {
            ahead &= ahead - 1;
        }
        let direction = ahead.trailing_zeros();
        let (dst, dim) = self.neighbour(rank.0, direction as usize);
        // Messages leave in order: when the first of a round has waited, the rest need not.
        let after = if round > 0 && nth == 0 { After::EarlierSteps } else { After::Nothing };
        Message::new(dst, dim.size, round * self.directions() as u32 + direction, after)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        if step >= self.steps() {
            return 0;
        }
        // Messages sent upwards come from the neighbour below, and the other way round.
        let direction = step % self.directions() as u32;
        self.neighbours(rank.0) >> (direction ^ 1) & 1
    }

    fn steps(&self) -> u32 {
        self.directions() as u32 * self.rounds
    }

    fn bytes(&self) -> u128 {
        let of_dim = |dim: &Dim| {
            let open = if self.periodic { 0 } else { self.ranks / dim.length.value() };
            2 * u128::from(self.ranks - open) * u128::from(dim.size)
        };
        self.dims.iter().map(of_dim).sum::<u128>() * u128::from(self.rounds)
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(size) => size.fmt(f),
            Self::Each(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
                f.pad(&sizes.join(" and "))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Sizes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size with its unit, like \"8 KB\", or a list of sizes, one for each dimension")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Sizes, E> {
                text.parse().map(Sizes::One).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Sizes, E> {
                Err(E::custom(format!("{number} has no unit; write a size like \"8 KB\"")))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Sizes, E> {
                Err(E::custom(format!("{number} has no unit; write a size like \"8 KB\"")))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sizes, A::Error> {
                let mut sizes = Vec::new();
                while let Some(size) = list.next_element()? {
                    sizes.push(size);
                }
                Ok(Sizes::Each(sizes))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(size) => size.serialize(serializer),
            Self::Each(sizes) => sizes.serialize(serializer),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Sizes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sizes".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let size = generator.subschema_for::<Bytes>();
        schemars::json_schema!({ "anyOf": [size, { "type": "array", "items": size }] })
    }
}
