//! Rules that choose a path, or several, when a message starts.

use super::steps::Steps;
use crate::ids::{IdVec, LinkId, MessageId, NodeId};

pub use super::path::Path;

/// Message that is about to start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartingMessage {
    /// Source node.
    pub src: NodeId,
    /// Destination node, different from the source.
    pub dst: NodeId,
    /// Number of the message. Random choices are drawn by it, so that they do not depend on other events.
    pub message: MessageId,
}

impl StartingMessage {
    /// Returns the message as a number.
    pub(super) fn key(&self) -> u64 {
        u64::from(self.message.src.0) << 32 | u64::from(self.message.index)
    }
}

/// Messages under way by link: the information available to an adaptive rule. A rule with local knowledge
/// looks only at the links that leave the switch where it chooses.
pub type UnderWay = IdVec<LinkId, u32>;

/// Kind of a rule that chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceKind {
    /// One path for each message, drawn at random, independent of other messages.
    Drawn,
    /// Several paths for each message, always the same for the same pair.
    Split,
    /// One path for each message, chosen by the messages under way.
    Adaptive,
    /// Loads can be counted but no path can be chosen for a message.
    Bound,
}

/// Rule that chooses the path of each message when it starts.
pub trait Choice: Send + Sync + std::fmt::Debug {
    /// Returns the kind of the rule.
    fn kind(&self) -> ChoiceKind;

    /// Writes the path of a message to `path`, which is empty.
    fn choose(&self, start: StartingMessage, under_way: &UnderWay, path: &mut Path);

    /// Writes the path of a packet to `path`, which is empty. Returns true if the rule chooses again at the
    /// end of the first link of that path.
    ///
    /// The path begins at the packet's source, or at the end of link `over`. That link is the only one by
    /// which the packet could leave its source, or any link at whose end the rule chooses again.
    ///
    /// The message of `start` only distinguishes the packet from others; it is not a message of the program.
    /// `under_way` counts packets. If `path` has several paths, its parts are the probabilities of the links
    /// for a packet.
    fn choose_for_packet(
        &self,
        start: StartingMessage,
        over: Option<LinkId>,
        under_way: &UnderWay,
        path: &mut Path,
    ) -> bool {
        self.choose(start, under_way, path);
        if over.is_some() && path.links.first() == over.as_ref() {
            path.links.remove(0);
            if !path.parts.is_empty() {
                path.parts.remove(0);
            }
        }
        false
    }

    /// Visits all steps that packets may take under this rule, for any draws and any traffic. Returns `false`
    /// if the rule does not know them.
    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        let _ = steps;
        false
    }

    /// Writes the average path of a message over all draws. Returns `false` if it depends on other traffic.
    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool;
}
