//! Rules that choose: asked when a message starts, they answer with one path or with several.

use super::steps::Steps;
use crate::ids::{IdVec, LinkId, MessageId, NodeId};

pub use super::path::Path;

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

    /// Writes the way of a packet to `path`, which is empty: from its source, or from the end of the one link that it
    /// could leave its source by, and has (`over`), or from the end of any link where it asks again. Returns whether it
    /// asks again where the first link of that way ends.
    ///
    /// The packet is told apart from others by the message of `start`, which is no message of the program here; and
    /// `under_way` are packets. A way of several paths says how likely each link is for a packet.
    fn choose_for_packet(&self, start: Start, over: Option<LinkId>, under_way: &UnderWay, path: &mut Path) -> bool {
        self.choose(start, under_way, path);
        if over.is_some() && path.links.first() == over.as_ref() {
            path.links.remove(0);
            if !path.parts.is_empty() {
                path.parts.remove(0);
            }
        }
        false
    }

    /// Goes through all that packets may do under this rule, whatever is drawn and whatever is under way; `false` where
    /// the rule cannot tell.
    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        let _ = steps;
        false
    }

    /// Writes what a message takes on average over all that may be drawn; `false` where that depends on what else is
    /// under way.
    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool;
}
