//! Matching of sends and receives.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Channel of messages that do not overtake each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Channel {
    /// Sender, a rank of the world.
    pub from: u32,
    /// Receiver, a rank of the world.
    pub to: u32,
    /// Communicator, by [`Communicators::id`](super::Communicators::id).
    pub comm: u64,
    /// Tag.
    pub tag: i32,
}

/// Sends and receives without a partner so far, with the data kept for each.
///
/// Ranks may be read side by side or one after another: only the order on either side counts. Cost: a look-up
/// for each; memory: sends and receives without a partner, and an entry for each channel.
#[derive(Clone, Debug)]
pub struct Channels<S, R> {
    of: FxHashMap<Channel, Unmet<S, R>>,
}

/// Unmatched sends and receives of a channel. One of the two lists is empty.
#[derive(Clone, Debug)]
struct Unmet<S, R> {
    sends: VecDeque<S>,
    receives: VecDeque<R>,
}

impl<S, R> Default for Channels<S, R> {
    fn default() -> Self {
        Self { of: FxHashMap::default() }
    }
}

impl<S, R> Default for Unmet<S, R> {
    fn default() -> Self {
        Self { sends: VecDeque::new(), receives: VecDeque::new() }
    }
}

impl<S, R> Channels<S, R> {
    /// Adds the next send of a channel; returns it with the receive that takes it, if that has been posted.
    pub fn send(&mut self, channel: Channel, send: S) -> Option<(S, R)> {
        let unmet = self.of.entry(channel).or_default();
        match unmet.receives.pop_front() {
            Some(receive) => Some((send, receive)),
            None => {
                unmet.sends.push_back(send);
                None
            }
        }
    }

    /// Adds the next receive of a channel; returns it with the message that it takes, if that has been sent.
    pub fn receive(&mut self, channel: Channel, receive: R) -> Option<(S, R)> {
        let unmet = self.of.entry(channel).or_default();
        match unmet.sends.pop_front() {
            Some(send) => Some((send, receive)),
            None => {
                unmet.receives.push_back(receive);
                None
            }
        }
    }
}
