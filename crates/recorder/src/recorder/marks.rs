//! Borders of regions between two calls. They add nothing to the recorded time of either call.
//!
//! The processor time from the previous call to a border, and from there to the next call, is measured in
//! pieces, and each piece includes the clock's own cost. Borders and calls record the time since the previous
//! *call*, with that cost once, as if there were no border between.

use std::ffi::c_int;

use hayase_trace::{Mark, Writer};

use super::{Recorder, Timestamp, threads};
use crate::clock;
use crate::entry::Caller;

/// State of the regions.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Processor time from the last call to the last border, less the clock's own cost \[ns\].
    pub cpu: u64,
    /// Processor time from the last call to the last border, as recorded. Later times are not before it,
    /// however much the clock's own cost varies \[ns\].
    pub since: u64,
    /// Set while the region that levels 1 and 0 of `MPI_Pcontrol` begin and end is open.
    controlled: bool,
}

/// The region that levels 1 and 0 of `MPI_Pcontrol` begin and end.
const CONTROLLED: &str = "pcontrol";

/// Executes `MPI_Pcontrol`. `name` looks for the name, after the time has been taken; `pass` calls MPI's own
/// function.
///
/// # Safety
/// As of [`enter`](super::enter), for the time of this call.
pub unsafe fn control(
    level: c_int,
    name: impl FnOnce() -> Option<String>,
    pass: impl FnOnce() -> c_int,
    caller: Caller,
) -> c_int {
    // SAFETY: promised by the caller; the reference does not leave this function.
    let Some((recorder, now)) = (unsafe { threads::take() }) else { return pass() };
    // Only the first thread has regions: nothing tells if the work of other threads at that time is part of
    // them.
    match (level, name()) {
        _ if recorder.number != 0 => {}
        (1, Some(name)) => recorder.mark(&name, true, caller, now),
        (-1, Some(name)) => recorder.mark(&name, false, caller, now),
        // As MPI recommends: level 1 switches profiling on, which is its state at first, and 0 off.
        (-1..=1, _) => {
            let begins = level == 1;
            if recorder.marks.controlled != begins {
                recorder.marks.controlled = begins;
                recorder.mark(CONTROLLED, begins, caller, now);
            }
        }
        (2, _) => {
            if let Some(Err(error)) = recorder.writer.as_mut().map(Writer::flush) {
                recorder.give_up(&error);
            }
        }
        (3.., _) | (..=-3, _) => {
            recorder.mark(&format!("{CONTROLLED}-{}", level.unsigned_abs()), level > 0, caller, now);
        }
        _ => {}
    }
    let result = recorder.call(|_| pass());
    recorder.back();
    result
}

impl Recorder {
    /// Writes a border, and notes the time that the rank has lacked a core so far.
    fn mark(&mut self, name: &str, begins: bool, caller: Caller, now: Timestamp) {
        let gap = self.gap(now);
        // A test that found nothing belongs to the time before: tests after the border are a call of their
        // own.
        self.end_poll();
        let site = self.site(caller);
        let region = self.region(name);
        let since = (gap + self.marks.cpu).max(self.marks.since);
        self.marks.since = since;
        self.marks.cpu += gap.saturating_sub(self.empty_gap);
        let (begin, end) = match self.token.is_some() {
            true => (self.counted + since, self.counted + since),
            false => (now.time.saturating_sub(self.start), clock::monotonic().saturating_sub(self.start)),
        };
        let mark = Mark { region, begins, site, begin, end, cpu: self.reads_cpu.then_some(since) };
        if self.writer.is_none() {
            return;
        }
        self.write_mark(mark);
        self.note_scheduling(&format!("{} {name}", if begins { "enter" } else { "leave" }));
    }
}
