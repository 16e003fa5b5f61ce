//! Sharing of a receiver's bandwidth by the messages that flow to it at the same time.
//!
//! While p messages flow, each progresses at a p-th of its speed alone. The progress of a message since its
//! start is the same for all: a clock of the receiver that runs at a speed of 1/p. A message of work w that
//! starts at clock v is done at clock v + w. So the order of ends is known, and no message is updated when p
//! changes.
//!
//! Source: Ino, Fujimoto, Hagihara: LogGPS, section 3 (effective bandwidth 1/p).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// Messages that flow to one rank.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedBandwidth {
    /// Work done for each message \[ps\], as of `updated`.
    clock: Time,
    updated: Time,
    /// Messages by clock at their end: (clock, order of start, message).
    flowing: BinaryHeap<Reverse<(Time, u32, u32)>>,
    order: u32,
    /// Number of changes: a timer set before the last change is void.
    pub generation: u32,
}

impl SharedBandwidth {
    fn pass(&mut self, now: Time) {
        let count = self.flowing.len();
        if count == 0 {
            // Restarting the clock keeps a message that flows alone free of rounding.
            self.clock = Time::ZERO;
        } else {
            self.clock += Time::from_ps((now - self.updated).ps() / count as f64);
        }
        self.updated = now;
    }

    /// Starts a message with this work.
    pub fn start(&mut self, now: Time, message: u32, work: Time) {
        self.pass(now);
        self.order = self.order.wrapping_add(1);
        self.flowing.push(Reverse((self.clock + work, self.order, message)));
        self.generation = self.generation.wrapping_add(1);
    }

    /// Returns the time at which the next message gets through, if nothing changes.
    pub fn next(&self) -> Option<Time> {
        let Reverse((end, _, _)) = self.flowing.peek()?;
        let left = (*end - self.clock).ps() * self.flowing.len() as f64;
        Some(self.updated + Time::from_ps(left.max(0.0)))
    }

    /// Takes out the message that gets through now.
    pub fn finish(&mut self, now: Time) -> Option<u32> {
        let Reverse((end, _, message)) = self.flowing.pop()?;
        // Sets the clock to the end of this message, whatever rounding made of it.
        self.clock = end;
        self.updated = now;
        self.generation = self.generation.wrapping_add(1);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ps(time: f64) -> Time {
        Time::from_ps(time)
    }

    #[test]
    fn two_at_once_take_twice_as_long_and_the_rest_goes_on_alone() {
        let mut shared = SharedBandwidth::default();
        shared.start(ps(100.0), 1, ps(10.0));
        assert_eq!(shared.next(), Some(ps(110.0)));
        shared.start(ps(104.0), 2, ps(10.0));
        // 6 of work remain, at half speed.
        assert_eq!(shared.next(), Some(ps(116.0)));
        assert_eq!(shared.finish(ps(116.0)), Some(1));
        // The second has done 6 of 10.
        assert_eq!(shared.next(), Some(ps(120.0)));
        assert_eq!(shared.finish(ps(120.0)), Some(2));
        assert_eq!(shared.next(), None);
    }
}
