//! The rules: one file each. The texts in them are what `hayase explain` prints.

pub mod a001_overlap;

use crate::model::RuleId;

/// A rule, for readers.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its number.
    pub id: RuleId,
    /// Its name, in two or three words.
    pub name: &'static str,
    /// What it looks for, in a sentence.
    pub summary: &'static str,
    /// Why it matters, how the source changes, when it is wrong.
    pub explanation: &'static str,
}

/// All rules, by number.
pub const ALL: &[Rule] = &[a001_overlap::RULE];

/// The rule with this number.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id.to_string().eq_ignore_ascii_case(id))
}
