//! Requirements between threads of a rank, on their way from recorded calls to a program.
//!
//! Events come in the order in which calls returned. An operation of one thread waits for one of another where
//!
//! * it completes a request that the other started, or calls a collective on a communicator after it: MPI wants that
//!   order;
//! * its thread gave its core away before its call: it waited for the others. Which of them let it go on is not known.
//!   It keeps its distance in time from their last calls before that, less what they did not compute;
//! * it is the first of its thread: it keeps its distance from the last call of the first thread before that.

use super::rank::{RankCalls, ns};
use super::thread::{Ended, KEPT, ThreadCalls};
use crate::program::{After, Threads};
use crate::trace::calls::{Event, Flags, Wrong};

impl RankCalls {
    /// An event of a thread comes next: what is kept of each is exchanged.
    pub(super) fn turn_to(&mut self, thread: u32) -> Result<(), Wrong> {
        if thread >= Threads::MOST {
            let message = format!("thread {thread} of a rank; at most {} at a time are read", Threads::MOST);
            return Err(Wrong::new("too-many-threads", message));
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

    /// The first thread is at hand.
    pub(super) fn turn_to_first(&mut self) {
        // It is there, or there is none.
        let _ = self.turn_to(0);
    }

    /// A call of the thread at hand comes, after this computation \[ns\]: what it waited for of other threads.
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
        // What a thread computes first, it computes when it has been made.
        if !begun {
            self.require_due();
        }
    }

    /// The next operation waits for what the thread at hand must wait for.
    pub(super) fn require_due(&mut self) {
        let Self { ops, threads, .. } = self;
        for (on, lag) in std::mem::take(&mut threads.of[threads.at].due) {
            let requirement = ops.after(on, ns(lag));
            let waits_for = |thread: &&mut ThreadCalls| thread.calls.back().is_some_and(|call| call.op == on);
            if let Some(thread) = threads.of.iter_mut().find(waits_for) {
                thread.open.push(requirement);
            }
        }
    }

    /// The next operation waits for one that another thread may have executed.
    pub(super) fn require(&mut self, on: u32) {
        if self.threads.of.len() > 1 && self.ops.thread_of(on) != self.threads.at as u32 {
            self.ops.after(on, ns(0));
        }
    }

    /// The operation that comes next is a collective one of a communicator.
    pub(super) fn require_collective(&mut self, comm: u32) {
        let (next, at) = (self.ops.ops().len() as u32, self.threads.at);
        if let Some((before, thread)) = self.threads.collectives.insert(comm, (next, at))
            && thread != at
        {
            self.ops.after(before, ns(0));
        }
    }

    /// The call of the thread at hand has ended; `before`: operations of the rank before it.
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
