//! Events, and the queues in which those wait whose resources are taken.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::ids::RankId;
use crate::units::Time;

/// The bit that tells messages from operations.
pub(super) const MESSAGE: u32 = 1 << 31;

/// An event: an operation of a host that is to start, or a message that comes to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The bits of a time that is not negative: ordered as the time is.
    time: u64,
    /// When it was created, among all events.
    pub number: u64,
    pub host: RankId,
    /// The operation, or the message with [`MESSAGE`].
    pub item: u32,
}

impl Entry {
    #[inline]
    pub fn new(time: Time, number: u64, host: RankId, item: u32) -> Self {
        Self { time: time.ps().max(0.0).to_bits(), number, host, item }
    }

    #[inline]
    pub fn time(&self) -> Time {
        Time::from_ps(f64::from_bits(self.time))
    }

    /// The same at another time.
    #[inline]
    pub fn later(self, time: Time) -> Self {
        Self::new(time, self.number, self.host, self.item)
    }

    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.number)
    }
}

/// The earliest is the greatest, as a heap wants it.
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

/// Operations that need the same resources, by number, which is the order in which they come. The first of them is
/// among the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Fifo {
    busy: bool,
    queue: VecDeque<Entry>,
}

impl Fifo {
    /// An operation comes: it is to be tried now if no other is.
    #[inline]
    pub fn enter(&mut self, entry: Entry) -> Option<Entry> {
        if self.busy {
            self.queue.push_back(entry);
            return None;
        }
        self.busy = true;
        Some(entry)
    }

    /// The one that was tried has started: the next is to be tried when the resource is free.
    #[inline]
    pub fn next(&mut self, free: Time) -> Option<Entry> {
        let next = self.queue.pop_front();
        self.busy = next.is_some();
        next.map(|entry| entry.later(free))
    }

    /// The same for operations that need nothing: the next keeps its time.
    #[inline]
    pub fn next_as_entered(&mut self) -> Option<Entry> {
        let next = self.queue.pop_front();
        self.busy = next.is_some();
        next
    }
}

/// Messages that have come and whose resources are taken, by number, which is not the order in which they come. The
/// first of them is among the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// The number of that first one.
    first: Option<u64>,
    others: BinaryHeap<ByNumber>,
}

#[derive(Clone, Copy, Debug)]
struct ByNumber(Entry);

impl Ord for ByNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.number.cmp(&self.0.number)
    }
}

impl PartialOrd for ByNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByNumber {
    fn eq(&self, other: &Self) -> bool {
        self.0.number == other.0.number
    }
}

impl Eq for ByNumber {}

impl Waiting {
    /// A message has found its resources taken: it is to be tried again if it is the first.
    pub fn wait(&mut self, entry: Entry) -> Option<Entry> {
        if self.first.is_none_or(|first| entry.number <= first) {
            // One that was first before is still among the events, and comes here when it is tried.
            self.first = Some(entry.number);
            return Some(entry);
        }
        self.others.push(ByNumber(entry));
        None
    }

    /// A message has got the resources: the next is to be tried when they are free.
    pub fn taken(&mut self, entry: Entry, free: Time) -> Option<Entry> {
        if self.first == Some(entry.number) {
            self.first = None;
        }
        if self.first.is_some() {
            return None;
        }
        let ByNumber(next) = self.others.pop()?;
        self.first = Some(next.number);
        Some(next.later(free))
    }
}
