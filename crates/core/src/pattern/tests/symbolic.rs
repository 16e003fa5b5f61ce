//! Symbolic execution of patterns: the sends and receives of each rank, as early and as late as the pattern
//! allows.
//!
//! A message may hold only data that its sender is sure to have. These are the data from earlier steps if it
//! waits for those ([`After::EarlierSteps`]), and the data that the sender started with if it waits for
//! nothing. Its size must be that of the data it holds.

use std::collections::{BTreeMap, BTreeSet};

use super::messages;
use crate::collective::ReceivedUse;
use crate::collective::tests::execution::{Act, Cargo, Script, Sends, run};
use crate::ids::RankId;
use crate::pattern::{After, Block, Message, Pattern};

/// A pattern that moves blocks.
struct Moves<'a> {
    pattern: &'a dyn Pattern,
    /// All blocks, in order: a slot is a position here.
    blocks: Vec<Block>,
    sizes: Vec<u64>,
    own: Vec<BTreeSet<Block>>,
    acts: Vec<Vec<Act>>,
}

impl Moves<'_> {
    fn cargo(&self, src: RankId, index: u32, message: &Message) -> Cargo {
        let slot = |block: Block| self.blocks.binary_search(&block).unwrap_or_else(|_| panic!("nobody has {block:?}"));
        let slots = self.pattern.carries(src, index).into_iter().map(slot).collect();
        Cargo { slots, bytes: message.bytes }
    }

    /// Returns the actions of each rank: it receives what its next message needs, sends that, and at the end
    /// receives the rest.
    fn acts(&self) -> Vec<Vec<Act>> {
        let mut incoming: BTreeMap<RankId, Vec<(u32, RankId, Cargo)>> = BTreeMap::new();
        for (src, index, message) in messages(self.pattern) {
            let cargo = self.cargo(src, index, &message);
            incoming.entry(message.dst).or_default().push((message.step, src, cargo));
        }
        let acts = |rank: u32| {
            let mut incoming = incoming.remove(&RankId(rank)).unwrap_or_default();
            incoming.sort_by_key(|(step, src, _)| (*step, *src));
            let mut incoming = incoming.into_iter().peekable();
            let receive =
                |(_, src, cargo): (u32, RankId, Cargo)| Act::Receive { from: src.0, cargo, then: ReceivedUse::Keep };
            let mut acts = Vec::new();
            for index in 0..self.pattern.sends(RankId(rank)) {
                let message = self.pattern.message(RankId(rank), index);
                let waits = message.after == After::EarlierSteps;
                while let Some(next) = incoming.next_if(|(step, ..)| waits && *step < message.step) {
                    acts.push(receive(next));
                }
                acts.push(Act::Send { to: message.dst.0, cargo: self.cargo(RankId(rank), index, &message) });
            }
            acts.extend(incoming.map(receive));
            acts
        };
        (0..self.pattern.ranks()).map(acts).collect()
    }
}

impl Script for Moves<'_> {
    fn ranks(&self) -> u32 {
        self.pattern.ranks()
    }

    fn slots(&self) -> usize {
        self.blocks.len()
    }

    fn act(&self, rank: u32, number: usize) -> Option<Act> {
        self.acts[rank as usize].get(number).cloned()
    }

    fn start(&self, rank: u32, slot: usize) -> Option<u32> {
        self.own[rank as usize].contains(&self.blocks[slot]).then_some(rank)
    }

    fn size(&self, slot: usize) -> Option<u64> {
        Some(self.sizes[slot])
    }

    fn repeats(&self) -> bool {
        false
    }
}

/// Executes a pattern on the blocks of `initial`, each of `size(block)` bytes; returns the blocks of each
/// rank at the end.
///
/// Also checks that no rank gets a block twice.
pub fn gather(
    name: &str,
    pattern: &dyn Pattern,
    initial: impl Fn(RankId) -> Vec<Block>,
    size: impl Fn(Block) -> u64,
) -> Vec<BTreeSet<Block>> {
    let own: Vec<BTreeSet<Block>> = (0..pattern.ranks()).map(|r| initial(RankId(r)).into_iter().collect()).collect();
    let blocks: Vec<Block> = own.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let sizes = blocks.iter().map(|&block| size(block)).collect();
    let mut moves = Moves { pattern, blocks, sizes, own, acts: Vec::new() };
    moves.acts = moves.acts();
    let (held, _) = run(name, &moves, Sends::Buffered);
    let has = |row: &Vec<Option<_>>| {
        moves.blocks.iter().zip(row).filter(|(_, what)| what.is_some()).map(|(block, _)| *block).collect()
    };
    held.iter().map(|held| has(&held.row)).collect()
}
