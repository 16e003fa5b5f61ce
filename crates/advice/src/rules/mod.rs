//! The rules: one file each. The texts in them are what `hayase explain` prints.

pub mod a001_overlap;
pub mod a002_aggregation;
pub mod a003_collectives_in_a_row;
pub mod a004_collectives;
pub mod a101_late_sender;
pub mod a102_late_receiver;
pub mod a103_imbalance;
pub mod a104_incast;
pub mod a105_latency_chain;
pub mod a106_rendezvous;

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
pub const ALL: &[Rule] = &[
    a001_overlap::RULE,
    a002_aggregation::RULE,
    a003_collectives_in_a_row::RULE,
    a004_collectives::RULE,
    a101_late_sender::RULE,
    a102_late_receiver::RULE,
    a103_imbalance::RULE,
    a104_incast::RULE,
    a105_latency_chain::RULE,
    a106_rendezvous::RULE,
];

/// The rule with this number.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id.to_string().eq_ignore_ascii_case(id))
}
