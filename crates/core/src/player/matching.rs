//! Matching of receives and messages: wildcards, unexpected messages, and the order of sending.
//!
//! Messages from one rank to another form a channel and are matched in the order in which they were sent;
//! bytes may overtake. When the envelope of a message has arrived, so have those of all messages sent before
//! on its channel. Only a request of a rendezvous that is still in flight holds up the messages after it.
//! Then the receiver's [`Mailbox`] finds the match.

use rustc_hash::FxHashMap;

use super::slab::NIL;
use crate::ids::{IdVec, RankId};
use crate::program::Envelope;
use crate::program::matching::Mailbox;

/// Envelopes in flight, and the mailboxes of ranks. It knows messages and receives only by their numbers.
#[derive(Debug)]
pub(super) struct Matching {
    mailboxes: IdVec<RankId, Mailbox>,
    /// Channels with envelopes in flight.
    channels: FxHashMap<(RankId, RankId), Channel>,
    /// Envelope of each message.
    envelopes: Vec<OnChannel>,
}

/// Messages between two ranks whose envelopes have not arrived yet, in the order in which they were sent.
#[derive(Clone, Copy, Debug)]
struct Channel {
    /// Number of messages sent.
    sent: u32,
    /// First and last message of the list.
    first: u32,
    last: u32,
    /// Number of messages at the front that have arrived, or have been followed by one that has.
    reached: u32,
}

/// A message on its channel.
#[derive(Clone, Copy, Debug)]
struct OnChannel {
    src: RankId,
    dst: RankId,
    /// Envelope that a receive sees.
    envelope: Envelope,
    /// Position on the channel.
    place: u32,
    /// Message sent after it, if there is one.
    next: u32,
    state: EnvelopeState,
}

/// State of an envelope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EnvelopeState {
    /// It comes with a request that is in flight, and arrives only with that, whatever overtakes it.
    Request,
    /// It may be matched as soon as a later one has arrived.
    UnderWay,
    /// It has been handed to the mailbox.
    There,
}

/// An envelope that has reached its mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Matched {
    pub message: u32,
    /// Receive that takes it; `None` if the message is unexpected.
    pub receive: Option<u32>,
    /// True if the next envelope on its channel may have arrived as well.
    pub more: bool,
}

impl Matching {
    pub fn new(ranks: usize) -> Self {
        Self {
            mailboxes: IdVec::filled(ranks, Mailbox::default()),
            channels: FxHashMap::default(),
            envelopes: Vec::new(),
        }
    }

    /// Adds a message that is sent; with `asks` its envelope comes with a request.
    pub fn send(&mut self, message: u32, src: RankId, dst: RankId, envelope: Envelope, asks: bool) {
        let empty = Channel { sent: 0, first: NIL, last: NIL, reached: 0 };
        let channel = self.channels.entry((src, dst)).or_insert(empty);
        let state = if asks { EnvelopeState::Request } else { EnvelopeState::UnderWay };
        let new = OnChannel { src, dst, envelope, place: channel.sent, next: NIL, state };
        channel.sent += 1;
        match std::mem::replace(&mut channel.last, message) {
            NIL => channel.first = message,
            before => self.envelopes[before as usize].next = message,
        }
        match self.envelopes.get_mut(message as usize) {
            Some(place) => *place = new,
            None => {
                // Numbers are reused, so a new number is the next one.
                debug_assert_eq!(self.envelopes.len(), message as usize);
                self.envelopes.push(new);
            }
        }
    }

    /// Returns true if the envelope of a message has reached its mailbox.
    #[inline]
    pub fn is_there(&self, message: u32) -> bool {
        self.envelopes[message as usize].state == EnvelopeState::There
    }

    /// Notes that a request has arrived, so that its envelope need not wait any more.
    pub fn request_arrives(&mut self, message: u32) {
        self.envelopes[message as usize].state = EnvelopeState::UnderWay;
    }

    /// Notes that the envelope of a message has arrived, with those of all messages sent before it on its
    /// channel. Returns the first of them that reaches the mailbox.
    pub fn arrive(&mut self, message: u32) -> Option<Matched> {
        let OnChannel { src, dst, place, .. } = self.envelopes[message as usize];
        let channel = self.channels.get_mut(&(src, dst))?;
        channel.reached = channel.reached.max(place + 1);
        let channel = *channel;
        self.first(src, dst, channel)
    }

    /// Returns the next envelope on the channel of this message that reaches the mailbox, after
    /// [`Matched::more`].
    pub fn next(&mut self, message: u32) -> Option<Matched> {
        let OnChannel { src, dst, .. } = self.envelopes[message as usize];
        let channel = *self.channels.get(&(src, dst))?;
        self.first(src, dst, channel)
    }

    /// Hands the first envelope of a channel to the mailbox, if it has arrived.
    fn first(&mut self, src: RankId, dst: RankId, channel: Channel) -> Option<Matched> {
        let message = channel.first;
        let found = &mut self.envelopes[message as usize];
        if found.place >= channel.reached || found.state == EnvelopeState::Request {
            return None;
        }
        found.state = EnvelopeState::There;
        let OnChannel { next, envelope, .. } = *found;
        if next == NIL {
            self.channels.remove(&(src, dst));
        } else if let Some(channel) = self.channels.get_mut(&(src, dst)) {
            channel.first = next;
        }
        let receive = self.mailboxes[dst].arrive(envelope, message);
        Some(Matched { message, receive, more: next != NIL })
    }

    /// Posts a receive. Returns the message that it takes, if one that fits has arrived.
    pub fn post(&mut self, rank: RankId, from: Envelope, receive: u32) -> Option<u32> {
        self.mailboxes[rank].post(from, receive)
    }

    /// Returns the message that a receive would take.
    pub fn peek(&mut self, rank: RankId, from: Envelope) -> Option<u32> {
        self.mailboxes[rank].peek(from)
    }

    /// Number of unexpected messages.
    pub fn unexpected(&self) -> u64 {
        self.mailboxes.iter().map(|mailbox| mailbox.unexpected() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::{ANY_SOURCE, ANY_TAG};

    const SRC: RankId = RankId(0);
    const DST: RankId = RankId(1);

    fn tagged(tag: u32) -> Envelope {
        Envelope::world(SRC.0, tag)
    }

    /// Returns all (message, receive) that reach the mailbox because this message has arrived.
    fn arrive(matching: &mut Matching, message: u32) -> Vec<(u32, Option<u32>)> {
        let mut all = Vec::new();
        let mut next = matching.arrive(message);
        while let Some(Matched { message, receive, more }) = next {
            all.push((message, receive));
            next = if more { matching.next(message) } else { None };
        }
        all
    }

    #[test]
    fn bytes_overtake_envelopes_do_not() {
        let mut matching = Matching::new(2);
        for message in 0..3 {
            matching.send(message, SRC, DST, tagged(5), false);
        }
        assert_eq!(matching.post(DST, tagged(5), 7), None);
        assert_eq!(matching.post(DST, Envelope::world(ANY_SOURCE, ANY_TAG), 8), None);
        // The second message arrives first: so does the envelope of the first, which takes the older receive.
        assert_eq!(arrive(&mut matching, 1), [(0, Some(7)), (1, Some(8))]);
        assert!(matching.is_there(0) && !matching.is_there(2));
        assert_eq!(arrive(&mut matching, 2), [(2, None)]);
        assert_eq!((matching.unexpected(), matching.peek(DST, tagged(5))), (1, Some(2)));
    }

    #[test]
    fn a_request_on_its_way_holds_up_those_sent_after_it() {
        let mut matching = Matching::new(2);
        matching.send(0, SRC, DST, tagged(1), false);
        matching.send(1, SRC, DST, tagged(1), true);
        matching.send(2, SRC, DST, tagged(1), false);
        assert_eq!(arrive(&mut matching, 2), [(0, None)]);
        matching.request_arrives(1);
        assert_eq!(arrive(&mut matching, 1), [(1, None), (2, None)]);
    }

    #[test]
    fn channels_are_apart_and_begin_anew_when_they_are_empty() {
        let mut matching = Matching::new(3);
        matching.send(0, SRC, DST, tagged(1), true);
        matching.send(1, RankId(2), DST, Envelope::world(2, 1), false);
        assert_eq!(arrive(&mut matching, 1), [(1, None)]);
        matching.request_arrives(0);
        assert_eq!(arrive(&mut matching, 0), [(0, None)]);
        // The number is reused, and the channel is empty.
        matching.send(0, SRC, DST, tagged(1), false);
        assert_eq!(arrive(&mut matching, 0), [(0, None)]);
        assert!(matching.channels.is_empty());
    }

    proptest! {
        /// For any order of arrival, each message reaches the mailbox once, in the order of sending, and none
        /// before its request.
        #[test]
        fn messages_of_a_channel_come_to_the_mailbox_in_the_order_of_sending(
            asks in prop::collection::vec(any::<bool>(), 1..12),
            order in prop::collection::vec(0_u32..12, 0..40),
        ) {
            let mut matching = Matching::new(2);
            let count = asks.len() as u32;
            for (message, &asks) in (0..).zip(&asks) {
                matching.send(message, SRC, DST, tagged(message), asks);
            }
            let (mut there, mut seen) = (0, vec![false; asks.len()]);
            for message in order.into_iter().filter(|&message| message < count).chain(0..count) {
                if std::mem::replace(&mut seen[message as usize], true) || matching.is_there(message) {
                    continue;
                }
                if asks[message as usize] {
                    matching.request_arrives(message);
                }
                for (message, receive) in arrive(&mut matching, message) {
                    prop_assert_eq!((message, receive), (there, None));
                    prop_assert!(seen[message as usize] || !asks[message as usize]);
                    there += 1;
                }
            }
            prop_assert_eq!((there, matching.unexpected()), (count, u64::from(count)));
        }
    }
}
