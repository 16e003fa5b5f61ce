//! Timing wheel: events in order of time; those of one time are in the order in which they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Value for no entry.
const NONE: u32 = u32::MAX;

/// Event at a time; the model defines the meaning of `what` and `which`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// Time \[ticks\].
    pub time: u64,
    pub what: u32,
    pub which: u32,
}

/// Event, and the time from its scheduling to the event \[ticks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scheduled {
    pub event: Event,
    pub delay: u64,
}

/// Timing wheel.
///
/// Packets of a fabric take about the same time everywhere. So nearly every event lies less than one turn of
/// the wheel ahead, even those with delays that have no line of their own. It is appended to the list of its
/// slot, and found again by the bits of non-empty slots. A slot is narrow enough to hold about one event
/// where times are spread, and all events of one instant where packets run in lock step. Its few events are
/// sorted when its turn comes. Events further ahead wait in a heap.
///
/// The wheel is stable: events of one time come in the order of [`Wheel::push`], which is how ns-3 orders
/// them, too. Entries of a slot are in that order, and sorting keeps it. Events from the heap are in their
/// slot before any event can be pushed there directly.
///
/// Cost: push O(1), pop O(1) and a sort of the slot; 16 B a slot and 32 B an event.
#[derive(Debug)]
pub(super) struct Wheel {
    /// Binary logarithm of the width of a slot \[ticks\].
    shift: u32,
    /// Number of slots, a power of two, minus one.
    mask: u64,
    /// By slot: the first and the last entry of its list.
    slots: Vec<[u32; 2]>,
    /// Bits of the non-empty slots, and bits of the non-zero words of those.
    bits: Vec<u64>,
    words: Vec<u64>,
    nodes: Vec<Node>,
    /// First of the unused nodes.
    free: u32,
    /// Number of the slot that is being emptied, counted from time 0.
    turn: u64,
    /// Its events, in order, from `at` on.
    current: Vec<Scheduled>,
    at: usize,
    later: BinaryHeap<Reverse<Later>>,
    /// Number of events that went into the heap so far, to keep their order.
    delayed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Scheduled,
    next: u32,
}

/// Event that lies far ahead: time, number in the order of scheduling, and the rest.
type Later = (u64, u64, u64, u32, u32);

impl Wheel {
    /// Creates an empty wheel for about `events` events at once that lie up to `delay` \[ticks\] ahead.
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

    /// True if nothing is scheduled.
    pub(super) fn is_empty(&self) -> bool {
        self.at == self.current.len() && self.later.is_empty() && self.next_slot().is_none()
    }

    /// Schedules an event. No event in the wheel happens before `now`.
    pub(super) fn push(&mut self, now: u64, entry: Scheduled) {
        // If other queues have events, too, time may have passed empty slots.
        let before = (now >> self.shift).saturating_sub(1);
        if before > self.turn && self.at == self.current.len() {
            self.turn = before;
            if !self.later.is_empty() {
                self.bring_near();
            }
        }
        let turn = entry.event.time >> self.shift;
        debug_assert!(turn >= self.turn, "an event in the past");
        let ahead = turn.wrapping_sub(self.turn);
        // Slots from 1 to the mask are less than a turn ahead.
        if ahead.wrapping_sub(1) < self.mask {
            self.append(turn, entry);
        } else {
            self.push_elsewhere(ahead, entry);
        }
    }

    /// Schedules an event in the slot that is being emptied, or further ahead than a turn.
    #[cold]
    #[inline(never)]
    fn push_elsewhere(&mut self, ahead: u64, entry: Scheduled) {
        let Scheduled { event: Event { time, what, which }, delay } = entry;
        if ahead == 0 {
            // Behind the events of the same time.
            let place = self.current[self.at..].partition_point(|other| other.event.time <= time);
            self.current.insert(self.at + place, entry);
        } else {
            self.later.push(Reverse((time, self.delayed, delay, what, which)));
            self.delayed += 1;
        }
    }

    /// Renames the `which` of all events.
    pub(super) fn rename(&mut self, name: impl Fn(u32) -> u32) {
        for node in &mut self.nodes {
            node.entry.event.which = name(node.entry.event.which);
        }
        for entry in &mut self.current[self.at..] {
            entry.event.which = name(entry.event.which);
        }
        let renamed = |Reverse((time, order, delay, what, which))| Reverse((time, order, delay, what, name(which)));
        self.later = std::mem::take(&mut self.later).into_iter().map(renamed).collect();
    }

    #[inline(always)]
    fn append(&mut self, turn: u64, entry: Scheduled) {
        let node = Node { entry, next: NONE };
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

    /// Returns a time before which no event happens; [`u64::MAX`] if there is none.
    pub(super) fn from(&self) -> u64 {
        match (self.current.get(self.at), self.next_slot()) {
            (Some(entry), _) => entry.event.time,
            (None, Some(turn)) => turn << self.shift,
            (None, None) => self.later.peek().map_or(u64::MAX, |later| later.0.0),
        }
    }

    /// Returns the next event, unless it happens in a slot that begins after `limit`.
    #[inline]
    pub(super) fn first(&mut self, limit: u64) -> Option<&Scheduled> {
        if self.at == self.current.len() {
            self.advance(limit);
        }
        self.current.get(self.at)
    }

    /// Removes the event that [`Wheel::first`] has found.
    #[inline]
    pub(super) fn drop_first(&mut self) {
        self.at += 1;
    }

    /// Goes on to the next non-empty slot, if it begins by `limit`.
    fn advance(&mut self, limit: u64) {
        let later = || self.later.peek().map(|later| later.0.0 >> self.shift);
        let Some(next) = self.next_slot().or_else(later).filter(|&next| next <= limit >> self.shift) else { return };
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
        self.current.clear();
        self.at = 0;
        let free = std::mem::replace(&mut self.free, first);
        self.gather(first, last, free);
    }

    /// Moves events that are now less than a turn ahead from the heap to their slots.
    #[cold]
    #[inline(never)]
    fn bring_near(&mut self) {
        while let Some(&Reverse((time, _, delay, what, which))) = self.later.peek()
            && (time >> self.shift) - self.turn <= self.mask
        {
            self.later.pop();
            self.append(time >> self.shift, Scheduled { event: Event { time, what, which }, delay });
        }
    }

    /// Sorts the events of a list; its nodes go in front of the free ones.
    #[inline(never)]
    fn gather(&mut self, first: u32, last: u32, free: u32) {
        let mut id = first;
        let mut sorted = true;
        let mut latest = 0;
        loop {
            let node = self.nodes[id as usize];
            sorted &= node.entry.event.time >= latest;
            latest = node.entry.event.time;
            self.current.push(node.entry);
            if id == last {
                break;
            }
            id = node.next;
        }
        self.nodes[last as usize].next = free;
        if !sorted {
            self.current.sort_by_key(|entry| entry.event.time);
        }
    }

    /// Returns the number of the next non-empty slot.
    #[inline(always)]
    fn next_slot(&self) -> Option<u64> {
        let here = (self.turn & self.mask) as usize;
        let distance = |slot: usize| ((slot as u64).wrapping_sub(here as u64)) & self.mask;
        // The rest of this word, then the rest of this word of words, then all words; the first of them is
        // checked again.
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
