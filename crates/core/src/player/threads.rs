//! Threads of a rank of a sequence: each makes one call after the other, in parallel with the other threads.
//!
//! Threads share their requests. One is the current thread; an event of another thread first makes that the
//! current one. An operation that waits for one of another thread begins when that one has ended and the lag
//! of the requirement is over.

use std::ops::Range;

use super::clock::Event;
use super::keys::{STEP, is_of_program};
use super::runtime::Runtime;
use super::sequence::Sequence;
use super::thread::{State, Thread};
use crate::program::{After, Op, Program};
use crate::units::Time;

/// Largest number of steps of a collective if there are several threads: the higher bits of a key name the
/// thread.
const STEPS: u32 = 1 << 20;

impl Sequence {
    /// Numbers of all threads.
    pub(super) fn numbers(&self) -> Range<u32> {
        0..self.others.len().max(1) as u32
    }

    /// All threads, by number.
    pub(super) fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.numbers().map(|number| if number == self.thread { &self.at } else { &self.others[number as usize] })
    }

    /// Returns the key of the first step of a collective of the current thread.
    pub(super) fn first_step(&self) -> u32 {
        STEP | (self.thread * STEPS)
    }

    /// Returns the key of the first step of the collective that this key belongs to; 0 for an operation of
    /// the program.
    pub(super) fn base(&self, key: u32) -> u32 {
        match () {
            () if is_of_program(key) => 0,
            () if self.others.is_empty() => STEP,
            () => key & !(STEPS - 1),
        }
    }

    /// Returns the operation of a thread with this key.
    pub(super) fn op_in(&self, thread: &Thread, key: u32, program: &Program) -> Option<Op> {
        match &thread.frame {
            Some(frame) if !is_of_program(key) => frame.step(key - self.base(key)),
            _ => self.op(key, program),
        }
    }

    /// Makes a thread the current one.
    #[inline]
    pub(super) fn turn_to(&mut self, thread: u32) {
        if thread != self.thread {
            std::mem::swap(&mut self.at, &mut self.others[self.thread as usize]);
            std::mem::swap(&mut self.at, &mut self.others[thread as usize]);
            self.thread = thread;
        }
    }

    /// Starts all threads.
    pub(super) fn begin_all(&mut self, runtime: &mut Runtime<'_>) {
        for thread in self.numbers() {
            self.resume(thread, runtime);
        }
    }

    /// Continues a thread.
    #[inline]
    pub(super) fn resume(&mut self, thread: u32, runtime: &mut Runtime<'_>) {
        self.turn_to(thread);
        self.advance(runtime);
    }

    /// Returns true if the current thread, which is between two operations of the program, must wait before
    /// the next.
    #[inline]
    pub(super) fn is_held(&mut self, runtime: &mut Runtime<'_>) -> bool {
        !self.others.is_empty() && self.waits_for_others(runtime)
    }

    fn waits_for_others(&mut self, runtime: &mut Runtime<'_>) -> bool {
        let threads = &runtime.program.rank(self.me).threads;
        let now = runtime.now();
        // If it comes to an operation a second time, the end of the one before has been noted.
        if let Some(over) = self.at.next.checked_sub(1)
            && threads.of(over) == self.thread
            && threads.is_required(over)
            && !self.ended.contains_key(&over)
        {
            self.ended.insert(over, now);
            for thread in self.numbers() {
                let other = &mut self.others[thread as usize];
                if thread != self.thread && other.state == State::Held {
                    other.state = State::Busy;
                    runtime.set(now, Event::Resume(self.me, thread));
                }
            }
        }
        self.at.next = threads.next_of(self.thread, self.at.next);
        let mut begin = now;
        for &After { lag, on, .. } in threads.after(self.at.next) {
            let end = if on == After::START { Some(Time::ZERO) } else { self.ended.get(&on).copied() };
            let Some(end) = end else {
                self.at.state = State::Held;
                return true;
            };
            begin = begin.max(end + lag);
        }
        if begin > now {
            self.resume_at(begin, runtime);
        }
        begin > now
    }
}
