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

/// What a thread did outside of calls, so far.
#[derive(Debug, Default)]
pub(super) struct Outside {
    counter: Option<File>,
    counts: Counts,
    entered: Reading,
    returned: Reading,
    /// When counting began \[ns\].
    began: u64,
    /// What the recorder itself takes between polls and inside them \[ns\].
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

impl Outside {
    /// Counts from here on, for this thread.
    pub(super) fn begin(&mut self) {
        self.counter = scheduling::counter();
        self.look();
        if self.began == 0 {
            self.began = clock::monotonic();
        }
    }

    /// Looks at what the system has counted: this, and what it had at the look before.
    fn look(&mut self) -> Option<(Counts, Counts)> {
        let now = Counts::read(self.counter.as_ref()?)?;
        Some((std::mem::replace(&mut self.counts, now), now))
    }

    /// A call comes in: how long the thread was blocked since the call before returned \[ns\].
    #[inline]
    pub(super) fn enters(&mut self, time: u64, cpu: u64) -> u64 {
        self.entered = Reading { time, cpu };
        let off = self.entered.off_since(self.returned);
        if off < LEAST {
            return 0;
        }
        let Some((before, now)) = self.look() else { return 0 };
        let blocked = now.blocked_since(before, off);
        self.blocked += blocked;
        self.times += u64::from(blocked > 0);
        self.files += if now.files > before.files { blocked } else { 0 };
        blocked
    }

    /// The call returns: the processor time then \[ns\].
    #[inline]
    pub(super) fn returns(&mut self) -> u64 {
        self.returned = Reading::now();
        if self.returned.off_since(self.entered) >= LEAST {
            self.look();
            self.returned = Reading::now();
        }
        self.returned.cpu
    }

    /// Processor time when the present call came in \[ns\].
    pub(super) fn entered(&self) -> u64 {
        self.entered.cpu
    }

    /// Computation of a poll that found nothing, by the time since the call before and that inside it \[ns\].
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

    /// The note for the stream.
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
        let outside = Outside { own: (120, 40), ..Outside::default() };
        assert_eq!(outside.poll(120, 600), 0, "the recorder's own time");
        assert_eq!(outside.poll(150, 600), 30, "what that varies by");
        assert_eq!(outside.poll(1120, 640), 1600);
        assert_eq!(outside.poll(1120, 20_000), 1000, "messages are moved");
    }
}
