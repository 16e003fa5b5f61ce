//! Environment of the ranks: the program they share, the clock, the messages and the ledger.

use super::clock::{Clock, Event, MessageEvent};
use super::keys::is_of_program;
use super::ledger::Ledger;
use super::protocol::{Protocol, RankRequest};
use crate::ids::RankId;
use crate::node::Role;
use crate::program::{Action, Envelope, Expand, Op, Program};
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
        let asked =
            self.protocol.send(rank, key, to, (op.size, op.is_posted(), self.role(rank, key, op)), &mut self.clock);
        debug_assert!(asked.is_none());
    }

    /// Returns the part of a send in its call. In a program, a sendrecv is a receive within the call, the send, and a
    /// wait within the call.
    fn role(&self, rank: RankId, key: u32, op: Op) -> Role {
        let at = |key: u32| is_of_program(key).then(|| self.program.rank(rank).ops.get(key as usize)).flatten();
        match (key.checked_sub(1).and_then(at), at(key.saturating_add(1))) {
            (Some(receive), Some(wait)) if wait.is_within_call() && wait.action() == Action::Wait(key - 1) => {
                op.receiving(receive.peer).role()
            }
            _ => op.role(),
        }
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
