//! The way of a message.

use crate::ids::LinkId;
use crate::units::Time;

/// The way of a message: one path, or several with a part of the message on each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Path {
    /// The links: of one path in order; of several each link once.
    pub links: Vec<LinkId>,
    /// By link: the part of the message that crosses it; empty for one path.
    pub parts: Vec<f64>,
    /// Of several paths: the latency of the longest \[ps\].
    pub latency: Time,
}

impl Path {
    /// No links.
    pub fn clear(&mut self) {
        self.links.clear();
        self.parts.clear();
        self.latency = Time::ZERO;
    }

    /// Makes one entry of the several that a link may have, in order of links.
    pub(super) fn merge(&mut self) {
        let mut entries: Vec<(LinkId, f64)> = self.links.drain(..).zip(self.parts.drain(..)).collect();
        // By link; a stable sort keeps the order in which parts are added up.
        entries.sort_by_key(|entry| entry.0);
        for (link, part) in entries {
            match self.parts.last_mut() {
                Some(last) if self.links.last() == Some(&link) => *last += part,
                _ => {
                    self.links.push(link);
                    self.parts.push(part);
                }
            }
        }
    }
}
