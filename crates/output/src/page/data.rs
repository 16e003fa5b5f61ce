//! Data of a run for the script of its page: loads of links with their messages, and the activities of ranks.

use hayase::ids::RankId;
use serde_json::{Value, json};

use super::run::RunData;
use super::sums::short;
use super::{flows, spans};

/// Largest number of ranks whose nodes are named.
const MOST_NAMES: u32 = 5000;

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
        in_script(&data)
    }
}

/// Returns data as JSON that is safe inside a `script` element.
pub fn in_script(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}
