//! How far a thread of a rank is: the operation at hand, and the collective that it is in.

use super::keys::is_of_program;
use crate::program::Op;
use crate::units::Time;

/// The steps of a collective at one rank.
#[derive(Debug)]
pub(super) struct Frame {
    pub steps: Vec<Op>,
    pub next: u32,
    /// The tag of its messages.
    pub tag: u32,
}

impl Frame {
    /// The step at this position.
    pub fn step(&self, at: u32) -> Option<Op> {
        self.steps.get(at as usize).copied()
    }
}

/// What a rank of a sequence is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum State {
    /// A timer will let it go on.
    Busy,
    /// It waits for this request, of its own blocking call.
    Blocked(u32),
    /// It waits for requests: the operation, how many of its list are done, and when the last of those was.
    Waiting { op: u32, done: u32, last: Time },
    /// It looks for a message.
    Probing(u32),
    /// It waits for an operation of another thread.
    Held,
    /// It has come to its end.
    Ended,
}

/// How far a thread is.
#[derive(Debug)]
pub(super) struct Thread {
    /// The next operation of the program.
    pub next: u32,
    pub state: State,
    /// Since when it is in the operation at hand.
    pub since: Time,
    /// The collective it is in.
    pub frame: Option<Box<Frame>>,
}

impl Default for Thread {
    fn default() -> Self {
        Self { next: 0, state: State::Busy, since: Time::ZERO, frame: None }
    }
}

impl Thread {
    /// The operation of the program that this key belongs to: that of the collective, inside one.
    pub fn in_program(&self, key: u32) -> u32 {
        if is_of_program(key) { key } else { self.next.saturating_sub(1) }
    }
}
