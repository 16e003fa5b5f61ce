//! Symbolic execution of expansions: the effect of each action of a rank on the slots.

use super::execution::{Act, Cargo, Script};
use crate::collective::alltoall::at_places;
use crate::collective::data::{Data, cyclic};
use crate::collective::phase::Phase;
use crate::collective::rounds::Action;
use crate::collective::{Call, Expansion, Operation};

/// A call on all ranks: one expansion for all of them, or one for each.
pub struct Calls<'a> {
    pub call: &'a Call,
    pub expansions: &'a [Expansion],
    pub repeats: bool,
    pub slots: usize,
    pub start: &'a dyn Fn(u32, usize) -> Option<u32>,
    acts: Vec<Vec<Act>>,
}

impl<'a> Calls<'a> {
    pub fn new(
        call: &'a Call,
        expansions: &'a [Expansion],
        repeats: bool,
        slots: usize,
        start: &'a dyn Fn(u32, usize) -> Option<u32>,
    ) -> Self {
        let mut calls = Self { call, expansions, repeats, slots, start, acts: Vec::new() };
        calls.acts = (0..call.ranks).map(|rank| calls.acts(rank)).collect();
        calls
    }

    fn acts(&self, rank: u32) -> Vec<Act> {
        let phases = &self.expansions[rank as usize % self.expansions.len()].phases;
        let of_phase = |phase: &Phase| -> Vec<Act> {
            let actions = (0..).map_while(|index| phase.action(rank, index));
            actions.map(|action| self.act(rank, phase, action)).collect()
        };
        phases.iter().flat_map(of_phase).collect()
    }

    fn act(&self, rank: u32, phase: &Phase, action: Action) -> Act {
        let cargo = |data| Cargo { slots: self.slots(phase, data), bytes: phase.bytes(rank, data) };
        match action {
            Action::Nothing => Act::Nothing,
            Action::Send { to, data } => Act::Send { to, cargo: cargo(data) },
            Action::Receive { from, data, then } => Act::Receive { from, cargo: cargo(data), then },
            Action::Exchange { to, sent, from, received, then } => {
                Act::Exchange { to, sent: cargo(sent), from, received: cargo(received), then }
            }
            Action::StartSend { to, data } => Act::StartSend { to, cargo: cargo(data) },
            Action::StartReceive { from, data } => Act::StartReceive { from, cargo: cargo(data) },
            Action::WaitAll => Act::WaitAll,
        }
    }

    fn slots(&self, phase: &Phase, data: Data) -> Vec<usize> {
        let ranks = self.call.ranks;
        let pair = |(src, dst): (u32, u32)| (src * ranks + dst) as usize;
        match data {
            Data::Token => Vec::new(),
            Data::Blocks { first, count } => {
                let ranges = phase.layout().expect("blocks have a layout").ranges(first, count);
                ranges.into_iter().flatten().map(|slot| slot as usize).collect()
            }
            Data::Cyclic { first, stride, count } => {
                let layout = phase.layout().expect("blocks have a layout");
                let blocks = cyclic(first, stride, count, layout.blocks());
                blocks.flat_map(|block| layout.ranges(block, 1)).flatten().map(|slot| slot as usize).collect()
            }
            Data::Strided { first, stride } => {
                let layout = phase.layout().expect("blocks have a layout");
                let blocks = (first..layout.blocks()).step_by(stride as usize);
                blocks.flat_map(|block| layout.ranges(block, 1)).flatten().map(|slot| slot as usize).collect()
            }
            Data::Pair { src, dst } => vec![pair((src, dst))],
            Data::Places { sender, bit } => at_places(ranks, sender, bit).into_iter().map(pair).collect(),
        }
    }
}

impl Script for Calls<'_> {
    fn ranks(&self) -> u32 {
        self.call.ranks
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn act(&self, rank: u32, number: usize) -> Option<Act> {
        self.acts[rank as usize].get(number).cloned()
    }

    fn start(&self, rank: u32, slot: usize) -> Option<u32> {
        (self.start)(rank, slot)
    }

    fn size(&self, _: usize) -> Option<u64> {
        (!matches!(self.call.collective, Operation::Alltoall | Operation::Alltoallv)).then_some(1)
    }

    fn repeats(&self) -> bool {
        self.repeats
    }

    fn is_exclusive(&self) -> bool {
        self.call.collective == Operation::Exscan
    }
}
