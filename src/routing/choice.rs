//! Rules that choose: asked when a message starts, they answer with one path or with several.

use crate::ids::{IdVec, LinkId, MessageId, NodeId};
use crate::units::Time;

/// A message that is about to start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// From where.
    pub src: NodeId,
    /// To where: another node.
    pub dst: NodeId,
    /// Which message it is: random choices are drawn by it, so that they do not depend on what else happens.
    pub message: MessageId,
}

impl Start {
    /// The message as a number.
    pub(super) fn key(&self) -> u64 {
        u64::from(self.message.src.0) << 32 | u64::from(self.message.index)
    }
}

/// Messages under way by link: what a rule that adapts may know. A rule with local knowledge looks only at the links
/// that leave the switch where it chooses.
pub type UnderWay = IdVec<LinkId, u32>;

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

/// What a rule that chooses is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// One path for each message, drawn at random, whatever else is under way.
    Drawn,
    /// Several paths for each message, always the same for the same pair.
    Split,
    /// One path for each message, chosen by what is under way.
    Adaptive,
    /// Known by counting loads only: no message can ask for its path.
    Bound,
}

/// A rule that is asked for the way of each message when it starts.
pub trait Choice: Send + Sync + std::fmt::Debug {
    /// What it is like.
    fn manner(&self) -> Manner;

    /// Writes the way of a message to `path`, which is empty.
    fn choose(&self, start: Start, under_way: &UnderWay, path: &mut Path);

    /// Writes what a message takes on average over all that may be drawn; `false` where that depends on what else is
    /// under way.
    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool;
}
