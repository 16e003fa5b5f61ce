//! Simulated time, and the queue of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::RankId;
use crate::noise::{Processors, Work};
use crate::units::Time;

/// An event at a known time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    /// A thread of a rank continues.
    Resume(RankId, u32),
    /// An operation of a graph has got its processor.
    Started(RankId, u32),
    /// An operation of a graph is done.
    Finish(RankId, u32),
    /// The collective operation that this operation has started continues.
    Background(RankId, u32),
    /// A step of a message.
    Message(MessageEvent),
}

/// A step in the transfer of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum MessageEvent {
    /// The sender's overhead ends, and the message leaves.
    Leave(u32),
    /// Its bytes have left the sender's node.
    Left(u32),
    /// The sender knows that its bytes have been received.
    Acknowledged(u32),
    /// Its bytes start to arrive.
    Flow(u32),
    /// Its bytes have arrived.
    Arrive(u32),
    /// The receiver's overhead ends.
    Received(u32),
    /// The sender's overhead for the request of a rendezvous ends.
    RequestLeaves(u32),
    /// The request has arrived.
    RequestArrives(u32),
    /// The receiver's overhead for the answer ends.
    AnswerLeaves(u32),
    /// The answer has arrived.
    AnswerArrives(u32),
    /// The sender's overhead for the answer ends.
    Agreed(u32),
    /// A message that shares this receiver's bandwidth has got through, unless the sharing has changed since.
    Through(RankId, u32),
}

/// Current time, and events by (time, order of setting).
#[derive(Debug, Default)]
pub(super) struct Clock {
    now: Time,
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    /// Processors of the ranks, if some are slow.
    processors: Option<Box<Processors>>,
}

impl Clock {
    /// Sets the processors of the ranks, some of which are slow.
    pub fn on(self, processors: Option<Processors>) -> Self {
        Self { processors: processors.map(Box::new), ..self }
    }

    /// Returns the end of a calculation of a rank that begins at this time.
    #[inline]
    pub fn computed(&mut self, rank: RankId, begin: Time, time: Time) -> Time {
        match &mut self.processors {
            None => begin + time,
            Some(processors) => processors.end(rank, self.now, begin, time, Work::Calculation),
        }
    }

    /// Returns the end of a rank's overhead for a message that begins at this time.
    #[inline]
    pub fn worked(&mut self, rank: RankId, begin: Time, time: Time) -> Time {
        match &mut self.processors {
            None => begin + time,
            Some(processors) => processors.end(rank, self.now, begin, time, Work::Overhead),
        }
    }

    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Advances the time to `now`; time never goes back.
    #[inline]
    pub fn pass(&mut self, now: Time) {
        self.now = now.max(self.now);
    }

    /// Sets an event at a time.
    #[inline]
    pub fn set(&mut self, time: Time, event: Event) {
        self.order += 1;
        self.heap.push(Reverse((time, self.order, event)));
    }

    /// Sets a step of a message at a time.
    #[inline]
    pub fn set_message(&mut self, time: Time, event: MessageEvent) {
        self.set(time, Event::Message(event));
    }

    /// Time of the next event; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time)
    }

    /// Takes the next event and advances the time to it.
    #[inline]
    pub fn tick(&mut self) -> Option<Event> {
        let Reverse((time, _, event)) = self.heap.pop()?;
        self.pass(time);
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_first_happens_first_within_an_instant_and_time_never_goes_back() {
        let mut clock = Clock::default();
        let at = Time::from_ps;
        assert_eq!((clock.next(), clock.tick()), (Time::NEVER, None));
        for (time, rank) in [(5.0, 2), (3.0, 9), (5.0, 1), (4.0, 0)] {
            clock.set(at(time), Event::Resume(RankId(rank), 0));
        }
        let mut ticks = Vec::new();
        while let Some(Event::Resume(rank, _)) = clock.tick() {
            ticks.push((clock.now().ps(), rank.0));
        }
        assert_eq!(ticks, [(3.0, 9), (4.0, 0), (5.0, 2), (5.0, 1)]);
        clock.pass(at(4.0));
        assert_eq!(clock.now(), at(5.0));
    }
}
