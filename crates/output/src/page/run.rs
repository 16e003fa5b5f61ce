//! Observations of a run for its page.

use std::borrow::Cow;

use hayase::network::Network;
use hayase::record::{History, PathStep};
use hayase::report::{LinkUse, MessageRecord};
use hayase::simulation::LinkUses;

use super::sums::Binned;

/// Observations of a complete run.
#[derive(Default)]
pub struct RunData<'a> {
    /// Network that the messages crossed, if there is one.
    pub network: Option<&'a Network>,
    /// All links, by id.
    pub links: Vec<LinkUse>,
    /// Loads of links over time and times lost on them, if they were measured.
    pub measured: Option<&'a LinkUses>,
    /// Messages between ranks.
    pub messages: Cow<'a, [MessageRecord]>,
    /// Reason why messages are missing, or why their routes are not known; empty if all are known.
    pub unknown: &'static str,
    /// Mean number of messages under way, for a run with too many messages to show each.
    pub binned: Option<&'a Binned>,
    /// Activities of ranks, if they were kept.
    pub history: Option<&'a History>,
    /// Critical path, if it is known.
    pub path: &'a [PathStep],
    /// Number of ranks.
    pub ranks: u32,
    /// End of the run \[s\].
    pub end_s: f64,
    /// Jobs of the ranks, one after another, with their numbers of ranks. Empty if there are no jobs.
    pub jobs: Vec<(&'a str, u32)>,
}

impl RunData<'_> {
    /// Returns the job of a rank, by its index; 0 if there are no jobs.
    pub(super) fn job_of(&self, rank: u32) -> usize {
        let ends = self.jobs.iter().scan(0, |end, (_, ranks)| {
            *end += ranks;
            Some(*end)
        });
        ends.take_while(|&end| end <= rank).count()
    }
}
