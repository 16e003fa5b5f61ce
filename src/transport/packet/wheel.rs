//! The events of packets in order of time; those of one time in the order in which they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No entry.
const NONE: u32 = u32::MAX;

/// Something that happens at a time; what `what` and `which` mean is the model's own business.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Event {
    /// \[ticks\].
    pub time: u64,
    pub what: u32,
    pub which: u32,
}

/// A timing wheel.
///
/// Packets of a fabric take about the same time everywhere, so nearly every event lies less than one turn of the wheel
/// ahead: it is appended to the list of its slot, and found again by the bits that say which slots hold anything. A
/// slot is narrow enough to hold about one event where times are spread, and all of one instant where packets run in
/// lock step; its few events are put in order when its turn comes. What lies further ahead waits in a heap.
///
/// Stable: events of one time come in the order of [`Wheel::push`], which is how ns-3 orders them too. Entries of a
/// slot are in that order, sorting keeps it, and what comes from the heap is in its slot before anything can be pushed
/// there directly.
///
/// Cost: push O(1), pop O(1) and a sort of the slot; 16 B a slot and 24 B an event.
#[derive(Debug)]
pub(super) struct Wheel {
    /// A slot is `2^shift` ticks wide.
    shift: u32,
    /// Number of slots, a power of two; one less.
    mask: u64,
    /// By slot: the first and the last entry of its list.
    slots: Vec<[u32; 2]>,
    /// Which slots hold anything, and which words of that do.
    bits: Vec<u64>,
    words: Vec<u64>,
    nodes: Vec<Node>,
    /// The first of the unused nodes.
    free: u32,
    /// The number of the slot that is being emptied, counted from time 0.
    turn: u64,
    /// Its events, in order, from `at` on.
    current: Vec<Event>,
    at: usize,
    later: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    /// Events that went into the heap so far, to keep their order.
    delayed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    event: Event,
    next: u32,
}

impl Wheel {
    /// An empty wheel for about `events` events at once that lie up to `delay` \[ticks\] ahead.
    pub(super) fn new(events: usize, delay: u64) -> Self {
        let slots: u64 = if events > 4096 { 1 << 15 } else { 1 << 12 };
        // A turn is at least twice the delay.
        let width = (delay.max(1).saturating_mul(2) / slots).max(1);
        Self {
            shift: width.next_power_of_two().trailing_zeros(),
            mask: slots - 1,
            slots: vec![[NONE; 2]; slots as usize],
            bits: vec![0; slots as usize / 64],
            words: vec![0; slots as usize / 64 / 64],
            nodes: Vec::new(),
            free: NONE,
            turn: 0,
            current: Vec::new(),
            at: 0,
            later: BinaryHeap::new(),
            delayed: 0,
        }
    }

    /// Whether nothing is scheduled.
    pub(super) fn is_empty(&self) -> bool {
        self.at == self.current.len() && self.later.is_empty() && self.next_slot().is_none()
    }

    /// Schedules an event, not before the last one that was popped.
    #[inline(always)]
    pub(super) fn push(&mut self, event: Event) {
        let turn = event.time >> self.shift;
        debug_assert!(turn >= self.turn, "an event in the past");
        let ahead = turn.wrapping_sub(self.turn);
        // From 1 to the mask.
        if ahead.wrapping_sub(1) < self.mask {
            self.append(turn, event);
        } else {
            self.push_elsewhere(ahead, event);
        }
    }

    /// Schedules an event in the slot that is being emptied, or further ahead than a turn.
    #[cold]
    #[inline(never)]
    fn push_elsewhere(&mut self, ahead: u64, event: Event) {
        if ahead == 0 {
            // Behind those of the same time.
            let place = self.current[self.at..].partition_point(|other| other.time <= event.time);
            self.current.insert(self.at + place, event);
        } else {
            self.later.push(Reverse((event.time, self.delayed, event.what, event.which)));
            self.delayed += 1;
        }
    }

    /// Renames what `which` stands for, in all events.
    pub(super) fn rename(&mut self, name: impl Fn(u32) -> u32) {
        for node in &mut self.nodes {
            node.event.which = name(node.event.which);
        }
        for event in &mut self.current[self.at..] {
            event.which = name(event.which);
        }
        let later = std::mem::take(&mut self.later).into_iter();
        self.later =
            later.map(|Reverse((time, order, what, which))| Reverse((time, order, what, name(which)))).collect();
    }

    #[inline(always)]
    fn append(&mut self, turn: u64, event: Event) {
        let node = Node { event, next: NONE };
        let id = if self.free == NONE {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            let id = self.free;
            self.free = self.nodes[id as usize].next;
            self.nodes[id as usize] = node;
            id
        };
        let slot = (turn & self.mask) as usize;
        let [first, last] = self.slots[slot];
        if first == NONE {
            self.slots[slot] = [id, id];
            self.bits[slot / 64] |= 1 << (slot % 64);
            self.words[slot / 4096] |= 1 << (slot / 64 % 64);
        } else {
            self.nodes[last as usize].next = id;
            self.slots[slot][1] = id;
        }
    }

    /// Takes out the next event, if it happens by `limit`.
    #[inline(always)]
    pub(super) fn pop(&mut self, limit: u64) -> Option<Event> {
        match self.current.get(self.at) {
            Some(&event) if event.time <= limit => {
                self.at += 1;
                Some(event)
            }
            Some(_) => None,
            None => self.advance(limit),
        }
    }

    /// Goes on to the next slot that holds anything, if it begins by `limit`, and takes out its first event.
    #[inline(always)]
    fn advance(&mut self, limit: u64) -> Option<Event> {
        let next = match self.next_slot() {
            Some(turn) => turn,
            None => self.later.peek()?.0.0 >> self.shift,
        };
        if next > limit >> self.shift {
            return None;
        }
        self.turn = next;
        if !self.later.is_empty() {
            self.bring_near();
        }
        let slot = (next & self.mask) as usize;
        let [first, last] = std::mem::replace(&mut self.slots[slot], [NONE; 2]);
        self.bits[slot / 64] &= !(1 << (slot % 64));
        if self.bits[slot / 64] == 0 {
            self.words[slot / 4096] &= !(1 << (slot / 64 % 64));
        }
        if self.at > 0 {
            self.current.clear();
            self.at = 0;
        }
        let free = std::mem::replace(&mut self.free, first);
        if first == last {
            let node = &mut self.nodes[first as usize];
            node.next = free;
            if node.event.time <= limit {
                return Some(node.event);
            }
            self.current.push(node.event);
            return None;
        }
        self.gather(first, last, free);
        let event = self.current[0];
        self.at = usize::from(event.time <= limit);
        (self.at > 0).then_some(event)
    }

    /// Moves what lies less than a turn ahead now from the heap to its slots.
    #[cold]
    #[inline(never)]
    fn bring_near(&mut self) {
        while let Some(&Reverse((time, _, what, which))) = self.later.peek()
            && (time >> self.shift) - self.turn <= self.mask
        {
            self.later.pop();
            self.append(time >> self.shift, Event { time, what, which });
        }
    }

    /// Puts the events of a list in order; its nodes go in front of the free ones.
    #[inline(never)]
    fn gather(&mut self, first: u32, last: u32, free: u32) {
        let mut id = first;
        let mut sorted = true;
        let mut latest = 0;
        loop {
            let node = self.nodes[id as usize];
            sorted &= node.event.time >= latest;
            latest = node.event.time;
            self.current.push(node.event);
            if id == last {
                break;
            }
            id = node.next;
        }
        self.nodes[last as usize].next = free;
        if !sorted {
            self.current.sort_by_key(|event| event.time);
        }
    }

    /// The number of the next slot that holds anything.
    #[inline(always)]
    fn next_slot(&self) -> Option<u64> {
        let here = (self.turn & self.mask) as usize;
        let distance = |slot: usize| ((slot as u64).wrapping_sub(here as u64)) & self.mask;
        // The rest of this word, the rest of this word of words, then all words, of which the first comes once more.
        let rest = self.bits[here / 64] & (!0 << (here % 64)) & !(1 << (here % 64));
        if rest != 0 {
            return Some(self.turn + distance(here / 64 * 64 + rest.trailing_zeros() as usize));
        }
        let word = here / 64;
        let above = self.words[word / 64] & !(!0 >> (63 - word % 64));
        let found = if above != 0 {
            word / 64 * 64 + above.trailing_zeros() as usize
        } else {
            let count = self.words.len();
            let i = (1..=count).map(|step| (word / 64 + step) % count).find(|&i| self.words[i] != 0)?;
            i * 64 + self.words[i].trailing_zeros() as usize
        };
        Some(self.turn + distance(found * 64 + self.bits[found].trailing_zeros() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list that is searched for the first of the smallest times: with delays of all sizes, horizons
        /// that end between events, and events that follow each other within a slot.
        #[test]
        fn events_come_in_order_of_time_and_then_of_pushing(
            delay in 1u64..100_000,
            steps in proptest::collection::vec((0u64..1_000_000, 0u32..20, any::<bool>()), 1..400),
        ) {
            let mut wheel = Wheel::new(10, delay);
            let mut list: Vec<Event> = Vec::new();
            let mut now = 0;
            for (i, (far, shift, stop)) in steps.into_iter().enumerate() {
                let event = Event { time: now + (far >> shift), what: i as u32, which: 7 };
                wheel.push(event);
                list.push(event);
                let limit = if stop { now + far / 3 } else { u64::MAX };
                let first = (0..list.len()).min_by_key(|&i| list[i].time).filter(|&i| list[i].time <= limit);
                let expected = first.map(|i| list.remove(i));
                prop_assert_eq!(wheel.pop(limit), expected);
                now = expected.map_or(if stop { limit } else { now }, |event| event.time);
                if i % 3 == 0 {
                    let more = Event { time: now + (far >> 7), what: u32::MAX, which: i as u32 };
                    wheel.push(more);
                    list.push(more);
                }
            }
            list.sort_by_key(|event| event.time);
            for event in list {
                prop_assert_eq!(wheel.pop(u64::MAX), Some(event));
            }
            prop_assert_eq!(wheel.pop(u64::MAX), None);
        }
    }
}
