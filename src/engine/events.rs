//! Events at known times: everything but the arrival of messages that share links.

use std::cmp::Reverse;

use priority_queue::PriorityQueue;

use crate::ids::{FlowId, WakeId};
use crate::units::Time;

/// Something that happens at a known time. Those of one instant happen in the order of this list, then by id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Event {
    /// A message that needs no bandwidth (no bytes, or to the same node) arrives.
    Arrive(FlowId),
    /// The first byte of a message has crossed the latencies of its route: it starts to take bandwidth.
    Enter(FlowId),
    /// The workload wanted to be woken.
    Wake(WakeId),
    /// Links fail, come back or carry something else from now on.
    Links,
    /// Routes are new: those that were worked out for this change, counted from 0.
    Routes(u32),
}

/// Events in order of (time, kind, id).
#[derive(Debug)]
pub(super) struct EventQueue {
    queue: PriorityQueue<Event, Reverse<(Time, Event)>>,
    /// When the first of them happens: looked at in every turn of the loop, though most runs have few such events.
    next: Time,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self { queue: PriorityQueue::new(), next: Time::NEVER }
    }
}

impl EventQueue {
    pub(super) fn push(&mut self, time: Time, event: Event) {
        let previous = self.queue.push(event, Reverse((time, event)));
        debug_assert!(previous.is_none(), "an event happens once: {event:?}");
        self.next = self.next.min(time);
    }

    /// When the next event happens; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn next_time(&self) -> Time {
        self.next
    }

    /// Takes back an event; whether there was one.
    pub(super) fn remove(&mut self, event: Event) -> bool {
        let was_there = self.queue.remove(&event).is_some();
        self.next = self.queue.peek().map_or(Time::NEVER, |(_, Reverse((time, _)))| *time);
        was_there
    }

    /// Whether anything but links and routes happens.
    pub(super) fn has_work(&self) -> bool {
        self.queue.iter().any(|(event, _)| !matches!(event, Event::Links | Event::Routes(_)))
    }

    /// The next event that happens by `until`.
    #[inline]
    pub(super) fn pop(&mut self, until: Time) -> Option<Event> {
        if self.next > until {
            return None;
        }
        let event = self.queue.pop().map(|(event, _)| event);
        self.next = self.queue.peek().map_or(Time::NEVER, |(_, Reverse((time, _)))| *time);
        event
    }
}
