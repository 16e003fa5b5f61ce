//! Adversarial traffic: every group sends to the k-th group after it.

use super::drawn::{Draw, Drawn};
use super::groups::Groups;
use super::options::{finish, once, table};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::{Diagnostic, Located};
use crate::rng::Mix;
use crate::units::Bytes;

table! {
    /// `[workload.adv]`: every message goes to a random rank of the k-th group after its sender's.
    pub struct AdvSpec {
        /// Distance from the sender's group to the destination group (default 1). Negative for groups
        /// before it; a multiple of the number of groups is refused.
        #[serde(default = "next")]
        pub k: Located<i64>,
        /// Number of messages of each rank (default 1).
        #[serde(default = "once")]
        pub messages: Located<u32>,
        /// Size of each message.
        pub size: Located<Bytes>,
        /// Number of consecutive ranks in a group (default: the groups of the fabric).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub group_size: Option<Located<u32>>,
    }
}

fn next() -> Located<i64> {
    1.into()
}

impl Rule for AdvSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        let groups = Groups::new(context.fabric, ranks, self.group_size.as_ref())?;
        let shift = self.k.rem_euclid(i64::from(groups.count())) as u32;
        if shift == 0 {
            let message = format!("{} groups on, of {}, every group sends to itself", *self.k, groups.count());
            let wrong = Diagnostic::new("bad-groups", message).at_value(&self.k);
            return Err(vec![wrong.label("no multiple of the number of groups")]);
        }
        let draw = Adv { groups, shift, mix: Mix::new(context.seed, "adv") };
        finish(Drawn::new(ranks, self.size.0, *self.messages, draw), &self.size)
    }

    fn title(&self) -> String {
        format!("adv{:+}, {} x {}", *self.k, *self.messages, *self.size)
    }

    fn depends_on_seed(&self) -> bool {
        true
    }

    fn knows_fabric(&self) -> bool {
        self.group_size.is_none()
    }
}

/// Adversarial traffic: every message of a rank of group i goes to a rank of group `(i + k) mod G`, uniformly
/// at random.
///
/// Source: J. Kim, W. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA
/// 2008, section 4.2 (their worst case is k = 1).
#[derive(Debug)]
struct Adv {
    groups: Groups,
    /// k mod G.
    shift: u32,
    mix: Mix,
}

impl Draw for Adv {
    #[inline]
    fn destination(&self, src: u32, index: u32) -> u32 {
        let group = super::arith::add_mod(self.groups.of(src), self.shift, self.groups.count());
        let members = self.groups.members(group);
        members[self.mix.two_below(u64::from(src), u64::from(index), members.len() as u64) as usize]
    }
}
