//! Hot group: a fraction of all messages goes to one group.

use super::drawn::{Draw, Drawn};
use super::groups::Groups;
use super::options::{finish, table};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::{Diagnostic, Located};
use crate::rng::Mix;
use crate::units::Bytes;

table! {
    /// `[workload.hot-group]`: a fraction of all messages goes to a random rank of one group, the rest to any
    /// other rank.
    pub struct HotGroupSpec {
        /// Fraction of the messages that goes to the group, from 0 to 1.
        pub fraction: Located<f64>,
        /// Number of the hot group, from 0 (default 0).
        #[serde(default)]
        pub group: Located<u32>,
        /// Number of messages of each rank.
        pub messages: Located<u32>,
        /// Size of each message.
        pub size: Located<Bytes>,
        /// Number of consecutive ranks in a group (default: the groups of the fabric).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub group_size: Option<Located<u32>>,
    }
}

impl Rule for HotGroupSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let ranks = context.ranks(self.ranks)?;
        let groups = Groups::new(context.fabric, ranks, self.group_size.as_ref())?;
        let mut mistakes = Vec::new();
        if !(0.0..=1.0).contains(&*self.fraction) {
            let message = format!("{} is not a fraction of all messages", *self.fraction);
            mistakes.push(Diagnostic::new("wrong-value", message).at_value(&self.fraction).label("from 0 to 1"));
        }
        if *self.group >= groups.count() {
            let message = format!("there is no group {} among {}", *self.group, groups.count());
            let wrong = Diagnostic::new("bad-groups", message).at_value(&self.group);
            mistakes.push(wrong.label(format!("a group from 0 to {}", groups.count() - 1)));
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let draw = HotGroup {
            ranks,
            hot: groups.members(*self.group).to_vec(),
            fraction: *self.fraction,
            is_hot: Mix::new(context.seed, "hot-group"),
            mix: Mix::new(context.seed, "hot-group destination"),
        };
        finish(Drawn::new(ranks, self.size.0, *self.messages, draw), &self.size)
    }

    fn title(&self) -> String {
        let (fraction, group) = (*self.fraction, *self.group);
        format!("hot-group {group} with {fraction} of all, {} x {}", *self.messages, *self.size)
    }

    fn depends_on_seed(&self) -> bool {
        true
    }

    fn knows_fabric(&self) -> bool {
        self.group_size.is_none()
    }
}

/// Hot-group traffic: every message goes, with probability f, to a rank of the hot group, else to any rank.
/// It never goes to its own sender; all other ranks are equally likely.
#[derive(Debug)]
struct HotGroup {
    ranks: u32,
    /// Ranks of the hot group, ascending.
    hot: Vec<u32>,
    fraction: f64,
    is_hot: Mix,
    mix: Mix,
}

impl Draw for HotGroup {
    #[inline]
    fn destination(&self, src: u32, index: u32) -> u32 {
        let (a, b) = (u64::from(src), u64::from(index));
        let drawn = self.is_hot.two_unit(a, b);
        let own = self.hot.binary_search(&src).ok();
        let others = self.hot.len() - usize::from(own.is_some());
        if drawn < self.fraction && others > 0 {
            let place = self.mix.two_below(a, b, others as u64) as usize;
            return self.hot[place + usize::from(own.is_some_and(|own| place >= own))];
        }
        let distance = 1 + self.mix.two_below(a, b, u64::from(self.ranks - 1)) as u32;
        super::arith::add_mod(src, distance, self.ranks)
    }
}
