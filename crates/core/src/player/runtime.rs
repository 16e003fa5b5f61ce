//! What ranks run on: the program they share, the clock, the messages and the ledger.

use super::clock::{Clock, Event, MessageEvent};
use super::ledger::Ledger;
use super::protocol::{Asks, Protocol};
use crate::ids::RankId;
use crate::program::{Envelope, Expand, Program};
use crate::units::Time;

/// What the ranks of a program run on. A rank has it to itself while it goes on.
pub(super) struct Runtime<'a> {
    pub program: &'a Program,
    /// Turns collectives into messages.
    pub expand: Option<&'a dyn Expand>,
    /// Whether collectives go on in the background: then the messages of each have a tag of their own.
    pub background: bool,
    pub cpu_speed: f64,
    pub clock: Clock,
    pub protocol: Protocol,
    pub ledger: Ledger<'a>,
    /// Things that happened: operations, and steps of messages.
    pub events: u64,
}

impl Runtime<'_> {
    #[inline]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// How long a calculation takes here.
    #[inline]
    pub fn calculation(&self, timed: Time) -> Time {
        Time::from_ps(timed.ps() / self.cpu_speed)
    }

    /// A step of a message happens.
    pub fn step(&mut self, event: MessageEvent) -> Asks {
        self.protocol.step(event, &mut self.clock, &mut self.ledger)
    }

    /// A rank of a sequence calls a send: of a processor of its own nothing is asked.
    pub fn send(&mut self, rank: RankId, key: u32, to: Envelope, bytes: u64) {
        let asked = self.protocol.send(rank, key, to, bytes, &mut self.clock);
        debug_assert!(asked.is_none());
    }

    /// A rank of a sequence calls a receive.
    pub fn recv(&mut self, rank: RankId, key: u32, from: Envelope) {
        let asked = self.protocol.recv(rank, key, from, &mut self.clock);
        debug_assert!(asked.is_none());
    }

    /// This will happen then.
    #[inline]
    pub fn set(&mut self, time: Time, event: Event) {
        self.clock.set(time, event);
    }
}
