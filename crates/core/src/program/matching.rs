//! Matching of messages and receives: by communicator, source and tag, in order.
//!
//! A [`Mailbox`] belongs to one rank. An arriving message takes the oldest posted receive that fits it; a
//! newly posted receive takes the oldest arrived message that fits. So messages between two ranks that fit
//! the same receives are taken in order of arrival, as MPI requires. The mailbox knows receives and messages
//! only by their numbers.
//!
//! Posted receives are hashed by their envelope: (communicator, source, tag), in which source and tag may be
//! wildcards. A message looks in at most four places, one for each combination of wildcards, and takes the
//! oldest receive found there. Unexpected messages are hashed by their envelope, and by each combination of
//! wildcards that the rank has ever used. Every step takes constant time, however many receives and messages
//! wait.

use rustc_hash::FxHashMap;

use super::{ANY_SOURCE, ANY_TAG, Envelope};

/// End of a list: no node.
const NIL: u32 = u32::MAX;

/// First and last node of a list.
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

/// A posted receive.
#[derive(Clone, Copy, Debug)]
struct Receive {
    number: u32,
    /// Position in the order of posting.
    age: u32,
    next: u32,
}

/// An unexpected message: no receive has asked for it yet.
#[derive(Clone, Copy, Debug)]
struct Unexpected {
    number: u32,
    /// Position in the order of arrival.
    age: u32,
    from: Envelope,
    /// Neighbours in the lists of the four combinations of wildcards, as far as these lists are kept.
    links: [(u32, u32); 4],
}

/// Mailbox of a rank: posted receives, and unexpected messages.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    posted: FxHashMap<Envelope, List>,
    receives: Vec<Receive>,
    free_receives: Vec<u32>,
    /// Number of posted receives by combination of wildcards.
    count: [u32; 4],
    waiting: FxHashMap<Envelope, List>,
    messages: Vec<Unexpected>,
    free_messages: Vec<u32>,
    /// Combinations of wildcards that the rank has used, as bits.
    used: u8,
    age: u32,
}

/// Returns the combination of wildcards: bit 0 for any source, bit 1 for any tag.
fn combination(envelope: Envelope) -> usize {
    usize::from(envelope.peer == ANY_SOURCE) | usize::from(envelope.tag == ANY_TAG) << 1
}

/// Returns the envelope of a receive that has this combination of wildcards and fits the message.
fn widened(mut envelope: Envelope, combination: usize) -> Envelope {
    if combination & 1 != 0 {
        envelope.peer = ANY_SOURCE;
    }
    if combination & 2 != 0 {
        envelope.tag = ANY_TAG;
    }
    envelope
}

impl Mailbox {
    /// Posts a receive. Returns the message it takes if one that fits has arrived; otherwise keeps the
    /// receive.
    pub fn post(&mut self, from: Envelope, receive: u32) -> Option<u32> {
        if let Some(node) = self.find(from) {
            return Some(self.take(node));
        }
        let node = Receive { number: receive, age: self.next_age(), next: NIL };
        let at = slot(&mut self.receives, &mut self.free_receives, node);
        self.count[combination(from)] += 1;
        match self.posted.get_mut(&from) {
            Some(list) => {
                self.receives[list.tail as usize].next = at;
                list.tail = at;
            }
            None => {
                self.posted.insert(from, List { head: at, tail: at });
            }
        }
        None
    }

    /// Delivers a message. Returns the receive that takes it if one that fits is posted; otherwise keeps the
    /// message.
    pub fn arrive(&mut self, from: Envelope, message: u32) -> Option<u32> {
        // Choose the oldest of the first receives of the four lists.
        let mut oldest: Option<(u32, usize)> = None;
        for combination in 0..4 {
            if self.count[combination] > 0
                && let Some(list) = self.posted.get(&widened(from, combination))
            {
                let age = self.receives[list.head as usize].age;
                if oldest.is_none_or(|(other, _)| age < other) {
                    oldest = Some((age, combination));
                }
            }
        }
        match oldest {
            Some((_, combination)) => Some(self.take_receive(widened(from, combination), combination)),
            None => {
                self.keep(from, message);
                None
            }
        }
    }

    /// Returns the message that a receive would take, without taking it.
    pub fn peek(&mut self, from: Envelope) -> Option<u32> {
        self.find(from).map(|node| self.messages[node as usize].number)
    }

    /// Number of posted receives that wait.
    pub fn posted(&self) -> usize {
        self.receives.len() - self.free_receives.len()
    }

    /// Number of unexpected messages.
    pub fn unexpected(&self) -> usize {
        self.messages.len() - self.free_messages.len()
    }

    /// Returns the unexpected messages: their numbers and envelopes.
    pub fn waiting(&self) -> Vec<(u32, Envelope)> {
        let mut free = vec![false; self.messages.len()];
        self.free_messages.iter().for_each(|&at| free[at as usize] = true);
        let kept = self.messages.iter().zip(free).filter(|(_, free)| !free);
        kept.map(|(message, _)| (message.number, message.from)).collect()
    }

    fn next_age(&mut self) -> u32 {
        // After 2^32 receives and messages of one rank, the order of those still waiting may be wrong.
        self.age = self.age.wrapping_add(1);
        self.age
    }

    /// Takes the first receive of a list.
    fn take_receive(&mut self, key: Envelope, combination: usize) -> u32 {
        let list = self.posted.get_mut(&key).expect("the list was found");
        let at = list.head;
        let Receive { number, next, .. } = self.receives[at as usize];
        match next {
            NIL => {
                self.posted.remove(&key);
            }
            next => list.head = next,
        }
        self.count[combination] -= 1;
        self.free_receives.push(at);
        number
    }

    /// Returns the oldest message that a receive could take.
    fn find(&mut self, from: Envelope) -> Option<u32> {
        let combination = combination(from);
        if combination != 0 && self.used & 1 << combination == 0 {
            self.index(combination);
        }
        self.waiting.get(&from).map(|list| list.head)
    }

    /// Starts to keep the lists of a combination of wildcards.
    fn index(&mut self, combination: usize) {
        self.used |= 1 << combination;
        let mut free = vec![false; self.messages.len()];
        self.free_messages.iter().for_each(|&at| free[at as usize] = true);
        let mut nodes: Vec<u32> = (0..self.messages.len() as u32).filter(|&at| !free[at as usize]).collect();
        nodes.sort_unstable_by_key(|&at| self.messages[at as usize].age);
        for node in nodes {
            self.append(node, combination);
        }
    }

    /// Keeps an unexpected message.
    fn keep(&mut self, from: Envelope, message: u32) {
        let node = Unexpected { number: message, age: self.next_age(), from, links: [(NIL, NIL); 4] };
        let at = slot(&mut self.messages, &mut self.free_messages, node);
        for combination in 0..4 {
            if combination == 0 || self.used & 1 << combination != 0 {
                self.append(at, combination);
            }
        }
    }

    fn append(&mut self, at: u32, combination: usize) {
        let key = widened(self.messages[at as usize].from, combination);
        let list = self.waiting.entry(key).or_insert(List { head: NIL, tail: NIL });
        let before = std::mem::replace(&mut list.tail, at);
        self.messages[at as usize].links[combination] = (before, NIL);
        match before {
            NIL => list.head = at,
            before => self.messages[before as usize].links[combination].1 = at,
        }
    }

    /// Takes a message out of all its lists.
    fn take(&mut self, at: u32) -> u32 {
        let Unexpected { number, from, links, .. } = self.messages[at as usize];
        for (combination, &(before, after)) in links.iter().enumerate() {
            if combination != 0 && self.used & 1 << combination == 0 {
                continue;
            }
            let key = widened(from, combination);
            match (before, after) {
                (NIL, NIL) => {
                    self.waiting.remove(&key);
                    continue;
                }
                (NIL, after) => self.waiting.get_mut(&key).expect("the message is in it").head = after,
                (before, NIL) => self.waiting.get_mut(&key).expect("the message is in it").tail = before,
                _ => {}
            }
            if before != NIL {
                self.messages[before as usize].links[combination].1 = after;
            }
            if after != NIL {
                self.messages[after as usize].links[combination].0 = before;
            }
        }
        self.free_messages.push(at);
        number
    }
}

/// Puts a node into a free slot.
fn slot<T>(nodes: &mut Vec<T>, free: &mut Vec<u32>, node: T) -> u32 {
    match free.pop() {
        Some(at) => {
            nodes[at as usize] = node;
            at
        }
        None => {
            nodes.push(node);
            (nodes.len() - 1) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn from(peer: u32, tag: u32) -> Envelope {
        Envelope::world(peer, tag)
    }

    #[test]
    fn messages_of_one_sender_are_taken_in_order_whatever_the_receives_ask_for() {
        let mut mailbox = Mailbox::default();
        for (number, tag) in [(0, 5), (1, 5), (2, 6)] {
            assert_eq!(mailbox.arrive(from(1, tag), number), None);
        }
        assert_eq!(mailbox.peek(from(ANY_SOURCE, 6)), Some(2));
        assert_eq!(mailbox.post(from(1, ANY_TAG), 0), Some(0));
        assert_eq!(mailbox.post(from(ANY_SOURCE, 5), 1), Some(1));
        assert_eq!(mailbox.post(from(1, 6), 2), Some(2));
        assert_eq!(mailbox.unexpected(), 0);
    }

    #[test]
    fn a_message_takes_the_oldest_receive_that_fits() {
        let mut mailbox = Mailbox::default();
        mailbox.post(from(ANY_SOURCE, ANY_TAG), 10);
        mailbox.post(from(1, 5), 11);
        mailbox.post(from(1, ANY_TAG), 12);
        assert_eq!(mailbox.arrive(from(1, 5), 0), Some(10));
        assert_eq!(mailbox.arrive(from(1, 5), 1), Some(11));
        assert_eq!(mailbox.arrive(from(2, 5), 2), None);
        assert_eq!(mailbox.arrive(from(1, 5), 3), Some(12));
    }

    #[test]
    fn communicators_are_kept_apart() {
        let mut mailbox = Mailbox::default();
        mailbox.post(Envelope { comm: 1, ..from(ANY_SOURCE, ANY_TAG) }, 10);
        assert_eq!(mailbox.arrive(from(0, 0), 0), None);
        assert_eq!(mailbox.arrive(Envelope { comm: 1, ..from(0, 0) }, 1), Some(10));
    }

    /// Reference: plain lists searched from the front, as the standard describes it.
    #[derive(Default)]
    struct Plain {
        posted: Vec<(Envelope, u32)>,
        waiting: Vec<(Envelope, u32)>,
    }

    fn fits(receive: Envelope, message: Envelope) -> bool {
        receive.comm == message.comm
            && (receive.peer == ANY_SOURCE || receive.peer == message.peer)
            && (receive.tag == ANY_TAG || receive.tag == message.tag)
    }

    proptest! {
        #[test]
        fn hashing_takes_what_a_search_from_the_front_takes(
            steps in prop::collection::vec((any::<bool>(), 0_u32..4, 0_u32..4, 0_u32..2), 0..200),
        ) {
            let (mut mailbox, mut plain) = (Mailbox::default(), Plain::default());
            for (number, (post, peer, tag, comm)) in (0..).zip(steps) {
                if post {
                    // 3 stands for a wildcard.
                    let envelope = Envelope {
                        peer: if peer == 3 { ANY_SOURCE } else { peer },
                        tag: if tag == 3 { ANY_TAG } else { tag },
                        comm,
                    };
                    let at = plain.waiting.iter().position(|(message, _)| fits(envelope, *message));
                    let expected = at.map(|at| plain.waiting.remove(at).1);
                    if expected.is_none() {
                        plain.posted.push((envelope, number));
                    }
                    prop_assert_eq!(mailbox.post(envelope, number), expected);
                } else {
                    let envelope = Envelope { peer, tag, comm };
                    let at = plain.posted.iter().position(|(receive, _)| fits(*receive, envelope));
                    let expected = at.map(|at| plain.posted.remove(at).1);
                    if expected.is_none() {
                        plain.waiting.push((envelope, number));
                    }
                    prop_assert_eq!(mailbox.arrive(envelope, number), expected);
                }
                prop_assert_eq!(mailbox.posted(), plain.posted.len());
                prop_assert_eq!(mailbox.unexpected(), plain.waiting.len());
            }
        }
    }
}
