//! Blocked time outside of calls: the thread neither ran nor was ready to run, because it slept or waited for
//! a file, a page of memory, another thread or another process.
//!
//! Real time minus processor time is blocked time plus time without a core. The system tells them apart
//! ([`Counts`]), at 1 us a question. It is asked only if the difference is [`MIN_OFF_CORE`] or more: for the time
//! between two calls, and for a call, since a call's wait for a core must not be subtracted from the time
//! after it.

use std::fs::File;

use super::scheduling::{self, Counts};
use crate::clock;

/// Shortest time off the core that is examined \[ns\].
const MIN_OFF_CORE: u64 = 10_000;

/// Reading of both clocks \[ns\].
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    time: u64,
    cpu: u64,
}

impl Reading {
    fn now() -> Self {
        Self { time: clock::monotonic(), cpu: clock::thread() }
    }

    /// Returns the time off the core since another reading.
    fn off_since(self, before: Self) -> u64 {
        self.time.saturating_sub(before.time).saturating_sub(self.cpu.saturating_sub(before.cpu))
    }
}

/// Blocked time of a thread between two calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocked {
    /// Length \[ns\].
    pub time: u64,
    /// Set if files or pages were read or files written meanwhile.
    files: bool,
}

/// Readings of a thread at the borders of its calls.
#[derive(Debug, Default)]
pub(super) struct ClockReadings {
    counter: Option<File>,
    counts: Counts,
    entered: Reading,
    returned: Reading,
}

impl ClockReadings {
    /// Starts reading the counts of this thread.
    pub(super) fn begin(&mut self) {
        self.counter = scheduling::counter();
        self.look();
    }

    /// Reads the counts of the system; returns those of the previous look and the present ones.
    fn look(&mut self) -> Option<(Counts, Counts)> {
        let now = Counts::read(self.counter.as_ref()?)?;
        Some((std::mem::replace(&mut self.counts, now), now))
    }

    /// Notes that a call begins; returns the blocked time since the previous call returned.
    #[inline]
    pub(super) fn enter(&mut self, time: u64, cpu: u64) -> Blocked {
        self.entered = Reading { time, cpu };
        let off = self.entered.off_since(self.returned);
        if off < MIN_OFF_CORE {
            return Blocked::default();
        }
        let Some((before, now)) = self.look() else { return Blocked::default() };
        Blocked { time: now.blocked_since(before, off), files: now.files > before.files }
    }

    /// Notes that the call returns; returns the processor time then \[ns\].
    #[inline]
    pub(super) fn leave(&mut self) -> u64 {
        self.returned = Reading::now();
        if self.returned.off_since(self.entered) >= MIN_OFF_CORE {
            self.look();
            self.returned = Reading::now();
        }
        self.returned.cpu
    }

    /// Returns the processor time at the begin of the present call \[ns\].
    pub(super) fn entered(&self) -> u64 {
        self.entered.cpu
    }
}

/// Time outside of calls so far that is no computation, or may be none.
#[derive(Debug, Default)]
pub(super) struct OutsideTime {
    /// Begin of counting \[ns\].
    began: u64,
    /// The recorder's own part of the time between polls and inside them \[ns\].
    pub own: (u64, u64),
    /// Blocked time \[ns\], and number of times.
    blocked: u64,
    times: u64,
    /// Part of `blocked` in which files or pages were read or files written \[ns\].
    files: u64,
    /// Computation between and in polls that found nothing \[ns\].
    polled: u64,
    /// Real time of polling, including the time that the recorder adds \[ns\].
    polling: u64,
}

impl OutsideTime {
    /// Starts counting; `gap` is the cost of an empty gap between calls \[ns\].
    pub(super) fn begin(&mut self, gap: u64) {
        (self.began, self.own) = (clock::monotonic(), (gap / 2, gap / 8));
    }

    /// Adds blocked time of the thread.
    #[inline]
    pub(super) fn blocked(&mut self, blocked: Blocked) {
        self.blocked += blocked.time;
        self.times += u64::from(blocked.time > 0);
        self.files += if blocked.files { blocked.time } else { 0 };
    }

    /// Returns the computation of a poll that found nothing, from the time since the previous call and the
    /// time inside it \[ns\].
    ///
    /// A rank that works between polls continues to work, so the time inside counts too. A rank that only
    /// polls waits. So does one whose poll takes long, because MPI then moves messages, or others have the
    /// core.
    pub(super) fn poll(&self, since: u64, inside: u64) -> u64 {
        let work = since.saturating_sub(self.own.0);
        // The recorder's own part varies by a quarter.
        if work > self.own.0 / 4 && inside < MIN_OFF_CORE { work + inside.saturating_sub(self.own.1) } else { work }
    }

    /// Notes a poll that found nothing and follows another one: its computation and its real time \[ns\].
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
        let spent = OutsideTime { own: (120, 40), ..OutsideTime::default() };
        assert_eq!(spent.poll(120, 600), 0, "the recorder's own time");
        assert_eq!(spent.poll(150, 600), 30, "what that varies by");
        assert_eq!(spent.poll(1120, 640), 1600);
        assert_eq!(spent.poll(1120, 20_000), 1000, "messages are moved");
    }
}
