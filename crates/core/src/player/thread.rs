//! State of a thread of a rank: its current operation, and the collective that it is in.

use super::keys::is_of_program;
use crate::program::Op;
use crate::units::Time;

/// Steps of a collective at one rank.
#[derive(Debug)]
pub(super) struct Frame {
    pub steps: Vec<Op>,
    pub next: u32,
    /// Tag of its messages.
    pub tag: u32,
}

impl Frame {
    /// Returns the step at this position.
    pub fn step(&self, at: u32) -> Option<Op> {
        self.steps.get(at as usize).copied()
    }
}

/// State of a thread of a sequence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum State {
    /// A timer will let it continue.
    Busy,
    /// It waits for the request of its own blocking call.
    Blocked(u32),
    /// It waits for requests: the operation, the number of its list that are done, and the time at which the
    /// last of these was.
    Waiting { op: u32, done: u32, last: Time },
    /// It probes for a message.
    Probing(u32),
    /// It waits for an operation of another thread.
    Held,
    /// It has come to its end.
    Ended,
}

/// A thread of a rank.
#[derive(Debug)]
pub(super) struct Thread {
    /// Next operation of the program.
    pub next: u32,
    pub state: State,
    /// Begin of the current operation.
    pub since: Time,
    /// Collective that it is in.
    pub frame: Option<Box<Frame>>,
}

impl Default for Thread {
    fn default() -> Self {
        Self { next: 0, state: State::Busy, since: Time::ZERO, frame: None }
    }
}

impl Thread {
    /// Returns the operation of the program that this key belongs to; inside a collective, the collective.
    pub fn in_program(&self, key: u32) -> u32 {
        if is_of_program(key) { key } else { self.next.saturating_sub(1) }
    }
}
