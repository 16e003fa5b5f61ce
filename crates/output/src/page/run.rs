//! Observations of a run for its page.

use hayase::ids::LinkId;
use hayase::network::Network;
use hayase::record::{History, PathStep};
use hayase::report::{LinkUse, MessageRecord};

use super::sums::Binned;

/// Observations of a complete run.
pub struct RunData<'a> {
    /// Network that the messages crossed, if there is one.
    pub network: Option<&'a Network>,
    /// All links, by id.
    pub links: Vec<LinkUse>,
    /// Load of a link in successive spans of time; empty if it was not measured.
    pub loads: Box<dyn Fn(LinkId) -> Vec<f64> + 'a>,
    /// Length of these spans \[s\].
    pub span_s: f64,
    /// True if the time that messages lost on links was measured.
    pub has_delays: bool,
    /// Messages between ranks.
    pub messages: Vec<MessageRecord>,
    /// Reason why messages are missing, or why their routes are not known; empty if all are known.
    pub unknown: &'static str,
    /// Mean number of messages under way, for a run with too many messages to show each.
    pub binned: &'a Binned,
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
