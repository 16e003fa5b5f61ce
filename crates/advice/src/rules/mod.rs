//! Rules of advice. Each has a text file that `hayase advise --explain` prints.
//!
//! The rules that examine calls have their code next to their text; the rules from A101 on examine waits
//! (`waits`).

pub mod a001_overlap;
pub mod a002_aggregation;
pub mod a003_collectives_in_a_row;
pub mod a004_collectives;

use crate::model::RuleId;

/// Description of a rule for users.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Number of the rule.
    pub id: RuleId,
    /// Name in two or three words.
    pub name: &'static str,
    /// Summary in one sentence.
    pub summary: &'static str,
    /// Explanation: reasons, changes of the source, and limits.
    pub explanation: &'static str,
}

/// Builds a list of rules from their numbers, names, text files and summaries.
#[macro_export]
macro_rules! rules {
    ($($id:ident $text:literal $name:literal $summary:literal;)*) => {
        &[$($crate::rules::Rule {
            id: $crate::model::RuleId::$id,
            name: $name,
            summary: $summary,
            explanation: include_str!($text),
        }),*]
    };
}

/// All rules, by number.
pub const ALL: &[Rule] = rules! {
    A001 "a001_overlap.txt" "overlap" "communication that could be under way while the program computes";
    A002 "a002_aggregation.txt" "aggregation" "messages to one rank that could be one message";
    A003 "a003_collectives_in_a_row.txt" "collectives in a row"
        "collective operations of one kind in a row that could be one";
    A004 "a004_collectives.txt" "collectives by hand" "messages between single ranks that are a collective operation";
    A101 "a101_late_sender.txt" "late sender" "receives that wait for senders which still compute";
    A102 "a102_late_receiver.txt" "late receiver" "sends that wait for receivers which still compute";
    A103 "a103_imbalance.txt" "imbalance" "collective operations at which ranks arrive at different times";
    A104 "a104_incast.txt" "serialised receiver" "a rank to which many send at once";
    A105 "a105_latency_chain.txt" "latency-bound chain" "small messages that wait for each other one after the other";
    A106 "a106_rendezvous.txt" "rendezvous wait" "messages large enough to wait for their receivers";
};

/// Returns the rule with this number.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id.to_string().eq_ignore_ascii_case(id))
}
