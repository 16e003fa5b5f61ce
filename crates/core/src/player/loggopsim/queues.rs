//! Queues of events whose resources are busy.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::agenda::Entry;
use crate::ids::RankId;
use crate::units::Time;

/// No entry.
const NIL: u32 = u32::MAX;
/// Marks, in the place of `first`, that no operation waits but one is being tried.
const TRIED: u32 = u32::MAX - 1;

/// Operations that need the same resources, by number, which is the order in which they become ready. The
/// first of them is among the events; the rest are in a pool that all queues share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fifo {
    first: u32,
    last: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { first: NIL, last: NIL }
    }
}

/// Entries of all queues. The field `host` of an entry holds the index of the next entry; the host itself is
/// known from the queue.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    entries: Vec<Entry>,
    free: u32,
}

impl Default for Pool {
    fn default() -> Self {
        Self { entries: Vec::new(), free: NIL }
    }
}

impl Pool {
    /// Adds an operation to a queue of its host. Returns it if it is to be tried now, because no other is
    /// being tried.
    #[inline]
    pub fn enter(&mut self, queue: &mut Fifo, entry: Entry) -> Option<Entry> {
        if queue.first == NIL {
            queue.first = TRIED;
            return Some(entry);
        }
        let entry = Entry { host: RankId(NIL), ..entry };
        let at = match self.free {
            NIL => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
            at => {
                self.free = std::mem::replace(&mut self.entries[at as usize], entry).host.0;
                at
            }
        };
        match queue.first {
            TRIED => queue.first = at,
            _ => self.entries[queue.last as usize].host.0 = at,
        }
        queue.last = at;
        None
    }

    /// Notes that the operation being tried has started. Returns the next one of the host, to be tried when
    /// the resource is free.
    #[inline]
    pub fn next(&mut self, queue: &mut Fifo, host: RankId, free: Time) -> Option<Entry> {
        self.next_as_entered(queue, host).map(|entry| entry.later(free))
    }

    /// Returns the next operation like `next`, but for operations that need no resource: it keeps its time.
    #[inline]
    pub fn next_as_entered(&mut self, queue: &mut Fifo, host: RankId) -> Option<Entry> {
        let at = queue.first;
        if at == TRIED {
            queue.first = NIL;
            return None;
        }
        let entry = &mut self.entries[at as usize];
        queue.first = if entry.host.0 == NIL { TRIED } else { entry.host.0 };
        let found = Entry { host, ..*entry };
        entry.host.0 = self.free;
        self.free = at;
        Some(found)
    }
}

/// No message is being tried.
const NONE: u64 = u64::MAX;

/// Messages that have arrived and whose resources are busy, by number, which is not the order of arrival. The
/// first of them is among the events.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// Number of that first one.
    first: u64,
    others: BinaryHeap<ByNumber>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { first: NONE, others: BinaryHeap::new() }
    }
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
    /// Adds a message that has found its resources busy. Returns it if it is the first and to be tried again.
    #[inline]
    pub fn wait(&mut self, entry: Entry) -> Option<Entry> {
        if entry.number <= self.first {
            // A message that was first before is still among the events, and comes here when it is tried.
            self.first = entry.number;
            return Some(entry);
        }
        self.others.push(ByNumber(entry));
        None
    }

    /// Notes that a message has got the resources. Returns the next message, to be tried when they are free.
    #[inline]
    pub fn taken(&mut self, entry: Entry, free: Time) -> Option<Entry> {
        if self.first == entry.number {
            self.first = NONE;
        }
        if self.first != NONE {
            return None;
        }
        let ByNumber(next) = self.others.pop()?;
        self.first = next.number;
        Some(next.later(free))
    }
}
