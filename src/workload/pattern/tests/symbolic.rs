//! Executes a collective on names of data instead of data.
//!
//! The messages of a step are exchanged all at once, with what ranks had before the step. A message may hold only
//! what its sender has, and has for sure: what came in earlier steps if it waits for those ([`After::EarlierSteps`]),
//! what the sender started with if it waits for nothing. Its size must be that of what it holds.

use std::collections::{BTreeMap, BTreeSet};

use super::messages;
use crate::ids::RankId;
use crate::workload::pattern::{After, Block, Message, Pattern};

/// The messages of each step.
fn by_step(pattern: &dyn Pattern) -> Vec<Vec<(RankId, u32, Message)>> {
    let mut steps = vec![Vec::new(); pattern.steps() as usize];
    for (src, index, message) in messages(pattern) {
        steps[message.step as usize].push((src, index, message));
    }
    steps
}

/// Copies blocks about, starting with those of `initial`, each of `size(block)` bytes; returns who has what in the end.
///
/// Also holds that nobody gets a block twice.
pub fn gather(
    name: &str,
    pattern: &dyn Pattern,
    initial: impl Fn(RankId) -> Vec<Block>,
    size: impl Fn(Block) -> u64,
) -> Vec<BTreeSet<Block>> {
    let start: Vec<BTreeSet<Block>> = (0..pattern.ranks()).map(|r| initial(RankId(r)).into_iter().collect()).collect();
    let mut now = start.clone();
    for step in by_step(pattern) {
        let before = now.clone();
        for (src, index, message) in step {
            let what = format!("{name}: message {index} of rank {src}, {message:?}");
            let known = if message.after == After::EarlierSteps { &before } else { &start };
            let blocks = pattern.carries(src, index);
            for block in &blocks {
                assert!(known[src.0 as usize].contains(block), "{what}: it has no {block:?}");
                assert!(now[message.dst.0 as usize].insert(*block), "{what}: a second {block:?}");
            }
            assert_eq!(message.bytes, blocks.iter().map(|&block| size(block)).sum::<u64>(), "{what}");
        }
    }
    now
}

/// Contributions of ranks to the segments of a vector, by segment.
pub type Sums = BTreeMap<u32, BTreeSet<RankId>>;

/// Adds up the vectors of all ranks, whose segments have `size(segment)` bytes; returns the sums everyone has in the
/// end.
///
/// A message must hold the sender's whole partial sum of a segment: sums cannot be taken apart. The receiver adds it
/// to its own where no contribution is in both, and replaces its own where that is part of it; anything else would
/// count a contribution twice.
pub fn reduce(name: &str, pattern: &dyn Pattern, segments: u32, size: impl Fn(u32) -> u64) -> Vec<Sums> {
    let own = |rank| (0..segments).map(|part| (part, BTreeSet::from([RankId(rank)]))).collect();
    let start: Vec<Sums> = (0..pattern.ranks()).map(own).collect();
    let mut now = start.clone();
    for step in by_step(pattern) {
        let before = now.clone();
        for (src, index, message) in step {
            let what = format!("{name}: message {index} of rank {src}, {message:?}");
            let known = if message.after == After::EarlierSteps { &before } else { &start };
            let mut sums = Sums::new();
            for block in pattern.carries(src, index) {
                assert!(sums.entry(block.part).or_default().insert(block.origin), "{what}: {block:?} twice");
            }
            assert_eq!(message.bytes, sums.keys().map(|&part| size(part)).sum::<u64>(), "{what}");
            for (part, sum) in sums {
                assert_eq!(known[src.0 as usize][&part], sum, "{what}: segment {part}");
                if let Some(mine) = now[message.dst.0 as usize].get_mut(&part) {
                    if mine.is_disjoint(&sum) {
                        mine.extend(sum);
                    } else {
                        assert!(mine.is_subset(&sum), "{what}: segment {part} counts contributions twice");
                        *mine = sum;
                    }
                }
            }
        }
    }
    now
}
