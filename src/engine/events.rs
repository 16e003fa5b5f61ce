//! Events at known times: everything but the arrival of messages that share links.

use std::cmp::Reverse;

use priority_queue::PriorityQueue;

use crate::ids::{FlowId, RankId};
use crate::units::Time;

/// Something that happens at a known time. Those of one instant happen in the order of this list, then by id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Event {
    /// A message that needs no bandwidth (no bytes, or to the same node) arrives.
    Arrive(FlowId),
    /// The first byte of a message has crossed the latencies of its route: it starts to take bandwidth.
    Enter(FlowId),
    /// A rank wanted to be woken.
    Wake(RankId),
}

/// Events in order of (time, kind, id).
#[derive(Debug, Default)]
pub(super) struct EventQueue(PriorityQueue<Event, Reverse<(Time, Event)>>);

impl EventQueue {
    pub(super) fn push(&mut self, time: Time, event: Event) {
        let previous = self.0.push(event, Reverse((time, event)));
        debug_assert!(previous.is_none(), "an event happens once: {event:?}");
    }

    /// When the next event happens; [`Time::NEVER`] if there is none.
    pub(super) fn next_time(&self) -> Time {
        self.0.peek().map_or(Time::NEVER, |(_, Reverse((time, _)))| *time)
    }

    /// The next event that happens by `until`.
    pub(super) fn pop(&mut self, until: Time) -> Option<Event> {
        (self.next_time() <= until).then(|| self.0.pop().map(|(event, _)| event)).flatten()
    }
}
