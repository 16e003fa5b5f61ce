//! Names of ranks where some stand for others.
//!
//! A rank that is played sends to the peers that its program names. The representative of such a peer receives the
//! message, from the rank that its own program names. Routes are those from the sender to the named peer.

use std::sync::Arc;

use super::keys::COLLECTIVE;
use crate::ids::RankId;
use crate::program::Envelope;
use crate::symmetry::{Channel, Folded};

/// Names of the two ends of each message under way.
#[derive(Debug)]
pub(super) struct Names {
    folded: Arc<Folded>,
    /// By message: the receiver that the sender names, and the sender that the receiver names.
    ends: Vec<[RankId; 2]>,
}

impl Names {
    pub fn new(folded: Arc<Folded>) -> Self {
        Self { folded, ends: Vec::new() }
    }

    /// Returns the rank that is played and receives a message, and the envelope that it sees.
    pub fn delivery(&self, src: RankId, to: Envelope) -> (RankId, Envelope) {
        let inside = to.comm & COLLECTIVE;
        let Channel { peer, kind } = self.folded.expected(src, Channel { peer: to.peer, kind: to.comm & !COLLECTIVE });
        (self.folded.representative(RankId(to.peer)), Envelope { peer, tag: to.tag, comm: kind | inside })
    }

    /// Notes the names of a message; numbers of messages are reused.
    pub fn note(&mut self, message: u32, receiver: RankId, sender: RankId) {
        let at = message as usize;
        if self.ends.len() <= at {
            self.ends.resize(at + 1, [RankId(0); 2]);
        }
        self.ends[at] = [receiver, sender];
    }

    /// Returns the receiver that the sender of a message names.
    pub fn receiver(&self, message: u32) -> RankId {
        self.ends[message as usize][0]
    }

    /// Returns the sender that the receiver of a message names.
    pub fn sender(&self, message: u32) -> RankId {
        self.ends[message as usize][1]
    }

    /// Number of messages that a message of this sender stands for.
    pub fn times(&self, src: RankId) -> u64 {
        self.folded.times(src).into()
    }

    /// Returns for each rank the value of the one that is played for it.
    pub fn expand<T: Clone>(&self, played: &[T]) -> Vec<T> {
        self.folded.expand(played)
    }
}
