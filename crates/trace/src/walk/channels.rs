//! Which send meets which receive.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Messages that do not overtake each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Channel {
    /// Who sends, a rank of the world.
    pub from: u32,
    /// Who receives.
    pub to: u32,
    /// The communicator, by [`Communicators::id`](super::Communicators::id).
    pub comm: u64,
    /// The tag.
    pub tag: i32,
}

/// Sends and receives that have not met yet, with what is kept of each.
///
/// Ranks may be read side by side or one after the other: only the order on either side counts. Cost: a look-up for
/// each; memory: what has not met, and an entry for each channel.
#[derive(Clone, Debug)]
pub struct Channels<S, R> {
    of: FxHashMap<Channel, Unmet<S, R>>,
}

/// One of the two is empty.
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
    /// The next send of a channel, and the receive that takes it, if that has been posted.
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

    /// The next receive of a channel, and the message that it takes, if that has been sent.
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
