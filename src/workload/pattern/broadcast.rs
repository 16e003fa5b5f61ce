//! Broadcast: what one rank has goes to all.
//!
//! Every rank but the root gets m bytes, so at least `(N - 1) m` bytes travel, and exactly that with each algorithm
//! here; they differ in who sends them and when. Ranks are counted from the root: `v = (rank - root) mod N`.

use std::sync::Arc;

use super::arith::{Split, add_mod, ceil_log2, sub_mod};
use super::options::{self, choice, finish, rank_below, table, together, too_many, unused};
use super::{After, Block, Injection, Message, Needs, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Located};
use crate::ids::RankId;
use crate::units::Bytes;

choice! {
    /// Who sends it on.
    pub enum Broadcast {
        /// The root sends to each rank in turn.
        Flat = "flat",
        /// Ranks that have it send it on: a binomial tree, log N rounds.
        Binomial = "binomial",
        /// In segments along a chain of all ranks.
        PipelinedChain = "pipelined-chain",
    }
}

table! {
    /// `[workload.broadcast]`: what the root has goes to all.
    pub struct BroadcastSpec {
        /// Who sends it on.
        pub algorithm: Located<Broadcast>,
        /// What the root has.
        pub size: Located<Bytes>,
        /// Who has it (default rank 0).
        #[serde(default)]
        pub root: Located<u32>,
        /// pipelined-chain: in how many segments (default 16).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub segments: Option<Located<u32>>,
        /// pipelined-chain: the largest segment, instead of `segments`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub segment_size: Option<Located<Bytes>>,
    }
}

/// Segments of a pipelined chain where nothing is said.
const USUAL_SEGMENTS: u32 = 16;

impl BroadcastSpec {
    pub(super) fn build(&self, nodes: u32) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        if *self.algorithm != Broadcast::PipelinedChain {
            let chosen = format!("algorithm \"{}\"", *self.algorithm);
            let (segments, size) = (self.segments.as_ref(), self.segment_size.as_ref());
            mistakes.extend(segments.map(|s| unused(s, "segments", &chosen, "\"pipelined-chain\"")));
            mistakes.extend(size.map(|s| unused(s, "segment-size", &chosen, "\"pipelined-chain\"")));
        }
        let built = options::ranks(self.ranks, nodes).and_then(|ranks| {
            let mut mistakes = Vec::new();
            let root = rank_below(&self.root, ranks, "root").unwrap_or_else(|wrong| {
                mistakes.push(wrong);
                0
            });
            let size = self.size.0;
            let built = match *self.algorithm {
                Broadcast::Flat => finish(Flat { ranks, root, size }, &self.size),
                Broadcast::Binomial => finish(Binomial { ranks, root, size }, &self.size),
                Broadcast::PipelinedChain => self.segments(ranks).and_then(|segments| {
                    let split = Split::new(size, segments);
                    finish(Chain { ranks, root, size, segments, split }, &self.size)
                }),
            };
            together(mistakes, built)
        });
        together(mistakes, built)
    }

    /// Number of segments of a pipelined chain.
    fn segments(&self, ranks: u32) -> Result<u32, Vec<Diagnostic>> {
        // The last segment arrives in step ranks + segments - 3.
        let fits = |segments: u64| u32::try_from(segments).ok().filter(|s| s.checked_add(ranks).is_some());
        let none = |option: &str, example: &str| {
            Diagnostic::new("no-segments", format!("`{option}` is zero"))
                .label("must be more than 0")
                .help(format!("write `{option} = {example}`"))
        };
        match (&self.segments, &self.segment_size) {
            (Some(segments), Some(size)) => Err(vec![
                Diagnostic::new("two-ways", "`segments` and `segment-size` say the same thing twice")
                    .at_value(size)
                    .label(format!("there is also `segments = {}`", **segments))
                    .help("leave one of them out"),
            ]),
            (Some(segments), None) if **segments == 0 => Err(vec![none("segments", "16").at_value(segments)]),
            (Some(segments), None) => {
                let count = u64::from(**segments);
                fits(count).ok_or_else(|| vec![too_many(segments, "steps", u128::from(count) + u128::from(ranks))])
            }
            (None, Some(size)) if size.0 == 0 => Err(vec![none("segment-size", "\"64 KiB\"").at_value(size)]),
            (None, Some(size)) => {
                let count = self.size.0.div_ceil(size.0).max(1);
                fits(count).ok_or_else(|| {
                    vec![
                        too_many(size, "steps", u128::from(count) + u128::from(ranks))
                            .help("write a larger segment size"),
                    ]
                })
            }
            (None, None) => Ok(USUAL_SEGMENTS),
        }
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.traffic_or(Injection::Queue)
    }

    pub(super) fn title(&self) -> String {
        let segments = match (*self.algorithm, &self.segments, &self.segment_size) {
            (Broadcast::PipelinedChain, Some(segments), _) => format!(" in {} segments", **segments),
            (Broadcast::PipelinedChain, None, Some(size)) => format!(" in segments of {}", **size),
            (Broadcast::PipelinedChain, None, None) => format!(" in {USUAL_SEGMENTS} segments"),
            _ => String::new(),
        };
        let root = if *self.root == 0 { String::new() } else { format!(" from rank {}", *self.root) };
        format!("broadcast {}{root}, {}{segments}", *self.algorithm, *self.size)
    }
}

/// The root sends to each rank in turn: message i (step i) goes to `v = i + 1`.
///
/// N - 1 steps; N - 1 messages of m bytes, all of the root's.
#[derive(Debug)]
struct Flat {
    ranks: u32,
    root: u32,
    size: u64,
}

impl Pattern for Flat {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId) -> u32 {
        if rank.0 == self.root { self.ranks - 1 } else { 0 }
    }

    #[inline]
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn message(&self, _: RankId, index: u32) -> Message {
        Message::new(add_mod(self.root, index + 1, self.ranks), self.size, index, After::Nothing)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        u32::from(sub_mod(rank.0, self.root, self.ranks).checked_sub(1) == Some(step))
    }

    fn steps(&self) -> u32 {
        self.ranks - 1
    }

    fn carries(&self, _: RankId, _: u32) -> Vec<Block> {
        vec![Block { origin: RankId(self.root), part: 0 }]
    }

    fn bytes(&self) -> u128 {
        u128::from(self.ranks - 1) * u128::from(self.size)
    }
}

/// A binomial tree, the farthest first: with `K = ceil(log2 N)`, in step k each v that is a multiple of `2^(K-k)`
/// sends to `v + 2^(K-1-k)`, if that is a rank.
///
/// So v > 0 with t trailing zero bits gets its message in step `K - 1 - t`, and sends on `min(t, ceil(log2(N - v)))`
/// messages; the root sends K.
///
/// K steps, each waiting for what the sender gets in an earlier one; N - 1 messages of m bytes.
/// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
/// 2005, section 4.
#[derive(Debug)]
struct Binomial {
    ranks: u32,
    root: u32,
    size: u64,
}

impl Binomial {
    #[inline]
    fn children(&self, v: u32) -> u32 {
        // The root's 32 trailing zeros are more than any logarithm.
        v.trailing_zeros().min(ceil_log2(self.ranks - v))
    }
}

impl Pattern for Binomial {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId) -> u32 {
        self.children(sub_mod(rank.0, self.root, self.ranks))
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let v = sub_mod(rank.0, self.root, self.ranks);
        let log = self.children(v) - 1 - index;
        let dst = add_mod(rank.0, 1 << log, self.ranks);
        Message::new(dst, self.size, self.steps() - 1 - log, After::EarlierSteps)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        let v = sub_mod(rank.0, self.root, self.ranks);
        u32::from(v != 0 && self.steps().checked_sub(1 + v.trailing_zeros()) == Some(step))
    }

    fn steps(&self) -> u32 {
        ceil_log2(self.ranks)
    }

    fn carries(&self, _: RankId, _: u32) -> Vec<Block> {
        vec![Block { origin: RankId(self.root), part: 0 }]
    }

    fn bytes(&self) -> u128 {
        u128::from(self.ranks - 1) * u128::from(self.size)
    }
}

/// A chain of all ranks through which S segments flow: v sends segment k (index k) to `v + 1` in step `v + k`, when
/// it has got it in the step before.
///
/// `N + S - 2` steps; `(N - 1) S` messages; `(N - 1) m` bytes.
#[derive(Debug)]
struct Chain {
    ranks: u32,
    root: u32,
    size: u64,
    segments: u32,
    split: Split,
}

impl Pattern for Chain {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId) -> u32 {
        let last = sub_mod(rank.0, self.root, self.ranks) == self.ranks - 1;
        if last { 0 } else { self.segments }
    }

    #[inline]
    fn message(&self, rank: RankId, index: u32) -> Message {
        let v = sub_mod(rank.0, self.root, self.ranks);
        let dst = add_mod(rank.0, 1, self.ranks);
        Message::new(dst, self.split.part(index), v + index, After::EarlierSteps)
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        let v = sub_mod(rank.0, self.root, self.ranks);
        u32::from(v > 0 && (v - 1..v - 1 + self.segments).contains(&step))
    }

    fn steps(&self) -> u32 {
        if self.ranks > 1 { self.ranks - 2 + self.segments } else { 0 }
    }

    fn carries(&self, _: RankId, index: u32) -> Vec<Block> {
        vec![Block { origin: RankId(self.root), part: index }]
    }

    fn bytes(&self) -> u128 {
        u128::from(self.ranks - 1) * u128::from(self.size)
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks - 1) * u64::from(self.segments)
    }
}
