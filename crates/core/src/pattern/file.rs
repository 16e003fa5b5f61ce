//! Pattern files: the messages of a program, listed one by one.
//!
//! A pattern file is a CSV table `src,dst,bytes` with these optional columns:
//! * `order`: a number; the messages of a sender go in ascending order of it (default: in the order of the file);
//! * `delay`: time between the moment a message may be sent and its sending, which models computation;
//! * `after`: messages, separated by blanks, that must have arrived first, which models receives;
//! * `id`: a name for the message, for `after` to use;
//! * `slot`: the step of the message, which never decreases along a sender's messages (default: its number among
//!   the sender's messages);
//! * `path`: the path of the message, as in the file of `[routing.paths]` (default: that of the routing rule);
//! * `flow_weight`: the weight of the message on links that it shares (default 1).
//!
//! A comment `# fabric: FINGERPRINT` before the header names the fabric for which the messages were planned
//! ([`Fabric::fingerprint`](crate::fabric::Fabric::fingerprint)).
//!
//! `after` names a message by its `id` if the file has that column, else by its row (0: the first after the
//! header). With or without ids, it may also name a message as `src:index`: the index-th message (from 0)
//! that rank `src` sends.
//!
//! A message goes `delay` after everything in its `after` has arrived and the injection rule permits it. The
//! default rule is `queue`: the sender's previous message has been delivered.

pub(super) mod read;

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::rule::{BuildContext, BuildResult, Rule, Table};
use super::{After, Injection, Message, Needs, Pattern, Traffic};
use crate::diagnostic::Located;
use crate::fabric::MessagePlan;
use crate::ids::{MessageId, RankId};
use crate::units::Time;

/// `[workload.file]`: messages listed in a file.
#[spec]
pub struct FileSpec {
    /// Path of the file, relative to the file that names it; CSV, or CSV compressed with zstd.
    pub path: Located<String>,
    /// Number of ranks (default: one more than the largest that sends or receives).
    pub ranks: Option<Located<u32>>,
    /// Rule by which a rank sends its next message.
    #[serde(default)]
    pub injection: Located<Injection>,
    /// Upper bound of the random start offset of each rank.
    #[serde(default)]
    pub message_jitter: Located<Time>,
    /// Time that the barrier after each step takes with `injection = "barrier"` (default 0).
    #[serde(default, skip_serializing_if = "Located::is_default")]
    pub barrier_cost: Located<Time>,
}

impl Table for FileSpec {
    fn written_ranks(&self) -> Option<u32> {
        Some(0)
    }

    fn traffic_or(&self, _: Injection) -> Traffic {
        Traffic { injection: self.injection, message_jitter: self.message_jitter, barrier_cost: self.barrier_cost }
    }
}

impl Rule for FileSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        Ok(Arc::new(read::read(self, context)?))
    }

    fn title(&self) -> String {
        format!("messages of {}", *self.path)
    }
}

/// Messages of a file, by sender, and in sending order for each.
///
/// Memory: 12 bytes a message; 8 more if there are delays; 4 more if messages depend on others, and 8 for
/// each dependency; 4 more if there are slots, 8 if there are weights, 12 if there are paths, and 4 for each of
/// their links; 4 more once [`Pattern::receives`] has been called.
struct FilePattern {
    /// First message of each rank, and one more entry at the end.
    starts: Vec<u32>,
    /// Receiver of each message.
    dst: Vec<u32>,
    /// Size of each message \[B\].
    bytes: Vec<u64>,
    /// Delay of each message before it is sent \[ps\]; empty if there are no delays.
    delays: Vec<f64>,
    /// Start in `after` of each message's dependencies, and one more entry; empty if there are no
    /// dependencies.
    after_starts: Vec<u32>,
    after: Vec<MessageId>,
    /// Step of each message; empty if it is the number of the message among those of its sender.
    slots: Vec<u32>,
    /// Paths, weights and fabric, if the file has any of them.
    plan: Option<Arc<MessagePlan>>,
    /// One more than the largest step of a message.
    steps: u32,
    arrivals: OnceLock<Arrivals>,
}

/// Steps of the messages to each receiver, ascending.
struct Arrivals {
    starts: Vec<u32>,
    steps: Vec<u32>,
}

impl Arrivals {
    fn of(pattern: &FilePattern) -> Self {
        let starts = starts_of(pattern.starts.len() - 1, &pattern.dst);
        let mut next = starts.clone();
        let mut steps = vec![0; pattern.dst.len()];
        for range in pattern.starts.windows(2) {
            for message in range[0]..range[1] {
                let slot = &mut next[pattern.dst[message as usize] as usize];
                steps[*slot as usize] = pattern.slots.get(message as usize).copied().unwrap_or(message - range[0]);
                *slot += 1;
            }
        }
        for range in starts.windows(2) {
            steps[range[0] as usize..range[1] as usize].sort_unstable();
        }
        Self { starts, steps }
    }
}

/// Returns the start of each group once items are sorted by group, and one more entry at the end.
fn starts_of(groups: usize, group_of: &[u32]) -> Vec<u32> {
    let mut starts = vec![0; groups + 1];
    for &group in group_of {
        starts[group as usize + 1] += 1;
    }
    for i in 0..groups {
        starts[i + 1] += starts[i];
    }
    starts
}

impl fmt::Debug for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilePattern").field("ranks", &self.ranks()).field("messages", &self.messages()).finish()
    }
}

impl Pattern for FilePattern {
    fn ranks(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    fn sends(&self, rank: RankId) -> u32 {
        self.starts[rank.0 as usize + 1] - self.starts[rank.0 as usize]
    }

    fn needs(&self) -> Needs {
        Needs { steps: false, messages: !self.after.is_empty() }
    }

    fn delays(&self) -> bool {
        self.delays.iter().any(|&delay| delay > 0.0)
    }

    fn message(&self, rank: RankId, index: u32) -> Message {
        let i = (self.starts[rank.0 as usize] + index) as usize;
        let after = match self.after_starts.get(i..i + 2) {
            Some(range) if range[0] < range[1] => {
                After::Messages(self.after[range[0] as usize..range[1] as usize].to_vec())
            }
            _ => After::Nothing,
        };
        Message {
            dst: RankId(self.dst[i]),
            bytes: self.bytes[i],
            step: self.slots.get(i).copied().unwrap_or(index),
            delay: self.delays.get(i).map_or(Time::ZERO, |&ps| Time::from_ps(ps)),
            after,
        }
    }

    fn plan(&self) -> Option<&Arc<MessagePlan>> {
        self.plan.as_ref()
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        let arrivals = self.arrivals.get_or_init(|| Arrivals::of(self));
        let rank = rank.0 as usize;
        let steps = &arrivals.steps[arrivals.starts[rank] as usize..arrivals.starts[rank + 1] as usize];
        let first = steps.partition_point(|&other| other < step);
        steps[first..].partition_point(|&other| other == step) as u32
    }

    fn steps(&self) -> u32 {
        self.steps
    }

    fn messages(&self) -> u64 {
        self.dst.len() as u64
    }
}

#[cfg(test)]
mod tests;
