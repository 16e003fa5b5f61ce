//! Data of a run for the script of its page: loads of links with their messages, and the activities of ranks.

use hayase::ids::{LinkId, RankId};
use hayase::network::Network;
use hayase::record::{History, PathStep};
use hayase::report::{LinkUse, MessageRecord};
use serde_json::{Value, json};

use super::{flows, spans};
use spans::Binned;

/// Largest number of ranks whose nodes are named.
const MOST_NAMES: u32 = 5000;

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
    /// Returns the data as JSON that is safe inside a `script` element.
    pub fn to_json(&self) -> String {
        let nodes = self.network.filter(|_| self.ranks <= MOST_NAMES).map(|network| {
            let name = |rank| network.fabric.vertex_name(network.placement[RankId(rank)].into());
            (0..self.ranks).map(name).collect::<Vec<_>>()
        });
        let data = json!({
            "end": short(self.end_s),
            "ranks": self.ranks,
            "jobs": self.jobs,
            "nodes": nodes,
            "links": flows::links(self),
            "timeline": spans::timeline(self),
        });
        data.to_string().replace('<', "\\u003c")
    }

    /// Returns the job of a rank, by its index; 0 if there are no jobs.
    pub(super) fn job_of(&self, rank: u32) -> usize {
        let ends = self.jobs.iter().scan(0, |end, (_, ranks)| {
            *end += ranks;
            Some(*end)
        });
        ends.take_while(|&end| end <= rank).count()
    }
}

/// Rounds a figure to seven digits, which take less room.
pub(super) fn short(figure: f64) -> Value {
    format!("{figure:.6e}").parse::<f64>().unwrap_or_default().into()
}
