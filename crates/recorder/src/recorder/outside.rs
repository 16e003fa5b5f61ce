//! Time outside of calls in which a thread was blocked: neither running nor ready to run, for it slept, or waited for a
//! file, a page of memory, another thread or another process.
//!
//! Real time less processor time is that, and time without a core. The system tells them apart ([`Counts`]), at 1 us a
//! question, which is asked only where the difference is [`LEAST`] or more: of the time between two calls, and of a
//! call, since what a call waited for a core must not be taken off what comes after it.

use std::fs::File;

use super::scheduling::{self, Counts};
use crate::clock;

/// Least time off the core that is looked at \[ns\].
const LEAST: u64 = 10_000;

/// A reading of both clocks \[ns\].
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    time: u64,
    cpu: u64,
}

impl Reading {
    fn now() -> Self {
        Self { time: clock::monotonic(), cpu: clock::thread() }
    }

    /// Time off the core since another reading.
    fn off_since(self, before: Self) -> u64 {
        self.time.saturating_sub(before.time).saturating_sub(self.cpu.saturating_sub(before.cpu))
    }
}

/// Time in which a thread was blocked between two calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocked {
    /// Length \[ns\].
    pub time: u64,
    /// Set where files or pages were read or files written meanwhile.
    files: bool,
}

/// Readings of a thread at the borders of its calls.
#[derive(Debug, Default)]
pub(super) struct Outside {
    counter: Option<File>,
    counts: Counts,
    entered: Reading,
    returned: Reading,
}

impl Outside {
    /// Reads the counts of this thread from here on.
    pub(super) fn begin(&mut self) {
        self.counter = scheduling::counter();
        self.look();
    }

    /// Looks at what the system has counted: this, and what it had at the look before.
    fn look(&mut self) -> Option<(Counts, Counts)> {
        let now = Counts::read(self.counter.as_ref()?)?;
        Some((std::mem::replace(&mut self.counts, now), now))
    }

    /// Notes that a call comes in; returns the time blocked since the call before returned.
    #[inline]
    pub(super) fn enters(&mut self, time: u64, cpu: u64) -> Blocked {
        self.entered = Reading { time, cpu };
        let off = self.entered.off_since(self.returned);
        if off < LEAST {
            return Blocked::default();
        }
        let Some((before, now)) = self.look() else { return Blocked::default() };
        Blocked { time: now.blocked_since(before, off), files: now.files > before.files }
    }

    /// Notes that the call returns; returns the processor time then \[ns\].
    #[inline]
    pub(super) fn returns(&mut self) -> u64 {
        self.returned = Reading::now();
        if self.returned.off_since(self.entered) >= LEAST {
            self.look();
            self.returned = Reading::now();
        }
        self.returned.cpu
    }

    /// Returns the processor time when the present call came in \[ns\].
    pub(super) fn entered(&self) -> u64 {
        self.entered.cpu
    }
}

/// Time outside of calls that is no computation, or may be none, so far.
#[derive(Debug, Default)]
pub(super) struct Spent {
    /// When counting began \[ns\].
    began: u64,
    /// The recorder's own part of the time between polls and inside them \[ns\].
    pub own: (u64, u64),
    /// Blocked \[ns\], and how often.
    blocked: u64,
    times: u64,
    /// Of `blocked`, where files or pages were read or files written meanwhile \[ns\].
    files: u64,
    /// Computation between and in polls that found nothing \[ns\].
    polled: u64,
    /// Real time of polling, with what the recorder adds \[ns\].
    polling: u64,
}

impl Spent {
    /// Counts from here on; `gap` is the cost of an empty gap between calls \[ns\].
    pub(super) fn begin(&mut self, gap: u64) {
        (self.began, self.own) = (clock::monotonic(), (gap / 2, gap / 8));
    }

    /// Adds time in which the thread was blocked.
    #[inline]
    pub(super) fn blocked(&mut self, blocked: Blocked) {
        self.blocked += blocked.time;
        self.times += u64::from(blocked.time > 0);
        self.files += if blocked.files { blocked.time } else { 0 };
    }

    /// Returns the computation of a poll that found nothing, by the time since the call before and that inside it
    /// \[ns\].
    ///
    /// A rank that works between polls goes on working: then the time inside counts too. One that only polls waits, and
    /// so does one whose poll takes long, for MPI then moves messages, or others have the core.
    pub(super) fn poll(&self, since: u64, inside: u64) -> u64 {
        let work = since.saturating_sub(self.own.0);
        // A quarter is what the recorder's own part varies by.
        if work > self.own.0 / 4 && inside < LEAST { work + inside.saturating_sub(self.own.1) } else { work }
    }

    /// Notes a poll that found nothing, behind another one: its computation and its real time \[ns\].
    pub(super) fn polled(&mut self, work: u64, time: u64) {
        self.polled += work;
        self.polling += time;
    }

    /// Returns the note for the stream.
    pub(super) fn text(&self) -> String {
        let Self { blocked, times, files, polled, polling, .. } = self;
        let run = clock::monotonic().saturating_sub(self.began);
        format!("run {run}\nblocked {blocked}\ntimes {times}\nfiles {files}\npolled {polled}\npolling {polling}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_is_work_where_there_is_work_between_polls() {
        let spent = Spent { own: (120, 40), ..Spent::default() };
        assert_eq!(spent.poll(120, 600), 0, "the recorder's own time");
        assert_eq!(spent.poll(150, 600), 30, "what that varies by");
        assert_eq!(spent.poll(1120, 640), 1600);
        assert_eq!(spent.poll(1120, 20_000), 1000, "messages are moved");
    }
}
