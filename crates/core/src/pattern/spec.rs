//! Patterns of a scenario: `[workload.all-to-all]` and so on.

use super::options::combine_mistakes;
use super::rule::{BuildContext, BuildResult, Rule};
use super::{FabricInfo, Traffic};
use crate::diagnostic::Sources;

/// Declares [`PatternSpec`]: its variants, each with its table.
macro_rules! patterns {
    ($($(#[doc = $about:literal])* $variant:ident($spec:ty),)*) => {
        /// Workload of a scenario.
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
    /// Every rank sends a block to every other rank.
    AllToAll(super::AllToAllSpec),
    /// The block of every rank goes to all ranks.
    Allgather(super::AllgatherSpec),
    /// All ranks get the sum of the vectors of all ranks.
    Allreduce(super::AllreduceSpec),
    /// The data of one rank go to all ranks.
    Broadcast(super::BroadcastSpec),
    /// One call of a collective, by the same algorithms as in programs. Without `injection`, ranks start
    /// and wait as the algorithm says. All ranks have blocks of one size, also in gatherv and the like.
    Collective(super::CollectiveSpec),
    /// Neighbours in a grid of ranks exchange their borders.
    Halo(super::HaloSpec),
    /// All ranks send to one rank.
    Incast(super::IncastSpec),
    /// Every rank sends to one rank and receives from one.
    Permutation(super::PermutationSpec),
    /// Every rank sends to the next.
    Ring(super::RingSpec),
    /// Every message goes to a random rank.
    UniformRandom(super::UniformRandomSpec),
    /// Every message goes to a random rank of the k-th group after its sender's.
    Adv(super::AdvSpec),
    /// Every group sends to one other group of its size, drawn at random, each rank to the rank at its
    /// position there.
    GroupPermutation(super::GroupPermutationSpec),
    /// A fraction of all messages goes to random ranks of one group, the rest to any other rank.
    HotGroup(super::HotGroupSpec),
    /// The permutation of all nodes that puts the highest load on a link under the routing rule. It is
    /// found by matching, for eight links of each kind; exact for them if each pair has one route. On more
    /// than 2,048 nodes, nodes of a switch send alike. Rules that choose by the messages under way are
    /// refused. Source: B. Towles, W. Dally, SPAA 2002.
    WorstCase(super::WorstCaseSpec),
    /// Messages listed in a CSV file.
    File(super::FileSpec),
}

impl PatternSpec {
    /// Returns true if another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        self.rule().depends_on_seed()
    }

    /// Returns true if it asks the fabric for more than its number of nodes: for groups, or for links and
    /// routes.
    pub fn knows_fabric(&self) -> bool {
        self.rule().knows_fabric()
    }

    /// Builds the pattern for a fabric, with one rank for each node unless the workload gives a number.
    ///
    /// # Errors
    /// All mistakes of the specification and of the file it names.
    pub fn build(&self, fabric: &dyn FabricInfo, seed: u64, sources: &mut Sources) -> BuildResult {
        let unused = self.traffic().unused_cost();
        combine_mistakes(unused.into_iter().collect(), self.rule().build(&mut BuildContext { fabric, seed, sources }))
    }

    /// Returns the number of ranks if it is given; 0 for a file, which has its own number.
    pub fn ranks(&self) -> Option<u32> {
        match self {
            // All nodes, whatever number is given.
            Self::WorstCase(_) => None,
            _ => self.rule().written_ranks(),
        }
    }

    /// Returns the injection rule and start offsets of its messages.
    pub fn traffic(&self) -> Traffic {
        let rule = self.rule();
        rule.traffic_or(rule.usual_injection())
    }

    /// Returns true if messages go by the usual injection rule of the pattern.
    pub fn is_usual(&self) -> bool {
        *self.traffic().injection == self.rule().usual_injection()
    }

    /// Returns the title of the pattern: `all-to-all simple-spread, 20 KB`.
    pub fn title(&self) -> String {
        self.rule().title()
    }
}
