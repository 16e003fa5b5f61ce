//! The patterns of a scenario: `[workload.all-to-all]` and so on.

use std::sync::Arc;

use super::adv::AdvSpec;
use super::all_to_all::{AllToAll, AllToAllSpec};
use super::allgather::AllgatherSpec;
use super::allreduce::AllreduceSpec;
use super::broadcast::BroadcastSpec;
use super::collective::CollectiveSpec;
use super::file::FileSpec;
use super::group_permutation::{GroupPermutationSpec, WorstCaseSpec};
use super::halo::HaloSpec;
use super::hot_group::HotGroupSpec;
use super::incast::IncastSpec;
use super::permutation::{PermutationKind, PermutationSpec};
use super::ring::RingSpec;
use super::uniform_random::UniformRandomSpec;
use super::{Ground, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Sources};

/// The workload of a scenario.
#[spec]
pub enum PatternSpec {
    /// Every rank sends a block to every other.
    AllToAll(AllToAllSpec),
    /// What every rank has goes to all.
    Allgather(AllgatherSpec),
    /// The sum of what all ranks have, for all of them.
    Allreduce(AllreduceSpec),
    /// What one rank has goes to all.
    Broadcast(BroadcastSpec),
    /// One call of a collective, by the algorithms that programs have for it.
    Collective(CollectiveSpec),
    /// Neighbours in a grid of ranks swap their borders.
    Halo(HaloSpec),
    /// Everyone sends to one rank.
    Incast(IncastSpec),
    /// Every rank sends to one rank and gets from one.
    Permutation(PermutationSpec),
    /// Every rank sends to the next.
    Ring(RingSpec),
    /// Every message goes to a random rank.
    UniformRandom(UniformRandomSpec),
    /// Every message goes to the group k after its sender's.
    Adv(AdvSpec),
    /// Every group sends to one other group.
    GroupPermutation(GroupPermutationSpec),
    /// A part of all messages goes to one group.
    HotGroup(HotGroupSpec),
    /// The permutation that loads a link of the fabric most.
    WorstCase(WorstCaseSpec),
    /// Messages listed in a CSV file.
    File(FileSpec),
}

impl PatternSpec {
    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::AllToAll(spec) => *spec.algorithm == AllToAll::RandomOrder,
            Self::Permutation(spec) => *spec.kind == PermutationKind::Random,
            Self::UniformRandom(_) | Self::Adv(_) | Self::GroupPermutation(_) | Self::HotGroup(_) => true,
            // By the routes, which may be drawn.
            Self::WorstCase(_) => true,
            Self::Allgather(_)
            | Self::Allreduce(_)
            | Self::Broadcast(_)
            | Self::Collective(_)
            | Self::Halo(_)
            | Self::Incast(_)
            | Self::Ring(_)
            | Self::File(_) => false,
        }
    }

    /// Whether it asks the fabric for more than its number of nodes: for groups, or for links and routes.
    pub fn knows_fabric(&self) -> bool {
        match self {
            Self::Adv(spec) => spec.group_size.is_none(),
            Self::GroupPermutation(spec) => spec.group_size.is_none(),
            Self::HotGroup(spec) => spec.group_size.is_none(),
            Self::WorstCase(_) => true,
            _ => false,
        }
    }

    /// The pattern for a fabric: it has a rank for each node, where the workload does not say otherwise.
    ///
    /// # Errors
    /// Every mistake of the specification and of the file it names.
    pub fn build(
        &self,
        ground: &dyn Ground,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let nodes = ground.nodes();
        match self {
            Self::AllToAll(spec) => spec.build(nodes, seed),
            Self::Allgather(spec) => spec.build(nodes),
            Self::Allreduce(spec) => spec.build(nodes),
            Self::Broadcast(spec) => spec.build(nodes),
            Self::Collective(spec) => spec.build(nodes),
            Self::Halo(spec) => spec.build(nodes),
            Self::Incast(spec) => spec.build(nodes),
            Self::Permutation(spec) => spec.build(nodes, seed),
            Self::Ring(spec) => spec.build(nodes),
            Self::UniformRandom(spec) => spec.build(nodes, seed),
            Self::Adv(spec) => spec.build(ground, seed),
            Self::GroupPermutation(spec) => spec.build(ground, seed),
            Self::HotGroup(spec) => spec.build(ground, seed),
            Self::WorstCase(spec) => spec.build(ground),
            Self::File(spec) => spec.build(sources),
        }
    }

    /// The number of ranks, if it is written; a file has a number of its own (0 here).
    pub fn ranks(&self) -> Option<u32> {
        let written = match self {
            Self::AllToAll(spec) => spec.ranks,
            Self::Allgather(spec) => spec.ranks,
            Self::Allreduce(spec) => spec.ranks,
            Self::Broadcast(spec) => spec.ranks,
            Self::Collective(spec) => spec.ranks,
            Self::Halo(spec) => spec.ranks,
            Self::Incast(spec) => spec.ranks,
            Self::Permutation(spec) => spec.ranks,
            Self::Ring(spec) => spec.ranks,
            Self::UniformRandom(spec) => spec.ranks,
            Self::Adv(spec) => spec.ranks,
            Self::GroupPermutation(spec) => spec.ranks,
            Self::HotGroup(spec) => spec.ranks,
            Self::WorstCase(_) => None,
            Self::File(_) => return Some(0),
        };
        written.map(|ranks| *ranks)
    }

    /// When its messages may go.
    pub fn traffic(&self) -> Traffic {
        match self {
            Self::AllToAll(spec) => spec.traffic(),
            Self::Allgather(spec) => spec.traffic(),
            Self::Allreduce(spec) => spec.traffic(),
            Self::Broadcast(spec) => spec.traffic(),
            Self::Collective(spec) => spec.traffic(),
            Self::Halo(spec) => spec.traffic(),
            Self::Incast(spec) => spec.traffic(),
            Self::Permutation(spec) => spec.traffic(),
            Self::Ring(spec) => spec.traffic(),
            Self::UniformRandom(spec) => spec.traffic(),
            Self::Adv(spec) => spec.traffic(),
            Self::GroupPermutation(spec) => spec.traffic(),
            Self::HotGroup(spec) => spec.traffic(),
            Self::WorstCase(spec) => spec.traffic(),
            Self::File(spec) => spec.traffic(),
        }
    }

    /// What it is, for people: `all-to-all simple-spread, 20 KB`.
    pub fn title(&self) -> String {
        match self {
            Self::AllToAll(spec) => spec.title(),
            Self::Allgather(spec) => spec.title(),
            Self::Allreduce(spec) => spec.title(),
            Self::Broadcast(spec) => spec.title(),
            Self::Collective(spec) => spec.title(),
            Self::Halo(spec) => spec.title(),
            Self::Incast(spec) => spec.title(),
            Self::Permutation(spec) => spec.title(),
            Self::Ring(spec) => spec.title(),
            Self::UniformRandom(spec) => spec.title(),
            Self::Adv(spec) => spec.title(),
            Self::GroupPermutation(spec) => spec.title(),
            Self::HotGroup(spec) => spec.title(),
            Self::WorstCase(spec) => spec.title(),
            Self::File(spec) => spec.title(),
        }
    }
}
