//! Borders of regions: between two calls, at no cost to the time of either.
//!
//! The processor time from the call before to a border, and from there to the next call, is measured in pieces; the
//! clock's own cost is in each. A border and a call say the time since the *call* before, with that cost once, as if no
//! border were in between.

use std::ffi::c_int;

use hayase_trace::Mark;
use rustc_hash::FxHashMap;

use super::{Recorder, take};
use crate::clock;
use crate::entry::Caller;

/// What is known of regions.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// By name, the index in the table.
    numbers: FxHashMap<String, u32>,
    /// Processor time from the last call to the last border, less the clock's own cost \[ns\].
    pub cpu: u64,
    /// Processor time from the last call to the last border, as it was recorded: what comes next is not before it, however
    /// much the clock's own cost varies \[ns\].
    pub since: u64,
    /// Whether the region is open that levels 1 and 0 of `MPI_Pcontrol` begin and end.
    controlled: bool,
}

/// The region that levels 1 and 0 of `MPI_Pcontrol` begin and end.
const CONTROLLED: &str = "pcontrol";

/// When a border was set.
#[derive(Clone, Copy)]
struct Moment {
    /// On the common clock \[ns\].
    time: u64,
    /// Processor time \[ns\], where it is read.
    cpu: u64,
}

/// What `MPI_Pcontrol` asks for: `name` is looked for only when the time has been taken, and `pass` is MPI's own.
///
/// # Safety
/// As of [`enter`](super::enter), for the time of this call.
pub unsafe fn control(
    level: c_int,
    name: impl FnOnce() -> Option<String>,
    pass: impl FnOnce() -> c_int,
    caller: Caller,
) -> c_int {
    // Borders that threads set which are not recorded have no calls around them.
    // SAFETY: promised by the caller; the reference does not leave this function.
    let Some(recorder) = (unsafe { take(|| ()) }) else { return pass() };
    let now = Moment { cpu: if recorder.reads_cpu { clock::thread() } else { 0 }, time: clock::monotonic() };
    match (level, name()) {
        (1, Some(name)) => recorder.mark(&name, true, caller, now),
        (-1, Some(name)) => recorder.mark(&name, false, caller, now),
        // As MPI recommends: level 1 switches profiling on, which it is already at first, and 0 off.
        (-1..=1, _) => {
            let begins = level == 1;
            if recorder.marks.controlled != begins {
                recorder.marks.controlled = begins;
                recorder.mark(CONTROLLED, begins, caller, now);
            }
        }
        (2, _) => {
            if let Some(writer) = &mut recorder.writer
                && let Err(error) = writer.flush()
            {
                recorder.failed(&error);
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
    /// Writes a border, and notes how long the rank has lacked a core up to it.
    fn mark(&mut self, name: &str, begins: bool, caller: Caller, now: Moment) {
        let gap = self.gap(now.time, now.cpu);
        // A test that found nothing belongs to what was before: those after the border are a call of their own.
        if let Some(poll) = self.poll.take() {
            self.write(&poll.event);
        }
        let site = self.paths.site(caller, self.stack, self.writer.as_mut());
        self.back = caller.back;
        let region = self.region(name);
        let since = (gap + self.marks.cpu).max(self.marks.since);
        self.marks.since = since;
        self.marks.cpu += gap.saturating_sub(self.empty_gap);
        let (begin, end) = match self.token.is_some() {
            true => (self.counted + since, self.counted + since),
            false => (now.time.saturating_sub(self.start), clock::monotonic().saturating_sub(self.start)),
        };
        let mark = Mark { region, begins, site, begin, end, cpu: self.reads_cpu.then_some(since) };
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = self.queue.mark(mark, writer) {
            self.failed(&error);
        }
        self.note_scheduling(&format!("{} {name}", if begins { "enter" } else { "leave" }));
    }

    /// The index of a region.
    fn region(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.marks.numbers.get(name) {
            return number;
        }
        let number = self.marks.numbers.len() as u32;
        self.marks.numbers.insert(name.to_owned(), number);
        if let Some(writer) = &mut self.writer {
            writer.new_region(number, name);
        }
        number
    }
}
