//! Path of a message.

use crate::ids::LinkId;
use crate::units::Time;

/// Path of a message: one path, or several with a part of the message on each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Path {
    /// Links in order if there is one path; each link once if there are several.
    pub links: Vec<LinkId>,
    /// Part of the message on each link; empty if there is one path.
    pub parts: Vec<f64>,
    /// Latency of the longest path \[ps\], if there are several.
    pub latency: Time,
}

impl Path {
    /// Removes all links.
    pub fn clear(&mut self) {
        self.links.clear();
        self.parts.clear();
        self.latency = Time::ZERO;
    }

    /// Merges the entries of each link into one, in order of links.
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
