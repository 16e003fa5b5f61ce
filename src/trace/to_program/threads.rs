//! Requirements between threads of a rank, derived from recorded calls.
//!
//! Events come in the order in which calls returned. An operation of one thread waits for one of another in
//! these cases:
//!
//! * It completes a request that the other thread started, or calls a collective on a communicator after it. MPI
//!   demands that order.
//! * Its thread gave its core away before the call, so it waited for the others. It is not known which of them let it
//!   continue. It keeps its distance in time from their last calls before that, less the part that they did not
//!   compute.
//! * It is the first of its thread. It keeps its distance from the last call of the first thread before that.

use super::rank::{RankCalls, ns};
use super::thread::{Ended, KEPT, ThreadCalls};
use crate::program::{After, Threads};
use crate::trace::calls::{Event, Flags, ItemError};

impl RankCalls {
    /// Switches to the thread of the next event.
    pub(super) fn turn_to(&mut self, thread: u32) -> Result<(), ItemError> {
        if thread >= Threads::MOST {
            let message = format!("thread {thread} of a rank; at most {} at a time are read", Threads::MOST);
            return Err(ItemError::new("too-many-threads", message));
        }
        let (threads, thread, last_end) = (&mut self.threads, thread as usize, self.start);
        if threads.of.len() <= thread {
            threads.of.resize_with(thread + 1, || ThreadCalls { last_end, ..ThreadCalls::default() });
        }
        if thread != threads.at {
            let before = &mut threads.of[threads.at];
            (before.last_end, before.computed) = (self.last_end, self.computed);
            (self.last_end, self.computed) = (threads.of[thread].last_end, threads.of[thread].computed);
            threads.at = thread;
            self.ops.at_thread(thread as u32);
        }
        Ok(())
    }

    /// True once more than one thread has called.
    pub(super) fn has_several_threads(&self) -> bool {
        self.threads.of.len() > 1
    }

    /// Switches to the first thread.
    pub(super) fn turn_to_first(&mut self) {
        // Cannot fail: the number 0 is in range.
        let _ = self.turn_to(0);
    }

    /// Determines the calls of other threads that a call of the current thread waited for. `gap` is the
    /// computation before it \[ns\].
    pub(super) fn waits_for_threads(&mut self, event: &Event, gap: u64) {
        let Self { ops, threads, start, last_end, .. } = self;
        let at = threads.at;
        for requirement in std::mem::take(&mut threads.of[at].open) {
            ops.lag_at_most(requirement, ns(gap));
        }
        let begun = std::mem::replace(&mut threads.of[at].begun, true);
        if threads.of.len() < 2 || event.cpu.is_none() {
            return;
        }
        let last = |thread: &ThreadCalls, time: u64| {
            let found = thread.calls.partition_point(|call| call.end <= time);
            let after = thread.calls.get(found).map(|call| call.gap);
            Some((*thread.calls.get(found.checked_sub(1)?)?, after))
        };
        let mut due = Vec::new();
        if !begun && at != 0 {
            let time = event.begin.saturating_sub(gap);
            due.push(match last(&threads.of[0], time) {
                Some((call, after)) => (call.op, (time - call.end).min(after.unwrap_or(u64::MAX))),
                None => (After::START, time.saturating_sub(*start)),
            });
        } else if event.flags.has(Flags::BLOCKED) {
            for (_, other) in threads.of.iter().enumerate().filter(|&(number, _)| number != at) {
                if let Some((call, after)) = last(other, event.begin).filter(|(call, _)| call.end > *last_end) {
                    due.push((call.op, (event.begin - call.end).min(after.unwrap_or(u64::MAX))));
                }
            }
        }
        threads.of[at].due.extend(due);
        // The first computation of a thread follows its creation.
        if !begun {
            self.add_pending();
        }
    }

    /// Adds the pending requirements of the current thread to the next operation.
    pub(super) fn add_pending(&mut self) {
        let Self { ops, threads, .. } = self;
        for (on, lag) in std::mem::take(&mut threads.of[threads.at].due) {
            let requirement = ops.after(on, ns(lag));
            let waits_for = |thread: &&mut ThreadCalls| thread.calls.back().is_some_and(|call| call.op == on);
            if let Some(thread) = threads.of.iter_mut().find(waits_for) {
                thread.open.push(requirement);
            }
        }
    }

    /// Lets the next operation wait for `on`, if another thread executed that.
    pub(super) fn require(&mut self, on: u32) {
        if self.threads.of.len() > 1 && self.ops.thread_of(on) != self.threads.at as u32 {
            self.ops.after(on, ns(0));
        }
    }

    /// Lets the next operation, a collective on a communicator, wait for the one before it by another thread.
    pub(super) fn require_collective(&mut self, comm: u32) {
        let (next, at) = (self.ops.ops().len() as u32, self.threads.at);
        if let Some((before, thread)) = self.threads.collectives.insert(comm, (next, at))
            && thread != at
        {
            self.ops.after(before, ns(0));
        }
    }

    /// Notes that a call of the current thread has ended. `before` is the number of the rank's operations
    /// before it.
    pub(super) fn has_called(&mut self, event: &Event, gap: u64, before: usize) {
        let ops = self.ops.ops().len();
        if ops == before {
            return;
        }
        let several = self.threads.of.len() > 1;
        let calls = &mut self.threads.of[self.threads.at].calls;
        if !several && calls.len() == KEPT {
            calls.pop_front();
        }
        calls.push_back(Ended { end: event.end, op: ops as u32 - 1, gap });
    }
}
