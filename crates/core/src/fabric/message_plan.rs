//! Properties of single messages that a plan gives.

use crate::ids::{LinkId, MessageId, RankId};

/// Paths and weights that are given for single messages.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MessagePlan {
    /// First message of each sender, and one more entry at the end.
    pub first: Vec<u32>,
    /// Weight of each message; empty if all are 1.
    pub weights: Vec<f64>,
    /// True if messages have paths of their own.
    pub has_paths: bool,
    /// Range of the path of each message in `links`; empty if it takes the path of the routing rule.
    pub paths: Vec<(u32, u32)>,
    /// Links of the paths; none if no fabric was known when they were read.
    pub links: Vec<LinkId>,
    /// Line of each message in its file, if there are paths.
    pub lines: Vec<u64>,
    /// [Fingerprint](super::Fabric::fingerprint) of the fabric for which the messages were planned, if it is known.
    pub fabric: Option<String>,
}

impl MessagePlan {
    /// Returns true if messages differ in their weights.
    pub fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Returns the weight of a message.
    pub fn weight(&self, message: MessageId) -> f64 {
        self.weights.get(self.position(message)).copied().unwrap_or(1.0)
    }

    /// Returns the path of a message; empty if it takes that of the routing rule.
    pub fn path(&self, message: MessageId) -> &[LinkId] {
        self.paths.get(self.position(message)).map_or(&[], |&(start, end)| &self.links[start as usize..end as usize])
    }

    fn position(&self, message: MessageId) -> usize {
        (self.first[message.src.0 as usize] + message.index) as usize
    }

    /// Returns the messages with a path of their own, each with its line.
    pub fn with_paths(&self) -> impl Iterator<Item = (MessageId, u64)> {
        let ids = |(src, range): (u32, &[u32])| {
            (0..range[1] - range[0]).map(move |index| MessageId { src: RankId(src), index })
        };
        let messages = (0..).zip(self.first.windows(2)).flat_map(ids);
        messages.zip(self.lines.iter().copied()).filter(|(message, _)| !self.path(*message).is_empty())
    }
}
