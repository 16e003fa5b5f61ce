//! The [mailboxes](super::matching) of many ranks, small as long as few messages wait.
//!
//! At nearly all ranks only a few receives and messages wait at a time. They are kept in lists in one pool
//! and searched from the front, as the standard describes it. A rank whose list exceeds a few entries has a
//! hashed [`Mailbox`] from then on. Both ways a receive takes the same message.

use super::matching::Mailbox;
use super::{ANY_SOURCE, ANY_TAG, Envelope};
use crate::ids::RankId;

/// End of a list.
const NIL: u32 = u32::MAX;
/// Marks a rank with a hashed mailbox when it is in the place of `first`; `last` is then the mailbox's
/// number.
const HASHED: u32 = u32::MAX - 1;
/// Largest number of waiting receives, or messages, of a rank that are searched one by one.
const LONGEST_LIST: u8 = 8;

/// A waiting receive or message.
#[derive(Clone, Copy, Debug)]
struct Node {
    envelope: Envelope,
    number: u32,
    next: u32,
}

/// Receives and messages that wait at a rank, in their order of arrival.
#[derive(Clone, Copy, Debug)]
struct Lists {
    /// First and last node of the receives, and of the messages.
    ends: [(u32, u32); 2],
    lengths: [u8; 2],
}

const RECEIVES: usize = 0;
const MESSAGES: usize = 1;

/// Mailboxes of all ranks: posted receives, and messages that have arrived.
#[derive(Clone, Debug)]
pub struct Mailboxes {
    ranks: Vec<Lists>,
    nodes: Vec<Node>,
    free: u32,
    hashed: Vec<Mailbox>,
}

/// Returns true if a receive can take a message.
#[inline]
fn fits(receive: Envelope, message: Envelope) -> bool {
    receive.comm == message.comm
        && (receive.peer == message.peer || receive.peer == ANY_SOURCE)
        && (receive.tag == message.tag || receive.tag == ANY_TAG)
}

impl Mailboxes {
    /// Creates empty mailboxes for `ranks` ranks.
    pub fn new(ranks: usize) -> Self {
        let empty = Lists { ends: [(NIL, NIL); 2], lengths: [0; 2] };
        Self { ranks: vec![empty; ranks], nodes: Vec::new(), free: NIL, hashed: Vec::new() }
    }

    /// Posts a receive of a rank. Returns the message it takes if one that fits has arrived; otherwise keeps
    /// the receive.
    #[inline]
    pub fn post(&mut self, rank: RankId, from: Envelope, receive: u32) -> Option<u32> {
        match self.take(rank, MESSAGES, |message| fits(from, message)) {
            Ok(Some(message)) => Some(message),
            Ok(None) => match self.keep(rank, RECEIVES, from, receive) {
                true => None,
                false => self.hash(rank).post(from, receive),
            },
            Err(mailbox) => mailbox.post(from, receive),
        }
    }

    /// Delivers a message to a rank. Returns the receive that takes it if one that fits is posted; otherwise
    /// keeps the message.
    #[inline]
    pub fn arrive(&mut self, rank: RankId, from: Envelope, message: u32) -> Option<u32> {
        match self.take(rank, RECEIVES, |receive| fits(receive, from)) {
            Ok(Some(receive)) => Some(receive),
            Ok(None) => match self.keep(rank, MESSAGES, from, message) {
                true => None,
                false => self.hash(rank).arrive(from, message),
            },
            Err(mailbox) => mailbox.arrive(from, message),
        }
    }

    /// Number of messages that no receive has taken.
    pub fn unexpected(&self) -> u64 {
        let few: u64 = self.ranks.iter().map(|lists| u64::from(lists.lengths[MESSAGES])).sum();
        few + self.hashed.iter().map(|mailbox| mailbox.unexpected() as u64).sum::<u64>()
    }

    /// Takes the first entry of a list that fits. For a rank with a hashed mailbox, returns the mailbox
    /// instead.
    #[inline]
    fn take(
        &mut self,
        rank: RankId,
        which: usize,
        fits: impl Fn(Envelope) -> bool,
    ) -> Result<Option<u32>, &mut Mailbox> {
        let lists = &mut self.ranks[rank.0 as usize];
        let (first, last) = lists.ends[which];
        if first == HASHED {
            return Err(&mut self.hashed[last as usize]);
        }
        let (mut before, mut at) = (NIL, first);
        while at != NIL {
            let Node { envelope, number, next } = self.nodes[at as usize];
            if fits(envelope) {
                match before {
                    NIL => lists.ends[which].0 = next,
                    before => self.nodes[before as usize].next = next,
                }
                if last == at {
                    lists.ends[which].1 = before;
                }
                lists.lengths[which] -= 1;
                self.nodes[at as usize].next = self.free;
                self.free = at;
                return Ok(Some(number));
            }
            (before, at) = (at, next);
        }
        Ok(None)
    }

    /// Appends to a list. Returns false if the list is too long already.
    #[inline]
    fn keep(&mut self, rank: RankId, which: usize, envelope: Envelope, number: u32) -> bool {
        let lists = &mut self.ranks[rank.0 as usize];
        if lists.lengths[which] == LONGEST_LIST {
            return false;
        }
        lists.lengths[which] += 1;
        let node = Node { envelope, number, next: NIL };
        let at = match self.free {
            NIL => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
            at => {
                self.free = std::mem::replace(&mut self.nodes[at as usize], node).next;
                at
            }
        };
        match lists.ends[which].1 {
            NIL => lists.ends[which] = (at, at),
            last => {
                self.nodes[last as usize].next = at;
                lists.ends[which].1 = at;
            }
        }
        true
    }

    /// Replaces the lists of a rank by a hashed mailbox with the same content.
    fn hash(&mut self, rank: RankId) -> &mut Mailbox {
        let mut mailbox = Mailbox::default();
        for which in [RECEIVES, MESSAGES] {
            let mut at = self.ranks[rank.0 as usize].ends[which].0;
            while at != NIL {
                let Node { envelope, number, next } = self.nodes[at as usize];
                // No entry takes another one: that would have happened when it arrived.
                match which {
                    RECEIVES => mailbox.post(envelope, number),
                    _ => mailbox.arrive(envelope, number),
                };
                self.nodes[at as usize].next = self.free;
                self.free = at;
                at = next;
            }
        }
        let at = self.hashed.len();
        self.ranks[rank.0 as usize] = Lists { ends: [(HASHED, at as u32); 2], lengths: [0; 2] };
        self.hashed.push(mailbox);
        &mut self.hashed[at]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Some cases are long enough to replace the lists by hashed mailboxes.
        #[test]
        fn lists_take_what_hashing_takes(
            steps in prop::collection::vec((any::<bool>(), 0_u32..2, 0_u32..4, 0_u32..4, 0_u32..2), 0..200),
        ) {
            let (mut lists, mut hashed) = (Mailboxes::new(2), [Mailbox::default(), Mailbox::default()]);
            for (number, (post, rank, peer, tag, comm)) in (0..).zip(steps) {
                let mailbox = &mut hashed[rank as usize];
                // 3 stands for a wildcard.
                let wild = |value: u32, any: u32| if post && value == 3 { any } else { value };
                let envelope = Envelope { peer: wild(peer, ANY_SOURCE), tag: wild(tag, ANY_TAG), comm };
                let (found, expected) = match post {
                    true => (lists.post(RankId(rank), envelope, number), mailbox.post(envelope, number)),
                    false => (lists.arrive(RankId(rank), envelope, number), mailbox.arrive(envelope, number)),
                };
                prop_assert_eq!(found, expected);
                let unexpected: usize = hashed.iter().map(Mailbox::unexpected).sum();
                prop_assert_eq!(lists.unexpected(), unexpected as u64);
            }
        }
    }

    #[test]
    fn more_than_a_few_are_hashed_in_their_order() {
        let mut mailboxes = Mailboxes::new(1);
        for number in 0..20 {
            assert_eq!(mailboxes.arrive(RankId(0), Envelope::world(number % 2, 0), number), None);
        }
        assert_eq!(mailboxes.hashed.len(), 1);
        let mut take = |peer| mailboxes.post(RankId(0), Envelope::world(peer, ANY_TAG), 0);
        assert_eq!([take(1), take(0), take(1), take(ANY_SOURCE)], [Some(1), Some(0), Some(3), Some(2)]);
        assert_eq!(mailboxes.unexpected(), 16);
    }
}
