//! Turn of the queues that wait for a link, shared by both models of fair queues.

use super::meter::Meter;
use super::net::NONE;

/// Link and the turn of the queues that wait for it.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Port {
    pub head: u32,
    pub tail: u32,
    pub sending: bool,
    pub meter: Meter,
}

impl Port {
    /// Creates a port for which nothing waits.
    pub fn new() -> Self {
        Self { head: NONE, tail: NONE, sending: false, meter: Meter::new() }
    }

    /// Puts a queue at the end of the turn; returns the one before it, if there is one.
    #[inline(always)]
    pub fn append(&mut self, queue: u32) -> Option<u32> {
        let tail = std::mem::replace(&mut self.tail, queue);
        if self.head == NONE {
            self.head = queue;
            return None;
        }
        Some(tail)
    }

    /// True if the link stands still although a queue waits for it.
    #[inline(always)]
    pub fn may_go_on(&self) -> bool {
        !self.sending && self.head != NONE
    }

    /// Lets the link continue with the first queue, and returns true; without one it stands still and returns
    /// false.
    #[inline(always)]
    pub fn goes_on(&mut self, now: u64) -> bool {
        self.sending = self.head != NONE;
        match self.sending {
            true => self.meter.goes_on(now),
            false => self.meter.record_idle(now, true),
        }
        self.sending
    }

    /// Records that a newly come packet has gone on or waits.
    #[inline(always)]
    pub fn settles(&mut self, now: u64) {
        self.meter.stays();
        self.meter.record_idle(now, !self.sending);
    }
}
