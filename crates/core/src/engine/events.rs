//! Events at known times: everything but the arrival of messages that share links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::{FlowId, WakeId};
use crate::units::Time;

/// Event at a known time. Events of one instant happen in the order of this list, then by id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// A message that needs no bandwidth (no bytes, or to the same node) arrives.
    Arrive(FlowId),
    /// The first byte of a message has crossed the latencies of its route: the message starts to take
    /// bandwidth.
    Enter(FlowId),
    /// A wake that the workload asked for.
    Wake(WakeId),
    /// Links fail, come back or change their capacity.
    Links,
    /// The routes of this change of links take effect; changes are counted from 0.
    Routes(u32),
}

impl Event {
    /// Returns kind and id as one number, in the order of the events of one instant.
    #[inline]
    fn code(self) -> u64 {
        let (kind, id) = match self {
            Self::Arrive(id) => (0, id.0),
            Self::Enter(id) => (1, id.0),
            Self::Wake(id) => (2, id.0),
            Self::Links => (3, 0),
            Self::Routes(change) => (4, change),
        };
        kind << 32 | u64::from(id)
    }

    #[inline]
    fn of_code(code: u64) -> Self {
        let id = code as u32;
        match code >> 32 {
            0 => Self::Arrive(FlowId(id)),
            1 => Self::Enter(FlowId(id)),
            2 => Self::Wake(WakeId(id)),
            3 => Self::Links,
            _ => Self::Routes(id),
        }
    }
}

/// Time and code of an event as one number, in order of (time, kind, id).
///
/// The bits of non-negative doubles are in the order of their values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry(u128);

impl Entry {
    #[inline]
    fn new(time: Time, event: Event) -> Self {
        debug_assert!(time >= Time::ZERO, "{event:?} at {time:?}");
        // (Adding 0.0 turns -0.0 into +0.0.)
        Self(u128::from((time.ps() + 0.0).to_bits()) << 64 | u128::from(event.code()))
    }

    #[inline]
    fn time(self) -> Time {
        Time::from_ps(f64::from_bits((self.0 >> 64) as u64))
    }

    #[inline]
    fn event(self) -> Event {
        Event::of_code(self.0 as u64)
    }
}

/// Queue of events in order of (time, kind, id).
#[derive(Debug)]
pub(super) struct EventQueue {
    queue: BinaryHeap<Reverse<Entry>>,
    /// Time of the first event, kept apart: every turn of the loop looks at it, and most runs have few such
    /// events.
    next: Time,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self { queue: BinaryHeap::new(), next: Time::NEVER }
    }
}

impl EventQueue {
    #[inline]
    pub(super) fn push(&mut self, time: Time, event: Event) {
        self.queue.push(Reverse(Entry::new(time, event)));
        self.next = self.next.min(time);
    }

    /// Returns the time of the next event; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn next_time(&self) -> Time {
        self.next
    }

    #[inline]
    fn look(&mut self) {
        self.next = self.queue.peek().map_or(Time::NEVER, |Reverse(entry)| entry.time());
    }

    /// Keeps the events that pass the test, which is called once for each event. Cost: O(n) for n events.
    pub(super) fn retain(&mut self, mut test: impl FnMut(Event) -> bool) {
        self.queue.retain(|Reverse(entry)| test(entry.event()));
        self.look();
    }

    /// True if an event other than a change of links or routes is in the queue.
    pub(super) fn has_work(&self) -> bool {
        self.queue.iter().any(|Reverse(entry)| !matches!(entry.event(), Event::Links | Event::Routes(_)))
    }

    /// Takes the next event that happens by `until`.
    #[inline]
    pub(super) fn pop(&mut self, until: Time) -> Option<Event> {
        if self.next > until {
            return None;
        }
        self.take()
    }

    fn take(&mut self) -> Option<Event> {
        let event = self.queue.pop().map(|Reverse(entry)| entry.event());
        self.look();
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn events_come_in_order_of_time_then_kind_then_number_whatever_is_taken_out() {
        let mut random = Stream::new(1, "events");
        let (mut queue, mut plain) = (EventQueue::default(), Vec::new());
        let kinds = [
            |id| Event::Arrive(FlowId(id)),
            |id| Event::Enter(FlowId(id)),
            |id| Event::Wake(WakeId(id)),
            |_| Event::Links,
            Event::Routes,
        ];
        for turn in 0..5_000u32 {
            let time = [0.0, -0.0, 0.5, 1e-300, 7e15][random.below(5) as usize] * random.below(3) as f64;
            let time = Time::from_ps(time);
            let kind = random.below(5) as usize;
            let event = kinds[kind](if random.below(9) == 0 { u32::MAX - turn } else { turn });
            queue.push(time, event);
            plain.push((time, kind, event.code(), event));
            if random.below(50) == 0 {
                let odd = |event: &Event| event.code() % 2 == 1;
                queue.retain(|event| !odd(&event));
                plain.retain(|(.., event)| !odd(event));
            }
            plain.sort_by_key(|&(time, kind, code, _)| (time, kind, code));
            assert_eq!(queue.next_time(), plain.first().map_or(Time::NEVER, |&(time, ..)| time));
            if random.below(3) == 0 && !plain.is_empty() {
                let (time, .., event) = plain.remove(0);
                assert_eq!(queue.pop(Time::from_ps(time.ps() - 4.0)), None);
                assert_eq!(queue.pop(time), Some(event));
            }
        }
        assert_eq!(queue.has_work(), plain.iter().any(|(_, kind, ..)| *kind < 3));
    }
}
