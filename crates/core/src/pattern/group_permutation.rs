//! Permutations that depend on the fabric: of groups, and the worst case.

use super::groups::Groups;
use super::options::{finish, once, show_rounds, table};
use super::permutation::Permutation;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Located};
use crate::rng::Stream;
use crate::units::Bytes;

table! {
    /// `[workload.group-permutation]`: every group sends to one other group, drawn at random, each rank to
    /// the rank at the same position there.
    pub struct GroupPermutationSpec {
        /// Size of each message.
        pub size: Located<Bytes>,
        /// Number of times every rank sends its message (default 1).
        #[serde(default = "once")]
        pub rounds: Located<u32>,
        /// Number of consecutive ranks in a group (default: the groups of the fabric).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub group_size: Option<Located<u32>>,
    }
}

table! {
    /// `[workload.worst-case]`: the permutation that puts the highest load on a link under the routing rule.
    pub struct WorstCaseSpec {
        /// Size of each message.
        pub size: Located<Bytes>,
        /// Number of times every rank sends its message (default 1).
        #[serde(default = "once")]
        pub rounds: Located<u32>,
    }
}

impl Rule for GroupPermutationSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        let groups = Groups::new(context.fabric, ranks, self.group_size.as_ref())?;
        let destinations = among_groups(&groups, ranks, context.seed);
        if (0..ranks).all(|rank| destinations[rank as usize] == rank) {
            let message =
                format!("no two of {} groups have as many ranks, so that none can send to another", groups.count());
            let wrong = Diagnostic::new("bad-groups", message);
            return Err(vec![match &self.group_size {
                Some(size) => wrong.at_value(size).label("groups of this size"),
                None => wrong.help("write `group-size`, or more ranks"),
            }]);
        }
        finish(Permutation::new(destinations, self.size.0, *self.rounds), &self.size)
    }

    fn title(&self) -> String {
        format!("group-permutation, {}{}", *self.size, show_rounds(*self.rounds))
    }

    fn depends_on_seed(&self) -> bool {
        true
    }

    fn knows_fabric(&self) -> bool {
        self.group_size.is_none()
    }
}

/// Returns the destination of each rank. Groups of the same size form a random circle, in which each sends to
/// the next; a group without another of its size sends to itself.
fn among_groups(groups: &Groups, ranks: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..groups.count()).collect();
    Stream::new(seed, "group-permutation").shuffle(&mut order);
    let size = |group: u32| groups.members(group).len();
    // The sort is stable, so that the order within each size stays random.
    order.arrange_by_key(|&group| size(group));
    let mut destinations: Vec<u32> = (0..ranks).collect();
    for circle in order.chunk_by(|&a, &b| size(a) == size(b)) {
        for (&from, &to) in circle.iter().zip(circle.iter().cycle().skip(1)) {
            let pairs = groups.members(from).iter().zip(groups.members(to));
            pairs.for_each(|(&src, &dst)| destinations[src as usize] = dst);
        }
    }
    destinations
}

impl Rule for WorstCaseSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        if ranks != context.fabric.nodes() {
            let message = format!("the worst permutation is one of all {} nodes", context.fabric.nodes());
            let wrong = Diagnostic::new("bad-ranks", message);
            return Err(vec![match &self.ranks {
                Some(ranks) => wrong.at_value(ranks).label("leave `ranks` out"),
                None => wrong,
            }]);
        }
        let destinations = context.fabric.worst_case().map_err(|wrong| vec![wrong])?;
        finish(Permutation::new(destinations, self.size.0, *self.rounds), &self.size)
    }

    fn title(&self) -> String {
        format!("worst-case permutation, {}{}", *self.size, show_rounds(*self.rounds))
    }

    /// Returns true: routes may be drawn.
    fn depends_on_seed(&self) -> bool {
        true
    }

    fn knows_fabric(&self) -> bool {
        true
    }
}
