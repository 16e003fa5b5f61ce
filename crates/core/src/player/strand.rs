//! A collective operation in the background of its rank.

use crate::ids::RankId;
use crate::program::Op;
use crate::units::Time;

/// Steps of a collective operation, one after the other, in parallel with the rank's own operations.
#[derive(Debug)]
pub(super) struct Strand {
    /// Operation of the program that started it.
    pub op: u32,
    /// Key of its first step; the keys of the next steps follow.
    first: u32,
    steps: Vec<Op>,
    next: u32,
    /// Tag of its messages.
    pub tag: u32,
    pub state: StrandState,
    /// Last message that it received, and its sender.
    pub last: Option<(u32, RankId)>,
}

/// State of a strand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum StrandState {
    /// A timer will let it continue.
    Busy,
    /// It waits for the request of its own blocking step.
    Blocked(u32),
    /// It waits for a request since a time; with `free` the wait has no overhead.
    Waiting { request: u32, since: Time, free: bool },
}

impl Strand {
    /// Creates a strand whose first step has key `first`.
    pub fn new(op: u32, first: u32, steps: Vec<Op>, tag: u32) -> Self {
        Self { op, first, steps, next: 0, tag, state: StrandState::Busy, last: None }
    }

    /// Takes the next step and its key; `None` at the end.
    pub fn take_step(&mut self) -> Option<(u32, Op)> {
        let op = *self.steps.get(self.next as usize)?;
        let key = self.first + self.next;
        self.next += 1;
        self.state = StrandState::Busy;
        Some((key, op))
    }

    /// Returns the key after that of its last step.
    pub fn end(&self) -> u32 {
        self.first + self.steps.len() as u32
    }

    /// Returns the key of the step at this position.
    pub fn key(&self, step: u32) -> u32 {
        self.first + step
    }

    pub fn has(&self, key: u32) -> bool {
        (self.first..self.end()).contains(&key)
    }

    /// Returns the step with this key.
    pub fn step(&self, key: u32) -> Option<Op> {
        self.steps.get(key.checked_sub(self.first)? as usize).copied()
    }

    /// Returns the request that it waits for.
    pub fn waits_for(&self) -> Option<u32> {
        match self.state {
            StrandState::Busy => None,
            StrandState::Blocked(request) | StrandState::Waiting { request, .. } => Some(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_taken_in_order_and_keys_are_those_of_the_strand_alone() {
        let steps = vec![Op::wait(0), Op::calc(Time::ZERO)];
        let mut strand = Strand::new(3, 100, steps.clone(), 0);
        assert_eq!((strand.end(), strand.key(1)), (102, 101));
        assert_eq!([99, 100, 101, 102].map(|key| strand.has(key)), [false, true, true, false]);
        assert_eq!([99, 101, 102].map(|key| strand.step(key)), [None, Some(steps[1]), None]);
        assert_eq!(strand.take_step(), Some((100, steps[0])));
        strand.state = StrandState::Blocked(100);
        assert_eq!(strand.waits_for(), Some(100));
        assert_eq!(strand.take_step(), Some((101, steps[1])));
        assert_eq!((strand.waits_for(), strand.take_step()), (None, None));
    }
}
