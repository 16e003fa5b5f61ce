//! The patterns of a scenario: `[workload.all-to-all]` and so on.

use super::rule::{Built, Given, Rule};
use super::{Ground, Traffic};
use crate::diagnostic::Sources;

/// Declares [`PatternSpec`]: its variants, each with its table.
macro_rules! patterns {
    ($($(#[doc = $about:literal])* $variant:ident($spec:ty),)*) => {
        /// The workload of a scenario.
        #[spec]
        pub enum PatternSpec {
            $($(#[doc = $about])* $variant($spec),)*
        }

        impl PatternSpec {
            fn rule(&self) -> &dyn Rule {
                match self {
                    $(Self::$variant(spec) => spec,)*
                }
            }
        }
    };
}

patterns! {
    /// Every rank sends a block to every other.
    AllToAll(super::AllToAllSpec),
    /// What every rank has goes to all.
    Allgather(super::AllgatherSpec),
    /// The sum of what all ranks have, for all of them.
    Allreduce(super::AllreduceSpec),
    /// What one rank has goes to all.
    Broadcast(super::BroadcastSpec),
    /// One call of a collective, by the algorithms that programs have for it.
    Collective(super::CollectiveSpec),
    /// Neighbours in a grid of ranks swap their borders.
    Halo(super::HaloSpec),
    /// Everyone sends to one rank.
    Incast(super::IncastSpec),
    /// Every rank sends to one rank and gets from one.
    Permutation(super::PermutationSpec),
    /// Every rank sends to the next.
    Ring(super::RingSpec),
    /// Every message goes to a random rank.
    UniformRandom(super::UniformRandomSpec),
    /// Every message goes to the group k after its sender's.
    Adv(super::AdvSpec),
    /// Every group sends to one other group.
    GroupPermutation(super::GroupPermutationSpec),
    /// A part of all messages goes to one group.
    HotGroup(super::HotGroupSpec),
    /// The permutation that loads a link of the fabric most.
    WorstCase(super::WorstCaseSpec),
    /// Messages listed in a CSV file.
    File(super::FileSpec),
}

impl PatternSpec {
    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        self.rule().depends_on_seed()
    }

    /// Whether it asks the fabric for more than its number of nodes: for groups, or for links and routes.
    pub fn knows_fabric(&self) -> bool {
        self.rule().knows_fabric()
    }

    /// The pattern for a fabric: it has a rank for each node, where the workload does not say otherwise.
    ///
    /// # Errors
    /// Every mistake of the specification and of the file it names.
    pub fn build(&self, ground: &dyn Ground, seed: u64, sources: &mut Sources) -> Built {
        self.rule().build(&mut Given { ground, seed, sources })
    }

    /// The number of ranks, if it is written; a file has a number of its own (0 here).
    pub fn ranks(&self) -> Option<u32> {
        match self {
            // All nodes, whatever is written.
            Self::WorstCase(_) => None,
            _ => self.rule().written_ranks(),
        }
    }

    /// When its messages may go.
    pub fn traffic(&self) -> Traffic {
        let rule = self.rule();
        rule.traffic_or(rule.usual_injection())
    }

    /// What it is, for people: `all-to-all simple-spread, 20 KB`.
    pub fn title(&self) -> String {
        self.rule().title()
    }
}
