//! Queue of events in the order of (time, number of creation).
//!
//! Thousands of hosts do the same at the same time, and nearly every event is later than the one taken last.
//! So events are kept by the distance of their time from the last: bucket b holds those whose highest
//! differing bit is bit b of the time. When the events of an instant are used up, the lowest non-empty bucket
//! is redistributed around its earliest time. Events of one instant are nearly in the order of their numbers
//! already, since new events have the largest number.
//!
//! Cost of an event: constant, plus one move each time its bucket is redistributed, at most 64 times and
//! usually a few. In a heap of the events of 65,536 hosts it would be 17 steps through memory.
//!
//! Source: the radix heap of R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan: *Faster algorithms for the
//! shortest path problem*, J. ACM 37 (1990).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::ids::RankId;
use crate::units::Time;

/// Bit that distinguishes messages from operations.
pub(super) const MESSAGE: u32 = 1 << 31;

/// An event: an operation of a host that is to start, or a message that arrives at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Bits of the time, which is not negative, so that their order is that of the time.
    pub(super) time: u64,
    /// Number in the order of creation of all events.
    pub number: u64,
    pub host: RankId,
    /// Operation, or message with [`MESSAGE`].
    pub item: u32,
}

impl Entry {
    #[inline]
    pub fn new(time: Time, number: u64, host: RankId, item: u32) -> Self {
        // Zero has a sign, which must not count.
        Self { time: time.ps().max(0.0).to_bits() & (u64::MAX >> 1), number, host, item }
    }

    #[inline]
    pub fn time(&self) -> Time {
        Time::from_ps(f64::from_bits(self.time))
    }

    /// Returns the event moved to another time.
    #[inline]
    pub fn later(self, time: Time) -> Self {
        Self::new(time, self.number, self.host, self.item)
    }

    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.number)
    }
}

/// Reverses the order, so that the earliest event is at the top of a heap.
impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

/// Largest capacity of an empty bucket that is kept. Larger ones are freed: in a run of many hosts each
/// bucket is large at some time.
const KEPT: usize = 1 << 10;

/// Queue of future events.
#[derive(Debug)]
pub(super) struct Agenda {
    /// Time of the events being taken, as bits.
    last: u64,
    /// Events at that time, by number.
    now: VecDeque<Entry>,
    /// Later events, by the highest bit in which their time differs from `last`.
    buckets: Vec<Vec<Entry>>,
    /// Buckets that are not empty, as bits.
    filled: u64,
    /// Events before that time: with several processors of a host, one may have been free before.
    past: BinaryHeap<Entry>,
}

impl Default for Agenda {
    fn default() -> Self {
        let buckets = vec![Vec::new(); 64];
        Self { last: 0, now: VecDeque::new(), buckets, filled: 0, past: BinaryHeap::new() }
    }
}

impl Agenda {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        match entry.time.cmp(&self.last) {
            Ordering::Greater => self.put(entry),
            Ordering::Equal => {
                if self.now.back().is_some_and(|last| last.number > entry.number) {
                    let at = self.now.partition_point(|other| other.number < entry.number);
                    self.now.insert(at, entry);
                } else {
                    self.now.push_back(entry);
                }
            }
            Ordering::Less => self.past.push(entry),
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        if let Some(entry) = self.past.pop() {
            return Some(entry);
        }
        if self.now.is_empty() {
            self.redistribute()?;
        }
        self.now.pop_front()
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        let bucket = 63 - (entry.time ^ self.last).leading_zeros();
        self.filled |= 1 << bucket;
        self.buckets[bucket as usize].push(entry);
    }

    /// Moves on to the earliest time of the lowest bucket; returns `None` if all are empty.
    fn redistribute(&mut self) -> Option<()> {
        if self.filled == 0 {
            return None;
        }
        let lowest = self.filled.trailing_zeros() as usize;
        self.filled &= self.filled - 1;
        let mut bucket = std::mem::take(&mut self.buckets[lowest]);
        self.last = bucket.iter().map(|entry| entry.time).min()?;
        let mut in_order = true;
        for &entry in &bucket {
            if entry.time == self.last {
                in_order &= self.now.back().is_none_or(|last| last.number < entry.number);
                self.now.push_back(entry);
            } else {
                self.put(entry);
            }
        }
        if !in_order {
            self.now.make_contiguous().sort_unstable_by_key(|entry| entry.number);
        }
        if bucket.capacity() <= KEPT {
            bucket.clear();
            self.buckets[lowest] = bucket;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Times are few, so that many are the same. Some events come again under their old number, and some
        /// lie in the past.
        #[test]
        fn events_come_in_the_order_of_a_heap(steps in prop::collection::vec((0_u8..4, 0_u32..60, any::<bool>()), 0..400)) {
            let (mut agenda, mut heap) = (Agenda::default(), BinaryHeap::new());
            let (mut number, mut now) = (0, 0.0);
            for (what, ahead, back) in steps {
                let taken = match what {
                    0 => {
                        let (taken, expected): (Option<Entry>, Option<Entry>) = (agenda.pop(), heap.pop());
                        prop_assert_eq!(taken.map(|entry| entry.key()), expected.map(|entry| entry.key()));
                        now = taken.map_or(now, |entry| entry.time().ps());
                        taken
                    }
                    _ => None,
                };
                let time = Time::from_ps(if back { now - f64::from(ahead % 3) } else { now + f64::from(ahead) * 0.3 });
                let entry = match taken {
                    Some(entry) if ahead % 2 == 0 => entry.later(time),
                    Some(_) => continue,
                    None => {
                        number += 1;
                        Entry::new(time, number, RankId(0), 0)
                    }
                };
                agenda.push(entry);
                heap.push(entry);
            }
            while let Some(expected) = heap.pop() {
                prop_assert_eq!(agenda.pop().map(|entry| entry.key()), Some(expected.key()));
            }
            prop_assert!(agenda.pop().is_none());
        }
    }

    #[test]
    fn the_sign_of_zero_is_no_time() {
        let mut agenda = Agenda::default();
        agenda.push(Entry::new(Time::from_ps(1.0), 1, RankId(0), 0));
        agenda.push(Entry::new(Time::from_ps(-0.0), 2, RankId(0), 0));
        assert_eq!(agenda.pop().map(|entry| entry.number), Some(2));
    }
}
