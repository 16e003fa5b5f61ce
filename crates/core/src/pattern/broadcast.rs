//! Broadcast: the data of one rank go to all ranks.
//!
//! Every rank but the root gets m bytes, so at least `(N - 1) m` bytes travel, and exactly that with each
//! algorithm here; the algorithms differ in who sends them and when.
//!
//! The messages are those of a program's [broadcast](crate::collective). But the segments of the chain are as
//! even as possible, instead of all but the last of one size.

use super::options::{SizeOf, combine_mistakes, rank_below, resized, shown_size, table, too_many, unused};
use super::rule::{BuildContext, BuildResult, Rule};
use super::scheduled::Scheduled;
use crate::base::choice::choice;
use crate::collective::{Call, Operation, Schedule};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

choice! {
    /// Algorithm that forwards the data.
    pub enum Broadcast {
        /// The root sends to each rank in turn.
        Flat = "flat",
        /// Ranks that have the data send them on: a binomial tree, log N rounds.
        Binomial = "binomial",
        /// The data travel in segments along a chain of all ranks.
        PipelinedChain = "pipelined-chain",
    }
}

table! {
    /// `[workload.broadcast]`: the root's data go to all ranks.
    pub struct BroadcastSpec {
        /// Algorithm that forwards the data.
        pub algorithm: Located<Broadcast>,
        /// Size of the root's data.
        pub size: Located<Bytes>,
        /// Data that `size` counts: `vector` (default), or `block`, of which a vector has one for each rank.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size_of: Option<Located<SizeOf>>,
        /// Rank that has the data (default rank 0).
        #[serde(default)]
        pub root: Located<u32>,
        /// pipelined-chain: number of segments (default 16).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub segments: Option<Located<u32>>,
        /// pipelined-chain: largest size of a segment, instead of `segments`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub segment_size: Option<Located<Bytes>>,
    }
}

/// Default number of segments of a pipelined chain.
const USUAL_SEGMENTS: u32 = 16;

impl Rule for BroadcastSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let mut mistakes = Vec::new();
        if *self.algorithm != Broadcast::PipelinedChain {
            let chosen = format!("algorithm \"{}\"", *self.algorithm);
            let (segments, size) = (self.segments.as_ref(), self.segment_size.as_ref());
            mistakes.extend(segments.map(|s| unused(s, "segments", &chosen, "\"pipelined-chain\"")));
            mistakes.extend(size.map(|s| unused(s, "segment-size", &chosen, "\"pipelined-chain\"")));
        }
        let built = context.ranks(self.ranks).and_then(|ranks| {
            let mut mistakes = Vec::new();
            let root = rank_below(&self.root, ranks, "root").unwrap_or_else(|wrong| {
                mistakes.push(wrong);
                0
            });
            let size = resized(&self.size, self.size_of.as_ref(), SizeOf::Vector, ranks)?;
            let call = Call::equal(Operation::Bcast, ranks, size.0).rooted(root);
            let built = match *self.algorithm {
                Broadcast::Flat => Scheduled::of(&call, "linear", &size),
                Broadcast::Binomial => Scheduled::of(&call, "binomial", &size),
                Broadcast::PipelinedChain => self.segments(ranks, size.0).and_then(|segments| {
                    Scheduled::finished(Schedule::pipeline(ranks, root, size.0, segments), None, &size)
                }),
            };
            combine_mistakes(mistakes, built)
        });
        combine_mistakes(mistakes, built)
    }

    fn title(&self) -> String {
        let segments = match (*self.algorithm, &self.segments, &self.segment_size) {
            (Broadcast::PipelinedChain, Some(segments), _) => format!(" in {} segments", **segments),
            (Broadcast::PipelinedChain, None, Some(size)) => format!(" in segments of {}", **size),
            (Broadcast::PipelinedChain, None, None) => format!(" in {USUAL_SEGMENTS} segments"),
            _ => String::new(),
        };
        let root = if *self.root == 0 { String::new() } else { format!(" from rank {}", *self.root) };
        format!("broadcast {}{root}, {}{segments}", *self.algorithm, shown_size(*self.size, self.size_of.as_ref()))
    }
}

impl BroadcastSpec {
    /// Returns the number of segments of a pipelined chain.
    fn segments(&self, ranks: u32, bytes: u64) -> Result<u32, Vec<Diagnostic>> {
        // The last segment arrives in step ranks + segments - 3.
        let fits = |segments: u64| u32::try_from(segments).ok().filter(|s| s.checked_add(ranks).is_some());
        let none = |option: &str, example: &str| {
            Diagnostic::new("no-segments", format!("`{option}` is zero"))
                .label("must be more than 0")
                .help(format!("write `{option} = {example}`"))
        };
        match (&self.segments, &self.segment_size) {
            (Some(segments), Some(size)) => Err(vec![
                Diagnostic::new("two-ways", "`segments` and `segment-size` are two ways to set the same")
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
                let count = bytes.div_ceil(size.0).max(1);
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
}
