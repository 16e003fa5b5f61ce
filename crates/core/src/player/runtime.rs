//! Environment of the ranks: the program they share, the clock, the messages and the ledger.

use super::clock::{Clock, Event, MessageEvent};
use super::ledger::Ledger;
use super::protocol::{Protocol, RankRequest};
use crate::ids::RankId;
use crate::program::{Envelope, Expand, Op, Program};
use crate::units::Time;

/// Environment of the ranks of a program. A rank borrows it exclusively while it advances.
pub(super) struct Runtime<'a> {
    pub program: &'a Program,
    /// Expander of collectives into messages.
    pub expand: Option<&'a dyn Expand>,
    /// True if collectives run in the background: then the messages of each have their own tag.
    pub background: bool,
    pub cpu_speed: f64,
    pub clock: Clock,
    pub protocol: Protocol,
    pub ledger: Ledger<'a>,
    /// Number of events: operations, and steps of messages.
    pub events: u64,
}

impl Runtime<'_> {
    #[inline]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns the duration of a calculation on these processors.
    #[inline]
    pub fn calculation(&self, timed: Time) -> Time {
        Time::from_ps(timed.ps() / self.cpu_speed)
    }

    /// Executes a step of a message.
    pub fn step(&mut self, event: MessageEvent) -> RankRequest {
        self.protocol.step(event, &mut self.clock, &mut self.ledger)
    }

    /// Starts a send of a sequence, which never asks for a processor.
    pub fn send(&mut self, rank: RankId, key: u32, to: Envelope, op: Op) {
        let asked = self.protocol.send(rank, key, to, (op.size, op.is_posted(), op.role()), &mut self.clock);
        debug_assert!(asked.is_none());
    }

    /// Starts a receive of a sequence.
    pub fn recv(&mut self, rank: RankId, key: u32, from: Envelope) {
        let asked = self.protocol.recv(rank, key, from, &mut self.clock);
        debug_assert!(asked.is_none());
    }

    /// Sets an event at a time.
    #[inline]
    pub fn set(&mut self, time: Time, event: Event) {
        self.clock.set(time, event);
    }
}
